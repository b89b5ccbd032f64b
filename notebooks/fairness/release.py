"""The released completions and the lexicon of paper 004, read for a page and noted on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from probekit.files import canonical, digest
from probekit.metrics.hurtfulness import Transliterate
from probekit.probes.completions import SUBSETS, Completions, Released, released_completions, released_models
from probekit.probes.honest import CONSERVATIVE, UNIDECODE, unidecoder
from probekit.report.page import Page

from notebooks.fairness import ask


def lexicon(page: Page) -> tuple[list[str], Transliterate]:
    """The words of the run's lexicon (``ask.lexicon``) and the transliteration of the paper's code.

    Raises:
        ProbeError: the lexicon is not at hand, or Unidecode is not installed.
    """
    words, transliterate = ask.lexicon(page)["lemma"].tolist(), unidecoder()
    page.libraries["unidecode"] = UNIDECODE
    of = "" if page.parameters.get("lexicon") else "HurtLex EN 1.2, "
    page.read(f"{of}{ask.other_lexicon(page) or CONSERVATIVE} (entries)", digest(canonical(words)), len(words))
    return words, transliterate


def released(
    page: Page, models: Sequence[Released] | None = None, subsets: Sequence[str] = SUBSETS
) -> Iterator[tuple[Released, str, Completions]]:
    """Every released model with its completions of each subset, the subsets of a model one after the other.

    The files are noted on the page when all have been read.

    Args:
        models: which, by default all.
        subsets: which; a model that lacks one is passed over there.

    Raises:
        ProbeError: completions are not at hand.
    """
    from tqdm.auto import tqdm

    digests = []
    chosen = list(released_models().values()) if models is None else models
    for model in tqdm(chosen, desc="released models", delay=2, leave=False):
        for subset in [subset for subset in subsets if subset in model.files]:
            said = released_completions(model.name, subset)
            digests.append(digest(canonical([said.prompts, said.texts])))
            yield model, subset, said
    page.read("released completions (files)", digest(*digests), len(digests))


def of_table() -> list[Released]:
    """The models of Table 1, in its order."""
    return [model for model in released_models().values() if model.in_table]


def completions_of_table(page: Page) -> dict[str, dict[str, Sequence[Sequence[str]]]]:
    """Set of templates -> model of Table 1 -> per template, its 100 released completions.

    Raises:
        ProbeError: completions are not at hand.
    """
    found: dict[str, dict[str, Sequence[Sequence[str]]]] = {subset: {} for subset in SUBSETS}
    for model, subset, completions in released(page, of_table()):
        found[subset][model.name] = completions.texts
    return found
