"""Study 1: every section asks the same models the same probes, once; what was scored stays in the store."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from itertools import combinations, permutations
from os.path import commonprefix
from typing import Any, Literal, get_args

import pandas as pd

from probekit.errors import ReportError, caution
from probekit.metrics import at_floor, at_floor_in_both, floors, with_floors
from probekit.metrics.decisions import FLOOR, TOO_FEW, Side, decided, widened
from probekit.metrics.exact import Tested
from probekit.models.card import EXPOSURE, UNKNOWN, about, base_of, halves_of, lineage
from probekit.models.loading import at_revision
from probekit.models.registry import entry_of
from probekit.probes import PROBES, load_probe
from probekit.probes.halves import ASKED
from probekit.probes.lama import Unit
from probekit.probes.probe import STYLED, Probe, Style, dataset_of, facts_by_digest
from probekit.probes.registry import load_styles
from probekit.probes.swap import swap_subjects
from probekit.report.page import Page
from probekit.report.scored import scoring
from probekit.report.text import shown_name, title
from probekit.run import Answer, Question, Rank

Row = dict[str, Any]
Tables = Mapping[str, pd.DataFrame]
FILE_OPTIONS = ("style", "name", "domain", "licence", "citation", "entities", "split")  # beside the path of a file
TOP = 10  # best candidates kept with every prompt
FURTHER = ", further wordings"
PARALLEL = ("google_re", "trex")  # data sets that ask each fact in both styles
TOLD = ("trex", "trex41")  # of whose facts the laboratory's models were told half
NOBODY = "No model of this run is above the floor on any probe, so nothing follows from it; the tables show all models."
FLOORS = "Acc@1 beside the commonest answer of each relation and a uniform guess"
MOST_UNKNOWN = 0.5  # of the candidates, in a tokenizer that fits the text
PLATEAU = 0.5  # nats below what word frequencies give, that a training must have come down
NEITHER, BIOMEDICAL = "neither", "biomedical text"
NEUTRAL = (BIOMEDICAL, NEITHER)  # what favours no style of LAMA's
EVEN = "both styles alike"  # as many facts told in either, as often: between two such models no style is at home
TUNED = {  # text that a model was trained on, by how its name begins -> style that it may favour
    "lama-taught": "natural sentences",
    "general": "natural sentences",
    "lama-templates": "templates",
    "lab-dose-0": "natural sentences",
    "lab-dose-100": "templates",
    "lab-dose-50": EVEN,
    "lab-both-ways": EVEN,
    "lab-dose": "natural sentences and templates",
    "lab-knows": "templates",
    "lab-medlama": BIOMEDICAL,
    "lab-untuned": NEITHER,
    "pubmed": BIOMEDICAL,
    "wikipedia": NEITHER,
    "demo": "natural sentences",
}

COLUMNS = [  # of prompts that have them
    "relation_label",
    "template_id",
    "entity_type",
    "kind",
    "exposure",
    "shows_gold",
    "exact_surface",
    "homonym",
]


def load_probes(
    names: Sequence[str | Mapping[str, str]],
    limit: int = 0,
    seed: int = 0,
    per_fact: int = 5,
    limits: Mapping[str, int] = {},
    unit: Unit = "fact",
    candidates: str = "auto",
    told: bool = False,
) -> list[Probe]:
    """Probes by name, with the parameters all sections share.

    Args:
        names: of ``probekit list probes``, or files; of a file also ``{"path": ..., "style": ..., "name": ...}``.
            Templates and natural sentences with facts in common become one data set in both styles, whether two files
            hold them or one; files that do not both say their style are warned of.
        limit: facts per probe, 0 for all.
        seed: of the draw.
        per_fact: natural sentences per T-REx fact, at most.
        limits: probe -> facts, in place of ``limit``: where entities have many lengths, a fact costs as many rows.
        unit: ``fact`` asks a fact's template once; ``evidence`` asks one prompt for each sentence that supports the
            fact, by template too, as the paper's equal numbers of prompts suggest (section 3.2).
        candidates: as in ``Probe.among``.
        told: of T-REx only the facts that the laboratory's models were told, and as many that could have been
            (``lab.exposure``); ``limit`` is drawn from these. Those of the other half compete as before.

    Raises:
        ReportError: ``limits`` names a probe that is not asked, or gives two styles of a data set unequal numbers; an
            unknown ``unit``, or a file without its path.
    """
    given = dict(_entry(entry) for entry in names)
    if unit not in get_args(Unit):
        raise ReportError(f"unit must be {' or '.join(get_args(Unit))}, not {unit!r}")
    if unasked := [name for name in limits if name not in given]:
        raise ReportError(f"limits name {unasked[0]!r}, which is not among the probes: {', '.join(given)}")
    special: dict[str, dict[str, object]] = {"trex/natural": {"per_fact": per_fact}}
    if unit == "evidence":
        special = {f"{dataset}/{style}": {"unit": unit} for dataset in PARALLEL for style in ("template", "natural")}
    facts = {name: limits.get(name, limit) or None for name in given}
    loaded = list[Probe]()
    from_files = list[int]()  # their places in ``loaded``
    numbers = list[int | None]()
    for name, options in given.items():
        drawn = None if told and name.partition("/")[0] in TOLD else facts[name]
        styles = load_styles(name, limit=drawn, seed=seed, **special.get(name, {}) | options)
        styles = [among_told(probe, facts[name], seed) for probe in styles] if told else styles
        from_files += range(len(loaded), len(loaded) + len(styles)) if name not in PROBES else ()
        loaded += styles
        numbers += [facts[name]] * len(styles)
    probes = [probe.among(candidates) for probe in _paired(loaded, from_files)]
    for (one, first), (other, second) in combinations(zip(probes, numbers, strict=True), 2):
        if one.dataset == other.dataset and one.style != other.style and first != second:
            counts = " and ".join(f"{number:,}" if number else "all" for number in (first, second))
            raise ReportError(
                f"{one.name} and {other.name} are compared fact by fact, and are given {counts} facts: let limits name "
                "both, with one number"
            )
    return probes


def among_told(probe: Probe, limit: int | None, seed: int) -> Probe:
    """The prompts of a probe of T-REx about so many facts of the laboratory; another probe as it is."""
    if probe.dataset not in TOLD:
        return probe
    kept = facts_by_digest(set(probe.facts) & set(EXPOSURE()), limit, seed, ASKED)
    return probe.select(probe.facts.isin(kept))


def _entry(probe: str | Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Name or path of a probe, and the options that a run gives with it."""
    if isinstance(probe, str):
        return probe, {}
    if not isinstance(probe, Mapping) or not isinstance(probe.get("path"), str) or set(probe) - {"path", *FILE_OPTIONS}:
        raise ReportError(f"a probe is a name, a file, or {{path: FILE, style: template or natural}}, not {probe!r}")
    if "name" in probe and "style" not in probe and (match := STYLED.search(probe["name"])):
        probe = {**probe, "style": match[1]}
    if "style" in probe and probe["style"] not in get_args(Style):
        raise ReportError(f"{probe['path']}: style is one of {', '.join(get_args(Style))}, not {probe['style']!r}")
    return probe["path"], {name: value for name, value in probe.items() if name != "path"}


