"""A network is run once before it is asked: what fails, or sees what it shall predict, is refused."""

from __future__ import annotations

from typing import Any

from probekit.errors import ModelError, said
from probekit.models.kinds import out_of_memory, quiet
from probekit.models.model import Kind, Model
from probekit.models.precision import rounding

LENGTH = 8  # tokens that are tried


def try_out(name: str, kind: Kind, network: Any, tokenizer: Any) -> None:
    """Run a network over a few tokens of its vocabulary, and a causal one again with another last token.

    Args:
        network: in evaluation mode, on its device.

    Raises:
        ModelError: it fails, or a causal network's scores of the first tokens move with the last one; a seq2seq network
            whose configuration does not say what its decoder begins with; one that hashes by chance (Reformer).
    """
    if getattr(network.config, "attention_type", "") == "block_sparse":  # a short text switches it for all later ones
        network.base_model.set_attention_type("original_full")
        network.config.attention_type = "original_full"
    if "lsh" in getattr(network.config, "attn_layers", ()):
        if kind == "causal":
            raise ModelError(
                f"{name}: its hashes (lsh) are made of later tokens too: it can be asked as a masked model"
            )
        if network.config.hash_seed is None:
            raise ModelError(f"{name}: its network draws lots anew at each call: set hash_seed in its config.json")
    if kind == "seq2seq" and getattr(network.config, "decoder_start_token_id", None) is None:
        raise ModelError(
            f"{name}: its config.json does not say what its decoder begins with: set decoder_start_token_id there"
        )
    try:
        with quiet():
            ahead = looks_ahead(kind, network, tokenizer)
    except Exception as error:  # a network raises whatever its code does
        if out_of_memory(error):
            raise
        raise ModelError(
            f"{name}: {type(network).__name__} fails on plain tokens ({said(error)}): see to its config.json, or take "
            "another model"
        ) from error
    if ahead:
        raise ModelError(
            f"{name}: the scores of its first tokens move with the last one: as a causal model it would see the tokens "
            "that it shall predict. See to its config.json, or take another model"
        )


def looks_ahead(kind: Kind, network: Any, tokenizer: Any) -> bool:
    """Whether scores of a causal network move before the token that was changed, beyond rounding; False of others."""
    import torch

    special = set(tokenizer.all_special_ids)
    plain = [token for token in range(network.get_input_embeddings().weight.shape[0]) if token not in special]
    size = min(LENGTH, Model(kind, kind, network, tokenizer).max_tokens, len(plain) - 1)
    tokens = plain[:: len(plain) // (size + 1)][: size + 1]

    def scores(ids: list[int]) -> Any:
        row = torch.tensor([ids], device=network.device)
        given: dict[str, Any] = {"decoder_input_ids": row} if kind == "seq2seq" else {}
        given |= {"use_cache": False} if kind in ("causal", "seq2seq") else {}  # some networks take no cache
        return network(input_ids=row, attention_mask=torch.ones_like(row), **given, return_dict=True)

    with torch.inference_mode():
        output = scores(tokens[:size])
        if kind != "causal":
            return False
        moved = (scores([*tokens[: size - 1], tokens[size]]).logits - output.logits)[0].float().abs().amax(-1)
    return bool(moved[:-1].max() > moved[-1] * rounding(network) ** 0.5)
