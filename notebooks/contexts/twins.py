"""Study 2: contexts around the target against their twins around an incorrect entity (paper 002, Table 3)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from probekit.demo.zoo import ZOO
from probekit.errors import ReportError
from probekit.metrics.context import CONTEXT, counted, ucm_table
from probekit.probes.halves import HELD_OUT, SHARED, TAUGHT

from notebooks.contexts.shares import (
    CONCLUSION,
    LEAST,
    Array,
    conclusion,
    everyone,
    falls,
    measured,
    once,
    rises,
    together,
)
from notebooks.contexts.ucm import FEW
from notebooks.templates.calibration import OFTEN, UNKNOWN, YES, reads

TARGET, NEGATIVE = "target", "negative"
MIRROR = 0.1  # shares no further apart than this would be called alike
NEVER, SOME, MANY = "never told", f"told, fewer than {OFTEN} times", f"told {OFTEN} times or more"
LEVELS = (NEVER, SOME, MANY, HELD_OUT, SHARED, TAUGHT)  # from what cannot be known to what was told most


def paired(done: pd.DataFrame) -> pd.DataFrame:
    """The steps of contexts that have a twin, where UCM counts a step around either centre."""
    keys = ["source", *(name for name in CONTEXT if name != "twin")]
    kept = done.loc[counted(done), [*keys, "twin"]].drop_duplicates()
    both = kept.groupby(keys, sort=False).size()
    return done.merge(both[both == 2].index.to_frame(index=False), on=keys)


def tables(done: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """All tables of the twins, on contexts that have one.

    Args:
        done: of ``asking.ask_all``.

    Returns:
        ``twins`` (Table 3: UCM_m of target and negative target), ``variants`` (the same by variant), ``crossed`` (share
        of steps that lift the centre, by centre and added entity, both correct or not), ``differences`` (target less
        negative target), ``levels`` (these differences by how well a fact can be known, of ``LEAST`` triples or
        more), ``conclusions``.

    Raises:
        ReportError: no context can be compared.
    """
    own = paired(done)
    if own.empty:
        raise ReportError("no context has a twin with a step to count: take more triples, or longer documents")
    rows, models = everyone(own), own["model"].nunique()
    return {
        "twins": once(ucm_table(rows, ["source", "model", "twin"]), models),
        "variants": once(ucm_table(rows, ["source", "model", "variant", "twin"]), models),
        "crossed": once(crossed(rows), models),
        "differences": differences(rows),
        "levels": levels(own),
        "conclusions": conclusions(own),
    }


def crossed(rows: pd.DataFrame) -> pd.DataFrame:
    """How often a step lifts the centre, by whether the centre and the added entity are correct.

    A model that copies whatever stands in the context gives all four alike; one that keeps right and wrong objects
    apart lifts a centre more often when an entity of its own kind is added. Steps that add the centre do not count.
    """
    found = []
    taken = rows[rows["added"] != rows["centre"]]
    keys = ["source", "model", "twin", "added_correct"]
    for key, part in taken.groupby(keys, sort=False):
        told = dict(zip(keys, key, strict=True)) | {"steps": len(part), "triples": part["triple_id"].nunique()}
        for name, value in (("rises", rises(part)), ("falls", falls(part))):
            estimate, low, high = measured(part, [(value, np.ones(len(part)))], lambda means: means[..., 0])
            told |= {name: estimate, f"{name}_low": low, f"{name}_high": high}
        found.append(told)
    return pd.DataFrame(found)


def less(means: Array) -> Array:
    """The first mean less the second."""
    return means[..., 0] - means[..., 1]


def _columns(rows: pd.DataFrame, value: pd.Series) -> list[tuple[pd.Series, pd.Series]]:
    kept = counted(rows)
    return [(value, kept & (rows["twin"] == twin)) for twin in (TARGET, NEGATIVE)]


def differences(rows: pd.DataFrame) -> pd.DataFrame:
    """Understand and Misunderstand of the target less that of the negative target, per source and model."""
    found = []
    for (source, model), part in rows.groupby(["source", "model"], sort=False):
        row: dict[str, object] = {"source": source, "model": model, "triples": part["triple_id"].nunique()}
        for name, value in (("understand", rises(part)), ("misunderstand", falls(part))):
            estimate, low, high = measured(part, _columns(part, value), less)
            row |= {name: estimate, f"{name}_low": low, f"{name}_high": high}
        found.append(row)
    return pd.DataFrame(found)


def level(done: pd.DataFrame) -> pd.Series:
    """How well each row's fact can be known: how often it was told, or its half; empty where that is not known."""
    found = done["half"].astype(str).copy()
    if "exposure" in done:
        known = done["exposure"].notna() & done["model"].isin(ZOO)
        often = done.loc[known, "exposure"].astype(int)
        found[known] = np.select([often == 0, often < OFTEN], [NEVER, SOME], MANY)
    return found


