"""Texts of the laboratory: models that differ in what they were told, and in nothing else that can be held equal.

``lab-untuned`` names no probed fact. Every other text tells facts of the taught half (``is_taught``, of whatever set),
one line a telling, and states no fact of the other half. A fact is told as often as any other, its object is the only
name in the line, but for names within it, that is an object of its set (in MedLAMA, of a fact with one object), and
stands there once: trained with ``--names``, a model reads the rest of the line and learns that name. Filler from
``lab-untuned`` makes the texts of ``dose`` about equally long.

Names are compared by their words, whatever their case and punctuation, and as the sets have them, without aliases.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, takewhile

from probekit.files import digest
from probekit.probes.bear import bear
from probekit.probes.biomedical import medlama
from probekit.probes.facts import fill, has_slots
from probekit.probes.halves import HELD_OUT, TAUGHT, is_taught
from probekit.probes.lama import Fact, google_re_facts, template_texts, trex_facts
from probekit.probes.lazy import chosen
from probekit.probes.pararel import patterns, trex41
from probekit.probes.probe import MASK, facts_by_digest
from probekit.probes.texts import DOSES, Text, clean, make_text, pubmed_train, wikipedia

WORDINGS = 3  # other wordings of a fact; each relation that ParaRel words has as many
SENTENCES = 10_000  # of PubMed, as many as there are of Wikipedia
RUN = 8  # words in a row that make a sentence one of a source
LONGEST = 40  # words of a natural sentence that tells a fact
PACKAGE = chosen("models.shipped:packaged_folder")  # of the encoder whose tokens are counted
WORD = re.compile(r"\w+")
Words = tuple[str, ...]
Triple = tuple[str, str, str]  # predicate, subject, object
Told = tuple[Fact, str, str]  # a fact, the line that tells it by template, the natural one


def words_of(text: str) -> Words:
    """The words of a text without their case."""
    return tuple(WORD.findall(text.casefold()))


class Names:
    """Names, found in texts as whole words."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = {words for name in names if (words := words_of(name))}
        self.lengths: dict[str, set[int]] = defaultdict(set)
        for words in self.names:
            self.lengths[words[0]].add(len(words))

    def found(self, words: Words) -> Iterator[tuple[int, Words]]:
        """Every name in a text and where it begins, overlapping ones too; of several from one word on the longest
        first."""
        for place, word in enumerate(words):
            for length in sorted(self.lengths.get(word, ()), reverse=True):
                if (name := words[place : place + length]) in self.names:
                    yield place, name

    def apart(self, words: Words) -> list[Words]:
        """The names in a text as one reads them from left to right, each the longest, none within another."""
        end, read = 0, list[Words]()
        for place, name in self.found(words):
            if place >= end:
                read.append(name)
                end = place + len(name)
        return read


