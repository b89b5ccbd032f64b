"""Word scores: how much each word of a context weighs in what a model predicts (paper 003, section 5.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any, Literal, cast, get_args

import numpy as np
import pandas as pd

from probekit.errors import ModelError, ProbeError, caution
from probekit.files import canonical, digest
from probekit.files.progress import Progress
from probekit.models.model import Model
from probekit.probes.rationales.record import RationaleSet
from probekit.scoring.question import Question
from probekit.scoring.saliency.attention import attention_scores
from probekit.scoring.saliency.explained import Explained, Target, explain, foils_of, numbers_of
from probekit.scoring.saliency.fillings import Slots
from probekit.scoring.saliency.gradients import gradient_x_input, integrated_gradients
from probekit.scoring.saliency.inputs import Input
from probekit.scoring.saliency.randomised import randomised
from probekit.scoring.saliency.written import encode_written
from probekit.store import Store, Work, answer

VERSION = 2  # of the scores: raise it whenever any of them can change

Method = Literal["attention", "integrated_gradients", "gradient_x_input", "occlusion"]


def attribute(
    model: Model,
    prompts: RationaleSet | Sequence[str],
    method: Method = "attention",
    batch_tokens: int | None = None,
    store: Store | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Score every word of every context; a word's score is the sum over its tokens (``occlusion``: all at once).

    Args:
        model: a language model. Of a masked model a slot has as many masks as its first gold has tokens. Of a seq2seq
            model the encoder's words are scored. A causal model reads what stands before a slot that ends the text;
            where words follow, in a record or another version of it, it chooses among the golds of all records by
            the likelihood of the whole statement; by default the probability of its choice against the next best is
            explained. Its attention, and all of texts without golds, is that of what stands before the slot.
        prompts: records, or texts with one ``[MASK]`` each.
        method: ``attention`` of the slot in the last layer (options ``heads``, their ``mean`` or ``sum``; and, of
            masked models, ``pre_softmax``, the scaled products of query and key instead); ``integrated_gradients``
            (options ``steps``, by default 100 intervals, and ``baseline``: ``pad``, padding, of a causal model the
            token that begins a text, or ``zero``); ``gradient_x_input``; or ``occlusion``, all tokens of a word masked,
            in other than masked models deleted. All but attention have the option ``target``, what is explained: the
            ``predicted`` filling; the first ``gold``; or the ``contrast``, log-probability of the gold less that of a
            foil, the first of the record's ``contrast`` that is no gold or else the model's best wrong filling.
        batch_tokens: padded tokens per batch.
        store: where finished shards are kept and found; None keeps nothing.
        **options: of the method.

    Returns:
        One row per record, in order: ``id``; ``positions``, ``words`` and ``scores``, lists over its words other than
        the slot, in order; ``cut``, whether the context was too long for the model (words it did not see score 0).
        Of all but attention also ``explained``, the filling whose probability is followed, and of a contrast or a
        choice ``against``, the other (empty where there is none). With integrated gradients
        ``attributed`` (sum over all tokens, special ones and masks included), ``change`` (what is explained
        at the prompt less at the baseline, which that sum should equal) and ``error`` (their difference over the
        absolute change).

    Raises:
        ValueError: unknown method or option.
        ProbeError: such as the model's own mask token in a context, an unknown target, or no gold to explain.
        ModelError: a model without a head, or what is not defined for it, such as ``pre_softmax`` of one that is not
            masked, or the baseline ``pad`` without a padding token; scores that are not finite, or out
            of memory at a single row.
        StoreError: results cannot be written; finished shards are kept.
    """
    return cast(pd.DataFrame, answer(attribute_work(model, prompts, method, batch_tokens, **options), store))


