"""Page 18, vocabulary and model size (paper 001, sections 4, 5.1, 5.5, 6): tables, figures, conclusions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from probekit.metrics import (
    accuracy_difference,
    accuracy_table,
    at_floor,
    bootstrap_ci,
    contrast,
    hits_at_k,
    spread,
)
from probekit.models.card import UNKNOWN, about
from probekit.models.model import Model
from probekit.probes.probe import Probe
from probekit.report.page import Page
from probekit.report.scored import scoring
from probekit.report.tables import by, per, pick
from probekit.report.text import shown_name, title
from probekit.report.verdicts import conclude
from probekit.run import Answer, Describe, Question, Rank, RankSameLength
from probekit.scoring.lengths import entity_lengths, prompt_lengths, same_length_groups

from notebooks.templates.ask import FLOORS, Row, Tables, probes_of, rankings, unless_low
from notebooks.templates.ask import rows as rows_of
from notebooks.templates.draws import hits_by_style, paired, sample
from notebooks.templates.reading import readings
from notebooks.templates.text import ONE, asked_of_all, comparable, single

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = ("1", "2", "3", "4+")
KEYS = ["model", "probe"]
ONE_TOKEN, LONGER = "one token", "longer"
FEWEST = 10  # facts of a length that a figure shows
PANELS = 4
CAPTIONS = {
    "settings": "Acc@1 in natural sentences minus that by template, on golds of one token and on longer ones",
    "gaps": "Acc@1 in natural sentences minus that by template, per model and length of the gold",
    "overall": "Acc@1 on golds of one token minus that on longer ones, mean over the models that have both",
    "lengths": "Acc@1 by the number of tokens of the gold, over all candidates and among those of the same length",
    "one_token": "Acc@1 on golds of one token minus that on longer ones, per model, overall and within relations",
    "bias": "Lengths of golds and of first predictions, in tokens",
    "confusion": "Lengths of first predictions by the tokens of the gold",
    "accuracy_pairs": "Acc@1 of a larger and a smaller model",
    "style_pairs": "What size gains in natural sentences less what it gains by template",
    "perplexity_pairs": "Perplexity of a larger and a smaller model on the same texts: log-ratio, larger over smaller",
    "floors": FLOORS,
}


SMALLER_WINS = {  # section 4: claim -> where a smaller model of the paper beats the larger
    "001-08b": {"probe": "biolama/ctd", "larger": "albert-large"},
    "001-08c": {"probe": "biolama/wikidata", "larger": "albert-large"},
    "001-08d": {"probe": "google_re/template", "larger": "roberta-large"},
    "001-08e": {"probe": "biolama/wikidata", "larger": "bert-large-uncased"},
}


def binned(lengths: pd.Series) -> pd.Series:
    """Token counts as ``1``, ``2``, ``3`` or ``4+``; an entity without tokens counts as the shortest."""
    return lengths.clip(1, len(BINS)).map(lambda length: BINS[int(length) - 1])


def questions(given: Mapping[str, Any]) -> list[Question]:
    """What page 18 asks first by its parameters: ranks, and the models of ``pairs`` read a sample."""
    ranks = rankings(given)
    names = list(dict.fromkeys(name for pair in known_pairs(given["pairs"], given["models"]) for name in pair))
    return [*ranks, *readings(names, sample(probes_of(ranks), given["texts"], given["seed"]))]


def lengths(_: Mapping[str, Any], answers: Sequence[Answer[Any]]) -> list[Describe]:
    """What is asked of the answers to rankings: how many tokens golds, candidates and first answers have."""
    ranked = [answer for answer in answers if isinstance(answer.question, Rank)]
    return [Describe(a.question.model, cut, (a.question.probe, rows_of(a)["top"].str[0].tolist())) for a in ranked]


def cut(model: Model, probe: Probe, predicted: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """``prompt_lengths`` and, of the candidates after a space, ``entity_lengths``."""
    return prompt_lengths(model, probe, predicted), entity_lengths(model, probe.entities, spaced=True).reset_index()


def same_length(
    given: Mapping[str, Any], _: Sequence[Answer[Any]], described: Sequence[Answer[Describe]]
) -> list[RankSameLength]:
    """What is asked once the lengths are known: ranks among the candidates that have as many tokens as the gold."""
    how = scoring(given)
    return [
        RankSameLength(answer.question.model, answer.question.arguments[0], *group, **how)
        for answer in described
        for group in same_length_groups(answer.question.arguments[0], answer.result[0])
    ]


def measure(page: Page, ranks: pd.DataFrame, answers: Sequence[Answer[Rank]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tokens of golds, predictions and candidates, and ranks among candidates of the gold's length.

    Args:
        page: asks the models.
        ranks: of ``ask.gathered``.
        answers: of which these are.

    Returns:
        ``ranks`` with ``length, unknown, predicted, spaced, rivals`` of ``prompt_lengths`` and ``same_length`` (rank
        among candidates of the gold's length; it costs a forward row a prompt at most); and one row per model, probe
        and candidate with its ``length`` and ``unknown``, as it stands after a space.
    """
    described = page.ask(lengths({}, answers))
    same = page.ask(same_length(page.parameters, [], described))
    measured, candidates = [], []
    for answer in described:
        probe, (table, entities) = answer.question.arguments[0], answer.result
        ranked = pick(ranks, model=answer.name, probe=probe.name).reset_index(drop=True)
        among = ranked["rank"].copy()
        for other in same:
            if other.question.model == answer.question.model and other.question.probe is probe:
                among.loc[list(other.question.rows)] = other.result["rank"].to_numpy()
        measured.append(pd.concat([ranked, table], axis=1).assign(same_length=among))
        candidates.append(entities.assign(model=answer.name, probe=probe.name))
    return pd.concat(measured, ignore_index=True), pd.concat(candidates, ignore_index=True)


