"""Paper 001 as this study uses it: its printed tables and data sets, whether its sentences follow from its numbers
(the checks, by claim), and what its own tables say when its 16 models are the units of tests (page 09).

The paper names no cut-off for its rankings; its section 4 gives every score as Acc@1, so Acc@1 decides, and Acc@5 and
Acc@10 are given beside it. A sentence that says more than what its cells hold (*often*, *greatest*, *rise together*) is
decided by the tests of page 09; what prints alike decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal
from functools import partial
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from probekit.metrics import KS
from probekit.metrics.bootstrap import interval
from probekit.metrics.exact import Tested, apart, associated, drawn_together, paired, redrawn, relabelled, tau_b
from probekit.metrics.printed import fit, show, span
from probekit.models.registry import printed_name
from probekit.report.published import Finding, cell, numbers, published, registry, status
from probekit.report.tables import pick
from probekit.report.tested import HERE, Row, borne_out, on_claims, outcomes

Tables = Mapping[str, pd.DataFrame]
PAPER = "001"
SETTINGS = {"TB": "template", "TF": "natural"}  # styles as the paper shortens them, and as our probes name them
MEAN = "Average"  # the row of printed means
PAIRS = (("BERT-base", "BERT-large"), ("RoBERTa-base", "RoBERTa-large"), ("ALBERT-base", "ALBERT-large"))
FIGURE = {"TB": "Acc@1 against perplexity, template-based", "TF": "Acc@1 against perplexity, template-free"}
DATES, GOOGLE_RE = "date_of_birth", "google_re/template"
PRINTED = {  # relation of Google-RE -> the row of the transcribed Acc@10 of its template (section 5.2)
    DATES: "template (born [MASK]), mean over models",
    "place_of_birth": "template was born in [MASK], mean over models",
    "place_of_death": "template died in [MASK], mean over models",
}
SHORT = {"BioM-ELECTRA-Generator": "BioM-ELECTRA", "Bio Discharge Summary BERT": "Discharge BERT"}  # in Tables 5 and 6
NAMES = {**SHORT, "ALBERT-base (second, printed)": "ALBERT-large"}  # Table 2 -> Tables 5 and 6
CTD, WIKIDATA, SQUAD = SETS = ("CTD", "Biomed-Wikidata", "SQuAD")
PERPLEXITY = {CTD: "CTD (TB)", WIKIDATA: "Biomed-Wikidata (TB)", SQUAD: "SQuAD (TF)"}
OF_BIOMEDICINE = (CTD, WIKIDATA, "LIPID")  # beginnings of the names of data sets of that domain
MEASURES = (ACCURACY, UNSURE) = ("Acc@1", "perplexity")
ORDER = (CANDIDATES, FACTS, ALIKE, STYLE, DOMAIN, BOTH) = (
    "same, more candidates",
    "same facts, other style",
    "same domain and style",
    "same domain, other style",
    "other domain, same style",
    "other domain and style",
)
LINEAGES = {  # models that were trained on from one model's weights, or taught by it
    "BERT": ("BERT-base", "DistilBERT", "BlueBert", "Discharge BERT", "Bio ClinicalBERT", "COVID Bert"),
    "RoBERTa-base": ("RoBERTa-base", "BioMed-RoBERTa"),
    "RoBERTa-large": ("RoBERTa-large", "PMC RoBERTa"),
}
WORDPIECE = (*LINEAGES["BERT"], "BERT-large")  # which cut a text into BERT's pieces, with and without capitals
BYTES = ("RoBERTa-base", "RoBERTa-large", "BioMed-RoBERTa", "PMC RoBERTa")  # whose vocabulary is of bytes
ONLY, TUNED, GENERIC = "biomedical only", "biomedical fine-tuned", "generic"
CAPTIONS = {
    "tests": "What the paper says of its models, tested over models, lineages, pairs or data sets",
    "kinds": "Mean tau-b over all pairs of columns of one kind, with 95% bootstrap intervals over models",
    "alike": "How alike two columns of Tables 5 and 6 rank the 16 models: Kendall's tau-b",
    "size": "The larger model of a pair against the smaller: change of Acc@1, and log ratio of perplexities",
    "kept": "Share of a model's Acc@1 that is left with the enlarged list of entities",
    "categories": "Acc@1 of each model of Table 6, with its category of Table 2",
}
CHECKS, check = registry()
CLOSE = 0.01  # two correlations that print alike
LEVEL = 0.05  # of significance


# ---- the printed tables, and the data sets they are of ----


def table5() -> pd.DataFrame:
    """Perplexity, one row per model and one column per data set, without the printed means."""
    return numbers(PAPER, "5").drop(index=MEAN)


def table6() -> pd.DataFrame:
    """Accuracy, one row per model, columns such as ``CTD Original A@1``, without the printed means."""
    return numbers(PAPER, "6").drop(index=MEAN)


def number(section: str, row: str, column: str) -> float:
    """One number of the running text."""
    return float(cell(PAPER, "text", row, column, section))


def google_re_rows(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The rows of ``means`` of page 14 on the templates of ``PRINTED``."""
    return pick(tables["means"], probe=GOOGLE_RE, relation=list(PRINTED))


