"""One training by the `Trainer` of transformers, which resumes it; its folder appears whole or not at all."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from probekit.demo.training.corpus import Corpus
from probekit.demo.training.objective import IGNORED, Collator
from probekit.demo.training.recipe import Adapter, Recipe
from probekit.demo.training.start import Start
from probekit.errors import ModelError, StoreError, said
from probekit.files import alone, canonical, digest, sweep, whole_folder
from probekit.files.progress import bar
from probekit.models.kinds import out_of_memory, quiet
from probekit.models.model import Kind
from probekit.models.precision import native_bfloat16
from probekit.models.shipped import HEAD, RECORD

POINTS = 50  # of the learning curve
SAVES = 20  # checkpoints of a training; the last two are kept
NARROW = 192  # layers narrower than this are not faster in bfloat16
STATE = "trainer_state.json"  # what is written last into a checkpoint


@dataclass(frozen=True)
class Run:
    """One training: where it starts, on what, how, and what is to be written of it.

    Args:
        category: as in ``models.yml``.
        steps: fewer or more than the recipe's epochs make; None leaves it to them.
    """

    start: Start
    corpus: Corpus
    recipe: Recipe
    category: str
    steps: int | None = None

    @property
    def key(self) -> str:
        """Digest of everything that decides the weights."""
        texts = [text["sha256"] for text in self.corpus.texts]
        settings = canonical([asdict(self.recipe), texts, self.steps])
        return digest(self.start.model.fingerprint, settings, self.corpus.tokens.tobytes())

    @property
    def batch(self) -> int:
        """Sentences per step."""
        return max(1, round(self.recipe.settings.batch_tokens * len(self.corpus) / self.corpus.tokens.shape[1]))


@contextmanager
def claim(out: Path) -> Iterator[None]:
    """Only one process at a time trains into ``out``; another one waits.

    Raises:
        StoreError: the folder around ``out`` cannot be written.
    """
    with alone(out.parent, out.name, f".{out.name}.lock", wait=True):
        sweep(out.parent)
        yield


def checkpoints(out: Path) -> Path:
    """The hidden folder beside ``out`` with the checkpoints of its training."""
    return out.parent / f".{out.name}.training"


def train(run: Run, out: Path, device: str, title: str) -> None:
    """Train and write the folder ``out``: weights or adapter, configuration, tokenizer, ``training.json``.

    An interrupted training goes on from its last checkpoint. The caller holds the lock.

    Args:
        device: ``cpu`` or ``cuda``.

    Raises:
        ModelError: a package is missing, a checkpoint is damaged, a batch does not fit into memory, or the loss is no
            longer finite.
        StoreError: checkpoint or folder cannot be written.
    """
    from safetensors.torch import load_file, save_file

    for package in ("accelerate", "peft") if run.recipe.adapter else ("accelerate",):
        if find_spec(package) is None:
            raise ModelError(f"training needs the package {package}: pip install 'probekit[train]'")
    folder = checkpoints(out) / run.key
    network = run.start.model.network
    bfloat16 = _bfloat16(device, network)
    if run.recipe.adapter is not None:
        network = _adapted(run.start, run.recipe.adapter, run.recipe.settings.seed)
    adapted = run.start.fresh if run.recipe.adapter else ()  # what the library peft would not save: a new head
    head = {name: network.get_base_model().get_parameter(name) for name in adapted}
    trainer, progress = _trainer(run, network, folder, device, bfloat16, title, head)
    last = _last_checkpoint(folder, HEAD if head else STATE)
    try:
        with quiet(), hidden_alone(network, run.start.model.kind):
            if last and head:
                network.get_base_model().load_state_dict(load_file(Path(last) / HEAD), strict=False)
            trainer.train(resume_from_checkpoint=last)
    except ModelError:
        shutil.rmtree(checkpoints(out), ignore_errors=True)
        raise
    except Exception as error:  # of readers and writers of files, of torch, of the device
        if out_of_memory(error):
            raise ModelError(
                f"a batch of {run.recipe.settings.batch_tokens} tokens does not fit into memory; "
                "take a recipe of fewer batch_tokens"
            ) from error
        if last and progress.bar is None:
            raise ModelError(f"{last} is damaged ({said(error)}): remove it, then run again") from error
        if _write_failed(error):
            raise StoreError(f"cannot write {folder}: {said(error)}; make room, then run again") from error
        raise
    options: dict[str, Any] = {}
    if run.recipe.adapter is not None:
        network.peft_config["default"].base_model_name_or_path = run.start.base  # no path of this machine
        options["save_embedding_layers"] = False  # unchanged; to find out, the base would be looked for on the Hub
    with whole_folder(out) as made:
        with quiet():
            network.cpu().save_pretrained(made, **options)
            if head:
                save_file(head, made / HEAD)
        run.start.model.tokenizer.save_pretrained(made)
        record = _record(run, network, trainer.state, "bfloat16" if bfloat16 else "float32")
        (made / RECORD).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")
    shutil.rmtree(checkpoints(out), ignore_errors=True)


def _adapted(start: Start, adapter: Adapter, seed: int) -> Any:
    """The base with an adapter, whose weights alone are trained."""
    import torch
    from peft import LoraConfig, get_peft_model

    if start.fresh and not adapter.head:
        raise ModelError(
            f"{start.base} has no language-model head, and an adapter makes none: train it as it is before, or take "
            "the recipe untuned"
        )
    head = sorted({name.rpartition(".")[0] for name in start.fresh})
    config = LoraConfig(
        r=adapter.rank, lora_alpha=adapter.alpha, target_modules="all-linear", exclude_modules=head or None
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = get_peft_model(start.model.network, config)
    for name in start.fresh:
        network.get_base_model().get_parameter(name).requires_grad = True
    return network


@contextmanager
def hidden_alone(network: Any, kind: Kind) -> Iterator[None]:
    """Let a masked model skip its output layer where no token is hidden and nothing is learned: most of a step's time.

    Its ``logits`` are then of the hidden tokens of a batch, shape (hidden, vocabulary).
    """
    hidden: Any = None

    def labelled(_: Any, inputs: Any, named: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        nonlocal hidden
        hidden = named["labels"] != IGNORED
        return inputs, {**named, "labels": named["labels"][hidden]}

    if kind != "masked":
        yield
        return
    with (
        network.register_forward_pre_hook(labelled, with_kwargs=True),
        network.get_output_embeddings().register_forward_pre_hook(lambda _, inputs: (inputs[0][hidden],)),
    ):
        yield


def _trainer(
    run: Run, network: Any, folder: Path, device: str, bfloat16: bool, title: str, head: dict[str, Any]
) -> tuple[Any, Any]:
    from safetensors.torch import save_file
    from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments

    class Progress(TrainerCallback):
        """Our bar in place of the library's, and an end to a training that was lost."""

        bar: Any = None

        def on_train_begin(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
            self.bar = bar(title, state.max_steps, " steps", state.global_step)

        def on_step_end(self, _args: Any, _state: Any, _control: Any, **_: Any) -> None:
            self.bar.update()

        def on_log(self, _args: Any, state: Any, _control: Any, logs: dict[str, float], **_: Any) -> None:
            if not np.isfinite(logs.get("loss", logs.get("train_loss", 0.0))):
                raise ModelError(f"the loss is not finite at step {state.global_step}; take a recipe of a lower rate")

        def on_save(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
            if head:
                save_file(head, folder / f"checkpoint-{state.global_step}" / HEAD)

        def on_train_end(self, _args: Any, _state: Any, _control: Any, **_: Any) -> None:
            self.bar.close()

    settings, vocabulary = run.recipe.settings, len(run.start.model.tokenizer)
    arguments = TrainingArguments(
        output_dir=str(folder),
        max_steps=run.steps or -1,
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=run.batch,
        train_sampling_strategy="group_by_length",
        learning_rate=settings.rate,
        lr_scheduler_type="cosine",
        warmup_steps=float(settings.warmup),
        weight_decay=0.01,
        seed=settings.seed,
        use_cache=True,  # is written into config.json, where it makes generation fast
        use_cpu=device == "cpu",
        bf16=bfloat16,
        logging_steps=1 / POINTS,
        logging_nan_inf_filter=False,
        save_steps=1 / SAVES,
        save_total_limit=2,
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
        dataloader_pin_memory=device != "cpu",
    )
    arguments._n_gpu = min(arguments.n_gpu, 1)  # several would each take a part of a small batch
    progress = Progress()
    named = run.recipe.adapter is not None and any(text["names"] for text in run.corpus.texts)
    collator = Collator(run.start.model, settings, run.corpus.first_counts(vocabulary), named)
    trainer = Trainer(network, arguments, collator, run.corpus, callbacks=[progress])
    trainer.remove_callback(PrinterCallback)
    return trainer, progress


def _last_checkpoint(folder: Path, needed: str) -> str | None:
    """The newest checkpoint that was written to its end, the file ``needed`` included."""
    for path in sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2]), reverse=True):
        try:
            json.loads((path / STATE).read_text("utf-8"))
        except (OSError, ValueError):
            continue
        if (path / needed).is_file():
            return str(path)
    return None


