"""Study 1, accuracy, as the page shows it: the form of Tables 3 and 4 of paper 001, and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from notebooks.templates.accuracy import ALL, CLEAN, across, shown
from notebooks.templates.asking import OWN
from probekit.metrics import KS
from probekit.report.parts import title
from probekit.report.text import escape, interval, number

FLOOR = "†"  # the interval reaches a uniform guess
CHANCE, COMMONEST = "uniform guess", "commonest answer"


def styles(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """The styles of a run's probes, templates first."""
    found = tables["means"]["style"].unique()
    return sorted(found, key=lambda style: ["template", "natural", "other"].index(style))


def at_floor(accuracy: pd.DataFrame, datasets: pd.DataFrame) -> pd.Series:
    """Which rows of ``accuracy`` have an interval of Acc@1 that reaches the uniform guess among the candidates."""
    return accuracy["low@1"] <= accuracy["probe"].map(datasets.set_index("probe")["chance"])


def wide(tables: Mapping[str, pd.DataFrame], style: str) -> pd.DataFrame:
    """The form of Tables 3 and 4 of paper 001: models down, the data sets of one style across, own object.

    Below the models stand their mean, where there are several, and two answers that need no model: a uniform guess
    among the candidates, and the commonest object at every prompt (among the top k it is not defined, so for Acc@1).
    A dagger marks an Acc@1 whose interval reaches the uniform guess.
    """
    means = tables["means"][tables["means"]["gold"] == OWN]
    accuracy = tables["accuracy"][tables["accuracy"]["gold"] == OWN]
    accuracy = accuracy.assign(floor=at_floor(accuracy, tables["datasets"]))
    about = tables["datasets"].set_index("probe")
    out: dict[str, list[str]] = {"Model": [*accuracy["model"].unique()]}
    several = len(out["Model"]) > 1
    out["Model"] += [f"mean of {len(out['Model'])} models"] * several + [CHANCE, COMMONEST]
    for mean in means[means["style"] == style].to_dict("records"):
        rows = accuracy[accuracy["probe"] == mean["probe"]].to_dict("records")
        chance, commonest = about.loc[mean["probe"], ["chance", "commonest"]]
        for k in KS:
            cells = [_cell(row, k) + f" {FLOOR}" * (k == 1 and row["floor"]) for row in rows]
            cells += [_cell(mean, k)] * several + [number(min(1, k * chance))]
            out[f"{title(mean['dataset'])} @{k}"] = [*cells, number(commonest) if k == 1 else "–"]
    return pd.DataFrame(out)


def _cell(row: Mapping[str, Any], k: int) -> str:
    return interval(row[f"acc@{k}"], row[f"low@{k}"], row[f"high@{k}"])


def answer(tables: Mapping[str, pd.DataFrame]) -> str:
    """The page's answer in one sentence: the mean over models of the paired difference, per data set asked in both
    styles; without such a data set, the mean Acc@1 per probe."""
    who = _who(tables["accuracy"]["model"].unique())
    pairs = tables["mean_pairs"]
    if pairs.empty:
        means = tables["means"][tables["means"]["gold"] == OWN]
        found = (f"{_name(row['probe'])} {_cell(row, 1)}" for row in means.to_dict("records"))
        return f"**The answer.** Acc@1 of {who}: {'; '.join(found)}."
    rows = _rows(pairs[(pairs["k"] == 1) & (pairs["subset"] == ALL)])
    sides: dict[str, list[str]] = {}
    for row in rows:
        sides.setdefault(_side(row["low"], row["high"]), []).append(_name(row["dataset"]))
    changes = ", ".join(f"{points(row)} on {_name(row['dataset'])}" for row in rows)
    return (
        "**The answer.** Where the same facts are asked in natural sentences in place of templates, the Acc@1 of "
        f"{who} changes by {changes} (95% intervals over facts): "
        + "; ".join(f"{side} on {', '.join(names)}" for side, names in sides.items())
        + "."
    )


