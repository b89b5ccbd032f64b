"""A causal model behind a server that tells the log-probabilities of the tokens of a text, as OpenAI's completions did.

Such is that of llama.cpp's bindings for Python, and by its documentation vLLM's. The model's name is the server's
address and, behind ``#``, the folder or Hub id of its configuration and tokenizer, which are read here:
``http://127.0.0.1:8000/v1#meta-llama/Llama-3.1-8B``. Weights behind a server are not known, so that results are kept
only where the name ends in ``@REVISION``, by which the user answers for them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.pool import ThreadPool
from typing import Any, NamedTuple, NoReturn

import numpy as np

from probekit.errors import ModelError, said
from probekit.files.naming import SERVED, shown_name

KEY = "PROBEKIT_SERVER_KEY"  # environment variable with what the server wants to be shown, if it does
SECONDS = 10, 600  # until it is reached, and until it answers
AT_ONCE = 8  # texts that it is asked about
TRIED = "The city of Paris lies on the river"
NEAR = 0.01  # nats between a token's log-probability as it is written and as it is read
LOST = "\N{REPLACEMENT CHARACTER}"  # for tokens that are no whole sign


def parts_of(name: str) -> tuple[str, str, str] | None:
    """Address of the server, name of configuration and tokenizer, and revision; None of another model.

    Raises:
        ModelError: the address holds a user's name, or no tokenizer is named behind it.
    """
    if not (match := SERVED.fullmatch(name)):
        if name.lower().startswith(("http://", "https://")):
            raise ModelError("the address of a server alone is no model: name the tokenizer behind #, as ADDRESS#NAME")
        if "#" in name and not os.path.exists(name):
            raise ModelError("a name with # is that of a server: begin its address with http:// or https://")
        return None
    if "@" in match[1]:
        raise ModelError(f"{shown_name(name)}: leave user and password out of the address, and put the key into {KEY}")
    return match[1].rstrip("/"), match[2], (match[3] or "")[1:]


class Told(NamedTuple):
    """Log-probabilities of a text's tokens, NaN where the server says nothing; and what it went on with, if any."""

    values: np.ndarray
    next: str
    next_value: float


