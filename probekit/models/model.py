"""A loaded model: network, tokenizer, and what the scoring core needs to know of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from probekit.errors import ModelError
from probekit.files import canonical, digest_of
from probekit.models.padding import MIXES, mixes_padding
from probekit.models.served import Served
from probekit.models.source import Source

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerFast

Kind = Literal["masked", "causal", "seq2seq", "encoder"]
CHUNK = 1_000  # texts given to a tokenizer at once
ANY = "\N{OBJECT REPLACEMENT CHARACTER}"  # stands for a text
ROLES = ("pad", "unk", "cls", "sep", "mask", "bos", "eos")
BOOKKEEPING = ("_name_or_path", "transformers_version", "architectures", "dtype", "torch_dtype")  # decide no result


@dataclass(frozen=True, repr=False)
class Model:
    """A language model ready to be asked.

    Args:
        name: as given to ``load_model``.
        kind: ``masked``, ``causal`` or ``seq2seq``; ``encoder`` is one loaded without a head, for sentence vectors.
        network: in evaluation mode, on its device; or what makes it when it is first needed, or asks a server instead.
        tokenizer: the model's own.
        revision: commit, branch or tag on the Hub, or the user's word for a server's weights, where one was given.
        licence: as registered, also of ``minilm``; of ``lab/NAME`` those of all texts read and of the base; of another
            adapter that of its base; else, as of the zoo, empty.
    """

    name: str
    kind: Kind
    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    revision: str | None = None
    licence: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.network, Source):
            self.__dict__["source"] = self.__dict__.pop("network")

    def __repr__(self) -> str:
        return f"<{self.name}, a {self.kind} model on {self.device}>"

    def __getattr__(self, name: str) -> Any:
        """The network, made of its source when it is first used: Python calls this where the attribute is not set."""
        if name != "network" or self.source is None:
            raise AttributeError(f"a model has no {name!r}")
        self.__dict__["network"] = self.source.network
        return self.source.network

    @property
    def source(self) -> Source | None:
        """Where the network comes from; None where it was given."""
        return self.__dict__.get("source")

    @property
    def served(self) -> Served | None:
        """The server that stands in the network's place, where one does."""
        network = self.__dict__.get("network")
        return network if isinstance(network, Served) else None

    @property
    def outline(self) -> PreTrainedModel:
        """The network's configuration, layers and shapes, also where nothing has needed its weights yet."""
        return self.source.outline if self.source and "network" not in self.__dict__ else self.network

    def renamed(self, name: str) -> Model:
        """The same model under another name; it does not need the weights."""
        network: Any = self.source or self.network
        made = Model(name, self.kind, network, self.tokenizer, self.revision, self.licence)
        if "fingerprint" in self.__dict__:
            made.__dict__["fingerprint"] = self.fingerprint
        return made

    @property
    def device(self) -> torch.device:
        import torch

        return torch.device(self.source.device) if self.source else self.network.device

    @property
    def dtype(self) -> str:
        """``float32``, ``bfloat16`` or ``float16``."""
        return str(self.outline.dtype).removeprefix("torch.")

    @cached_property
    def fingerprint(self) -> str:
        """Digest of kind, network, weights and tokenizer; behind a server of its revision, empty without one.

        It needs no weights where the same files, loaded alike, passed all checks before.
        """
        if self.source is None or "network" in self.__dict__:
            return fingerprint_of(self.kind, self.network, self.tokenizer)
        return self.source.recorded or fingerprint_of(self.kind, self.network, self.tokenizer)

    @cached_property
    def mask_id(self) -> int:
        """Token id of the mask.

        Raises:
            ModelError: the model is not a masked one, or its tokenizer knows no mask.
        """
        if self.kind != "masked" or self.tokenizer.mask_token_id is None:
            raise ModelError(
                f"{self.name} is a {self.kind} model"
                + ("" if self.kind != "masked" else " whose tokenizer has no mask token")
                + "; this needs a masked language model with a mask token"
            )
        return int(self.tokenizer.mask_token_id)

    @cached_property
    def max_tokens(self) -> int:
        """Longest input in tokens, special ones included."""
        limits = [self.tokenizer.model_max_length]
        positions = getattr(self.outline.config, "max_position_embeddings", None) or 0
        if positions > 0:  # XLNet's -1 is no limit
            padding = position_padding(self.outline)
            limits.append(positions - (0 if padding is None else padding + 1))
        rotations = getattr(self.outline.config, "rope_parameters", None) or {}
        for rope in (rotations, *rotations.values()):  # of all layers, or by their type
            if isinstance(rope, dict) and rope.get("rope_type") == "longrope":  # turns by other angles beyond this
                limits.append(rope["original_max_position_embeddings"])
        return int(min(limits))

    @cached_property
    def special_ids(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Token ids that the tokenizer puts before and after a text."""
        from tokenizers import AddedToken

        backend = backend_of(self.tokenizer)
        backend.add_tokens([AddedToken(ANY, normalized=False)])  # one token, whatever vocabulary and normaliser
        whole = backend.encode(ANY)
        at = whole.tokens.index(ANY)
        return tuple(whole.ids[:at]), tuple(whole.ids[at + 1 :])

    @cached_property
    def beginning(self) -> tuple[int, ...]:
        """What stands before a text under a causal model: what its tokenizer puts there, else its token for a
        beginning, else the one for an end, which GPT-2 was trained with between texts.

        Raises:
            ModelError: it has none of these, so that the first token of a text has no probability.
        """
        if start := self.special_ids[0]:
            return start
        for token in (self.tokenizer.bos_token_id, self.tokenizer.eos_token_id):
            if token is not None:
                return (int(token),)
        raise ModelError(f"{self.name}: its tokenizer has no token that begins a text; name one as its bos_token")

    @cached_property
    def minds_spaces(self) -> bool:
        """Whether a leading space changes a word's tokens (byte-level BPE) or not (WordPiece, SentencePiece)."""
        return self.tokens("x") != self.tokens(" x")

    @cached_property
    def minds_padding(self) -> bool:
        """Whether the network mixes a text with the padding behind it, so that a batch must hold one length alone."""
        if self.source is None and "fingerprint" not in self.__dict__:
            return mixes_padding(self.kind, self.network, self.tokenizer)
        return self.fingerprint.endswith(MIXES)

    def tokens(self, text: str) -> list[int]:
        """Token ids of ``text``, no special tokens added."""
        return list(self.tokens_of([text])[0])

    def tokens_of(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        """Token ids of each text without special tokens, and without the rest of an encoding."""
        backend = self.tokenizer.backend_tokenizer
        backend.no_truncation()
        backend.no_padding()
        sequences: list[tuple[int, ...]] = []
        for start in range(0, len(texts), CHUNK):
            chunk = backend.encode_batch_fast(list(texts[start : start + CHUNK]), add_special_tokens=False)
            sequences += [tuple(encoding.ids) for encoding in chunk]
        return sequences


def backend_of(tokenizer: PreTrainedTokenizerFast) -> Tokenizer:
    """A copy of the inner tokenizer, which neither truncates nor pads."""
    from tokenizers import Tokenizer

    backend = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
    backend.no_truncation()
    backend.no_padding()
    return backend


def special_roles(tokenizer: PreTrainedTokenizerFast) -> dict[str, int]:
    """Role -> id of the special tokens that the tokenizer has."""
    ids = {role: getattr(tokenizer, f"{role}_token_id", None) for role in ROLES}
    return {role: number for role, number in ids.items() if number is not None}


def settings_of(config: PreTrainedConfig, tokenizer: PreTrainedTokenizerFast) -> str:
    """What decides a result besides the weights: the configuration, and the tokenizer with its roles and its limit.

    Truncation and padding of the tokenizer are left out: every call sets them anew.
    """
    special = [special_roles(tokenizer), sorted(tokenizer.all_special_ids)]
    reads = [
        backend_of(tokenizer).to_str(),
        *special,
        tokenizer.model_max_length,
        tokenizer.clean_up_tokenization_spaces,
    ]
    return canonical([_deciding(config.to_dict()), *reads])


def _deciding(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a configuration, and of those in it, without ``BOOKKEEPING``."""
    deciding = {name: value for name, value in fields.items() if name not in BOOKKEEPING}
    return {name: _deciding(value) if isinstance(value, dict) else value for name, value in deciding.items()}


def fingerprint_of(kind: Kind, network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> str:
    """Digest of the kind, the class and the weights (name, type, shape, bytes) of a network, its adapters of the
    library peft, and ``settings_of`` it; it ends in ``MIXES`` if padding matters to it."""
    import torch

    adapters = {name: adapter.to_dict() for name, adapter in getattr(network, "peft_config", {}).items()}

    def parts() -> Iterator[str | memoryview]:  # one tensor after the other: all of them are the size of the network
        yield from (kind, type(network).__name__, settings_of(network.config, tokenizer))
        yield json.dumps(adapters, sort_keys=True, default=sorted)
        for name, tensor in sorted(network.state_dict().items()):
            yield f"{name} {tensor.dtype} {tuple(tensor.shape)}"
            yield tensor.detach().contiguous().cpu().reshape(-1).view(torch.uint8).numpy().data

    return digest_of(parts()) + MIXES * mixes_padding(kind, network, tokenizer)


def position_padding(network: Any) -> int | None:
    """Token id that is no position and from which on RoBERTa's kind counts them; None of networks that count from 0."""
    embeddings: Any = getattr(getattr(network.base_model, "embeddings", None), "position_embeddings", None)
    padding: int | None = getattr(embeddings, "padding_idx", None)
    return padding
