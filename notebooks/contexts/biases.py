"""Page 24: the three biases that paper 002 argues from, and whether text before the question lessens them.

Prompt Preference Bias: another prompt of the same meaning. Instance Verbalization Bias: another name of the subject.
Sample Disparity Bias: what a model's text states, and how often ("Biases in Prompt-based Knowledge Probing",
"Mitigating PPB, IVB, and SDB Biases"; Cao et al. 2022).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from probekit.demo.world.exposure import NO, OFTEN, UNKNOWN, YES
from probekit.metrics import Drawn, spread
from probekit.metrics.auc import separation
from probekit.metrics.bootstrap import effective_units
from probekit.metrics.context import counted
from probekit.metrics.summary import accuracy_table
from probekit.probes.halves import HELD_OUT, TAUGHT
from probekit.probes.rewordings import NAME, PROMPT
from probekit.report.charts import forest
from probekit.report.tables import per, pick
from probekit.report.text import title
from probekit.report.verdicts import conclude

from notebooks.contexts import pooling
from notebooks.contexts.pooling import (
    FEW,
    FLOORS,
    LEAST,
    Array,
    Column,
    Row,
    Tables,
    directed,
    grouped,
    measured,
    share_of,
)
from notebooks.contexts.wordings import BARE, FIRST, REAL

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WITHOUT, WITH = "without", "with"
QUESTION = ["source", "model", "context", "triple_id", "doc_id"]  # what is asked in several wordings
WHEN = {WITHOUT: "without context", WITH: "with context"}
SIGNS, HITS = (-1, 0, 1), (0, 1)  # what kappa compares: Understand, Confuse, Misunderstand; wrong and right
CUT = 1 + 2 * len(SIGNS)  # columns of the first of the two
MOVED = {"understand": "Understand", "misunderstand": "Misunderstand"}
CHANGED, ALONE = "first answers that change", "right by one alone"
FREQUENCY, TOLD = "AUC of frequency", "gain where told"
HEADINGS = {
    "wording": "Asked by",
    "questions": "Triples",
    "changed": "Another first answer",
    "first@1": "Acc@1, own prompt",
    "second@1": "Acc@1, so asked",
    "difference@1": "Difference",
    "difference@5": "Difference of Acc@5",
    "only_one": "Right by one alone",
    "auc": "AUC of frequency",
    "gap": "Gain where told",
    "read": "Documents read",
    "reads": "Reader",
    "control": "Read none",
    "measured": "Read less unread",
    "unread": "Documents unread",
    "reader": "Of the reader",
    "other": "Of the other",
    "ucm": "Kappa of U, C, M",
    "known": "Kappa of right or wrong",
    "more": "Difference",
}
CAPTIONS = {
    "wordings": "The same questions by another prompt and by another name of the subject, beside the probe's own",
    "agreement": "Cohen's kappa between two prompts: of each step's U, C or M, and of right or wrong without context",
    "samples": "How well the documents that name an object tell right from wrong answers, and Acc@1 of facts that were "
    "told minus that of facts that were not, within relations",
    "frequency": "Acc@k by how many documents name the object",
    "read": "Documents that hold a sentence which a model was trained on, less documents that hold none, beside the "
    "same difference of a model that read none of them, each document once",
    "directions": "The paper's sentences as numbers that are above zero where they hold, model by model",
    "floors": FLOORS,
}


def tables(ranked: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """All tables of the page.

    Args:
        ranked: of ``ask.ask_all`` with ``answers``, asked with what ``wordings`` gives.

    Returns:
        ``wordings`` (by source, model, wording and ``context``, without or with: ``changed``, the share of first
        answers that differ; Acc@k by both, ``first`` and ``second``, and their difference; ``only_one``, the share of
        questions that one of the two answers right alone), ``agreement``, ``samples``, ``frequency``, ``read`` (see
        ``by_reading``), ``directions`` and ``floors``.
    """
    answers = outcomes(ranked)
    both, original = in_pairs(answers), answers[(answers["wording"] == FIRST) & answers["drawn"]]
    questions = ranked[(ranked["wording"] == FIRST) & ranked["drawn"] & ranked["variant"].isin([REAL, BARE])]
    alike, exposed, low = agreement(ranked), samples(original), pooling.floors(questions)
    return {
        "wordings": pooling.by_model(both, _reworded, ["wording", "context"], low) if len(both) else both,
        "agreement": alike,
        "samples": exposed,
        "frequency": _frequency(original),
        "read": by_reading(ranked),
        "directions": directions(both, original, alike, exposed),
        "floors": low,
    }


# ---- answers, question by question ----------------------------------------------------------------------------------


def outcomes(ranked: pd.DataFrame) -> pd.DataFrame:
    """Every question in each of its wordings, without context and with all of the real one.

    Returns:
        ``QUESTION, wording, relation, drawn, named_in, told`` (1 or 0: whether the training text states the fact),
        ``read``, ``rank`` (of the best correct object) and ``answer`` (the first).
    """
    rows = ranked[ranked["variant"].isin([REAL, BARE])]
    rows = rows.assign(told=_exposed(rows), read=_read(rows))
    sides = (
        (WITHOUT, rows[rows["step"] == 1], "any_before", "answer_bare"),
        (WITH, rows[rows["last"] & (rows["variant"] == REAL)], "any_after", "answer"),
    )
    columns = [*QUESTION, "wording", "relation", "drawn", "named_in", "told", "read", "rank", "answer"]
    return pd.concat(
        [
            side.assign(context=context, rank=side[rank], answer=side[answer])[columns]
            for context, side, rank, answer in sides
        ],
        ignore_index=True,
    )


def _exposed(rows: pd.DataFrame) -> pd.Series:
    """Whether a fact was in the training text (1) or not (0): by its half, or ``OFTEN`` times against never. A model
    that was told neither half, a control, is compared by the halves of the others."""
    known = rows["half"].isin([TAUGHT, HELD_OUT])
    halves = rows[known].drop_duplicates("fact_id").set_index("fact_id")["half"]
    own = known.groupby([rows["source"], rows["model"]]).transform("any")
    exposure = rows["half"].where(own, rows["fact_id"].map(halves)).map({TAUGHT: 1.0, HELD_OUT: 0.0})
    if "exposure" in rows:
        exposure = exposure.mask(rows["exposure"] == 0, 0.0).mask(rows["exposure"] >= OFTEN, 1.0)
    return exposure


def _read(rows: pd.DataFrame) -> list[str]:
    """Whether each row's model was trained on the text that holds these facts."""
    read_by = {}
    for source, group in rows.groupby("source", sort=False):
        halved = set(group.loc[group["half"] != "", "model"])
        for model in group["model"].unique():
            if str(source).startswith("demo"):
                read_by[source, model] = pooling.read_text(str(source), model)
            else:
                read_by[source, model] = UNKNOWN if not halved else YES if model in halved else NO
    return [read_by[pair] for pair in zip(rows["source"], rows["model"], strict=True)]


