"""Hostile names and texts: recorded tables poisoned with them, pages made of these, and what could act in a page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import cycle
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
from bs4 import BeautifulSoup
from conftest import executed_page

from probekit.paths import on_path
from probekit.report import page, recording
from probekit.report.sources import complete, load_source, pages

DONE, SECRET = "PWNED", "the-secret-4711"
ACT = f"document.title='{DONE}'"
FENCE, RAW = "```", f"<script>{ACT}</script>"
PAYLOADS = (
    RAW,
    f'<img src=x onerror="{ACT}">',
    f"\n\n{FENCE}{{raw}} html\n{RAW}\n{FENCE}\n",
    f"\n\n~~~~~~{{raw}} html\n{RAW}\n~~~~~~\n",
    f"\n\n{FENCE}{{literalinclude}} FILE\n{FENCE}\n",
    f"\n\n{FENCE}{{include}} FILE\n{FENCE}\n",
    f"\n\n{FENCE}{{csv-table}} x\n:file: FILE\n{FENCE}\n",
    f"\n\n{FENCE}{{eval-rst}}\n.. raw:: html\n\n   {RAW}\n\n.. include:: FILE\n\n`x <javascript:{ACT}>`_\n{FENCE}\n",
    f"\n\n:::{{iframe}} javascript:{ACT}\n:::\n",
    f"\n\n{FENCE}{{figure}} FILE\n:target: javascript:{ACT}\n{FENCE}\n",
    f"[x](javascript:{ACT})",
    f"<javascript:{ACT}>",
    f"<a href='javascript:{ACT}'>x</a>",
    "![x](FILE) {download}`x <FILE>`",
    f"{{term}}`AUC` {{doc}}`index` {{raw-html}}`{RAW}` `code` **b** |x| &lt;b&gt; \\",
    "{{ env.app.srcdir }} $x^2$ $\\frac{a} \\(x\\)",
    f"</summary></details></td></tr></table>{RAW}",
    f'" onmouseover="{ACT}" x="',
    f"-->]]>{RAW}<!--",
    "\N{RIGHT-TO-LEFT OVERRIDE}txet\x1b[31mred\x00\x07",
)
FORMULAS = ("=cmd|' /C calc'!A0", "@SUM(1)", "+1+1", "-2+3", "\t=1", "\r=1", "'=1")
MODELS = frozenset({"model", "control", "first", "second"})  # columns that name models
FOREIGN = MODELS | frozenset(  # that hold what models, files and their readers name and write
    [
        *("probe", "dataset", "data", "source", "text", "label", "relation", "keyword", "entity", "target", "subject"),
        *("gold", "identity", "word", "words", "lemma", "completion", "completions", "template", "wording"),
        *("predicate", "list", "family", "prompt", "answer"),
    ]
)
OURS = ("", "all", "mean over models")


def poison(text: str, payload: str) -> str:
    """A value that does its worst and is still another for another text."""
    return f"{payload} {text}" if payload in FORMULAS else f"{text} {payload}"


def poisoned(target: Path, secret: Path, names: Sequence[str], columns: frozenset[str]) -> None:
    """Write the recorded tables and ranks of pages with every text in these columns poisoned, alike in all of them."""
    payloads = cycle(payload.replace("FILE", str(secret)) for payload in (*PAYLOADS, *FORMULAS))
    known: dict[str, str] = {}

    def bad(value: object) -> object:
        if not isinstance(value, str) or value in OURS:
            return value
        return known.setdefault(value, poison(value, next(payloads)))

    for name in names:
        for table, frame in recording.recorded_tables(name).items():
            for column in columns & set(frame.select_dtypes(exclude="number")):
                frame[column] = frame[column].map(bad)
            (target / name).mkdir(parents=True, exist_ok=True)
            (target / name / f"{table}.csv").write_bytes(recording.table_bytes(frame))
        if not (manifest := recording.recorded_manifest(name)):
            continue
        for kind, column in (("models", "model"), ("probes", "probe"), ("runs", "model")):
            if column in columns:
                manifest[kind] = {bad(key): value for key, value in manifest.get(kind, {}).items()}
        manifest |= {"cautions": list(PAYLOADS), "messages": list(PAYLOADS)}
        (target / name / "manifest.json").write_text(json.dumps(manifest))
        if asked := recording.recorded_ranks(name):
            ranks = pq.read_table(asked)
            for field in ranks.schema:
                if field.name in columns and field.type == pa.string():
                    values = pa.array(map(bad, ranks[field.name].to_pylist()), field.type)
                    ranks = ranks.set_column(ranks.schema.get_field_index(field.name), field, values)
            (target / "ranks").mkdir(exist_ok=True)
            pq.write_table(ranks, target / "ranks" / asked.name)


@contextmanager
def recorded_in(folder: Path) -> Iterator[None]:
    """Let pages read what was recorded from this folder."""
    with patch.object(recording, "folder", lambda study: folder / study):
        yield


def executed(name: str, out: Path, figures: bool = True) -> Path:
    """Run a page in this process as a recorded one; returns its notebook."""
    on_path()
    values = complete(name, {}, "recorded") | {"out": str(out / name)}
    shown, cells = list[tuple[str | None, str]](), list[str | list[dict[str, str]]]()
    with ExitStack() as stack:
        stack.enter_context(patch.object(page, "_display", lambda myst, html: shown.append((myst, html))))
        if not figures:
            stack.enter_context(patch.object(page.Page, "draw", lambda self, figure, name: page.Markup("x.svg")))
        namespace: dict[str, object] = {}
        for cell in load_source(name).cells:
            if cell.cell_type == "markdown":
                cells.append(cell.source)
                continue
            exec(cell.source, namespace)
            if "parameters" in cell.metadata.get("tags", []):
                namespace |= values
            cells.append([({"text/markdown": str(myst)} if myst else {}) | {"text/html": html} for myst, html in shown])
            shown.clear()
    return executed_page(out / f"{name}.ipynb", *cells)


def active(html: str, inside: str = "body") -> list[str]:
    """What could act in the part of a page that its notebook made, or tells what no page may."""
    found = [SECRET] if SECRET in html else []
    for element in BeautifulSoup(html, "html.parser").select(f"{inside} *"):
        bad = {"script", "iframe", "object", "embed", "form", "base", "style", "link", "meta"} & {element.name}
        bad |= {name for name in element.attrs if name.lower().startswith("on") or name in ("style", "srcdoc")}
        for name in ("href", "src", "action", "formaction", "xlink:href"):
            address = re.sub(r"[\x00-\x20]", "", str(element.get(name, ""))).lower()
            bad |= {address} if re.match(r"(?!https?:|mailto:)[a-z][a-z0-9+.-]*:", address) else set()
        found += [str(element)[:200]] if bad - styled(element) else []
    return found


def styled(element: object) -> set[str]:
    """Widths of columns are styles of docutils' own."""
    return {"style"} if element.name in ("col", "table", "div") and DONE not in element.get("style", "") else set()  # type: ignore[attr-defined]


def shown_on(name: str) -> list[str]:
    """The pages whose recorded tables a page shows: its own, or those of all."""
    return [name] if recording.folder(name).is_dir() else pages("recorded")


def foreign(name: str) -> frozenset[str]:
    """The columns of foreign words in the tables that a page shows."""
    tables = (frame for page in shown_on(name) for frame in recording.recorded_tables(page).values())
    return FOREIGN & frozenset(column for frame in tables for column in frame)
