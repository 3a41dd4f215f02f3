"""A broken file is refused with a line and a reason, quickly, and never with another error."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import pytest

from lamina.vault.atom_file import parse_file
from lamina.vault.yaml_codec import Unreadable

GOOD = """---
id: 01jc9x2k7m3f5r8t0v2w4y6z8a
kind: preference
subject: "Anna's: coffee"  # hers
confidence: 0.85
tags: [coffee, "oat milk", 'x']
entities:
  - Anna
  - Berlin
observed_at: 2026-11-14T09:12:00Z
valid_until: 2026-12-31
evidence: ["[[sess-01jc9x2k7m3f5r8t0v2w4y6z8b#^p7|12-48]]"]
relations: ["depends_on [[fact-01jc9x2k7m3f5r8t0v2w4y6z8c]] 0.85"]
poem: |
  one
  two
metadata:
  topic: coffee
  "odd: key": "a\\tb"
---

Anna drinks oat milk.
日本語 and שלום.
"""
SLOWEST = 2.0

NUMBERS = ("high", "1.5", "-0.1", "nan", "inf", "1,5", "0x1", "0_5", "½", "[0.5]", "{a: b}", "0.5.1", "1e99", "'0 5'")
TIMES = (
    "yesterday",
    "2026-13-01",
    "2026-02-30",
    "14.11.2026",
    "2026-11-14T25:00:00Z",
    "2026-11-14T09:12:00+99:00",
    "[2026-11-14]",
    "{a: b}",
    "0000-00-00",
    "1763111520",
)
WORDS = ("nonsense", "[active]", "{a: b}", "active semantic", "1")
TRUTHS = ("maybe", "2", "[true]", "{a: b}", "ja")
EVIDENCE = (
    "plain",
    '"[[x]]"',
    '"[[x#p7]]"',
    '"[[x#^p]]"',
    '"[[x#^pseven]]"',
    '"[[x#^p7|a-b]]"',
    '"[[x#^p7|1]]"',
    '"[[#^p7]]"',
    '"[[x#^p7"',
    '"[[x#^p99999999999]]"',
    "{a: b}",
    "[{a: b}]",
)
RELATIONS = (
    "plain",
    '"hates [[x]]"',
    '"depends_on"',
    '"depends_on [[x]] 1.5"',
    '"depends_on [[x]] -1"',
    '"depends_on [[x]] much"',
    '"depends_on [[x]] 0.5 yesterday"',
    '"depends_on [[x]] 0.5 2026-99-99T00:00:00Z"',
    '"depends_on [[x]] 0.5 0.5"',
    '"depends_on [[x]] 1.2.3"',
    '"[[x]] depends_on"',
    "{depends_on: x}",
)
TEXT_KEYS = (
    *("kind", "subject", "attribute", "value", "source_id", "session_id", "segment_id", "source_ref", "principal"),
    *("episode_id", "box_id", "trace_id", "run_id", "id", "atom_id", "content"),
)
FIELDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("confidence", "importance"), NUMBERS),
    "valence": ("-1.5", "2", "sad", "[0]"),
    "surprise": ("very", "[1]", "nan", "1e99"),
    "quality_score": ("good", "-1", "[1]"),
    "recall_count": ("many", "-1", "1.5", "99999999999"),
    **dict.fromkeys(("observed_at", "recorded_at", "valid_from", "valid_until", "expires_at"), TIMES),
    "last_recalled_at": TIMES[:3],
    **dict.fromkeys(("status", "layer", "durability", "memory_type", "origin"), WORDS),
    "tier": ("long", "[stm]"),
    **dict.fromkeys(("pinned", "resolved", "is_superseded"), TRUTHS),
    **dict.fromkeys(TEXT_KEYS, ("[a]", "{a: b}", '"\\0"')),
    **dict.fromkeys(("tags", "entities", "agents"), ("{a: b}", "[[a], {b: c}]", "[{a: b}]", '["\\0"]')),
    **dict.fromkeys(("supersedes", "superseded_by", "derived_from"), ("{a: b}", "[{a: b}]", "[[a, b]]", '"\\0"')),
    "evidence": EVIDENCE,
    "relations": RELATIONS,
    "metadata": ("text", "[a]", "{a: {b: c}}", "{a: [{b: c}]}", '{a: "\\0"}', '{"\\0": a}'),
    "provenance": ("{observed_at: soon}", "{source_id: [a]}", "{ingested_at: [a]}", "{origin: god}"),
}
SYNTAX: dict[str, str] = {
    "anchor": "a: &x b",
    "anchor on a list": "a: &x [b]",
    "anchor on a map": "a: &x\n  b: c",
    "anchor on a key": "&x a: b",
    "alias": "a: *x",
    "alias after its anchor": "a: &x b\nc: *x",
    "alias as a key": "*x : a",
    "tag": "a: !x b",
    "secondary tag": "a: !!str b",
    "verbatim tag": "a: !<tag:yaml.org,2002:str> b",
    "bare tag": "a: ! b",
    "python tag": "a: !!python/object/apply:os.system [ls]",
    "tag on a key": "!!str a: b",
    "merge key": "<<: {a: b}",
    "merge key in a map": "a:\n  <<: {b: c}",
    "duplicate": "a: b\na: c",
    "duplicate behind quotes": "a: b\n'a': c",
    "duplicate in a map": "a:\n  b: c\n  b: d",
    "duplicate in a flow map": "a: {b: c, b: d}",
    "list as a key": "? [a, b]\n: c",
    "map as a key": "? {a: b}\n: c",
    "key without a name": ": a",
    "explicit key": "? a\n: b",
    "two keys on a line": "a: b c: d",
    "value with a colon": "a: b: c",
    "root list": "- a",
    "root text": "just words",
    "root map in braces": "{a: b}",
    "root text in quotes": '"words"',
    "unclosed bracket": "a: [b, c",
    "unclosed brace": "a: {b: c",
    "unclosed double quote": 'a: "b',
    "unclosed single quote": "a: 'b",
    "closing bracket alone": "a: ]",
    "wrong bracket": "a: [b}",
    "text after a bracket": "a: [b] c",
    "text after a quote": 'a: "b" c',
    "text after single quotes": "a: 'b' c",
    "comma alone": "a: ,",
    "comma twice": "a: [b,, c]",
    "percent": "a: %b",
    "at sign": "a: @b",
    "backtick": "a: `b`",
    "directive": "%YAML 1.1",
    "bad escape": 'a: "\\q"',
    "short escape": 'a: "\\u12"',
    "surrogate escape": 'a: "\\ud800"',
    "tab as indent": "a:\n\tb: c",
    "tab before a key": "\ta: b",
    "tab in a list": "a:\n\t- b",
    "bad indent": "a:\n    b: c\n  d: e",
    "indent after text": "a: b\n  c: d",
    "list in text": "a: b\n- c",
    "list after a map": "a:\n  b: c\n  - d",
    "map after a list": "a:\n  - b\n  c: d",
    "list on the line of its key": "a: - b",
    "word without a colon": "a: b\nword\nc: d",
    "colon without a space": "a:b",
    "block text with words": "a: | words\n  b",
    "block text with a bad indent": "a: |0\n  b",
    "document end": "a: b\n...",
    "document end and more": "a: b\n...\nc: d",
    "second document": "a: b\n--- # c\nd: e",
    "merge begins": "<<<<<<< HEAD",
    "merge divides": "=======",
    "merge ends": ">>>>>>> topic",
    "merge base": "||||||| base",
    "depth in brackets": "a: [[[[[b]]]]]",
    "depth in braces": "a: {b: {c: {d: {e: {f: g}}}}}",
    "depth in blocks": "a:\n b:\n  c:\n   d:\n    e:\n     f: g",
    "depth in dashes": "a:\n- - - - - b",
    "keys": "\n".join(f"k{n}: v" for n in range(260)),
    "keys in a map": "a:\n" + "\n".join(f"  k{n}: v" for n in range(260)),
    "keys in two maps": "".join(f"{a}:\n" + "".join(f"  k{n}: v\n" for n in range(130)) for a in "ab"),
    "bell": "a: \x07",
    "escape": "a: \x1b[0m",
    "delete": "a: \x7f",
    "next line": "a: b\x85c",
    "line separator": "a: b\u2028c",
    "paragraph separator": "a: b\u2029c",
    "lone carriage return": "a: b\rc: d",
    "not a character": "a: \ufffe",
    "subject too long": "subject: " + "x" * 501,
}
BYTES: dict[str, bytes] = {
    "latin-1": "---\nsubject: café\n---\n".encode("latin-1"),
    "latin-1 in the body": "---\na: b\n---\ncafé\n".encode("latin-1"),
    "utf-16": "---\na: b\n---\n".encode("utf-16"),
    "utf-32": "---\na: b\n---\n".encode("utf-32"),
    "encoded surrogate": b"---\na: \xed\xa0\x80\n---\n",
    "overlong slash": b"---\na: \xc0\xaf\n---\n",
    "cut inside a character": "---\na: b\n---\n日".encode()[:-1],
    "stray continuation": b"---\na: b\n---\n\x80",
    "binary": bytes(range(256)),
    "NUL in the frontmatter": b"---\na: b\0\n---\n",
    "NUL in the body": b"---\na: b\n---\n\0",
    "NUL first": b"\0---\na: b\n---\n",
    "NULs as after a power cut": b"\0" * 4096,
    "never closed": b"---\na: b\nwords\n",
    "only an opening": b"---\n",
    "only dashes": b"---",
    "opening with spaces": b"---   \na: b\n",
    "closed by dots": b"---\na: b\n...\nwords\n",
    "closed by four dashes": b"---\na: b\n----\nwords\n",
    "closed with an indent": b"---\na: b\n ---\nwords\n",
    "half saved": GOOD.encode()[:150],
    "old Mac line ends": b"---\ra: b\r---\rwords\r",
    "bom and never closed": b"\xef\xbb\xbf---\na: b\n",
    "merge in the body": b"---\na: b\n---\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> z\n",
    "merge in Windows' body": b"---\r\na: b\r\n---\r\n<<<<<<< HEAD\r\nx\r\n>>>>>>> z\r\n",
    "merge over everything": b"<<<<<<< HEAD\n---\na: b\n---\n=======\n---\na: c\n---\n>>>>>>> z\n",
    "merge from frontmatter to body": b"---\n<<<<<<< HEAD\na: b\n---\nx\n>>>>>>> z\n",
}
BOMBS: dict[str, bytes] = {
    "laughs": b"---\na: &a [x, x]\n"
    + b"".join(f"{chr(n + 1)}: &{chr(n + 1)} [*{chr(n)}, *{chr(n)}]\n".encode() for n in range(97, 121))
    + b"---\n",
    "brackets": b"---\na: " + b"[" * 60_000 + b"\n---\n",
    "closed brackets": b"---\na: " + b"[" * 30_000 + b"]" * 30_000 + b"\n---\n",
    "braces": b"---\na: " + b"{a: " * 15_000 + b"\n---\n",
    "dashes": b"---\na:\n" + b"- " * 30_000 + b"x\n---\n",
    "question marks": b"---\n" + b"? " * 30_000 + b"x\n---\n",
    "indents": b"---\n" + b"".join(b" " * n + b"a:\n" for n in range(350)) + b"---\n",
    "lines": b"---\n" + b"a: b\n" * 100_000 + b"---\n",
    "distinct lines": b"---\n" + b"".join(b"k%d: v\n" % n for n in range(100_000)) + b"---\n",
    "lines never closed": b"---\n" + b"a: b\n" * 100_000,
    "keys": b"---\n" + b"".join(b"k%d: v\n" % n for n in range(6_000)) + b"---\n",
    "hard keys": b"---\n" + b"".join(b"k%d: {a: b}\n" % n for n in range(4_000)) + b"---\n",
    "colons": b"---\n" + b": " * 30_000 + b"\n---\n",
    "quotes": b"---\na: " + b"'" * 60_001 + b"\n---\n",
    "escapes": b'---\na: "' + b"\\" * 60_001 + b"\n---\n",
    "list never closed": b"---\na: [" + b'"x", ' * 12_000 + b"\n---\n",
    "megabytes": b"---\na: b\n---\n" + b"x" * 10_000_000,
    "megabytes of dashes": b"---\n" * 2_500_000,
    "megabytes of frontmatter": b"---\na: " + b"x" * 10_000_000 + b"\n---\n",
    "merges": b"---\na: b\n---\n" + b"<<<<<<< x\n" * 90_000 + b">>>>>>> x\n",
    "fences": b"---\n" + b"---x\n" * 200_000,
}


def bad_files() -> Iterator[tuple[str, bytes]]:
    for key, values in FIELDS.items():
        for value in values:
            yield f"{key}: {value}", f"---\ncolour: red\n{key}: {value}\n---\nWords.\n".encode()
    for name, text in SYNTAX.items():
        yield name, f"---\n{text}\n---\nWords.\n".encode()
        yield f"{name}, in the middle", f"---\nfirst: one\n# note\n{text}\nlast: two\n---\nWords.\n".encode()
        yield f"{name}, in Windows' lines", f"---\nfirst: one\n{text}\n---\n".replace("\n", "\r\n").encode()
    yield from BYTES.items()
    yield from BOMBS.items()


BAD = dict(bad_files())


def timed_refusal(data: bytes) -> Unreadable | None:
    start = time.thread_time()
    try:
        parse_file(data)
    except Unreadable as error:
        refusal: Unreadable | None = error
    else:
        refusal = None
    assert time.thread_time() - start < SLOWEST
    if refusal is not None:
        assert refusal.line >= 1
        assert refusal.line <= data.count(b"\n") + 1
        assert refusal.reason
    return refusal


def test_the_valid_file_is_valid() -> None:
    assert timed_refusal(GOOD.encode()) is None


def test_there_are_enough_bad_files() -> None:
    assert len(BAD) - len(BOMBS) >= 200
    assert len(set(BAD.values())) == len(BAD)


def test_every_bad_file_is_refused_quickly_with_its_line_and_reason() -> None:
    assert [name for name, data in BAD.items() if timed_refusal(data) is None] == []


@pytest.mark.parametrize("key", FIELDS)
def test_a_wrong_value_is_reported_on_its_own_line(key: str) -> None:
    for value in FIELDS[key]:
        refusal = timed_refusal(BAD[f"{key}: {value}"])
        assert refusal is not None
        assert (refusal.line, refusal.reason.startswith(f"{key}: ")) == (3, True)


NOISE = (
    *(bytes([byte]) for byte in b"\0\t\r\n \"'[]{}:#&*!|>%@`,?-<=~\\\x7f\x80\xc3\xff"),
    b"---\n",
    b"\n---\n",
    b"<<: ",
    b"<<<<<<< a\n",
    b">>>>>>> b\n",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xa8",
    b"&a ",
    b"*a",
    b"!!str ",
    b": ",
    b" #",
    b"\r\n",
    b"id: x\n",
    b"  - ",
    b"...\n",
)


def mutated(data: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.choice((0, 0, 1, 2, 8, 40)))
        other = chance.randrange(len(data) + 1)
        piece = chance.choice(
            (b"", chance.choice(NOISE), data[other : other + chance.randint(1, 30)], chance.randbytes(2))
        )
        data = data[:start] + piece + data[end:]
    return data


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_damaged_file_is_read_or_refused_and_nothing_else(newline: str) -> None:
    seed = 20261114
    chance = random.Random(seed)
    good = GOOD.replace("\n", newline).encode()
    refused = 0
    for turn in range(1000):
        data = mutated(good, chance)
        try:
            refused += timed_refusal(data) is not None
        except Exception as error:
            raise AssertionError(f"seed {seed}, turn {turn}: {data!r}") from error
    assert 100 < refused < 1000
