"""Load PrecisionMemBench: typed beliefs of two users, and questions with what must and must not be returned.

The data is a folder with `beliefs.seed.json`, `retrieval.cases.json` and `session-retrieval.cases.json`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from lamina.bench.collection import read, some
from lamina.bench.tiers import Expected
from lamina.text.times import parse_time

NOUN = "PrecisionMemBench"
_HELD, _CASES, _SESSIONS = "beliefs.seed.json", "retrieval.cases.json", "session-retrieval.cases.json"


@dataclass(frozen=True, slots=True)
class Belief:
    """A belief of a user: its type, its names, the domains it belongs to, and whether it ended."""

    id: str
    user: str
    type: str
    name: str
    aliases: tuple[str, ...]
    content: str
    places: tuple[str, ...]
    pinned: bool
    confidence: float
    created: datetime
    resolved: datetime | None
    superseded_by: str | None
    depends_on: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Taught:
    """Further names of a belief from a turn on."""

    belief: str
    aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A question of a user in some domains, the maximum number of beliefs to return, and what is expected."""

    id: str
    category: str
    user: str
    places: tuple[str, ...]
    query: str
    room: int | None
    expected: Expected
    drifts: bool = False
    noise: frozenset[str] = frozenset()
    held: Belief | None = None
    taught: Taught | None = None


@dataclass(frozen=True, slots=True)
class Beliefs:
    """Everything in the folder; a session is the cases of its turns, in order."""

    held: tuple[Belief, ...]
    cases: tuple[Case, ...]
    sessions: tuple[tuple[Case, ...], ...]


def load(folder: Path) -> tuple[Beliefs, str]:
    """Return the beliefs and cases of a folder and the SHA-256 of its files together; InvalidInput if
    a file is wrong.
    """
    beliefs, first = read(folder / _HELD, NOUN, _beliefs)
    cases, second = read(folder / _CASES, NOUN, _cases)
    sessions, third = read(folder / _SESSIONS, NOUN, _sessions)
    digest = hashlib.sha256("".join((first, second, third)).encode()).hexdigest()
    return Beliefs(tuple(beliefs), tuple(cases), tuple(sessions)), digest


def _beliefs(data: Any) -> list[Belief]:
    return some(map(_belief, data), "beliefs")


def _belief(data: Mapping[str, Any]) -> Belief:
    resolved = data["resolved_at"]
    return Belief(
        id=data["_id"],
        user=data["user_id"],
        type=data["type"],
        name=data["canonical_name"].replace("_", " "),
        aliases=tuple(data["aliases"]),
        content=data["content"],
        places=tuple(data["scope"]),
        pinned=data["pinned"],
        confidence=data["confidence"],
        created=parse_time(data["created_at"]),
        resolved=parse_time(resolved) if resolved else None,
        superseded_by=data["superseded_by"],
        depends_on=tuple(data.get("participants", ())),
    )


def _cases(data: Any) -> list[Case]:
    return some((_case(case, case["caseId"], case["category"], case["query"]) for case in data), "cases")


def _sessions(data: Any) -> list[tuple[Case, ...]]:
    return [tuple(_turn(turn, session["caseId"]) for turn in session["turns"]) for session in data]


def _turn(data: Mapping[str, Any], session: str) -> Case:
    return _case(data, f"{session} {data['turnIndex']}", data["label"], data["userMessage"])


def _case(data: Mapping[str, Any], name: str, category: str, query: str) -> Case:
    expect, new_belief, new_aliases = data["expect"], data.get("createBeliefAtTurn"), data.get("updateBeliefAtTurn")
    return Case(
        id=name,
        category=category,
        user=data.get("userId", "test-user"),
        places=tuple(data["scope"]),
        query=query,
        room=data.get("budget", {}).get("maxBeliefs"),
        expected=Expected.parsed(expect),
        drifts=category == "drift",
        noise=frozenset(expect.get("noiseCheck", {}).get("mustNotSurface", ())),
        held=_belief(new_belief) if new_belief else None,
        taught=Taught(new_aliases["beliefId"], tuple(new_aliases["addAliases"])) if new_aliases else None,
    )
