"""Page 42, hurtfulness by rank (paper 004, section 4.1 and Figure 2): its tables, its figures, its conclusions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from probekit.metrics import Drawn, estimate_row
from probekit.metrics.decisions import FLOOR, direction
from probekit.probes.completions import SUBSETS, released_models
from probekit.probes.honest import honest_templates
from probekit.report.page import Page
from probekit.report.tables import by, cell, pick
from probekit.report.text import number, title

from notebooks.fairness import release
from notebooks.fairness.checks import LEADERS
from notebooks.fairness.matching import COUNTED, MAIN, UNTRAINED, Scored, score
from notebooks.fairness.ranks import CONTRASTS, contrast_weights, draw, mean_of, share_weights

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BOTH = "both"  # mean over both sets of templates
ALL, FAMILY, MODEL = "all models", "family", "model"
TEN = "ten"  # ``END`` in words
LEADING = ("paper", "audited", "audited_plain")  # rules that the answer tells of
SCALES = ("small", "medium", "large")
CLAIMS = {"004-04g": "ends", "004-06a": "ends", "004-06b": "settles"}
UNIT = "identity x predicate"
CAPTIONS = {
    "summary": "How many models change with rank, by their own intervals",
    "contrasts": "How hurtfulness changes with rank, for every model, family, and all models",
    "shares": "Share of hurtful completions over ranges of ranks",
    "subsets": "Scores of every model on both sets of templates",
    "sets": "How many models score apart on both sets of templates",
}
Tables = Mapping[str, pd.DataFrame]
Groups = Mapping[tuple[str, str, str], Drawn]  # (model, subset, rules) ->


# ---- the tables of the run -----------------------------------------------------------------------------------------


def score_released(page: Page) -> dict[str, list[Scored]]:
    """The released completions of the models of Table 1, matched by both main sets of rules.

    Raises:
        ProbeError: completions, lexicon or Unidecode are not at hand.
    """
    words, transliterate = release.lexicon(page)
    scored: dict[str, list[Scored]] = {}
    names = {subset: honest_templates(subset)["identity"].tolist() for subset in SUBSETS}  # type: ignore[arg-type]
    for model, subset, completions in release.released(page, release.of_table()):
        said, people = completions, names[subset]
        matched = score(model.name, subset, said.prompts, said.texts, words, transliterate, MAIN, people)
        scored.setdefault(model.name, []).append(matched)
    return scored


def tables(scored: Mapping[str, Sequence[Scored]]) -> dict[str, pd.DataFrame]:
    """All tables of the page.

    Args:
        scored: model -> its scores on each set of templates, as many completions for all. Each is counted by the rules
            it was matched by; models are compared within the same rules.

    Raises:
        ProbekitError: fewer completions than the contrasts need.
    """
    if not scored:
        return {}
    k = next(iter(next(iter(scored.values()))[0].found.values())).shape[1]
    share, contrast = share_weights(k), contrast_weights(k)
    weights = share | contrast
    drawn: dict[tuple[str, str, str], Drawn] = {}
    for name, sets in scored.items():
        for rules in sets[0].found:
            parts = [draw(one, rules, weights, seed) for seed, one in enumerate(sets)]
            drawn |= {(name, one.subset, rules): part for one, part in zip(sets, parts, strict=True)}
            if len(sets) > 1:
                drawn[name, BOTH, rules] = mean_of(parts)
    columns = list(weights)
    lines = contrasts(drawn, columns, list(contrast))
    apart = subsets(drawn, columns, span_of_all=f"1-{k}")
    return {
        "shares": shares(drawn, columns, list(share)),
        "contrasts": lines,
        "summary": summary(lines),
        "subsets": apart,
        "sets": sets_apart(apart),
    }


def shares(drawn: Groups, columns: Sequence[str], ranges: Sequence[str]) -> pd.DataFrame:
    """``model, subset, rules, first, last, share, low, high``: the mean share of hurtful completions at those ranks."""
    rows = []
    for (model, subset, rules), numbers in drawn.items():
        for name in ranges:
            column = columns.index(name)
            first, _, last = name.partition("-")
            about = {"model": model, "subset": subset, "rules": rules, "first": int(first), "last": int(last or first)}
            share = estimate_row(numbers.estimate[column], numbers.draws[:, column], numbers.units, "share")
            rows.append(about | share)
    return pd.DataFrame(rows)


def contrasts(drawn: Groups, columns: Sequence[str], names: Sequence[str]) -> pd.DataFrame:
    """The contrasts of every model, of every family of two models or more, and of all whose weights were trained.

    Returns:
        ``level`` (model, family or all models), ``name, subset, rules, contrast, estimate, low, high``.
    """
    rows = []
    for subset, rules in dict.fromkeys((subset, rules) for _, subset, rules in drawn):
        models = {key[0]: numbers for key, numbers in drawn.items() if key[1:] == (subset, rules)}
        lines = [(MODEL, name, numbers) for name, numbers in models.items()]
        trained = {name: numbers for name, numbers in models.items() if name != UNTRAINED}
        for family, members in families(trained).items():
            if len(members) > 1 and family:
                lines.append((FAMILY, family, mean_of([trained[name] for name in members])))
        if len(trained) > 1:
            lines.append((ALL, ALL, mean_of(list(trained.values()))))
        for contrast in names:
            column = columns.index(contrast)
            about = {"subset": subset, "rules": rules, "contrast": contrast}
            for level, name, numbers in lines:
                line = estimate_row(numbers.estimate[column], numbers.draws[:, column], numbers.units)
                rows.append({"level": level, "name": name} | about | line)
    return pd.DataFrame(rows)


def families(models: Iterable[str]) -> dict[str, list[str]]:
    """Family -> its models in order; those that are not of the release stand together under an empty name."""
    known, found = released_models(), dict[str, list[str]]()
    for name in dict.fromkeys(models):
        found.setdefault(known[name].family if name in known else "", []).append(name)
    return found


def subsets(drawn: Groups, columns: Sequence[str], span_of_all: str) -> pd.DataFrame:
    """The mean share of each model on the first set of templates less that on the second.

    Returns:
        ``model, rules, first, second`` (names of the sets), ``one, other`` (their shares), ``estimate, low,
        high``; empty where there is one set only.
    """
    column = columns.index(span_of_all)
    rows = []
    for model, rules in dict.fromkeys((model, rules) for model, _, rules in drawn):
        sets = [s for m, s, r in drawn if (m, r) == (model, rules) and s != BOTH]
        if len(sets) == 2:
            first, second = (drawn[model, subset, rules] for subset in sets)
            values = [first.estimate[column], second.estimate[column]]
            about = {"model": model, "rules": rules, "first": sets[0], "second": sets[1]}
            apart = first.draws[:, column] - second.draws[:, column]
            line = estimate_row(values[0] - values[1], apart, min(first.units, second.units))
            rows.append(about | {"one": values[0], "other": values[1]} | line)
    return pd.DataFrame(rows)


def summary(contrasts: pd.DataFrame) -> pd.DataFrame:
    """How many models whose weights were trained lie above and below zero by their own intervals.

    Returns:
        ``subset, rules, contrast, models, positive`` (estimates above zero), ``above, below``.
    """
    rows = []
    rows_ = pick(contrasts, level=MODEL)
    for about, part in by(rows_[rows_["name"] != UNTRAINED], ["subset", "rules", "contrast"]):
        counts = {"models": len(part), "positive": int((part["estimate"] > 0).sum())}
        rows.append(about | counts | {"above": int((part["low"] > 0).sum()), "below": int((part["high"] < 0).sum())})
    return pd.DataFrame(rows)


def sets_apart(subsets: pd.DataFrame) -> pd.DataFrame:
    """How many models whose weights were trained score apart on the two sets of templates by their own intervals.

    Returns:
        ``rules, models, apart``, and ``first_higher, second_higher`` of those.
    """
    rows = []
    for about, part in by(subsets[subsets["model"] != UNTRAINED] if len(subsets) else subsets, ["rules"]):
        apart = part[(part["low"] > 0) | (part["high"] < 0)]
        first = int((apart["estimate"] > 0).sum())
        counts = {"models": len(part), "apart": len(apart)}
        rows.append(about | counts | {"first_higher": first, "second_higher": len(apart) - first})
    return pd.DataFrame(rows)


# ---- what the paper concludes --------------------------------------------------------------------------------------


def conclusions(tables: Tables) -> pd.DataFrame:
    """For every model how far the score falls over ranks (004-06a; 004-04g of the families that the paper names), and
    how much faster before rank 20 (004-06b), above zero where the claim holds; and how far it differs between the sets
    of templates (004-07), which holds where the interval leaves zero out on either side."""
    rows: list[dict[str, Any]] = []
    families_ = {model: family for family, models in families(_models(tables)).items() for model in models}
    lines = pick(tables["contrasts"], level=MODEL, subset=BOTH)
    for claim, contrast in CLAIMS.items():
        for row in pick(lines, contrast=contrast).to_dict("records"):
            if claim != "004-04g" or families_[row["name"]] in LEADERS:
                rows.append(_concluded(claim, row["name"], row))
    for row in tables["subsets"].to_dict("records"):
        apart = "agrees" if row["low"] > 0 or row["high"] < 0 else "undecided"
        rows.append({"verdict": apart} | _concluded("004-07", row["model"], row))
    columns = ["claim", "model", "counted", "unit", "estimate", "low", "high", "verdict"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(verdict=table["verdict"].astype(object).fillna("")).astype({"estimate": float})


def _concluded(claim: str, model: str, row: Mapping[str, Any]) -> dict[str, Any]:
    about = {"claim": claim, "model": model, "counted": COUNTED[row["rules"]], "unit": UNIT}
    ends = {name: row[name] for name in ("estimate", "low", "high")}
    return about | ends | ({"verdict": FLOOR} if model == UNTRAINED else {})


def _models(tables: Tables) -> list[str]:
    return list(tables["shares"]["model"].unique()) if len(tables["shares"]) else []


# ---- what the page shows -------------------------------------------------------------------------------------------


def pooled(tables: Tables) -> str:
    """The set of templates that the page tells of: both together, or the only one."""
    names = list(tables["summary"]["subset"].unique())
    return BOTH if BOTH in names else str(names[0])


def answer(tables: Tables) -> str:
    """Whether likelier completions are hurtful more often, for how many models by each set of rules."""
    if tables["summary"].empty:
        return "No model was asked."
    rows = pick(tables["summary"], subset=pooled(tables), contrast="ends", rules=list(LEADING)).to_dict("records")
    counted = {row["rules"]: row for row in rows}
    first = counted.get("paper", rows[0])
    if first["models"] == 1:
        often = _often(tables, first["rules"])
        name = title(_models(tables)[0])
        return f"For {name}, a template's first {TEN} completions are hurtful {often} than its last {TEN}."
    text = (
        f"Counted by the {COUNTED[first['rules']]}, the first {TEN} completions are hurtful more often than the last "
        f"{TEN} for {first['above'] or 'none'} of {first['models']} models by their own 95% intervals, and in the mean "
        f"over them by {_mean(tables, first['rules'])}."
    )
    if (audited := counted.get("audited")) and first is not audited:
        gone = "the trend disappears" if audited["above"] * 2 <= audited["models"] else "the trend stays"
        text += (
            f" By the {COUNTED['audited']} {gone}: it is so for {audited['above'] or 'none'}, and the other way round "
            f"for {audited['below'] or 'none'}; the mean is {_mean(tables, 'audited')}."
        )
    return text


def _mean(tables: Tables, rules: str) -> str:
    rows = pick(tables["contrasts"], level=ALL, subset=pooled(tables), contrast="ends", rules=rules)
    return cell(rows.iloc[0].to_dict())


def _often(tables: Tables, rules: str) -> str:
    rows = pick(tables["contrasts"], subset=pooled(tables), contrast="ends", rules=rules)
    row = (rows[rows["level"] == ALL] if (rows["level"] == ALL).any() else rows).iloc[0]
    words = {"agrees": "more often", "contradicts": "less often", "undecided": "neither more nor less often"}
    return words[direction(row["low"], row["high"])]


def ends(tables: Tables) -> pd.DataFrame:
    """The contrast of the first and the last ten ranks for ``forest``: ``model, counted, estimate, low, high``."""
    rows = pick(tables["contrasts"], level=MODEL, contrast="ends", subset=pooled(tables))
    rows = rows.assign(counted=rows["rules"].map(COUNTED)).rename(columns={"name": "model"})
    return rows[["model", "counted", "estimate", "low", "high"]]


def bands(tables: Tables, subset: str) -> pd.DataFrame:
    """Shares over ranges of ranks that follow one another, for ``lines``: a panel a family and set of rules.

    Returns:
        ``panel, model, scale`` (the place of a model within its family, or its name), ``rank`` (middle of the range),
        ``share, share_low, share_high``.
    """
    rows = pick(tables["shares"], subset=subset)
    rows = rows[(rows["first"] > 1) | (rows["last"] == 1)].sort_values("first", kind="stable")
    parts = []
    for family, members in families(tables["shares"]["model"]).items():
        names = SCALES if family and len(members) <= len(SCALES) else [title(name) for name in members]
        scale = dict(zip(members, names, strict=False))
        for rules in rows["rules"].unique():
            part = pick(rows, model=members, rules=rules)
            panel = f"{family}, {COUNTED[rules]}" if family else COUNTED[rules]
            part = part.assign(panel=panel, scale=part["model"].map(scale), rank=(part["first"] + part["last"]) / 2)
            parts.append(part.sort_values("model", key=lambda names: names.map(members.index), kind="stable"))
    table = pd.concat(parts).rename(columns={"low": "share_low", "high": "share_high"})
    return table[["panel", "model", "scale", "rank", "share", "share_low", "share_high"]]


def log_ranks(ax: Axes) -> None:
    """Let the first ranks, where curves change most, have room."""
    ax.set_xscale("log")
    ax.set_xticks([1, 10, 100], ["1", "10", "100"])
    ax.minorticks_off()


def curves_told(table: pd.DataFrame) -> str:
    """The curves in words: each model's share at rank 1 and over its last range, panel by panel."""
    parts = []
    for about, rows in by(table, ["panel", "model"]):
        first, last = number(rows["share"].iloc[0]), number(rows["share"].iloc[-1])
        parts.append(f"{about['panel']}, {title(about['model'])}: from {first} to {last}")
    return "; ".join(parts) + "."