def attribute_work(
    model: Model,
    prompts: RationaleSet | Sequence[str],
    method: Method = "attention",
    batch_tokens: int | None = None,
    **options: Any,
) -> Work:
    """What ``attribute`` has to do."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    scored, rows_a_shard, points, _ = METHODS[method]
    options = _checked(method, options)
    if isinstance(prompts, str):
        raise ProbeError(f"a list of texts is needed, not the text {prompts[:40]!r}")
    items = prompts if isinstance(prompts, RationaleSet) else RationaleSet.from_texts(prompts)
    slots, target = Slots(model, items), options.get("target")
    written = target is None and model.kind in ("causal", "seq2seq")
    inputs = encode_written(model, items, gold=True) if written else slots.inputs
    order = sorted(range(len(inputs)), key=lambda i: -len(inputs[i].row.ids))
    shards = [order[start : start + rows_a_shard] for start in range(0, len(order), rows_a_shard)]
    if target in ("gold", "contrast") and (bare := [i for i, item in enumerate(inputs) if not item.gold]):
        raise ProbeError(f"{items.name}: record {items.items['id'][bare[0]]!r} has no gold to explain")
    foils = foils_of(items) if target == "contrast" else []
    jobs = [
        [*map(list, astuple(item.row)[: 3 if item.row.written else 2]), item.word_of.tolist(), item.words, item.gold]
        for item in inputs
    ]
    key = {
        "scoring": VERSION,
        "model": model.fingerprint,
        "inputs": digest(canonical(jobs)),
        "method": method,
        "options": options,
        **(slots.key if target else {}),
        **({"foils": foils} if foils else {}),
    }
    passes, tokens = points(options), sum(len(item.row.ids) for item in inputs)

    def compute(number: int, progress: Progress) -> pd.DataFrame:
        members = shards[number]
        if target is None:
            table = scored(model, [inputs[i] for i in members], batch_tokens, options)
        else:
            explained = explain(slots, members, target, foils, batch_tokens)
            table = scored(model, explained, batch_tokens, options)
            table["explained"] = [one.texts[0] for one in explained]
            if target == "contrast" or any(slots.by_statement):
                table["against"] = [one.texts[1] if one.log else "" for one in explained]
        progress.add(len(members) * passes)
        if not np.isfinite([score for scores in table["scores"] for score in scores]).all():
            raise ModelError(f"{model.name} ({model.dtype}) gives weights of words that are not finite")
        return table.assign(number=members)

    def finish(frames: list[pd.DataFrame]) -> pd.DataFrame:
        results = pd.concat(frames).set_index("number").sort_index()
        results["scores"] = results["scores"].map(list)  # Parquet gives arrays
        metadata = {
            "id": items.items["id"].tolist(),
            "positions": [item.positions for item in inputs],
            "words": [item.words for item in inputs],
        }
        table = pd.concat([pd.DataFrame(metadata), results.reset_index(drop=True)], axis=1)
        table["cut"] = [item.cut for item in inputs]
        if "error" in table and model.kind != "masked" and (missed := int((table["error"] > 1).sum())):
            caution(
                f"{model.name}: integrated gradients of {missed} of {len(table)} records miss what they explain by "
                "more than its change, as the network jumps on the way: take another baseline, or more steps."
            )
        return table

    sizes = [len(shard) * passes for shard in shards]
    return Work("attribute", key, f"{method}, {model.name}", sizes, compute, finish, passes * tokens)


def _attention(
    model: Model, inputs: Sequence[Input], batch_tokens: int | None, options: Mapping[str, Any]
) -> pd.DataFrame:
    scores: list[list[float]] = [[] for _ in inputs]
    for batch, values in attention_scores(model, [item.row for item in inputs], batch_tokens, **options):
        for number, tokens in zip(batch, values, strict=True):
            scores[number] = inputs[number].word_scores(tokens)
    return pd.DataFrame({"scores": scores})


def occlusion(model: Model, explained: Sequence[Explained], batch_tokens: int | None = None) -> list[list[float]]:
    """What is explained of each record, less that with all tokens of one word replaced by the mask token (Zeiler and
    Fergus 2014; leave-one-out).

    Causal and seq2seq models have no mask for a word, so that its tokens are deleted; a decoder keeps what it is given.

    Args:
        batch_tokens: padded tokens per batch.

    Returns:
        Of each record a score for each of its ``positions``; 0 of a word that the model does not see.

    Raises:
        ModelError: a row that does not fit into memory.
    """
    mask = model.mask_id if model.kind == "masked" else None
    asked = [(one, words, mask) for one in explained for words in ((), *((p,) for p in one.inputs[0].positions))]
    values = iter(numbers_of(model, asked, batch_tokens))
    scores = []
    for one in explained:
        whole = next(values)
        scores.append([whole - next(values) for _ in one.inputs[0].positions])
    return scores


def _integrated(
    model: Model, explained: Sequence[Explained], batch_tokens: int | None, options: Mapping[str, Any]
) -> pd.DataFrame:
    given = {name: value for name, value in options.items() if name != "target"}
    rows = []
    for path in integrated_gradients(model, explained, batch_tokens, **given):
        change = path.end - path.start
        error = abs(path.attributed - change) / abs(change) if change else float("nan")
        rows.append(
            {"scores": path.words, "explained": "", "attributed": path.attributed, "change": change, "error": error}
        )
    return pd.DataFrame(rows)


Compute = Callable[[Model, Any, int | None, Mapping[str, Any]], pd.DataFrame]


def _scores(words: Callable[..., Any]) -> Compute:
    """Of a method that gives scores of words and nothing else."""
    return lambda model, explained, batch_tokens, _: pd.DataFrame({"scores": words(model, explained, batch_tokens)})


# of each method: what makes its scores, rows of a shard, forward passes of a row, and its options with their defaults
METHODS: dict[str, tuple[Compute, int, Callable[[Mapping[str, Any]], int], dict[str, Any]]] = {
    "attention": (_attention, 2048, lambda _: 1, {"pre_softmax": False, "heads": "mean"}),
    "integrated_gradients": (
        _integrated,
        64,
        lambda options: options["steps"] + 1,
        {"steps": 100, "baseline": "pad", "target": "predicted"},
    ),
    "gradient_x_input": (_scores(gradient_x_input), 2048, lambda _: 1, {"target": "predicted"}),
    "occlusion": (_scores(occlusion), 256, lambda _: 1, {"target": "predicted"}),
}


def _checked(method: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """All options of a method, with their defaults.

    Raises:
        ValueError: an option that it does not have.
        ProbeError: an unknown target.
    """
    defaults = METHODS[method][3]
    if unknown := sorted(set(options) - set(defaults)):
        raise ValueError(f"{method} has no option {', '.join(unknown)}; it has {', '.join(defaults)}")
    checked = {**defaults, **options}
    if checked.get("target", "gold") not in get_args(Target):
        raise ProbeError(f"target must be one of {', '.join(get_args(Target))}, not {checked['target']!r}")
    return checked


@dataclass(frozen=True, eq=False)
class Attribute(Question):
    """``attribute`` as data.

    Args:
        prompts, method, options: as there.
        layers: with random weights from the head down, as ``randomised`` takes them; None for the model itself.
        seed: of random weights.
    """

    items: RationaleSet
    method: Method = "attention"
    options: Mapping[str, Any] = field(default_factory=dict)
    layers: int | Literal["all"] | None = None
    seed: int = 0

    @property
    def copy_by(self) -> tuple[Any, ...]:
        return () if self.layers is None else (self.layers, self.seed)

    def copy(self, model: Model) -> Model:
        return model if self.layers is None else randomised(model, self.layers, self.seed)

    def work(self, model: Model) -> Work:
        return attribute_work(model, self.items, self.method, **self.options)
