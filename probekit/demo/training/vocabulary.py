"""Tokenizers trained on a text, of each family's kind: WordPiece, byte-level BPE, unigram."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probekit.demo.training.merges import merge
from probekit.demo.training.recipe import Shape
from probekit.errors import ModelError

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

EXTRAS = 24  # <extra_id_N> of a vocabulary made here
BERT = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
ROBERTA = {
    "cls_token": "<s>",
    "pad_token": "<pad>",
    "sep_token": "</s>",
    "unk_token": "<unk>",
    "mask_token": "<mask>",
}
ALBERT = {
    "pad_token": "<pad>",
    "unk_token": "<unk>",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
LLAMA = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
T5 = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}


def train_tokenizer(shape: Shape, lines: Iterable[str]) -> PreTrainedTokenizerFast:
    """The family's kind of tokenizer, trained on ``lines``; the same text gives the same tokenizer.

    Cased, unless the text has letters but no capital: then it lower-cases, so that it can write every name. The masks
    of RoBERTa's and ALBERT's kind swallow the space before them, as the published ones do.
    """
    lines = list(lines)
    lowercase = any(map(_has_small, lines)) and not any(line != line.lower() for line in lines)
    makers = {"roberta": _byte_bpe, "llama": _byte_bpe, "albert": _unigram, "t5": _unigram}
    return makers.get(shape.family, _wordpiece)(shape, lines, lowercase)


def _has_small(line: str) -> bool:
    return line != line.upper()


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


def _wordpiece(shape: Shape, lines: Iterable[str], lowercase: bool) -> PreTrainedTokenizerFast:
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

    normalizer = normalizers.BertNormalizer(lowercase=lowercase, strip_accents=False if lowercase else None)
    splitter = pre_tokenizers.BertPreTokenizer()
    words = Counter(w for line in lines for w, _ in splitter.pre_tokenize_str(normalizer.normalize_str(line)))
    parts = {(word[0], *(f"##{letter}" for letter in word[1:])): n for word, n in sorted(words.items())}
    special = list(BERT.values())
    letters = sorted({letter for word in parts for letter in word})
    made, _ = merge(parts, shape.vocabulary - len(special) - len(letters), lambda a, b: a + b.removeprefix("##"))
    joined = [a + b.removeprefix("##") for a, b in made]
    inner = Tokenizer(models.WordPiece(_numbered([*special, *letters, *joined]), unk_token="[UNK]"))
    inner.normalizer, inner.pre_tokenizer, inner.decoder = normalizer, splitter, decoders.WordPiece()
    return _finish(inner, shape, BERT)


def _byte_bpe(shape: Shape, lines: Iterable[str], lowercase: bool) -> PreTrainedTokenizerFast:
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

    names = ROBERTA if shape.family == "roberta" else LLAMA
    splitter = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words = Counter(word for line in lines for word, _ in splitter.pre_tokenize_str(line))
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    room = shape.vocabulary - len(names) - len(letters)
    made, _ = merge({tuple(word): n for word, n in sorted(words.items())}, room, str.__add__)
    vocabulary = _numbered([*names.values(), *letters, *(a + b for a, b in made)])
    inner = Tokenizer(models.BPE(vocabulary, made))
    inner.pre_tokenizer, inner.decoder = splitter, decoders.ByteLevel()
    if lowercase:
        inner.normalizer = normalizers.Lowercase()
    return _finish(inner, shape, names)


def _unigram(shape: Shape, lines: Iterable[str], lowercase: bool) -> PreTrainedTokenizerFast:
    """Pieces by merging, each scored by the logarithm of how often the merged text uses it."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

    names = ALBERT if shape.family == "albert" else T5
    special = [*names.values(), *(f"<extra_id_{i}>" for i in range(EXTRAS) if shape.family == "t5")]
    splitter = pre_tokenizers.Sequence(
        [pre_tokenizers.Metaspace(prepend_scheme="first"), pre_tokenizers.Punctuation("isolated")]
    )
    words = Counter(word for line in lines for word, _ in splitter.pre_tokenize_str(line))
    parts = {tuple(word): n for word, n in sorted(words.items())}
    letters = sorted({letter for word in parts for letter in word})
    made, used = merge(parts, shape.vocabulary - len(special) - len(letters), str.__add__)
    pieces = list(dict.fromkeys([*letters, *(a + b for a, b in made)]))
    total = sum(used.values())
    scored = [(name, 0.0) for name in special]
    scored += [(piece, math.log((used[piece] + 0.5) / total)) for piece in pieces]
    inner = Tokenizer(models.Unigram(scored, unk_id=special.index("<unk>"), byte_fallback=False))
    inner.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    inner.decoder = decoders.Metaspace(prepend_scheme="first")
    if lowercase:
        inner.normalizer = normalizers.Lowercase()
    return _finish(inner, shape, names, special)


def _numbered(pieces: Iterable[str]) -> dict[str, int]:
    return {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}


def _finish(inner: Tokenizer, shape: Shape, names: dict[str, str], special: Iterable[str] = ()) -> Any:
    """Special tokens, and what a sentence begins and ends with."""
    from tokenizers import AddedToken, processors
    from transformers import PreTrainedTokenizerFast

    mask = names.get("mask_token", "<extra_id_")
    swallow = shape.family in ("roberta", "albert", "t5")
    added = {
        name: AddedToken(name, lstrip=swallow and name.startswith((mask, "<extra_id_")), normalized=False, special=True)
        for name in dict.fromkeys([*names.values(), *special])
    }
    inner.add_special_tokens(list(added.values()))
    start = names.get("cls_token") or names.get("bos_token")
    end = names.get("sep_token") or (names["eos_token"] if shape.family == "t5" else None)
    pattern = " ".join(part for part in (start, "$A", end) if part)
    pairs = [(name, inner.token_to_id(name)) for name in (start, end) if name]
    inner.post_processor = processors.TemplateProcessing(single=pattern, special_tokens=pairs)
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        model_max_length=shape.positions,
        extra_special_tokens=[name for name in special if name not in names.values()],
        **{key: added[name] for key, name in names.items()},
    )
