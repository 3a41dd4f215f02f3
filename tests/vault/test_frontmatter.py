"""Frontmatter is read as PyYAML reads it without types, and edited without changing any other byte."""

from __future__ import annotations

import string
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lamina.vault.frontmatter import MAX_FILE, MAX_FRONTMATTER, FrontmatterDocument
from lamina.vault.yaml_codec import (
    FrontmatterValue,
    PlainScalar,
    PlainText,
    Unreadable,
    emit_entry,
    emit_scalar,
    read_block,
    read_inline,
    read_mapping,
)

LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

TYPICAL = b"""---
id: 01jc9x2k7m3f5r8t0v2w4y6z8a
# how sure we are
confidence: 0.85   # measured
tags: [coffee, "oat: milk"]
aliases:
  - one
  - two

Due date: 2026-11-14
---

Anna drinks oat milk.
"""


def front(text: str, body: str = "") -> bytes:
    return f"---\n{text}---\n{body}".encode()


def values_of(text: str) -> dict[str, FrontmatterValue]:
    return dict(FrontmatterDocument.parse(front(text)).values)


def reference(text: str) -> Any:
    return yaml.load(text, Loader=LOADER)


@pytest.mark.parametrize(
    "word", ["NO", "017", "1.10", "12:30:00", "yes", "null", "~", "2026-11-14", "0x1f", "1e3", ".5", "=", "on", "-1"]
)
def test_a_scalar_is_the_text_as_written(word: str) -> None:
    assert values_of(f"key: {word}\n") == {"key": word}


def test_an_empty_value_is_empty_text() -> None:
    assert values_of("a:\nb: \nc: # nothing\nd: ''\n") == {"a": "", "b": "", "c": "", "d": ""}


def test_lists_and_maps_are_read_in_every_style() -> None:
    text = (
        "a: [x, 'y z', \"w\"]\nb:\n- x\n- y\nc:\n  - x # one\nd:\n  k: v\n  l: 'w'\ne: {k: [v]}\nf: |\n  two\n  lines\n"
    )
    assert values_of(text) == {
        "a": ["x", "y z", "w"],
        "b": ["x", "y"],
        "c": ["x"],
        "d": {"k": "v", "l": "w"},
        "e": {"k": ["v"]},
        "f": "two\nlines\n",
    }


def test_each_key_knows_its_line_in_the_file() -> None:
    document = FrontmatterDocument.parse(TYPICAL)
    assert document.lines == {"id": 2, "confidence": 4, "tags": 5, "aliases": 6, "Due date": 10}
    assert document.body_line == 12
    assert document.body == "\nAnna drinks oat milk.\n"


def test_a_file_without_frontmatter_is_all_body() -> None:
    document = FrontmatterDocument.parse("\ufeffjust\r\nwords\r\n".encode())
    assert (document.values, document.body) == ({}, "just\nwords\n")


def test_windows_newlines_are_read_as_newlines() -> None:
    document = FrontmatterDocument.parse(b"---\r\na: b\r\n---\r\none\r\ntwo\r\n")
    assert (document.values, document.body) == ({"a": "b"}, "one\ntwo\n")


def test_a_bom_before_the_frontmatter_is_kept() -> None:
    data = "\ufeff---\na: b\n---\nx\n".encode()
    assert FrontmatterDocument.parse(data).values == {"a": "b"}
    assert FrontmatterDocument.parse(data).edit({"a": "c"}) == "\ufeff---\na: c\n---\nx\n".encode()


def test_a_quoted_text_over_several_lines_may_look_like_a_key() -> None:
    assert values_of('a: "one\nb: two"\nc: d\n') == {"a": "one b: two", "c": "d"}