def in_pairs(answers: pd.DataFrame) -> pd.DataFrame:
    """The questions of each other wording's draw beside the same in the probe's own prompt (``rank_own``), with
    ``changed`` and ``only_one``."""
    original = answers.loc[answers["wording"] == FIRST, [*QUESTION, "rank", "answer"]]
    other = answers[(answers["wording"] != FIRST) & answers["drawn"]]
    both = other.merge(original, on=QUESTION, suffixes=("", "_own"), validate="many_to_one")
    return both.assign(
        changed=both["answer"] != both["answer_own"], only_one=(both["rank"] == 1) != (both["rank_own"] == 1)
    )


@grouped
def _reworded(rows: pd.DataFrame) -> Row:
    every = np.ones(len(rows))
    row = {"questions": rows["triple_id"].nunique(), "documents": rows["doc_id"].nunique()}
    row |= spread("changed", share_of(rows, rows["changed"]))
    for k in (1, 5):
        first, second = rows["rank_own"] <= k, rows["rank"] <= k
        row |= spread(f"first@{k}", share_of(rows, first)) | spread(f"second@{k}", share_of(rows, second))
        row |= spread(f"difference@{k}", measured(rows, [(second, every), (first, every)], pooling.less))
    return row | spread("only_one", share_of(rows, rows["only_one"]))


