"""What pages ask of models, result by result, without asking it: how much work it is, and how much of it is done."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pkgutil import resolve_name
from typing import Any

from probekit.errors import ModelError, ProbekitError, ReportError, caution, counted
from probekit.files import canonical, digest
from probekit.files.naming import shown_name, without_folders
from probekit.models import load_model, registry
from probekit.models.model import Model
from probekit.models.source import Source
from probekit.paths import source
from probekit.report.run import absolute_paths
from probekit.report.sources import complete, page_meant, pages, studies
from probekit.run.answers import LOADING, Answer, Models
from probekit.scoring.question import Question
from probekit.store import Store, Work, answer

STAND_INS = {"masked": "zoo/bert-tiny", "causal": "zoo/llama-tiny", "seq2seq": "zoo/t5-tiny"}
UNPLANNED = "could not be planned: "  # so begins what is said of a page of which nothing could be read
BYTES = 4  # of a weight in float32


@dataclass(frozen=True)
class Planned:
    """One result of a page.

    Args:
        function, title: what runs, as the store and its progress call it.
        model: its name.
        gigabytes: of its weights; None where unknown.
        rows, tokens: of forward passes that are missing; of all, where some are finished. None where unknown.
        shards, missing: pieces of the result, and those not finished; ``missing`` is all where the weights were never
            read, since results are kept by them.
        note: why a number is no more than an estimate; else empty.
        place: digest of the result's key: the same on all pages that share it.
    """

    function: str
    title: str
    model: str
    gigabytes: float | None
    rows: int
    tokens: int | None
    shards: int
    missing: int
    note: str
    place: str

    def seconds(self, rate: float) -> float | None:
        """At so many tokens a second."""
        return None if self.tokens is None else self.tokens / rate


class _Unread(Models):
    """Models whose weights nobody reads. One that is not here is stood for by a small one of its kind."""

    def __init__(self, loading: Mapping[str, Any]) -> None:
        super().__init__(loading, self._fingerprint_of)
        self.notes: dict[str, tuple[float | None, str]] = {}  # by fingerprint: gigabytes, note

    def _fingerprint_of(self, source: Source) -> str:
        fingerprint = source.recorded or f"not read: {source.key}"
        size = _bytes(source.outline, self.loading.get("quantization", "")) / 1e9
        self.notes.setdefault(fingerprint, (size, "" if source.recorded else "weights were never read here"))
        return fingerprint

    def of(self, question: Question) -> Model:
        try:
            return super().of(question)
        except ModelError:
            entry = registry().get(question.name)
            if entry is None or question.copy_by:
                raise
        name = question.title or question.name
        stand_in = load_model(STAND_INS[entry.kind], read=False).renamed(name)
        note = f"not at hand: rows and tokens are those of {STAND_INS[entry.kind]}, which cuts words smaller"
        stand_in.__dict__["fingerprint"] = f"absent: {name}"
        self.notes[stand_in.fingerprint] = (_gigabytes(question.name), note)
        return stand_in


def _bytes(network: Any, bits: str) -> float:
    """Of a network's weights; ``8bit`` or ``4bit`` are those of its linear layers but the head (bitsandbytes)."""
    from torch.nn import Linear
    from transformers.pytorch_utils import Conv1D  # of GPT-2

    heads = {id(network.get_output_embeddings())}
    linear = [part for part in network.modules() if isinstance(part, Linear | Conv1D) and id(part) not in heads]
    rounded = {id(part.weight) for part in linear}
    short = {"8bit": 1, "4bit": 0.5}.get(bits)
    each = ((w.numel(), short if short and id(w) in rounded else w.element_size()) for w in network.parameters())
    return sum(count * size for count, size in each)


def plan(name: str, given: Mapping[str, Any], profile: str = "demo") -> tuple[list[Planned], str]:
    """The results that a page asks for, in order, and a note on further ones that depend on their answers, if any.

    The functions under ``questions`` in ``studies.yml`` give the page's questions; each is called with the parameters
    of the page and with the answers to all earlier ones, once these are finished. No weights are read or fetched;
    of a model on the Hub configuration and tokenizer are.

    Raises:
        ProbekitError: an unknown page or parameter, or data not at hand.
    """
    values = {key: absolute_paths(value) for key, value in complete(name, given, profile).items()}
    if values.get("recorded"):
        return [], ""
    models = _Unread({key: values[key] for key in LOADING if key in values})
    store, planned, answers = Store(), list[Planned](), list[list[Answer[Any]]]()
    for reference in studies()[name].get("questions", "").split():
        module, _, function = reference.partition(":")
        ask = resolve_name(f"notebooks.{source(name).parent.name}.{module}:{function}")
        answers.append([])
        missing = dict[str, None]()
        for question in ask(values, *answers[:-1]):
            try:
                model = models.of(question)
                work = question.work(model)
            except ModelError as error:  # it is left out of the page too, and the others go on
                caution(f"{shown_name(question.name)}: {without_folders(str(error))}")
                continue
            if work.sizes:
                shards = store.missing(work)
                planned.append(_planned(work, shards, model, models))
                missing |= {work.function: None} if shards else {}
            if not missing:
                answers[-1].append(Answer(question, shown_name(model.name), model.kind, answer(work, store)))
        if missing and reference != studies()[name]["questions"].split()[-1]:
            return planned, f"what hangs on {' and '.join(missing)} is listed once they are finished"
    return planned, ""