def test_indented_frontmatter_is_edited_at_its_own_indent() -> None:
    document = FrontmatterDocument.parse(b"---\n  a: b\n  c: d\n---\n")
    edited = document.edit({"a": "x", "e": {"k": "v"}})
    assert edited == b"---\n  a: x\n  c: d\n  e:\n    k: v\n---\n"
    assert FrontmatterDocument.parse(edited).values == {"a": "x", "c": "d", "e": {"k": "v"}}


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a: b\nc: &x d\n", 3, "anchor"),
        ("a: b\nc: *x\n", 3, "alias"),
        ("a: !!str b\n", 2, "tag"),
        ("a: b\n<<: {c: d}\n", 3, "merge key"),
        ("a: b\nc: d\na: e\n", 4, "twice"),
        ("a:\n  b: c\n  b: d\n", 4, "twice"),
        ("? [a]\n: b\n", 2, "text"),
        ("a: [[[[[x]]]]]\n", 2, "deeper"),
        ("".join(f"k{n}: v\n" for n in range(257)), 258, "256"),
        ("a: b\n\tc: d\n", 3, "YAML"),
        ("a: b\n<<<<<<< HEAD\nc: d\n", 3, "merge"),
        ("a: b\n--- # more\nc: d\n", 3, "inside"),
        ("- a\n- b\n", 2, "key: value"),
        ("{a: b}\n", 2, "key: value"),
        ("a: b\nc: \x07\n", 3, "U+0007"),
        ("a: b\u2028c\n", 2, "U+2028"),
        ("a: b: c\n", 2, "YAML"),
        ("? a\n: b\n", 2, "own line"),
    ],
)
def test_a_refusal_names_its_line_and_reason(text: str, line: int, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        FrontmatterDocument.parse(front(text))
    assert caught.value.line == line
    assert reason in caught.value.reason


@pytest.mark.parametrize(
    ("data", "line", "reason"),
    [
        (b"---\na: b\n\xff\n---\n", 3, "UTF-8"),
        (b"---\na: b\n---\nx\0\n", 4, "NUL"),
        (b"x" * (MAX_FILE + 1), 1, "MiB"),
        (front("a: b\n" + "# c\n" * (MAX_FRONTMATTER // 4)), 1, "KiB"),
        (b"---\na: b\n", 1, "closed"),
        (b"---", 1, "closed"),
        (b"---\ra: b\r---\r", 1, "carriage"),
        (front("a: b\n", "x\n<<<<<<< HEAD\ny\n=======\nz\n>>>>>>> other\n"), 5, "merge"),
        (b"<<<<<<< HEAD\n---\na: b\n---\n>>>>>>> x\n", 1, "merge"),
    ],
)
def test_impossible_files_are_refused(data: bytes, line: int, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        FrontmatterDocument.parse(data)
    assert caught.value.line == line
    assert reason in caught.value.reason


def test_a_body_may_mention_merge_markers() -> None:
    assert FrontmatterDocument.parse(front("a: b\n", "a `<<<<<<< ` sign\n=======\n")).values == {"a": "b"}
    data = front("merge_markers: verbatim\n", "<<<<<<< HEAD\n>>>>>>> x\n")
    assert FrontmatterDocument.parse(data).body.startswith("<<<<<<<")


def test_an_edit_keeps_every_other_byte() -> None:
    edited = FrontmatterDocument.parse(TYPICAL).edit(
        {"confidence": PlainScalar("0.9"), "aliases": None, "kind": "NO"}, None, ["id", "kind"]
    )
    assert edited == TYPICAL.replace(b"0.85   # measured", b"0.9   # measured").replace(
        b"aliases:\n  - one\n  - two\n", b""
    ).replace(b"v2w4y6z8a\n", b'v2w4y6z8a\nkind: "NO"\n')


def test_new_keys_are_inserted_in_canonical_order() -> None:
    document = FrontmatterDocument.parse(front("b: 1\n# about d\nd: 2\nzoo: 3\n"))
    edited = document.edit({"a": "x", "c": "x", "e": "x", "other": "x"}, None, ["a", "b", "c", "d", "e"])
    assert edited == front("a: x\nb: 1\nc: x\n# about d\nd: 2\ne: x\nzoo: 3\nother: x\n")


def test_a_comment_on_the_line_of_a_replaced_entry_is_kept() -> None:
    text = "a: [x] # one\nb: 'y' # two\nc: # three\n  - z\nd: w  # four\n"
    edited = FrontmatterDocument.parse(front(text)).edit({"a": ["p"], "b": "q", "c": ["r"], "d": {"k": "v"}})
    assert edited == front("a: [p] # one\nb: q # two\nc: [r] # three\nd:  # four\n  k: v\n")


def test_a_replaced_body_keeps_the_spacing_and_the_newlines_of_the_file() -> None:
    assert FrontmatterDocument.parse(b"---\na: b\n---\n\n\nold\n\n\n").edit({}, "new") == b"---\na: b\n---\n\n\nnew\n"
    assert FrontmatterDocument.parse(b"---\r\n---\r\nold").edit({}, "n\new") == b"---\r\n---\r\nn\r\new\r\n"
    assert FrontmatterDocument.parse(b"---\na: b\n---").edit({}, "new") == b"---\na: b\n---\nnew\n"


def test_a_file_without_frontmatter_gets_one() -> None:
    assert FrontmatterDocument.parse(b"words\r\n").edit({"a": "b"}) == b"---\r\na: b\r\n---\r\nwords\r\n"
    assert FrontmatterDocument.parse("\ufeffwords".encode()).edit({"a": "b"}) == "\ufeff---\na: b\n---\nwords".encode()


def test_text_that_other_tools_would_type_is_quoted() -> None:
    for text in (
        "NO",
        "true",
        "1.10",
        "2026-11-14",
        "017",
        "0x1f",
        "1e5",
        "~",
        "",
        " a",
        "a ",
        "a: b",
        "a #b",
        "- a",
        "@a",
    ):
        assert emit_scalar(text).startswith('"'), text
    for text in ("Anna's coffee", "caffè", "日本", "01jc9x2k7m3f5r8t0v2w4y6z8a", "multi word-text_x", "a/b.c"):
        assert emit_scalar(text) == text


def test_other_yaml_readers_read_the_same_text() -> None:
    for text in ("NO", "true", "1.10", "2026-11-14", "null", "a: b", "1e5", "01234567890123456789012e45", "x\ny", "é"):
        assert yaml.safe_load(f"k: {emit_scalar(text)}")["k"] == text


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.text(
    alphabet="ab01:#-,[]{}'\"\\&*!|>%@`~ \n\t\r\x00\x85\u2028\ufeff\ufffeé日🦊", max_size=12
)
keys = st.text(string.ascii_letters + "_", min_size=1, max_size=8) | texts.filter(lambda text: text != "")


@settings(max_examples=400, deadline=None)
@given(
    keys,
    texts | st.lists(texts, max_size=4) | st.dictionaries(texts, texts, max_size=4),
    st.sampled_from(["\n", "\r\n"]),
)
def test_emitted_values_round_trip(key: str, value: Any, newline: str) -> None:
    text = "".join(row + newline for row in emit_entry(key, value))
    assert reference(text) == {key: value}
    assert FrontmatterDocument.parse(f"---{newline}{text}---{newline}".encode()).values == {key: value}


yaml_ish = st.text(alphabet="ab01 :#-,[]{}'\"\\&*!|>%@`~?=.<é日\xa0", max_size=14)
inline_ish = (
    yaml_ish
    | st.builds("[{}]".format, yaml_ish)
    | st.builds('"{}"'.format, yaml_ish)
    | st.builds("'{}'".format, yaml_ish)
)


@settings(max_examples=500, deadline=None)
@given(inline_ish)
@example("[a, b] #c")
@example("[\"a\" , 'b']")
@example("[a,]")
@example("a #b: c")
def test_the_fast_reader_equals_the_strict_reader_for_values(text: str) -> None:
    text = text.lstrip(" ")
    value = read_inline(text)
    if value is not None:
        assert reference(f"key: {text}\n") == {"key": value}


rows_ish = st.lists(
    st.builds(
        "{}{}{}".format,
        st.sampled_from(["", " ", "  ", "    "]),
        st.sampled_from(["- ", "-", "a: ", "b:", "c d: ", ""]),
        inline_ish,
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=500, deadline=None)
@given(rows_ish)
def test_the_fast_reader_equals_the_strict_reader_for_blocks(rows: list[str]) -> None:
    value = read_block(rows)
    if value is not None:
        assert reference("key:\n" + "\n".join(rows) + "\n") == {"key": value}


chunks = st.one_of(
    st.builds("{}: {}".format, st.sampled_from(["a", "b", "c d", "é", "'q'", "1", "-x", "<<", "y"]), inline_ish),
    rows_ish.map("\n".join),
    st.sampled_from(
        [
            "",
            "# note",
            "  # deep",
            "a: |",
            "b: >-",
            "  text",
            "c:",
            "- x",
            "  k: v",
            'd: "open',
            'shut"',
            "e: [x,",
            "]",
            "...",
            "? k",
            ": v",
        ]
    ),
    yaml_ish,
)


@settings(max_examples=800, deadline=None)
@given(st.lists(chunks, max_size=6).map(lambda rows: "".join(row + "\n" for row in rows)))
def test_frontmatter_is_read_like_the_strict_reader_or_refused(text: str) -> None:
    if any(row.rstrip(" \t") == "---" for row in text.split("\n")):
        return
    data = front(text)
    try:
        document = FrontmatterDocument.parse(data)
    except Unreadable as refusal:
        assert 1 <= refusal.line <= data.count(b"\n") + 1
        assert refusal.reason
        return
    expected = reference(text)
    assert document.values == (expected or {})
    assert document.edit({}) == data


@settings(max_examples=500, deadline=None)
@given(
    st.lists(chunks, max_size=6).map(lambda rows: "".join(row + "\n" for row in rows)),
    st.dictionaries(
        st.sampled_from(["a", "b", "new", "id"]), st.none() | texts | st.lists(texts, max_size=2), min_size=1
    ),
    st.none() | st.text("ab-\n", max_size=8),
)
def test_an_edit_changes_only_the_named_keys(text: str, changes: dict[str, Any], body: str | None) -> None:
    try:
        document = FrontmatterDocument.parse(front(text, "\nwords\n"))
    except Unreadable:
        return
    edited = FrontmatterDocument.parse(document.edit(changes, body, ["id", "a", "b"]))
    wanted = {**document.values, **changes}
    assert edited.values == {key: value for key, value in wanted.items() if value is not None}
    assert edited.body.strip("\n") == ("words" if body is None else body.strip("\n"))
    parts = [row for row in text.split("\n") if row.startswith("#")]
    assert [row for row in edited.data.decode().split("\n") if row in parts] == parts


@pytest.mark.parametrize(
    ("written", "unquoted"),
    [("true", True), ('"true"', False), ("0.5", True), ("'0.5'", False), ("[a, 'b']", None), ("[5, true]", None)],
)
def test_both_readers_know_what_was_written_without_quotes(written: str, unquoted: bool | None) -> None:
    fast, strict = read_inline(written), read_mapping(f"key: {written}\n", 1).values["key"]

    def is_plain(value: FrontmatterValue) -> list[bool]:
        return [isinstance(item, PlainText) for item in (value if isinstance(value, list) else [value])]

    assert fast is not None and fast == strict and is_plain(fast) == is_plain(strict)
    assert unquoted is None or is_plain(fast) == [unquoted]
