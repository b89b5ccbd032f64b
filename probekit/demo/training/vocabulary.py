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


def train_tokenizer(shape: Shape, lines: Iterable[str]) -> PreTrainedTokenizerFast:
    """The family's kind of tokenizer, trained on ``lines``, which are read several times.

    Pieces come from merging neighbours (Sennrich et al. 2016), whatever the kind: the trainers of WordPiece and unigram
    break ties differently from run to run, and the latter leaves out whole words that are rare. Cased, unless the text
    has letters but no capital: then it lower-cases, so that it can write every name. The masks of RoBERTa's and
    ALBERT's kind swallow the space before them, as the published ones do.
    """
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    lowercase = any(line != line.upper() for line in lines) and all(line == line.lower() for line in lines)
    special = [*SPECIAL[shape.family].values(), *(EXTRAS if shape.family == "t5" else ())]
    tokenizer, alphabet = Tokenizer(models.BPE()), []
    if lowercase:
        tokenizer.normalizer = normalizers.Lowercase()
    if shape.family in ("roberta", "llama"):
        tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(False), decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
    elif shape.family in ("albert", "t5"):
        spaces = pre_tokenizers.Metaspace(prepend_scheme="first")
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([spaces, pre_tokenizers.Punctuation("isolated")])
        tokenizer.decoder = decoders.Metaspace(prepend_scheme="first")
    else:
        accents = False if lowercase else None
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase, strip_accents=accents)
        tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
    trainer = trainers.BpeTrainer(
        vocab_size=shape.vocabulary,
        special_tokens=special,
        min_frequency=2,
        initial_alphabet=alphabet,
        show_progress=False,
    )
    tokenizer.train_from_iterator(lines, trainer)
    if shape.family in ("albert", "t5"):
        tokenizer.model = _unigram(tokenizer, special, lines)
    elif not alphabet:
        tokenizer.model = _wordpiece(tokenizer, special, lines, shape.vocabulary)
    return _finish(tokenizer, shape, special)


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


def _wordpiece(tokenizer: Tokenizer, special: Sequence[str], lines: Iterable[str], size: int) -> Any:
    """All letters, then the pieces by how often the text uses them at the start of a word or inside it."""
    from tokenizers import models

    used: Counter[str] = Counter()
    for encoding in map(tokenizer.encode, lines):
        words = encoding.word_ids
        for piece, word, before in zip(encoding.tokens, words, [None, *words], strict=False):
            used[piece if word != before else f"##{piece}"] += 1
    letters = {form for piece in used for letter in piece.removeprefix("##") for form in (letter, f"##{letter}")}
    frequent = sorted(used, key=lambda piece: (-used[piece], piece))
    merged = [str(tokenizer.id_to_token(number)) for number in range(len(special), tokenizer.get_vocab_size())]
    spare = [form for piece in merged for form in (piece, f"##{piece}")]
    pieces = list(dict.fromkeys([*special, *sorted(letters), *frequent, *spare]))[:size]
    return models.WordPiece({piece: number for number, piece in enumerate(pieces)}, unk_token="[UNK]")


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
    pattern = " ".join(part for part in (start, "$A", end) if part)
    inner.post_processor = processors.TemplateProcessing(single=pattern, special_tokens=ends)
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        model_max_length=shape.positions,
        extra_special_tokens=[token for token in special if token not in roles.values()],
        **{role: added[token] for role, token in roles.items()},
    )
