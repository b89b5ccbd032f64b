"""Page 24: the three biases that paper 002 argues from, and whether text before the question lessens them.

Prompt Preference Bias: another prompt of the same meaning. Instance Verbalization Bias: another name of the subject.
Sample Disparity Bias: what a model's text told, and how often ("Biases in Prompt-based Knowledge Probing", "Mitigating
PPB, IVB, and SDB Biases"; Cao et al. 2022).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from probekit.demo.world.exposure import NO, OFTEN, UNKNOWN, YES, has_read
from probekit.demo.zoo import ZOO
from probekit.metrics import interval
from probekit.metrics.auc import separation
from probekit.metrics.context import counted
from probekit.metrics.decisions import enough
from probekit.metrics.summary import accuracy_table
from probekit.probes.halves import HELD_OUT, TAUGHT
from probekit.probes.rewordings import NAME, PROMPT
from probekit.report.charts import forest
from probekit.report.charts import told as in_words
from probekit.report.tables import by, pick, readable
from probekit.report.text import title

from notebooks.contexts.ask import domain_of
from notebooks.contexts.pooling import (
    DIRECTION,
    FEW,
    FLOORS,
    LEAST,
    Array,
    Column,
    by_model,
    classes,
    conclusions_from,
    floors,
    less,
    lowest,
    measured,
    named,
    one_row,
    share_of,
    sources_shown,
    spanned,
    speaking,
    within_relations,
)
from notebooks.contexts.wordings import BARE, FIRST, REAL

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Tables = Mapping[str, pd.DataFrame]
WITHOUT, WITH = "without", "with"
QUESTION = ["source", "model", "context", "triple_id", "doc_id"]  # what is asked in several wordings
WHEN = {WITHOUT: "without context", WITH: "with context"}
SIGNS, HITS = (-1, 0, 1), (0, 1)  # what kappa compares: Understand, Confuse, Misunderstand; wrong and right
CUT = 1 + 2 * len(SIGNS)  # columns of the first of the two
CHANGED, ALONE = "first answers that change", "right by one alone"
FREQUENCY, TOLD = "AUC of frequency", "gain where told"
HEADINGS = {
    "wording": "Asked by",
    "changed": "Another first answer",
    "first@1": "Acc@1, own prompt",
    "second@1": "Acc@1, so asked",
    "difference@1": "Difference",
    "difference@5": "Difference of Acc@5",
    "only_one": "Right by one alone",
    "auc": "AUC of frequency",
    "gap": "Gain where told",
    "read": "Was told",
    "ucm": "Kappa of U, C, M",
    "known": "Kappa of right or wrong",
    "more": "Difference",
}
CAPTIONS = {
    "wordings": "The same questions by another prompt and by another name of the subject, beside the probe's own",
    "agreement": "Cohen's kappa between two prompts: of each step's U, C or M, and of right or wrong without context",
    "samples": "How well the documents that name an object tell right from wrong answers, and Acc@1 of facts that were "
    "told less that of facts that were not, within relations",
    "frequency": "Acc@k by how many documents name the object",
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
        questions that one of the two answers right alone), ``agreement``, ``samples``, ``frequency``, ``directions``
        and ``floors``.
    """
    asked = outcomes(ranked)
    both, own = in_pairs(asked), asked[(asked["wording"] == FIRST) & asked["drawn"]]
    first = ranked[(ranked["wording"] == FIRST) & ranked["drawn"] & ranked["variant"].isin([REAL, BARE])]
    alike, told, low = agreement(ranked), samples(own), floors(first)
    return {
        "wordings": by_model(both, _reworded, ["wording", "context"], low) if len(both) else both,
        "agreement": alike,
        "samples": told,
        "frequency": _frequency(own),
        "directions": directions(both, own, alike, told),
        "floors": low,
    }


def outcomes(ranked: pd.DataFrame) -> pd.DataFrame:
    """Every question in each of its wordings, without context and with all of the real one.

    Returns:
        ``QUESTION, wording, relation, drawn, named_in, told`` (1 or 0 where that is known), ``read``, ``rank`` (of the
        best correct object) and ``answer`` (the first).
    """
    rows = ranked[ranked["variant"].isin([REAL, BARE])]
    rows = rows.assign(told=_told(rows), read=_read(rows))
    about = [*QUESTION[:2], *QUESTION[3:], "wording", "relation", "drawn", "named_in", "told", "read"]
    first, last = rows[rows["step"] == 1], rows[rows["last"] & (rows["variant"] == REAL)]
    parts = [
        part[about].assign(context=context, rank=part[rank], answer=part[answer])
        for part, context, rank, answer in (
            (first, WITHOUT, "any_before", "answer_bare"),
            (last, WITH, "any_after", "answer"),
        )
    ]
    return pd.concat(parts, ignore_index=True)


