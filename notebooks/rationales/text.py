"""What the pages of study 3 say: every function here returns English, or a slot of a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from probekit.metrics.decisions import FEWEST, FLOOR, enough
from probekit.probes.rationales import DIMENSIONS
from probekit.report.page import Page
from probekit.report.sentences import Sentence, first_true, sentence
from probekit.report.tables import by, cell, pick
from probekit.report.text import number, shown_name, title

from notebooks.rationales import erasure, paper, perturbations, rationale_length, saliency
from notebooks.rationales.ask import ATTENTION, DEMO, GRADIENTS, OF_GOLD, ORACLE, RANDOM, RANDOM_WEIGHTS, TRAINED
from notebooks.rationales.beside import demo_readers
from notebooks.rationales.paper import ALL, FEW, LANGUAGES
from notebooks.rationales.prediction import ECHO, RIGHT
from notebooks.rationales.saliency import F1, MAP

Tables = Mapping[str, pd.DataFrame]
TABLES = {"en": "Tables 8 to 11", "zh": "Tables 4 to 7 and, as we read it, Figure 1"}
FOLLOWED = {
    "predicted": "the prediction's probability",
    "gold": "the gold's probability",
    "contrast": "the gold's lead over its foil in log-probability",
}
SHORT, HALF = 0.1, 0.5  # shares of the words
WEAK = 0.2  # share of right answers of a model of which little can be lost
LEGEND = (
    "Each line says what the model fills in and what is right. A word that weighs more has a thicker line below it and "
    "a stronger tint; a dotted line is weight against what is explained. Small numbers count the words of the "
    "predicted rationale, best first, and marked words are bold."
)


# ---- of every page --------------------------------------------------------------------------------------------------


def of_models(values: Mapping[str, float], form: str = ".0%") -> str:
    """A number of each of at most two models, and the ends of those of more: ``7% (m) and 11% (n)``."""
    if len(values) > 2:
        return f"{min(values.values()):{form}} to {max(values.values()):{form}} ({len(values)} models)"
    return _and([f"{value:{form}} ({title(name)})" for name, value in values.items()])


def _and(parts: list[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def best(tables: Tables, dataset: str) -> str:
    """The model that a page speaks of: of those that were asked a set, the one that fills in most of it rightly."""
    return str(pick(tables["floors"], dataset=dataset).set_index("model")["estimate"].idxmax())


def explained(tables: Tables, dataset: str) -> list[Sentence]:
    """Whose fillings a page explains, and how many of these are right."""
    model = best(tables, dataset)
    row = pick(tables["floors"], dataset=dataset, model=model).iloc[0]
    slots: dict[str, Any] = {"model": title(model), "dataset": title(dataset), "share": row["estimate"]}
    return [
        sentence(
            "What a method but attention explains, unless the right word is named, is the first filling of “{model}”, "
            "right in {share:.0%} of slots on {dataset}.",
            **slots,
        ),
        *first_true(
            sentence(
                "It hardly exceeds what one fixed word would reach, so that this shows little.", holds=not row["above"]
            ),
            sentence("As a rule it is a wrong word that is explained.", holds=round(row["estimate"], 2) < 0.5),
        ),
    ]


def invented(page: Page) -> str:
    """What a page says of sets of the demo world and of models that read it alone; empty without such, and on a page
    of the demo world, whose banner says it."""
    if page.demo:
        return ""
    sets = [title(name) for name in (page.past or page.manifest)["probes"] if name.startswith(DEMO)]
    readers = [title(name) for name in demo_readers(page)]
    text = f"The facts of {_and(sets)} are invented. " * bool(sets)
    text += f"{_and(readers)} has read invented text alone: this shows the method, not a real model. " * bool(readers)
    return f"{text}Such results stand beside no paper's." if text else ""


def not_judged(page: Page) -> str:
    """Which of the paper's languages no model of the run was asked in; empty on a page of the demo world."""
    given = (page.past or page.manifest)["parameters"]
    lacking = [code for code, name in (("en", "models"), ("zh", "chinese")) if not given.get(name)]
    return " ".join(
        f"What the paper says of {LANGUAGES[code]} ({TABLES[code]}) is judged in another language, if at all: this run "
        f"asked no {LANGUAGES[code]} model."
        for code in lacking * (not page.demo)
    )


