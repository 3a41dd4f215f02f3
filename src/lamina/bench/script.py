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

from lamina.bench.change import session_of
from lamina.bench.checks import Check
from lamina.bench.collection import Session, read, some
from lamina.bench.vaults import SCOPE
from lamina.text.times import parse_time

_LAST_MOMENT = timedelta(milliseconds=1)
_OUTSIDE_SCOPE = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Heard:
    """A session, the scope it is captured into, and its origin."""

    session: Session
    scope: str
    origin: str

    @property
    def ended(self) -> datetime:
        """Return when its last turn was said."""
        return max([self.session.at, *(turn.at for turn in self.session.turns if turn.at)])


@dataclass(frozen=True, slots=True)
class Capture:
    """Capture a session, for the first time or again."""

    heard: Heard


@dataclass(frozen=True, slots=True)
class Maintain:
    """Run maintenance this many times."""

    times: int


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the question of a check at a time, in one scope."""

    check: Check
    scope: str
    now: datetime
    as_of: datetime | None
    known_at: datetime | None


Step = Capture | Maintain | Ask


@dataclass(frozen=True, slots=True)
class Script:
    """One scenario: its own vault and what happens to it, in order."""

    id: str
    begins: datetime
    steps: tuple[Step, ...]

    @property
    def checks(self) -> int:
        """Return how many questions it asks."""
        return sum(isinstance(step, Ask) for step in self.steps)


def load(path: Path) -> tuple[list[Script], str]:
    """Return the scripts of a change file and the SHA-256 of the file."""
    return read(path, "change", lambda data: some(map(_script, data["scenarios"]), "scenarios"))


def moment(text: str) -> datetime:
    """Parse a moment; for a bare date its last moment, because what happened on a day is known at its end."""
    return parse_time(text, end=True) - _LAST_MOMENT if len(text) == len("2025-01-31") else parse_time(text)


def _script(data: dict[str, Any]) -> Script:
    scopes = _scopes(data)
    sessions = {
        entry["id"]: Heard(session_of(entry), scopes[entry["scope"]], entry["origin"]) for entry in data["sessions"]
    }
    ask_steps = {entry["id"]: _ask(entry, scopes) for entry in data["checks"]}
    steps = [step for entry in data["steps"] for step in _steps(entry, sessions, ask_steps)]
    return Script(str(data["id"]), min(entry.session.at for entry in sessions.values()), tuple(steps))


def _steps(data: dict[str, Any], heard: Mapping[str, Heard], asked: Mapping[str, Ask]) -> Sequence[Step]:
    match data["do"]:
        case "capture" | "recapture":
            return [Capture(heard[data["session"]])]
        case "maintain":
            return [Maintain(data.get("times", 1))]
        case "check":
            return [asked[check_id] for check_id in data["checks"]]
        case other:
            raise ValueError(f"there is no step {other!r}")


def _ask(data: dict[str, Any], scopes: Mapping[str, str]) -> Ask:
    as_of, known_at = data.get("as_of"), data.get("known_at")
    return Ask(
        Check.parsed(data),
        scopes[data["scope"]],
        parse_time(data["now"]),
        moment(as_of) if as_of else None,
        moment(known_at) if known_at else None,
    )


def _scopes(data: dict[str, Any]) -> dict[str, str]:
    """Return the scope of each label; a number separates labels that are spelt alike."""
    labels = dict.fromkeys((*data["scopes"], *(entry["scope"] for entry in (*data["sessions"], *data["checks"]))))
    named = {
        label: f"org:{n}-{_OUTSIDE_SCOPE.sub('-', label.casefold()).strip('-')}"[:60].strip("-")
        for n, label in enumerate(labels)
    }
    return {**named, next(iter(labels)): SCOPE}
