"""Load scripted conversations about things that change, with the values a memory should know afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.data_set import BenchCollection, BenchSession, BenchTurn, read_data_file, require_any
from lamina.text.timestamps import parse_time

TRAPS = frozenset({"false_apply", "hedge"})
"""Checks whose rejected values were asked, imagined, quoted or doubted, never stated."""


@dataclass(frozen=True, slots=True)
class CaptureScenario:
    """A conversation, the values its checks expect, and those that only look like facts."""

    collection: BenchCollection
    stated: frozenset[str]
    traps: frozenset[str]


def load(path: Path) -> tuple[list[CaptureScenario], str]:
    """Return the scenarios of a change file and the SHA-256 of the file."""
    return read_data_file(
        path, "change", lambda data: require_any(map(_parse_scenario, data["scenarios"]), "scenarios")
    )


def _parse_scenario(data: dict[str, Any]) -> CaptureScenario:
    human = [session for session in data["sessions"] if session.get("origin", "human") == "human"]
    texts = [turn["text"] for session in human for turn in session["turns"] if turn["speaker"] == "user"]
    words = "\n".join(texts)
    return CaptureScenario(
        BenchCollection(str(data["id"]), tuple(map(parse_session, human)), ()),
        frozenset(value for value in _expected_values(data["checks"]) if value in words),
        frozenset(value for check in data["checks"] if check["type"] in TRAPS for value in check.get("reject", ())),
    )


def _expected_values(checks: list[dict[str, Any]]) -> Iterator[str]:
    for check in checks:
        yield from check.get("expect", ())
        yield from check.get("expect_any", ())


def parse_session(data: dict[str, Any]) -> BenchSession:
    """Return a session as it is captured: the user and others by name, the assistant by role."""
    turns = (
        BenchTurn(
            f"{data['id']}/{n}",
            turn["text"],
            speaker=None if turn["speaker"] == "assistant" else turn["name"],
            role="assistant" if turn["speaker"] == "assistant" else None,
            at=parse_time(turn["at"]),
        )
        for n, turn in enumerate(data["turns"], 1)
    )
    return BenchSession(str(data["id"]), parse_time(data["at"]), tuple(turns))