class Served:
    """What stands in the place of a network.

    Args:
        name: of the model, as given.
        address: under which ``/completions`` and ``/models`` are.
        called: the model's name there, where the server has several.
        config, tokenizer: the model's own.

    Raises:
        ModelError: the server is not reached, or has no such model.
    """

    dtype, base_model = "unknown", None

    def __init__(self, name: str, address: str, called: str, config: Any, tokenizer: Any) -> None:
        import torch

        self.name, self.address, self.config, self.device = shown_name(name), address, config, torch.device("cpu")
        self._tokenizer, self._takes_ids, self.silent = tokenizer, True, 0
        try:
            names = [str(model["id"]) for model in self._ask("models")["data"]]
        except (KeyError, TypeError) as error:
            raise self._fault("it lists no models") from error
        if called not in names and len(names) != 1:
            raise self._fault(f"it serves {', '.join(names) or 'no model'}, and not {shown_name(called)}")
        self.called = called if called in names else names[0]

    def try_out(self, begin: Sequence[int]) -> None:
        """Find out whether the server takes token ids, and of how many tokens behind ``begin`` it tells nothing.

        It must say the same of a token that it writes and that it reads, where the tokenizer finds the token in what it
        writes; one that takes texts alone must show it for some text.

        Args:
            begin: token ids that begin a text under this model.

        Raises:
            ModelError: it tells no log-probabilities of a text, or those of other tokens.
        """
        ids = (*begin, *self._tokenizer(TRIED, add_special_tokens=False)["input_ids"])
        told: Told | None = None
        for size in range(len(ids), len(begin) + 1, -1):  # until one is found that the server splits alike
            with suppress(_Split):
                try:
                    told = self._read(ids[:size])
                except _Refused:
                    if not self._takes_ids:
                        raise
                    self._takes_ids = False
                    told = self._read(ids[:size])
                self.silent = int(np.isnan(told.values[len(begin) :]).sum())
                if len(known := told.values[np.isfinite(told.values)]) > 2 and np.ptp(known) == 0:
                    raise self._fault("it tells the same of every token")
                longer = tuple(self._tokenizer(self._text(ids[:size]) + told.next)["input_ids"])
                if longer[-size - 1 : -1] == ids[:size]:
                    wrote, read = told.next_value, self._read(longer[-size - 1 :]).values[-1]
                    if abs(read - wrote) > NEAR:
                        raise self._fault(
                            f"it tells {wrote:.3f} of a token that it writes, {read:.3f} when it reads it"
                        )
                    return
        if not (told and self._takes_ids):
            raise self._fault("its log-probabilities cannot be checked: it splits no text as the tokenizer does")

    def log_probs(self, texts: Sequence[tuple[int, ...]]) -> Iterator[np.ndarray]:
        """Of each text, token ids with those that begin it, the log-probability of each token given those before it,
        float64; NaN of the first ones, of which the server tells nothing.

        Raises:
            ModelError: it is gone, answers something else, or splits a text into other tokens.
        """
        with ThreadPool(AT_ONCE) as pool:  # whose threads do not outlive an interrupted run
            yield from (told.values for told in pool.imap(self._read, texts))

    def _read(self, ids: tuple[int, ...]) -> Told:
        prompt: Any = list(ids) if self._takes_ids else self._text(ids)
        asked = {"model": self.called, "prompt": prompt, "echo": True, "logprobs": 1, "max_tokens": 1, "temperature": 0}
        answer = self._ask("completions", asked)
        try:
            told, usage = answer["choices"][0]["logprobs"], answer["usage"]
            values = np.array([np.nan if value is None else float(value) for value in told["token_logprobs"]])
            tokens, read = [str(token) for token in told["tokens"]], int(usage["prompt_tokens"])
            size = len(values) - int(usage["completion_tokens"])
            following = (tokens[size], float(values[size])) if size < len(values) else ("", np.nan)  # a text's end
            if size < 1:
                raise ValueError("it repeats no text")
        except (IndexError, KeyError, TypeError, ValueError) as error:
            raise self._fault("it tells no log-probabilities of a text") from error
        own = [self._tokenizer.decode([number]) for number in ids[-size:]]
        pairs = [(a.strip(), b.strip()) for a, b in zip(own, tokens, strict=False) if LOST not in a + b]
        other = next((f", {b!r} where {a!r} is meant" for a, b in pairs if a and b and a != b), "")
        if read != len(ids) or len(own) != size or other:
            counts = f"it reads {read} tokens where the tokenizer that the model's name names makes {len(ids)}"
            raise _Split(str(self._fault(f"{counts}{other}: it is another one, or splits text otherwise")))
        whole = np.concatenate([np.full(len(ids) - size, np.nan), values[:size]])
        told_of = np.isfinite(whole)
        if not told_of[told_of.argmax() :].all() or not told_of[-1] or (whole > 0).any():
            raise self._fault("what it tells are no log-probabilities")
        return Told(whole, *following)

    def _text(self, ids: Sequence[int]) -> str:
        """A text whose tokens, with what the tokenizer puts before a text, are these."""
        added = self._tokenizer("")["input_ids"]
        start = len(added) if list(ids[: len(added)]) == added else 0
        return str(self._tokenizer.decode(ids[start:], clean_up_tokenization_spaces=False))

    def _ask(self, path: str, body: Any = None) -> Any:
        import requests

        key = os.environ.get(KEY)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        send = requests.post if body else requests.get
        try:
            answer = send(f"{self.address}/{path}", json=body, headers=headers, timeout=SECONDS, allow_redirects=False)
            if answer.status_code != 200:
                raise _Refused(str(self._fault(f"it answers {answer.status_code}: {answer.text[:200]}")))
            return answer.json()
        except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError) as error:
            raise self._fault("it is not to be reached, or hung up") from error
        except (requests.RequestException, ValueError) as error:
            raise self._fault("it answers no JSON" if isinstance(error, ValueError) else said(error)) from error

    def _fault(self, reason: str) -> ModelError:
        kept = "what was scored is kept" if "@" in self.name else "nothing is kept of a model without @REVISION"
        return ModelError(f"{self.name} at {self.address}: {' '.join(reason.split())}; {kept}")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self._fault("it ranks candidates (ask: --candidates), and this needs the weights")

    def __call__(self, **_: Any) -> NoReturn:
        raise self._fault("it ranks candidates (ask: --candidates), and this needs the weights")


class _Refused(ModelError):
    """The server does not take what it was sent: perhaps a prompt of token ids, where it wants a text."""


class _Split(ModelError):
    """The server splits a text into other tokens."""