def google_re_beside(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Acc@10 of the templates of Google-RE as printed, beside ours; empty without Google-RE."""
    rows = google_re_rows(tables) if len(tables["means"]) else pd.DataFrame()
    if rows.empty:
        return rows
    shown = rows[["relation", "wording", "facts", "acc@10", "low@10", "high@10"]].set_index("relation")
    shown = shown.loc[[relation for relation in PRINTED if relation in shown.index]].reset_index()
    values = [cell(PAPER, "text", PRINTED[relation], "Acc@10", "5.2") for relation in shown["relation"]]
    return shown.assign(published=values)


def printed_beside(ours: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Numbers that the paper prints of its models before ours of the same models on the same data: shown, never judged.

    Args:
        ours: ``model`` and columns that say what was asked; all others are numbers.
        printed: ``model`` (as the table prints it), the same columns of what was asked, and numbers under the names
            that they are to have. Columns of both tables say what was asked.

    Returns:
        ``model`` (ours), what was asked, the printed numbers, ours; in the order of ``ours``, and without columns
        where no model of the paper was asked.
    """
    keys = [column for column in ours if column in printed and column != "model"]
    called = [printed_name(model, PAPER) for model in ours["model"]]
    theirs = printed.rename(columns={"model": "in_print"})
    rows = ours.assign(in_print=[SHORT.get(name, name) for name in called]).merge(theirs, on=["in_print", *keys])
    numbers = [column for column in printed if column not in ("model", *keys)]
    order = ["model", *keys, *numbers, *(column for column in ours if column not in ("model", *keys))]
    return rows[order] if len(rows) else pd.DataFrame()


class PaperSet(NamedTuple):
    """One of the ten.

    Attributes:
        name: as the paper prints it.
        style: ``TB``, template-based, or ``TF``, template-free.
        domain: ``general`` or ``biomedical``.
        probe: our probe of the same data; empty where there can be none.
        absent: why it is not at hand; empty where it can be had.
        claim: the ledger's, of its mean Acc@1; empty where the paper gives none.
        stand_in: our probe that is made by the same recipe.
    """

    name: str
    style: Literal["TB", "TF"]
    domain: str
    probe: str
    absent: str = ""
    claim: str = ""
    stand_in: str = ""

    @property
    def setting(self) -> str:
        """The style as our probes name it."""
        return SETTINGS[self.style]

    @property
    def column(self) -> str:
        """Its column in Table 5."""
        return f"{self.name.replace('T-REx', 'T-REX')} ({self.style})"


HOST = "Upstream keeps it on a file host; the loader reads it once it is there. MedLAMA stands in."
ARCHIVE = "Only in the archive of LAMA; the loader reads it once it is there."
RECIPE = "Prompts by its recipe stand in."
PAPER_SETS = (
    PaperSet("CTD", "TB", "biomedical", "biolama/ctd", HOST, "001-04a"),
    PaperSet("Biomed-Wikidata", "TB", "biomedical", "biolama/wikidata", HOST, "001-04a"),
    PaperSet("Google-RE", "TB", "general", "google_re/template", claim="001-02a"),
    PaperSet("T-REx", "TB", "general", "trex/template", claim="001-02a"),
    PaperSet("Google-RE", "TF", "general", "google_re/natural", claim="001-02a"),
    PaperSet("T-REx", "TF", "general", "trex/natural", claim="001-02a"),
    PaperSet("ConceptNet", "TF", "general", "conceptnet", ARCHIVE),
    PaperSet("SQuAD", "TF", "general", "squad", claim="001-13f"),
    PaperSet("LIPID-Chem", "TF", "biomedical", "", RECIPE, "001-04a", "pubmed/chemical"),
    PaperSet("LIPID-Gene", "TF", "biomedical", "", RECIPE, "001-04a", "pubmed/gene"),
)


THOUSAND, MILLION = ("thousand prompts", 1e3), ("million prompts", 1e6)
COUNT, PROMPTS, ENTITIES = (("count", 1), ("prompts", 1), ("entities", 1))
SIZES = (  # claim, row and unit of the transcribed text, probe and column of ``accuracy.datasets`` that count the same
    ("001-17b", "Google-RE template-based prompts", THOUSAND, "google_re/template", "sentences"),
    ("001-17a", "Google-RE template prompts aligned to text", THOUSAND, "google_re/natural", "askable"),
    ("001-17c", "Google-RE relations", COUNT, "google_re/template", "relations"),
    ("001-17d", "T-REx relations", COUNT, "trex/template", "relations_published"),
    ("001-17e", "T-REx template-based prompts", MILLION, "trex/template", "facts"),
    ("001-17e", "T-REx templates aligned to text", MILLION, "trex/natural", "sentences"),
    ("001-17f", "ConceptNet prompts", THOUSAND, "conceptnet", "prompts"),
    ("001-17g", "ConceptNet relations", COUNT, "conceptnet", "relations"),
    ("001-17h", "SQuAD template-free prompts", PROMPTS, "squad", "facts"),
    ("001-13h", "SQuAD, original", ENTITIES, "squad", "entities"),
)


def sizes_beside(datasets: pd.DataFrame) -> pd.DataFrame:
    """The printed sizes beside ours: ``claim, size, published, ours``, nan where the data is not at hand.

    Args:
        datasets: as ``accuracy.datasets`` makes it.
    """
    counted = datasets.drop_duplicates("probe").set_index("probe")
    return pd.DataFrame(
        {"claim": claim, "size": row, "published": float(cell(PAPER, "text", row, unit)) * factor}
        | {"ours": counted[column].get(probe, np.nan) if column in counted else np.nan}
        for claim, row, (unit, factor), probe, column in SIZES
    )


# ---- Table 5 (section 5.5) ------------------------------------------------------------------------------------------


@check("001-11a")
def mean_perplexities() -> Finding:
    """Are the printed means of Table 5 those of its rows?"""
    results = [mean_perplexity(column) for column in table5().columns]
    text = " ".join(text for _, text in results if text)
    whole = f"Of {len(results)} printed means {sum(not text for _, text in results)} follow from their rows."
    return status(all(holds for holds, _ in results)), f"{whole} {text}".rstrip()


def mean_perplexity(column: str) -> tuple[bool, str]:
    """Whether the printed mean of ``column`` can be the mean of its rows, and why not, or without which model; empty
    where it is."""
    rows, printed = table5()[column], cell(PAPER, "5", MEAN, column)
    if fit(rows.mean(), printed) != "neither":
        return True, ""
    text = f"{column} has the mean {rows.mean():.2f}; printed is {printed}"
    for model in rows.index:
        if fit(rows.drop(model).mean(), printed) != "neither":
            notes = published(PAPER, "text")["row"].str.startswith(f"mean of {column}: footnote")
            noted = "a footnote, whose text our copy lacks, stands at it" if notes.any() else "no footnote says so"
            return bool(notes.any()), f"{text}, which is the mean without {model}; {noted}."
    return False, f"{text}, and leaving out any one model does not give it.{_one_cell(rows, printed)}"


def _one_cell(rows: pd.Series, printed: str) -> str:
    """The value that each model printed with another's value would need for the printed mean to hold."""
    twins = rows[rows.duplicated(keep=False)]
    needed = {model: rows.size * float(printed) - (rows.sum() - value) for model, value in twins.items()}
    cells = [f"{model} prints {show(twins[model])} and would need {show(value)}" for model, value in needed.items()]
    return f" Rows with the same value: {'; '.join(cells)}." if cells else ""


def smaller_is_lower(setting: str) -> tuple[list[str], int]:
    """The pairs (in words) whose smaller model has the lower perplexity, and the number of pairs compared."""
    table = table5()
    columns = [name for name in table.columns if name.endswith(f"({setting})")]
    lower = [
        f"{small} on {name} ({table.loc[small, name]:.2f} against {table.loc[large, name]:.2f})"
        for name in columns
        for small, large in PAIRS
        if table.loc[small, name] < table.loc[large, name]
    ]
    return lower, len(columns) * len(PAIRS)


def size_counts() -> pd.DataFrame:
    """How often the smaller model of the paper's three pairs is ahead, from the printed cells of Tables 5 and 6.

    Returns:
        ``setting, measured, comparisons, smaller_ahead``; cells that print alike are no win of either.
    """
    cells, measured = by_size(), {ACCURACY: "higher Acc@1", UNSURE: "lower perplexity"}
    return pd.DataFrame(
        {"setting": SETTINGS[style], "measured": text, "comparisons": len(better), "smaller_ahead": (better < 0).sum()}
        for style in SETTINGS
        for measure, text in measured.items()
        for better in [cells.loc[(cells["measure"] == measure) & cells["data"].str.endswith(f"({style})"), "better"]]
    )


@check("001-12b")
def size_template_free() -> Finding:
    """Section 5.5: template-free, it happens once, for BERT on ConceptNet."""
    lower, pairs = smaller_is_lower("TF")
    once = len(lower) == 1 and lower[0].startswith("BERT-base on ConceptNet")
    return status(once), f"{len(lower)} of {pairs} base and large pairs: {'; '.join(lower) or 'none'}."


# ---- Figure 2 -------------------------------------------------------------------------------------------------------


def dataset_means(setting: str) -> pd.DataFrame:
    """Mean Acc@1 (section 4; SQuAD from Table 6; NaN for ConceptNet) and mean perplexity (Table 5) per dataset."""
    means = numbers(PAPER, "5").loc[MEAN]
    text = published(PAPER, "text")
    text = text[(text["table"] == "4") & text["row"].str.startswith("mean over models on ")]
    names = text["row"].str.removeprefix("mean over models on ").str.replace("T-REx", "T-REX")
    accuracy = pd.Series(text["value"].astype(float).to_numpy(), index=names)
    accuracy["SQuAD (TF)"] = float(cell(PAPER, "6", MEAN, "SQuAD Original A@1"))
    chosen = [name for name in means.index if name.endswith(f"({setting})")]
    return pd.DataFrame({"accuracy": accuracy.reindex(chosen), "perplexity": means[chosen]})


def template_based_correlation() -> tuple[bool, str]:
    """Figure 2, template-based: whether r and p follow from the four printed pairs of means, and from better ones."""
    points = dataset_means("TB").dropna()
    r, mended = (
        float(points["accuracy"].corr(perplexity))
        for perplexity in (points["perplexity"], table5().mean()[points.index])
    )
    printed, (fits, p) = cell(PAPER, "text", FIGURE["TB"], "Pearson's r", "Figure 2"), p_value("TB")
    text = (
        f"The printed means of {len(points)} data sets give r = {r:.3f}; printed is {printed} ({fit(r, printed)}). "
        f"With the means of the rows of Table 5, which are others for Biomed-Wikidata, it would be {mended:.3f}"
    )
    return fit(r, printed) != "neither" and fits, f"{text}. {p}"


@check("001-10c")
def template_free_correlation() -> Finding:
    """Figure 2, template-free: the text says negative, the caption prints a sign; what do the printed means allow?"""
    printed, (fits, p) = float(cell(PAPER, "text", FIGURE["TF"], "Pearson's r", "Figure 2")), p_value("TF")
    points = dataset_means("TF")
    complete = points.dropna()
    with_all = points.assign(perplexity=table5().mean()[points.index])
    r = complete["accuracy"].corr(complete["perplexity"])
    text = (
        f"The text says that perplexity falls as accuracy rises; the caption prints r = {printed:+.2f}. The "
        f"{len(complete)} data sets whose two means are in our copy give r = {r:.2f}; "
        f"{_needed(points, -abs(printed))} and {_needed(points, abs(printed))}. The printed mean of T-REX leaves out "
        f"BlueBert; with it no ConceptNet accuracy gives less than {_curve(with_all).min():.2f}."
    )
    return status(printed < 0 and fits), f"{text} {p}"


def _curve(points: pd.DataFrame) -> pd.Series:
    """r over all datasets for every ConceptNet Acc@1 from 0 to 1 (index), the one mean that our copy lacks."""
    grid = np.linspace(0, 1, 1001)
    printed = points["accuracy"].to_numpy()
    accuracy = np.where(np.isnan(printed), grid[:, None], printed)
    return pd.Series(np.corrcoef(np.vstack([accuracy, points["perplexity"]]))[-1, :-1], index=grid)


def _needed(points: pd.DataFrame, r: float) -> str:
    """The ConceptNet accuracy at which the correlation would be ``r``, in words."""
    away = (_curve(points) - r).abs()
    if away.min() > CLOSE:
        return f"no ConceptNet accuracy gives {r:+.2f}"
    return f"{r:+.2f} needs a mean ConceptNet Acc@1 of about {float(away.idxmin()):.2f}"


def p_value(setting: str) -> tuple[bool, str]:
    """Whether the printed p-value belongs to the printed r over the data sets of this setting (two-sided t test)."""
    r, p = (cell(PAPER, "text", FIGURE[setting], column, "Figure 2") for column in ("Pearson's r", "p-value"))
    datasets = sum(name.endswith(f"({setting})") for name in table5().columns)
    low, high = sorted(_p(edge, datasets) for edge in span(r))
    least, most = span(p)
    digits = f"{low:.3f} to {high:.3f} within its digits"
    text = f"r = {r} over {datasets} data sets has p = {_p(float(r), datasets):.3f} ({digits}), printed is {p}"
    return low < most and high >= least, f"{text}; at {LEVEL} it is {'not ' * (float(p) >= LEVEL)}significant."


def _p(r: float, n: int) -> float:
    return float(2 * stats.t.sf(abs(r) * np.sqrt((n - 2) / (1 - r * r)), n - 2))


# ---- the running text, and Table 2 for its counts -------------------------------------------------------------------

PARALLEL = ("Google-RE", "T-REx")
AGAIN = " (second, printed)"


@check("001-01c")
def largest_drop() -> Finding:
    """Abstract: 42% is a difference of percentage points; what is it as a share?"""
    free, based = (number("4", f"BERT-large on T-REx ({s})", "Acc@1") for s in ("TF", "TB"))
    claimed = number("Abstract", "largest drop from template-free to template-based", "Acc@1 (percent)")
    points, share = 100 * (free - based), 100 * (free - based) / free
    shares = "; ".join(f"the mean on {d} falls by {100 * (f - b) / f:.0f}%" for d, f, b in parallel_means())
    text = f"{show(free)} - {show(based)} is {points:.0f} points, or {share:.0f}% of the template-free score; {shares}"
    return status(round(points) == claimed), f"{text} of its template-free value."


def parallel_means() -> list[tuple[str, float, float]]:
    """Dataset, mean Acc@1 template-free, mean Acc@1 template-based, for the parallel datasets (section 4)."""
    score = partial(number, "4", column="Acc@1")
    return [(d, score(f"mean over models on {d} (TF)"), score(f"mean over models on {d} (TB)")) for d in PARALLEL]


@check("001-18a")
def template_free_scores_higher() -> Finding:
    """Sections 4 and 6: the mean Acc@1 is higher template-free on both parallel datasets."""
    means = parallel_means()
    text = "; ".join(f"{d} {show(f)} against {show(b)} ({f / b:.1f} times)" for d, f, b in means)
    return status(all(f > b for _, f, b in means)), f"Template-free against template-based: {text}."


@check("001-09a")
def template_scale() -> Finding:
    """Section 5.2 against section 3: a mean of scores of 0 and 1 lies between 0 and 1."""
    names = ("(born [MASK])", "was born in [MASK]", "died in [MASK]")
    scores = [number("5.2", f"template {name}, mean over models", "Acc@10") for name in names]
    acc1 = 100 * number("4", "mean over models on Google-RE (TB)", "Acc@1")
    outside = [show(score) for score in scores if not 0 <= score <= 1]
    text = f"Acc@k lies between 0 and 1; of {', '.join(map(show, scores))} outside it: {', '.join(outside) or 'none'}"
    mean = sum(scores) / len(scores)
    return status(not outside), f"{text}. Read as percent their mean is {mean:.1f}, beside {acc1:.1f} at Acc@1."


@check("001-19a")
def datasets() -> Finding:
    """Abstract: 10 datasets, 4 template-based and 6 template-free, as the columns of Table 5."""
    rows = ("template-based datasets", "template-free datasets", "probing datasets")
    claimed = [number("Abstract", row, "count") for row in rows]
    counts = [sum(name.endswith(f"({setting})") for name in table5().columns) for setting in ("TB", "TF")]
    text = f"Table 5 has {counts[0]} template-based and {counts[1]} template-free columns, {sum(counts)} together"
    return status(claimed == [*counts, sum(counts)]), f"{text}; the abstract says {' + '.join(map(show, claimed[:2]))}."


@check("001-19b")
def models() -> Finding:
    """Section 3.1: 7 generic, 6 fine-tuned and 3 biomedical models are the 16 of Table 5."""
    counts = published(PAPER, "2").query("column == 'category'")["value"].value_counts()
    names = {GENERIC: "generic English", TUNED: "biomedical fine-tuned", ONLY: "biomedical"}
    claimed = {key: number("3.1", f"{name} models", "count") for key, name in names.items()}
    total, rows = number("3.1", "language models evaluated", "count"), len(table5())
    text = ", ".join(f"{counts.get(key, 0)} {key}" for key in names)
    agree = all(counts.get(key, 0) == count for key, count in claimed.items())
    return status(agree and total == sum(claimed.values()) == rows), f"Table 2 marks {text}; Table 5 has {rows} rows."


@check("001-19c")
def models_named() -> Finding:
    """Table 2: does it name every model of Table 5 (all words of its name), and none of them twice?"""
    listed = published(PAPER, "2").query("column == 'category'")["row"]
    twice = listed[listed.str.endswith(AGAIN)].str.removesuffix(AGAIN).tolist()
    named = [set(re.split(r"[ -]", name)) for name in listed]
    absent = [
        str(name) for name in table5().index if not any(words.issuperset(re.split(r"[ -]", name)) for words in named)
    ]
    text = f"Table 2 names twice: {', '.join(twice) or 'none'}; of Table 5 it lacks: {', '.join(absent) or 'none'}"
    return status(not twice and not absent), f"{text}."


def parallel(named: tuple[str, str]) -> Finding:
    """Which datasets have a template-based and a template-free column in Table 5?"""
    columns = set(table5().columns)
    both = sorted(name[:-5] for name in columns if name.endswith("(TF)") and f"{name[:-5]} (TB)" in columns)
    text = f"Named: {' and '.join(named)}; in both settings in Table 5: {' and '.join(both)}."
    return status(both == sorted(named)), text


check("001-20a")(partial(parallel, ("Google-RE", "SQuAD")))
check("001-20b")(partial(parallel, ("Google-RE", "T-REX")))


# ---- LIPID (sections 3.2.2 and 3.2.3) -------------------------------------------------------------------------------


@check("001-15a")
def lipid_total() -> Finding:
    """Section 3.2.2: the two parts of LIPID make the whole."""
    sizes = [number("3.2.2", f"LIPID {kind} prompts", "prompts") for kind in ("chemical", "gene")]
    total = number("3.2.2", "LIPID template-free prompts", "prompts")
    return status(sum(sizes) == total), f"{sizes[0]:.0f} + {sizes[1]:.0f} = {sum(sizes):.0f}, printed is {total:.0f}."


@check("001-15f")
def lipid_means() -> Finding:
    """Sections 3.2.2, 3.2.3: prompts over entities is the mean frequency of an entity, for both parts."""
    texts, fits = [], []
    for kind in ("chemical", "gene"):
        prompts, entities = (number("3.2.2", f"LIPID {kind} {unit}", unit) for unit in ("prompts", "entities"))
        printed = cell(PAPER, "text", f"{kind} entity frequency", "mean", "3.2.3")
        fits.append(fit(prompts / entities, printed))
        texts.append(f"{prompts:.0f} / {entities:.0f} = {prompts / entities:.3f}, printed is {printed} ({fits[-1]})")
    return status("neither" not in fits), f"{'; '.join(texts)}."


@check("001-16c")
def unseen() -> Finding:
    """Section 3.2.3: no model has seen the abstracts. Does Table 2 say of every model what it has read?"""
    read = published(PAPER, "2").query("column == 'data'")
    unknown = ", ".join(read.loc[read["value"] == "N/A", "row"]) or "none"
    return "open", f"Models on whose training text Table 2 has no information: {unknown}."


# ---- Table 6: who leads, and whether size helps (sections 4 and 6) --------------------------------------------------

BIOMEDICAL = ["PubMedBERT", "Bioformer", "BioM-ELECTRA"]


@check("001-04a")
def mean_accuracies() -> Finding:
    """Do the two mean Acc@1 of the text follow from the rows of Table 6?"""
    fits, texts = [], []
    for name in (CTD, WIKIDATA):
        mean, printed = accuracies()[name].mean(), cell(PAPER, "text", f"mean over models on {name} (TB)", "Acc@1", "4")
        average = cell(PAPER, "6", MEAN, f"{name} Original A@1")
        fits.append(fit(mean, printed))
        texts.append(f"{name} {show(mean)} ({fits[-1]}), its Average row prints {average}, the text {printed}")
    where = f"Means of the {len(table6())} rows of Table 6: {'; '.join(texts)}"
    return "fails" if "neither" in fits else "open", f"{where}; the rows of LIPID are not in our copy."


def leaders(name: str, k: int = 1) -> list[str]:
    """The models of Table 6 on an unchanged data set, best first; equal ones by name."""
    return list(accuracies(k=k)[name].sort_index().sort_values(ascending=False, kind="stable").index)


def biomedical_order(name: str) -> Finding:
    """Do PubMedBERT, Bioformer and BioM-ELECTRA take the first three places, in this order?"""
    orders, last = {k: leaders(name, k) for k in KS}, BIOMEDICAL[-1]
    text = "; ".join(
        f"A@{k}: {', '.join(order[:3])} ({last} is number {order.index(last) + 1})" for k, order in orders.items()
    )
    return status(orders[1][:3] == BIOMEDICAL), f"First three on {name} in Table 6: {text}."


check("001-05a")(partial(biomedical_order, "CTD"))
check("001-05b")(partial(biomedical_order, "Biomed-Wikidata"))


@check("001-05d")
def biomedical_apart() -> Finding:
    """Does each of the three beat every other model on both template-based biomedical datasets?"""
    beaten = {}
    for name, k in ((name, k) for name in (CTD, WIKIDATA) for k in KS):
        scores = accuracies(k=k)[name].sort_index()
        beaten[f"{name} A@{k}"] = scores.index[scores >= scores[BIOMEDICAL].min()].difference(BIOMEDICAL)
    text = "; ".join(f"{column}: {', '.join(names) or 'none'}" for column, names in beaten.items())
    holds = not any(map(len, beaten.values()))
    return status(holds), f"Other models that reach the weakest of the three in Table 6: {text}."


@check("001-05e")
def lower_abroad() -> Finding:
    """Are generic models ahead on SQuAD, and the others on the two biomedical sets, by means?"""
    generic, scores = categories() == GENERIC, accuracies()
    lead = (scores[generic].mean() - scores[~generic].mean())[[SQUAD, CTD, WIKIDATA]]
    text = ", ".join(f"{show(round(gap, 4))} on {name}" for name, gap in lead.items())
    stands = bool(lead[SQUAD] > 0 and (lead[[CTD, WIKIDATA]] < 0).all())
    return on_squad_alone(stands, f"Generic models less the others in Table 6, means of A@1: {text}")


@check("001-06a")
def general_leaders() -> Finding:
    """SQuAD: BERT-large first, BERT-base or DistilBERT second."""
    (first, second), scores = leaders(SQUAD)[:2], accuracies()[SQUAD]
    text = f"SQuAD in Table 6: {first} {show(scores[first])}, then {second} {show(scores[second])}"
    return on_squad_alone(first == "BERT-large" and second in ("BERT-base", "DistilBERT"), text)


def on_squad_alone(stands: bool, text: str) -> Finding:
    """A sentence on each of several data sets fails by one of them, and is not borne out by one."""
    return "open" if stands else "fails", f"{text}; the sentence speaks of each set, and our copy has no other."


@check("001-06c")
def biomedical_on_general() -> Finding:
    """SQuAD: PubMedBERT sixth, Bioformer seventh or eighth; models that print alike may stand in either order."""
    least, most = (accuracies()[SQUAD].rank(ascending=False, method=method).astype(int) for method in ("min", "max"))
    texts, fits = [], []
    for model, places in (("PubMedBERT", {6}), ("Bioformer", {7, 8})):
        possible = set(range(least[model], most[model] + 1))
        texts.append(f"{model} has rank {' or '.join(map(str, sorted(possible)))}")
        fits.append(len(possible & places) / len(possible))
    text = f"SQuAD in Table 6: {', '.join(texts)}; no other set is in our copy."
    return "open" if 0 < min(fits) < 1 else status(min(fits) == 1), text


@check("001-06d")
def not_apart_on_general() -> Finding:
    """Do models tuned on biomedical text reach into those trained on it alone, on SQuAD? One set is enough to say so.

    Section 4 gives one of the three a rank on Google-RE (TB), so that most of those tuned must stand above it.
    """
    scores, tuned = accuracies()[SQUAD], categories() == TUNED
    weakest, best = scores[BIOMEDICAL].idxmin(), scores[tuned].idxmax()
    rank = int(cell(PAPER, "text", "biomedical model on Google-RE (TB), which one is unclear", "rank", "4"))
    above = int(tuned.sum()) - (len(scores) - rank)
    text = f"{weakest} {show(scores[weakest])}, the lowest of the three, below {best} {show(scores[best])}"
    return "holds" if scores[best] > scores[weakest] else "open", (
        f"SQuAD in Table 6: {text}; on Google-RE (TB) the text gives one of the three rank {rank} of {len(scores)}, at "
        f"least {above} of the {int(tuned.sum())} tuned models above it."
    )


@check("001-07j")
def rankings_of_two_sets() -> Finding:
    """Do CTD and Biomed-Wikidata rank the models otherwise than CTD with more candidates does?"""
    return borne_out(outcomes(ranking_tests()), "001-07j")


@check("001-08a")
def larger_is_better() -> Finding:
    """Template-free: is the larger model of each pair better on SQuAD, the one such dataset with printed rows?"""
    scores = {k: accuracies(k=k)[SQUAD] for k in KS}
    wins = {k: sum(scores[k][large] > scores[k][small] for small, large in PAIRS) for k in KS}
    text = ", ".join(f"{count} of {len(PAIRS)} pairs at A@{k}" for k, count in wins.items())
    return on_squad_alone(wins[1] == len(PAIRS), f"The larger model is better on SQuAD in {text}")


def base_is_better(name: str, small: str, large: str) -> Finding:
    """Template-based: does the smaller model of this pair beat the larger?"""
    both = {k: accuracies(k=k)[name][[small, large]].tolist() for k in KS}
    scores = ", ".join(f"A@{k} {show(first)} against {show(second)}" for k, (first, second) in both.items())
    text = f"{name} in Table 6, {small} against {large}: {scores}."
    if both[1][0] == both[1][1]:
        return "open", f"Equal at Acc@1 as printed. {text}"
    return status(both[1][0] > both[1][1]), text


check("001-08b")(partial(base_is_better, CTD, "ALBERT-base", "ALBERT-large"))
check("001-08c")(partial(base_is_better, WIKIDATA, "ALBERT-base", "ALBERT-large"))
check("001-08e")(partial(base_is_better, WIKIDATA, "BERT-base", "BERT-large"))


@check("001-08g")
def smaller_more_often() -> Finding:
    """Section 6: smaller models often win template-based, almost never template-free; no number is given."""
    counts = size_counts().groupby("setting")[["smaller_ahead", "comparisons"]].sum()
    wins = {style: f"{row['smaller_ahead']} of {row['comparisons']}" for style, row in counts.iterrows()}
    stands, text = borne_out(outcomes(size_tests()), "001-08g")
    return stands, f"The smaller model wins {wins['template']} template-based, {wins['natural']} template-free. {text}"


@check("001-08h")
def two_sentences_on_size() -> Finding:
    """Section 5.5: larger models generally perform better template-based; section 4: this is not the case there."""
    better = pick(by_size(), measure=ACCURACY, data=[f"{CTD} (TB)", f"{WIKIDATA} (TB)"])["better"]
    counts = f"the larger model wins {(better > 0).sum()} and loses {(better < 0).sum()}"
    stands, tested = borne_out(outcomes(size_tests()), "001-08h")
    text = f"Of {len(better)} comparisons in Table 6 {counts}; sections 4 and 5.5 cannot both be right."
    return stands, f"{text} {tested}"


@check("001-12a")
def smaller_is_surer() -> Finding:
    """Section 5.5: template-based, the smaller model often has the lower perplexity; no number is given."""
    (lower, pairs), (others, other_pairs) = smaller_is_lower("TB"), smaller_is_lower("TF")
    text = f"{len(lower)} of {pairs} base and large pairs ({'; '.join(lower)}), against {len(others)} of {other_pairs}"
    stands, tested = borne_out(outcomes(size_tests()), "001-08g")
    return stands, f"{text} template-free. {tested}"


@check("001-10a")
def perplexity_rises() -> Finding:
    """Figure 2, template-based: do r and p follow from the printed means, and does perplexity rise with accuracy?"""
    follows, text = template_based_correlation()
    stands, tested = borne_out(outcomes(perplexity_tests()), "001-10a")
    return stands if follows else "fails", f"{text} {tested}"


# ---- Table 6: more candidates (section 5.6), its means, its number of prompts ---------------------------------------

AROUND = 25  # sizes tried on each side of the claimed one


@check("001-13a")
def every_model_drops() -> Finding:
    """Section 5.6: is every accuracy of every model lower with the enlarged list?"""
    before, after = (
        pd.concat({f"{name} A@{k}": accuracies(state, k)[name] for name in SETS[::-1] for k in KS}, axis=1)
        for state in ("Original", "Modified")
    )
    equal, higher = before == after, int((after > before).to_numpy().sum())
    unmoved, first = equal.sum(), [name for name in equal if name.endswith(" A@1")]
    text = (
        f"Of {before.size} pairs of accuracies in Table 6, {int((after < before).to_numpy().sum())} fall, "
        f"{unmoved.sum()} print the same value "
        f"({', '.join(f'{column}: {n}' for column, n in unmoved.items() if n) or 'none'}) and "
        f"{higher} rise, to the printed digits. At Acc@1 {unmoved[first].sum()} of {before[first].size} are the same."
    )
    return "open" if unmoved.any() and not higher else status(not higher), text


@check("001-13e")
def squad_suffers_most() -> Finding:
    """Section 5.6: do models lose more of their accuracy on SQuAD? What *relatively low* means is not said."""
    printed, falls = numbers(PAPER, "6").loc[MEAN], []
    for k in KS:
        shares = {name: 1 - printed[f"{name} Modified A@{k}"] / printed[f"{name} Original A@{k}"] for name in SETS}
        falls.append(f"A@{k}: {', '.join(f'{name} {share:.0%}' for name, share in reversed(shares.items()))}")
    stands, text = borne_out(outcomes(candidate_tests()), "001-13e")
    return stands, f"Fall of the printed means, {'; '.join(falls)}. {text}"


@check("001-13f")
def average_row() -> Finding:
    """Table 6: are its means the means of its rows, rounded or cut?"""
    table = table6()
    fits = {name: fit(table[name].mean(), cell(PAPER, "6", MEAN, name)) for name in table.columns}
    cut = sum(_two_digits(table[name].mean(), ROUND_DOWN) == Decimal(cell(PAPER, "6", MEAN, name)) for name in fits)
    rounded = list(fits.values()).count("rounded")
    text = f"Of {len(fits)} printed means {rounded} follow by rounding and {cut} by cutting after the second digit"
    return status("neither" not in fits.values()), f"{text}; {list(fits.values()).count('neither')} by neither."


@check("001-13g")
def union_of_lists() -> Finding:
    """Section 5.6: can 4514 be the union of the Biomed-Wikidata and CTD entities?"""
    wiki, ctd = (int(cell(PAPER, "text", f"{d}, original", "entities", "5.6")) for d in (WIKIDATA, CTD))
    both = [int(cell(PAPER, "text", f"{d}, enlarged", "entities", "5.6")) for d in (WIKIDATA, CTD)]
    possible = both[0] == both[1] and max(wiki, ctd) <= both[0] <= wiki + ctd
    text = (
        f"{wiki} + {ctd} = {wiki + ctd}; printed for either, enlarged, are {both[0]} and {both[1]}: "
        f"{wiki + ctd - both[0]} entities in common"
    )
    return status(possible), f"{text}."


@check("001-17h")
def squad_prompts() -> Finding:
    """Can every SQuAD accuracy of Table 6 be a share of the stated number of prompts, printed with two digits?"""
    stated = int(cell(PAPER, "text", "SQuAD template-free prompts", "prompts", "3.2.2"))
    frame = published(PAPER, "6")
    squad = frame[frame["column"].str.startswith("SQuAD") & (frame["row"] != MEAN)]
    values = [Decimal(value) for value in squad["value"]]
    ways = {"rounded": ROUND_HALF_UP, "cut": ROUND_DOWN}
    misfits = {way: sum(value not in _shares(stated, mode) for value in values) for way, mode in ways.items()}
    fitting = [
        f"{size} ({way})"
        for size in range(max(1, stated - AROUND), stated + AROUND + 1)
        for way, mode in ways.items()
        if _shares(size, mode).issuperset(values)
    ]
    text = (
        f"Of the {len(values)} SQuAD accuracies of Table 6 {misfits['rounded']} cannot be shares of {stated} prompts "
        f"if rounded, {misfits['cut']} if cut. Numbers of prompts within {AROUND} of {stated} "
        f"that all of them fit: {', '.join(fitting) or 'none'}."
    )
    return status(not all(misfits.values())), text


def _shares(size: int, mode: str) -> set[Decimal]:
    """Every share of ``size`` prompts, to two significant digits."""
    return {_two_digits(Decimal(right) / size, mode) for right in range(size + 1)}


def _two_digits(value: float | Decimal, mode: str) -> Decimal:
    exact = value if isinstance(value, Decimal) else Decimal(str(round(value, 12)))
    return Context(prec=2, rounding=mode).create_decimal(exact)


def tables() -> dict[str, pd.DataFrame]:
    """The page's tables, computed from the printed ones alone."""
    return {
        "tests": tests(),
        "kinds": kinds(),
        "alike": column_pairs().drop(columns=["x", "y"]),
        "size": by_size(),
        "kept": retained().rename_axis("model").reset_index(),
        "categories": accuracies().assign(category=categories()).rename_axis("model").reset_index(),
    }


# ---- the printed tables ---------------------------------------------------------------------------------------------


def accuracies(state: str = "Original", k: int = 1) -> pd.DataFrame:
    """Acc@k of Table 6, one row per model, one column per data set."""
    table = table6()
    return pd.DataFrame({name: table[f"{name} {state} A@{k}"] for name in SETS})


def retained() -> pd.DataFrame:
    """Acc@1 with the enlarged list of entities as a share of that with the own list."""
    return accuracies("Modified") / accuracies()


def categories() -> pd.Series:
    """Table 2's category of every model of Table 6; its second ALBERT-base is ALBERT-large."""
    printed = published(PAPER, "2").query("column == 'category'").set_index("row")["value"]
    return printed.rename(index=NAMES).reindex(table6().index)


def lineages() -> list[str]:
    """Every model's lineage, in the order of Table 6; a model without kin is one of its own."""
    kin = {name: lineage for lineage, names in LINEAGES.items() for name in names}
    return [kin.get(name, name) for name in table6().index]


def biomedical(column: str) -> bool:
    """Whether a data set is of that domain."""
    return column.startswith(OF_BIOMEDICINE)


def template(column: str) -> bool:
    """Whether a column of Table 5 is of a template-based data set."""
    return column.endswith("(TB)")


# ---- how alike two columns rank the models --------------------------------------------------------------------------


def column_pairs() -> pd.DataFrame:
    """Every pair of columns that is compared: ``kind, measure, first, second, tau``; its numbers are ``x``, ``y``."""
    original, modified, perplexity = accuracies(), accuracies("Modified"), table5()
    rows = [(CANDIDATES, ACCURACY, s, f"{s}, enlarged", original[s], modified[s]) for s in SETS]
    for first, second in combinations(SETS, 2):
        kind = ALIKE if biomedical(first) and biomedical(second) else BOTH  # SQuAD is the one of other style and domain
        rows.append((kind, ACCURACY, first, second, original[first], original[second]))
    for first, second in combinations(perplexity, 2):
        rows.append((_kind(first, second), UNSURE, first, second, perplexity[first], perplexity[second]))
    pairs = pd.DataFrame(rows, columns=["kind", "measure", "first", "second", "x", "y"])
    return pairs.assign(tau=[float(tau_b(x, y)) for x, y in zip(pairs["x"], pairs["y"], strict=True)])


def _kind(first: str, second: str) -> str:
    domain, style = biomedical(first) == biomedical(second), template(first) == template(second)
    if first[:-5] == second[:-5]:
        return FACTS
    return (ALIKE if style else STYLE) if domain else (DOMAIN if style else BOTH)


def kinds() -> pd.DataFrame:
    """Table ``kinds``: the mean tau-b over the pairs of a kind, with its interval over models."""
    pairs, rows = column_pairs(), []
    for kind, measure in ((kind, measure) for kind in ORDER for measure in MEASURES):
        group = pick(pairs, kind=kind, measure=measure)
        if len(group):
            low, high, _ = interval(redrawn(mean_tau(group), len(table6())), len(table6()))
            row = {"kind": kind, "measure": measure, "pairs": len(group), "tau": group["tau"].mean()}
            rows.append(row | {"tau_low": low, "tau_high": high})
    return pd.DataFrame(rows)


def mean_tau(rows: pd.DataFrame) -> Callable[[np.ndarray], float]:
    """The mean tau-b of pairs of columns as a function of the models drawn."""
    x, y = (np.stack(rows[name].to_list()) for name in ("x", "y"))
    return lambda drawn: float(tau_b(x[:, drawn], y[:, drawn]).mean())


# ---- tests ----------------------------------------------------------------------------------------------------------


def tests() -> pd.DataFrame:
    """All tests of the page (see ``probekit.report.tested``)."""
    return outcomes([*ranking_tests(), *_group_tests(), *perplexity_tests(), *size_tests(), *candidate_tests()])


def ranking_tests() -> list[Row]:
    """Whether rankings change with the data set, the style, the domain."""
    pairs = column_pairs()
    two, control = (
        mean_tau(pick(pairs, measure=ACCURACY, first=CTD, second=second)) for second in (WIKIDATA, f"{CTD}, enlarged")
    )
    change = drawn_together(lambda drawn: two(drawn) - control(drawn), lineages())
    sentence = "Rankings change between CTD and Biomed-Wikidata"
    less = "tau of the two, less tau of CTD with and without more candidates"
    names = list(table5().columns)
    style, domain = ([label(name) for name in names] for label in (template, biomedical))
    what = "tau by perplexity, two sets of one {0} less of two {0}s, within a {1}"
    return [
        ("001-07j", sentence, less, "lineage", "below", change),
        ("001-07g", "Rankings change with the style", what.format("style", "domain"), *_labelled(style, domain)),
        ("", f"{HERE}rankings change with the domain", what.format("domain", "style"), *_labelled(domain, style)),
    ]


def _labelled(labels: Sequence[bool], strata: Sequence[bool]) -> tuple[str, str, Tested]:
    """How much more alike than others, by perplexity, sets of one label rank the models, within a stratum."""
    taus, stratum = table5().corr("kendall").to_numpy(), np.array(strata)
    i, j = np.triu_indices(len(taus), 1)
    within = stratum[i] == stratum[j]

    def gap(given: np.ndarray) -> float:
        same = given[i] == given[j]
        return float(taus[i, j][within & same].mean() - taus[i, j][within & ~same].mean())

    return "data set", "above", _relabelled(gap, labels, strata)


def _relabelled(gap: Callable[[np.ndarray], float], labels: Sequence[bool], strata: Sequence[bool]) -> Tested:
    """A difference between labels of data sets, tested by giving the labels to others of a stratum."""
    p, least = relabelled(gap, labels, strata)
    return Tested(gap(np.array(labels)), np.nan, np.nan, p, least, len(labels))


def _group_tests() -> list[Row]:
    ranks, kinds = accuracies().rank(ascending=False), categories()
    rows: list[Row] = []
    for name in SETS[:2]:
        test = apart(ranks.loc[kinds != ONLY, name], ranks.loc[kinds == ONLY, name])
        sentence = f"{HERE}models of biomedical text alone have a better mean rank than the others"
        rows.append(("", sentence, f"{name}: rank of the others, minus that of the three", "model", "above", test))
    for name, side in zip(SETS, ("above", "above", "below"), strict=True):
        test = apart(ranks.loc[kinds == GENERIC, name], ranks.loc[kinds == TUNED, name])
        more = "less of general text" if name == SQUAD else "more of biomedicine"
        sentence = f"{HERE}models tuned on biomedicine know {more} than generic ones"
        rows.append(("", sentence, f"{name}: rank of the generic, less of the tuned models", "model", side, test))
    return rows


def perplexity_tests() -> list[Row]:
    """Whether accuracy and perplexity go together, over data sets as in Figure 2 and over models."""
    points, scores, perplexity = dataset_means("TB"), accuracies(), table5()
    rises, falls = "Template-based, perplexity rises with accuracy", "Template-free, perplexity falls as accuracy rises"
    means, what = associated(points["accuracy"], points["perplexity"], "pearson"), "r of the means of four data sets"
    rows: list[Row] = [("001-10a", rises, f"{what}, as in Figure 2", "data set", "above", means)]
    for name in SETS:
        based = template(PERPLEXITY[name])
        claim, sentence, side = ("001-10a", rises, "above") if based else ("001-10c", falls, "below")
        test = associated(scores[name], perplexity[PERPLEXITY[name]], lineages=lineages())
        rows.append((claim, sentence, f"{name}: tau over models", "lineage", side, test))
    return rows


def by_size(perplexity: pd.DataFrame | None = None) -> pd.DataFrame:
    """Table ``size``: per pair and data set ``measure, larger, data, change, better`` (1 where the larger model is),
    of Table 5 or of perplexities in its form."""
    table, rows = table5() if perplexity is None else perplexity, []
    scores = accuracies().rename(columns=lambda name: f"{name} ({'TF' if name == SQUAD else 'TB'})")
    for small, large in PAIRS:
        for measure, gaps in (
            (ACCURACY, scores.loc[large] - scores.loc[small]),
            (UNSURE, np.log(table.loc[large] / table.loc[small])),
        ):
            better = np.sign(gaps) * (1 if measure == ACCURACY else -1)
            rows += [(measure, large, *cells) for cells in zip(gaps.index, gaps, better, strict=True)]
    return pd.DataFrame(rows, columns=["measure", "larger", "data", "change", "better"])


def size_tests() -> list[Row]:
    """Whether the larger model of a pair is better, by accuracy and by perplexity."""
    table = by_size().assign(style=lambda rows: rows["data"].str[-3:-1])
    rows: list[Row] = []
    for style, claim, says in (
        ("TF", "001-08a", "Template-free, the larger model of a pair is better"),
        ("TB", "001-08h", "Template-based, larger models generally perform better (5.5), which is not the case (4)"),
    ):
        group = pick(table, style=style, measure=ACCURACY)
        wins = group.groupby("larger")["better"].mean()
        sets = ", ".join(dict.fromkeys(group["data"].str[:-5]))
        rows.append((claim, says, f"{sets}: wins less losses in Acc@1", "pair", "above", paired(wins)))
    ratios, mended = pick(table, measure=UNSURE), pick(by_size(mended_table5()), measure=UNSURE)
    what = "log ratio of perplexities, large to small: template-based minus template-free, within a domain"
    often = "Smaller models often win in perplexity template-based, hardly ever template-free"
    if_mended = f"{HERE}the same, if ALBERT-base has on Biomed-Wikidata what the printed mean needs"
    without = f"{HERE}the same without the pair of ALBERT"
    for statement, compared, group in (
        (often, what, ratios),
        (if_mended, "the same, ALBERT-base on Biomed-Wikidata mended", mended),
        (without, "the same, without ALBERT", ratios[ratios["larger"] != "ALBERT-large"]),
    ):
        rows.append(("001-08g", statement, compared, "data set", "above", _style_of_size(group)))
    return rows


def mended_table5() -> pd.DataFrame:
    """Table 5 with the value of ALBERT-base on Biomed-Wikidata, printed as that of RoBERTa-large, at which the printed
    mean of the column would hold."""
    table, column = table5(), PERPLEXITY[WIKIDATA]
    mean = float(cell(PAPER, "5", MEAN, column))
    table.loc["ALBERT-base", column] = mean * len(table) - table[column].drop("ALBERT-base").sum()
    return table


def _style_of_size(ratios: pd.DataFrame) -> Tested:
    """The mean change of perplexity from the smaller to the larger model, template-based minus template-free."""
    means = ratios.groupby("data", sort=False)["change"].mean()
    style, domain = ([label(str(name)) for name in means.index] for label in (template, biomedical))
    change, strata = means.to_numpy(), np.array(domain)

    def gap(given: np.ndarray) -> float:
        sides = [strata == side for side in (False, True)]
        return float(np.mean([change[side & given].mean() - change[side & ~given].mean() for side in sides]))

    return _relabelled(gap, style, domain)


def candidate_tests() -> list[Row]:
    """Whether accuracy falls with more candidates, and where most."""
    share = retained()
    drops, most = "With more candidates accuracy drops", "The effect of more candidates is greatest on SQuAD"
    four, others = share.loc[[*BYTES], SQUAD], share.drop(index=[*BYTES])[SQUAD]
    what = "share of Acc@1 kept"
    rows: list[Row] = [
        ("001-13a", drops, f"{name}: {what}, less one", "lineage", "below", paired(share[name] - 1, lineages()))
        for name in SETS
    ]
    for name in (CTD, WIKIDATA):
        less = paired(share[SQUAD] - share[name], lineages())
        rows.append(("001-13e", most, f"{what}: SQuAD less {name}", "lineage", "below", less))
    sentence = f"{HERE}the four RoBERTa models lose most"
    rows.append(("", sentence, f"SQuAD, {what}: those four minus the others", "model", "below", apart(four, others)))
    return rows


def conclusions(tables: Tables) -> pd.DataFrame:
    """The tests that bear on a claim, one row each; none of them runs a model."""
    return on_claims(tables["tests"])