# ---- two prompts of the same steps ----------------------------------------------------------------------------------


def agreement(ranked: pd.DataFrame) -> pd.DataFrame:
    """How far two prompts agree beyond chance, by UCM and by accuracy, on the triples that UCM counts.

    Returns:
        One row per source and model with such triples: ``triples, documents, steps``; Cohen's kappa (1960) ``ucm`` of
        each step's Understand, Confuse or Misunderstand, ``known`` of whether the first answer without context is
        right, and ``more``, the first minus the second, on one draw of documents, of which each counts once; and the
        ``floors`` of these questions.
    """
    context = ["source", "model", "triple_id", "doc_id"]
    counting, bare = ranked[counted(ranked)], ranked[(ranked["step"] == 1) & (ranked["variant"] == REAL)]
    steps = _by_both(counting.assign(sign=np.sign(counting["rc_centre"])), context)
    hits = _by_both(bare.assign(sign=bare["any_before"] == 1), context)
    hits = hits.merge(steps[context].drop_duplicates(), on=context)
    table = _kappas(pd.concat([steps.assign(of="ucm"), hits.assign(of="known")], ignore_index=True))
    questions = ranked[(ranked["wording"] == FIRST) & (ranked["variant"] == REAL)]
    low = pooling.floors(questions[questions["triple_id"].isin(steps["triple_id"])]).drop(columns="documents")
    return table.merge(low, on=["source", "model"]) if len(table) else table


@per("source", "model")
def _kappas(both: pd.DataFrame) -> Row:
    by_step = (both["of"] == "ucm").to_numpy()
    columns = [*_categories(both, by_step, SIGNS), *_categories(both, ~by_step, HITS)]
    row = {"triples": both["triple_id"].nunique(), "documents": both["doc_id"].nunique(), "steps": int(by_step.sum())}
    measures: dict[str, Callable[[Array], Array]] = {
        "ucm": lambda means: kappa(means[..., :CUT]),
        "known": lambda means: kappa(means[..., CUT:]),
        "more": lambda means: kappa(means[..., :CUT]) - kappa(means[..., CUT:]),
    }
    for name, measure in measures.items():
        row |= spread(name, measured(both, columns, measure, once=True))
    return row


def _by_both(rows: pd.DataFrame, context: list[str]) -> pd.DataFrame:
    """The rows asked by both prompts: ``sign`` by the probe's own, ``sign_other`` by the other."""
    keys = [*context, "variant", "step"]
    first, other = (pick(rows, wording=name)[[*keys, "sign"]] for name in (FIRST, PROMPT))
    return first.merge(other, on=keys, suffixes=("", "_other"), validate="one_to_one")


def _categories(rows: pd.DataFrame, which: np.ndarray, values: Sequence[int]) -> list[Column]:
    """The columns that ``kappa`` needs: whether both say the same, then of each value whether either says it."""
    signs = [rows[name].astype(float) for name in ("sign", "sign_other")]
    return [(signs[0] == signs[1], which)] + [(sign == value, which) for value in values for sign in signs]


def kappa(means: Array) -> Array:
    """Cohen's kappa from shares: how often two agree, then of each category how often the one and the other name it.

    Args:
        means: shape (..., 1 + 2 * categories).

    Returns:
        Shape (...); nan where both always name the same single category.
    """
    same, chance = means[..., 0], (means[..., 1::2] * means[..., 2::2]).sum(-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(chance < 1, (same - chance) / (1 - chance), np.nan))


# ---- what there was to read -----------------------------------------------------------------------------------------