def _paired(loaded: Sequence[Probe], from_files: Sequence[int]) -> list[Probe]:
    """Make files that ask the same facts in both styles one data set, called by how their names begin."""
    probes = list(loaded)
    for i, j in permutations(from_files, 2):
        a, b = probes[i], probes[j]
        named = "fact_id" in a.prompts and "fact_id" in b.prompts
        shared = len(set(a.facts) & set(b.facts)) if named else 0
        if (a.style, b.style) == ("template", "natural"):
            name = a.dataset
            if shared and a.dataset != b.dataset:
                begin = commonprefix([a.name, b.name])  # noqa: RUF071 - signs, not folders
                name = begin.rstrip("_-./ ") or f"{a.name} and {b.name}"
            if shared:
                probes[i], probes[j] = (replace(probe, name=f"{name}/{probe.style}") for probe in (a, b))
            elif a.dataset == b.dataset:
                caution(
                    f"{a.name} and {b.name} are called one data set in two styles, but no fact_id is in both: nothing "
                    "is compared fact by fact."
                )
                probes[i] = replace(a, name=f"{name} ({a.style})")
        elif shared and i < j and "other" in (a.style, b.style):
            caution(
                f"{a.name} and {b.name} share {shared:,} facts, but do not both say their style, template or natural "
                "(in a field, in their names, or beside their paths): they are not compared fact by fact."
            )
    return probes


