"""What is known of a model besides its weights: pages group models by it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probekit.errors import ModelError, ProbeError
from probekit.files.naming import shown_name
from probekit.files.reading import read_object
from probekit.models.loading import at_revision, find_model
from probekit.models.registry import entry_of
from probekit.models.shipped import PACKAGED, RECORD
from probekit.probes.halves import HALVED, halves
from probekit.probes.lazy import chosen

UNKNOWN = "unknown"
EXPOSURE = chosen("probes.lab:exposure")
NATURAL = chosen("probes.lab:natural")
DOSE = "lab-dose-"  # so begin the laboratory's texts that tell facts of T-REx in its sentences or by template
BOTH = "lab-both-ways"  # tells each of these facts in both ways
TELLING = (DOSE, BOTH, "lab-knows-")  # and with those that tell them in wordings alone
FAMILIES = {  # type of a configuration -> name of the family in the tables
    "bert": "BERT",
    "roberta": "RoBERTa",
    "albert": "ALBERT",
    "distilbert": "DistilBERT",
    "electra": "ELECTRA",
    "llama": "LLaMA",
    "t5": "T5",
}


@dataclass(frozen=True)
class ModelCard:
    """A model in a few words.

    Args:
        category: ``general``, ``biomedical fine-tuned``, ``biomedical``, ``unknown``, or a word of one's own.
        family: architecture, as in ``models.yml`` or as a folder's configuration calls it, or ``unknown``.
        size: a word or the size as printed, such as ``tiny``, ``base``, ``7b``; of a model trained here
            what follows the last hyphen of its recipe's name, such as ``onward``; empty where unknown.
        parameters: in millions; None where unknown.
        base: the model whose weights it goes on from, where it was trained here on those.
        texts: names of the texts that it read, where it was trained here.
        loss: at the end of that training, in nats; None where unknown.
        unigram: what the frequencies of tokens alone give, in nats; None where unknown.
    """

    category: str = UNKNOWN
    family: str = UNKNOWN
    size: str = ""
    parameters: float | None = None
    base: str = ""
    texts: tuple[str, ...] = ()
    loss: float | None = None
    unigram: float | None = None


def about(name: str) -> ModelCard:
    """The card of a model as ``load_model`` names it: registered, of the zoo, or a folder.

    A folder trained here says it in ``training.json``; of another folder the family is read from its configuration.

    Raises:
        ModelError: such as that zoo or adapters lack it, or a damaged ``training.json`` or ``config.json``.
    """
    if name in PACKAGED:  # whether or not its package is installed
        return ModelCard()
    if entry := entry_of(at_revision(name)[0]):
        return ModelCard(entry.category, entry.family, entry.size, entry.parameters)
    folder = Path(find_model(name))
    if table := _read(folder / RECORD):
        try:
            return card_of(table)
        except ModelError as error:
            raise ModelError(f"{folder}, {error}") from error
    of_type = str(_read(folder / "config.json").get("model_type", UNKNOWN))
    return ModelCard(family=FAMILIES.get(of_type, of_type))


def base_of(card: ModelCard) -> ModelCard:
    """The card of the model whose weights one goes on from."""
    return about(card.base) if card.base else ModelCard()


def lineage(name: str) -> str:
    """The model whose weights a model trained here goes on from, through all that it was tuned from, or itself; of
    another its kind and size of network, since most models of one kind and size go on from one of them."""
    first, card = shown_name(name), about(name)
    trained = bool(card.texts)
    while card.base:
        first, card = card.base, base_of(card)
    if entry := entry_of(at_revision(first)[0]):
        return f"{entry.family} {entry.size}"
    return first if trained else f"{card.family} {card.size}".strip()


def halves_of(name: str, dataset: str, halved: Collection[str] = (), own: bool = False) -> dict[str, str]:
    """Which facts of a data set a model was told: ``fact_id`` -> ``taught`` or ``held out``, as in ``halves`` and
    ``lab.exposure``; facts that are in neither half are absent, and all are where nothing is known.

    Args:
        name: as in ``load_model``.
        halved: models that were taught half of the LAMA facts in their sentences.
        own: of the laboratory, also facts that the texts of this model tell and those of others do not.
    """
    if dataset not in HALVED:
        return {}
    if name in halved:
        return halves(dataset)
    told = [text for text in about(name).texts if dataset != "google_re" and text.startswith(TELLING)]
    return EXPOSURE(dose=own and told[0].startswith((DOSE, BOTH))) if told else {}


def sentences_of(name: str) -> list[str]:
    """The sentences of T-REx's evidence that a model of the laboratory read; of others none is known."""
    read = [text.removesuffix(".txt").replace(BOTH, f"{DOSE}0") for text in about(name).texts]
    shares = [text.removeprefix(DOSE) for text in read if text.startswith(DOSE)]
    return [line for share in shares for line in NATURAL(int(share))]


def card_of(record: Mapping[str, Any]) -> ModelCard:
    """The card of a model trained here, from what its ``training.json`` says.

    Raises:
        ModelError: it lacks a field, or one is of the wrong kind.
    """
    try:
        recipe, parameters = str(record["recipe"]), round(record["parameters"] / 1e6, 3)
        size = recipe.rpartition("-")[2] if "-" in recipe else ""
        texts = tuple(str(text["name"]) for text in record["texts"])
        loss = float(record["loss"][-1][1]) if record.get("loss") else None
        unigram = None if record.get("unigram") is None else float(record["unigram"])
        category, family, base = (str(record[name]) for name in ("category", "family", "base"))
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        fault = f"no field {error}" if isinstance(error, KeyError) else f"a field is of the wrong kind ({error})"
        raise ModelError(f"{RECORD}: {fault}; train the model again, or remove the file") from error
    return ModelCard(category, family, size, parameters, base, texts, loss, unigram)


def _read(path: Path) -> dict:
    if not path.is_file():
        return {}
    try:
        return read_object(path)
    except ProbeError as error:
        raise ModelError(str(error)) from error
