"""LIPID's recipe on texts at hand, as probes by name: PubMed sentences, MEDLINE files, the demo world's abstracts.

The paper's own prompts are not at hand; nor is CHEMDNER, whose lists it used. In their place stand the chemicals of
BC5CDR and the genes of BC2GM, as tagged in PubMed abstracts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from probekit.errors import ProbeError
from probekit.files.reading import lines
from probekit.probes.data import locate
from probekit.probes.lazy import Lazy
from probekit.probes.lipid.build import build
from probekit.probes.lipid.entities import homonyms, read_entities
from probekit.probes.lipid.prompts import MENTION, SENTENCES
from probekit.probes.probe import Probe, draw, read_rows, shows
from probekit.probes.texts import load_text

Kind = Literal["chemical", "gene"]
LISTS: dict[Kind, str] = {"chemical": "ner/BC5CDR-chem-IOB", "gene": "ner/BC2GM-IOB"}
LICENCE = "texts under NLM terms, entity lists CC BY 4.0"
SPLITS = ("train", "devel", "test")
HOMONYMS = "homonyms"
SIGNS = "entities listed that hold a letter or sign the text never uses"


@dataclass(frozen=True)
class Corpus:
    """What the recipe is given: text files, the names of each list, options of ``build``, the licence of both; and of
    each list the ``homonyms`` that its annotators mostly left untagged."""

    files: tuple[Path, ...]
    lists: Mapping[str, Sequence[str]]
    options: Mapping[str, Any]
    licence: str
    homonyms: Mapping[str, set[str]] = field(default_factory=dict)


def _corpus(files: tuple[Path, ...], **options: Any) -> Corpus:
    """Texts with the public lists."""
    tagged = {kind: [locate(f"{place}/{split}.tsv") for split in SPLITS] for kind, place in LISTS.items()}
    lists = {str(kind): [name for path in paths for name in read_entities(path)] for kind, paths in tagged.items()}
    return Corpus(files, lists, options, LICENCE, {kind: homonyms(paths) for kind, paths in tagged.items()})


def _pubmed(folder: Path, halves: Sequence[str] = ("pubmed-held-out",)) -> Corpus:
    text = folder / "sentences.txt"
    text.write_text("".join(f"{s}\n" for half in halves for s in load_text(half).sentences), "utf-8")
    return _corpus((text,), plain=True)


def _medline(_: Path) -> Corpus:
    files = tuple(sorted(locate("pubmed").glob("*.xml.gz")))
    if not files:
        raise ProbeError(f"no .xml.gz file in {locate('pubmed')}; `probekit lipid fetch` downloads PubMed's")
    return _corpus(files)


CORPORA: dict[str, Callable[[Path], Corpus]] = {
    "demo_lipid": Lazy("probekit.demo.world.pubmed:demo_corpus"),
    "medline": _medline,
    "pubmed": _pubmed,
    "pubmed_both": partial(_pubmed, halves=("pubmed-train", "pubmed-held-out")),
}


def make_prompts(name: str, folder: Path) -> tuple[dict[str, Path], dict[str, Any]]:
    """Run the recipe on a text by name, into ``folder``.

    Args:
        name: ``demo_lipid``; ``medline``, all PubMed files of the data folder, without a cut-off day; ``pubmed``, the
            held-out half of MedLAMA's PubMed sentences (see ``probes.texts``), or ``pubmed_both`` halves, where only
            the later steps run.
        folder: for the prompts and all files on the way.

    Returns:
        The prompts of each list, as JSONL, and what ``build`` returns, with ``licence``, under ``homonyms`` the
        tokens of each list's entities that mostly stand outside them, and for ``pubmed`` and ``pubmed_both`` how many
        entities of each list hold a sign that the text never uses, so that they cannot be found.

    Raises:
        ProbeError: unknown name, or data not at hand.
    """
    if name not in CORPORA:
        raise ProbeError(f"LIPID's recipe knows no text {name!r}; there are {', '.join(CORPORA)}")
    corpus, out = CORPORA[name](folder), folder / "prompts"
    for kind, names in corpus.lists.items():
        (folder / f"{kind}.txt").write_text("".join(f"{entity}\n" for entity in names), "utf-8")
    entities = {kind: [folder / f"{kind}.txt"] for kind in corpus.lists}
    made = build(corpus.files, entities, out, **corpus.options) | {"licence": corpus.licence}
    made[HOMONYMS] = {kind: sorted(corpus.homonyms.get(kind, ())) for kind in corpus.lists}
    if corpus.options.get("plain"):
        signs = {sign for path in corpus.files for _, line in lines(path) for sign in line}
        beyond = {kind: sum(not signs.issuperset(term) for term in set(names)) for kind, names in corpus.lists.items()}
        made[SIGNS] = beyond
    return {kind: out / f"{kind}.jsonl" for kind in corpus.lists}, made


def lipid(name: str, kind: Kind, limit: int | None = None, seed: int = 0) -> Probe:
    """The prompts of one list that the recipe makes from a text (see ``make_prompts``), ``NAME/KIND``.

    The candidates are the entities of that list that are masked in it, whatever the options. Entities are found in
    their exact case, so those written with a capital are not found in ``pubmed``, which has none; they may stand in a
    prompt unseen. ``shows_gold`` tells whether the masked name stands elsewhere in the sentence in another case;
    ``homonym``, whether its annotators left that name, of one token, untagged in most places.

    Args:
        name: of the text.
        kind: the list.
        limit: at most so many prompts, drawn with ``seed``.

    Raises:
        ProbeError: unknown name, or data not at hand.
    """
    with tempfile.TemporaryDirectory() as work:
        paths, made = make_prompts(name, Path(work))
        rows = read_rows(paths[kind])
    entities = [row["gold"][0] for row in rows]
    rows = draw(rows, limit, seed)
    prompts = pd.DataFrame(rows).assign(
        fact_id=[row["gold"][0] for row in rows],  # prompts of one entity are alike in what must be known
        exact_surface=[row["surface"] == row["gold"][0] for row in rows],
        shows_gold=[shows(row["gold"][0], row["text"]) for row in rows],
        homonym=[row["gold"][0] in made[HOMONYMS][kind] for row in rows],
    )
    counts = {key: made["counts"][key] for key in (SENTENCES, MENTION)}
    counts |= {f"entities listed: {kind}": made["entities listed"][kind]}
    counts |= {SIGNS: made[SIGNS][kind]} if SIGNS in made else {}
    metadata = {"domain": "biomedical", "licence": made["licence"], "citation": "shaier2024", "counts": counts}
    return Probe(f"{name}/{kind}", prompts, entities, style="natural", **metadata)