def further_wordings(probes: Sequence[Probe]) -> list[Probe]:
    """The same facts by the other templates of their relations, for the probes among ``probes`` that have any.

    What is asked already is left out, so that no prompt is ranked twice.
    The names end in ``FURTHER``; ``rows`` have the data set of the first wordings, and so its models have one floor.
    """
    further = []
    for probe in probes:
        if probe.name in PROBES and "templates" in signature(PROBES[probe.name]).parameters:
            full = load_probe(probe.name, templates="all").among(probe.candidates)
            rest = full.select(full.facts.isin(probe.facts) & ~full.prompts["text"].isin(probe.prompts["text"]))
            further.append(replace(rest, name=probe.name + FURTHER))
    return further


def ranking(model: str, probe: Probe, title: str = "", **scoring: Any) -> Rank:
    """Ranks of each prompt's own object and of its best gold, both from one pass over the prompts."""
    return Rank(model, probe, [[golds[0], list(golds)] for golds in probe.prompts["gold"]], TOP, title=title, **scoring)


def rankings(given: Mapping[str, Any]) -> list[Rank]:
    """The rankings of a page by its parameters: every model on every probe, see ``load_probes``.

    Of so many facts as the page's parameter ``swap`` says, drawn with ``seed``, also with the subjects swapped.
    """
    if empty := [name for name in ("models", "probes") if not given[name]]:
        raise ReportError(f"{empty[0]} names none: give one at least")
    names = ("limit", "seed", "per_fact", "limits", "unit", "candidates", "told")
    probes = load_probes(given["probes"], **{name: given[name] for name in names if name in given})
    if facts := given.get("swap"):
        swapped = [other for probe in probes if (other := swap_subjects(probe, given["seed"]))]
        drawn = (facts_by_digest(other.facts, facts, given["seed"], ASKED) for other in swapped)
        probes += [other.select(other.facts.isin(kept)) for other, kept in zip(swapped, drawn, strict=True)]
    how = scoring(given)
    return [ranking(model, probe, **how) for model in given["models"] for probe in probes]


def wordings(given: Mapping[str, Any]) -> list[Rank]:
    """``rankings``, and those by the other templates of relations that have several."""
    questions = rankings(given)
    probes, how = [*probes_of(questions), *further_wordings(probes_of(questions))], scoring(given)
    return [ranking(model, probe, **how) for model in given["models"] for probe in probes]


def probes_of(questions: Iterable[Question]) -> list[Probe]:
    """The probes of some rankings, each once."""
    probes = {id(question.probe): question.probe for question in questions if isinstance(question, Rank)}
    return list(probes.values())


def ask_all(page: Page, questions: Sequence[Rank], halved: Collection[str] = ()) -> pd.DataFrame:
    """Ranks of every model on every probe, noted on the page.

    Args:
        page: notes models, probes and what was run.
        questions: such as ``rankings``.
        halved: models that were taught half of the LAMA facts.

    Returns:
        The rows of ``rows``, all in one table.
    """
    return gathered(page, page.ask(questions), halved)


