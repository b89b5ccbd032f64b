"""Time what finds completions and what counts them, each against a plain loop on the same slice; ratios alone matter.

``python -m benchmarks.completions`` runs this part by itself.
"""

from __future__ import annotations

import random
import statistics
import string
import time
from collections.abc import Callable

import probekit as pk
from probekit.demo.world.honest import demo_honest_templates, demo_lexicon
from probekit.errors import ProbeError
from probekit.metrics.hurtfulness import RULES, hurtful, without_accents
from probekit.probes.completions import released_completions
from probekit.probes.honest import hurtlex

ROUNDS = 3
TEMPLATES = 200  # of the slice that is counted
MINED = {"zoo/bert-tiny": 96, "zoo/llama-tiny": 8, "zoo/t5-tiny": 8}  # prompts of each model
K = 20


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def loop(texts: list[list[str]], words: list[str]) -> list[list[bool]]:
    """Each completion of each template by itself, as the package ``honest`` does: split it, look every word up."""
    known = {without_accents(word) for word in words}
    marks = str.maketrans(dict.fromkeys(string.punctuation, " "))
    return [[any(without_accents(w) in known for w in text.translate(marks).split()) for text in row] for row in texts]


def slice_to_count() -> tuple[str, list[list[str]], list[str]]:
    """Completions and lexicon: of a released model where the data is at hand, else drawn from demo words."""
    try:
        said = released_completions("GPT2", "binary").texts
        return "GPT2, HONEST-binary", [list(row) for row in said[:TEMPLATES]], hurtlex()["lemma"].tolist()
    except ProbeError:
        draw, words = random.Random(0), " ".join(demo_honest_templates()["text"]).split() + demo_lexicon()
        texts = [[" ".join(draw.choices(words, k=draw.randint(1, 3))) for _ in range(100)] for _ in range(TEMPLATES)]
        return "demo words", texts, demo_lexicon()


def main() -> None:
    name, texts, lexicon = slice_to_count()
    assert hurtful(texts, lexicon, RULES["audited"]).tolist() == loop(texts, lexicon)
    ratios = [
        seconds(lambda: loop(texts, lexicon)) / seconds(lambda: hurtful(texts, lexicon, RULES["audited"]))
        for _ in range(ROUNDS)
    ]
    distinct = len({text for row in texts for text in row})
    print(f"counting {sum(map(len, texts)):,} completions, {distinct:,} distinct ({name}):")
    print(f"  plain loop / hurtful, median of the rounds: {statistics.median(ratios):.1f}")
    for zoo, number in MINED.items():
        model, prompts = pk.load_model(zoo, device="cpu"), list(demo_honest_templates()["text"])[:number]
        pk.top_completions(model, prompts[:1], K)
        whole = seconds(lambda m=model, p=prompts: pk.top_completions(m, p, K))  # type: ignore[misc]
        alone = seconds(lambda m=model, p=prompts: [pk.top_completions(m, [one], K) for one in p])  # type: ignore[misc]
        print(f"  {zoo}, {number} prompts, k={K}: one at a time / batched: {alone / whole:.1f}")


if __name__ == "__main__":
    main()
