"""Prompts as a user's turn of a chat, in the template that a tokenizer brings."""

from __future__ import annotations

from collections.abc import Sequence

from probekit.errors import ModelError, said
from probekit.models.model import Model
from probekit.scoring.completions.asking import Options
from probekit.scoring.completions.causal import before_slot
from probekit.scoring.forward import Row

INSTRUCTION = "Continue the following text. Answer with the words that come next, and nothing else."
TODAY = "{%- macro strftime_now(form) -%}26 Jul 2024{%- endmacro -%}"  # no answer depends on the day of a run


def template_of(model: Model) -> str:
    """The text of a model's chat template.

    Raises:
        ModelError: it has none, or is a masked model, which takes no turns.
    """
    if model.kind == "masked":
        raise ModelError(f"{model.name} is a masked model and takes no turns in a chat: ask it without chat")
    try:
        return str(model.tokenizer.get_chat_template())
    except ValueError as error:
        raise ModelError(f"the tokenizer of {model.name} has no chat template: ask it without chat") from error


def rows(model: Model, prompts: Sequence[str], options: Options) -> list[Row]:
    """A chat of one user's turn, instruction and prompt, up to where the model answers; told not to think.

    The prompt goes up to the slot, without white space at its end. Nothing is cut.

    Raises:
        ProbeError: words after the slot.
        ModelError: no chat template, or one that refuses such a turn; a chat that is too long.
    """
    template, room, inputs = template_of(model), model.max_tokens - options.tokens, list[Row]()
    for text in prompts:
        turn = {"role": "user", "content": f"{options.instruction}\n\n{before_slot(model, text).rstrip()}".strip()}
        try:
            chat = model.tokenizer.apply_chat_template(
                [turn],
                chat_template=TODAY + template,
                tokenize=False,
                add_generation_prompt=True,
                enable_thinking=False,
            )
        except Exception as error:  # a template raises whatever it likes
            raise ModelError(f"the chat template of {model.name} takes no user's turn alone: {said(error)}") from error
        ids = model.tokens(str(chat))
        if len(ids) > room:
            raise ModelError(
                f"{model.name} takes {model.max_tokens} tokens: too few for {len(ids)} of a chat and {options.tokens} "
                f"new ones: {text[:80]!r}"
            )
        inputs.append(Row(ids, ()))
    return inputs
