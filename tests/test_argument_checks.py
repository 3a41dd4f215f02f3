"""Every public verb names the argument that is wrong, whatever is wrong with it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, TypeAdapter, ValidationError

import lamina
from lamina.argument_checks import describe_faults, verb
from lamina.capture.caller_input import Draft, RevisionFields, StatementFields
from lamina.errors import InvalidInput
from lamina.memory import Memory
from lamina.validation_messages import describe_fault

RECEIVERS: dict[str, Callable[[Memory], object]] = {
    "memory": lambda memory: memory,
    "upkeep": lambda memory: memory.upkeep,
    "review": lambda memory: memory.review,
    "run": lambda memory: memory.run("task"),
    "block": lambda memory: memory.block("release"),
}
UNCHECKED = {"trial", "close", "now", "waiting"}
"""Methods without arguments."""
WRONG_VALUES: list[tuple[str, str, tuple[Any, ...], dict[str, Any], str]] = [
    ("memory", "recall", ("tea",), {"k": "x"}, "k"),
    ("memory", "recall", ("tea", 0), {}, "k"),
    ("memory", "recall", ("tea", 101), {}, "k"),
    ("memory", "recall", ("tea", True), {}, "k"),
    ("memory", "recall", ("tea",), {"mode": "everything"}, "mode"),
    ("memory", "recall", ("tea",), {"ranking": "best"}, "ranking"),
    ("memory", "recall", ("tea",), {"include": "all"}, "include"),
    ("memory", "recall", ("tea",), {"layer": ["deep"]}, "layer"),
    ("memory", "recall", ("tea",), {"status": "gone"}, "status"),
    ("memory", "recall", ("tea",), {"as_of": 2026}, "as_of"),
    ("memory", "recall", ("tea",), {"known_at": "some day"}, "known_at"),
    ("memory", "list", (), {"limit": -1}, "limit"),
    ("memory", "list", (), {"offset": -1}, "offset"),
    ("memory", "list", (), {"memory_type": "odd"}, "memory_type"),
    ("memory", "list", (), {"verification": "odd"}, "verification"),
    ("memory", "list", (), {"policy_class": "odd"}, "policy_class"),
    ("memory", "list", (), {"lifecycle_state": "odd"}, "lifecycle_state"),
    ("memory", "list", (), {"tier": "odd"}, "tier"),
    ("memory", "list", (), {"colour": "blue"}, "colour"),
    ("memory", "top", (-1,), {}, "k"),
    ("memory", "topics", (-1,), {}, "limit"),
    ("memory", "journal", (-1,), {}, "since"),
    ("memory", "journal", (), {"until": "x"}, "until"),
    ("memory", "beginning", (None, -1), {}, "budget"),
    ("memory", "feedback", ("r", "8qj1hjz0"), {}, "cited"),
    ("memory", "feedback", ("r",), {"verdict": "fine"}, "verdict"),
    ("memory", "export", (), {"format": "pdf"}, "format"),
    ("memory", "capture", ([5],), {}, "words"),
    ("memory", "capture", ("tea",), {"origin": "robot"}, "origin"),
    ("memory", "capture", ("tea",), {"observed_at": 5}, "observed_at"),
    ("memory", "remember", ("tea",), {"kind": 5}, "kind"),
    ("memory", "remember", ("tea",), {"kind": "Not a kind"}, "kind"),
    ("memory", "remember", ("tea",), {"tags": "drink"}, "tags"),
    ("memory", "remember", ("tea",), {"tags": [1]}, "tags.0"),
    ("memory", "remember", ("tea",), {"confidence": 2}, "confidence"),
    ("memory", "remember", ("tea",), {"importance": "much"}, "importance"),
    ("memory", "remember", ("tea",), {"layer": "deep"}, "layer"),
    ("memory", "remember", ("tea",), {"durability": "long"}, "durability"),
    ("memory", "remember", ("tea",), {"metadata": [1]}, "metadata"),
    ("memory", "remember", ("tea",), {"colour": "blue"}, "colour"),
    ("memory", "remember_many", ("tea",), {}, "statements"),
    ("memory", "remember_many", ([5],), {}, "statements.0"),
    ("memory", "remember_many", ([{"content": 5}],), {}, "content"),
    ("memory", "propose", ("tea",), {"subject": 5}, "subject"),
    ("memory", "update_status", ("8qj1hjz0", "gone", "why"), {}, "status"),
    ("memory", "relate", ("8qj1hjz0", "loves", "1hjz0z1a"), {}, "relation"),
    ("memory", "relate", ("8qj1hjz0", "supports", "1hjz0z1a", 2), {}, "confidence"),
    ("memory", "quarantine", (), {"origin": "robot"}, "origin"),
    ("memory", "revise", ("8qj1hjz0", "tea"), {"reason": "why", "pinned": True}, "pinned"),
    ("memory", "for_caller", (), {"ceiling": "robot"}, "ceiling"),
    ("upkeep", "dream", (5,), {}, "steps"),
    ("upkeep", "dream", (), {"at": 5, "dry_run": True}, "at"),
    ("review", "list", (), {"kind": "odd"}, "kind"),
    ("review", "list", (), {"limit": -1}, "limit"),
    ("review", "edit", ("8qj1hjz0",), {"layer": "profile"}, "layer"),
    ("run", "note", ("a note",), {"origin": "robot"}, "origin"),
    ("run", "recall", ("port?", 0), {}, "k"),
    ("run", "close", ("odd", "done"), {}, "outcome"),
    ("block", "text", (-1,), {}, "budget"),
]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with lamina.open(tmp_path_factory.mktemp("vault"), watch=False) as opened_memory:
        yield opened_memory


def public_methods() -> Iterator[tuple[str, str, inspect.Signature]]:
    """Yield every public method of what a caller gets, with its arguments."""
    classes = {
        "memory": Memory,
        "upkeep": lamina.upkeep.Upkeep,
        "review": lamina.Review,
        "run": lamina.Run,
        "block": lamina.Block,
    }
    for receiver, cls in classes.items():
        for name, method in inspect.getmembers(cls, inspect.isfunction):
            if not name.startswith("_") and name not in UNCHECKED:
                yield receiver, name, inspect.signature(method)


ARGUMENTS = [
    pytest.param(receiver, name, signature, argument, id=f"{receiver}.{name}-{argument}")
    for receiver, name, signature in public_methods()
    for argument in signature.parameters
    if argument != "self"
]


@pytest.mark.parametrize("value", [b"bytes", object()], ids=["bytes", "object"])
@pytest.mark.parametrize(("receiver", "name", "signature", "argument"), ARGUMENTS)
def test_an_argument_of_a_wrong_type_is_named(
    memory: Memory, receiver: str, name: str, signature: inspect.Signature, argument: str, value: object
) -> None:
    required = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.default is parameter.empty and parameter.name not in ("self", argument)
    ]
    arguments = dict.fromkeys(required, "text") | {argument: value}
    with pytest.raises(InvalidInput, match=rf"\b{argument}\b.*: must be"):
        getattr(RECEIVERS[receiver](memory), name)(**arguments)


@pytest.mark.parametrize(("receiver", "name", "args", "kwargs", "argument"), WRONG_VALUES)
def test_a_wrong_value_is_refused_with_the_name_of_the_argument(
    memory: Memory, receiver: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], argument: str
) -> None:
    with pytest.raises(InvalidInput, match=rf"\b{argument}\b"):
        getattr(RECEIVERS[receiver](memory), name)(*args, **kwargs)
    assert memory.journal() == []


@pytest.mark.parametrize("value", [None, 5, b"tea"])
def test_a_required_text_is_nothing_but_text(memory: Memory, value: Any) -> None:
    for call in (memory.recall, memory.remember, memory.get, memory.history, memory.answer, memory.plan_context):
        with pytest.raises(InvalidInput, match=r"^(question|content|id|goal): must be text$"):
            call(value)


def test_an_unknown_or_missing_argument_is_answered_with_the_known_ones(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match=r"colour: unknown argument; the arguments of get are id, as_of, known_at"):
        memory.get("8qj1hjz0", colour="blue")  # type: ignore[call-arg]
    with pytest.raises(InvalidInput, match=r"missing .*'id'; the arguments of get are"):
        memory.get()  # type: ignore[call-arg]


def test_arguments_of_open_that_it_does_not_have_are_settings(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "vault", watch=False, batch_turns=7, retention="power") as memory:
        assert (memory.settings.batch_turns, memory.settings.retention) == (7, "power")
    chosen = lamina.Settings(batch_turns=3)
    with lamina.open(tmp_path / "vault", settings=chosen, watch=False, retention="l2") as memory:
        assert (memory.settings.batch_turns, memory.settings.retention) == (3, "l2")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colour": "blue"}, r"^colour: unknown setting; the settings are assistant_prior, background, "),
        ({"batch_turns": 0}, r"^batch_turns: must be at least 1$"),
        ({"retention": "steep"}, r"^retention: must be 'l2'"),
        ({"ceiling": "robot"}, r"^ceiling: 'robot' is not one of human, agent"),
        ({"clock": 5}, r"^clock: must be a Clock$"),
        ({"scope": 5}, r"^scope: must be text$"),
        ({"settings": {"watch": False}}, r"^settings: must be a Settings"),
    ],
)
def test_open_refuses_what_is_neither_an_argument_nor_a_setting(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        lamina.open(tmp_path / "vault", **options)


def test_the_fields_of_a_statement_are_arguments_of_remember_and_revise(memory: Memory) -> None:
    assert StatementFields.__annotations__.keys() == Draft.model_fields.keys() - {"content"}
    assert RevisionFields.__annotations__.keys() < StatementFields.__annotations__.keys()
    assert StatementFields.__annotations__.keys() < inspect.signature(memory.remember).parameters.keys()
    assert RevisionFields.__annotations__.keys() < inspect.signature(memory.revise).parameters.keys()


def test_an_argument_of_several_types_is_named_once_with_all_of_them() -> None:
    @verb()
    def paint(colour: int | list[str]) -> None:
        raise AssertionError("the arguments are wrong")

    with pytest.raises(InvalidInput, match=r"^colour: must be a whole number or a list$"):
        paint("blue")  # type: ignore[arg-type]


def test_faults_name_the_field_and_do_not_repeat_the_value() -> None:
    with pytest.raises(ValidationError) as raised:
        Draft.model_validate({"content": "tea", "kind": "SECRET", "extra": 1})
    text = describe_faults(raised.value)
    assert "kind: " in text and "extra: unknown argument" in text and "SECRET" not in text


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (int, "x", "must be a whole number"),
        (bool, "x", "must be true or false"),
        (dict[str, int], 5, "must be an object"),
        (Literal["up", "down"], "left", "must be 'up' or 'down'"),
        (Annotated[list[int], Field(max_length=1)], [1, 2], "must have at most 1 items"),
        (Annotated[str, Field(pattern="^[a-z]+$")], "A1", "must match the pattern ^[a-z]+$"),
        (Annotated[float, Field(gt=0)], 0, "must be more than 0.0"),
        (datetime, "soon", "must be a date or a time, such as 2026-03-02 or 2026-03-02T09:00Z"),
    ],
)
def test_what_is_wrong_with_a_value_is_said_in_plain_words(kind: Any, value: object, message: str) -> None:
    with pytest.raises(ValidationError) as raised:
        TypeAdapter(kind).validate_python(value)
    (fault,) = raised.value.errors()
    assert describe_fault(fault) == message