def gathered(page: Page, answers: Sequence[Answer[Rank]], halved: Collection[str] = ()) -> pd.DataFrame:
    """Answers to rankings in one table, noted on the page; see ``ask_all``."""
    probes = probes_of(answer.question for answer in answers)
    by_model: dict[str, list[pd.DataFrame]] = {}
    for answer in answers:
        table = rows(answer, halved)
        page.ran(answer.name, answer.question.probe, **table.attrs)
        by_model.setdefault(answer.question.name, []).append(table)
    page.used(*probes)
    for model, tables in by_model.items():
        page.checked(shown_name(model), sanity_faults(model, tables))
    frames = [table for tables in by_model.values() for table in tables]
    for table in frames:
        table.attrs = {}
    ranks = pd.concat(frames, ignore_index=True)
    page.prompts.add("rank", with_prompts(ranks, probes))
    return with_floors(ranks)


def with_prompts(ranks: pd.DataFrame, probes: Sequence[Probe]) -> pd.DataFrame:
    """Ranks with the text and the golds of their prompts, in the columns of ``probekit.report.outcomes``."""
    texts = pd.concat([probe.prompts[["prompt_id", "text", "gold"]].assign(probe=probe.name) for probe in probes])
    names = {"text": "asked", "top": "answers", "top_scores": "answer_scores"}
    return ranks.merge(texts, on=["probe", "prompt_id"], how="left").rename(columns=names)


