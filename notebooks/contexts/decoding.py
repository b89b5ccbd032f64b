"""Page 22: Acc@k by BioLAMA's decoding, which no list of candidates helps, beside that of candidate ranks (paper 002,
Table 2, whose accuracy is of this kind)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from probekit.metrics.context import context_accuracy
from probekit.report.page import Page
from probekit.report.tables import pick
from probekit.report.text import shown_name
from probekit.run import Answer, Decode, Describe, Question
from probekit.scoring.decoding import decodable, normalised

from notebooks.contexts import examples
from notebooks.contexts.ask import Searched, draw, rankings, redrawn, search_by
from notebooks.contexts.pooling import FEW, by_model, floors, in_order

CANDIDATES, DECODED, ANY = "rank among candidates", "decoding", "decoding, any right object"
NEVER = float("inf")  # rank of an object that is not among the answers
ONE_STEP = {"variant": "real", "twin": "target", "step": 1, "last": True}  # from no context to all of it
CALLS = ["model", "prompts", "model calls", "forward rows", "model calls of the original"]
KEYS = ["source", "triple_id", "doc_id"]


def chosen(searched: Sequence[Searched], size: int, seed: int) -> pd.DataFrame:
    """The contexts to decode: of so many triples of each source that UCM counts, the prompt and the longest real input.

    Sources with fewer than ``FEW`` such triples, drawn or not, are left out.

    Returns:
        One row per context: ``source, triple_id, doc_id, target, correct`` (all right objects), ``prompt``, ``text``.
    """
    columns = [*KEYS, "target", "correct", "prompt", "text"]
    tables = [pd.DataFrame(columns=columns)]
    for source in searched if size else ():
        steps = pick(source.steps, variant="real", twin="target", several=True)
        taken = draw(list(dict.fromkeys(steps["triple_id"])), size, f"{seed} {source.name} decoded")
        steps = steps[steps["triple_id"].isin(taken)].set_index(["triple_id", "doc_id"])
        if len(steps) and source.contexts.loc[source.contexts["several"], "triple_id"].nunique() >= FEW:
            first, last = steps[steps["step"] == 1], steps[steps["last"]]
            table = first[["source", "target"]].assign(prompt=first["before"], text=last["text"]).reset_index()
            right = source.triples.drop_duplicates("triple_id").set_index("triple_id")["correct"]
            tables.append(table.assign(correct=table["triple_id"].map(right))[columns])
    return pd.concat(tables[1:] or tables, ignore_index=True)


def place(answers: Sequence[str], right: Collection[str]) -> float:
    """Of the first answer that equals one of the right ones as SQuAD compares them, from 1; else ``NEVER``."""
    golds = set(map(normalised, right))
    return next((float(n) for n, answer in enumerate(answers, start=1) if normalised(answer) in golds), NEVER)


def tables(
    page: Page, models: Sequence[str], searched: Sequence[Searched], ranked: pd.DataFrame, size: int, seed: int = 0
) -> dict[str, pd.DataFrame]:
    """Decode the answers to some triples, and judge them beside the ranks of the same contexts.

    Args:
        page: notes what was run.
        models: names, Hugging Face ids or folders; those that are not ``decodable`` are left out.
        searched: of ``ask.search_by``.
        ranked: of ``ask.ask_all``.
        size: triples of a source, at most; 0 for none.
        seed: of their draw.

    Returns:
        ``decoded``: rows of ``context_accuracy`` by ``source``, ``model`` and ``judged``: ``CANDIDATES`` (ranks of the
        target), ``DECODED`` (places of the target among the answers) or ``ANY`` (of any right object, as BioLAMA
        counts). ``calls``: what decoding had to run, a row a model, zeros where it was left out. Both are empty with
        nothing to decode.
    """
    contexts = chosen(searched, size, seed)
    ran, answered = _decode_all(page, models, searched, contexts) if len(contexts) else ([], [])
    calls = pd.DataFrame(ran, columns=CALLS)
    if not answered:
        return {"decoded": pd.DataFrame(), "calls": calls}
    rows = pd.concat([*answered, _ranked(ranked, pd.concat(answered))], ignore_index=True)
    rows = in_order(rows, judged=[CANDIDATES, DECODED, ANY])
    table = by_model(rows, partial(context_accuracy, gold="single"), ["judged"], floors(ranked))  # ranks of each judge
    return {"decoded": in_order(table, source=[source.name for source in searched], model=table["model"].unique()),
            "calls": calls}  # fmt: skip


def able(given: Mapping[str, Any]) -> list[Describe]:
    """Whether each model of page 22 can be decoded, which it asks first."""
    return [Describe(model, decodable) for model in given["models"]]


def questions(given: Mapping[str, Any], answers: Sequence[Answer[Describe]]) -> list[Question]:
    """What page 22 asks by its parameters, and by the answers to ``able``."""
    searched = search_by(given)
    drawn = redrawn(searched, *(given[name] for name in ("seeds", "most", "seed")))
    contexts = chosen(searched, given["decoded"], given["seed"])
    ranked = [*rankings(given, searched), *rankings(given, drawn)]
    ranked += examples.questions(given)
    return [*ranked, *(decodings(answers, contexts) if len(contexts) else [])]


def decodings(able: Sequence[Answer[Describe]], contexts: pd.DataFrame) -> list[Decode]:
    """Every model that can be decoded answers the bare prompts, and then those with their contexts."""
    return [Decode(a.question.name, [*contexts["prompt"], *contexts["text"]]) for a in able if a.result]


def _decode_all(
    page: Page, models: Sequence[str], searched: Sequence[Searched], contexts: pd.DataFrame
) -> tuple[list[dict[str, object]], list[pd.DataFrame]]:
    """What each model had to run, and a row per context and way to judge of those that can be decoded."""
    described = page.ask(able({"models": models}))
    answers = {answer.question.name: answer for answer in page.ask(decodings(described, contexts))}
    calls: list[dict[str, object]] = []
    rows = []
    for model, is_able in ((answer.question.name, answer.result) for answer in described):
        if answer := answers.get(model):
            counts = answer.result.attrs["counts"]
            for source in searched:
                if (contexts["source"] == source.name).any():
                    page.ran(answer.name, source.probe, counts, "decoding, all sources together")
            rows.append(_judged(answer.name, answer.result["answers"].tolist(), contexts))
            calls.append({"model": answer.name} | {column: counts[column] for column in CALLS[1:]})
        elif not is_able:
            calls.append(dict.fromkeys(CALLS, 0) | {"model": shown_name(model)})
    return calls, rows


def _judged(shown: str, answers: Sequence[Sequence[str]], contexts: pd.DataFrame) -> pd.DataFrame:
    """A row per context and way to judge."""
    frames = []
    for judged, golds in ((DECODED, [[target] for target in contexts["target"]]), (ANY, contexts["correct"])):
        places = [place(answer, right) for answer, right in zip(answers, [*golds, *golds], strict=True)]
        size, labels = len(contexts), {"model": shown, "judged": judged, **ONE_STEP}
        frames.append(contexts[KEYS].assign(**labels, rank_before=places[:size], rank_after=places[size:]))
    return pd.concat(frames)


def _ranked(ranked: pd.DataFrame, answered: pd.DataFrame) -> pd.DataFrame:
    """The target's ranks in the contexts that were decoded, before the first step and after the last."""
    keys = [*KEYS, "model"]
    rows = pick(ranked, variant="real", twin="target").set_index(keys)
    table = answered[keys].drop_duplicates().set_index(keys)
    table["rank_before"] = rows[rows["step"] == 1]["rank_before"]
    table["rank_after"] = rows[rows["last"]]["rank_after"]
    return table.reset_index().assign(judged=CANDIDATES, **ONE_STEP)