def counts(tables: Tables) -> pd.DataFrame:
    """``summary`` for reading, over all templates: each contrast with its mean and how many models go which way."""
    rows = pick(tables["summary"], subset=pooled(tables)).to_dict("records")
    means = pick(tables["contrasts"], level=ALL, subset=pooled(tables)).set_index(["rules", "contrast"])
    shown = []
    for row in rows:
        key = (row["rules"], row["contrast"])
        line = {"compared": CONTRASTS[row["contrast"]], "counted": COUNTED[row["rules"]]}
        mean = means.loc[key, ["estimate", "low", "high"]].to_dict() if key in means.index else {}
        shown.append(line | mean | {name: row[name] for name in ("models", "above", "below")})
    return pd.DataFrame(shown)


def sets_told(tables: Tables) -> str:
    """For how many models the two sets of templates differ, and which is the more hurtful."""
    rows = tables["sets"].to_dict("records")
    first, second = (title(tables["subsets"][name].iloc[0]) for name in ("first", "second"))
    parts = [
        f"by the {COUNTED[row['rules']]} {row['apart']} of {row['models']} models score apart by their own intervals, "
        f"{row['second_higher']} of them higher on {second} and {row['first_higher']} on {first}"
        for row in rows
    ]
    return f"Over all ranks, {'; '.join(parts)}."
