"""Paper 001 against the numbers of its own running text, with Tables 2 and 5 for its counts."""

from __future__ import annotations

import re
from functools import partial

from probekit.report.checks import Finding, registry, show, status
from probekit.report.published import published

from notebooks.templates.own_001 import PAPER, number, table5

CHECKS, check = registry()
PARALLEL = ("Google-RE", "T-REx")
AGAIN = " (second, printed)"


@check("001-01c")
def largest_drop() -> Finding:
    """Abstract: 42% is a difference of percentage points; what is it as a share?"""
    free, based = (number("4", f"BERT-large on T-REx ({s})", "Acc@1") for s in ("TF", "TB"))
    claimed = number("Abstract", "largest drop from template-free to template-based", "Acc@1 (percent)")
    points, share = 100 * (free - based), 100 * (free - based) / free
    shares = "; ".join(f"the mean on {d} falls by {100 * (f - b) / f:.0f}%" for d, f, b in parallel_means())
    text = f"{show(free)} - {show(based)} is {points:.0f} points, or {share:.0f}% of the template-free score; {shares}"
    return status(round(points) == claimed), f"{text} of its template-free value."


def parallel_means() -> list[tuple[str, float, float]]:
    """Dataset, mean Acc@1 template-free, mean Acc@1 template-based, for the parallel datasets (section 4)."""
    score = partial(number, "4", column="Acc@1")
    return [(d, score(f"mean over models on {d} (TF)"), score(f"mean over models on {d} (TB)")) for d in PARALLEL]


@check("001-18a")
def template_free_scores_higher() -> Finding:
    """Sections 4 and 6: the mean Acc@1 is higher template-free on both parallel datasets."""
    text = "; ".join(f"{d} {show(f)} against {show(b)} ({f / b:.1f} times)" for d, f, b in parallel_means())
    return status(
        all(free > based for _, free, based in parallel_means())
    ), f"Template-free against template-based: {text}."


@check("001-09a")
def template_scale() -> Finding:
    """Section 5.2 against section 3: a mean of scores of 0 and 1 lies between 0 and 1."""
    names = ("(born [MASK])", "was born in [MASK]", "died in [MASK]")
    scores = [number("5.2", f"template {name}, mean over models", "Acc@10") for name in names]
    one = 100 * number("4", "mean over models on Google-RE (TB)", "Acc@1")
    outside = [show(score) for score in scores if not 0 <= score <= 1]
    text = f"Acc@k is a mean of 0 and 1, so {', '.join(outside) or 'none'} of {', '.join(map(show, scores))} is outside"
    mean = sum(scores) / len(scores)
    return status(not outside), f"{text}; read as percent their mean is {mean:.1f}, beside {one:.1f} at Acc@1."


@check("001-19a")
def datasets() -> Finding:
    """Abstract: 10 datasets, 4 template-based and 6 template-free, as the columns of Table 5."""
    rows = ("template-based datasets", "template-free datasets", "probing datasets")
    claimed = [number("Abstract", row, "count") for row in rows]
    found = [sum(name.endswith(f"({setting})") for name in table5().columns) for setting in ("TB", "TF")]
    text = f"Table 5 has {found[0]} template-based and {found[1]} template-free columns, {sum(found)} together"
    return status(claimed == [*found, sum(found)]), f"{text}; the abstract says {' + '.join(map(show, claimed[:2]))}."


@check("001-19b")
def models() -> Finding:
    """Section 3.1: 7 generic, 6 fine-tuned and 3 biomedical models are the 16 of Table 5."""
    counts = published(PAPER, "2").query("column == 'category'")["value"].value_counts()
    names = {
        "generic": "generic English",
        "biomedical fine-tuned": "biomedical fine-tuned",
        "biomedical only": "biomedical",
    }
    claimed = {key: number("3.1", f"{name} models", "count") for key, name in names.items()}
    total, rows = number("3.1", "language models evaluated", "count"), len(table5())
    text = ", ".join(f"{counts.get(key, 0)} {key}" for key in names)
    agree = all(counts.get(key, 0) == count for key, count in claimed.items())
    return status(agree and total == sum(claimed.values()) == rows), f"Table 2 marks {text}; Table 5 has {rows} rows."


@check("001-19c")
def models_named() -> Finding:
    """Table 2: does it name every model of Table 5 (all words of its name), and none of them twice?"""
    listed = published(PAPER, "2").query("column == 'category'")["row"]
    twice = listed[listed.str.endswith(AGAIN)].str.removesuffix(AGAIN).tolist()
    named = [set(re.split(r"[ -]", name)) for name in listed]
    absent = [
        str(name) for name in table5().index if not any(words.issuperset(re.split(r"[ -]", name)) for words in named)
    ]
    text = f"Table 2 names twice: {', '.join(twice) or 'none'}; of Table 5 it lacks: {', '.join(absent) or 'none'}"
    return status(not twice and not absent), f"{text}."


def parallel(named: tuple[str, str]) -> Finding:
    """Which datasets have a template-based and a template-free column in Table 5?"""
    columns = set(table5().columns)
    both = sorted(name[:-5] for name in columns if name.endswith("(TF)") and f"{name[:-5]} (TB)" in columns)
    return status(
        both == sorted(named)
    ), f"Named: {' and '.join(named)}; in both settings in Table 5: {' and '.join(both)}."


check("001-20a")(partial(parallel, ("Google-RE", "SQuAD")))
check("001-20b")(partial(parallel, ("Google-RE", "T-REX")))
