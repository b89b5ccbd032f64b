"""A run's own models and files of completions: asked, or read, for the completions of every template."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from probekit.demo.world.honest import demo_honest_templates, demo_lexicon
from probekit.errors import ProbekitError
from probekit.files import canonical, digest
from probekit.files.naming import shown_file
from probekit.metrics.hurtfulness import RULES, hurtful
from probekit.probes.completions import SUBSETS, Completions, read_completions
from probekit.probes.honest import CONSERVATIVE, honest_templates, hurtlex, read_lexicon, read_templates
from probekit.report.page import Page
from probekit.report.text import Markup
from probekit.run import Answer, Complete
from probekit.scoring.completions import sampling_of

from notebooks.fairness.matching import Scored, score

PLAIN = ("audited_plain", "audited_first_word")  # the variants that need no transliteration package
DEMO, REAL, AUTO = "demo", "honest", "auto"
FILE = ".tsv"  # so ends a file of templates of one's own
ENGLISH = "en"
LANGUAGES = (ENGLISH, "es", "fr", "it", "pt", "ro")
SLOT = re.compile(r"\[MASK\]|<mask>|\[M\]|<extra_id_0>|_{2,}")  # marks of a slot
Rows = list[list[str]]  # per template, its completions, most likely first


@dataclass(frozen=True)
class Questions:
    """What a run asks: sets of templates by name, and the lexicon that hurtful completions are found by, which real
    ones also have by category."""

    name: str
    sets: Mapping[str, pd.DataFrame]
    lexicon: Sequence[str]
    categories: Mapping[str, Sequence[str]] = field(default_factory=dict)


def lexicon(page: Page, language: str = ENGLISH) -> pd.DataFrame:
    """Rows of one's own lexicon, if the page's parameter ``lexicon`` names one, else of HurtLex, of its ``levels`` and
    ``categories``; without these, of the paper's.

    Raises:
        ProbeError: the lexicon is not at hand, or has no such level or category.
    """
    levels, categories = _choice(page)
    if file := page.parameters.get("lexicon"):
        if set(levels) != {CONSERVATIVE} or categories:
            raise ProbekitError(f"levels and categories are of HurtLex: with lexicon={file!r} leave them out")
        return read_lexicon(Path(file))
    return hurtlex(language.upper(), levels=levels, categories=categories or None)


def other_lexicon(page: Page) -> str:
    """One's own lexicon, or levels and categories, in words where they are not the paper's, else nothing."""
    levels, categories = _choice(page)
    if file := page.parameters.get("lexicon"):
        return f"words of {shown_file(file)}"
    parts = [] if set(levels) == {CONSERVATIVE} else [" and ".join(levels)]
    return ", ".join(parts + ([f"categories {', '.join(categories)}"] if categories else []))


def as_the_paper(page: Page) -> bool:
    """Whether a run asked the paper's templates and counted by its lexicon, so that scores stand on one scale."""
    given = page.parameters
    return (
        not page.demo
        and not other_lexicon(page)
        and given["language"] == ENGLISH
        and given["templates"] in (REAL, AUTO)
        and not any(how(given).values())
    )


def lexicon_sentence(page: Page) -> Markup:
    """That a run counts by another lexicon than the paper, if it does."""
    if not (other := other_lexicon(page)):
        return Markup()
    by = "" if page.parameters.get("lexicon") else "HurtLex, "
    return Markup(
        "Completions are counted by {}{}; the paper takes HurtLex's level *{}* and all 17 categories, so its numbers "
        "are no measure of these."
    ).format(by, other, CONSERVATIVE)


def how(given: Mapping[str, Any]) -> dict[str, Any]:
    """How models are asked by the parameters of a page, as ``Complete`` takes it.

    Raises:
        ProbekitError: see ``sampling_of``.
    """
    names = ("decoding", "temperature", "top_p", "seed")
    sampling = sampling_of(*(given[name] for name in names)) if "decoding" in given else None
    return {"sampling": sampling, "instruction": given["instruction"] if given.get("chat") else None}


def drawn(page: Page) -> bool:
    """Whether a run's models drew their completions, so that ranks say nothing."""
    return bool(page.model_names and how(page.parameters)["sampling"] and not page.recorded)


def asking_sentence(page: Page) -> Markup:
    """How a run's models were asked, where it is not as in the paper."""
    asked, parts = how(page.parameters), list[Markup]()
    if drawn(page):
        sampling = asked["sampling"]
        text = Markup(
            "Models drew their completions (temperature {}, top-p {}, seed {}), which stand in the order drawn: their "
            "ranks say nothing."
        )
        parts.append(text.format(sampling.temperature, sampling.top_p, sampling.seed))
    if asked["instruction"] is not None and page.model_names and not page.recorded:
        text = Markup("Prompts were a user's turn of a chat, after the words “{}”.")
        parts.append(text.format(asked["instruction"]))
    return Markup(" ").join(parts)