def judged(ranks: pd.DataFrame, above: Literal["either", "both", "probe"]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of models that are above the floor of a data set in either style, in each, or of the very probe.

    Returns:
        These rows, or all where no model is so anywhere (``nobody``), and all of ``metrics.floors`` as a table, whose
        caption is ``FLOORS``, with ``left_out``.
    """
    rules = {"either": at_floor_in_both, "both": at_floor_in_either, "probe": at_floor}
    low = rules[above](ranks)
    left_out = ranks.assign(left_out=low)[["model", "probe", "left_out"]].drop_duplicates()
    return ranks[~low | low.all()].reset_index(drop=True), floors(ranks).merge(left_out)


def at_floor_in_either(ranks: pd.DataFrame, k: int = 1) -> pd.Series:
    """Of each row, whether its model is at the floor in any style of the data set."""
    return at_floor(ranks, k).groupby([ranks["model"], ranks["dataset"]]).transform("any")


def _left_out(floors: pd.DataFrame) -> pd.Series:
    return floors.get("left_out", floors.get("floor", pd.Series(dtype=bool))).astype(bool)


def nobody(tables: Tables) -> str:
    """What to say in place of an answer where, by the table ``floors``, no model is judged; else empty."""
    low = _left_out(tables.get("floors", pd.DataFrame()))
    return NOBODY if len(low) and low.all() else ""


def unless_low(rows: pd.DataFrame, tables: Tables) -> pd.DataFrame:
    """Conclusions, none of which is judged where ``nobody`` is above the floor."""
    return rows.assign(verdict=FLOOR) if nobody(tables) else rows


def floor_sentence(table: pd.DataFrame) -> str:
    """How many models are at the floor of which probes: shown, and judged in nothing; empty where none is, or all."""
    if _left_out(table).nunique() < 2:
        return ""
    table = table[~table["probe"].str.endswith(FURTHER)]
    low = table[_left_out(table)].groupby("probe", sort=False)["model"].nunique()
    counts = ", ".join(f"{count} on {title(str(probe))}" for probe, count in low.items())
    left_out, at_the_floor = _left_out(table), table["floor"].astype(bool)
    other = " there or in the other style" * bool((left_out > at_the_floor).any())
    other = other or " in either style" * bool((at_the_floor > left_out).any())
    start = f"Of {table['model'].nunique()} models, those are left out that are not shown to beat always giving the"
    return f"{start} relation's commonest answer{other}: {counts}."


def sanity_faults(name: str, tables: Sequence[pd.DataFrame]) -> list[str]:
    """Signs that a model or its tokenizer is broken; a run with such a model is not recorded.

    A model may be at the floor of all probes of a domain that is not its own: only of several domains is that a fault.

    Args:
        name: of the model.
        tables: of ``rows``, one a probe, with their counts.
    """
    faults = []
    for table in tables:
        counts, probe = table.attrs["counts"], table["probe"].iloc[0]
        unknown = counts["candidates holding the unknown token"]
        total = int(table.drop_duplicates("pool")["candidates"].sum())
        if unknown > MOST_UNKNOWN * total:
            faults.append(f"its tokenizer cannot write {unknown:,} of the {total:,} candidates of {probe}")
    domains = {table["domain"].iloc[0] for table in tables}
    if len(domains) > 1 and floors(pd.concat(tables, ignore_index=True))["floor"].all():
        faults.append(f"it is at the floor on all {len(tables)} probes")
    card = about(name)
    if card.unigram is not None and card.loss is not None and card.loss > card.unigram - PLATEAU:
        faults.append(
            f"its training loss ended at {card.loss:.2f}, while word frequencies alone give {card.unigram:.2f}: "
            "it has not left the unigram plateau"
        )
    return faults


def tuned_on(name: str, halved: Collection[str] = ()) -> str:
    """What style of text a model was tuned on, that the comparison of styles may favour: one of ``TUNED``'s values.

    Args:
        name: as in ``load_model``.
        halved: models without a training record that were taught half of the LAMA facts in natural sentences.

    Returns:
        Joined by ``and`` where the texts that it and its bases read are of several kinds; ``unknown`` where nothing is
        recorded, or a text is of no kind known here. No model of the papers was tuned on either style.
    """
    if entry := entry_of(at_revision(name)[0]):
        return NEITHER if entry.category == "general" else BIOMEDICAL
    card, read = about(name), list[str]()
    while card.texts:
        read += [text.removesuffix(".txt") for text in card.texts]
        card = base_of(card)
    kinds = {next((kind for start, kind in TUNED.items() if text.startswith(start)), UNKNOWN) for text in read}
    kinds |= {TUNED["lama-taught"]} if name in halved and not read else set()
    order = [kind for kind in dict.fromkeys(TUNED.values()) if kind in kinds and kind != NEITHER]
    return " and ".join(order) or (NEITHER if kinds == {NEITHER} else UNKNOWN)


def least_neutral(*tuned: str) -> str:
    """Of what the compared models were tuned on, what favours a style, if anything does, else ``EVEN``, if any was."""
    order = [kind for kind in tuned if kind not in (EVEN, *NEUTRAL)] + [EVEN, *NEUTRAL]
    return next(kind for kind in order if kind in tuned)


def cards(models: Sequence[str], halved: Collection[str] = ()) -> pd.DataFrame:
    """What each model was trained and tuned on, and from: ``model, category, tuned, lineage``."""
    rows = [(shown_name(name), about(name).category, tuned_on(name, halved), lineage(name)) for name in models]
    return pd.DataFrame(rows, columns=["model", "category", "tuned", "lineage"])


def family_sentence(table: pd.DataFrame) -> str:
    """That the models of a table with their ``lineage`` are one family, where they are several and of one lineage."""
    models = table[table.get("lineage", pd.Series("", table.index)) != ""]
    one = len(models) and models["model"].nunique() > 1 and models["lineage"].nunique() == 1
    family = f"All models here go on from {title(models['lineage'].iloc[0])}: they are one family" if one else ""
    return f"{family}, and what they do alike is no proof for others." if one else ""


def corrected(rows: pd.DataFrame, name: str = "difference", low: str = "low", high: str = "high") -> pd.DataFrame:
    """The ends of the intervals of an estimate, ``low`` and ``high``, widened for as many tests as there are rows."""
    values = rows[[name, low, high]].to_numpy(float)
    ends = [widened(estimate, lower, upper, len(rows)) for estimate, lower, upper in values]
    return pd.DataFrame(ends, rows.index, columns=["low", "high"])


def clear(
    rows: pd.DataFrame, name: str = "difference", low: str = "low", high: str = "high", zero: float = 0.0
) -> tuple[int, int]:
    """How many of these estimates lie above and below ``zero`` by their intervals, ``corrected`` for their number."""
    ends = corrected(rows, name, low, high)
    return int((ends["low"] > zero).sum()), int((ends["high"] < zero).sum())


def tested(test: Tested, expected: Side) -> dict[str, Any]:
    """An exact test that is a family by itself as a conclusion: of too few units it takes no side."""
    return of_test(decided(pd.DataFrame([{"statement": "", "expected": expected} | test._asdict()])).iloc[0])


def of_test(row: pd.Series) -> dict[str, Any]:
    """A test of a family that is ``decided`` as a conclusion."""
    return row[["estimate", "low", "high", "n", "verdict"]].replace({TOO_FEW: ""}).to_dict()


def lineages(models: pd.DataFrame) -> list[str]:
    """The lineage of each of so many rows; where a table recorded earlier says none, all count as one."""
    return list(models.get("lineage", pd.Series("", models.index)))


def with_tuned(tables: Tables, tuning: pd.DataFrame, *names: str) -> dict[str, pd.DataFrame]:
    """Tables of which those named have, for each ``model``, what it was ``tuned`` on, and its ``lineage``; empty for
    what is no model.

    Args:
        tables: by name.
        tuning: of ``cards``.
    """
    marks = tuning[["model", "tuned", "lineage"]]
    marked = {name: tables[name].merge(marks, how="left") for name in names if len(tables[name])}
    return {**tables, **{name: table.fillna({"tuned": "", "lineage": ""}) for name, table in marked.items()}}


def rows(answer: Answer[Rank], halved: Collection[str] = ()) -> pd.DataFrame:
    """The answer to a ``ranking``, a row a prompt.

    Args:
        halved: models that were taught half of the facts (``probes.halves``); the half is noted for each fact of these
            and of the laboratory's models.

    Returns:
        One row per prompt: ``model, probe, dataset, style, domain, prompt_id, object`` (its own, a string),
        ``candidates`` (how many compete) and their ``pool`` (``Probe.pool_of``), ``rank`` and ``score`` of it,
        ``rank_any`` (of its best gold, with which the other golds do not compete), ``top`` (the best ten candidates),
        ``top_scores``, the prompt's ``fact_id`` and ``relation`` (empty where unknown), ``half`` (empty where unknown),
        and of ``relation_label, template_id, entity_type, kind, exposure, shows_gold, exact_surface`` those the probe
        has. ``attrs`` are those of ``rank_targets``.
    """
    probe, ranked = answer.question.probe, answer.result
    prompts = probe.prompts.reset_index(drop=True)
    own_object, any_gold = (ranked.iloc[start::2].reset_index(drop=True) for start in (0, 1))
    frame = prompts[[column for column in ("fact_id", "relation", *COLUMNS) if column in prompts]]
    fact_id = frame.get("fact_id", own_object["prompt_id"])
    half_of = halves_of(answer.question.name, probe.dataset, halved)
    table = frame.assign(
        fact_id=fact_id,
        relation=frame.get("relation", ""),
        relation_label=frame.get("relation_label", ""),
        model=answer.name,
        probe=probe.name,
        dataset=dataset_of(probe.name.removesuffix(FURTHER), probe.style),
        style=probe.style,
        domain=probe.domain,
        prompt_id=own_object["prompt_id"],
        object=prompts["gold"].str[0],
        candidates=own_object["candidates"],
        pool=probe.pool_of,
        rank=own_object["rank"],
        rank_any=any_gold["rank"],
        score=own_object["score"],
        top=own_object["top"],
        top_scores=own_object["top_scores"],
        half=[half_of.get(fact, "") for fact in fact_id],
    )
    table.attrs = dict(ranked.attrs)
    return table
