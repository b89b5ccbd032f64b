"""What the pages of study 3 say in words: their answers, and sentences about their tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from probekit.metrics.decisions import FEWEST, enough
from probekit.probes.rationales import DIMENSIONS, PERTURBATIONS
from probekit.report.page import Page
from probekit.report.tables import by, pick
from probekit.report.text import number, shown_name, title

from notebooks.rationales import erasure, paper, perturbations, rationale_length, saliency
from notebooks.rationales.ask import ATTENTION, DEMO, GRADIENTS, OF_GOLD, ORACLE, RANDOM, RANDOM_WEIGHTS, TRAINED
from notebooks.rationales.beside import demo_readers, like_the_paper
from notebooks.rationales.paper import ALL, FEW, LANGUAGES
from notebooks.rationales.prediction import ECHO, RIGHT
from notebooks.rationales.saliency import F1, MAP

Tables = Mapping[str, pd.DataFrame]
TABLES = {"en": "8 to 11", "zh": "4 to 7"}
STAYS = {
    "dispensable": "dispensable words change",
    "important": "important words do",
    "transformation": "the form does",
}
FOLLOWED = {
    "predicted": "the prediction's probability",
    "gold": "the gold's probability",
    "contrast": "the gold's log-probability less that of its foil",
}
LEGEND = (
    "Each line says what the model fills in and what is right. A word that weighs more has a thicker line below it and "
    "a darker ground; a dotted line is weight against what is explained. Small numbers count the words of the "
    "predicted rationale, best first, and marked words are bold."
)


# ---- of every page --------------------------------------------------------------------------------------------------


def invented(page: Page) -> str:
    """What a page says of sets of the demo world and of models that read it alone; empty without such, and on a page
    of the demo world, whose banner says it."""
    if page.demo:
        return ""
    sets = [title(name) for name in (page.past or page.manifest)["probes"] if name.startswith(DEMO)]
    readers = [title(name) for name in demo_readers(page)]
    sentences = [f"The facts of {' and '.join(sets)} are invented."] if sets else []
    sentences += (
        [f"{' and '.join(readers)} has read invented text alone: its results show the method, not a real model."]
        if readers
        else []
    )
    return " ".join([*sentences, "Such results stand beside no paper's."]) if sentences else ""


def not_judged(page: Page) -> str:
    """Which of the paper's languages no model of the run was asked in, and why; empty on a page of the demo world."""
    run = page.past or page.manifest
    given = {"en": run["parameters"].get("models"), "zh": run["parameters"].get("chinese")}
    lacking = [language for language in LANGUAGES if not given[language]]
    if page.demo or not lacking:
        return ""
    return " ".join(
        f"What the paper says of {LANGUAGES[language]} (Tables {TABLES[language]}) is not "
        f"judged: this run had no {LANGUAGES[language]} model. The one of the demo world has read invented text alone, "
        "and so speaks for nothing here."
        for language in lacking
    )


def listed(models: Sequence[str], every: Sequence[str]) -> str:
    """Those of ``every`` model for whom something holds, as a sentence names them."""
    chosen = [title(name) for name in every if name in models]
    if len(every) > 1 and len(chosen) == len(every):
        return "both models" if len(every) == 2 else f"all {len(every)} models"
    if len(chosen) > 3:
        return f"{len(chosen)} of {len(every)} models"
    return " and ".join(chosen) or "no model"


