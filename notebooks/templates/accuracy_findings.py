"""Study 1, accuracy: the paper's averages beside ours, and whether our results agree with its findings (section 4)."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from notebooks.templates.accuracy import ALL
from notebooks.templates.accuracy_view import points
from notebooks.templates.asking import OWN
from notebooks.templates.paper_sets import PAPER_SETS
from probekit.report.ledger.published import cell
from probekit.report.parts import Finding, agreement, title
from probekit.report.text import interval, number

Tables = Mapping[str, pd.DataFrame]

ABSENT = "not at hand"


def beside_paper(tables: Tables) -> pd.DataFrame:
    """Mean Acc@1 over the paper's models, as printed, beside the mean over ours on the same kind of data.

    Args:
        tables: of a run on real data.

    Returns:
        ``claim, dataset, style``, ``published`` as printed, ours (``acc@1, low@1, high@1, models, facts``, none where
        the data is not at hand), and ``data``, how the data compare. Empty where the run has none of the data.
    """
    means = tables["means"][tables["means"]["gold"] == OWN].set_index("probe")
    about = tables["datasets"].set_index("probe")
    claimed = sorted((one for one in PAPER_SETS if one.claim), key=lambda one: one.claim)
    if not any((one.probe or one.stand_in) in means.index for one in claimed):
        return pd.DataFrame()
    rows = []
    for one in claimed:
        row: dict[str, object] = {"claim": one.claim, "dataset": one.name, "style": one.style}
        row["published"] = _printed(one.name, one.style)
        probe = one.probe or one.stand_in
        if probe in means.index:
            row |= means.loc[probe, ["acc@1", "low@1", "high@1", "models", "facts"]].to_dict()
            row["data"] = "same recipe, other sentences" if one.stand_in else _share(about.loc[probe])
        else:
            row["data"] = ABSENT if one.absent and not one.stand_in else "not in this run"
        rows.append(row)
    return pd.DataFrame(rows)


def _printed(dataset: str, style: str) -> str:
    if dataset == "SQuAD":  # its mean stands in Table 6, in the column of the data set's own entities
        return cell("001", "6", "Average", "SQuAD Original A@1")
    return cell("001", "text", f"mean over models on {dataset} ({style})", "Acc@1", section="4")


def _share(about: pd.Series) -> str:
    absent = int(about["relations_absent"])
    return f"without {absent} relations" if absent else "the same"


def shown_beside(table: pd.DataFrame) -> pd.DataFrame:
    """``beside_paper`` for reading."""
    ours = [
        interval(*row) if row[0] == row[0] else ABSENT
        for row in table[["acc@1", "low@1", "high@1"]].to_numpy().tolist()
    ]
    return pd.DataFrame(
        {
            "Claim": table["claim"],
            "Data set": table["dataset"],
            "Style": table["style"],
            "Published, 16 models": table["published"],
            "Ours": ours,
            "Our models": [number(n, 0) for n in table["models"]],
            "Data": table["data"],
        }
    )


def findings(real: Tables, demo: Tables) -> list[Finding]:
    """The findings of section 4 on scores, with what recorded real data and the demo world say of each.

    Args:
        real: tables of a run on real data, empty where there is none.
        demo: tables of a run on the demo world, likewise.
    """
    told = (
        (
            "001-18, 001-02, 001-03",
            "On the same facts, natural sentences find more than templates (mean Acc@1).",
            _paired,
        ),
        ("001-18", "So it is for every model.", _every),
        ("001-01", "A model can lose much of its Acc@1 by template (the model that loses most).", _largest),
        (
            "001-04",
            "Biomedical natural prompts score higher than biomedical templates (mean Acc@1; other facts).",
            _biomedical,
        ),
    )
    return [Finding(claims, text, check(real), check(demo)) for claims, text, check in told]


NOT_RUN = "not run"


def _all(tables: Tables, name: str) -> pd.DataFrame:
    table = tables.get(name, pd.DataFrame())
    return table[(table["subset"] == ALL) & (table["k"] == 1)] if len(table) else table


def _paired(tables: Tables) -> str:
    rows = _all(tables, "mean_pairs").to_dict("records")
    return "; ".join(f"{title(r['dataset'])}: {agreement(r['low'], r['high'])}, {points(r)}" for r in rows) or NOT_RUN


def _every(tables: Tables) -> str:
    said = []
    pairs = _all(tables, "pairs")
    for dataset, group in pairs.groupby("dataset", sort=False) if len(pairs) else ():
        found = [agreement(low, high) for low, high in zip(group["low"], group["high"], strict=True)]
        word = "contradicts" if "contradicts" in found else "undecided" if "undecided" in found else "agrees"
        said.append(f"{title(str(dataset))}: {word}, {found.count('agrees')} of {len(found)} models above zero")
    return "; ".join(said) or NOT_RUN


def _largest(tables: Tables) -> str:
    told = [
        f"{title(r['dataset'])}: {agreement(r['low'], r['high'])}, {r['model']} loses "
        f"{interval(r['difference'], r['low'], r['high'], 1)} points, {r['difference'] / 100 / r['natural']:.0%} of it"
        for r in tables.get("largest", pd.DataFrame()).to_dict("records")
        if r["natural"] > 0
    ]
    return "; ".join(told) or NOT_RUN


def _biomedical(tables: Tables) -> str:
    domains = tables.get("domains", pd.DataFrame())
    rows = domains[domains["domain"] == "biomedical"].to_dict("records") if len(domains) else []
    return "; ".join(f"{agreement(r['low'], r['high'])}, {points(r)}" for r in rows) or NOT_RUN
