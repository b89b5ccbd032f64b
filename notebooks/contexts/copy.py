"""Page 23, copy or understand (paper 002, Table 3): contexts around the target against twins around a wrong entity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from probekit.demo.world.exposure import MANY, NEVER, NO, SELDOM, UNKNOWN, YES, has_read, told
from probekit.demo.zoo import ZOO
from probekit.errors import ReportError
from probekit.metrics.context import ANSWERS, CONTEXT, counted, steps_of
from probekit.metrics.decisions import enough
from probekit.probes.halves import HELD_OUT, SHARED, TAUGHT
from probekit.report.charts import forest
from probekit.report.charts import told as in_words
from probekit.report.tables import by, pick, readable
from probekit.report.verdicts import concluded

from notebooks.contexts.ask import domain_of
from notebooks.contexts.pooling import (
    DIRECTION,
    FEW,
    FLOORS,
    LEAST,
    ONCE,
    POOLED,
    Column,
    beside_paper,
    both_ways,
    by_document,
    by_model,
    conclusions_from,
    falls,
    floors,
    less,
    measured,
    named,
    one_row,
    overall,
    rises,
    several,
    share_of,
    sided,
    sources_shown,
    spanned,
    speaking,
    unheard,
    weighty,
    whose,
    within_relations,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Tables = Mapping[str, pd.DataFrame]
TARGET, NEGATIVE = "target", "negative"
CENTRES = {TARGET: "target", NEGATIVE: "negative target"}
LEVELS = (NEVER, SELDOM, MANY, HELD_OUT, SHARED, TAUGHT)  # from what cannot be known to what was told most
COPYING = {
    "variant": "Context",
    "named": "First answer named by it",
    "named_bare": "The same without it",
    "without": "Acc@1 without",
    "right": "Acc@1 with",
    "right_named": "Acc@1 where named",
    "right_other": "Acc@1 where not",
}
CAPTIONS = {
    "twins": "UCM_m of contexts around the target and around an incorrect entity, and each document once",
    "differences": "Understand and Misunderstand of the target less those of the negative target",
    "levels": "The same differences by how well a fact can be known, over the models above the floor",
    "crossed": "How often a step lifts and lowers the centre, by whether centre and added entity are correct",
    "variants": "The same by variant of the context, each document once",
    "copying": "First answers that the context names, and how often first answers are right, by any correct object",
    "directions": "The paper's findings as numbers that are above zero where they hold, model by model",
    "floors": FLOORS,
}


def paired(ranked: pd.DataFrame) -> pd.DataFrame:
    """The steps of contexts that have a twin, where UCM counts a step around either centre."""
    keys = ["source", *(name for name in CONTEXT if name != "twin")]
    kept = ranked.loc[counted(ranked), [*keys, "twin"]].drop_duplicates()
    both = kept.groupby(keys, sort=False).size()
    return ranked.merge(both[both == 2].index.to_frame(index=False), on=keys)


def tables(ranked: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """All tables of the page, on contexts that have a twin.

    Args:
        ranked: of ``ask.ask_all``.

    Returns:
        ``twins`` (Table 3: UCM_m of target and negative target, and each document once), ``variants`` (the latter by
        variant), ``crossed`` (share of steps that lift the centre, by centre and added entity, both correct or not),
        ``differences`` (target less negative target), ``levels`` (these differences by how well a fact can be known,
        of ``LEAST`` triples or more), ``copying`` (of all contexts of triples that UCM counts, twin or not),
        ``directions``, ``floors``. Of all but ``twins`` and ``copying`` each document counts once.

    Raises:
        ReportError: no context can be compared.
    """
    own = paired(ranked)
    if own.empty:
        raise ReportError("no context has a twin with a step to count: take more triples, or longer documents")
    low = floors(ranked)
    return {
        "twins": both_ways(own, ["twin"], low),
        "variants": by_model(own, by_document, ["variant", "twin"], low),
        "crossed": by_model(own[own["added"] != own["centre"]], crossed, ["twin", "added_correct"], low),
        "differences": by_model(own, differences, floor=low),
        "levels": levels(own, low),
        "copying": by_model(several(ranked[ranked["twin"] == TARGET]), copying, ["variant"], low),
        "directions": directions(own),
        "floors": low,
    }


def crossed(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """How often a step lifts and lowers the centre, of every group of steps.

    A model that copies whatever stands in the context gives all four pairs of a right or wrong centre and a right or
    wrong added entity alike; one that keeps right and wrong objects apart lifts a centre more often when an entity of
    its own kind is added.
    """
    found = []
    for about, part in by(rows, keys):
        row = about | {"steps": steps_of(part), "triples": part["triple_id"].nunique()}
        for name, value in (("rises", rises(part)), ("falls", falls(part))):
            row |= spanned(name, measured(part, [(value, np.ones(len(part)))], lambda means: means[..., 0], once=True))
        found.append(row)
    return pd.DataFrame(found)


def copying(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """How often the first answer is an entity that the context names, with all of the context and without it.

    Returns:
        One row per group: ``contexts, documents``; ``named`` and ``named_bare`` (with the context, and the same
        entities without it); ``without`` and ``right`` (Acc@1 without and with context, any correct object);
        ``right_named`` and ``right_other`` (the latter of answers that the context names and of others); all with
        intervals.
    """
    found = []
    for about, part in by(rows, keys):
        last = part[part["last"]]
        first = part[part["step"] == 1]
        row = about | {"contexts": len(last.drop_duplicates(CONTEXT)), "documents": last["doc_id"].nunique()}
        every, right = np.ones(len(last), dtype=bool), last["any_after"] == 1
        for name, value, kept in (
            ("named", last["copied"], every),
            ("named_bare", last["copied_bare"], every),
            ("right", right, every),
            ("right_named", right, last["copied"]),
            ("right_other", right, ~last["copied"]),
        ):
            row |= spanned(name, share_of(last, value, kept))
        found.append(
            row | spanned("without", share_of(first, first["any_before"] == 1, np.ones(len(first), dtype=bool)))
        )
    return pd.DataFrame(found)


def _both_centres(rows: pd.DataFrame, value: pd.Series) -> list[Column]:
    kept = counted(rows)
    return [(value, kept & (rows["twin"] == twin)) for twin in CENTRES]


def differences(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Understand and Misunderstand of the target less that of the negative target, of every group of steps."""
    found = []
    for about, part in by(rows, keys):
        row = about | {"triples": part["triple_id"].nunique()}
        for name, value in (("understand", rises(part)), ("misunderstand", falls(part))):
            row |= spanned(name, measured(part, _both_centres(part, value), less, once=True))
        found.append(row)
    return pd.DataFrame(found)


