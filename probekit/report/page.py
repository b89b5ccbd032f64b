"""A page while its notebook runs: prose with computed numbers, tables, figures, and at the end how it was made."""

from __future__ import annotations

import html
import io
import json
import platform
import shlex
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from probekit import __version__
from probekit.files import write_atomically
from probekit.models.model import Model
from probekit.probes.probe import Probe
from probekit.report.fingerprint import page_hash
from probekit.report.messages import listen
from probekit.report.text import escape

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LONG = 20  # rows from which on a table is folded
VERSIONS = ("torch", "transformers", "tokenizers", "numpy", "pandas", "scipy")


class Page:
    """Collects what a notebook shows and used.

    Args:
        study: its name in ``studies.yml``.
        out: folder for tables, figures and ``manifest.json``; the page links to them there.
        parameters: all parameters of the run, ``out`` left out.
    """

    def __init__(self, study: str, out: str, parameters: Mapping[str, Any]) -> None:
        self.study, self.out, self.parameters = study, Path(out), dict(parameters)
        self.hash = page_hash(study, self.parameters)
        self.models: dict[str, dict[str, Any]] = {}
        self.probes: dict[str, dict[str, Any]] = {}
        self.runs: dict[str, dict[str, int]] = {}
        self.messages = listen()

    def used(self, *things: Model | Probe) -> None:
        """Note models and probes for the provenance table."""
        for thing in things:
            if isinstance(thing, Model):
                device = thing.device.type
                self.models[shown_name(thing.name)] = {
                    "fingerprint": thing.fingerprint,
                    "kind": thing.kind,
                    "dtype": thing.dtype,
                    "device": device,
                    "revision": thing.revision,
                    "licence": thing.licence,
                }
            else:
                self.probes[shown_name(thing.name)] = {
                    "fingerprint": thing.fingerprint,
                    "prompts": len(thing.prompts),
                    "entities": len(thing.entities),
                    "licence": thing.licence,
                    "counts": dict(thing.counts),
                }

    def read(self, name: str, fingerprint: str, lines: int) -> None:
        """Note data that is no probe, such as templates or a lexicon."""
        self.probes[name] = {"fingerprint": fingerprint, "lines": lines}

    def ran(self, model: Model, probe: Probe, counts: Mapping[str, int], task: str = "") -> None:
        """Note what a ranking, or another ``task``, had to run and to count (``attrs["counts"]`` of its result)."""
        name = f"{shown_name(model.name)} on {shown_name(probe.name)}"
        self.runs[f"{name}, {task}" if task else name] = dict(counts)

    def say(self, text: str) -> None:
        """Prose in MyST with numbers computed by the notebook; pass foreign text through ``escape``."""
        _display(text, f"<p>{html.escape(text)}</p>")

    def markup(self, markup: str) -> None:
        """HTML of the page's own making, without scripts; foreign text in it has passed ``html.escape``."""
        line = " ".join(markup.splitlines())  # no line of it can end the fence
        _display(f"~~~~~{{raw}} html\n{line}\n~~~~~\n", line)

    def glue(self, name: str, value: float) -> None:
        """Make a computed number available to prose on other pages, as ``{glue:text}``."""
        from myst_nb import glue

        glue(name, float(value), display=False)

    def table(
        self, frame: pd.DataFrame, name: str, caption: str, shown: pd.DataFrame | None = None, fold: bool | None = None
    ) -> None:
        """A numbered, sortable, searchable table with its CSV for download; every cell is escaped.

        Args:
            frame: what the CSV holds, at full precision.
            name: of the file, and of the label ``tbl-STUDY-NAME``, with a dash for each underscore.
            caption: MyST.
            shown: what the page shows; by default ``frame``.
            fold: hide the table behind its caption until it is asked for; by default from ``LONG`` rows on.
        """
        path = self.keep(frame, name)
        if frame.empty:
            return self.say(f"*{caption}*: none.")
        shown = frame if shown is None else shown
        cells = io.StringIO()
        shown.map(escape).rename(columns=escape).to_csv(cells, index=False, lineterminator="\n")
        lengths = [max(6, min(60, int(shown[c].astype(str).str.len().mean()))) for c in shown]
        wordy = max(lengths) > 30  # then the columns share the width by their mean length
        link = f"{{download}}`Download as CSV <{self.out.name}/{path.name}>`"
        widths = " ".join(map(str, lengths)) if wordy else "auto"
        text = (
            f"~~~~{{csv-table}} {caption}\n:name: {self._label('tbl', name)}\n:header-rows: 1\n"
            f":class: sortable{' wordy' * wordy}\n:widths: {widths}\n\n{cells.getvalue()}~~~~\n\n{link}\n"
        )
        if len(shown) >= LONG if fold is None else fold:
            text = f"~~~~~{{dropdown}} {caption}\n{text}~~~~~\n"
        beginning = " ".join(shown.head(LONG).to_html(index=False, escape=True).split())
        rest = f"<p>{len(shown) - LONG} more rows: {html.escape(path.name)}</p>" * (len(shown) > LONG)
        _display(text, beginning + rest)

    def keep(self, frame: pd.DataFrame, name: str) -> Path:
        """Write a table as CSV beside the page without showing it; returns where."""
        path = self.out / f"{name}.csv"
        write_atomically(path, frame.to_csv(index=False, float_format="%.6g", lineterminator="\n").encode())
        return path

    def figure(self, figure: Figure, name: str, caption: str, alt: str) -> None:
        """A numbered figure, saved as SVG; ``alt`` says in words what it shows."""
        import matplotlib.pyplot as plt

        data = io.BytesIO()
        figure.savefig(data, format="svg", metadata={"Date": None, "Creator": None})
        plt.close(figure)
        path = self.out / f"{name}.svg"
        write_atomically(path, data.getvalue())
        place = f"{self.out.name}/{path.name}"
        text = (
            f"~~~~{{figure}} {place}\n:name: {self._label('fig', name)}\n:alt: {' '.join(alt.split())}\n"
            f":class: chart\n\n{caption}\n~~~~\n"
        )
        _display(text, f'<img src="{html.escape(place)}" alt="{html.escape(alt)}">')

    def _label(self, kind: str, name: str) -> str:
        """One in the whole book: pages have tables of the same name."""
        return f"{kind}-{self.study}-{name}".replace("_", "-")

    @property
    def manifest(self) -> dict[str, Any]:
        """Study, hash, parameters, models, probes, what reading them warned of, and versions that made this page."""
        return {
            "study": self.study,
            "hash": self.hash,
            "parameters": self.parameters,
            "models": self.models,
            "probes": self.probes,
            "runs": self.runs,
            "messages": self.messages.texts,
            "versions": {"probekit": __version__, "python": platform.python_version()}
            | {name: version(name) for name in VERSIONS},
        }

    def close(self) -> None:
        """Write ``manifest.json`` and show the folded provenance table."""
        data = json.dumps(self.manifest, indent=2, ensure_ascii=False) + "\n"
        write_atomically(self.out / "manifest.json", data.encode())
        self.made(self.manifest, "How this page was made")

    def made(self, manifest: Mapping[str, Any], title: str) -> None:
        """The folded provenance table of a run; where the book is not built, its page hash alone."""
        _display(provenance(manifest, title), f"<p>{html.escape(title)}: page hash {manifest['hash']}</p>")


