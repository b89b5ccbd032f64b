"""Study 3: the sets of records by name, and what every model says of them; scored once, then read from the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from probekit.demo.world.rationales import chinese_rationales, demo_rationales
from probekit.errors import ReportError
from probekit.models import about
from probekit.probes.probe import facts_by_digest
from probekit.probes.rationales import (
    RationaleSet,
    cprag,
    cued,
    negation,
    own_items,
    primed_negated,
    role,
)
from probekit.probes.rationales.primed import SOURCES
from probekit.report.page import Page
from probekit.report.text import shown_name
from probekit.run import Predict

from notebooks.rationales.bear import marked_bear

if TYPE_CHECKING:
    from probekit.scoring.saliency.word_scores import Method


def _primed(source: str, _: int) -> RationaleSet:
    return primed_negated(source)


SETS: dict[str, Callable[[int], RationaleSet]] = {
    "own/en": lambda _: own_items("en"),
    "own/zh": lambda _: own_items("zh"),
    "demo/en": lambda seed: demo_rationales(seed=seed),
    "demo/zh": lambda seed: chinese_rationales(seed=seed),
    "cprag": lambda _: cprag(),
    "role": lambda _: role(),
    "negation": lambda _: negation(),
    **{f"primed/{source}": partial(_primed, source) for source in SOURCES},
    "bear/marked": lambda _: marked_bear(),
    "agreement": lambda _: cued("agreement"),
    "gender": lambda _: cued("gender"),
}
OWN, DEMO = "own/", "demo/"  # so begin the own items, and sets of the demo world
OTHERS = ("bear/marked", "agreement", "gender")  # marked words in texts of others, of one dimension
TOP = 3  # fillings of a slot
ATTENTION, GRADIENTS, GRADIENT_INPUT, OCCLUSION = "attention", "integrated gradients", "gradient x input", "occlusion"
METHODS: dict[str, Method] = {
    ATTENTION: "attention",
    GRADIENTS: "integrated_gradients",
    GRADIENT_INPUT: "gradient_x_input",
    OCCLUSION: "occlusion",
}
OF_GOLD = ", gold"  # so ends a method that explains the gold, whatever the page's target
OPTIONS = {ATTENTION: (), GRADIENTS: ("steps", "baseline", "target")}  # the others have a target alone
RANDOM_COPIES = 3  # of a network with random weights or a random head
DRAWS = 5  # of random scores, where their expectation has no formula
RANDOM, ORACLE = "random scores", "oracle"  # controls that need no model
TRAINED, RANDOM_HEAD, RANDOM_WEIGHTS = "trained", "random head", "random weights"
LAYERS: dict[str, Literal[0, "all"]] = {RANDOM_HEAD: 0, RANDOM_WEIGHTS: "all"}


@dataclass(frozen=True)
class Saliency:
    """The word scores of one set by one method.

    Args:
        dataset: name of the set.
        model: shown name; empty for the controls that need none.
        method: one of ``METHODS``, which may end in ``OF_GOLD``, or of the controls ``RANDOM`` or ``ORACLE``.
        weights: ``TRAINED``, ``RANDOM_HEAD`` or ``RANDOM_WEIGHTS``, whose copies come one after the other; empty for
            the controls that need no model.
        table: of ``attribute``; None of random scores, which enter by their expectation.
    """

    dataset: str
    model: str
    method: str
    weights: str
    table: pd.DataFrame | None

    def labels(self) -> dict[str, str]:
        """``dataset, model, method, weights``: the columns that name it in a table."""
        return {"dataset": self.dataset, "model": self.model, "method": self.method, "weights": self.weights}


def load_sets(
    names: Sequence[str], limit: int = 0, seed: int = 0, limits: Mapping[str, int] | None = None
) -> dict[str, RationaleSet]:
    """Sets by name.

    Args:
        names: of ``SETS``, or JSONL files of records (``RationaleSet.from_file``), each in one language.
        limit: originals of each set of ``SETS`` but the own items, drawn with ``seed``, 0 for all; a perturbed record
            goes with its original. The own items and files are read whole.
        limits: by set, in place of that.
        seed: of the demo worlds and of the draw.

    Raises:
        ReportError: an unknown name, or a set in two languages.
        ProbeError: data that is not at hand, or a record that breaks a rule.
    """
    sets = {}
    for name in names:
        if name not in SETS and not Path(name).is_file():
            raise ReportError(f"no set {name!r}: neither a JSONL file nor one of {', '.join(SETS)}")
        items = SETS[name](seed) if name in SETS else RationaleSet.from_file(name)
        if len(languages := items.items["language"].unique()) > 1:
            raise ReportError(f"{name} holds records in {' and '.join(languages)}: give each language a file")
        shown = name if name in SETS else shown_name(name)
        most = 0 if name not in SETS or name.startswith(OWN) else limit
        sets[shown] = drawn(items, (limits or {}).get(name, most), seed)
    return sets


def read_sets(page: Page) -> dict[str, RationaleSet]:
    """``load_sets`` by the parameters of a page, noted on it."""
    sets = sets_of(page.parameters)
    for name, items in sets.items():
        page.read(name, items.fingerprint, len(items.items))
        page.probes[name]["language"] = language(items)
    return sets


def sets_of(given: Mapping[str, Any]) -> dict[str, RationaleSet]:
    """``load_sets`` by the parameters of a page."""
    return load_sets(given["sets"], given["limit"], given["seed"], given.get("limits"))


def drawn(items: RationaleSet, limit: int, seed: int) -> RationaleSet:
    """At most ``limit`` originals (0 for all) by the digests of their ids, each with its perturbed records."""
    table = items.items
    chosen = facts_by_digest(table.loc[table["original_id"] == "", "id"], limit or None, seed)
    return items.select(table["id"].isin(chosen) | table["original_id"].isin(chosen))


def language(items: RationaleSet) -> str:
    """``en`` or ``zh``: of a whole set."""
    return str(items.items["language"].iloc[0])


def pairs(given: Mapping[str, Any], sets: Mapping[str, RationaleSet]) -> list[tuple[str, str]]:
    """Each model with the name of each set of its language: ``models`` are asked English sets, ``chinese`` Chinese
    ones; a model may be in both lists."""
    models, chinese = given["models"], given.get("chinese", [])
    return [
        (model, name)
        for model in dict.fromkeys([*models, *chinese])
        for name, items in sets.items()
        if model in (models if language(items) == "en" else chinese)
    ]


def predictions(given: Mapping[str, Any], sets: Mapping[str, RationaleSet]) -> list[Predict]:
    """The best fillings of every slot by every model."""
    return [Predict(m, sets[name], TOP, title=shown_name(m)) for m, name in pairs(given, sets)]


def questions(given: Mapping[str, Any]) -> list[Predict]:
    """What page 30 asks by its parameters."""
    return predictions(given, sets_of(given))


def predict_all(page: Page, sets: Mapping[str, RationaleSet]) -> pd.DataFrame:
    """The best fillings of every slot by every model of the page's parameters.

    Returns:
        The rows of ``predict_slots`` with ``dataset`` and ``model`` before them, and ``original``: the id of the
        original, of an original its own. Records of one original are not independent.

    Raises:
        ReportError: no model for any set.
    """
    questions = predictions(page.parameters, sets)
    if not questions:
        raise ReportError("no model is asked any set: `models` are asked English sets, `chinese` Chinese ones")
    names = dict(zip(questions, (name for _, name in pairs(page.parameters, sets)), strict=True))
    frames = []
    for answer in page.ask(questions):
        if texts := about(answer.question.name).texts:
            page.models[answer.name]["texts"] = list(texts)
        key = (names[answer.question], answer.name)
        frames.append(pd.concat({key: answer.result}, names=["dataset", "model"]).reset_index([0, 1]))
    table = pd.concat(frames, ignore_index=True)
    table = table.assign(original=table["original_id"].where(table["original_id"] != "", table["id"]))
    filled = {"answers": table["predictions"], "answer_scores": table["log_probs"]}
    page.prompts.add("filling", with_records(table, sets).assign(rank=table["rank"].where(table["rank"] > 0), **filled))
    return table


def with_records(rows: pd.DataFrame, sets: Mapping[str, RationaleSet]) -> pd.DataFrame:
    """Rows of ``dataset, model, id`` with what their records hold, by the names of ``probekit.report.outcomes``."""
    every = pd.concat(
        [
            items.items.set_index("id").assign(dataset=name).set_index("dataset", append=True)
            for name, items in sets.items()
        ]
    )
    records = every.loc[list(zip(rows["id"], rows["dataset"], strict=True))]
    originals = records["original_id"].where(records["original_id"] != "", records.index.get_level_values("id"))
    named = {"fact_id": originals, "relation": records["dimension"], "style": records["perturbation"]}
    named |= {"asked": records["context"], "gold": records["golds"], "rationales": records["rationales"]}
    plain = {name: column.tolist() for name, column in named.items()}
    return rows.assign(**plain, probe=rows["dataset"], prompt_id=rows["id"])