def _write_failed(error: Exception) -> bool:
    """Whether a file could not be written: safetensors and torch raise errors of their own."""
    from safetensors import SafetensorError

    return isinstance(error, (OSError, SafetensorError)) or "PytorchStreamWriter" in str(error)


def _bfloat16(device: str, network: Any) -> bool:
    """Whether to compute in bfloat16: where the layers are wide enough for a gain, and the hardware has it."""
    import torch

    wide = bool(getattr(network.config, "hidden_size", NARROW) >= NARROW)
    if device != "cpu":
        return wide and torch.cuda.is_available() and torch.cuda.is_bf16_supported()
    return wide and torch.backends.cpu.get_cpu_capability() == "AVX512" and native_bfloat16()


def _record(run: Run, network: Any, state: Any, precision: str) -> dict[str, Any]:
    """What ``training.json`` says."""
    start, adapter = run.start, run.recipe.adapter
    counts = run.corpus.counts(len(start.model.tokenizer))
    shares = counts[counts > 0] / counts.sum()
    return {
        "recipe": run.recipe.name,
        "settings": asdict(run.recipe.settings),
        **({"adapter": asdict(adapter)} if adapter else {}),
        "category": run.category,
        "family": start.family,
        "kind": start.model.kind,
        "base": start.base,
        "start": start.model.fingerprint,  # of the weights before, taken then
        "fresh": start.fresh,
        "parameters": sum(p.numel() for p in network.parameters()),
        "precision": precision,
        "texts": run.corpus.texts,
        "sentences_cut": run.corpus.cut,
        "steps": state.global_step,
        "loss": [[entry["step"], round(entry["loss"], 4)] for entry in state.log_history if "loss" in entry],
        "unigram": round(float(-(shares * np.log(shares)).sum()), 4),  # nats, of guessing tokens by their frequency
    }
