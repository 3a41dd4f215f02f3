"""The script of a change scenario: what is captured, captured again, kept up and checked, in which order.

The schema is that of `change30_dev.json`. A scope's label becomes a scope of its own, so that siblings never see each
other; the first one is the scope every benchmark's vault has.
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
    """A session, where it is captured to and where it came from."""

    session: Session
    scope: str
    origin: str

    @property
    def ended(self) -> datetime:
        """When its last turn was said."""
        return max([self.session.at, *(turn.at for turn in self.session.turns if turn.at)])


@dataclass(frozen=True, slots=True)
class Capture:
    """Capture a session, for the first time or again."""

    heard: Heard


@dataclass(frozen=True, slots=True)
class Maintain:
    """Let the memory do its upkeep so many times."""

    times: int


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the question of a check at a moment, of the memory of one scope."""

    check: Check
    scope: str
    now: datetime
    as_of: datetime | None
    known_at: datetime | None


Step = Capture | Maintain | Ask


@dataclass(frozen=True, slots=True)
class Script:
    """One scenario: a vault of its own and what happens to it, in order."""

    id: str
    begins: datetime
    steps: tuple[Step, ...]

    @property
    def checks(self) -> int:
        """How many questions it asks."""
        return sum(isinstance(step, Ask) for step in self.steps)


def load(path: Path) -> tuple[list[Script], str]:
    """The scripts of a change file and the SHA-256 of the file."""
    return read(path, "change", lambda data: some(map(_script, data["scenarios"]), "scenarios"))


def moment(text: str) -> datetime:
    """The moment a text names; of a bare date its last one, since what happened on a day is known by its end."""
    return parse_time(text, end=True) - _LAST_MOMENT if len(text) == len("2025-01-31") else parse_time(text)


def _script(data: dict[str, Any]) -> Script:
    scopes = _scopes(data)
    heard = {each["id"]: Heard(session_of(each), scopes[each["scope"]], each["origin"]) for each in data["sessions"]}
    asked = {each["id"]: _ask(each, scopes) for each in data["checks"]}
    steps = [step for each in data["steps"] for step in _steps(each, heard, asked)]
    return Script(str(data["id"]), min(each.session.at for each in heard.values()), tuple(steps))


def _steps(data: dict[str, Any], heard: Mapping[str, Heard], asked: Mapping[str, Ask]) -> Sequence[Step]:
    match data["do"]:
        case "capture" | "recapture":
            return [Capture(heard[data["session"]])]
        case "maintain":
            return [Maintain(data.get("times", 1))]
        case "check":
            return [asked[each] for each in data["checks"]]
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
    """The scope of each label; the number keeps apart labels that are spelt alike."""
    labels = dict.fromkeys((*data["scopes"], *(each["scope"] for each in (*data["sessions"], *data["checks"]))))
    named = {
        label: f"org:{n}-{_OUTSIDE_SCOPE.sub('-', label.casefold()).strip('-')}"[:60].strip("-")
        for n, label in enumerate(labels)
    }
    return {**named, next(iter(labels)): SCOPE}