def level(ranked: pd.DataFrame) -> pd.Series:
    """How well each row's fact can be known: how often it was told, or its half; empty where that is not known."""
    found = ranked["half"].astype(str).copy()
    if "exposure" in ranked:
        known = ranked["exposure"].notna() & ranked["model"].isin(ZOO)
        found[known] = told(ranked.loc[known, "exposure"].astype(int))
    return found


def _read(source: str, model: str) -> str:
    return has_read(model, domain_of(source), ZOO) if source.startswith("demo") else YES


def levels(own: pd.DataFrame, low: pd.DataFrame) -> pd.DataFrame:
    """``differences`` by ``level``, over the models above the floor that read the text and over those that did not, a
    control."""
    marked = own.assign(level=level(own))
    marked = marked[marked["level"] != ""]
    read = [_read(str(source), str(model)) for source, model in zip(marked["source"], marked["model"], strict=True)]
    marked = marked.assign(read=read)
    found = []
    for about, part in by(marked[marked["read"] != UNKNOWN], ["source", "read"]):
        for name, rows in _by_level(speaking(part, low)):
            (row,) = differences(rows, ["source"]).drop(columns="source").to_dict("records")
            found.append(about | {"level": name, "models": rows["model"].nunique()} | row)
    return pd.DataFrame(found)


