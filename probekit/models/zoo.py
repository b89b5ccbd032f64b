"""Small models trained from scratch on the demo text, on first use, and cached by the digest of recipe and text."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from probekit.files import cache_folder, canonical, digest
from probekit.probes.demo import demo_text

if TYPE_CHECKING:
    import torch
    from transformers import BertForMaskedLM, PreTrainedTokenizerFast

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Recipe:
    """Architecture and training of a small BERT: pre-trained on masked tokens of the demo text."""

    hidden: int = 96
    layers: int = 2
    heads: int = 4
    vocabulary: int = 640
    positions: int = 96
    epochs: int = 30
    batch: int = 64
    rate: float = 4e-3
    masked: float = 0.3
    seed: int = 0


ZOO = {"zoo/bert-tiny": Recipe()}


def zoo_folder(name: str) -> Path:
    """Folder of a zoo model; trains it first if the cache does not hold it (under a minute on two cores).

    Two processes may ask at once: one trains, the other waits.
    """
    from filelock import FileLock

    recipe, text = ZOO[name], demo_text()
    folder = cache_folder() / "zoo" / f"{name.rpartition('/')[2]}-{digest(canonical(asdict(recipe)), *text)}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not folder.is_dir():
            log.info("training %s on %d sentences into %s", name, len(text), folder)
            unfinished = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".training-"))
            try:
                train(recipe, text, unfinished)
                unfinished.replace(folder)
            finally:
                shutil.rmtree(unfinished, ignore_errors=True)
    return folder


def train(recipe: Recipe, text: list[str], folder: Path) -> None:
    """Train tokenizer and model on ``text`` and save both to ``folder``."""
    import torch
    from tqdm.auto import trange
    from transformers import BertConfig, BertForMaskedLM

    tokenizer = _tokenizer(recipe, text)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        config = BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=recipe.hidden,
            num_hidden_layers=recipe.layers,
            num_attention_heads=recipe.heads,
            intermediate_size=4 * recipe.hidden,
            max_position_embeddings=recipe.positions,
            pad_token_id=tokenizer.pad_token_id,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
        network = BertForMaskedLM(config)
        rows = tokenizer(text, padding=True, return_tensors="pt")["input_ids"]
        order = torch.cat([torch.randperm(len(rows)) for _ in range(recipe.epochs)])
        steps = -(-len(order) // recipe.batch)
        optimizer = torch.optim.AdamW(network.parameters(), lr=recipe.rate, weight_decay=0.01)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, recipe.rate, total_steps=steps)
        for step in trange(steps, desc="training the demo model", delay=2, leave=False):
            batch = rows[order[step * recipe.batch : (step + 1) * recipe.batch]]
            loss = _loss(network, tokenizer, batch, recipe.masked)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _loss(
    network: BertForMaskedLM, tokenizer: PreTrainedTokenizerFast, batch: torch.Tensor, share: float
) -> torch.Tensor:
    """Cross-entropy at masked words, each masked with all its pieces; the head runs at these alone."""
    import torch

    continues = torch.tensor(
        [piece.startswith("##") for piece in tokenizer.convert_ids_to_tokens(range(len(tokenizer)))]
    )
    word = (~continues[batch]).cumsum(1)
    chosen = torch.rand(len(batch), int(word.max()) + 1) < share
    masked = chosen.gather(1, word) & (batch >= len(tokenizer.all_special_ids))
    inputs = batch.masked_fill(masked, tokenizer.mask_token_id)
    attention = (batch != tokenizer.pad_token_id).long()
    hidden = network.bert(inputs, attention_mask=attention).last_hidden_state[masked]
    return torch.nn.functional.cross_entropy(network.cls(hidden), batch[masked])


def _tokenizer(recipe: Recipe, text: list[str]) -> PreTrainedTokenizerFast:
    """Cased WordPiece with BERT's special tokens, their ids first."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    normalizer, splitter = normalizers.BertNormalizer(lowercase=False), pre_tokenizers.BertPreTokenizer()
    words = Counter(w for line in text for w, _ in splitter.pre_tokenize_str(normalizer.normalize_str(line)))
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {piece: i for i, piece in enumerate(special + _pieces(words, recipe.vocabulary - len(special)))}
    inner = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    inner.normalizer, inner.pre_tokenizer, inner.decoder = normalizer, splitter, decoders.WordPiece()
    pairs = [(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")]
    inner.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=pairs)
    names = {f"{name.strip('[]').lower()}_token": name for name in special}
    return PreTrainedTokenizerFast(tokenizer_object=inner, model_max_length=recipe.positions, **names)


def _pieces(words: Counter[str], size: int) -> list[str]:
    """Every letter, then the most frequent beginnings and endings of words: the same vocabulary at every training.

    (The trainer of ``tokenizers`` orders equally frequent pieces differently from run to run.)
    """
    letters = sorted({piece for word in words for letter in word for piece in (letter, f"##{letter}")})
    counts: Counter[str] = Counter()
    for word, count in words.items():
        counts.update({word[:end]: count for end in range(2, len(word) + 1)})
        counts.update({f"##{word[start:]}": count for start in range(1, len(word) - 1)})
    common = sorted(counts, key=lambda piece: (-counts[piece] * len(piece), piece))
    return letters + common[: max(0, size - len(letters))]
