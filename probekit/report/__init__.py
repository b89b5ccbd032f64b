"""Notebooks to book: pages while they run, runs, the rendered book, and the ledger of claims."""

from probekit.report.figures import colours, dots, new_figure
from probekit.report.ledger import ledger, load_claims, numbers, published
from probekit.report.page import Page
from probekit.report.recording import recorded_manifest, recorded_tables
from probekit.report.text import escape, interval, number, plain

__all__ = [
    "Page",
    "colours",
    "dots",
    "escape",
    "interval",
    "ledger",
    "load_claims",
    "new_figure",
    "number",
    "numbers",
    "plain",
    "published",
    "recorded_manifest",
    "recorded_tables",
]