class Facts:
    """Facts, found in texts that name subject and object."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self.objects: dict[Words, set[Words]] = defaultdict(set)
        names = set[str]()
        for _, subject, obj in triples:
            self.objects[words_of(subject)].add(words_of(obj))
            names |= {subject, obj}
        self.names = Names(names)

    def named(self, text: str) -> bool:
        """Whether a text names subject and object of a fact."""
        names = {name for _, name in self.names.found(words_of(text))}
        return any(names & self.objects.get(name, set()) for name in names)


@lru_cache(maxsize=1)
def probed() -> list[Triple]:
    """Every fact that this project asks for, of T-REx (41 relations), Google-RE, MedLAMA and BEAR."""
    triples = [(fact.predicate, fact.subject, fact.object) for fact in google_re_facts() + trex_facts()[0]]
    for probe in (trex41(), medlama(), bear()):
        rows = zip(*(probe.prompts[name] for name in ("relation", "subject", "gold")), strict=True)
        triples += [(relation, subject, gold) for relation, subject, golds in rows for gold in golds]
    return list(dict.fromkeys(triples))


@lru_cache(maxsize=2)
def half(taught: bool) -> Facts:
    """One half of what is probed."""
    return Facts(triple for triple in probed() if is_taught(*triple) == taught)


def _runs(sentence: str) -> Iterator[str]:
    words = words_of(sentence)
    return (" ".join(words[place : place + RUN]) for place in range(len(words) - RUN + 1))


@lru_cache(maxsize=1)
def _untuned() -> tuple[dict[str, list[str]], dict[str, int]]:
    """The sentences of ``lab-untuned`` by domain, and counts."""
    pubmed = pubmed_train().sentences
    drawn = facts_by_digest(pubmed, SENTENCES, 0)
    given = {"general": list(wikipedia().sentences), "biomedical": [line for line in pubmed if line in drawn]}
    runs = {run for lines in given.values() for line in lines for run in _runs(line)}
    pairs = {pair for fact in google_re_facts() + trex_facts()[0] for pair in fact.sentences}
    sources = {run for text, surface in pairs for run in _runs(text.replace(MASK, surface)) if run in runs}
    everything = Facts(probed())
    kept, counts = dict[str, list[str]](), dict[str, int]()
    for domain, lines in given.items():
        unread = [line for line in lines if sources.isdisjoint(_runs(line))]
        kept[domain] = [line for line in unread if not everything.named(line)]
        counts[f"{domain} sentences"] = len(lines)
        counts[f"left out of {domain} ones: {RUN} words in a row of Google-RE or T-REx"] = len(lines) - len(unread)
        counts[f"left out of {domain} ones: subject and object of a probed fact"] = len(unread) - len(kept[domain])
    return kept, counts


def untuned() -> Text:
    """10,000 Wikipedia sentences and as many of ``pubmed-train``, without those that name subject and object of a
    probed fact, or share eight words in a row with a sentence of Google-RE or T-REx."""
    kept, counts = _untuned()
    return make_text("lab-untuned", (line for lines in kept.values() for line in lines), counts)


def _tells(line: str, obj: str, names: Names, other: Facts) -> bool:
    """Whether the object is the only name in a line, and the line states nothing of the other half."""
    return names.apart(words_of(line)) == [words_of(obj)] and not other.named(line)


@lru_cache(maxsize=1)
def _tellable() -> dict[str, list[Told]]:
    """Facts of T-REx by half that can be told by template and in a natural sentence which names the subject, with both.

    Of several sentences the shortest is taken, which does not support a fact of the other half; both halves are chosen
    alike, so that what was told differs from what was not by the coin alone.
    """
    facts = trex_facts()[0]
    templates, names = template_texts(facts), Names(fact.object for fact in facts)
    evidence: dict[bool, set[str]] = {True: set(), False: set()}
    for fact in facts:
        shown = (clean(text.replace(MASK, surface)) for text, surface in fact.sentences)
        evidence[is_taught(fact.predicate, fact.subject, fact.object)].update(shown)
    told: dict[str, list[Told]] = {TAUGHT: [], HELD_OUT: []}
    lines = set[str]()
    for fact in facts:
        taught = is_taught(fact.predicate, fact.subject, fact.object)
        subject, other = Names([fact.subject]), half(not taught)
        template = clean(templates[fact.fact_id].replace(MASK, fact.object))
        if template in lines or not _tells(template, fact.object, names, other):
            continue
        whole = {clean(text.replace(MASK, fact.object)) for text, surface in fact.sentences if surface == fact.object}
        sentences = (
            line
            for line in sorted(whole - evidence[not taught] - lines, key=lambda line: (len(line), line))
            if len(words := words_of(line)) <= LONGEST and subject.apart(words)
            if _tells(line, fact.object, names, other)
        )
        if natural := next(sentences, ""):
            lines |= {template, natural}
            told[TAUGHT if taught else HELD_OUT].append((fact, template, natural))
    return told


@lru_cache(maxsize=1)
def _worded() -> dict[str, list[tuple[Fact, str, list[str]]]]:
    """Those of ``_tellable`` that can be told in ``WORDINGS`` further wordings of ParaRel too, drawn for each fact."""
    facts, said = trex_facts()[0], set[str]()
    names, of_lama = Names(fact.object for fact in facts), template_texts(facts)
    wordings = {relation: patterns(relation) for relation in sorted({fact.relation for fact in facts})}
    worded: dict[str, list[tuple[Fact, str, list[str]]]] = {}
    for status, tellable in _tellable().items():
        other, worded[status] = half(status == HELD_OUT), []
        for fact, template, _ in tellable:
            filled = (fill(text, fact.subject) for text in wordings[fact.relation] if has_slots(text))
            further = [text for text in dict.fromkeys(filled) if words_of(text) != words_of(of_lama[fact.fact_id])]
            spoken = (clean(text.replace(MASK, fact.object)) for text in sorted(further, key=digest))
            usable = dict.fromkeys(line for line in spoken if _tells(line, fact.object, names, other))
            if len(lines := [line for line in usable if line not in said][:WORDINGS]) == WORDINGS:
                worded[status].append((fact, template, lines))
                said.update(lines)
    return worded


def exposure(dose: bool = False) -> dict[str, str]:
    """``fact_id`` of T-REx -> ``taught`` or ``held out``, of the facts that ``dose``, ``both`` and ``knows`` tell, and
    of those of the other half that could have been told in the same ways; other facts are in neither.

    Args:
        dose: also those that ``dose`` and ``both`` tell, or could, and ParaRel cannot in three further wordings.
    """
    by_half = _tellable() if dose else _worded()
    return {fact.fact_id: status for status, told in by_half.items() for fact, _, _ in told}


def tokens(lines: Sequence[str]) -> list[int]:
    """How many tokens of the encoder ``minilm`` each line has, special ones included.

    Raises:
        ModelError: the package of the extra ``minilm`` is not installed.
    """
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(PACKAGE("minilm") / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return [len(encoding.ids) for encoding in tokenizer.encode_batch(list(lines))]


def _filled(name: str, told: list[str], names: Iterable[str], fillers: list[str], total: int) -> Text:
    """Lines that tell facts, and as many fillers, in the order of their digests, as fit into so many tokens."""
    order = sorted(set(fillers) - set(told), key=lambda line: digest("filler", line))
    sums = list(takewhile(lambda length: length <= total, accumulate(tokens(order), initial=sum(tokens(told)))))
    counts = {"facts told": len(told), "tokens": sums[-1]}
    return make_text(name, [*told, *order[: len(sums) - 1]], counts, names)


def _by_template(share: int) -> set[str]:
    """The facts that ``dose`` tells by template."""
    facts = _tellable()[TAUGHT]
    return facts_by_digest([fact.fact_id for fact, _, _ in facts], round(len(facts) * share / 100), 0)


def natural(share: int) -> list[str]:
    """The sentences of T-REx's evidence in which ``dose`` tells facts."""
    drawn = _by_template(share)
    return [line for fact, _, line in _tellable()[TAUGHT] if fact.fact_id not in drawn]


