"""What any report of this kind needs: pages while they run, their tables, charts and claims, runs, the book."""

from probekit.report.charts import colours, forest, lines, new_figure
from probekit.report.page import Page
from probekit.report.paths import on_path
from probekit.report.published import numbers, published
from probekit.report.recording import recorded_manifest, recorded_tables
from probekit.report.tables import across, by, cell, pick, readable
from probekit.report.text import escape, interval, number, plain, title

on_path()

__all__ = [
    "Page",
    "across",
    "by",
    "cell",
    "colours",
    "escape",
    "forest",
    "interval",
    "lines",
    "new_figure",
    "number",
    "numbers",
    "pick",
    "plain",
    "published",
    "readable",
    "recorded_manifest",
    "recorded_tables",
    "title",
]
