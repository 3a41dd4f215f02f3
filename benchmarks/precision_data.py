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

from benchmarks.data_set import read_data_file, require_any
from benchmarks.precision_tiers import ExpectedTiers
from lamina.text.timestamps import parse_time

NOUN = "PrecisionMemBench"
_BELIEFS_FILE, _CASES_FILE, _SESSIONS_FILE = "beliefs.seed.json", "retrieval.cases.json", "session-retrieval.cases.json"


@dataclass(frozen=True, slots=True)
class Belief:
    """A belief of a user: its type, its names, the domains it belongs to, and whether it ended."""

    id: str
    user: str
    type: str
    name: str
    aliases: tuple[str, ...]
    content: str
    domains: tuple[str, ...]
    pinned: bool
    confidence: float
    created: datetime
    resolved: datetime | None
    superseded_by: str | None
    depends_on: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TaughtAliases:
    """Further names of a belief from a turn on."""

    belief: str
    aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PrecisionCase:
    """A question of a user in some domains, the maximum number of beliefs to return, and what is expected."""

    id: str
    category: str
    user: str
    domains: tuple[str, ...]
    query: str
    max_beliefs: int | None
    expected: ExpectedTiers
    is_drift: bool = False
    noise: frozenset[str] = frozenset()
    new_belief: Belief | None = None
    new_aliases: TaughtAliases | None = None


@dataclass(frozen=True, slots=True)
class PrecisionData:
    """Everything in the folder; a session is the cases of its turns, in order."""

    beliefs: tuple[Belief, ...]
    cases: tuple[PrecisionCase, ...]
    sessions: tuple[tuple[PrecisionCase, ...], ...]


def load_precision_data(folder: Path) -> tuple[PrecisionData, str]:
    """Return the beliefs and cases of a folder and the SHA-256 of its files together; InvalidInput if
    a file is wrong.
    """
    beliefs, first = read_data_file(folder / _BELIEFS_FILE, NOUN, _parse_beliefs)
    cases, second = read_data_file(folder / _CASES_FILE, NOUN, _parse_cases)
    sessions, third = read_data_file(folder / _SESSIONS_FILE, NOUN, _parse_sessions)
    digest = hashlib.sha256("".join((first, second, third)).encode()).hexdigest()
    return PrecisionData(tuple(beliefs), tuple(cases), tuple(sessions)), digest


def _parse_beliefs(data: Any) -> list[Belief]:
    return require_any(map(_parse_belief, data), "beliefs")


def _parse_belief(data: Mapping[str, Any]) -> Belief:
    resolved = data["resolved_at"]
    return Belief(
        id=data["_id"],
        user=data["user_id"],
        type=data["type"],
        name=data["canonical_name"].replace("_", " "),
        aliases=tuple(data["aliases"]),
        content=data["content"],
        domains=tuple(data["scope"]),
        pinned=data["pinned"],
        confidence=data["confidence"],
        created=parse_time(data["created_at"]),
        resolved=parse_time(resolved) if resolved else None,
        superseded_by=data["superseded_by"],
        depends_on=tuple(data.get("participants", ())),
    )


def _parse_cases(data: Any) -> list[PrecisionCase]:
    return require_any((_parse_case(case, case["caseId"], case["category"], case["query"]) for case in data), "cases")


def _parse_sessions(data: Any) -> list[tuple[PrecisionCase, ...]]:
    return [tuple(_parse_turn(turn, session["caseId"]) for turn in session["turns"]) for session in data]


def _parse_turn(data: Mapping[str, Any], session: str) -> PrecisionCase:
    return _parse_case(data, f"{session} {data['turnIndex']}", data["label"], data["userMessage"])


def _parse_case(data: Mapping[str, Any], name: str, category: str, query: str) -> PrecisionCase:
    expect, new_belief, new_aliases = data["expect"], data.get("createBeliefAtTurn"), data.get("updateBeliefAtTurn")
    return PrecisionCase(
        id=name,
        category=category,
        user=data.get("userId", "test-user"),
        domains=tuple(data["scope"]),
        query=query,
        max_beliefs=data.get("budget", {}).get("maxBeliefs"),
        expected=ExpectedTiers.parse(expect),
        is_drift=category == "drift",
        noise=frozenset(expect.get("noiseCheck", {}).get("mustNotSurface", ())),
        new_belief=_parse_belief(new_belief) if new_belief else None,
        new_aliases=TaughtAliases(new_aliases["beliefId"], tuple(new_aliases["addAliases"])) if new_aliases else None,
    )
