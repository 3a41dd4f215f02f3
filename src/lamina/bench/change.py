"""Load scripted conversations about things that change, with the values a memory should know afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lamina.bench.collection import Collection, Session, Turn, read, some
from lamina.text.times import parse_time

TRAPS = frozenset({"false_apply", "hedge"})
"""Checks whose rejected values were asked, imagined, quoted or doubted, never stated."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A conversation, the values its checks expect, and those that only look like facts."""

    said: Collection
    stated: frozenset[str]
    traps: frozenset[str]


def load(path: Path) -> tuple[list[Scenario], str]:
    """Return the scenarios of a change file and the SHA-256 of the file."""
    return read(path, "change", lambda data: some(map(_scenario, data["scenarios"]), "scenarios"))


def _scenario(data: dict[str, Any]) -> Scenario:
    human = [session for session in data["sessions"] if session.get("origin", "human") == "human"]
    texts = [turn["text"] for session in human for turn in session["turns"] if turn["speaker"] == "user"]
    words = "\n".join(texts)
    return Scenario(
        Collection(str(data["id"]), tuple(map(session_of, human)), ()),
        frozenset(value for value in _expected(data["checks"]) if value in words),
        frozenset(value for check in data["checks"] if check["type"] in TRAPS for value in check.get("reject", ())),
    )


def _expected(checks: list[dict[str, Any]]) -> Iterator[str]:
    for check in checks:
        yield from check.get("expect", ())
        yield from check.get("expect_any", ())


def session_of(data: dict[str, Any]) -> Session:
    """Return a session as it is captured: the user and others by name, the assistant by role."""
    turns = (
        Turn(
            f"{data['id']}/{n}",
            turn["text"],
            speaker=None if turn["speaker"] == "assistant" else turn["name"],
            role="assistant" if turn["speaker"] == "assistant" else None,
            at=parse_time(turn["at"]),
        )
        for n, turn in enumerate(data["turns"], 1)
    )
    return Session(str(data["id"]), parse_time(data["at"]), tuple(turns))
