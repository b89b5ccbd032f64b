"""Texts to train small models on, from the public data at hand or generated: one sentence a line, always the same.

``lama-taught`` tells a model the taught half of LAMA's facts and keeps the held-out half from it (see ``halves``);
``lama-templates`` tells that half through its templates, a control for the style of what a model was tuned on;
``pubmed-train`` and ``pubmed-held-out`` are the two halves of MedLAMA's PubMed sentences, so that prompts made from one
half can be put to a model that read the other. ``demo-...`` are what the models of the zoo read, and need no data.
The models of ``book/models`` but ``general`` read texts of ``lab-...``, see ``lab``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from probekit.errors import ProbeError
from probekit.files.reading import HELD, lines
from probekit.probes.data import locate
from probekit.probes.halves import is_even, is_taught
from probekit.probes.lama import Fact, google_re_facts, sample_sentences, template_texts, trex_facts
from probekit.probes.lazy import Lazy, chosen
from probekit.probes.probe import MASK

PER_FACT = 6  # different sentences of one fact; popular facts have hundreds
ELICIT = "medlama/elicit_corpora"
DOSES = (0, 25, 50, 75, 100)  # percentage of the facts of the laboratory that are told by template


@dataclass(frozen=True)
class Text:
    """``sentences`` in order, none empty or with a line break; ``counts`` of what they came from.

    Sentences are distinct, but that ``demo-documents`` has some of them several times.

    ``names``, sorted, are all of its domain's facts, if it is generated, or the objects told, if it is of ``lab``.
    """

    name: str
    sentences: tuple[str, ...]
    counts: Mapping[str, int]
    names: tuple[str, ...] = ()


def clean(sentence: str) -> str:
    """A sentence without line breaks, and with single spaces."""
    return " ".join(sentence.split())


def make_text(name: str, sentences: Iterable[str], counts: Mapping[str, int], names: Iterable[str] = ()) -> Text:
    """A text of the distinct ``sentences``, with their number among its counts.

    Raises:
        ProbeError: there is no sentence.
    """
    distinct = tuple(dict.fromkeys(sentences))
    if not distinct:
        raise ProbeError(f"{name}: no sentence is left; the data files are empty")
    return Text(name, distinct, {**counts, "sentences": len(distinct)}, tuple(sorted(set(names))))


def _lines(path: Path) -> Iterator[str]:
    return (cleaned for _, line in lines(path, HELD) if (cleaned := clean(line)))


def _taught_half(name: str, shown: Callable[[Fact], Iterable[str]], same: Callable[[str], str] = str) -> Text:
    """What ``shown`` makes of the taught facts, at most six a fact, without what it also makes of a held-out one.

    Two sentences are one where ``same`` makes them equal.
    """
    facts = google_re_facts() + trex_facts()[0]
    taught = [f for f in facts if is_taught(f.predicate, f.subject, f.object)]
    held_out = [f for f in facts if not is_taught(f.predicate, f.subject, f.object)]
    blocked = {same(s) for f in held_out for s in shown(f)}
    shared, sentences = set[str](), list[str]()
    for fact in taught:
        filled = dict.fromkeys(shown(fact))
        shared.update(s for s in filled if same(s) in blocked)
        usable = replace(fact, sentences=tuple((s, fact.object) for s in filled if s and same(s) not in blocked))
        sentences += [s for s, _ in sample_sentences(usable, PER_FACT, 0)]
    counts = {
        "facts": len(facts),
        "facts of the taught half": len(taught),
        "left out: sentences that also support a held-out fact": len(shared),
    }
    return make_text(name, sentences, counts)


def lama_taught() -> Text:
    """Sentences of the taught half of Google-RE's and T-REx's facts, the hidden name filled in again.

    At most six different ones a fact. A sentence that also supports a held-out fact is left out and counted, so no
    model reads it here. ``halves`` still sets such facts apart, as other half-taught models did read it.
    """
    return _taught_half("lama-taught", lambda fact: [clean(s.replace(MASK, surface)) for s, surface in fact.sentences])


def lama_templates() -> Text:
    """Facts of the same half, each in its relation's template: one sentence a fact, its object filled in.

    A sentence that a template also makes of a held-out fact is left out and counted, as relations share templates, or
    have templates that differ in the space before the full stop.
    """
    filled = {**template_texts(google_re_facts()), **template_texts(trex_facts()[0])}

    def shown(fact: Fact) -> list[str]:
        return [clean(filled[fact.fact_id].replace(MASK, fact.object))]

    return _taught_half("lama-templates", shown, lambda sentence: "".join(sentence.split()))


def wikipedia() -> Text:
    """The 10,000 Wikipedia sentences that come with MedLAMA; they have case and, but for some
    dashes, quotation marks and rare signs, no punctuation."""
    sentences = list(_lines(locate(f"{ELICIT}/wiki_sents_no_punkt_10k.txt")))
    return make_text("wikipedia", sentences, {"lines": len(sentences)})


def general() -> Text:
    """``lama-taught`` and ``wikipedia``, one after the other."""
    parts = lama_taught(), wikipedia()
    counts = {f"sentences of {text.name}": len(text.sentences) for text in parts}
    return make_text("general", (s for text in parts for s in text.sentences), counts)


def _pubmed(name: str, even: bool) -> Text:
    paths = sorted(locate(ELICIT).glob("pubmed_sents_*"))
    if not paths:
        raise ProbeError(f"no file pubmed_sents_* in {locate(ELICIT)}; put MedLAMA's elicit_corpora there")
    every = [line for path in paths for line in _lines(path)]
    distinct = dict.fromkeys(every)
    counts = {"lines": len(every), "distinct sentences of both halves": len(distinct)}
    return make_text(name, (s for s in distinct if is_even(s) == even), counts)


def pubmed_train() -> Text:
    """Half of MedLAMA's PubMed sentences (about 100,000, neither case nor punctuation); see ``is_even``."""
    return _pubmed("pubmed-train", even=True)


def pubmed_held_out() -> Text:
    """The other half of the PubMed sentences, none of them in ``pubmed-train``."""
    return _pubmed("pubmed-held-out", even=False)


TEXTS: dict[str, Callable[[], Text]] = {
    "lama-taught": lama_taught,
    "lama-templates": lama_templates,
    "wikipedia": wikipedia,
    "general": general,
    "pubmed-train": pubmed_train,
    "pubmed-held-out": pubmed_held_out,
    "lab-untuned": chosen("probes.lab:untuned"),
    **{f"lab-dose-{share}": partial(chosen("probes.lab:dose"), share) for share in DOSES},
    "lab-both-ways": chosen("probes.lab:both"),
    **{f"lab-knows-{which}": partial(chosen("probes.lab:knows"), which) for which in ("asked", "other")},
    **{f"lab-medlama-{which}": partial(chosen("probes.lab:domain"), which) for which in ("general", "biomedical")},
    "demo-general": Lazy("probekit.demo.world.training_text:general"),
    "demo-documents": Lazy("probekit.demo.world.training_text:documents"),
    "demo-biomedical": Lazy("probekit.demo.world.training_text:biomedical"),
    "demo-chinese": Lazy("probekit.demo.world.training_text:chinese"),
}


def load_text(name: str) -> Text:
    """A text by its name, such as ``lama-taught``.

    Raises:
        ProbeError: unknown name, or its data not at hand or broken.
        ModelError: of some of ``lab-...``, the extra ``minilm`` is not installed.
    """
    if name not in TEXTS:
        raise ProbeError(f"no text {name!r}; there are {', '.join(TEXTS)}")
    return TEXTS[name]()
