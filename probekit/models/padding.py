"""Padding that changes what a network says of a text, although the attention mask names it: found by trying."""

from __future__ import annotations

from typing import Any

from probekit.errors import ModelError, said
from probekit.models.kinds import does_not_fit, out_of_memory
from probekit.models.precision import differs, rounding

MIXES = "-minds-padding"  # ends the fingerprint of a network that does
LENGTHS = (5, 9, 16)  # tokens of the rows that are tried


def mixes_padding(kind: str, network: Any, tokenizer: Any) -> bool:
    """Whether rows of a padded batch get other log-probabilities, or states of an encoder, than each of them alone.

    The rows are random tokens, the same at each call, with one mask where there is one. The padding stands behind them,
    and the attention mask is given. The decoder of a seq2seq network is given the same tokens behind each row.

    Raises:
        ModelError: a network whose scores hang on what it read before (BigBird with sparse attention), or on
            other texts of its batch (experts that take so many tokens).
    """
    import torch

    name = network.name_or_path or type(network).__name__
    if getattr(network.config, "attention_type", "") == "block_sparse":
        raise ModelError(
            f"{name} attends in blocks until it gets a short text, and to the whole from then on: "
            "set attention_type to original_full in its config.json"
        )
    if hasattr(network.config, "attn_layers"):  # Reformer's blocks, which short rows do not show
        return True
    random, special = torch.Generator().manual_seed(0), set(tokenizer.all_special_ids)
    vocabulary = network.get_input_embeddings().weight.shape[0]
    tokens = torch.tensor([i for i in range(vocabulary) if i not in special])
    positions = getattr(network.config, "max_position_embeddings", None) or 0
    lengths = [max(2, min(n, positions - 2)) if positions > 0 else n for n in LENGTHS]
    rows = [tokens[torch.randint(len(tokens), (n,), generator=random)] for n in lengths]
    if tokenizer.mask_token_id is not None:
        for row in rows:
            row[1] = tokenizer.mask_token_id

    def values(batch: list[Any]) -> Any:
        ids = torch.nn.utils.rnn.pad_sequence(batch, batch_first=True, padding_value=tokenizer.pad_token_id or 0)
        ids = ids.clamp(max=vocabulary - 1)  # a tokenizer that does not fit is refused elsewhere
        real = torch.arange(ids.shape[1]) < torch.tensor([[len(row)] for row in batch])
        given = {"input_ids": ids, "attention_mask": real.long()}
        given |= {"decoder_input_ids": rows[0].repeat(len(batch), 1)} if kind == "seq2seq" else {}
        cache = {"use_cache": False} if kind in ("causal", "seq2seq") else {}
        output = network(**{name: tensor.to(network.device) for name, tensor in given.items()}, **cache)[0].float()
        output = output if kind == "encoder" else output.log_softmax(-1)
        return [scores if kind == "seq2seq" else scores[: len(row)] for scores, row in zip(output, batch, strict=True)]

    training = network.training
    network.eval()  # dropout would look like texts that change each other
    try:
        with torch.inference_mode():
            alone = [values([row])[0] for row in rows]
            minds = differs(torch.cat(values(rows)), torch.cat(alone), rounding(network))
            beside = minds and differs(values([rows[-1], rows[-1].flip(0)])[0], alone[-1], rounding(network))
    except Exception as error:  # a network raises whatever its code does
        if out_of_memory(error):
            raise does_not_fit(name, error) from error
        raise ModelError(f"{name}: {type(network).__name__} fails on plain tokens ({said(error)})") from error
    finally:
        network.train(training)
    if beside or getattr(network.config, "moe_eval_capacity_token_fraction", 1) < 1:
        raise ModelError(
            f"{name}: the scores of a text hang on the texts beside it, even of one length, as where experts take so "
            "many tokens of a batch: see to its config.json, or take another model"
        )
    return minds
