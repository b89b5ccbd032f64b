"""Study 2: Acc@k by BioLAMA's decoding, which no list of candidates helps, beside that of candidate ranks (paper 002,
Table 2, whose accuracy is of this kind)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pandas as pd
from probekit.report.parts import overall, title

from probekit.metrics.context import context_accuracy
from probekit.models import load_model
from probekit.report.page import Page
from probekit.report.text import escape, interval, shown_name
from probekit.scoring.decoding import decodable, decode, normalised
from probekit.store import Store

from notebooks.contexts.asking import Looked, draw
from notebooks.contexts.shares import everyone, once
from notebooks.contexts.ucm import FEW

CANDIDATES, DECODED, ANY = "rank among candidates", "decoding", "decoding, any right object"
VARIANT = "real"  # the context of the answers with context
NEVER = float("inf")  # rank of an object that is not among the answers
CALLS = ["model", "prompts", "model calls", "forward rows", "model calls of the original"]
KEYS = ["source", "triple_id", "doc_id"]


def chosen(looked: Sequence[Looked], size: int, seed: int) -> pd.DataFrame:
    """The contexts to decode: of so many triples of each source that UCM counts, the prompt and the longest real input.

    Sources with fewer than ``ucm.FEW`` such triples, drawn or not, are left out.

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
    done: pd.DataFrame,
    size: int,
    seed: int = 0,
    device: str = "auto",
) -> dict[str, pd.DataFrame]:
    """Decode the answers to some triples, and judge them beside the ranks of the same contexts.

    Args:
        page: notes what was run.
        models: names, Hugging Face ids or folders; those whose head has no bias are left out.
        looked: of ``asking.look_all``.
        done: of ``asking.ask_all``.
        size: triples of a source, at most; 0 for none.
        seed: of their draw.
        device: as in ``load_model``.

    Returns:
        ``decoded``: rows of ``context_accuracy`` by ``source``, ``model`` and ``judged``: ``CANDIDATES`` (ranks of the
        target), ``DECODED`` (places of the target among the answers) or ``ANY`` (of any right object, as BioLAMA
        counts). ``calls``: what decoding had to run, a row a model, zeros where it was left out. Both are empty with
        nothing to decode.
    """
    asked = chosen(looked, size, seed)
    told = [_decoded(page, name, looked, asked, device) for name in models] if len(asked) else []
    calls = pd.DataFrame([one for one, _ in told], columns=CALLS)
    answered = [frame for _, frame in told if len(frame)]
    if not answered:
        return {"decoded": pd.DataFrame(), "calls": calls}
    rows = pd.concat([*answered, _ranked(done, pd.concat(answered))], ignore_index=True)
    judged = [
        once(context_accuracy(everyone(part), ["source", "model", "judged"]), part["model"].nunique())
        for _, part in rows.groupby("judged", sort=False)
    ]
    order = {name: number for number, name in enumerate((CANDIDATES, DECODED, ANY))}
    table = pd.concat(judged).assign(place=lambda frame: frame["judged"].map(order))
    sources = {one.name: number for number, one in enumerate(looked)}
    table = table.assign(first=table["source"].map(sources), model_place=pd.factorize(table["model"])[0])
    table = table.sort_values(["first", "model_place", "place"], kind="stable")
    return {"decoded": table.drop(columns=["first", "model_place", "place"]).reset_index(drop=True), "calls": calls}


