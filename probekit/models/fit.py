"""Do a configuration, its weights and its tokenizer belong together? What does not would answer wrongly in silence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from probekit.errors import ModelError, caution, said
from probekit.files.naming import shown_name
from probekit.models.model import Kind, position_padding, special_roles

HANDFUL = 10  # tokens besides special ones, below which a vocabulary writes no text
SPARE, SPARE_ROWS = 0.1, 127  # share and number of embeddings that padding to a round number may leave without a token
RARE = "\N{UGARITIC LETTER ALPA}"  # that hardly a vocabulary holds
CASED = 0.05  # share of the tokens with a capital letter, from which on a vocabulary minds case
BUFFERS = ("position_ids", "token_type_ids", "inv_freq", "masked_bias", "attn.bias")  # of old checkpoints; no weights
POOLER = "pooler"  # a layer for whole sentences, which neither a slot nor a mean over tokens uses


def check_layers(name: str, config: Any) -> None:
    """Refuse a network without layers.

    Raises:
        ModelError: the configuration's number of layers is below 1.
    """
    layers = getattr(config, "num_hidden_layers", None)
    if isinstance(layers, int) and layers < 1:
        raise ModelError(
            f"{name}: its config.json says {layers} layers (num_hidden_layers): a network has at least one"
        )


def cut(name: str, config: Any, layers: int) -> None:
    """Let a configuration have the first ``layers`` layers alone, in place; 0 leaves all.

    Raises:
        ModelError: it has fewer.
    """
    if layers and layers > config.num_hidden_layers:
        raise ModelError(f"{name} has {config.num_hidden_layers} layers, of which {layers} cannot be kept")
    if layers:
        config.num_hidden_layers = layers


def of_kept_layers(keys: Iterable[str], layers: int) -> list[str]:
    """Names of weights, sorted, but for those of the layers that were cut off; 0 layers cut none."""
    numbers = {key: re.search(r"\blayer\.(\d+)\.", key) for key in keys}
    return sorted(key for key, number in numbers.items() if not (layers and number and int(number[1]) >= layers))


def check_weights(name: str, network: Any, unexpected: Sequence[str], allow: bool = False) -> None:
    """Refuse weights that are not finite, and a checkpoint that holds more of the network's body than the network does.

    Heads of other tasks and poolers are left over in many checkpoints and change nothing.

    Args:
        unexpected: names in the checkpoint for which the network has no place.
        allow: let the body's be; weights that are not finite are refused all the same.

    Raises:
        ModelError: naming some of them.
    """
    body = {child for child, _ in network.base_model.named_children()} - {POOLER}
    prefix = f"{network.base_model_prefix}."
    lost = sorted(key for key in unexpected if key.removeprefix(prefix).partition(".")[0] in body)
    if (lost := [key for key in lost if not key.endswith(BUFFERS)]) and not allow:
        raise ModelError(
            f"{name}: {type(network).__name__} has no place for {len(lost)} weights of the checkpoint: {some(lost)}. "
            "The network would be another one than was trained: see to config.json (num_hidden_layers, model_type)"
        )
    if wrong := [key for key, weight in network.named_parameters() if not _finite(weight)]:
        raise ModelError(f"{name}: {len(wrong)} weights are not finite: {some(wrong)}. Take an undamaged checkpoint")


def check_tokenizer(name: str, kind: Kind, network: Any, tokenizer: Any) -> None:
    """Refuse a tokenizer that is not the network's own; warn of what may be meant.

    A network may have more embeddings than its tokenizer has tokens: they are padded to a round number (30,528 for
    30,522), at most by a tenth or ``SPARE_ROWS``. It may not have fewer, but for added tokens that no text needs.

    Raises:
        ModelError: hardly a token, tokens beyond the embeddings or embeddings beyond the tokens, a failure on unknown
            signs, a masked model without a mask, or padding that the network would take for text.
    """
    rows: int = network.get_input_embeddings().weight.shape[0]
    by_id = {number: token for token, number in tokenizer.get_vocab().items()}
    added, special = set(tokenizer.added_tokens_decoder), special_roles(tokenizer)
    ordinary = [number for number in by_id if number not in added and number not in tokenizer.all_special_ids]
    whole = "give the folder all files of this model's own tokenizer"
    if len(ordinary) < HANDFUL:
        raise ModelError(
            f"{name}: its tokenizer knows {len(ordinary)} tokens besides special ones, as one does that the loader "
            f"makes up where there are no files of a tokenizer: {whole}"
        )
    needed = {*ordinary, *special.values()}
    if beyond := sorted(number for number in needed if number >= rows):
        raise ModelError(
            f"{name}: its network has {rows:,} embeddings, but its tokenizer has {len(beyond):,} ids beyond them, such "
            f"as {beyond[0]} for {by_id.get(beyond[0], '')!r}: it is another model's; {whole}"
        )
    spare = rows - sum(number < rows for number in by_id)
    if spare > max(SPARE * rows, SPARE_ROWS) or 2 * spare > rows:
        raise ModelError(
            f"{name}: its network has {rows:,} embeddings, but its tokenizer knows {rows - spare:,} of them: it is "
            f"another model's, or part of its files are missing; {whole}"
        )
    try:
        tokenizer(RARE)
    except Exception as error:  # the library tokenizers raises no narrower one
        raise ModelError(
            f"{name}: its tokenizer fails on signs that it does not know ({said(error)}): name its unknown token in "
            "tokenizer.json"
        ) from error
    if kind == "masked" and "mask" not in special:
        raise ModelError(
            f"{name} is a masked model whose tokenizer has no mask token; name it in its tokenizer_config.json "
            "(mask_token)"
        )
    _warn(shown_name(name), network, tokenizer, [by_id[number] for number in ordinary], special)
    if beyond := sorted(number for number in by_id if number >= rows):
        tokens = some([by_id[number] for number in beyond])
        caution(f"{shown_name(name)}: its network has no embedding of {len(beyond)} added tokens: {tokens}.")


def some(names: Sequence[str]) -> str:
    """The first of many names."""
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _warn(name: str, network: Any, tokenizer: Any, tokens: Sequence[str], special: Mapping[str, int]) -> None:
    """Special ids other than the configuration's, and text that loses the case which the vocabulary minds."""
    config = {role: getattr(network.config, f"{role}_token_id", None) for role in special}
    others = {role: n for role, n in config.items() if isinstance(n, int) and n >= 0 and n != special[role]}
    if "pad" in others and position_padding(network) is not None:
        raise ModelError(
            f"{name}: its network counts positions from its padding, which is {others['pad']} in config.json and "
            f"{special['pad']} in its tokenizer: it would take padding for text, or text for padding"
        )
    if others:
        diff = ", ".join(f"{role} {special[role]}, not {number}" for role, number in others.items())
        caution(f"{name}: its tokenizer has other special ids than its config.json ({diff}), as another model's would.")
    normaliser = getattr(getattr(tokenizer, "backend_tokenizer", None), "normalizer", None)
    capital = sum(any("A" <= sign <= "Z" for sign in token) for token in tokens)
    if normaliser is not None and "A" not in normaliser.normalize_str("A") and capital > CASED * len(tokens):
        caution(
            f"{name}: its vocabulary minds case ({capital:,} of {len(tokens):,} tokens have a capital letter), but its "
            "tokenizer puts all text in lower case, so that none of them is ever used: see do_lower_case in its "
            "tokenizer_config.json."
        )


def _finite(weight: Any) -> bool:
    import torch

    if not weight.numel() or not weight.is_floating_point():
        return True
    return bool(torch.isfinite(torch.stack(weight.detach().aminmax())).all())  # NaN passes through