def _planned(work: Work, missing: Sequence[int], model: Model, models: _Unread) -> Planned:
    gigabytes, note = models.notes.get(str(work.key.get("model")), (None, ""))
    shards = len(work.sizes)
    tokens = None if work.tokens is None else round(work.tokens * len(missing) / shards)
    rows, place = sum(work.sizes[i] for i in missing), digest(work.function, canonical(work.key), str(shards))
    return Planned(work.function, work.title, model.name, gigabytes, rows, tokens, shards, len(missing), note, place)


def named(name: str, profile: str) -> list[str]:
    """A page; or those of a profile whose names begin so, or that lie in the folder of ``notebooks`` of this name.

    Raises:
        ReportError: there is none.
    """
    if name in studies():
        return [name]
    matches = [page for page in pages(profile) if page.startswith(name) or source(page).parent.name == name]
    if not matches:
        raise ReportError(
            f"no study {name!r}{page_meant(name)}, and none of profile {profile!r} begins so, or lies in a folder of "
            "this name: see `probekit list studies`"
        )
    return matches


def _gigabytes(name: str) -> float | None:
    """Of a registered model's weights; None where unknown."""
    entry = registry().get(name)
    return None if entry is None or entry.parameters is None else entry.parameters * 1e6 * BYTES / 1e9


def _without_data(page: str, given: Mapping[str, Any], profile: str) -> list[Planned]:
    """The models that a page asks, where it could not read what it asks them."""
    with contextlib.suppress(ProbekitError):
        note = "what it is asked cannot be read here"
        return [
            Planned("models", name, name, _gigabytes(name), 0, None, 0, 0, note, digest(page, name))
            for name in map(str, complete(page, given, profile).get("models", []))
        ]
    return []


def as_rows(
    name: str, given: Mapping[str, Any], profile: str, rate: float
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The results of the ``named`` pages, with ``study`` and ``seconds``; and what is not listed of which page.

    Raises:
        ReportError: see ``named``; a rate not above 0; or, of one page, an unknown parameter or one of the wrong type.
    """
    if not rate > 0:
        raise ReportError(f"--rate is above 0, not {rate:g}")
    if name in studies():
        complete(name, given, profile)
    rows: list[dict[str, Any]] = []
    ended: dict[str, str] = {}
    for page in named(name, profile):
        try:
            planned, later = plan(page, given, profile)
        except ProbekitError as error:
            planned, later = _without_data(page, given, profile), f"{UNPLANNED}{error}"
        rows += [{"study": page, **asdict(result), "seconds": result.seconds(rate)} for result in planned]
        if later:
            ended[page] = later
    return rows, ended


def as_lines(rows: Sequence[Mapping[str, Any]], ended: Mapping[str, str], rate: float) -> list[str]:
    """``as_rows`` in words; in the sum a result that several pages share counts once."""
    lines = []
    for row in rows:
        note = f" ({row['note']})" if row["note"] else ""
        size = "? GB" if row["gigabytes"] is None else f"{row['gigabytes']:.3g} GB"
        if not row["shards"]:
            lines.append(f"{row['study']} {row['function']}: {row['title']}: {size}{note}")
            continue
        work = "? tokens" if row["tokens"] is None else f"{row['tokens']:,} tokens, {row['seconds']:,.0f} s"
        pieces = f"{row['missing']:,} of {row['shards']:,} shards missing"
        lines.append(
            f"{row['study']} {row['function']}: {row['title']}: {pieces}, {row['rows']:,} rows, {work}, {size}{note}"
        )
    for reason in dict.fromkeys(ended.values()):
        lines.append(f"{', '.join(page for page in ended if ended[page] == reason)}: {reason}")
    results = {row["place"]: row for row in rows if row["shards"]}.values()
    tokens, unknown = sum(row["tokens"] or 0 for row in results), sum(row["tokens"] is None for row in results)
    sums = [
        f"{counted(len(results), 'result')}, {counted(sum(row['missing'] for row in results), 'shard')} missing, "
        f"{tokens:,} tokens, {tokens / rate / 3600:,.1f} hours at {rate:,.0f} tokens a second"
    ]
    if unknown:
        sums.append(f"of {counted(unknown, 'result')} the tokens are unknown")
    if unplanned := sum(reason.startswith(UNPLANNED) for reason in ended.values()):
        sums = sums if results else ["nothing is planned"]
        sums.append(f"{counted(unplanned, 'page')} could not be planned, see above why")
    return [*lines, "; ".join(sums)]
