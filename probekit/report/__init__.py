"""What any report of this kind needs: pages while they run, their tables, charts and claims, runs, the book."""

from probekit.paths import on_path
from probekit.report.charts import forest, lines, new_figure
from probekit.report.page import Page
from probekit.report.recording import recorded_tables
from probekit.report.sentences import Sentence, sentence
from probekit.report.tables import across, pick, readable
from probekit.report.text import Markup, interval, number, plain, title

on_path()

__all__ = ["Markup", "Page", "Sentence", "across", "forest", "interval", "lines", "new_figure", "sentence"]
__all__ += ["number", "pick", "plain", "readable", "recorded_tables", "title"]