def other_kinds(page: Page) -> str:
    """How models that are no masked ones are asked, and explained where the page explains; empty without such."""
    run = page.past or page.manifest
    explains = "methods" in run["parameters"]
    names = [shown_name(name) for list_ in ("models", "chinese") for name in run["parameters"].get(list_) or []]
    kinds = {name: run["models"].get(name, {}).get("kind") for name in names}
    causal, writing = (_and([title(name) for name in kinds if kinds[name] == kind]) for kind in ("causal", "seq2seq"))
    text = (
        f"A causal model ({causal}) fills a slot at the end of a text by its own next tokens. Where words follow, in "
        "any version of a record, it takes the likeliest statement among the answers of the set. "
    ) * bool(causal)
    text += (
        "There, a probability is that of one answer against the best other one. Its words are only deleted, for want "
        "of a mask, and its attention sees only what stands before the slot. "
    ) * bool(causal and explains)
    text += f"A sequence-to-sequence model ({writing}) writes its own tokens into the slot. " * bool(writing)
    text += "The words that its encoder reads are scored." * bool(writing and explains)
    return text.strip()


def followed(page: Page) -> str:
    """What is explained and erased on the page."""
    return FOLLOWED[(page.past or page.manifest)["parameters"].get("target", "predicted")]


# ---- page 30 --------------------------------------------------------------------------------------------------------


def answer_prediction(tables: Tables, dataset: str) -> list[Sentence]:
    """How many slots each model fills rightly at first, and in which dimensions the best one does so most and least."""
    rows = pick(tables["accuracy"], dataset=dataset, part=ALL, top=1)
    rows, few = enough(rows, "records", f"records of {title(dataset)}")
    if few:
        return [Sentence(few)]
    whole = pick(rows, dimension=ALL).set_index("model")
    originals = int(whole["originals"].max())
    said = sentence(
        "Of {records} slots of {dataset}{of}, the first filling is right in {shares}.",
        records=int(whole["records"].max()),
        of=f" ({originals} originals and their changed texts)" * (originals < int(whole["records"].max())),
        dataset=title(dataset),
        shares=of_models(whole["estimate"].to_dict()),
    )
    chose = dict.fromkeys(pick(tables["ways"], dataset=dataset).get("model", ()))
    choice = sentence(
        "Where words follow the slot, {models} chose among the answers of the set, which is easier.",
        models=_and([title(name) for name in chose]),
    )
    model = str(whole["estimate"].idxmax())
    each = pick(rows[rows["dimension"] != ALL], model=model).set_index("dimension")["estimate"]
    least = each.index[each == each.min()]
    ends = sentence(
        "By dimension, {model} is right in {most:.0%} of the slots of {first} and in {least:.0%} of those of {last}"
        "{rest}.",
        rest="; the others lie between" * bool(((each > each.min()) & (each < each.max())).sum() == len(each) - 2),
        model=title(model),
        most=each.max(),
        first=each.idxmax() if len(each) else "",
        least=each.min(),
        last=_and([str(name) for name in least]),
    )
    return [said, *[choice] * bool(chose), *[ends] * bool(len(each))]


def beside_constant(tables: Tables, dataset: str) -> Sentence:
    """How many models do better than the commonest gold of a set would."""
    rows = pick(tables["floors"], dataset=dataset)
    return sentence(
        "One fixed word, “{answer}”, would be right in {share:.0%}; by 95% intervals {ahead} of {models} models "
        "{exceed} this.",
        exceed="exceeds" if int((rows["low"] > rows["constant"]).sum()) == 1 else "exceed",
        answer=rows["answer"].iloc[0],
        share=rows["constant"].max(),
        ahead=int((rows["low"] > rows["constant"]).sum()),
        models=len(rows),
    )


