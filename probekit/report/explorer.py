"""The explorer: every CSV of the book, and a sample of every ``ranks.parquet``, to search, filter and sort, offline.

``write`` looks through a staged copy of the book. For each ``book/studies/PLACE/NAME.csv`` it writes a script
``book/_static/tables/PLACE/NAME.js``, which a page opened from a disk can load where it could not read the CSV, and it
puts the list of all tables into the staged ``book/explorer.md``. The list alone serves a reader without scripts. With
scripts, ``explorer.html#PLACE/NAME`` opens a table, and only its script is loaded (``book/_static/explorer.js``).
"""

from __future__ import annotations

import csv
import html
import json
import logging
import re
import shutil
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

from probekit.files.reading import json_value
from probekit.report.markup import escape
from probekit.report.outcomes import RANKS, sample
from probekit.report.text import title

log = logging.getLogger(__name__)

BEGIN, END = "% tables: begin", "% tables: end"  # between them, explorer.md says that no list was made
# not 007, which is a name, nor what a double does not hold
NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d+)?([eE](-\d{1,3}|\+?\d{1,2}))?", re.ASCII)
KEY = re.compile(r"[\w.@+=,/ -]+")  # what a link and a role can hold


def write(stage: Path) -> list[str]:
    """Write the script of every table below ``stage/book/studies``, and their list into ``stage/book/explorer.md``.

    Args:
        stage: the copy of the book that is about to be rendered; ``_toc.yml`` there says which pages it has.

    Returns:
        The keys of the tables, such as ``12_accuracy/accuracy`` or ``demo/12_accuracy/accuracy``, in their order.
    """
    studies, scripts = stage / "book" / "studies", stage / "book" / "_static" / "tables"
    shutil.rmtree(scripts, ignore_errors=True)
    items = {}
    for path in [*studies.rglob("*.csv"), *studies.rglob(RANKS)]:
        key = path.relative_to(studies).with_suffix("").as_posix()
        if not KEY.fullmatch(key):
            log.warning("not in the explorer, for the signs in its name: %r", key)
            continue
        columns, rows = _filled(*sample(path)) if path.name == RANKS else read(path)
        target = scripts / f"{key}.js"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(script(key, columns, rows), "utf-8")
        items[key] = _item(key, path.suffix, _caption(path), columns, len(rows))
    keys = sorted(items, key=_order)
    pages = set(re.findall(r"file:\s*(\S+)", (stage / "_toc.yml").read_text("utf-8")))
    groups = [
        _group(studies, place, [items[key] for key in group], f"book/studies/{place}" in pages)
        for place, group in groupby(keys, key=_place)
    ]
    page = stage / "book" / "explorer.md"
    before, _, rest = page.read_text("utf-8").partition(BEGIN)
    page.write_text(f"{before}{BEGIN}\n\n{''.join(groups)}{END}{rest.partition(END)[2]}", "utf-8")
    return keys


def link(key: str, text: str = "Open in the explorer") -> str:
    """Inline HTML, fit for MyST, that leads from the page of a table to that table in the explorer.

    Args:
        key: the CSV below ``book/studies``, without its suffix; its page stands beside its folder.
        text: plain text of the link.
    """
    return f'<a href="{"../" * key.count("/")}explorer.html#{quote(key)}">{html.escape(text)}</a>'


def read(path: Path) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of a CSV as text; every row is as long as the heads, and a file without a line has no heads."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        columns, *rows = [row for row in csv.reader(file) if row] or [[]]
    return columns, [(row + [""] * len(columns))[: len(columns)] for row in rows]


def _filled(columns: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Without the columns that no row fills."""
    kept = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    return [columns[i] for i in kept], [[row[i] for i in kept] for row in rows]


def script(key: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """JavaScript that registers a table: an assignment of JSON in ASCII, in which no ``<`` is left.

    A column is of numbers if all its filled cells are, and at least one is filled; its empty cells are ``null``.
    Models are called as on pages.
    """
    filled = [[row[i] for row in rows if row[i]] for i in range(len(columns))]
    numeric = [bool(some) and all(map(NUMBER.fullmatch, some)) for some in filled]
    called = [title if column == "model" else str for column in columns]
    kinds = [*zip(called, numeric, strict=True)]
    cells = [
        [_short(json.loads(v or "null")) if n else say(v) for v, (say, n) in zip(row, kinds, strict=True)]
        for row in rows
    ]
    data = json.dumps({"columns": list(columns), "numeric": numeric, "rows": cells}, separators=(",", ":"))
    return f"TABLES[{json.dumps(key)}] = {data}\n".replace("<", "\\u003c")


def _short(number: float | None) -> float | None:
    """With seven digits; the CSV has all."""
    return float(f"{number:.7g}") if isinstance(number, float) else number


def _place(key: str) -> str:
    return key.rpartition("/")[0]


def _order(key: str) -> tuple[int, str, str]:
    """The pages of the book first, then demo runs, then a reader's own runs."""
    return {"demo": 1, "own": 2}.get(key.partition("/")[0], 0), _place(key), key


def _caption(table: Path) -> str:
    """What its page calls a table; nothing where no manifest lies beside it."""
    manifest = table.parent / "manifest.json"
    content = json_value(manifest.read_text("utf-8"), str(manifest)) if manifest.is_file() else {}
    return str(content.get("captions", {}).get(table.stem, ""))


def _item(key: str, ending: str, caption: str, columns: Sequence[str], rows: int) -> str:
    """A line of the list; its link opens the table, or without scripts leads to this line."""
    href, name = quote(key), key.rpartition("/")[2]
    size = f"{escape(f'{caption}, ') if caption else ''}{rows:,} row{'s' * (rows != 1)}"
    heads = f": {', '.join(escape(column) for column in columns)}" if columns else ""
    return (
        f'- <a class="open" id="{href}" href="#{href}">{html.escape(name)}</a> <span>{size}{heads}</span> '
        f"{{download}}`{ending[1:].upper()} <studies/{key}{ending}>`\n"
    )


def _group(studies: Path, place: str, items: Sequence[str], linked: bool) -> str:
    """The tables of a page, folded behind its title."""
    kind, _, rest = place.partition("/")
    note, name = f" (own: {_place(rest)})" if kind == "own" else "", place.rpartition("/")[2]
    heading = html.escape(f"{_title(studies / f'{place}.ipynb') or _title(studies / f'{name}.ipynb') or name}{note}")
    page = f"On the page {{doc}}`studies/{place}`.\n\n" if linked else ""
    return f"<details>\n<summary>{heading}</summary>\n\n{page}{''.join(items)}\n</details>\n\n"


def _title(page: Path) -> str:
    """The first heading of a page; nothing where there is no such page or heading."""
    if not page.is_file():
        return ""
    cells = json_value(page.read_text("utf-8"), str(page))["cells"]
    texts = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    match = re.search(r"^# +(.+)$", texts, re.MULTILINE)
    return match[1].strip() if match else ""
