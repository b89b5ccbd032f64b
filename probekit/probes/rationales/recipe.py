"""Records from public items by the recipe of paper 003, section 3.2: premise and alternative, question and answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args

from probekit.errors import ProbeError
from probekit.probes.facts import records, value
from probekit.probes.probe import MASK, json_rows
from probekit.probes.rationales.record import as_record

Source = Literal["copa", "questions", "problems"]
DIMENSION_OF = {"copa": "reasoning", "questions": "knowledge", "problems": "computation"}
OPERATORS = 2  # most of a word problem's equation (appendix A)
OPENINGS = {
    *("A", "An", "The", "He", "She", "It", "They", "We", "You", "His", "Her", "Its", "Their", "My", "Our", "Your"),
    *("Someone", "Everyone", "Nobody", "No"),
}
CONJUNCTIONS = {"cause": " because ", "effect": ", so "}
WHICH = re.compile(r"^(?:which|what) (?P<noun>[a-z][\w -]*?) (?P<rest>(?:is|was|are|were|has|had)\b.+)$", re.IGNORECASE)
WHO = re.compile(r"^(?:who|what) (?P<rest>(?!(?:do|does|did|will|can)\b)\w+ .+)$", re.IGNORECASE)
MANY = re.compile(r"^how many (?P<noun>[\w -]+?) (?P<rest>(?:is|are|was|were)\b.+)$", re.IGNORECASE)
OWNED = re.compile(
    r"^how many (?P<noun>[\w -]+?) (?P<help>do|does|did|will|can) (?P<who>.+?) "
    r"(?P<verb>have|has|get|need|eat|buy|sell|make|take|cost|read|see|find|use|give|own|earn|spend)\b(?P<rest>.*)$",
    re.IGNORECASE,
)


def build_records(path: Path, source: Source) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Draft records of the items in a file, to be judged and corrected by annotators (``sheet``).

    Args:
        path: JSONL, an item a line. ``copa``: ``premise, choice1, choice2, question`` (cause or effect) and ``label``
            (0 or 1), as SuperGLUE has it; premise and right alternative are joined by *because* or *so*, and the last
            word is masked until an annotator chooses another. ``questions``: ``question, answer``; the answer takes the
            place of the wh-phrase and is masked. ``problems``: the same, the question being the last sentence, and
            where known ``equation``; those of more than two operators are left out.
        source: which of these.

    Returns:
        Records without rationales, in the fields of ``RationaleSet``, and counts of items, records, and items left out
        by reason.

    Raises:
        ProbeError: an unknown source, or naming the line and the field.
    """
    if source not in get_args(Source):
        raise ProbeError(f"no recipe {source!r}: one of {', '.join(get_args(Source))}")
    made: list[dict[str, Any]] = []
    counts = Counter[str]()
    for number, result in enumerate(records(path, lambda item, _: MAKERS[source](item), json_rows), start=1):
        counts["items"] += 1
        if isinstance(result, str):
            counts[f"left out: {result}"] += 1
        else:
            context, gold = result
            made.append(as_record(f"{path.stem}-{number}", context, [gold], DIMENSION_OF[source]))
    return made, {**counts, "records": len(made)}


def _copa(item: dict[str, Any]) -> tuple[str, str] | str:
    chosen = value(item, f"choice{value(item, 'label', int) + 1}").strip().rstrip(".")
    if value(item, "question") not in CONJUNCTIONS:
        return "asks neither for a cause nor for an effect"
    *rest, gold = chosen.split(" ")
    if not rest:
        return "the alternative is one word"
    rest[0] = rest[0].lower() if rest[0] in OPENINGS else rest[0]  # a name keeps its capital
    premise = value(item, "premise").strip().rstrip(".")
    return f"{premise}{CONJUNCTIONS[item['question']]}{' '.join([*rest, MASK])}.", gold


def _question(item: dict[str, Any]) -> tuple[str, str] | str:
    return _replaced(value(item, "question"), str(item["answer"]))


def _problem(item: dict[str, Any]) -> tuple[str, str] | str:
    if sum(str(item.get("equation", "")).count(sign) for sign in "+-*/×÷") > OPERATORS:
        return "an equation of more than two operators"
    *premises, question = re.split(r"(?<=[.!?])\s+", value(item, "question").strip())
    result = _replaced(question, str(item["answer"]))
    return result if isinstance(result, str) else (" ".join([*premises, result[0]]), result[1])


def _replaced(question: str, answer: str) -> tuple[str, str] | str:
    """A question with its wh-phrase replaced by the slot, and the answer; or why it cannot be turned mechanically."""
    text = question.strip().rstrip("?").strip()
    if not answer.strip():
        return "no answer"
    if match := OWNED.match(text):
        helper = "" if match["help"].lower() in ("do", "does", "did") else f"{match['help']} "
        verb = {"does": _third, "did": _past}.get(match["help"].lower(), str)(match["verb"])
        turned = f"{match['who']} {helper}{verb} {MASK} {match['noun']}{match['rest']}"
    elif match := MANY.match(text):
        turned = f"{MASK} {match['noun']} {match['rest']}"
        if there := re.match(r"(is|are|was|were) there\b(.*)", match["rest"]):
            turned = f"there {there[1]} {MASK} {match['noun']}{there[2]}"
    elif match := WHICH.match(text):
        turned = f"the {match['noun']} {MASK} {match['rest']}"
    elif match := WHO.match(text):
        turned = f"{MASK} {match['rest']}"
    else:
        return "its wh-phrase is not the subject"
    return f"{turned[0].upper() if not turned.startswith(MASK) else turned[0]}{turned[1:]}.", answer.strip()


IRREGULAR = {
    **{"have": "had", "get": "got", "eat": "ate", "buy": "bought", "sell": "sold", "make": "made", "take": "took"},
    **{"cost": "cost", "read": "read", "see": "saw", "find": "found", "give": "gave", "spend": "spent"},
}


def _third(verb: str) -> str:
    return "has" if verb == "have" else f"{verb}s"


def _past(verb: str) -> str:
    return IRREGULAR.get(verb, f"{verb}{'d' if verb.endswith('e') else 'ed'}")


MAKERS: dict[str, Callable[[dict[str, Any]], tuple[str, str] | str]] = {
    "copa": _copa,
    "questions": _question,
    "problems": _problem,
}