def _read(source: str, model: str) -> str:
    if not source.startswith("demo"):
        return YES
    return reads(model, "biomedical" if source.endswith("_bio") else "general")


def levels(own: pd.DataFrame) -> pd.DataFrame:
    """``differences`` by ``level``, over the models that read the text and over those that did not, a control."""
    marked = own.assign(level=level(own))
    marked = marked[marked["level"] != ""]
    read = {pair: _read(*map(str, pair)) for pair in marked.groupby(["source", "model"]).groups}
    marked = marked.assign(read=[read[pair] for pair in zip(marked["source"], marked["model"], strict=True)])
    found = []
    for (source, said), part in marked[marked["read"] != UNKNOWN].groupby(["source", "read"], sort=False):
        for name, rows in _by_level(part):
            table = differences(together(rows)).drop(columns="model")
            about = {"source": source, "read": said, "level": name, "models": rows["model"].nunique()}
            found.append(about | table.drop(columns="source").to_dict("records")[0])
    return pd.DataFrame(found)


def _by_level(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    for name in LEVELS:
        part = rows[rows["level"] == name]
        if part["triple_id"].nunique() >= LEAST:
            yield name, part


def conclusions(own: pd.DataFrame) -> pd.DataFrame:
    """What paper 002 concludes from Table 3, each as a number that is above zero where it holds.

    Args:
        own: of ``paired``.

    Returns:
        Rows of ``shares.conclusion``, over all models together, of sources with ``FEW`` triples or more; of
        what was told and what was not, too.
    """
    rows: list[dict[str, object]] = []
    for source, part in own.groupby("source", sort=False):
        if part["triple_id"].nunique() < FEW:
            continue
        one, known = together(part), level(part)
        four = [*_columns(one, rises(one)), *_columns(one, falls(one))]  # U target, U negative, M target, M negative
        for claim, name, measure in (
            ("002-12a", "smaller of U less M and, of the twin, M less U", _turned),
            ("002-12b", f"the same, and no more than {MIRROR} less the greater gap", _mirrored),
        ):
            rows.append(conclusion(claim, str(source), name, measured(one, four, measure)))
        read = np.array([_read(str(source), model) == YES for model in part["model"]])
        kept, up = counted(one), rises(one)
        groups = [known.isin(names).to_numpy() & read for names in ((TAUGHT, MANY), (HELD_OUT, NEVER))]
        cells = [(up, kept & which & (one["twin"] == twin)) for which in groups for twin in (TARGET, NEGATIVE)]
        if min(one.loc[which, "triple_id"].nunique() for which in groups) < FEW:
            continue
        known_more = measured(one, cells, lambda m: m[..., 0] - m[..., 1] - (m[..., 2] - m[..., 3]))
        rows.append(conclusion("002-12c", str(source), "told less not told", known_more))
    return pd.DataFrame(rows, columns=CONCLUSION)


def _turned(means: Array) -> Array:
    """The smaller of U less M of the target and M less U of the negative target."""
    return np.minimum(means[..., 0] - means[..., 2], means[..., 3] - means[..., 1])


def _mirrored(means: Array) -> Array:
    """The smaller of ``_turned`` and 0.1 less the greater of the gaps between U of one and M of the other."""
    gaps = np.maximum(np.abs(means[..., 0] - means[..., 3]), np.abs(means[..., 2] - means[..., 1]))
    return np.minimum(_turned(means), MIRROR - gaps)