def tables(measured: pd.DataFrame, candidates: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The tables on vocabulary, from what ``measure`` returns: ``overall, one_token, bias, lengths, gaps, settings,
    confusion``."""
    measured = measured.assign(tokens=binned(measured["length"]), predicted_tokens=binned(measured["predicted"]))
    return {
        "overall": _overall(measured),
        "one_token": _one_token(measured),
        "bias": _bias(measured, candidates),
        "lengths": _lengths(measured, candidates.assign(tokens=binned(candidates["length"]))),
        "gaps": _gaps(measured),
        "settings": _settings(measured),
        "confusion": _confusion(measured),
    }


@per("probe")
def _overall(group: pd.DataFrame) -> Row | None:
    """Per probe, Acc@1 on golds of one token minus that on longer ones, averaged over the models.

    The same facts are drawn for all models. Models that have golds of one kind only on a probe are left out.
    """
    sides: dict[str, pd.DataFrame] = {}
    for model, rows in group.groupby("model", sort=False):
        one_token = (rows["tokens"] == ONE).to_numpy()
        if one_token.any() and not one_token.all():
            hit = hits_at_k(rows["rank"], 1)
            columns = {"hits": hit * one_token, "one": one_token, "others": hit * ~one_token, "longer": ~one_token}
            sides[str(model)] = pd.DataFrame(columns, index=rows["prompt_id"].to_numpy(), dtype=float)
    if not sides:
        return None
    facts = group.drop_duplicates("prompt_id").set_index("prompt_id")["fact_id"]
    wide = pd.concat(sides, axis=1)
    gap = bootstrap_ci(wide.to_numpy(), facts.loc[wide.index].tolist(), _mean_difference)
    return {"models": len(sides), "facts": gap.clusters} | gap.row("difference")


def _mean_difference(means: np.ndarray) -> float:
    hits, one_token, other_hits, longer = means.reshape(-1, 4).T
    if not (one_token.all() and longer.all()):
        return float("nan")
    return float((hits / one_token - other_hits / longer).mean())


def _mean_ratio(means: np.ndarray) -> float:
    sums, sizes = means.reshape(-1, 2).T
    return float((sums / sizes).mean()) if sizes.all() else float("nan")


@per("dataset")
def _settings(group: pd.DataFrame) -> Iterator[Row]:
    """Natural minus template Acc@1 per data set, averaged over the models, on golds of one token and on longer ones.

    A fact counts under the length of its template prompt's gold, since byte-level BPE may cut it otherwise elsewhere.
    """
    for gold in (ONE_TOKEN, LONGER):
        sides: dict[str, pd.DataFrame] = {}
        rows = group[(group["style"] == "natural") | ((group["tokens"] == ONE) == (gold == ONE_TOKEN))]
        for model, ranks in rows.groupby("model", sort=False):
            if len(hits := hits_by_style(ranks)):
                sides[str(model)] = pd.DataFrame({"gap": hits["first"] - hits["second"], "size": 1.0})
        if sides:
            wide = pd.concat(sides, axis=1).fillna(0.0)
            gap = bootstrap_ci(wide.to_numpy(), None, _mean_ratio)
            yield {"gold": gold, "models": len(sides), "facts": len(wide)} | gap.row("difference")


@per(*KEYS)
def _bias(group: pd.DataFrame, candidates: pd.DataFrame) -> Row:
    """Per model and probe: how many tokens longer first predictions are than golds, and how often equally long."""
    entities = pick(candidates, model=group["model"].iloc[0], probe=group["probe"].iloc[0])
    longer = bootstrap_ci((group["predicted"] - group["length"]).tolist(), group["fact_id"].tolist())
    row = {"prompts": len(group), "mean_length": group["length"].mean()} | spread("longer", longer)
    row |= {"same": (group["predicted"] == group["length"]).mean(), "unknown_golds": int(group["unknown"].sum())}
    return row | {"unknown_candidates": int(entities["unknown"].sum())}


@per(*KEYS)
def _one_token(group: pd.DataFrame) -> Iterator[Row]:
    """Acc@1 on golds of one token minus that on longer ones, per model and probe; over all golds and within relations.

    Probes whose golds are of one kind are left out, and so are relations in the second contrast.
    """
    one_token = (group["tokens"] == ONE).tolist()
    row = {"one_token": sum(one_token), "longer": len(one_token) - sum(one_token)}
    if any(one_token) and not all(one_token):
        yield row | {"contrast": "all golds"} | accuracy_difference(group, one_token).row("difference")
        both = group.groupby("relation")["tokens"].transform(lambda tokens: (tokens == ONE).nunique() == 2)
        if group["relation"].nunique() > 1 and both.any():
            within = accuracy_difference(group, one_token, by_relation=True)
            yield row | {"contrast": "within relations"} | within.row("difference")


def _by_length(rows: pd.DataFrame) -> pd.DataFrame:
    """The same rows, shorter golds first."""
    return rows.sort_values("tokens", kind="stable")


def _lengths(measured: pd.DataFrame, candidates: pd.DataFrame) -> pd.DataFrame:
    """Per model, probe and length of the gold: shares, Acc@1, and Acc@1 among candidates of that length.

    ``golds``, ``candidates`` and ``predictions`` are the shares of this length; ``chance`` is the mean over prompts of
    one divided by the number of candidates of the gold's length.
    """
    shares = {
        "golds": measured.groupby(KEYS)["tokens"].value_counts(normalize=True),
        "candidates": candidates.groupby(KEYS)["tokens"].value_counts(normalize=True),
        "predictions": measured.groupby(KEYS)["predicted_tokens"].value_counts(normalize=True),
    }
    rows = []
    for keys, group in by(measured, KEYS):
        for length, of_length in by(_by_length(group), ["tokens"]):
            row = keys | length
            row |= {name: float(share.get(tuple(row.values()), 0.0)) for name, share in shares.items()}
            row |= accuracy_table(of_length, ["tokens"], ks=[1]).iloc[0].drop(["mrr"]).to_dict()
            same = bootstrap_ci(hits_at_k(of_length["same_length"], 1), of_length["fact_id"].tolist())
            rows.append(row | spread("same_length", same) | {"chance": float((1 / of_length["rivals"]).mean())})
    return pd.DataFrame(rows)


@per("model", "dataset")
def _gaps(group: pd.DataFrame) -> Iterator[Row]:
    """Natural minus template Acc@1 on the same facts, per model, data set and length of the gold.

    A fact counts under the length of its template prompt's gold, since byte-level BPE may cut it otherwise elsewhere.
    """
    natural = pick(group, style="natural")
    for keys, template in by(_by_length(pick(group, style="template")), ["tokens"]):
        if len(hits := paired(natural, template)):
            yield keys | contrast(hits, "natural", "template")


@per(*KEYS)
def _confusion(group: pd.DataFrame) -> Iterator[Row]:
    """For golds of each length, the shares of first predictions of each length; rows add up to one."""
    for keys, rows in by(_by_length(group), ["tokens"]):
        shares = rows["predicted_tokens"].value_counts(normalize=True)
        yield keys | {"prompts": len(rows)} | {f"predicted_{name}": float(shares.get(name, 0.0)) for name in BINS}


# ---- a smaller and a larger model of one family --------------------------------------------------------------------


def known_pairs(pairs: Sequence[Sequence[str]], models: Sequence[str]) -> list[tuple[str, str]]:
    """The (smaller, larger) pairs of which both were asked."""
    return [(small, large) for small, large in pairs if {small, large} <= set(models)]


def size_tables(ranks: pd.DataFrame, texts: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> dict[str, pd.DataFrame]:
    """Larger against smaller model, per pair, fact by fact: ``accuracy_pairs, style_pairs, perplexity_pairs``.

    Args:
        ranks: of ``ask.ask_all``.
        texts: of ``reading.read_all`` for the models of the pairs.
        pairs: of ``known_pairs``.

    Returns:
        ``accuracy_pairs``: Acc@1 per probe; ``floor``: both models are at it. ``style_pairs``: per data set in both
        styles, what size gains in natural sentences less what it gains by template. ``perplexity_pairs``: per probe,
        the natural logarithm of perplexity, ``ratio`` that of the larger minus that of the smaller model,
        ``smaller_lower`` the share of texts on which the smaller model's is lower, and ``same_tokens``: only where both
        cut texts alike are they to be compared.
    """
    results: dict[str, list[Row]] = {"accuracy_pairs": [], "style_pairs": [], "perplexity_pairs": []}
    for names in pairs:
        small, large = map(shown_name, names)
        pair: Row = {"smaller": small, "larger": large, "lineage": about(names[1]).family.replace(UNKNOWN, large)}
        both = pick(ranks, model=[large, small])
        for keys, group in by(both, ["probe", "dataset", "style"]):
            hits = paired(pick(group, model=large), pick(group, model=small))
            row = pair | keys | {"floor": bool(at_floor(group).all())}
            results["accuracy_pairs"].append(row | contrast(hits, "of_larger", "of_smaller"))
        for keys, group in by(both, ["dataset"]):
            gains = {}
            for style in ("natural", "template"):
                rows = pick(group, style=style)
                hits = paired(pick(rows, model=large), pick(rows, model=small))
                gains[style] = hits["first"] - hits["second"]
            gained = pd.DataFrame(gains).dropna()
            if len(gained):
                row = pair | keys | {"floor": bool(at_floor(group).all())}
                results["style_pairs"].append(row | contrast(gained, "natural", "template"))
        for keys, group in by(texts, ["probe", "dataset", "style"]):
            results["perplexity_pairs"].append(pair | keys | _ratio(pick(group, model=large), pick(group, model=small)))
    return {name: pd.DataFrame(rows) for name, rows in results.items()}


def _ratio(large: pd.DataFrame, small: pd.DataFrame) -> Row:
    sides = {"of_larger": large, "of_smaller": small}
    logs = pd.DataFrame({name: np.log(side["perplexity"].to_numpy()) for name, side in sides.items()})
    compared = contrast(logs, "of_larger", "of_smaller")
    row: Row = {"texts": compared["facts"]} | {name: np.exp(compared[name]) for name in sides}
    row |= {"ratio": compared["difference"], "ratio_low": compared["low"], "ratio_high": compared["high"]}
    row |= {"smaller_lower": (logs["of_smaller"] < logs["of_larger"]).mean(), "p": compared["p"]}
    return row | {"same_tokens": large["token_ids"].tolist() == small["token_ids"].tolist()}


# ---- what the page shows -------------------------------------------------------------------------------------------


def by_length(tables: Tables) -> pd.DataFrame:
    """For ``lines``: Acc@1 by length, as ``place`` 1 to 4, on the probes where every model has answers of both kinds;
    lengths with fewer than ``FEWEST`` facts are left out."""
    lengths, shown = tables["lengths"].astype({"tokens": str}), asked_of_all(tables)
    probes = list(shown["probe"])[:PANELS] if len(shown) else []
    rows = pick(lengths, probe=probes) if probes else lengths[:0]
    rows = rows[rows["facts"] >= FEWEST]
    return rows.assign(place=[BINS.index(tokens) + 1 for tokens in rows["tokens"]])


def token_axis(ax: Axes) -> None:
    """Mark an axis by the lengths."""
    ax.set_xticks(range(1, len(BINS) + 1), BINS)


def conclusions(tables: Tables) -> pd.DataFrame:
    """Sections 5.1, 4, 5.5 and 6: the settings differ on golds of one token too, model by model; what a larger model
    gains in either."""
    named = (
        ("001-07h", single(tables), "difference", "above"),
        ("001-08a", pick(tables["accuracy_pairs"], style="natural"), "difference", "above"),
        ("001-08g", tables["style_pairs"], "difference", "above"),
        ("001-08h", pick(tables["accuracy_pairs"], style="template"), "difference", "above"),
        *((claim, pick(tables["accuracy_pairs"], **of), "difference", "below") for claim, of in SMALLER_WINS.items()),
        ("001-12a", pick(comparable(tables["perplexity_pairs"]), style="template"), "ratio", "above"),
        ("001-12b", pick(comparable(tables["perplexity_pairs"]), style="natural"), "ratio", "below"),
    )
    rows: list[Row] = []
    for claim, table, name, expected in named:
        sides = table.reindex(columns=["larger", "smaller"]).map(lambda model: title(str(model)))
        pairs = sides["larger"] + " over " + sides["smaller"] if "larger" in table else [""] * len(table)
        named_rows = table.rename(columns={"larger": "model", "texts": "facts"})
        verdicts = conclude(claim, named_rows, name, expected=expected, unit="fact")
        kin = table.get("lineage", pairs)
        rows += [row | {"pair": pair, "lineage": of} for row, pair, of in zip(verdicts, pairs, kin, strict=True)]
    labels = ["claim", "dataset", "model", "pair", "lineage", "tuned"]
    columns = [*labels, "estimate", "low", "high", "n", "units", "expected", "unit", "verdict"]
    return unless_low(pd.DataFrame(rows, columns=columns), tables)