def echoes(tables: Tables, dataset: str) -> list[Sentence]:
    """How many of the wrong first fillings repeat a word of the text."""
    shares = {}
    for labels, group in by(pick(tables["outcomes"], dataset=dataset, dimension=ALL), ["model"]):
        share = group.set_index("outcome")["estimate"]
        if round((1 - share[RIGHT]) * group["records"].max()) >= FEWEST:
            shares[labels["model"]] = share[ECHO] / (1 - share[RIGHT])
    said = sentence("Of the wrong first fillings, {shares} repeat a word of the text.", shares=of_models(shares))
    return [said] if shares else []


def ways(tables: Tables) -> list[Sentence]:
    """Of each causal model, how many records it answers by a choice among answers or by its own tokens, and the share
    of each that is right."""
    said = []
    for row in tables["ways"].to_dict("records"):
        slots = row | {"model": title(row["model"]), "dataset": title(row["dataset"])}
        choice = sentence(
            "{model} fills {records} slots of {dataset} by a choice among {among} answers, {estimate:.0%} rightly.",
            **slots,
        )
        free = sentence(
            "{model} fills {records} slots of {dataset} by its own next tokens, {estimate:.0%} rightly.", **slots
        )
        said.append(choice if row["among"] else free)
    return [*said, Sentence("A choice among few answers is easier than one among all words.")] if said else []


def unspelled(tables: Tables) -> Sentence:
    """Whether a model's vocabulary can spell a gold of each record, else where it can least."""
    rows = pick(tables["accuracy"], part=ALL, dimension=ALL, top=1)
    row = rows.loc[rows["unknown"].idxmax()]
    if not row["unknown"]:
        return sentence("Each model's vocabulary can spell a gold of each record that it was asked.")
    return sentence(
        "Records whose golds a model's vocabulary cannot spell count as wrong: up to {share:.0%} of a set ({model} on "
        "{dataset}).",
        share=row["unknown"],
        model=title(row["model"]),
        dataset=title(row["dataset"]),
    )


# ---- page 31 --------------------------------------------------------------------------------------------------------


def answer_saliency(tables: Tables, dataset: str, what: str) -> list[Sentence]:
    """Whether a prediction loses more without the words that people marked than without as many at random.

    Args:
        what: loses, of ``followed``.
    """
    cells = pick(tables["interpretability"], dataset=dataset, dimension=ALL, metric=F1)
    _, few = enough(cells, "n", f"records of {title(dataset)}")
    if few:
        return [Sentence(few)]
    of_model = {"dataset": dataset, "model": best(tables, dataset)}
    marked = {"erased": "deleted", "share": erasure.AS_MARKED, "measure": erasure.COMPREHENSIVENESS}
    gap = pick(tables["erased"], **of_model, **marked, method=ORACLE, against=RANDOM)
    if gap.empty:
        return explained(tables, dataset)
    masked = pick(tables["erased"], **of_model, **marked | {"erased": "masked"}, method=ORACLE, against=RANDOM)
    loss = pick(tables["erasure"], **of_model, **marked).set_index("method")["estimate"].round(3)
    rests = gap["low"].iloc[0] > 0
    return [
        *first_true(
            sentence(
                "By deletion “{model}” rests more on the marked words than on others.",
                holds=rests and loss[ORACLE] > loss[RANDOM],
                model=title(of_model["model"]),
            ),
            sentence(
                "By deletion “{model}” is not shown to rest more on the marked words than on others{masked}.",
                holds=not rests,
                model=title(of_model["model"]),
                masked="".join(
                    f" (masked in place of deleted, they cost {cell(row, 'estimate', 3)} more of {what} than others; "
                    "not corrected for two ways)"
                    for row in masked.to_dict("records")
                ),
            ),
        ),
        sentence(
            "On {dataset}, deleting the marked words changes {what} of “{model}” by {marked:+.3f}, deleting as many "
            "words at random by {random:+.3f}.",
            what=what,
            dataset=title(dataset),
            model=title(of_model["model"]),
            marked=-loss[ORACLE],
            random=-loss[RANDOM],
        ),
        *explained(tables, dataset),
    ]


