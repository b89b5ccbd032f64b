"""Page 22: Acc@k by BioLAMA's decoding, which no list of candidates helps, beside that of candidate ranks (paper 002,
Table 2, whose accuracy is of this kind)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

import pandas as pd

from probekit.metrics.context import context_accuracy
from probekit.models.model import Model
from probekit.report.page import Page
from probekit.report.tables import pick
from probekit.report.text import shown_name
from probekit.scoring.decoding import decodable, decode, normalised
from probekit.store import Store

from notebooks.contexts.ask import Looked, draw
from notebooks.contexts.pooling import FEW, by_model, floors, in_order

CANDIDATES, DECODED, ANY = "rank among candidates", "decoding", "decoding, any right object"
NEVER = float("inf")  # rank of an object that is not among the answers
ONE_STEP = {"variant": "real", "twin": "target", "step": 1, "last": True}  # from no context to all of it
CALLS = ["model", "prompts", "model calls", "forward rows", "model calls of the original"]
KEYS = ["source", "triple_id", "doc_id"]


def chosen(looked: Sequence[Looked], size: int, seed: int) -> pd.DataFrame:
    """The contexts to decode: of so many triples of each source that UCM counts, the prompt and the longest real input.

    Sources with fewer than ``FEW`` such triples, drawn or not, are left out.

    Returns:
        One row per context: ``source, triple_id, doc_id, target, correct`` (all right objects), ``prompt``, ``text``.
    """
    columns = [*KEYS, "target", "correct", "prompt", "text"]
    tables = [pd.DataFrame(columns=columns)]
    for source in looked if size else ():
        steps = pick(source.steps, variant="real", twin="target", several=True)
        taken = draw(list(dict.fromkeys(steps["triple_id"])), size, f"{seed} {source.name} decoded")
        steps = steps[steps["triple_id"].isin(taken)].set_index(["triple_id", "doc_id"])
        if len(steps) and source.contexts.loc[source.contexts["several"], "triple_id"].nunique() >= FEW:
            first, last = steps[steps["step"] == 1], steps[steps["last"]]
            table = first[["source", "target"]].assign(prompt=first["before"], text=last["text"]).reset_index()
            right = source.asked.drop_duplicates("triple_id").set_index("triple_id")["correct"]
            tables.append(table.assign(correct=table["triple_id"].map(right))[columns])
    return pd.concat(tables[1:] or tables, ignore_index=True)


def place(answers: Sequence[str], right: Collection[str]) -> float:
    """Of the first answer that equals one of the right ones as SQuAD compares them, from 1; else ``NEVER``."""
    golds = set(map(normalised, right))
    return next((float(n) for n, answer in enumerate(answers, start=1) if normalised(answer) in golds), NEVER)


def tables(
    page: Page, models: Sequence[str], looked: Sequence[Looked], ranked: pd.DataFrame, size: int, seed: int = 0
) -> dict[str, pd.DataFrame]:
    """Decode the answers to some triples, and judge them beside the ranks of the same contexts.

    Args:
        page: notes what was run.
        models: names, Hugging Face ids or folders; those whose head has no bias are left out.
        looked: of ``ask.look_all``.
        ranked: of ``ask.ask_all``.
        size: triples of a source, at most; 0 for none.
        seed: of their draw.

    Returns:
        ``decoded``: rows of ``context_accuracy`` by ``source``, ``model`` and ``judged``: ``CANDIDATES`` (ranks of the
        target), ``DECODED`` (places of the target among the answers) or ``ANY`` (of any right object, as BioLAMA
        counts). ``calls``: what decoding had to run, a row a model, zeros where it was left out. Both are empty with
        nothing to decode.
    """
    contexts = chosen(looked, size, seed)
    results = page.each(models, lambda model: _decoded(page, model, looked, contexts)) if len(contexts) else []
    calls = pd.DataFrame([call for call, _ in results], columns=CALLS)
    answered = [rows for _, rows in results if len(rows)]
    if not answered:
        return {"decoded": pd.DataFrame(), "calls": calls}
    rows = pd.concat([*answered, _ranked(ranked, pd.concat(answered))], ignore_index=True)
    rows = in_order(rows, judged=[CANDIDATES, DECODED, ANY])
    table = by_model(rows, partial(context_accuracy, gold="single"), ["judged"], floors(ranked))  # ranks of each judge
    return {"decoded": in_order(table, source=[source.name for source in looked], model=table["model"].unique()),
            "calls": calls}  # fmt: skip


def _decoded(
    page: Page, model: Model, looked: Sequence[Looked], contexts: pd.DataFrame
) -> tuple[dict[str, object], pd.DataFrame]:
    """What a model had to run, and a row per context and way to judge; no row where it cannot be decoded."""
    shown = shown_name(model.name)
    if not decodable(model):
        return dict.fromkeys(CALLS, 0) | {"model": shown}, pd.DataFrame()
    answers = decode(model, [*contexts["prompt"], *contexts["text"]], store=Store())
    counts, given = answers.attrs["counts"], answers["answers"].tolist()
    for source in looked:
        if (contexts["source"] == source.name).any():
            page.ran(model, source.probe, counts, "decoding, all sources together")
    frames = []
    for judged, golds in ((DECODED, [[target] for target in contexts["target"]]), (ANY, contexts["correct"])):
        places = [place(found, right) for found, right in zip(given, [*golds, *golds], strict=True)]
        size, labels = len(contexts), {"model": shown, "judged": judged, **ONE_STEP}
        frames.append(contexts[KEYS].assign(**labels, rank_before=places[:size], rank_after=places[size:]))
    return {"model": shown} | {column: counts[column] for column in CALLS[1:]}, pd.concat(frames)


def _ranked(ranked: pd.DataFrame, answered: pd.DataFrame) -> pd.DataFrame:
    """The target's ranks in the contexts that were decoded, before the first step and after the last."""
    keys = [*KEYS, "model"]
    own = pick(ranked, variant="real", twin="target").set_index(keys)
    table = answered[keys].drop_duplicates().set_index(keys)
    table["rank_before"] = own[own["step"] == 1]["rank_before"]
    table["rank_after"] = own[own["last"]]["rank_after"]
    return table.reset_index().assign(judged=CANDIDATES, **ONE_STEP)