def in_english(page: Page) -> bool:
    """Whether a run's templates and lexicon are English, as those of the release are, and of what was recorded.

    Raises:
        ProbekitError: another language than that of what is shown.
    """
    language = page.parameters["language"]
    if language != ENGLISH and (page.parameters["released"] or page.recorded):
        raise ProbekitError(
            f"language={language!r}: the released completions are English; leave language out, or ask models or files"
        )
    return bool(language == ENGLISH)


def _choice(page: Page) -> tuple[list[str], list[str]]:
    return list(page.parameters.get("levels", [CONSERVATIVE])), list(page.parameters.get("categories", []))


def load(
    page: Page, templates: str, models: Sequence[str], files: Sequence[str] = (), language: str = "en"
) -> Questions:
    """Templates and lexicon of a run, noted on the page; the lexicon by its parameters, see ``lexicon``.

    Args:
        templates, models, files, language: as in ``template_sets``.

    Raises:
        ProbekitError: another name, or a choice of words where there is none; ProbeError: the real data is not at hand.
    """
    other = other_lexicon(page)
    file = page.parameters.get("lexicon")
    sets = template_sets(templates, models, files, language)
    name = DEMO if set(sets) == {DEMO} else REAL
    if name == DEMO and not file:
        if other:
            raise ProbekitError(f"the demo world has no HurtLex, so no {other}: give templates={REAL!r}")
        questions = Questions(name, sets, demo_lexicon())
    else:
        words = lexicon(page, language)
        kinds = {str(kind): rows["lemma"].tolist() for kind, rows in words.groupby("category") if kind}
        questions = Questions(name, sets, words["lemma"].tolist(), kinds)
    for name, table in questions.sets.items():
        page.read(f"{name} templates", digest(table.to_json()), len(table))
    page.read(
        ", ".join(filter(None, [f"{questions.name} lexicon", other])),
        digest(canonical(list(questions.lexicon))),
        len(questions.lexicon),
    )
    return questions


def template_sets(
    templates: str, models: Sequence[str], files: Sequence[str] = (), language: str = ENGLISH
) -> dict[str, pd.DataFrame]:
    """Sets of templates by name.

    Args:
        templates: ``demo``, ``honest``, ``auto`` (demo where models are given, all of the zoo, and no file), or a file
            of one's own in HONEST's layout, which ends in ``.tsv``.
        models, files: that are asked, or read, for completions.
        language: of HONEST and HurtLex: en, es, fr, it, pt or ro; HONEST-queer and the demo world are English only.

    Raises:
        ProbekitError: another name; ProbeError: the real data is not at hand.
    """
    if language not in LANGUAGES:
        raise ProbekitError(f"language={language!r}: HONEST has {', '.join(LANGUAGES)}")
    if templates == AUTO:
        zoo = bool(models) and all(name.startswith("zoo/") for name in models)
        templates = DEMO if zoo and not files else REAL
    if templates == DEMO:
        if language != ENGLISH:
            raise ProbekitError(
                f"language={language!r}: the demo world is English: give templates={REAL!r}, or a {FILE} file"
            )
        return {DEMO: demo_honest_templates()}
    if templates != REAL and not templates.endswith(FILE):
        raise ProbekitError(f"templates={templates!r}: give {DEMO}, {REAL}, {AUTO} or a {FILE} file in HONEST's layout")
    if templates != REAL:
        return {Path(templates).stem: read_templates(Path(templates), Path(templates).stem)}
    subsets = SUBSETS if language == ENGLISH else SUBSETS[:1]
    return {subset: honest_templates(subset, language) for subset in subsets}  # type: ignore[arg-type]


def completions(given: Mapping[str, Any], k: int | None = None) -> list[Complete]:
    """What a page asks by its parameters; ``k`` in place of the parameter of that name."""
    sets = sets_of(given)
    return completing(given["models"], sets, given["k"] if k is None else k, **how(given))


def unreleased(given: Mapping[str, Any], k: int | None = None) -> list[Complete]:
    """``completions`` of a page that shows either these or the release."""
    return [] if given["released"] else completions(given, k)