def plausible(tables: Tables, dataset: str) -> list[Sentence]:
    """How far the words that attention weighs most are the marked ones, beside words at random and attention of the
    same network with random weights."""
    cells = pick(tables["interpretability"], dataset=dataset, dimension=ALL, metric=F1)
    model = best(tables, dataset)
    mine = pick(cells, method=ATTENTION, model=model).set_index("weights")
    if not {TRAINED, RANDOM_WEIGHTS} <= {*mine.index}:
        return []
    said = sentence(
        "On {n} texts of {dataset}, the words that attention of {model}{low} picks match the marked ones with an F1 of "
        "{f1}; words at random reach {chance:.2f}, and attention on random weights {untrained:.2f}.",
        n=int(mine.loc[TRAINED, "n"]),
        dataset=title(dataset),
        model=title(model),
        low="" if pick(tables["floors"], dataset=dataset, model=model)["above"].iloc[0] else f" ({FLOOR})",
        f1=cell(mine.loc[TRAINED].to_dict(), digits=2),
        chance=pick(cells, method=RANDOM)["estimate"].iloc[0],
        untrained=mine.loc[RANDOM_WEIGHTS, "estimate"],
    )
    rows = pick(cells, model=model, method=[GRADIENTS, f"{GRADIENTS}{OF_GOLD}"], weights=[TRAINED, RANDOM_WEIGHTS])
    if len(rows) == 4:
        found = rows.pivot(index="method", columns="weights", values="estimate")
        hangs = sentence(
            "Integrated gradients have {predicted:.2f} for the predicted word and {right:.2f} for the right one, on "
            "random weights {nothing:.2f} and {neither:.2f}.",
            predicted=found.loc[GRADIENTS, TRAINED],
            right=found.loc[f"{GRADIENTS}{OF_GOLD}", TRAINED],
            nothing=found.loc[GRADIENTS, RANDOM_WEIGHTS],
            neither=found.loc[f"{GRADIENTS}{OF_GOLD}", RANDOM_WEIGHTS],
        )
        return [said, hangs]
    return [said]


def readings(tables: Tables, dataset: str, what: str) -> list[Sentence]:
    """Which of attention and integrated gradients is the more faithful, by MAP and by erasure, and by MAP without
    anything learned."""
    model = best(tables, dataset)
    cells = pick(tables["interpretability"], dataset=dataset, dimension=ALL, metric=MAP, model=model)
    trained, random = (pick(cells, weights=name).set_index("method")["estimate"] for name in (TRAINED, RANDOM_WEIGHTS))
    rows = pick(tables["erasure"], dataset=dataset, model=model, erased="deleted", share=erasure.AREA)
    loss = pick(rows, measure=erasure.COMPREHENSIVENESS).set_index("method")["estimate"]
    if not all({ATTENTION, GRADIENTS} <= {*values.index} for values in (trained, random, loss)):
        return []
    (a, b), (c, d), (e, f) = (values[[ATTENTION, GRADIENTS]] for values in (trained, random, loss))
    slots: dict[str, Any] = {"what": what, "model": title(model), "a": a, "b": b, "c": c, "d": d, "e": -e, "f": -f}
    gap = pick(tables["contrasts"], dataset=dataset, model=model, claim=saliency.BETTER, metric=MAP, dimension=ALL)
    kept = gap["low"].iloc[0] > 0 and round(a, 2) > round(b, 2)
    costs_less = erasure.side(tables["erased"], dataset, model) == "less" and round(e, 3) < round(f, 3)
    said = sentence(
        "When a text changes, attention keeps its order of words with a MAP of {a:.2f} and integrated gradients with "
        "{b:.2f} ({model}); deleting their first-ranked words changes {what} by {e:+.3f} and {f:+.3f}.",
        **slots,
    )
    untrained = sentence(
        "On random weights, too, attention has the higher MAP ({c:.2f} and {d:.2f}), so that a lead alone is no sign "
        "of faithfulness.",
        holds=kept and round(c, 2) > round(d, 2),
        **slots,
    )
    depends = sentence("So which method is more faithful depends on the test.", holds=kept and costs_less)
    return [said, *first_true(untrained, depends)]


def exactness(tables: Tables) -> list[Sentence]:
    """How near integrated gradients come to completeness."""
    rows = pick(tables["completeness"], weights=TRAINED)
    said = sentence(
        "Of the records of each trained model and set at least {share:.0%} have an error under 1% of the change "
        "explained.",
        share=100 * rows["below_1"].min() // 1 / 100,  # rounded down
    )
    return [said] if len(rows) else []