@per("source", "model", "context")
def samples(original: pd.DataFrame) -> Row | None:
    """How answers follow what there was to read, without context and with it.

    Args:
        original: of ``outcomes``, the draw of the probe's own prompts.

    Returns:
        One row per source, model and ``context``: ``read`` (whether the model was trained on that text: one that
        was not is a control), ``questions, documents, effective`` (documents of one size that tell as much); ``auc``,
        the chance that of two questions of a relation, one answered right and one wrong, more documents name the target
        of the first; ``told`` and ``not_told`` (facts) and ``gap``, Acc@1 of the one minus that of the other within
        relations.
    """
    row: Row = {"read": original["read"].iloc[0], "questions": original["triple_id"].nunique()}
    row |= {"documents": original["doc_id"].nunique(), "effective": effective_units(original["doc_id"].tolist())}
    if (auc := _separated(original)) is not None:
        row |= spread("auc", auc)
    right, exposed = original["rank"] == 1, original["told"] == 1
    groups = [(right, exposed), (right, original["told"] == 0)]
    counts = [int(group.sum()) for _, group in groups]
    row |= dict(zip(("told", "not_told"), counts, strict=True))
    if min(counts) >= LEAST:
        row |= spread("gap", pooling.within_relations(original, groups, pooling.less))
    return row if {"auc", "gap"} & set(row) else None


def _separated(rows: pd.DataFrame) -> Drawn | None:
    """AUC of ``named_in``, within relations, over draws of documents; none where all answers are alike."""
    right = (rows["rank"] == 1).to_numpy()
    if rows["named_in"].isna().any() or min(right.sum(), (~right).sum()) < LEAST:
        return None
    documents = rows["doc_id"].tolist()
    result = separation(-rows["named_in"], right, clusters=documents, strata=rows["relation"].tolist())
    return Drawn(np.asarray(result.estimate), result.draws, effective_units(documents))


def _frequency(original: pd.DataFrame) -> pd.DataFrame:
    """Acc@1 and Acc@5 of up to three classes of questions by ``named_in``."""
    rows = original[original["named_in"].notna()]
    if rows.empty:
        return rows
    group = pooling.classes(rows.assign(named_in=rows["named_in"].astype(int)), "named_in")
    keys = ["source", "model", "context", "documents"]
    table = accuracy_table(rows.assign(documents=group, fact_id=rows["doc_id"]), keys, ks=(1, 5))
    table = table.sort_values(keys, key=lambda c: c.map(pooling.lowest) if c.name == "documents" else c, kind="stable")
    return table.drop(columns=["facts", "mrr"])


def by_reading(ranked: pd.DataFrame) -> pd.DataFrame:
    """What documents do that a model read in training, against those that it did not read.

    Documents that were read differ from others in more than that, so the same difference of a model that read none of
    them is taken off: of one that was told the same facts where there is one, of the same seed if possible.

    Args:
        ranked: of ``ask.ask_all``, with ``document_read``.

    Returns:
        One row per source, ``model`` that read some, its ``control``, and ``measured`` (of ``MOVED``): ``read`` and
        ``unread`` (documents), the difference between them for the ``reader`` and for the control (``other``), and
        ``more``, the first minus the second, with intervals over documents; none of fewer than ``LEAST`` documents.
    """
    rows = ranked[(ranked["wording"] == FIRST) & (ranked["twin"] == "target")]
    rows = rows[counted(rows)]
    return _by_reading(rows.assign(understand=pooling.rises(rows), misunderstand=pooling.falls(rows)))


@per("source")
def _by_reading(rows: pd.DataFrame) -> Iterator[Row]:
    facts = {m: dict(zip(g["fact_id"], g["half"], strict=True)) for m, g in rows.groupby("model", sort=False)}
    readers = rows.loc[rows["document_read"].astype(bool), "model"].unique()
    others = [model for model in facts if model not in readers]
    for reader in readers if others else ():
        seed = reader.rpartition("-s")[2]
        control = max(others, key=lambda name: (facts[name] == facts[reader], name.endswith(f"-s{seed}")))
        both = pick(rows, model=[reader, control])
        read = both["doc_id"].isin(both.loc[both["document_read"].astype(bool), "doc_id"])
        groups = [(both["model"] == who) & which for who in (reader, control) for which in (read, ~read)]
        sizes = {name: both.loc[which, "doc_id"].nunique() for name, which in (("read", read), ("unread", ~read))}
        for name, measure in MOVED.items() if min(sizes.values()) >= LEAST else ():
            cells = [(both[name], group) for group in groups]
            row = {"model": reader, "control": control, "measured": measure} | sizes
            row |= spread("reader", measured(both, cells[:2], pooling.less, once=True))
            row |= spread("other", measured(both, cells[2:], pooling.less, once=True))
            yield row | spread("more", measured(both, cells, pooling.interaction, once=True))


