"""What a run asked, prompt by prompt, and what came of it: the file ``ranks.parquet`` beside a page's tables.

One row per prompt and model, or several: one per way of asking, such as each step of a growing context, per target
whose rank a step follows, and per method of word scores.
Every file has the same columns, in one order and of the same types; what does not apply is null. Each column
carries its meaning as metadata of its field.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from probekit.errors import ProbekitError
from probekit.files import canonical, digest, write_atomically

RANKS = "ranks.parquet"
CAPTION = (
    "Prompt by prompt: what was asked, the gold, its rank, the best answers (of many, the explorer shows a sample)"
)
Kind = Literal["rank", "step", "filling", "saliency", "completions"]
COLUMNS = {  # name -> type, meaning
    "kind": (pa.string(), "rank, step (of a growing context), filling, saliency or completions"),
    "model": (pa.string(), "name of the model"),
    "probe": (pa.string(), "name of the probe, set of records or set of templates"),
    "prompt_id": (pa.string(), "of the prompt, record or template, unique in its probe"),
    "fact_id": (pa.string(), "of the fact, or the record's original; intervals draw these, of steps documents"),
    "relation": (pa.string(), "of the prompt; of a record its dimension, of a template its identity"),
    "style": (pa.string(), "template, natural or other; of a record its perturbation"),
    "variant": (pa.string(), "how else it was asked: variant of the context, share of the added candidates, wording"),
    "document": (pa.string(), "document of the context"),
    "twin": (pa.string(), "centre of the context: target or negative"),
    "step": (pa.int64(), "entities in the context"),
    "last": (pa.bool_(), "whether it is the context's last step"),
    "asked": (pa.string(), "the text, with its slot"),
    "gold": (pa.list_(pa.string()), "right answers, the one that is ranked first"),
    "target": (pa.string(), "entity whose rank a step follows"),
    "added": (pa.string(), "entity that a step adds to the context"),
    "added_correct": (pa.bool_(), "whether that is a right answer too"),
    "rank": (pa.int64(), "of the gold among the candidates, 1 is best; of a step that of its target"),
    "rank_any": (pa.int64(), "of the best right answer, with which the others do not compete"),
    "rank_before": (pa.int64(), "of a step's target before the step"),
    "score": (pa.float32(), "of the gold"),
    "candidates": (pa.int64(), "how many competed"),
    "answers": (pa.list_(pa.string()), "best answers or completions, best first; drawn ones as drawn"),
    "answer_scores": (pa.list_(pa.float32()), "their scores"),
    "hurtful": (pa.list_(pa.bool_()), "which completions hold a word of the lexicon, by the audited rules"),
    "method": (pa.string(), "of the word scores"),
    "words": (pa.list_(pa.string()), "words of the record, without the slot"),
    "word_scores": (pa.list_(pa.float32()), "their scores by the method"),
    "marked": (pa.list_(pa.bool_()), "which of them stand in a marked rationale"),
}
SCHEMA = pa.schema([pa.field(name, kind, metadata={"meaning": text}) for name, (kind, text) in COLUMNS.items()])
# or tied to them
TEXTS = ("asked", "gold", "target", "added", "answers", "answer_scores", "words", "word_scores", "marked")
RECORDED_CAPTION = (
    "Prompt by prompt: what was asked, by its id, and the rank of the right answer; few texts are ours to show"
)
OURS = ("demo", "demo_bio", "demo_lipid", "demo templates", "demo lexicon")  # so begin, up to a slash, what is ours
# so begin others that may be shown
FREE = ("own", "own facts", "own contexts", "cprag", "role", "negation", "binary", "queer_nonqueer")
EXAMPLES = 20  # prompts of these that a recorded page shows
SHOWN = 100_000  # characters of a sample
CUT = 400  # of a cell in it
LEVEL = 19  # of zstd's 22: files are written once and kept
FIRST = 3  # members of a list in a cell
FLAGS = {"hurtful": "answers", "marked": "words"}  # columns of flags -> the members they mark, which a sample names


def of_demo_world(probe: str) -> bool:
    """Whether a probe, set of records or set of templates is of the demo world, by its name."""
    return probe.partition("/")[0] in OURS


class Outcomes:
    """Collects what a page asked; the page writes it when it closes."""

    def __init__(self) -> None:
        self.frames: list[pd.DataFrame] = []

    def add(self, kind: Kind, rows: pd.DataFrame) -> None:
        """Note rows of one kind; of their columns those named in ``COLUMNS`` are kept.

        Raises:
            ProbekitError: an unknown kind, or rows without ``model``, ``probe`` or ``prompt_id``.
        """
        if kind not in get_args(Kind):
            raise ProbekitError(f"outcomes are one of {', '.join(get_args(Kind))}, not {kind!r}")
        if missing := [name for name in ("model", "probe", "prompt_id") if name not in rows]:
            raise ProbekitError(f"outcomes need a column {missing[0]!r}; found {', '.join(map(str, rows.columns))}")
        self.frames.append(rows[[name for name in COLUMNS if name in rows]].assign(kind=kind))

    def rows(self, past: Path | None = None) -> pd.DataFrame:
        """All rows that were noted, or those of a recorded file."""
        if past is not None and not self.frames:
            return read_outcomes(past)
        return pd.concat(self.frames, ignore_index=True) if self.frames else pd.DataFrame()

    def clear(self) -> None:
        """Forget all, as where a model failed after it had answered."""
        self.frames.clear()

    def write(self, path: Path, past: Path | None = None, **about: Mapping[str, str]) -> int:
        """Write all rows as Parquet, or, where nothing was noted, what was recorded; nothing where that is not there.

        Args:
            path: of the file.
            past: a recorded file.
            **about: ``scores``, model -> the score that ranked its candidates, and ``candidates``, probe -> which of
                them compete at a prompt; kept as JSON in the file's metadata.

        Returns:
            The number of rows.
        """
        if not self.frames and past is not None and past.is_file():
            write_atomically(path, past.read_bytes())
            return int(pq.ParquetFile(path).metadata.num_rows)
        if self.frames:
            write_atomically(path, _as_bytes([_table(frame) for frame in self.frames], about))
        return sum(map(len, self.frames))


def read_outcomes(path: str | Path) -> pd.DataFrame:
    """The rows of ``ranks.parquet``, in their order.

    ``attrs`` has ``scores``, model -> the score that ranked, and ``candidates``, probe -> which of them competed.

    Args:
        path: the file, or the folder of a page that holds it.

    Raises:
        ProbekitError: no such file, or not one of these.
    """
    path = Path(path)
    table = _read(path / RANKS if path.is_dir() else path)
    frame: pd.DataFrame = table.to_pandas(use_threads=False)
    frame.attrs |= _about(table)
    return frame


def without_texts(path: Path) -> bytes:
    """The file with ids and ranks alone, as it is recorded, the rows of a prompt together; what is of the demo world,
    which is ours, stays whole, and of ``EXAMPLES`` prompts of sets that are ``FREE`` text, gold and first answers do.

    Documents, and prompts and facts whose ids are a gold or have one between slashes, as LIPID's, are called by digests
    of these names. They keep apart what differs, and keep no secret of names that are public. Scores, whose last digits
    are the machine's, would be a third of the file, and of scores of words nothing but ids would be left.

    Returns:
        A file's bytes; none if no row is left.
    """
    table = _read(path)
    rows = [row for row in table.to_pylist() if row["kind"] != "saliency" or of_demo_world(str(row["probe"]))]
    foreign = [row for row in rows if not of_demo_world(str(row["probe"]))]
    ids = [(row, name, (row["probe"], row[name])) for row in foreign for name in ("prompt_id", "fact_id")]
    leaky = {(name, key) for row, name, key in ids if _names(key[1], row["gold"])}
    free = {key for _, name, key in ids if name == "prompt_id" and str(key[0]).partition("/")[0] in FREE}
    shown = set(sorted(free, key=lambda key: digest(*map(str, key)))[:EXAMPLES])
    for row in foreign:
        texts = {name: row[name] for name in ("asked", "gold", "target")}
        texts |= {"answers": row["answers"] and row["answers"][:FIRST]}
        texts = texts if (row["probe"], row["prompt_id"]) in shown else {}
        row |= dict.fromkeys((*TEXTS, "score")) | texts | {"document": row["document"] and digest(row["document"])}
    for row, name, key in ids:
        row[name] = digest(key[1]) if (name, key) in leaky else key[1]
    written = pa.Table.from_pylist(rows, schema=SCHEMA)
    written = written.sort_by([("probe", "ascending"), ("prompt_id", "ascending")])
    return _as_bytes([written], _about(table)) if rows else b""


def _names(called: str | None, golds: list[str] | None) -> bool:
    return any(f"/{gold}/".casefold() in f"/{called}/".casefold() for gold in golds or () if called and gold)


def sample(path: Path, characters: int = SHOWN) -> tuple[list[str], list[list[str]]]:
    """Heads and rows as text, of the columns that tell anything: all rows, or those of prompts drawn at random.

    The rows of a prompt stand together, those of every model. Of lists the first ``FIRST`` members are shown. The draw
    hangs on the prompts' names alone.

    Args:
        characters: that all cells may hold together.
    """
    table = _read(path)
    heads = [name for name in table.column_names if name != "answer_scores" and _tells(name, table[name])]
    by_prompt: dict[tuple[str, str], list[list[str]]] = {}
    for row in table.to_pylist():
        for flags, members in FLAGS.items():
            row[flags] = [member for member, flag in zip(row[members] or [], row[flags] or [], strict=False) if flag]
        by_prompt.setdefault((row["probe"], row["prompt_id"]), []).append([_cell(row[name]) for name in heads])
    order, taken = sorted(by_prompt, key=str), set[tuple[str, str]]()
    random.Random("prompts").shuffle(order)
    for prompt in order:
        if (size := sum(len(cell) for row in by_prompt[prompt] for cell in row)) <= characters:
            characters -= size
            taken.add(prompt)
    return heads, [row for prompt, of_prompt in by_prompt.items() if prompt in taken for row in of_prompt]


def _tells(name: str, column: pa.ChunkedArray) -> bool:
    """Whether a column holds anything; that of the kinds of rows, whether it tells any apart."""
    return column.null_count < len(column) and (name != "kind" or len(column.unique()) > 1)


def _read(path: Path) -> pa.Table:
    try:
        with pq.ParquetFile(path) as file:  # as in the store, without threads of a scanner
            table = file.read(use_threads=False) if file.schema_arrow.names == SCHEMA.names else None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ProbekitError(
            f"{path} cannot be read as outcomes of a run: {str(error).partition(chr(10))[0]}"
        ) from error
    if table is None:
        raise ProbekitError(f"{path} has other columns than a run of this version writes: run the page again")
    return table


def _cell(value: Any) -> str:
    if isinstance(value, list):
        value = ", ".join([*map(_cell, value[:FIRST]), *["…"] * (len(value) > FIRST)])
    if isinstance(value, float):
        return f"{value:.4g}"
    text = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= CUT else f"{text[:CUT]} …"


def _table(frame: pd.DataFrame) -> pa.Table:
    """The rows as Arrow holds them; a column that is not there is null."""
    nothing = [None] * len(frame)
    columns = [
        pa.array([_value(v, kind) for v in frame.get(name, nothing)], kind) for name, (kind, _) in COLUMNS.items()
    ]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def _value(value: Any, kind: pa.DataType) -> Any:
    if value is None or (not pa.types.is_list(kind) and value != value):
        return None
    if pa.types.is_string(kind):
        return str(value)
    if pa.types.is_list(kind):
        return list(value) if isinstance(value, (list, tuple)) else None
    return int(value) if pa.types.is_integer(kind) else value


def _about(table: pa.Table) -> dict[str, dict[str, str]]:
    """What the metadata of a file says of its models and probes, by name; files recorded earlier say nothing."""
    return {
        name: json.loads((table.schema.metadata or {}).get(name.encode(), "{}")) for name in ("scores", "candidates")
    }


def _as_bytes(tables: list[pa.Table], about: Mapping[str, Mapping[str, str]]) -> bytes:
    buffer = io.BytesIO()
    schema = SCHEMA.with_metadata({name: canonical(values) for name, values in about.items() if values} or None)
    with pq.ParquetWriter(buffer, schema, compression="zstd", compression_level=LEVEL) as writer:
        for table in tables:
            writer.write_table(table)
    return buffer.getvalue()