# ---- page 32 --------------------------------------------------------------------------------------------------------


def answer_length(tables: Tables, dataset: str) -> list[Sentence]:
    """What longer lists do to F1 of attention (MAP, where no words are marked) and to that of random scores, and which
    share attention has of what the marked words themselves gain over random ones."""
    every, few = enough(pick(tables["lengths"], dataset=dataset), "n", f"records of {title(dataset)}")
    if few:
        return [Sentence(few)]
    curves = rationale_length.of_model(every, dataset, best(tables, dataset))
    metric = F1 if len(pick(curves, metric=F1)) else MAP

    def both(method: str, column: str = "estimate") -> list[float]:
        return [rationale_length.at(curves, metric, method, share, column) for share in (SHORT, HALF)]

    mine, whole = both(ATTENTION, "above"), both(ORACLE, "above")
    a, b, c, d = (round(value, 2) for value in both(ATTENTION) + both(RANDOM))
    slots: dict[str, Any] = {"metric": metric, "a": a, "b": b, "c": c, "d": d}
    said = first_true(
        sentence(
            "The better half of the words has a higher {metric} than the best tenth, and so have random words.",
            holds=a < b and c < d,
            **slots,
        )
    )
    numbers = sentence(
        "With half of the words in place of a tenth, {metric} of attention goes from {a:.2f} to {b:.2f}, that of "
        "random scores from {c:.2f} to {d:.2f}.",
        **slots,
    )
    if metric == F1 and min(whole) > 0:
        share = sentence(
            "Of what the marked words themselves gain over random ones, attention has {short:.0%} at a tenth and "
            "{half:.0%} at half of the words.",
            short=mine[0] / whole[0],
            half=mine[1] / whole[1],
        )
        return [*said, numbers, share, *explained(tables, dataset)]
    return [*said, numbers, *explained(tables, dataset)]


def spoken(curves: pd.DataFrame) -> str:
    """The figure in words: F1 at half of the words."""
    texts = [f"{number(rationale_length.at(curves, F1, name, HALF), 2)} ({name})" for name in rationale_length.LINES]
    return f"Lines by share of words; at half of them F1, {rationale_length.summary(curves)}, is {', '.join(texts)}."


# ---- page 33 --------------------------------------------------------------------------------------------------------


def answer_perturbations(tables: Tables, first: str) -> list[Sentence]:
    """What a model fills in where the text denies what it filled in rightly, where the run has such sets, else how much
    stays under the paper's kinds of change; and whether these move the accuracy of any model on the set ``first``."""
    usual = pick(perturbations.pooled(tables["accuracy"]), top=1, dataset=first)
    rows = perturbations.contrasts(tables)
    _, few = enough(pd.concat([usual, rows]), "pairs", "pairs of records")
    if few:
        return [Sentence(few)]
    usual, rows = (enough(table, "pairs", "pairs")[0] for table in (usual, rows))
    said = again(rows) if len(rows) else [stays(usual)]
    if usual.empty:
        return said
    right = usual.groupby("model", sort=False)["original"].mean()
    accuracy = sentence(
        "On {dataset}, where originals are filled rightly in {right}, the kinds of change that the paper makes move "
        "accuracy in {moved} of {cases} cases (models and kinds) by 95% intervals, which reach {reach:.0f} points.",
        dataset=title(first),
        right=of_models(right.to_dict()),
        moved=int(((usual["change_low"] > 0) | (usual["change_high"] < 0)).sum()),
        cases=len(usual),
        reach=100 * usual[["change_low", "change_high"]].abs().max(axis=None),
    )
    weak = sentence("With so few right answers, little could be lost.", holds=round(right.max(), 2) < WEAK)
    return [*said, accuracy, *first_true(weak)]