# ---- what the paper says --------------------------------------------------------------------------------------------


def directions(both: pd.DataFrame, original: pd.DataFrame, alike: pd.DataFrame, exposed: pd.DataFrame) -> pd.DataFrame:
    """What paper 002 says of the biases, as numbers that are above zero where it holds.

    Args:
        both: of ``in_pairs``.
        original: as in ``samples``.
        alike: of ``agreement``.
        exposed: of ``samples``.

    Returns:
        Rows of ``pooling.DIRECTION``, by model, of sources and wordings with ``FEW`` questions or more.
    """
    measures = (
        ("002-16a", alike, "more", "triples", "kappa of UCM less Acc@1"),
        ("002-16f", pick(exposed, context=WITHOUT, read=YES), "gap", "questions", f"Acc@1, {TOLD}"),
    )
    parts = [_in_words(both), *(_read_off(*how) for how in measures), _by_frequency(original)]
    return pd.concat([rows for rows in parts if len(rows)] or parts[:1], ignore_index=True)


@directed("source", "model", "wording")
def _in_words(both: pd.DataFrame) -> Iterator[Row]:
    """That context lessens a bias of words (002-16b, g) is two numbers, answers and whether they are right, and both
    must hold."""
    eases = {PROMPT: "002-16g", NAME: "002-16b"}[both["wording"].iloc[0]]
    bare, full = (both["context"] == context for context in (WITHOUT, WITH))
    for name, column in ((CHANGED, "changed"), (ALONE, "only_one")) if full.any() else ():
        value = measured(both, [(both[column], bare), (both[column], full)], pooling.less)
        of = {"measured": f"{name}, without less with", "n": both["doc_id"].nunique()}
        yield from conclude(eases, [pooling.sure(value)], **of)


def _read_off(claim: str, table: pd.DataFrame, column: str, size: str, name: str) -> pd.DataFrame:
    """A column of another table as rows of ``DIRECTION``."""
    rows = table[(table[size] >= FEW) & table[column].notna()] if column in table else table.iloc[:0]
    names = {column: "estimate", f"{column}_low": "low", f"{column}_high": "high", "documents": "n"}
    units = rows.get("effective", rows.get("documents", math.nan))  # where none is given, each document counts once
    rows = rows.assign(claim=claim, measured=name, units=units)
    return rows.rename(columns=names).reindex(columns=pooling.DIRECTION)


@directed("source", "model")
def _by_frequency(original: pd.DataFrame) -> Iterator[Row]:
    bare, full = (_separated(pick(original, context=context)) for context in (WITHOUT, WITH))
    if bare is not None and full is not None:
        documents = pick(original, context=WITH)["doc_id"]
        less = bare.minus(full)._replace(units=effective_units(documents.tolist()))
        of = {"measured": f"{FREQUENCY}, without less with", "n": documents.nunique()}
        yield from conclude("002-16h", [less.row() | {"units": less.units}], **of)


def conclusions(tables: Tables) -> pd.DataFrame:
    """The paper's sentences on the three biases, model by model, of sources with enough questions; a model is at the
    floor of the questions that a sentence is judged by."""
    rows = tables["directions"]
    kappas = rows["claim"] == "002-16a"
    sides = [(rows[~kappas], tables["floors"]), (rows[kappas], tables["agreement"])]
    parts = [pooling.conclusions({"directions": side, "floors": low}) for side, low in sides if len(side)]
    return pd.concat(parts or [rows], ignore_index=True)