def _decoded(
    page: Page, name: str, looked: Sequence[Looked], asked: pd.DataFrame, device: str
) -> tuple[dict[str, object], pd.DataFrame]:
    """What a model had to run, and a row per context and way to judge; no row where it cannot be decoded."""
    model = load_model(name, device=device)
    if not decodable(model):
        return dict.fromkeys(CALLS, 0) | {"model": shown_name(model.name)}, pd.DataFrame()
    answers = decode(model, [*asked["prompt"], *asked["text"]], store=Store())
    counts = answers.attrs["counts"]
    for one in looked:
        if (asked["source"] == one.name).any():
            page.ran(model, one.probe, counts, "decoding, all sources together")
    without, with_context = answers["answers"].iloc[: len(asked)], answers["answers"].iloc[len(asked) :]
    frames = []
    for judged, right in ((DECODED, [[target] for target in asked["target"]]), (ANY, asked["correct"])):
        places = {
            "rank_before": [place(of, known) for of, known in zip(without, right, strict=True)],
            "rank_after": [place(of, known) for of, known in zip(with_context, right, strict=True)],
        }
        about = {"model": shown_name(model.name), "judged": judged}
        frames.append(_as_one_step(asked[KEYS].assign(**about, **places)))
    return {"model": shown_name(model.name)} | {column: counts[column] for column in CALLS[1:]}, pd.concat(frames)


def _ranked(done: pd.DataFrame, answered: pd.DataFrame) -> pd.DataFrame:
    """The target's ranks in the contexts that were decoded, before the first step and after the last."""
    keys = [*KEYS, "model"]
    own = done[(done["variant"] == VARIANT) & (done["twin"] == "target")].set_index(keys)
    table = answered[keys].drop_duplicates().set_index(keys)
    table["rank_before"] = own[own["step"] == 1]["rank_before"]
    table["rank_after"] = own[own["last"]]["rank_after"]
    return _as_one_step(table.reset_index().assign(judged=CANDIDATES))


def _as_one_step(table: pd.DataFrame) -> pd.DataFrame:
    """Contexts as ``context_accuracy`` reads them, from no context to all of it in one step."""
    return table.assign(variant=VARIANT, twin="target", step=1, last=True)


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """The table ``decoded`` as a page prints it: a row a source, model and way to judge."""
    rows = []
    for (source, model, judged), part in table.groupby(["source", "model", "judged"], sort=False):
        told = {"Source": title(str(source)), "Model": model, "Judged by": judged}
        of = part.set_index("k").to_dict("index")
        for when in ("without", "with"):
            told |= {f"Acc@{k} {when} context": _span(row, when) for k, row in of.items()}
        rows.append(told | {"Triples": int(part["triples"].iloc[0])})
    return pd.DataFrame(rows)


def sentences(table: pd.DataFrame, calls: pd.DataFrame) -> list[str]:
    """How the two kinds of accuracy compare over all models, what decoding cost, and which models it left out."""
    if table.empty and calls.empty:
        return ["No answers were decoded in this run: `decoded` is 0, or every source has too few triples."]
    told = []
    for source, part in table.groupby("source", sort=False) if len(table) else ():
        of = {judged: overall(rows.reset_index(drop=True)).set_index("k") for judged, rows in part.groupby("judged")}
        own, ranked = of[DECODED], of[CANDIDATES]
        each = [
            f"Acc@{k} is {_span(own.loc[k], 'without')} without context and {_span(own.loc[k], 'with')} with it by "
            f"decoding, {_span(ranked.loc[k], 'without')} and {_span(ranked.loc[k], 'with')} by ranks"
            for k in own.index
        ]
        told.append(f"{title(str(source))}, {int(own['triples'].iloc[0])} triples: {'; '.join(each)}.")
    run = calls[calls["prompts"] > 0]
    if len(run):
        row = run.iloc[0]
        told.append(
            f"A model answered {row['prompts']:,} prompts in {row['model calls']:,} rounds of {row['forward rows']:,} "
            f"rows in all; the original code would have called it {row['model calls of the original']:,} times for "
            "batches of the same size."
        )
    if len(run) < len(calls):
        names = ", ".join(escape(str(name)) for name in calls.loc[calls["prompts"] == 0, "model"])
        told.append(f"Left out, since the head has no bias over the vocabulary that could be subtracted: {names}.")
    return told


def _span(row: Mapping[str, float] | pd.Series, name: str) -> str:
    return interval(float(row[name]), float(row[f"{name}_low"]), float(row[f"{name}_high"]))
