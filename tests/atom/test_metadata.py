"""Values of metadata: text, numbers, booleans and lists of these keep their types."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.atom.metadata import (
    MetadataValue,
    check_value,
    iterate_texts,
    map_texts,
    parse_scalar,
    parse_value,
    to_text,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("deploy", "deploy"),
        ("true", True),
        ("false", False),
        ("True", "True"),
        ("42", 42),
        ("-3", -3),
        ("0.85", 0.85),
        ("007", "007"),
        ("1.10", "1.10"),
        ("1e400", "1e400"),
        ("nan", "nan"),
        ("null", "null"),
        ('"42"', "42"),
        ('["agents", "memory"]', ("agents", "memory")),
        ("[agents, 3, true]", ("agents", 3, True)),
        ("[]", ()),
        ('{"a": 1}', '{"a": 1}'),
        ("a=b", "a=b"),
        ("", ""),
    ],
)
def test_a_value_is_read_as_a_person_writes_it(text: str, value: MetadataValue) -> None:
    read = parse_value(text)
    assert read == value and type(read) is type(value)


@given(st.text() | st.booleans() | st.integers(-(10**17), 10**17) | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_or_boolean_written_as_text_is_read_as_the_same(value: str | bool | int | float) -> None:
    read = parse_scalar(to_text(value))
    assert to_text(read) == to_text(value)
    assert isinstance(value, str) or (type(read) is type(value) and read == value)


@pytest.mark.parametrize("value", [None, {"a": 1}, [["a"]], float("nan"), float("inf"), [None]])
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(ValueError, match="must be text, a number, true or false, or a list"):
        check_value(value)


def test_texts_of_every_value_can_be_listed_and_changed() -> None:
    metadata: dict[str, MetadataValue] = {"topics": ("agents", 5), "canonical": False, "score": 0.5}
    assert [*iterate_texts(metadata)] == ["agents", "5", "false", "0.5"]
    assert to_text(metadata["topics"]) == "agents, 5"
    changed = [map_texts(value, lambda text: text.replace("5", "*")) for value in metadata.values()]
    assert changed == [("agents", "*"), False, "0.*"]