# ---- what the page shows --------------------------------------------------------------------------------------------


def sources(tables: Tables) -> list[str]:
    """The sources that the page shows, most questions first; the others stand in the list of tables."""
    rows = tables["wordings"] if len(tables["wordings"]) else tables["floors"]
    return pooling.sources_shown(rows.groupby("source", sort=False)["questions"].max())


def figure_rows(tables: Tables) -> pd.DataFrame:
    """What the figure shows of the source with most questions: ``bias, model, context, value`` with its interval."""
    source, models = sources(tables)[0], tables["floors"]["model"].unique().tolist()
    parts = []
    for bias, table, column, where in (
        ("other prompt: changed", "wordings", "changed", {"wording": PROMPT}),
        ("other name: changed", "wordings", "changed", {"wording": NAME}),
        (FREQUENCY, "samples", "auc", {}),
        (TOLD, "samples", "gap", {}),
    ):
        rows = pick(tables[table], source=source, model=models, **where)
        if column in rows:
            columns = dict(zip(pooling.spans(column), pooling.spans("value"), strict=True))
            points = rows[["model", "context", *columns]].rename(columns=columns).assign(bias=bias)
            parts.append(points[points["value"].notna()])
    return pd.concat(parts, ignore_index=True).assign(context=lambda rows: rows["context"].map(WHEN))


def draw(tables: Tables) -> Figure:
    """Each bias without and with context, a panel each; dotted is where there would be none."""
    lines = {FREQUENCY: 0.5, TOLD: 0.0}
    return forest(
        figure_rows(tables), "value", series="context", panel="bias", columns=2, colour="model", line=lines, zero=False
    )


def in_other_words(tables: Tables) -> tuple[pd.DataFrame, pd.DataFrame]:
    """``wordings`` of the sources that are shown, model by model; the numbers, and for reading."""
    rows = pick(tables["wordings"], model=tables["floors"]["model"].unique().tolist())
    differences = pooling.spans("difference@1", "difference@5", "only_one")
    names = ["wording", "context", "questions", *pooling.spans("changed"), "first@1", "second@1", *differences]
    return _shown(tables, rows, names)


def reading(tables: Tables) -> tuple[pd.DataFrame, pd.DataFrame]:
    """``samples`` of the sources that are shown; the numbers, and for reading."""
    rows = tables["samples"]
    columns = pooling.spans(*(name for name in ("auc", "gap") if name in rows))
    numbers, shown = _shown(tables, rows, ["context", "read", "questions", *columns])
    return numbers, shown.rename(columns={HEADINGS["read"]: "Was told"})


def read_documents(tables: Tables) -> tuple[pd.DataFrame, pd.DataFrame]:
    """``read`` of the sources that are shown; the numbers, and for reading."""
    numbers, columns = tables["read"], ["reads", "control", "measured", "read", "unread"]
    names = {"reads": numbers["model"].map(title), "control": numbers["control"].map(title)}
    _, shown = _shown(tables, numbers.assign(**names), [*columns, *pooling.spans("reader", "other", "more")])
    return pick(numbers, source=sources(tables)), shown.drop(columns="Model", errors="ignore")


def two_prompts(tables: Tables) -> tuple[pd.DataFrame, pd.DataFrame]:
    """``agreement`` of the sources that are shown; the numbers, and for reading."""
    return _shown(tables, tables["agreement"], ["triples", "steps", *pooling.spans("ucm", "known", "more")])


def _shown(tables: Tables, rows: pd.DataFrame, columns: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows of the sources that are shown, and some columns of them for reading: in the order of sources, models and
    wordings, without context first."""
    rows = pick(rows, source=sources(tables))
    if rows.empty:
        return rows, rows
    spoken = pooling.in_order(rows, *(name for name in ("source", "model", "wording") if name in rows))
    spoken = spoken[["source", "model", *columns]]
    if "context" in spoken:
        spoken = spoken.assign(context=spoken["context"].map(WHEN))
    return rows, pooling.for_reading(spoken, HEADINGS, digits=2)