def again(rows: pd.DataFrame) -> list[Sentence]:
    """Of what a model fills in rightly, how much it fills in again where it is denied, of the case with most, and what
    a misleading word does there."""
    denied = rows[[perturbations.denied(row) for row in rows.to_dict("records")]]
    if denied.empty or denied["right"].max() < FEW:
        return [
            Sentence(
                f"No model fills in as many as {FEW} of the facts rightly that a text then denies: too few to judge."
            )
        ]
    row = denied.loc[denied["right"].idxmax()]
    primed = pick(rows, perturbation="misprimed", dataset=row["dataset"], model=row["model"])
    said = sentence(
        "Of {right} facts that {model} fills in rightly ({dataset}), it fills in {again} again where the text denies "
        "them.",
        right=int(row["right"]),
        model=title(row["model"]),
        again=round(row["right"] * row["again"]),
        dataset=title(row["dataset"]),
    )
    misled = [
        sentence(
            "Of all {pairs} facts there {model} fills in {original:.1%} rightly, and {perturbed:.1%} after a "
            "misleading word.",
            **other | {"model": title(other["model"])},
        )
        for other in primed.to_dict("records")
    ]
    return [said, *misled]


def stays(usual: pd.DataFrame) -> Sentence:
    """How much of what a model fills in first stays under each of the paper's kinds."""
    rows = pick(usual, model=usual["model"].iloc[0])
    return sentence(
        "Where a text changes, so much of what {model} fills in first stays: {kinds}.",
        model=title(rows["model"].iloc[0]),
        kinds=_and([f"{row['same']:.0%} ({row['perturbation']})" for row in rows.to_dict("records")]),
    )


def replaced(tables: Tables, dataset: str) -> list[Sentence]:
    """PCC of attention under important changes over all pairs, by how replaced words are aligned."""
    of_model = {"dataset": dataset, "model": best(tables, dataset), "method": ATTENTION}
    rows = pick(perturbations.pooled(tables["reasons"]), **of_model, perturbation="important")
    return [
        sentence(
            "PCC hangs on what stands for a replaced word: over all pairs of texts, that of attention of {model} under "
            "important changes is {pcc_all:.2f} if the new word takes the old one's place, and {pcc_apart:.2f} if each "
            "stands alone.",
            **row | {"model": title(row["model"])},
        )
        for row in rows[rows["pairs"] >= FEW].to_dict("records")
    ]


# ---- page 34 --------------------------------------------------------------------------------------------------------


def cues(marks: pd.DataFrame, dataset: str) -> list[Sentence]:
    """How often each model chooses the right word; where it does, how often each method ranks the cue before the
    attractor, and so on random weights, from the least to the greatest of the models."""
    rows, random = (pick(marks, dataset=dataset, weights=weights) for weights in (TRAINED, RANDOM_WEIGHTS))
    if rows.empty:
        return [Sentence("No model of this run chooses the right word anywhere.")]
    items, right = int(rows["items"].iloc[0]), rows.groupby("model", sort=False)["right"].first()
    above = int(rows.groupby("model")["better"].first().sum())
    able = pick(rows, better=1)
    learned = len(able) > 0 and bool((able.groupby("model")["learned_low"].max() > 0).all())
    fixed = rows["constant"].iloc[0] / items
    counts = (rows["learned_low"] > 0).groupby(rows["method"]).sum().sort_values(ascending=False, kind="stable")
    gains = [f"{count} by {method}" for method, count in counts.items() if count]
    beside = {"random": _by_method(random), "models": len(right), "gains": _and(gains)}
    return [
        sentence(
            "Of {items} texts of {dataset}, the right one of two words is chosen in {shares}; one fixed word would be "
            "right in {fixed:.0%}.",
            items=items,
            dataset=title(dataset),
            shares=of_models((right / items).to_dict()),
            fixed=fixed,
        ),
        first_true(
            sentence("No model can exceed that.", holds=fixed == 1),
            sentence(
                "By 95% intervals {above} of {models} models {exceed} that.",
                above=above,
                models=len(right),
                exceed="exceeds" if above == 1 else "exceed",
            ),
        )[0],
        sentence(
            "Of {drawn} texts drawn, where a model is right, the deciding noun ranks before the misleading one in "
            "{trained}, and in half by random scores.",
            drawn=int(rows["drawn"].iloc[0]),
            trained=_by_method(rows),
        ),
        *first_true(
            sentence(
                "On random weights, in the mean, it does so in {random}; by 95% intervals, not corrected, "
                "trained ones do so more often for so many of {models} models: {gains}.",
                holds=len(random) > 0 and len(gains) > 0,
                **beside,
            ),
            sentence(
                "On random weights, in the mean, it does so in {random}; no trained one is shown to do so more often.",
                holds=len(random) > 0 and not gains,
                **beside,
            ),
        ),
        *first_true(sentence("So training makes a difference here.", holds=learned)),
    ]