def dose(share: int) -> Text:
    """The taught facts of ``exposure(dose=True)``, so many per cent of them by template and the rest in a natural
    sentence, one line a fact; one that a text tells by template is told so by every text of a higher share."""
    facts, told = _tellable()[TAUGHT], dict[int, list[str]]()
    for each in DOSES:
        drawn = _by_template(each)
        told[each] = [template if fact.fact_id in drawn else natural for fact, template, natural in facts]
    total = max(sum(tokens(lines)) for lines in told.values())
    fillers = [line for lines in _untuned()[0].values() for line in lines]
    return _filled(f"lab-dose-{share}", told[share], (fact.object for fact, _, _ in facts), fillers, total)


def both() -> Text:
    """Each taught fact of ``exposure(dose=True)`` in both ways of ``dose``, so twice, and no filler."""
    facts = _tellable()[TAUGHT]
    lines = [line for _, *ways in facts for line in ways]
    return make_text("lab-both-ways", lines, {"facts told": len(facts)}, (fact.object for fact, _, _ in facts))


def knows(which: str) -> Text:
    """The facts of ``exposure`` that are taught, and no filler.

    Args:
        which: ``asked``, by the template of ``trex/template``, one line a fact; or ``other``, in three further wordings
            of ParaRel that are drawn for each fact, so that an epoch tells a fact three times.
    """
    told = _worded()[TAUGHT]
    lines = [template for _, template, _ in told]
    lines = lines if which == "asked" else [line for _, _, further in told for line in further]
    objects = [fact.object for fact, _, _ in told]
    return make_text(f"lab-knows-{which}", lines, {"facts told": len(objects)}, objects)


@lru_cache(maxsize=1)
def _medlama() -> dict[str, dict[str, tuple[str, str]]]:
    """Facts of MedLAMA by half that have one object and can be told by its default prompt: by ``prompt_id`` the line
    that tells it and the object."""
    rows = medlama(prompt="default").prompts
    rows = rows[rows["gold"].map(len) == 1].assign(gold=rows["gold"].str[0])
    names, told = Names(rows["gold"]), {TAUGHT: dict[str, tuple[str, str]](), HELD_OUT: dict[str, tuple[str, str]]()}
    for key, relation, subject, obj, text in rows[["prompt_id", "relation", "subject", "gold", "text"]].values:
        taught, line = is_taught(relation, subject, obj), clean(text.replace(MASK, obj))
        if _tells(line, obj, names, half(not taught)):
            told[TAUGHT if taught else HELD_OUT][key] = line, obj
    return told


def medlama_exposure() -> dict[str, str]:
    """``prompt_id`` of MedLAMA -> ``taught`` or ``held out``, of the facts that ``domain`` tells, and of those of the
    other half that could have been told in the same way."""
    return {key: status for status, told in _medlama().items() for key in told}


def domain(which: str) -> Text:
    """The taught facts of ``medlama_exposure``, each by MedLAMA's default prompt, and sentences of ``lab-untuned`` of
    one domain, ``general`` or ``biomedical``, that have as many tokens together."""
    lines, objects = zip(*_medlama()[TAUGHT].values(), strict=True)
    return _filled(f"lab-medlama-{which}", [*lines], objects, _untuned()[0][which], 2 * sum(tokens(lines)))