def shown_name(name: str) -> str:
    """A name fit for a page: of a local path only its last part."""
    return Path(name).name if Path(name).exists() else name


def provenance(manifest: Mapping[str, Any], title: str) -> str:
    """A manifest as a folded table in MyST, with the command that makes the page again."""
    study = manifest["study"]
    rows: list[Sequence[str]] = [("Notebook", f"notebooks/{study}.py"), ("Page hash", manifest["hash"])]
    rows += [
        (f"Parameter {key}", json.dumps(value, ensure_ascii=False)) for key, value in manifest["parameters"].items()
    ]
    for kind in ("models", "probes"):
        for name, about in manifest[kind].items():
            told = {k: v for k, v in about.items() if v not in (None, "", {})}
            counts = told.pop("counts", {})
            told |= counts
            rows.append((f"{kind[:-1].capitalize()} {name}", ", ".join(f"{k} {v}" for k, v in told.items())))
    for name, counts in manifest["runs"].items():
        rows.append((f"Run {name}", ", ".join(f"{k} {v:,}" for k, v in counts.items())))
    rows += [("Warning", text) for text in manifest.get("messages", [])]  # runs recorded earlier kept none
    rows.append(("Versions", ", ".join(f"{k} {v}" for k, v in manifest["versions"].items())))
    given = [f"-p {key}={shlex.quote(json.dumps(value))}" for key, value in manifest["parameters"].items()]
    cells = "\n".join(f"| {escape(a)} | {escape(b)} |" for a, b in rows)
    command = " ".join(["probekit run", study, *given, "--out my_run"])
    return (
        f"`````{{dropdown}} {title}\n| what | value |\n| --- | --- |\n{cells}\n\nMake it again:\n\n"
        f"```bash\n{command}\n```\n`````\n"
    )


def _display(markdown: str, as_html: str) -> None:
    """MyST for the book, HTML for a reader who opens the executed notebook itself."""
    from IPython.display import display

    display({"text/markdown": markdown, "text/html": as_html}, raw=True)