def sentences(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """What the models reach on every probe: range, mean, and how many cannot be told from a uniform guess."""
    accuracy = tables["accuracy"][tables["accuracy"]["gold"] == OWN]
    accuracy = accuracy.assign(floor=at_floor(accuracy, tables["datasets"]))
    said = []
    for mean in _rows(tables["means"][tables["means"]["gold"] == OWN]):
        rows = accuracy[accuracy["probe"] == mean["probe"]].sort_values("acc@1", kind="stable")
        low, high, floor = rows.iloc[0], rows.iloc[-1], int(rows["floor"].sum())
        text = f"**{_name(mean['probe'])}**, {mean['facts']:,} facts: Acc@1 "
        if len(rows) > 1:
            text += (
                f"from {number(low['acc@1'])} (`{low['model']}`) to {number(high['acc@1'])} (`{high['model']}`), mean "
            )
        text += _cell(mean, 1)
        said.append(text + f"; {floor} of {len(rows)} at the uniform guess" * (floor > 0) + ".")
    return said


def paired_sentences(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """Natural sentences against templates on the same facts: the mean over models, how many models go which way, and
    the same over facts that models known to be taught half were not taught."""
    pairs, means = tables["pairs"], tables["mean_pairs"]
    if means.empty:
        return []
    said = []
    for row in _rows(means[(means["k"] == 1) & (means["subset"] == ALL)]):
        of = pairs[(pairs["k"] == 1) & (pairs["subset"] == ALL) & (pairs["dataset"] == row["dataset"])]
        up, down = int((of["low"] > 0).sum()), int((of["high"] < 0).sum())
        text = (
            f"**{_name(row['dataset'])}.** {row['natural']:.1%} of the {row['facts']:,} facts in natural sentences and "
            f"{row['template']:.1%} by template: {points(row)}, p {_p(row['p'])}."
        )
        if len(of) > 1:
            text += (
                f" Of {len(of)} models, {up} score higher in natural sentences, {down} by template, and for "
                f"{len(of) - up - down} the interval includes zero."
            )
        fair = means[(means["k"] == 1) & means["subset"].str.startswith("held out")]
        for other in _rows(fair[fair["dataset"] == row["dataset"]]):
            text += (
                f" On the {other['facts']:,} facts that were not taught where we know what was taught "
                f"({other['models']} of {len(of)} models), over prompts that do not show the answer: "
                f"{other['natural']:.1%} against {other['template']:.1%}, {points(other)}."
            )
        said.append(text)
    return said


def telling(slices: pd.DataFrame) -> pd.DataFrame:
    """Of ``slices``, the probes in which more than two prompts give something away."""
    if slices.empty:
        return slices
    sizes = slices.groupby("probe")["prompts"]
    return slices[sizes.transform("max") - sizes.transform("min") > 2]


def clean_halves(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The rows of ``halves`` over prompts that do not show the gold, each with a ``label``."""
    halves = tables["halves"]
    if halves.empty:
        return halves
    clean = halves[halves["subset"] == CLEAN]
    several = clean["model"].nunique() > 1
    labels = [(f"{m}, " if several else "") + title(p) for m, p in zip(clean["model"], clean["probe"], strict=True)]
    return clean.assign(label=labels)


def halves_sentence(clean: pd.DataFrame) -> str:
    """Where a probe tells taught facts from others, by the interval within relations, and how many would by chance."""
    apart, same = clean[clean["within_low"] > 0], clean[~(clean["within_low"] > 0)]
    others = f"the other {len(same)}" if len(apart) else f"any of the {len(same)}"
    found = (f"{escape(r.label)} {interval(r.within, r.within_low, r.within_high)}" for r in clean.itertuples())
    return (
        f"Taught less held out, over prompts that do not show the gold and within relations: {'; '.join(found)}."
        + f" The probe tells taught facts from others on {', '.join(map(escape, apart['label']))}." * (len(apart) > 0)
        + f" No clear difference shows on {others}: the interval is not above zero, which does not show that there is "
        "none."
        * (len(same) > 0)
        + f" Of {len(clean)} such intervals, {0.025 * len(clean):.1f} lie above zero by chance alone where nothing was "
        "learned." * (len(clean) > 1)
    )


def by_relation(relations: pd.DataFrame, model: str) -> pd.DataFrame:
    """Acc@1 of one model in both styles, a row per relation that has both, best natural first.

    Returns:
        Index: the relation's name, with its data set where the name is all we know. Columns: (``acc@1``, ``low@1``,
        ``high@1``) x (``natural``, ``template``).
    """
    one = relations[relations["model"] == model]
    parted = one["probe"].str.rpartition("/")
    one = one.assign(dataset=parted[0], style=parted[2])
    one = one[one["style"].isin(["template", "natural"])]
    label = one["relation_label"].where(one["relation_label"] != "", one["relation"].str.replace("_", " "))
    known = one["relation_label"] != ""
    one = one.assign(label=label.where(known, one["dataset"].map(title) + ": " + label))
    table = one.pivot(index=["dataset", "relation", "label"], columns="style", values=["acc@1", "low@1", "high@1"])
    if one["style"].nunique() < 2:
        return pd.DataFrame()
    table = table.dropna().sort_values(("acc@1", "natural"), ascending=False, kind="stable")
    return table.droplevel(["dataset", "relation"])


def named(table: pd.DataFrame) -> pd.DataFrame:
    """A table with the names of probes and data sets as pages print them, and without what only its CSV needs."""
    table = table.drop(columns=["distinct_prompts"], errors="ignore")
    if "probe" in table:
        table = table.drop(columns=["dataset", "style"], errors="ignore")
    if "relation_label" in table:
        both = (table["relation"] + " " + table["relation_label"]).str.replace("_", " ")
        table = table.assign(relation=both.str.strip()).drop(columns=["relation_label", "facts", "mrr"])
    return table.assign(**{key: table[key].map(title) for key in ("probe", "dataset") if key in table})


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """``named``, with each estimate and its interval in one cell."""
    return shown(named(table))


def relations_across(relations: pd.DataFrame) -> pd.DataFrame:
    """Acc@1 per probe and relation, a column per model; Acc@5 and Acc@10 stay with the CSV."""
    return across(named(relations), ["probe", "relation", "prompts"]) if len(relations) else relations


def points(row: Mapping[str, Any]) -> str:
    """A difference with its interval in percentage points, signed."""
    low, high = 100 * row["low"], 100 * row["high"]
    return f"{100 * row['difference']:+.1f} points [{low:.1f},\N{NO-BREAK SPACE}{high:.1f}]"


def _side(low: float, high: float) -> str:
    if low > 0:
        return "natural sentences find more"
    return "templates find more" if high < 0 else "the interval includes zero"


def _who(models: Sequence[str]) -> str:
    return f"`{models[0]}`" if len(models) == 1 else f"{len(models)} models on average"


def _name(probe: str) -> str:
    return escape(title(probe))


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return table.to_dict("records")
