"""Page 22: Acc@k by BioLAMA's decoding, which no list of candidates helps, beside that of candidate ranks (paper 002,
Table 2, whose accuracy is of this kind)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial

import pandas as pd

from probekit.metrics.context import context_accuracy
from probekit.models.model import Model
from probekit.report.page import Page
from probekit.report.text import shown_name, title
from probekit.scoring.decoding import decodable, decode, normalised
from probekit.store import Store

from notebooks.contexts.ask import Looked, draw
from notebooks.contexts.pooling import FEW, by_model, floors, named, overall

CANDIDATES, DECODED, ANY = "rank among candidates", "decoding", "decoding, any right object"
VARIANT = "real"  # the context of the answers with context
NEVER = float("inf")  # rank of an object that is not among the answers
CALLS = ["model", "prompts", "model calls", "forward rows", "model calls of the original"]
KEYS = ["source", "triple_id", "doc_id"]


def chosen(looked: Sequence[Looked], size: int, seed: int) -> pd.DataFrame:
    """The contexts to decode: of so many triples of each source that UCM counts, the prompt and the longest real input.

    Sources with fewer than ``FEW`` such triples, drawn or not, are left out.

    Returns:
        One row per context: ``source, triple_id, doc_id, target, correct`` (all right objects), ``prompt``, ``text``.
    """
    found = []
    for one in looked:
        if one.contexts.loc[one.contexts["several"], "triple_id"].nunique() < FEW:
            continue
        own = one.steps[(one.steps["variant"] == VARIANT) & (one.steps["twin"] == "target") & one.steps["several"]]
        taken = draw(list(dict.fromkeys(own["triple_id"])), size, f"{seed} {one.name} decoded") if size else []
        own = own[own["triple_id"].isin(taken)].set_index(["triple_id", "doc_id"])
        if len(own):
            first, last = own[own["step"] == 1], own[own["last"]]
            table = first[["source", "target"]].assign(prompt=first["before"], text=last["text"]).reset_index()
            right = one.asked.drop_duplicates("triple_id").set_index("triple_id")["correct"]
            found.append(table.assign(correct=table["triple_id"].map(right)))
    columns = [*KEYS, "target", "correct", "prompt", "text"]
    return pd.concat(found, ignore_index=True)[columns] if found else pd.DataFrame(columns=columns)


def place(answers: Sequence[str], right: Collection[str]) -> float:
    """Of the first answer that equals one of the right ones as SQuAD compares them, from 1; else ``NEVER``."""
    wanted = {normalised(one) for one in right}
    return next((float(n) for n, answer in enumerate(answers, start=1) if normalised(answer) in wanted), NEVER)


def tables(
    page: Page,
    models: Sequence[str],
    looked: Sequence[Looked],
    ranked: pd.DataFrame,
    size: int,
    seed: int = 0,
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
    done = page.each(models, lambda model: _decoded(page, model, looked, contexts)) if len(contexts) else []
    calls = pd.DataFrame([call for call, _ in done], columns=CALLS)
    answered = [rows for _, rows in done if len(rows)]
    if not answered:
        return {"decoded": pd.DataFrame(), "calls": calls}
    rows = pd.concat([*answered, _ranked(ranked, pd.concat(answered))], ignore_index=True)
    order = {name: number for number, name in enumerate((CANDIDATES, DECODED, ANY))}
    rows = rows.sort_values("judged", key=lambda names: names.map(order), kind="stable")
    ranks = partial(context_accuracy, gold="single")  # each judge has its own ranks
    table = by_model(rows, ranks, ["judged"], floors(ranked))
    keys = {"source": [one.name for one in looked], "model": list(table["model"].unique())}
    table = table.sort_values(
        list(keys), key=lambda c: c.map(keys[str(c.name)].index), kind="stable", ignore_index=True
    )
    return {"decoded": table, "calls": calls}


def _decoded(
    page: Page, model: Model, looked: Sequence[Looked], contexts: pd.DataFrame
) -> tuple[dict[str, object], pd.DataFrame]:
    """What a model had to run, and a row per context and way to judge; no row where it cannot be decoded."""
    shown = shown_name(model.name)
    if not decodable(model):
        return dict.fromkeys(CALLS, 0) | {"model": shown}, pd.DataFrame()
    answers = decode(model, [*contexts["prompt"], *contexts["text"]], store=Store())
    counts = answers.attrs["counts"]
    for one in looked:
        if (contexts["source"] == one.name).any():
            page.ran(model, one.probe, counts, "decoding, all sources together")
    size = len(contexts)
    without, with_context = answers["answers"].iloc[:size], answers["answers"].iloc[size:]
    frames = []
    for judged, right in ((DECODED, [[target] for target in contexts["target"]]), (ANY, contexts["correct"])):
        places = {
            "rank_before": [place(given, known) for given, known in zip(without, right, strict=True)],
            "rank_after": [place(given, known) for given, known in zip(with_context, right, strict=True)],
        }
        frames.append(_as_one_step(contexts[KEYS].assign(model=shown, judged=judged, **places)))
    return {"model": shown} | {column: counts[column] for column in CALLS[1:]}, pd.concat(frames)


def _ranked(ranked: pd.DataFrame, answered: pd.DataFrame) -> pd.DataFrame:
    """The target's ranks in the contexts that were decoded, before the first step and after the last."""
    keys = [*KEYS, "model"]
    own = ranked[(ranked["variant"] == VARIANT) & (ranked["twin"] == "target")].set_index(keys)
    table = answered[keys].drop_duplicates().set_index(keys)
    table["rank_before"] = own[own["step"] == 1]["rank_before"]
    table["rank_after"] = own[own["last"]]["rank_after"]
    return _as_one_step(table.reset_index().assign(judged=CANDIDATES))


def _as_one_step(table: pd.DataFrame) -> pd.DataFrame:
    """Contexts as ``context_accuracy`` reads them, from no context to all of it in one step."""
    return table.assign(variant=VARIANT, twin="target", step=1, last=True)


def sentence(tables: Mapping[str, pd.DataFrame], source: str) -> str:
    """How often the target is among the first five answers by decoding and by ranks, and which models were left out."""
    table, calls = tables["decoded"], tables["calls"]
    rows = overall(table, tables["floors"], source=source, k=5) if len(table) else table
    if rows.empty and calls.empty:
        return "No answers were decoded in this run: “decoded” is 0, or every source has too few triples."
    text = ""
    if len(rows):
        of = rows.set_index("judged")
        text = (
            f"On {of['triples'].iloc[0]} triples of {named(source)} decoding gives the target among its first "
            f"five answers in {of.loc[DECODED, 'with']:.0%} of the contexts, and ranks give it in "
            f"{of.loc[CANDIDATES, 'with']:.0%}."
        )
    if (calls["prompts"] == 0).any():
        names = ", ".join(title(str(name)) for name in calls.loc[calls["prompts"] == 0, "model"])
        text += f" Left out, since the head has no bias over the vocabulary that could be subtracted: {names}."
    return text.strip()
