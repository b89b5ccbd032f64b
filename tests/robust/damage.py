"""Strategies of damage: to the bytes of a file, and to the arguments of a command."""

import gzip
import json
from collections.abc import Iterator

from hypothesis import strategies as st

# JSON texts of what no reader expects; those that Python's own writer would refuse are spelt out
VALUES = st.sampled_from(
    [
        *("1e999", "-0.0", "NaN", "-1", "1.5", "9" * 30, "9" * 5000, "[" * 80 + "]" * 80, "[" * 3000 + "]" * 3000),
        *('""', '" "', '"\\ud800"', '"\\u0000"', '"\\u200b"', '"[MASK]"', '"[\\"a\\"]"', '"[[1]"', '"=1+1"'),
        *('"../../x"', "[]", "{}", "[[]]", "[null]", "[true]", "[-1]", '["a", 1]', '[["a"]]', '{"a": {}}'),
    ]
) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
).map(json.dumps)

PIECES = st.binary(max_size=8) | st.sampled_from(
    [
        *(b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n", b"\n\n", b"\t", b'"', b'""', b",", b"\\", b"\xed\xa0\x80"),
        *(b"&x;", b"<!ENTITY a 'b'>", b"<!DOCTYPE a [<!ATTLIST b c CDATA 'd'>]>", b"<a>" * 100, b"]]>", b"<![CDATA["),
        *(b"[MASK]", b"[X]", "²".encode(), b"9" * 5000, b"[" * 2000, b"\x1f\x8b", b": ", b"- ", b"{", b"}"),
        *(b"&a [*a]", b"&a {<<: *a}", b"!!int x", b"!!bool x", b"!!float ''", b"!!python/name:os.system"),
        *(b"nan", b"1e999", b"'", b"('a',)", b"'\\ud800'"),
    ]
)


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """A file after one to four faults; a gzipped one is damaged as it lies, or packed again after damage inside."""
    unpacked = data[:2] == b"\x1f\x8b" and draw(st.booleans())
    data = gzip.decompress(data) if unpacked else data
    for _ in range(draw(st.integers(1, 4))):
        data = draw(draw(st.sampled_from((spliced, spliced, swapped, replaced, replaced)))(data))
    return gzip.compress(data, mtime=0) if unpacked else data


@st.composite
def spliced(draw: st.DrawFn, data: bytes) -> bytes:
    """Cut off, with bytes left out, with foreign ones put in or in their place, or with a part repeated."""
    at, start = (draw(st.integers(0, len(data))) for _ in range(2))
    left_out = draw(st.sampled_from((0, 0, 1, 40, len(data))))
    again = data[start : start + draw(st.integers(1, 200))] * draw(st.integers(1, 50))
    piece = draw(st.just(b"") | PIECES | st.just(again))
    return data[:at] + piece + data[at + left_out :]


@st.composite
def swapped(draw: st.DrawFn, data: bytes) -> bytes:
    """With two lines, or a field of one and a field of another, in each other's place."""
    parts = data.split(draw(st.sampled_from((b"\n", b",", b"\t", b">"))))
    first, second = (draw(st.integers(0, len(parts) - 1)) for _ in range(2))
    parts[first], parts[second] = parts[second], parts[first]
    return b"\n".join(parts)


@st.composite
def replaced(draw: st.DrawFn, data: bytes) -> bytes:
    """With a value, key or entry of a JSON line left out or another one; without JSON, with foreign bytes."""
    parts = data.split(b"\n")
    at = draw(st.integers(0, len(parts) - 1))
    try:
        line = json.loads(parts[at])
    except (ValueError, RecursionError):
        return draw(spliced(data))
    places = list(_places(line))
    if not places:
        return draw(spliced(data))
    holder, key = draw(st.sampled_from(places))
    if draw(st.booleans()):
        del holder[key]
    else:
        holder[key] = "@@@@"
    text = json.dumps(line, ensure_ascii=draw(st.booleans()))
    parts[at] = text.replace('"@@@@"', draw(VALUES)).encode("utf-8", "surrogatepass")
    return b"\n".join(parts)


def _places(value: object) -> Iterator[tuple]:
    if isinstance(value, (list, dict)):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


ODD = st.text(max_size=5) | st.sampled_from(
    [
        *("", " ", "-", "--", "\0", "\ud800", ".", "..", "/", "a/b", "-1", "0", "1e999", "nan", str(2**60), "9" * 5000),
        *("x" * 300, "x=y", "=", "a=b=c", "/dev/null", "/dev/zero", "2024-99-99", "a.xml", "a.jsonl", "en"),
        *("--out", "--seed", "--help", "-p", "recorded", "meta", "<b>", "{raw}", "%s", "\n", "\u202e", "bert-tiny"),
    ]
)
PARAMETERS = st.sampled_from(
    [
        *(
            f"seed={value}"
            for value in ("2001-99-99", "2001-01-01", "1.5", "null", ".nan", "yes", "\x00", "[", "{1: 2}")
        ),
        *(f"seed=!!{value}" for value in ("int x", "int ''", "float _", "bool x", "timestamp x", "set {a}")),
        *(f"models={value}" for value in ("&a [*a]", "x" * 300, "[[a]]", "{a: [b]}")),
        *(f"seed={'[' * 2000}", "seed=" + "9" * 5000, "limit=-1", "out=x", "device=meta", "x=y", "=1", "seed", ""),
    ]
)


@st.composite
def arguments(draw: st.DrawFn, commands: list[list[str]]) -> list[str]:
    """A command with one to three of its arguments changed, left out or doubled."""
    command = list(draw(st.sampled_from(commands)))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(command)))
        new = draw(PARAMETERS if "-p" in command[:at][-1:] else ODD)
        change = draw(st.sampled_from(("insert", "leave out", "replace", "replace")))
        command[at : at + (change != "insert")] = [] if change == "leave out" else [new]
    return command