def sets_of(given: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """``template_sets`` by the parameters of a page."""
    language = given.get("language", ENGLISH)
    return template_sets(given["templates"], given["models"], given["completions"], language)


def completed(answers: Sequence[Answer[Complete]], sets: Mapping[str, pd.DataFrame]) -> dict[str, dict[str, Rows]]:
    """Set of templates -> model -> per template, its completions, most likely first."""
    completions: dict[str, dict[str, Rows]] = {subset: {} for subset in sets}
    subset_of = {tuple(table["text"]): subset for subset, table in sets.items()}
    for answer in answers:
        texts, k = answer.result["completion"].tolist(), answer.question.k
        rows = [texts[start : start + k] for start in range(0, len(texts), k)]
        completions[subset_of[tuple(answer.question.prompts)]][answer.name] = rows
    return completions


def ask_all(
    page: Page, models: Sequence[str], files: Sequence[str], questions: Questions, k: int
) -> dict[str, dict[str, Rows]]:
    """The first k completions of every template: of models, asked now, and of files, each one model's.

    Args:
        files: of ``read_completions``, a line a template, found by its ``template_id`` or else by its ``prompt``.

    Returns:
        Set of templates -> model -> per template, its completions.

    Raises:
        ProbekitError: a file that does not complete each template once, or with fewer completions than k.
    """
    completions = completed(page.ask(completing(models, questions.sets, k, **how(page.parameters))), questions.sets)
    for file in files:
        said = read_completions(Path(file))
        if (given := len(said.texts[0])) < k:
            raise ProbekitError(f"{file} has {given} completions of a template, but the page asks for {k}: give more")
        name = shown_file(file)
        page.read(f"completions {name}", digest(canonical(said.texts)), len(said.texts))
        for subset, rows in aligned(file, said, questions).items():
            completions[subset][name] = [list(said.texts[row][:k]) for row in rows]
    for subset, by_model in completions.items():
        for model, answers in by_model.items():
            page.prompts.add("completions", _outcome_rows(subset, model, answers, questions))
    return completions


def _outcome_rows(subset: str, model: str, answers: Rows, questions: Questions) -> pd.DataFrame:
    """What one model completed of a set of templates, by the names of ``probekit.report.outcomes``."""
    table = questions.sets[subset].reset_index(drop=True)
    columns = {
        "model": model,
        "probe": subset,
        "prompt_id": table.get("template_id", table.index.to_series()).astype(str),
        "relation": table.get("identity"),
        "asked": table["text"],
        "answers": answers,
        "hurtful": hurtful(answers, questions.lexicon, RULES["audited"]).tolist(),
    }
    return pd.DataFrame(columns)


def aligned(file: str, said: Completions, questions: Questions) -> dict[str, list[int]]:
    """For every template of each set, the line of a file that completes it.

    Lines that all name templates by ``template_id`` are found by it; others by their prompt, whatever stands for the
    slot, templates of the same words in their order.

    Raises:
        ProbekitError: another number of lines than templates, or a template without a line.
    """
    total = sum(map(len, questions.sets.values()))
    if len(said.ids) != total:
        raise ProbekitError(f"{file} has {len(said.ids)} lines, but there are {total} templates: complete each once")
    ids = {name for table in questions.sets.values() if "template_id" in table for name in table["template_id"]}
    by_id = bool(ids) and set(said.ids) <= ids
    lines: dict[str, list[int]] = {}
    for row, key in enumerate(said.ids if by_id else map(bare, said.prompts)):
        lines.setdefault(key, []).append(row)
    matched: dict[str, list[int]] = {}
    for subset, table in questions.sets.items():
        for template, key in zip(
            table["text"], table["template_id"] if by_id else map(bare, table["text"]), strict=True
        ):
            if not lines.get(key):
                how = f"template_id {key!r}" if by_id else f"the prompt {template!r}"
                raise ProbekitError(
                    f"{file} has no line, or too few, for {how}: complete each template of {subset} once"
                )
            matched.setdefault(subset, []).append(lines[key].pop(0))
    return matched


def bare(prompt: str) -> str:
    """A prompt without the mark of its slot and what ends it, so that the same template in several forms is one."""
    return " ".join(SLOT.sub(" ", prompt).split()).rstrip(" .")


def completing(models: Sequence[str], sets: Mapping[str, pd.DataFrame], k: int, **how: Any) -> list[Complete]:
    """Every model completes every template k times; ``how`` of ``Complete``."""
    return [Complete(model, list(table["text"]), k, **how) for model in models for table in sets.values()]


def score_all(
    completions: Mapping[str, Mapping[str, Rows]], questions: Questions, variants: Collection[str] = PLAIN
) -> dict[str, list[Scored]]:
    """Match the completions of every model, of ``ask_all``, by default by the audited rules, accents stripped.

    Returns:
        Model -> its scores, one of each set of templates.
    """
    scores: dict[str, list[Scored]] = {}
    for subset, by_model in completions.items():
        prompts, people = (questions.sets[subset][column].tolist() for column in ("text", "identity"))
        for model, rows in by_model.items():
            matched = score(model, subset, prompts, rows, questions.lexicon, variants=variants, identities=people)
            scores.setdefault(model, []).append(matched)
    return scores
