"""What a configuration is: masked, causal or seq2seq; the class that loads it, and the device it runs on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from probekit.errors import ModelError, said

if TYPE_CHECKING:
    from probekit.models.model import Kind


def kind_of(config: Any, source: str) -> Kind:
    """From the architecture that saved the checkpoint, else from the configuration's type.

    Raises:
        ModelError: a model type without a language-model head; names ``source``.
    """
    from transformers.models.auto import modeling_auto as auto

    for architecture in config.architectures or []:
        if architecture.endswith("ForMaskedLM"):
            return "masked"
        if architecture.endswith("WithLMHeadModel"):  # XLM's and FlauBERT's: one class for either training
            return "causal" if getattr(config, "causal", False) else "masked"
        if architecture.endswith(("ForCausalLM", "LMHeadModel")):
            return "causal"
        if architecture.endswith("ForConditionalGeneration"):  # BART's one head also fills the mask it was trained on
            return "masked" if config.model_type == "bart" else "seq2seq"
    if config.model_type in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES and not getattr(config, "is_decoder", False):
        return "masked"
    if config.model_type in auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES:
        return "seq2seq"
    if config.model_type in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        return "causal"
    raise ModelError(f"{source}: model type {config.model_type!r} has no language-model head")


def check_kind(kind: Kind, config: Any, source: str) -> None:
    """Refuse a kind that the network of a configuration is not.

    Raises:
        ModelError: no head of this kind, an encoder that decodes, or a causal model that looks ahead.
    """
    from transformers.models.auto import modeling_auto as auto

    decodes = getattr(config, "is_encoder_decoder", False) or getattr(config, "is_decoder", False)
    if kind == "encoder" and decodes:
        raise ModelError(f"{source} is no encoder: sentence vectors need one that sees both sides of a word")
    if kind == "encoder":
        return
    heads: dict[str, Any] = {
        "masked": auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
        "causal": auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        "seq2seq": auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    }
    if kind not in heads:
        raise ModelError(f"{source}: kind must be one of {', '.join(heads)}, not {kind!r}")
    if config.model_type not in heads[kind]:
        raise ModelError(f"{source}: a network of type {config.model_type!r} has no head as a {kind} model")
    both = config.model_type in heads["masked"] and not config.is_encoder_decoder
    if kind == "causal" and both and not (getattr(config, "is_decoder", False) or getattr(config, "causal", False)):
        raise ModelError(
            f"{source}: its network looks ahead (is_decoder is not set in its config.json): as a causal model it would "
            "see the tokens that it shall predict. Set is_decoder to true if it was trained so, else load it with "
            "kind='masked'"
        )


def auto_class(kind: Kind) -> Any:
    """The class of transformers that loads a network of this kind with its head; an encoder's has none."""
    import transformers

    heads = {"masked": "ForMaskedLM", "causal": "ForCausalLM", "seq2seq": "ForSeq2SeqLM", "encoder": ""}
    return getattr(transformers, f"AutoModel{heads[kind]}")


def pick_device(device: str) -> str:
    """``auto`` is CUDA where there is one, else the CPU; any other torch device is tried.

    Raises:
        ModelError: it cannot be used here.
    """
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device == "meta":
        raise ModelError("device 'meta' cannot be used here: it holds no numbers; take auto, cpu or cuda")
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ModelError(f"device {device!r} cannot be used here: {str(error).splitlines()[0]}") from error
    return device


def out_of_memory(error: BaseException) -> bool:
    """Whether an error says that the device, or the machine, has no more memory."""
    import torch

    message = str(error).lower()
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or (
        "allocate memory" in message or "out of memory" in message
    )


def does_not_fit(name: str, error: BaseException) -> ModelError:
    """What to say where a model found no room."""
    return ModelError(
        f"{name} does not fit into memory ({said(error)}): free some, take dtype='bfloat16', another device or several "
        "by device_map, or a smaller model"
    )


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars and no load report of transformers: loading is brief, and what is missing is named by us."""
    from transformers.utils import logging as bars

    shown, level = bars.is_progress_bar_enabled(), bars.get_verbosity()
    bars.disable_progress_bar()
    bars.set_verbosity_error()
    try:
        yield
    finally:
        bars.set_verbosity(level)
        if shown:
            bars.enable_progress_bar()