def _told(rows: pd.DataFrame) -> pd.Series:
    """Whether a fact was told to those models that were told some: by its half, or ``OFTEN`` times against never."""
    known = rows[rows["half"].isin([TAUGHT, HELD_OUT])].drop_duplicates("fact_id").set_index("fact_id")["half"]
    found = (rows["fact_id"].map(known) == TAUGHT).astype(float).where(rows["fact_id"].isin(known.index))
    if "exposure" in rows:
        times = rows["exposure"]
        found = found.mask(times == 0, 0.0).mask(times >= OFTEN, 1.0)
    return found


def _read(rows: pd.DataFrame) -> list[str]:
    """Whether each row's model read the facts that were told."""
    known = {}
    for source, part in rows.groupby("source", sort=False):
        halved = set(part.loc[part["half"] != "", "model"])
        for model in part["model"].unique():
            if str(source).startswith("demo"):
                known[source, model] = has_read(model, domain_of(str(source)), ZOO)
            else:
                known[source, model] = UNKNOWN if not halved else YES if model in halved else NO
    return [known[pair] for pair in zip(rows["source"], rows["model"], strict=True)]


def in_pairs(asked: pd.DataFrame) -> pd.DataFrame:
    """The questions of each other wording's draw beside the same in the probe's own prompt (``rank_own``), with
    ``changed`` and ``only_one``."""
    own = asked.loc[asked["wording"] == FIRST, [*QUESTION, "rank", "answer"]]
    other = asked[(asked["wording"] != FIRST) & asked["drawn"]]
    both = other.merge(own, on=QUESTION, suffixes=("", "_own"), validate="many_to_one")
    right = [both[name] == 1 for name in ("rank", "rank_own")]
    return both.assign(changed=both["answer"] != both["answer_own"], only_one=right[0] != right[1])


