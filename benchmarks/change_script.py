"""Load the script of a change scenario: what is captured, captured again, maintained and checked, in which order.

The schema is that of `change30_dev.json`. Each label of a scope becomes its own scope, so that siblings never see each
other; the first one is the scope of every benchmark vault.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.bench_vaults import SCOPE
from benchmarks.change_checks import ChangeCheck
from benchmarks.change_scenarios import parse_session
from benchmarks.data_set import BenchSession, read_data_file, require_any
from lamina.text.timestamps import parse_time

_LAST_MOMENT = timedelta(milliseconds=1)
_OUTSIDE_SCOPE = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class ScriptSession:
    """A session, the scope it is captured into, and its origin."""

    session: BenchSession
    scope: str
    origin: str

    @property
    def ended(self) -> datetime:
        """Return when its last turn was said."""
        return max([self.session.at, *(turn.at for turn in self.session.turns if turn.at)])


@dataclass(frozen=True, slots=True)
class CaptureStep:
    """Capture a session, for the first time or again."""

    session: ScriptSession


@dataclass(frozen=True, slots=True)
class MaintainStep:
    """Run maintenance this many times."""

    times: int


@dataclass(frozen=True, slots=True)
class AskStep:
    """Ask the question of a check at a time, in one scope."""

    check: ChangeCheck
    scope: str
    now: datetime
    as_of: datetime | None
    known_at: datetime | None


ScriptStep = CaptureStep | MaintainStep | AskStep


@dataclass(frozen=True, slots=True)
class ChangeScript:
    """One scenario: its own vault and what happens to it, in order."""

    id: str
    begins: datetime
    steps: tuple[ScriptStep, ...]

    @property
    def checks(self) -> int:
        """Return how many questions it asks."""
        return sum(isinstance(step, AskStep) for step in self.steps)


def load_scripts(path: Path) -> tuple[list[ChangeScript], str]:
    """Return the scripts of a change file and the SHA-256 of the file."""
    return read_data_file(path, "change", lambda data: require_any(map(_parse_script, data["scenarios"]), "scenarios"))


def parse_moment(text: str) -> datetime:
    """Parse a moment; for a bare date its last moment, because what happened on a day is known at its end."""
    return parse_time(text, end=True) - _LAST_MOMENT if len(text) == len("2025-01-31") else parse_time(text)


def _parse_script(data: dict[str, Any]) -> ChangeScript:
    scopes = _assign_scopes(data)
    sessions = {
        entry["id"]: ScriptSession(parse_session(entry), scopes[entry["scope"]], entry["origin"])
        for entry in data["sessions"]
    }
    ask_steps = {entry["id"]: _parse_ask_step(entry, scopes) for entry in data["checks"]}
    steps = [step for entry in data["steps"] for step in _parse_steps(entry, sessions, ask_steps)]
    return ChangeScript(str(data["id"]), min(entry.session.at for entry in sessions.values()), tuple(steps))


def _parse_steps(
    data: dict[str, Any], heard: Mapping[str, ScriptSession], questions: Mapping[str, AskStep]
) -> Sequence[ScriptStep]:
    match data["do"]:
        case "capture" | "recapture":
            return [CaptureStep(heard[data["session"]])]
        case "maintain":
            return [MaintainStep(data.get("times", 1))]
        case "check":
            return [questions[check_id] for check_id in data["checks"]]
        case other:
            raise ValueError(f"there is no step {other!r}")


def _parse_ask_step(data: dict[str, Any], scopes: Mapping[str, str]) -> AskStep:
    as_of, known_at = data.get("as_of"), data.get("known_at")
    return AskStep(
        ChangeCheck.parse(data),
        scopes[data["scope"]],
        parse_time(data["now"]),
        parse_moment(as_of) if as_of else None,
        parse_moment(known_at) if known_at else None,
    )


def _assign_scopes(data: dict[str, Any]) -> dict[str, str]:
    """Return the scope of each label; a number separates labels that are spelt alike."""
    labels = dict.fromkeys((*data["scopes"], *(entry["scope"] for entry in (*data["sessions"], *data["checks"]))))
    named = {
        label: f"org:{n}-{_OUTSIDE_SCOPE.sub('-', label.casefold()).strip('-')}"[:60].strip("-")
        for n, label in enumerate(labels)
    }
    return {**named, next(iter(labels)): SCOPE}
