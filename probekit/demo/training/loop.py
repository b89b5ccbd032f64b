"""The training loop: resumable, and with the same bytes at every run on one machine."""

from __future__ import annotations

import itertools
import json
import math
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probekit.demo.training.checkpoint import Checkpoint
from probekit.demo.training.corpus import Corpus
from probekit.demo.training.objective import objective
from probekit.demo.training.recipe import Settings
from probekit.demo.training.start import Start
from probekit.errors import ModelError, StoreError
from probekit.files import canonical, digest, sweep, unfinished
from probekit.files.progress import bar
from probekit.models.card import RECORD
from probekit.models.kinds import out_of_memory, quiet

if TYPE_CHECKING:
    import torch

POINTS = 50  # of the learning curve
NARROW = 192  # layers narrower than this are not faster in bfloat16 on a CPU


@dataclass(frozen=True)
class Run:
    """One training: where it starts, on what, how, and what is to be written of it.

    Args:
        steps: fewer or more than the epochs of ``settings`` make; None leaves it to them.
        category: as in ``models.yml``.
        recipe: name of the recipe.
    """

    start: Start
    corpus: Corpus
    settings: Settings
    recipe: str
    category: str
    steps: int | None = None

    @property
    def key(self) -> str:
        """Digest of everything that decides the weights."""
        texts = [text["sha256"] for text in self.corpus.texts]
        settings = canonical([asdict(self.settings), texts, self.steps])
        return digest(self.start.model.fingerprint, settings, self.corpus.names.tobytes())

    def batches(self) -> Iterator[np.ndarray]:
        """Sentence numbers of each step, in order, without end."""
        epoch = 0
        while True:
            yield from self.corpus.epoch(epoch, self.settings.seed, self.settings.batch_tokens)
            epoch += 1

    def total(self) -> int:
        """Number of steps."""
        if self.steps is not None:
            return self.steps
        settings = self.settings
        return sum(len(self.corpus.epoch(n, settings.seed, settings.batch_tokens)) for n in range(settings.epochs))


@contextmanager
def claim(out: Path) -> Iterator[None]:
    """Only one process at a time trains into ``out``; another one waits.

    Raises:
        StoreError: the folder around ``out`` cannot be written.
    """
    from filelock import FileLock

    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(out.parent / f".{out.name}.lock")
        lock.acquire()
    except OSError as error:
        raise StoreError(f"cannot write {out.parent}: {error.strerror or error}") from error
    try:
        sweep(out.parent)
        yield
    finally:
        lock.release()


def train(run: Run, out: Path, device: str, title: str) -> None:
    """Train and write the folder ``out``: weights (safetensors), configuration, tokenizer, ``training.json``.

    A checkpoint is kept beside ``out`` in a hidden folder; an interrupted training goes on from there, and ends with
    the weights of an uninterrupted one. ``out`` appears whole or not at all. The caller holds the lock.

    Raises:
        ModelError: a batch does not fit into memory, or the loss is no longer finite.
        StoreError: checkpoint or folder cannot be written.
    """
    import torch

    network: Any = run.start.model.network.to(device).train()
    loss_of = objective(
        run.start.model.kind, run.start.model.tokenizer, run.settings, run.corpus.counts(len(run.start.model.tokenizer))
    )
    optimizer = torch.optim.AdamW(network.parameters(), lr=run.settings.rate, weight_decay=0.01, fused=True)
    steps = run.total()
    losses = torch.zeros(steps, device=device)
    checkpoint = Checkpoint(out, run.key)
    first = checkpoint.restore(network, optimizer, losses)
    bfloat16 = _bfloat16(device, network)
    with (
        torch.random.fork_rng(devices=[]),
        bar(title, steps, " steps", first) as shown,
    ):
        for step, batch in enumerate(run.batches()):
            if step == steps:
                break
            if step < first:
                continue
            torch.manual_seed(run.settings.seed * 1_000_003 + step)  # of dropout, so that a step needs no past
            for group in optimizer.param_groups:
                group["lr"] = run.settings.rate * pace((step + 1) / (steps + 1), run.settings.warmup)
            ids, names = run.corpus.rows(batch)
            with _in_memory(run.settings.batch_tokens):
                with torch.autocast(device.partition(":")[0], dtype=torch.bfloat16, enabled=bfloat16):
                    loss = loss_of(network, ids, names, np.random.default_rng([run.settings.seed, 1, step]))
                optimizer.zero_grad()
                loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            losses[step] = loss.detach()
            shown.update()
            if checkpoint.due():
                _finite(losses[: step + 1])
                checkpoint.write(step + 1, network, optimizer, losses)
    _finite(losses)
    precision = "bfloat16" if bfloat16 else "float32"
    _save(run, network, losses.cpu(), precision, out)
    checkpoint.drop()


def pace(done: float, warmup: float) -> float:
    """Share of the highest learning rate: a straight rise over ``warmup``, then half a cosine down to zero."""
    return done / warmup if done < warmup else (1 + math.cos(math.pi * (done - warmup) / (1 - warmup))) / 2


@contextmanager
def _in_memory(tokens: int) -> Iterator[None]:
    """Say what to set where a batch does not fit."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:  # torch's own is a RuntimeError
        if not out_of_memory(error):
            raise
        raise ModelError(
            f"a batch of {tokens} tokens does not fit into memory; take a recipe of fewer batch_tokens"
        ) from error


def _finite(losses: torch.Tensor) -> None:
    """Refuse to keep a training that was lost."""
    wrong = (~losses.isfinite()).nonzero()
    if len(wrong):
        raise ModelError(f"the loss is not finite from step {int(wrong[0]) + 1} on; take a recipe of a lower rate")


def _bfloat16(device: str, network: Any) -> bool:
    """Whether to compute in bfloat16: where the hardware has it, and the layers are wide enough for a gain."""
    import torch

    if not device.startswith("cpu"):
        return device.startswith("cuda") and torch.cuda.is_bf16_supported()
    fast = torch.backends.cpu.get_cpu_capability() == "AVX512" and torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return bool(fast) and network.config.hidden_size >= NARROW


def _entropy(counts: np.ndarray) -> float:
    """The loss, in nats, of guessing each token by its frequency: the plateau that a training must leave."""
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def _save(run: Run, network: Any, losses: torch.Tensor, precision: str, out: Path) -> None:
    start = run.start
    ends = np.linspace(0, len(losses), min(POINTS, len(losses)) + 1).astype(int)
    curve = [[int(b), round(float(losses[a:b].mean()), 4)] for a, b in itertools.pairwise(ends)]
    table = {
        "recipe": run.recipe,
        "settings": asdict(run.settings),
        "category": run.category,
        "family": start.family,
        "kind": start.model.kind,
        "base": start.base,
        "fresh": start.fresh,
        "parameters": sum(p.numel() for p in network.parameters()),
        "precision": precision,
        "texts": run.corpus.texts,
        "sentences_cut": run.corpus.cut,
        "steps": len(losses),
        "loss": curve,
        "unigram": round(_entropy(run.corpus.counts(len(start.model.tokenizer))), 4),
    }
    made = None
    try:
        made = Path(tempfile.mkdtemp(dir=out.parent, prefix=unfinished(out.name)))
        with quiet():
            network.cpu().save_pretrained(made)
        start.model.tokenizer.save_pretrained(made)
        (made / RECORD).write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", "utf-8")
        for path in made.iterdir():
            path.chmod(0o644)
        made.chmod(0o755)
        made.replace(out)
    except OSError as error:
        raise StoreError(f"cannot write {out}: {error.strerror or error}; make room, then run again") from error
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