def _reworded(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    found = []
    for about, part in by(rows, keys):
        every = np.ones(len(part), dtype=bool)
        row = about | {"questions": part["triple_id"].nunique(), "documents": part["doc_id"].nunique()}
        row |= spanned("changed", share_of(part, part["changed"], every))
        for k in (1, 5):
            hits = [part[name] <= k for name in ("rank_own", "rank")]
            for name, hit in zip((f"first@{k}", f"second@{k}"), hits, strict=True):
                row |= spanned(name, share_of(part, hit, every))
            row |= spanned(f"difference@{k}", measured(part, [(hit, every) for hit in hits[::-1]], less))
        found.append(row | spanned("only_one", share_of(part, part["only_one"], every)))
    return pd.DataFrame(found)


def agreement(ranked: pd.DataFrame) -> pd.DataFrame:
    """How far two prompts agree beyond chance, by UCM and by accuracy, on the triples that UCM counts.

    Returns:
        One row per source and model with such triples: ``triples, documents, steps``; Cohen's kappa (1960) ``ucm`` of
        each step's Understand, Confuse or Misunderstand, ``known`` of whether the first answer without context is
        right, and ``more``, the first less the second, on one draw of documents, of which each counts once; and the
        ``floors`` of these questions.
    """
    where = ["source", "model", "triple_id", "doc_id", "variant", "step"]
    kept = ranked[counted(ranked)].assign(sign=lambda rows: np.sign(rows["rc_centre"]))
    steps = _beside(kept[[*where, "wording", "sign"]], where)
    begun = ranked[(ranked["step"] == 1) & ranked["variant"].isin([REAL])].assign(sign=lambda t: t["any_before"] == 1)
    hits = _beside(begun[[*where, "wording", "sign"]], where)
    hits = hits.merge(steps[where[:4]].drop_duplicates(), on=where[:4])
    both = pd.concat([steps.assign(of="ucm"), hits.assign(of="known")], ignore_index=True)
    found = []
    for about, part in by(both, ["source", "model"]):
        by_step = (part["of"] == "ucm").to_numpy()
        columns = [*_cells(part, by_step, SIGNS), *_cells(part, ~by_step, HITS)]
        row = about | {"triples": part["triple_id"].nunique(), "documents": part["doc_id"].nunique()}
        row |= {"steps": int(by_step.sum())}
        for name, measure in (("ucm", _ucm), ("known", _known), ("more", lambda means: _ucm(means) - _known(means))):
            row |= spanned(name, measured(part, columns, measure, once=True))
        found.append(row)
    asked = ranked[(ranked["wording"] == FIRST) & (ranked["variant"] == REAL)]
    low = floors(asked[asked["triple_id"].isin(steps["triple_id"])]).drop(columns="documents")
    return pd.DataFrame(found).merge(low, on=["source", "model"]) if found else pd.DataFrame()


def _ucm(means: Array) -> Array:
    return kappa(means[..., :CUT])


def _known(means: Array) -> Array:
    return kappa(means[..., CUT:])


def _beside(rows: pd.DataFrame, where: list[str]) -> pd.DataFrame:
    """The rows asked by both prompts: ``sign`` by the probe's own, ``sign_other`` by the other."""
    pair = [pick(rows, wording=name).drop(columns="wording") for name in (FIRST, PROMPT)]
    return pair[0].merge(pair[1], on=where, suffixes=("", "_other"), validate="one_to_one")


def _cells(rows: pd.DataFrame, which: np.ndarray, values: Sequence[int]) -> list[Column]:
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


def samples(own: pd.DataFrame) -> pd.DataFrame:
    """How answers follow what there was to read, without context and with it.

    Args:
        own: of ``outcomes``, the draw of the probe's own prompts.

    Returns:
        One row per source, model and ``context``: ``read`` (whether the model read the facts that were told: one that
        did not is a control), ``questions, documents``; ``auc``, the chance that of two questions of a relation, one
        answered right and one wrong, more documents name the target of the first; ``told`` and ``not_told`` (facts)
        and ``gap``, Acc@1 of the one less that of the other within relations.
    """
    rows = []
    for about, part in by(own, ["source", "model", "context"]):
        found, told = _separated(part), part["told"]
        row = about | {"read": part["read"].iloc[0], "questions": part["triple_id"].nunique()}
        row |= {"documents": part["doc_id"].nunique()}
        if found is not None:
            low, high, _ = interval(found[1], part["doc_id"].tolist())
            row |= spanned("auc", (found[0], low, high))
        row |= {"told": int((told == 1).sum()), "not_told": int((told == 0).sum())}
        if min(row["told"], row["not_told"]) >= LEAST:
            row |= spanned("gap", within_relations(part, _gap(part, part["rank"] == 1, told), less))
        if len({"auc", "gap"} & set(row)):
            rows.append(row)
    return pd.DataFrame(rows)


def _separated(part: pd.DataFrame) -> tuple[float, Array] | None:
    """AUC of ``named_in``, within relations, and its draws of documents; none where all answers are alike."""
    right = (part["rank"] == 1).to_numpy()
    if part["named_in"].isna().any() or min(right.sum(), (~right).sum()) < LEAST:
        return None
    found = separation(-part["named_in"], right, clusters=part["doc_id"].tolist(), strata=part["relation"].tolist())
    return float(found.estimate), found.draws


def _gap(rows: pd.DataFrame, hits: pd.Series, told: pd.Series) -> list[Column]:
    return [(hits, (told == value).to_numpy()) for value in (1, 0)]


def _frequency(own: pd.DataFrame) -> pd.DataFrame:
    """Acc@1 and Acc@5 of up to three classes of questions by ``named_in``."""
    rows = own[own["named_in"].notna()]
    if rows.empty:
        return rows
    group = classes(rows.assign(named_in=rows["named_in"].astype(int)), "named_in")
    keys = ["source", "model", "context", "documents"]
    found = accuracy_table(rows.assign(documents=group, fact_id=rows["doc_id"]), keys, ks=(1, 5))
    order = ["source", "model", "context", "order"]
    found = found.assign(order=found["documents"].map(lowest)).sort_values(order, kind="stable")
    return found.drop(columns=["order", "facts", "mrr"])


def directions(both: pd.DataFrame, own: pd.DataFrame, alike: pd.DataFrame, told: pd.DataFrame) -> pd.DataFrame:
    """What paper 002 says of the biases, as numbers that are above zero where it holds.

    That results differ (002-16d, e) can show on either side, so that the difference is turned to the side on which it
    lies; its interval then excludes zero as often as that of the difference itself. That context lessens a bias of
    words (002-16b, g) is two numbers, answers and whether they are right, and both must hold.

    Args:
        both: of ``in_pairs``.
        own: as in ``samples``.
        alike: of ``agreement``.
        told: of ``samples``.

    Returns:
        Rows of ``pooling.DIRECTION``, by model, of sources and wordings with ``FEW`` questions or more.
    """
    rows: list[tuple[object, ...]] = []
    claims = {PROMPT: ("002-16d", "002-16g"), NAME: ("002-16e", "002-16b")}
    for about, part in by(both, ["source", "model", "wording"]):
        if part["triple_id"].nunique() < FEW:
            continue
        where, count = (about["source"], about["model"]), part["doc_id"].nunique()
        differs, eases = claims[about["wording"]]
        bare, full = ((part["context"] == context).to_numpy() for context in (WITHOUT, WITH))
        gain = (part["rank"] == 1).astype(float) - (part["rank_own"] == 1)
        sign = -1.0 if gain[bare].mean() < 0 else 1.0
        rows.append(
            (differs, *where, "Acc@1, either way", *measured(part, [(sign * gain, bare)], lambda m: m[..., 0]), count)
        )
        for name, column in ((CHANGED, "changed"), (ALONE, "only_one")) if full.any() else ():
            ends = measured(part, [(part[column], bare), (part[column], full)], less)
            rows.append((eases, *where, f"{name}, without less with", *ends, count))
    for row in alike[alike["triples"] >= FEW].to_dict("records") if len(alike) else []:
        ends = (row["more"], row["more_low"], row["more_high"])
        rows.append(("002-16a", row["source"], row["model"], "kappa of UCM less Acc@1", *ends, row["documents"]))
    for row in pick(told, context=WITHOUT, read=YES).to_dict("records"):
        if row["questions"] >= FEW and row.get("gap", np.nan) == row.get("gap"):
            ends = (row["gap"], row["gap_low"], row["gap_high"])
            rows.append(("002-16f", row["source"], row["model"], f"Acc@1, {TOLD}", *ends, row["documents"]))
    for about, part in by(own, ["source", "model"]):
        pair = [_separated(pick(part, context=context)) for context in (WITHOUT, WITH)]
        if part["triple_id"].nunique() >= FEW and pair[0] is not None and pair[1] is not None:
            documents = pick(part, context=WITH)["doc_id"].tolist()
            low, high, _ = interval(pair[0][1] - pair[1][1], documents)
            fewer = (pair[0][0] - pair[1][0], low, high)
            name = f"{FREQUENCY}, without less with"
            rows.append(("002-16h", about["source"], about["model"], name, *fewer, len(set(documents))))
    return pd.DataFrame(rows, columns=DIRECTION)


def conclusions(tables: Tables) -> pd.DataFrame:
    """The paper's sentences on the three biases, model by model, of sources with enough questions; a model is at the
    floor of the questions that a sentence is judged by."""
    rows = tables["directions"]
    kappas = rows["claim"] == "002-16a"
    found = [(rows[~kappas], tables["floors"]), (rows[kappas], tables["agreement"])]
    return pd.concat([conclusions_from(part, low) for part, low in found if len(part)] or [rows], ignore_index=True)


def sources(tables: Tables) -> list[str]:
    """The sources that the page shows, most questions first; the others stand in the list of tables."""
    rows = tables["wordings"] if len(tables["wordings"]) else tables["floors"]
    asked = rows.groupby("source", sort=False)["questions"].max()
    return sources_shown({str(name): int(count) for name, count in asked.items()})


def answer(tables: Tables) -> str:
    """How many first answers other words change on the source with most questions, and whether what is named more often
    is right more often."""
    source = sources(tables)[0]
    rows = pick(tables["wordings"], source=source) if len(tables["wordings"]) else tables["wordings"]
    rows, few = enough(rows, "questions", f"questions of {named(source)}") if len(rows) else (rows, "")
    if few:
        return few
    parts: dict[str, list[tuple[str, float]]] = {}
    for wording, name in (
        (PROMPT, "another prompt of the same meaning"),
        (NAME, "another name of the subject"),
    ):
        for context in WHEN:
            if len(pick(rows, wording=wording, context=context)):
                row: dict[str, Any] = one_row(rows, tables["floors"], wording=wording, context=context)
                parts.setdefault(context, []).append((name, row["changed"]))
    text = f"Other words are not asked of {named(source)}, since its data have none."
    if parts:
        (name, share), *more = parts[WITHOUT]
        text = f"On {named(source)}, {name} changes {share:.0%}"
        text += "".join(f" and {name} {share:.0%}" for name, share in more) + " of the first answers"
        if WITH in parts:
            text += f"; after a document these shares are {' and '.join(f'{share:.0%}' for _, share in parts[WITH])}"
        text += "."
    found = pick(tables["samples"], source=source, context=WITHOUT)
    found = speaking(found[found["auc"].notna()] if "auc" in found else found.iloc[:0], tables["floors"])
    if len(found):
        above = int((found["auc_low"] > 0.5).sum())
        who = f" by {above} of {len(found)} models" * (0 < above < len(found))
        text += (
            f" Facts whose object more documents name are {'not clearly ' * (not above)}more often answered right{who}."
        )
    return text


def alone(tables: Tables) -> str:
    """How many questions one of two prompts alone gets right, without and with context, in a sentence."""
    rows = pick(tables["wordings"], source=sources(tables)[0], wording=PROMPT)
    if not len(rows):
        return ""
    shares = [one_row(rows, tables["floors"], context=context)["only_one"] for context in rows["context"].unique()]
    text = f"One of the two prompts alone is right about {shares[0]:.0%} of the questions without context"
    return text + f", and about {shares[1]:.0%} with it" * (len(shares) > 1) + "."


def floor(tables: Tables) -> str:
    """On which questions a model counts as knowing more than a constant answer, in sentences."""
    parts = []
    for name, of in (("floors", "questions"), ("agreement", "questions of the steps that two prompts share")):
        if len(rows := pick(tables[name], source=sources(tables)[0]) if len(tables[name]) else tables[name]):
            low = ", ".join(title(model) for model in pick(rows, floor=True)["model"])
            which = f"not above it, and not judged on them: {low}" if low else "every model is above it"
            parts.append(f"the best constant answer to {rows['questions'].max():,} {of} ({which})")
    return f"Models are compared with {' and with '.join(parts)}."


def drawn_rows(tables: Tables) -> pd.DataFrame:
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
            ends = {f"{column}{end}": f"value{end}" for end in ("", "_low", "_high")}
            part = rows[["model", "context", *ends]].rename(columns=ends).assign(bias=bias)
            parts.append(part[part["value"].notna()])
    return pd.concat(parts, ignore_index=True).assign(context=lambda rows: rows["context"].map(WHEN))


def draw(tables: Tables) -> Figure:
    """Each bias without and with context, a panel each; dotted is where there would be none."""
    lines = {FREQUENCY: 0.5, TOLD: 0.0}
    return forest(
        drawn_rows(tables), "value", series="context", panel="bias", columns=2, colour="model", line=lines, zero=False
    )


def described(tables: Tables) -> str:
    """The chart in words."""
    return "Dot plot. " + in_words(drawn_rows(tables), "value", "bias", "model", "context")


def in_other_words(tables: Tables) -> tuple[pd.DataFrame, pd.DataFrame]:
    """``wordings`` of the sources that are shown, model by model; the numbers, and for reading."""
    rows = pick(tables["wordings"], source=sources(tables), model=tables["floors"]["model"].unique().tolist())
    names = ["changed", "first@1", "second@1", "difference@1", "difference@5", "only_one"]
    spans = {name: [name] if name.startswith(("first", "second")) else _ends(name) for name in names}
    columns = ["source", "model", "wording", "context", "questions", *(end for name in names for end in spans[name])]
    return rows, _shown(rows[columns])


def told(tables: Tables) -> tuple[pd.DataFrame, pd.DataFrame]:
    """``samples`` of the sources that are shown; the numbers, and for reading."""
    rows = pick(tables["samples"], source=sources(tables))
    columns = [end for name in ("auc", "gap") if name in rows for end in _ends(name)]
    return rows, _shown(rows[["source", "model", "context", "read", "questions", *columns]])


def two_prompts(tables: Tables) -> tuple[pd.DataFrame, pd.DataFrame]:
    """``agreement`` of the sources that are shown; the numbers, and for reading."""
    rows = pick(tables["agreement"], source=sources(tables))
    columns = [
        "source",
        "model",
        "triples",
        "steps",
        *(end for name in ("ucm", "known", "more") for end in _ends(name)),
    ]
    return rows, _shown(rows[columns]) if len(rows) else rows


def _ends(name: str) -> list[str]:
    return [name, f"{name}_low", f"{name}_high"]


def _shown(rows: pd.DataFrame) -> pd.DataFrame:
    """For reading, in the order of sources, models and wordings, without context first; one source is not named."""
    keys = [name for name in ("source", "model", "wording") if name in rows]
    orders = {name: list(rows[name].unique()) for name in keys}
    rows = rows.sort_values(keys, key=lambda column: column.map(orders[column.name].index), kind="stable")
    if "context" in rows:
        rows = rows.assign(context=rows["context"].map(WHEN))
    return readable(rows if rows["source"].nunique() > 1 else rows.drop(columns="source"), HEADINGS, digits=2)