def _by_method(rows: pd.DataFrame) -> str:
    """The least and the greatest share over models, method by method: ``28% to 61% by attention``."""
    ends = [(method, f"{each.min():.0%}", f"{each.max():.0%}") for method, each in rows.groupby("method")["estimate"]]
    return _and([least + f" to {most}" * (least != most) + f" by {method}" for method, least, most in ends])


ABOVE_RANDOM = "r over dimensions, both languages, F1 minus that of random words"
OF_THE_ROOM = "r over dimensions, both languages, as a share of the room left"
LEVEL = 0.05

# ---- page 39 --------------------------------------------------------------------------------------------------------


def answer_own_tables(tables: Tables) -> Sentence:
    """What the length of rationales does to F1, and to F1 above that of random words."""
    each = tables["length"][["F1", "above", "room"]].mean()
    tests = tables["tests"].set_index("compared")["p"]
    return sentence(
        "Over the dimensions F1 and the share of marked words correlate at {r:.2f} on average, but random words would "
        "reach about that share: F1 minus that of random words correlates with it at {above:.2f} (p {p:.2f}), and "
        "divided by what random words leave up to an F1 of 1, at {room:.2f} (p {p_room:.2f}), so that no correlation "
        "beyond random words is shown.",
        holds=each["F1"] > 0 and min(tests[ABOVE_RANDOM], tests[OF_THE_ROOM]) > LEVEL,
        r=each["F1"],
        above=each["above"],
        room=each["room"],
        p=tests[ABOVE_RANDOM],
        p_room=tests[OF_THE_ROOM],
    )


def leads(tables: Tables) -> Sentence:
    """Where attention is ahead of integrated gradients, counted in models."""
    gaps = tables["methods"].assign(gap=tables["methods"][[*DIMENSIONS]].mean(axis=1))
    ahead = gaps[gaps["gap"] > 0].groupby(["metric", "language"]).size()
    slots: dict[str, Any] = {
        f"{metric.lower()}_{code}": int(ahead.get((metric, language), 0))
        for metric in (MAP, F1)
        for code, language in LANGUAGES.items()
    }
    return sentence(
        "On average over the dimensions attention is ahead of integrated gradients by MAP in {map_en} of {models} "
        "English and {map_zh} of {models} Chinese models, by F1 in {f1_en} and {f1_zh}.",
        models=len(pick(gaps, metric=MAP, language=LANGUAGES["en"])),
        **slots,
    )


def at_chance(tables: Tables) -> Sentence:
    """The cells of F1 that random words would reach too."""
    low = tables["lift"][tables["lift"]["above"] <= 0]
    places = low[["method", "language", "dimension"]].drop_duplicates()
    method, language, dimension = places.iloc[0]
    return sentence(
        "Of {cells} printed F1, {low} are no higher than the share of marked words, about what random words would "
        "reach, all of {method} in {language} {dimension}.",
        holds=len(places) == 1,
        cells=len(tables["lift"]),
        low=len(low),
        method=method,
        language=language,
        dimension=dimension,
    )


def orders() -> Sentence:
    """How many MAP of integrated gradients lie below that of random orders, and most of them of which model."""
    cells = pd.concat({name: paper.scores(code, MAP, GRADIENTS) for code, name in LANGUAGES.items()})
    low = cells.lt(0.5).sum(axis=1)
    language, model = low.idxmax()
    return sentence(
        "Two random orders of the same n different words have a MAP of (n + 1) / 2n on average. Of {cells} MAP of "
        "integrated gradients {low} lie below one half, {most} of them of {language} {model}; added words lower "
        "MAP too, so this is a sign of arbitrary orders, no proof.",
        holds=low.max() > low.sum() / 2,
        cells=cells.size,
        low=int(low.sum()),
        most=int(low.max()),
        language=language,
        model=model,
    )
