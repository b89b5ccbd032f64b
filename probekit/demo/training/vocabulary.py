"""Tokenizers trained on a text by the library tokenizers, of each family's kind: WordPiece, byte-level BPE, unigram."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probekit.demo.training.recipe import Family, Shape
from probekit.errors import ModelError

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

EXTRAS = [f"<extra_id_{number}>" for number in range(24)]  # of a vocabulary made here
BERT = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
SPECIAL: dict[Family, dict[str, str]] = {
    "bert": BERT,
    "distilbert": BERT,
    "electra": BERT,
    "roberta": {
        "cls_token": "<s>",
        "pad_token": "<pad>",
        "sep_token": "</s>",
        "unk_token": "<unk>",
        "mask_token": "<mask>",
    },
    "albert": {**BERT, "pad_token": "<pad>", "unk_token": "<unk>"},
    "llama": {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"},
    "t5": {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"},
}
BYTES: tuple[Family, ...] = ("roberta", "llama")  # byte-level BPE
SPACES: tuple[Family, ...] = ("albert", "t5")  # unigram, with the space before a word; the others are WordPiece


def train_tokenizer(shape: Shape, lines: Iterable[str]) -> PreTrainedTokenizerFast:
    """The family's kind of tokenizer, trained on ``lines``, which are read several times.

    Pieces come from merging neighbours (Sennrich et al. 2016), whatever the kind: the library's trainers of WordPiece
    and unigram break ties differently from run to run, and the latter leaves out whole words that are rare. Cased,
    unless the text has letters but no capital: then it lower-cases, so that it can write every name. The masks of
    RoBERTa's and ALBERT's kind swallow the space before them, as the published ones do.
    """
    from tokenizers import models, pre_tokenizers, trainers

    lowercase = any(line != line.upper() for line in lines) and all(line == line.lower() for line in lines)
    special = [*SPECIAL[shape.family].values(), *(EXTRAS if shape.family == "t5" else ())]
    draft = _pipeline(models.BPE(), shape.family, lowercase)
    options: dict[str, Any] = {}
    if shape.family in BYTES:
        options["initial_alphabet"] = pre_tokenizers.ByteLevel.alphabet()
    if wordpiece := shape.family not in (*BYTES, *SPACES):
        letters = sorted({*"".join(map(draft.normalizer.normalize_str, lines))} - {" "})
        options["continuing_subword_prefix"] = "##"
        options["special_tokens"] = [*special, *(f"##{letter}" for letter in letters)]  # named, so their order is fixed
    options = {"vocab_size": shape.vocabulary, "special_tokens": special, "show_progress": False, **options}
    draft.train_from_iterator(lines, trainers.BpeTrainer(min_frequency=2, **options))
    if wordpiece:
        model: Any = models.WordPiece(draft.get_vocab(), unk_token=BERT["unk_token"])
    else:
        model = _unigram(draft, special, lines) if shape.family in SPACES else draft.model
    return _finish(_pipeline(model, shape.family, lowercase), shape, special)


def _pipeline(model: Any, family: Family, lowercase: bool) -> Tokenizer:
    """A tokenizer that splits text as the family does."""
    from tokenizers import Tokenizer, decoders, normalizers, pre_tokenizers

    tokenizer = Tokenizer(model)
    if lowercase:
        tokenizer.normalizer = normalizers.Lowercase()
    if family in BYTES:
        tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(False), decoders.ByteLevel()
    elif family in SPACES:
        spaces = pre_tokenizers.Metaspace(prepend_scheme="first")
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([spaces, pre_tokenizers.Punctuation("isolated")])
        tokenizer.decoder = decoders.Metaspace(prepend_scheme="first")
    else:
        accents = False if lowercase else None
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase, strip_accents=accents)
        tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
    return tokenizer


def read_tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    """The tokenizer in a folder, without the cutting and padding that some folders ask for.

    Raises:
        ModelError: there is none.
    """
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    except Exception as error:  # the loader raises whatever its readers of files raise
        raise ModelError(f"no vocabulary in {folder}: {(str(error).splitlines() or [''])[0]}") from error
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    return tokenizer


def _unigram(tokenizer: Tokenizer, special: Sequence[str], lines: Iterable[str]) -> Any:
    """Each piece scored by the logarithm of how often the text uses it."""
    from tokenizers import models

    used = Counter(piece for encoding in map(tokenizer.encode, lines) for piece in encoding.tokens)
    scores = [(token, 0.0) for token in special]
    for piece in sorted(set(tokenizer.get_vocab()) - set(special)):
        scores.append((piece, math.log((used[piece] + 0.5) / used.total())))
    return models.Unigram(scores, unk_id=special.index("<unk>"), byte_fallback=False)


def _finish(inner: Tokenizer, shape: Shape, special: Sequence[str]) -> PreTrainedTokenizerFast:
    """Special tokens, and what a sentence begins and ends with."""
    from tokenizers import AddedToken, processors
    from transformers import PreTrainedTokenizerFast

    roles = SPECIAL[shape.family]
    swallowing = {roles.get("mask_token"), *EXTRAS} if shape.family in ("roberta", "albert", "t5") else set()
    added = {token: AddedToken(token, lstrip=token in swallowing, normalized=False, special=True) for token in special}
    inner.add_special_tokens(list(added.values()))
    start = roles.get("cls_token") or roles.get("bos_token")
    end = roles.get("sep_token") or (roles["eos_token"] if shape.family == "t5" else None)
    ends = [(token, inner.token_to_id(token)) for token in (start, end) if token]
    pattern = " ".join(piece for piece in (start, "$A", end) if piece)
    inner.post_processor = processors.TemplateProcessing(single=pattern, special_tokens=ends)
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        model_max_length=shape.positions,
        extra_special_tokens=[token for token in special if token not in roles.values()],
        **{role: added[token] for role, token in roles.items()},
    )
