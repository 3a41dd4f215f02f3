from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.errors import InvalidInput
from lamina.hosts.json_edit import remove_list_items, remove_value, set_list_item, set_value
from lamina.hosts.jsonc import parse_jsonc

KEYS = ("mcpServers", "lamina")
SERVER = {"command": "/opt/bin/lamina", "args": ["mcp", "--vault", "/home/ann/vault"]}
WRITTEN = [
    '{\n  "a": 1 // one\n}\n',
    '{\n\t"a": 1,\n\t/* two */\n}\n',
    '{"a":1}',
    '// my servers\n{\n    "mcpServers": {\n        "other": {"command": "x"}, // keep\n    },\n    "z": [1, 2,],\n}\n',
    '\ufeff{\r\n  "mcpServers": {\r\n    "other": {}\r\n  }\r\n}\r\n',
    '{\n  "mcpServers": {\n    "a": {},\n    // the last one\n    "b": {} // truly\n    // done\n  }\n}',
    "{\n  // nothing yet\n}\n",
]


@pytest.mark.parametrize("text", WRITTEN)
def test_adding_and_removing_restores_every_byte(text: str) -> None:
    written = set_value(text, KEYS, SERVER)
    assert parse_jsonc(written).value["mcpServers"]["lamina"] == SERVER
    assert set_value(written, KEYS, SERVER) == written
    assert remove_value(written, KEYS) == text


@pytest.mark.parametrize("text", WRITTEN)
def test_nothing_else_in_the_file_changes(text: str) -> None:
    stored = [line.strip().rstrip(",") for line in text.splitlines() if "//" in line or "/*" in line]
    lines = [line.strip().replace(",", "") for line in set_value(text, KEYS, SERVER).splitlines()]
    assert [line for line in stored if line.replace(",", "") not in lines] == []


def test_an_empty_file_becomes_readable_json() -> None:
    assert (
        set_value("", KEYS, {"url": "x"}) == '{\n  "mcpServers": {\n    "lamina": {\n      "url": "x"\n    }\n  }\n}\n'
    )


def test_another_value_replaces_the_managed_one() -> None:
    before = set_value(WRITTEN[3], KEYS, SERVER)
    after = set_value(before, KEYS, {"command": "y"})
    assert parse_jsonc(after).value["mcpServers"] == {"other": {"command": "x"}, "lamina": {"command": "y"}}
    assert "// keep" in after


def test_an_item_is_added_beside_others_and_replaces_only_the_managed_one() -> None:
    text = '{\n  "hooks": {\n    "Stop": [\n      {"x": 1}, // mine\n      {"y": 2}\n    ]\n  }\n}\n'

    def ours(value: Any) -> bool:
        return "z" in value

    first = set_list_item(text, ("hooks", "Stop"), {"z": 1}, ours)
    second = set_list_item(first, ("hooks", "Stop"), {"z": 2}, ours)
    assert parse_jsonc(second).value["hooks"]["Stop"] == [{"x": 1}, {"y": 2}, {"z": 2}]
    assert remove_list_items(second, ("hooks", "Stop"), ours) == text
    twice = second.replace('{"y": 2}', '{"z": 9}')
    assert parse_jsonc(set_list_item(twice, ("hooks", "Stop"), {"z": 3}, ours)).value["hooks"]["Stop"] == [
        {"x": 1},
        {"z": 3},
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": }', "line 1"),
        ('{"a": 1}\n}', "line 2"),
        ("[", "line 1"),
        ('{"a": 1 "b": 2}', "comma"),
        ('{"a": 1, "a": 2}', "twice"),
        ("{'a': 1}", "double quotes"),
        ('{"a": 01}', "value"),
        ("[" * 500, "deep"),
        ('{"a": "\\x"}', "JSON"),
        ('{"mcpServers": []}', "not a JSON object"),
        ("[]", "not a JSON object"),
    ],
)
def test_an_unparsable_file_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        set_value(text, KEYS, SERVER)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=50)
@given(
    given_=st.dictionaries(st.text(max_size=8), VALUES, max_size=4),
    others=st.none() | st.dictionaries(st.text(min_size=1, max_size=8).filter(lambda k: k != "lamina"), VALUES),
    indent=st.sampled_from([None, 1, 2, 4, "\t"]),
)
def test_any_file_parses_the_same_except_for_the_addition(
    given_: dict[str, Any], others: dict[str, Any] | None, indent: int | str | None
) -> None:
    before = given_ if others is None else {**given_, "mcpServers": others}
    if not isinstance(before.get("mcpServers", {}), dict):
        return
    text = json.dumps(before, indent=indent)
    written = set_value(text, KEYS, SERVER)
    assert json.loads(written) == {**before, "mcpServers": {**before.get("mcpServers", {}), "lamina": SERVER}}
    remaining = remove_value(written, KEYS)
    assert (
        remaining == text if before.get("mcpServers") or "mcpServers" not in before else json.loads(remaining) == given_
    )


GAPS = st.lists(
    st.sampled_from([" ", "\t", "\n", "\n  ", '// a, } ] { "\n', "/* b, } ] */", "/* c\n d */"]), max_size=2
).map("".join)
SCALARS = st.sampled_from(["1", "-2.5e3", "true", "null", '"a\\"b // no"', '"/* no */"', '""', '"}"'])


def _wrapped(parts: list[str], signs: str, last: str) -> str:
    return signs[0] + ",".join(parts) + (f",{last}" if parts and last else last) + signs[1]


def _objects(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    member = st.tuples(GAPS, st.sampled_from(["a", "b c", "mcpServers"]), GAPS, GAPS, inner, GAPS)
    members = st.lists(member, max_size=3, unique_by=lambda item: item[1])
    return st.builds(
        lambda result, last: _wrapped(
            [f'{a}"{key}"{b}:{c}{value}{d}' for a, key, b, c, value, d in result], "{}", last
        ),
        members,
        GAPS,
    )


WRITTEN_BY_HAND = _objects(
    st.recursive(
        SCALARS,
        lambda inner: (
            _objects(inner)
            | st.builds(lambda item, last: _wrapped(item, "[]", last), st.lists(inner, max_size=2), GAPS)
        ),
        max_leaves=6,
    )
)


def _comments(text: str) -> list[str]:
    return re.findall(r'// a, } ] { "|/\* b, } ] \*/|/\* c\n d \*/', text)


@settings(max_examples=150)
@given(before=GAPS, text=WRITTEN_BY_HAND, after=GAPS)
def test_comments_and_whitespace_between_values_are_preserved(before: str, text: str, after: str) -> None:
    text = f"{before}{text}{after}"
    value = parse_jsonc(text).value
    for key in value:
        assert parse_jsonc(remove_value(text, (key,))).value == {
            name: item for name, item in value.items() if name != key
        }
    if not isinstance(value.get("mcpServers", {}), dict):
        return
    written = set_value(text, KEYS, SERVER)
    assert parse_jsonc(written).value == {**value, "mcpServers": {**value.get("mcpServers", {}), "lamina": SERVER}}
    assert _comments(written) == _comments(text)
    if value.get("mcpServers") != {}:
        remaining = remove_value(written, KEYS)
        assert "".join(remaining.split()) == "".join(text.split())


def test_a_line_comment_does_not_swallow_what_follows() -> None:
    text = '{ // mine\n"mcpServers": {"lamina": {}}}'
    assert parse_jsonc(remove_value(text, KEYS)).value == {}
    assert "// mine" in remove_value(text, KEYS)