def _by_level(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    for name in LEVELS:
        part = rows[rows["level"] == name]
        if part["triple_id"].nunique() >= LEAST:
            yield name, part


def directions(own: pd.DataFrame) -> pd.DataFrame:
    """What paper 002 concludes from Table 3, each as a number that is above zero where it holds.

    Opposite behaviours (002-12a) are two numbers, and both must hold. That models understand (002-12c) is the
    difference of Understand between target and negative target for facts that were told less that for facts of the same
    relation that were not.

    Args:
        own: of ``paired``.

    Returns:
        Rows of ``pooling.DIRECTION``, by model, of sources with ``FEW`` triples or more; of what was told and what was
        not, too.
    """
    rows: list[tuple[object, ...]] = []
    for (source, model), part in own.groupby(["source", "model"], sort=False):
        if part["triple_id"].nunique() < FEW:
            continue
        kept, up, known, count = counted(part), rises(part), level(part), part["doc_id"].nunique()
        (target, negative), (fall, negative_fall) = (_both_centres(part, value) for value in (up, falls(part)))
        for name, pair in (
            ("target: U less M", (target, fall)),
            ("negative target: M less U", (negative_fall, negative)),
        ):
            rows.append(("002-12a", source, model, name, *measured(part, pair, less, once=True), count))
        read = _read(str(source), str(model)) == YES
        groups = [known.isin(names).to_numpy() & read for names in ((TAUGHT, MANY), (HELD_OUT, NEVER))]
        cells = [(up, kept & which & (part["twin"] == twin)) for which in groups for twin in CENTRES]
        if min(part.loc[which, "triple_id"].nunique() for which in groups) >= FEW:
            ends = within_relations(part, cells, lambda m: m[..., 0] - m[..., 1] - (m[..., 2] - m[..., 3]), once=True)
            if ends[0] == ends[0]:
                rows.append(("002-12c", source, model, "told less not told", *ends, count))
    return pd.DataFrame(rows, columns=DIRECTION)


def _triples(tables: Tables) -> dict[str, int]:
    return {
        str(name): int(n) for name, n in tables["differences"].groupby("source", sort=False)["triples"].max().items()
    }


def conclusions(tables: Tables) -> pd.DataFrame:
    """The paper's findings from Table 3, model by model, of sources with enough triples."""
    return conclusions_from(tables["directions"], tables["floors"])


def sources(tables: Tables) -> list[str]:
    """The sources that the page shows; the others stand in the list of tables."""
    return sources_shown(_triples(tables))


def answer(tables: Tables) -> str:
    """Whether target and negative target differ on the source with most triples, and more so where a fact was told."""
    source = sources(tables)[0]
    row: dict[str, Any] = one_row(tables["differences"], tables["floors"], source=source)
    _, few = enough(pd.DataFrame([row]), "triples", f"triples of {named(source)}")
    if few or (few := unheard(tables["floors"], source)):
        return few
    up, down = (
        sided(row[f"{name}_low"], row[f"{name}_high"], ("excludes", "excludes", "includes"))
        for name in ("understand", "misunderstand")
    )
    zero = f"both 95% intervals {up.removesuffix('s')}" if up == down else f"the 95% intervals: {up}, {down}"
    text = (
        f"On {named(source)} an added right answer lifts the answer asked for {_points(row['understand'])} often than "
        f"a wrong entity in its place, and lowers it {_points(row['misunderstand'])} often ({whose(row)}, {ONCE}; "
        f"{zero} zero)."
    )
    if row["understand"] * (pooled := _of_all_steps(tables, source)) < 0:
        text += f" Over all steps, as in the paper, it lifts it {_points(pooled)} often."
    copied: dict[str, Any] = one_row(tables["copying"], tables["floors"], source=source, variant="knowledge_only")
    text += (
        f" After a text of entities alone {copied['named']:.0%} of first answers are among these, without it "
        f"{copied['named_bare']:.0%}."
    )
    found = pick(conclusions(tables), source=source, claim="002-12c")
    if found.empty:
        return f"{text} Whether a lift is more frequent where a fact was told cannot be said here."
    rows = concluded(found)
    sizes = " and ".join(", ".join(f"{100 * size:+.1f}" for size in rows["estimate"]).rsplit(", ", 1))
    decided = [int((rows["verdict"] == sign).sum()) for sign in ("agrees", "contradicts")]
    which = (
        f"{decided[0]} of the {len(rows)} intervals above zero and {decided[1]} below"
        if any(decided)
        else "no interval excludes zero"
    )
    return f"{text} Understanding would lift taught facts more: by {sizes} points; {which}."


def _points(difference: float) -> str:
    return f"{100 * abs(difference):.1f} points {'more' if difference > 0 else 'less'}"


def _of_all_steps(tables: Tables, source: str) -> float:
    """Understand of the target less that of the negative target, each step counting once as in the paper's Table 3."""
    rows = overall(tables["twins"], tables["floors"], source=source, measure=POOLED).set_index("twin")["understand"]
    return float(rows[TARGET] - rows[NEGATIVE])


def copied(tables: Tables) -> tuple[pd.DataFrame, pd.DataFrame]:
    """``copying`` of the sources that are shown; the numbers, and for reading."""
    rows = pick(tables["copying"], source=sources(tables))
    spoken = rows.assign(variant=rows["variant"].str.replace("_", "-")).drop(columns=["contexts", "documents"])
    spoken = spoken if rows["source"].nunique() > 1 else spoken.drop(columns="source")
    columns = [c for c in ("source", "model", "variant") if c in spoken]
    order = ["named", "named_bare", "without", "right", "right_named", "right_other"]
    order = [f"{name}{end}" for name in order for end in ("", "_low", "_high")]
    return rows, readable(spoken[columns + order], COPYING, digits=2)


def draw(tables: Tables) -> Figure:
    """Understand and Misunderstand of target and negative target, a panel each; of several sources Understand alone."""
    rows = drawn_rows(tables)
    if rows["source"].nunique() == 1:
        return forest(rows, "share", series="centre", panel="answer", columns=2, colour="model")
    return forest(rows, "share", series="centre", panel="source", colour="model", xlabel="Understand")


def drawn_rows(tables: Tables) -> pd.DataFrame:
    """What the figure shows: a row per source, answer, model and centre, ``share, share_low, share_high``; of several
    sources Understand alone."""
    rows = pick(tables["twins"], source=sources(tables), measure=ONCE)
    parts = []
    for source in sources(tables):
        for name in ("understand", "misunderstand")[: 1 if len(sources(tables)) > 1 else 2]:
            ends = {f"{name}{end}": f"share{end}" for end in ("", "_low", "_high")}
            part = pick(rows, source=source)[["source", "model", "twin", *ends]]
            parts.append(part.rename(columns=ends).assign(answer=name.capitalize(), centre=part["twin"].map(CENTRES)))
    return pd.concat(parts, ignore_index=True)


def described(tables: Tables) -> str:
    """The chart in words."""
    return "Dot plot. " + in_words(drawn_rows(tables), "share", "source", "answer", "model", "centre")


def draw_levels(tables: Tables) -> Figure:
    """The difference of Understand by how well a fact can be known, a panel a source where there are several."""
    rows = level_rows(tables)
    panel = "source" if rows["source"].nunique() > 1 else None
    series = "models_are" if rows["models_are"].nunique() > 1 else None
    xlabel = "Understand, target less negative target"
    lines = dict.fromkeys(rows["source"], 0.0) if panel else 0.0
    return forest(rows, "understand", y="level", series=series, panel=panel, line=lines, xlabel=xlabel, zero=False)


def level_rows(tables: Tables) -> pd.DataFrame:
    """Of ``levels``: the sources that are shown, from what cannot be known to what was told most."""
    rows = pick(tables["levels"], source=sources(tables))
    if rows.empty:
        return rows
    readers = rows["read"].map({YES: "read the text", NO: "never read it, a control"})
    return rows.assign(models_are=readers).sort_values(
        "level", key=lambda names: names.map(LEVELS.index), kind="stable"
    )


def levels_described(tables: Tables) -> str:
    """That chart in words."""
    return "Dot plot. " + in_words(level_rows(tables), "understand", "source", "level", "models_are")


def as_table3(tables: Tables, printed: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The form of Table 3: UCM_m of target and negative target side by side, and each document once; of
    ``pooling.beside_paper``."""
    keys, rows = ["source", "model", "measure"], pick(tables["twins"], source=sources(tables))
    columns: dict[str, tuple[str, str]] = {}
    sides = []
    for twin, name in CENTRES.items():
        ends = {f"{word}{end}": f"{twin}_{word}{end}" for word in ANSWERS for end in ("", "_low", "_high")}
        sides.append(pick(rows, twin=twin)[[*keys, *ends]].rename(columns=ends))
        paper = name.replace(" ", "-")
        columns |= {f"{twin}_{word}": (f"{name} {word[0].upper()}", f"{paper} {word[0].upper()}") for word in ANSWERS}
    return beside_paper(sides[0].merge(sides[1], on=keys), columns, "3" if printed else "")


def weights(tables: Tables) -> str:
    """How few documents the steps around the target tell of, in a sentence."""
    about = {"source": sources(tables)[0], "twin": TARGET, "measure": POOLED}
    return weighty(one_row(tables["twins"], tables["floors"], **about))


def four_pairs(tables: Tables) -> tuple[pd.DataFrame, pd.DataFrame]:
    """``crossed`` over the models above the floor, of the sources that are shown; the numbers, and for reading."""
    rows = overall(tables["crossed"], tables["floors"], source=sources(tables)).sort_values(
        ["twin", "added_correct"], ascending=False, kind="stable"
    )
    rows = rows.sort_values("source", key=lambda names: names.map(sources(tables).index), kind="stable")
    spoken = rows.assign(
        twin=rows["twin"].map({TARGET: "the target, correct", NEGATIVE: "an incorrect entity"}),
        added_correct=["correct" if right else "incorrect" for right in rows["added_correct"]],
    ).drop(columns=["model", "triples"] + ["source"] * (rows["source"].nunique() == 1))
    headings = {"twin": "Centre", "added_correct": "Added entity", "rises": "Centre rises", "falls": "Centre falls"}
    return rows, readable(spoken, headings)