def _and(parts: list[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def other_kinds(page: Page) -> str:
    """How models that are no masked ones are asked, and explained where the page explains; empty without such."""
    run = page.past or page.manifest
    explained = "methods" in run["parameters"]
    names = [shown_name(name) for list_ in ("models", "chinese") for name in run["parameters"].get(list_) or []]
    kinds = {name: run["models"].get(name, {}).get("kind") for name in names}
    causal, writing = (_and([title(name) for name in kinds if kinds[name] == kind]) for kind in ("causal", "seq2seq"))
    sentences = []
    if causal:
        sentences.append(
            f"A causal model ({causal}) fills a slot at the end of a text by its own next tokens. Where words follow, "
            "in any version of a record, it takes the likeliest statement among the answers of the set."
            + " There, a probability is that of one answer against the best other one. Its words are only deleted, for "
            "want of a mask, and its attention sees only what stands before the slot." * explained
        )
    if writing:
        sentences.append(
            f"A sequence-to-sequence model ({writing}) writes its own tokens into the slot"
            + (", and the words that its encoder reads are scored." if explained else ".")
        )
    return " ".join(sentences)


def followed(page: Page) -> str:
    """What is explained and erased on the page."""
    return FOLLOWED[(page.past or page.manifest)["parameters"].get("target", "predicted")]


# ---- page 30 --------------------------------------------------------------------------------------------------------


def answer_prediction(tables: Tables, dataset: str) -> str:
    """How many of a hundred slots each model fills rightly at first, in which dimension most, and where never."""
    rows = pick(tables["accuracy"], dataset=dataset, part=ALL, top=1)
    rows, few = enough(rows, "records", f"records of {title(dataset)}")
    if few:
        return few
    whole, each = pick(rows, dimension=ALL), rows[rows["dimension"] != ALL]
    models = list(whole["model"])
    shares = [
        f"{100 * row['estimate']:.0f}{' of 100 slots' * (not place)} for {title(row['model'])}"
        for place, row in enumerate(whole.to_dict("records"))
    ]
    if len(models) > 3:
        low, high = 100 * whole["estimate"].min(), 100 * whole["estimate"].max()
        shares = [f"{low:.0f} to {high:.0f} of 100 slots, model by model"]
    sentence = f"{title(dataset)}: the first filling is right in {' and '.join(shares)}"
    chose = pick(tables["ways"], dataset=dataset)["model"].unique() if len(tables["ways"]) else ()
    if len(chose):
        sentence += f" (for {_and([*map(title, chose)])} in a choice among the answers of the set, which is easier)"
    if each.empty:
        return f"{sentence}."
    tops = each.loc[each.groupby("model", sort=False)["estimate"].idxmax()]
    tops = tops[tops["estimate"] > 0]
    never = [str(name) for name, group in each.groupby("dimension", sort=False) if (group["estimate"] == 0).all()]
    if tops.empty:
        return f"{sentence}."
    best = tops["dimension"].mode().iloc[0]
    whose = f" (by {listed(list(pick(tops, dimension=best)['model']), models)})" * (len(models) > 1)
    return f"{sentence}, most often in {best}{whose}" + (f" and never in {' or '.join(never)}." if never else ".")


def echoes(tables: Tables, dataset: str) -> str:
    """How many of the wrong first fillings repeat a word of the text."""
    rows = pick(tables["outcomes"], dataset=dataset, dimension=ALL)
    parts = []
    for labels, group in by(rows, ["model"]):
        share = group.set_index("outcome")["estimate"]
        wrong = 1 - share[RIGHT]
        if round(wrong * group["records"].max()) >= FEWEST:
            parts.append(f"{100 * share[ECHO] / wrong:.0f} of 100 for {title(labels['model'])}")
    shares = " and ".join(parts)
    return f"Of the wrong first fillings {shares} only repeat a word of the text." if shares else ""


def ways(tables: Tables) -> str:
    """Of each causal model, how many records it answers by a choice among answers or by its own tokens, and the share
    of each that is right."""
    sentences = []
    for labels, group in by(tables["ways"], ["dataset", "model"]) if len(tables["ways"]) else ():
        how = [f"a choice among {count} answers" if count else "its next tokens" for count in group["among"]]
        counts = zip(group["records"], how, group["estimate"], strict=True)
        parts = [f"{records} by {way} ({100 * share:.0f} of 100 right)" for records, way, share in counts]
        sentences.append(f"{title(labels['model'])} fills slots of {title(labels['dataset'])} so: {_and(parts)}.")
    return " ".join([*sentences, "A choice among few answers is easier than one among all words."] if sentences else [])


def unspelled(tables: Tables) -> str:
    """Of which sets a model's vocabulary cannot spell some golds, so that these records cannot be answered."""
    rows = pick(tables["accuracy"], part=ALL, dimension=ALL, top=1)
    cases = [
        f"{title(row['model'])} on {title(row['dataset'])} {100 * row['unknown']:.0f} of 100"
        for row in rows[rows["unknown"] > 0].to_dict("records")
    ]
    if not cases:
        return "Each model's vocabulary can spell a gold of every record that it was asked."
    return f"Records no gold of which a model's vocabulary can spell cannot be answered: {'; '.join(cases)}."


# ---- page 31 --------------------------------------------------------------------------------------------------------


def answer_saliency(tables: Tables, dataset: str) -> str:
    """How far the words that attention weighs most are the marked ones, beside chance, and whether a prediction loses
    more without the marked words than without others."""
    cells = pick(tables["interpretability"], dataset=dataset, dimension=ALL, metric=F1)
    cells, few = enough(cells, "n", f"records of {title(dataset)}")
    if few:
        return few
    rows, chance = pick(cells, method=ATTENTION, weights=TRAINED), pick(cells, method=RANDOM)["estimate"].iloc[0]
    shares = [f"{number(row['estimate'], 2)} for {title(row['model'])}" for row in rows.to_dict("records")]
    if len(shares) > 2:
        shares = [f"{number(rows['estimate'].min(), 2)} to {number(rows['estimate'].max(), 2)}, model by model"]
    unsure = rows[rows["low"] <= chance]["model"]
    beside = f", and {' and '.join(map(title, unsure))} may do no better" if len(unsure) else ""
    text = (
        f"{title(dataset)}: the words that attention weighs most match the marked words with an F1 of "
        f"{' and '.join(shares)}; chance reaches {number(chance, 2)}{beside}."
    )
    return f"{text} {without_marked(tables, dataset)}".strip()


def without_marked(tables: Tables, dataset: str) -> str:
    """What a prediction loses without the words that people marked, and without as many at random; for how many models
    the one is shown to be more."""
    chosen = {"dataset": dataset, "erased": "deleted", "share": erasure.AS_MARKED, "measure": erasure.COMPREHENSIVENESS}
    gaps = pick(tables["erased"], **chosen, method=ORACLE, against=RANDOM)
    parts = []
    for labels, rows in by(pick(tables["erasure"], **chosen), ["model"]):
        at = rows.set_index("method")["estimate"]
        parts.append(f"{number(at[ORACLE], 3)} and {number(at[RANDOM], 3)} for {title(labels['model'])}")
    more = int((gaps["low"] > 0).sum())
    return (
        "Of its probability a prediction loses, without the marked words and without as many at random, "
        f"{'; '.join(parts)}: the 95% interval of the difference lies above zero for {more or 'none'} of {len(gaps)} "
        "models."
        if parts
        else ""
    )


def readings(tables: Tables, dataset: str) -> str:
    """For how many models attention has a higher MAP than integrated gradients, and for how many erasure finds it less
    faithful; and whether attention has the higher MAP without anything learned."""
    gaps = pick(tables["contrasts"], dataset=dataset, dimension=ALL, claim=saliency.BETTER, metric=MAP)
    if gaps.empty or tables["erased"].empty:
        return ""
    means = pick(tables["interpretability"], dataset=dataset, dimension=ALL, metric=MAP, weights=RANDOM_WEIGHTS)
    at = means.groupby("method")["estimate"].mean()
    untaught = "more" in erasure.by_map(gaps) and bool(at.get(ATTENTION, 0.0) > at.get(GRADIENTS, 1.0))
    note = " On random weights attention has the higher MAP too, so that this shows nothing of faithfulness." * untaught
    return erasure.counted(tables["erased"], gaps, dataset) + note


def above_controls(tables: Tables) -> str:
    """Of each set of the paper's kind, how many trained models are above random scores, and
    above their own network with random weights where it was asked, in F1 and by each method that explains no gold."""
    rows = pick(tables["contrasts"], metric=F1, dimension=ALL)
    rows = rows[rows["dataset"].map(like_the_paper) & ~rows["method"].str.endswith(OF_GOLD)]
    sentences = []
    for labels, subset in by(rows, ["dataset"]):
        clauses = []
        for claim, what in (
            (saliency.LEARNED, "random scores"),
            (saliency.SENSIBLE, "the same network with random weights"),
        ):
            counts = [
                f"{method['method']} {int((group['low'] > 0).sum())} of {len(group)}"
                for method, group in by(pick(subset, claim=claim), ["method"])
            ]
            clauses += [f"{what} for this many models: {', '.join(counts)}"] if counts else []
        name = title(str(labels["dataset"]))
        cells = pick(tables["interpretability"], dataset=labels["dataset"], dimension=ALL, metric=F1)
        few = enough(cells, "n", f"records of {name}")[1]
        sentences.append(few or f"On {name}, the 95% interval of F1 lies above {'; above '.join(clauses)}.")
    return " ".join(sentences)


def exactness(tables: Tables) -> str:
    """How near integrated gradients come to completeness."""
    rows = pick(tables["completeness"], weights=TRAINED)
    if rows.empty:
        return ""
    under, (low, high) = int((rows["median"] < saliency.BOUND).sum()), rows["below_1"].agg(["min", "max"])
    share = f"is {low:.0%}" if low == high else f"goes from {low:.0%} to {high:.0%}"
    return (
        f"The median completeness error is under 1% in {under or 'none'} of {len(rows)} cases of a model on a set; "
        f"the share of records under 1% {share}."
    )


# ---- page 32 --------------------------------------------------------------------------------------------------------


def answer_length(tables: Tables, dataset: str) -> str:
    """Which share of the oracle's lead over random words in F1 the attention of each model has, for short lists and for
    longer ones; without marked words, how far MAP of attention lies above that of random scores."""
    every, few = enough(pick(tables["lengths"], dataset=dataset), "n", f"records of {title(dataset)}")
    if few:
        return few
    models = [name for name in every["model"].unique() if name]
    metric = F1 if len(pick(every, metric=F1, method=ORACLE)) else MAP
    shares = []
    for model in models:
        curves = rationale_length.of_model(every, dataset, model)
        short, half = (number(_lead(curves, metric, ratio), 2) for ratio in (0.1, 0.5))
        shares.append(f"{short} at a tenth of the words and {half} at half of them for {title(model)}")
    if metric == F1:
        begin = "Of the lead in F1 that the marked words themselves have over random words, attention has a share of "
    else:
        begin = "MAP of attention lies above that of random scores by "
    return f"{begin}{'; '.join(shares)} ({title(dataset)})."


def spoken(curves: pd.DataFrame) -> str:
    """The figure in words."""
    texts = []
    for metric in (F1, MAP):
        for method in rationale_length.LINES:
            values = [number(rationale_length.at(curves, metric, method, ratio), 2) for ratio in (0.1, 0.5, 1.0)]
            texts.append(f"{metric} of {method} {', '.join(values)}")
    return (
        f"Line charts by dimension. {rationale_length.summary(curves)} at shares 0.1, 0.5 and 1.0: {'; '.join(texts)}."
    )


def _lead(curves: pd.DataFrame, metric: str, ratio: float) -> float:
    """What attention lies above random scores: in F1 as a share of what the oracle does."""
    lead, bound = (rationale_length.at(curves, metric, method, ratio, "above") for method in (ATTENTION, ORACLE))
    if metric != F1:
        return lead
    return lead / bound if bound > 0 else float("nan")


# ---- page 33 --------------------------------------------------------------------------------------------------------


def answer_perturbations(tables: Tables, first: str) -> str:
    """What a model fills in where the text denies what it filled in rightly, and whether a misleading word lowers
    accuracy, where the run has such sets; else how often the first filling stays under the paper's kinds; and whether
    these move the accuracy of any model on the set ``first``."""
    usual = pick(perturbations.pooled(tables["accuracy"]), top=1, dataset=first)
    rows = perturbations.contrasts(tables)
    _, few = enough(pd.concat([usual, rows]), "pairs", "pairs of records")
    if few:
        return few
    usual, rows = (enough(table, "pairs", "pairs")[0] for table in (usual, rows))
    if len(rows):
        text = _denied_again(rows)
        if len(primed := pick(rows, perturbation="misprimed")):
            fewer, more = (int(side.sum()) for side in (primed["change_high"] < 0, primed["change_low"] > 0))
            text += f"A misleading word lowers accuracy in {fewer or 'none'}"
            text += f", and raises it in {more}," * bool(more) + f" of {len(primed)} pairs of model and data set. "
    else:
        dataset, model = usual.iloc[0][["dataset", "model"]]
        shares = pick(usual, dataset=dataset, model=model).set_index("perturbation")["same"]
        facts = [f"{100 * shares[kind]:.0f} when {STAYS[kind]}" for kind in PERTURBATIONS if kind in shares]
        text = f"On {title(str(dataset))}, {title(str(model))} keeps of 100 first fillings {', '.join(facts)}. "
    moved = usual[(usual["change_low"] > 0) | (usual["change_high"] < 0)]
    ends = usual[["change_low", "change_high"]].abs().max(axis=None)
    reach = f", whose 95% intervals reach changes of up to {100 * ends:.0f} points" * bool(ends == ends)
    cases = f"{len(moved) or 'none'} of {len(usual)} cases ({title(first)}){reach}"
    return f"{text}The kinds of change that the paper makes move accuracy in {cases}."


def replaced(tables: Tables, dataset: str) -> str:
    """PCC of attention under important changes over all pairs, by how replaced words are aligned."""
    rows = pick(perturbations.pooled(tables["reasons"]), dataset=dataset, method=ATTENTION, perturbation="important")
    parts = [
        f"{number(row['pcc_all'], 2)} and {number(row['pcc_apart'], 2)} for {title(row['model'])}"
        for row in rows[rows["pairs"] >= FEW].to_dict("records")
    ]
    return (
        "PCC hangs on what stands for a replaced word. Of attention under important changes, over all pairs, it is "
        f"with the new word in its place and with neither standing for the other: {'; '.join(parts)}."
        if parts
        else ""
    )


def _denied_again(rows: pd.DataFrame) -> str:
    """Of what a model fills in rightly, how much it fills in again where it is denied; of the case with most."""
    rows = rows[[perturbations.denied(row) for row in rows.to_dict("records")]]
    rows = rows[rows["right"] >= FEW]
    if rows.empty:
        return ""
    row = rows.loc[rows["right"].idxmax()]
    facts = f"{row['right']} primed facts of {title(row['dataset']).removesuffix(', primed')}"
    return (
        f"Of {facts} that {title(row['model'])} fills in rightly, it fills in {row['right'] * row['again']:.0f} again "
        "where the text denies them. "
    )


# ---- page 39 --------------------------------------------------------------------------------------------------------


def answer_own_tables(tables: Tables) -> str:
    """What the length of rationales does to F1, and to F1 above random words."""
    mean = tables["length"][["F1", "room"]].mean()
    return (
        "That plausibility grows with the length of a rationale, the paper's third finding, is what random words would "
        "show too. Over the five dimensions, F1 and the share of words that people mark correlate at "
        f"{mean['F1']:.2f}; once F1 is corrected for chance (its gain over random words, of the greatest possible "
        f"gain), at {mean['room']:.2f}."
    )


def languages(tables: Tables) -> str:
    """The same by language."""
    mean = tables["length"].groupby("language", sort=False)["room"].mean()
    return (
        "The two languages differ in this: the last correlation is "
        f"{_and([f'{value:+.2f} in {name}' for name, value in mean.items()])}."
    )


def leads(tables: Tables) -> str:
    """Where attention is ahead of integrated gradients, counted in models."""
    gaps = tables["methods"].set_index(["language", "metric"])[[*DIMENSIONS]].mean(axis=1)
    parts = [
        f"by {metric} in {int((gaps[language, metric] > 0).sum())} of {len(gaps[language, metric])} {language} models"
        for metric in ("MAP", "F1")
        for language in LANGUAGES.values()
    ]
    return f"Attention is ahead of integrated gradients, on average over the dimensions, {_and(parts)}."


def at_chance(tables: Tables) -> str:
    """The cells of F1 that random words would reach too."""
    table = tables["lift"]
    low = table[table["above"] <= 0]
    places = low.groupby(["language", "dimension", "method"], sort=False).size()
    counts = [
        f"{count} for {method} in {language} {dimension}" for (language, dimension, method), count in places.items()
    ]
    return f"Of {len(table)} printed F1, {len(low)} are no higher than random words would reach: {_and(counts)}."


def orders(tables: Tables) -> str:
    """How many MAP of integrated gradients lie below that of random orders."""
    cells = {code: paper.scores(code, "MAP", GRADIENTS) for code in LANGUAGES}
    low = {
        f"{LANGUAGES[code]} {model}": int(row.lt(0.5).sum())
        for code, table in cells.items()
        for model, row in table.iterrows()
    }
    named = [f"{count} of {model}" for model, count in low.items() if count]
    whole = sum(table.size for table in cells.values())
    return (
        "Two random orders of the same n words have a MAP of (n + 1) / 2n, above one half. Of "
        f"{whole} MAP of integrated gradients, {sum(low.values())} lie below it: {_and(named)}. Words that the "
        "perturbation takes away or adds lower MAP too, so that this is a sign of arbitrary orders, not a proof."
    )
