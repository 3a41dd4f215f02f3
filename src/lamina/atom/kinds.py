"""Define KINDS, the table of every kind and its traits, and `memory_kind_of`: episode or note.

Every constant that depends on the kind is here. An episode says what happened and is append-only; a note says what is
true and can be superseded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class MemoryType(StrEnum):
    """The type of information; recall modes select by it."""

    FACT = "fact"
    PROCEDURE = "procedure"
    NARRATIVE = "narrative"


class Layer(StrEnum):
    """The layer of memory that an atom is in."""

    WORKING = "working"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    PROFILE = "profile"
    CODEBASE = "codebase"


class Durability(StrEnum):
    """A class of speed at which atoms fade."""

    CORE = "core"
    STANDARD = "standard"
    EPHEMERAL = "ephemeral"


@dataclass(frozen=True, slots=True)
class Kind:
    """The traits of a kind. `is_listing`: atoms of the kind only list what other atoms or notes say."""

    memory_type: MemoryType
    layer: Layer
    durability: Durability = Durability.STANDARD
    half_life_days: float = 730
    importance_boost: float = 0.0
    is_episode: bool = False
    is_protected: bool = False
    is_listing: bool = False


KINDS: dict[str, Kind] = {
    "fact": Kind(MemoryType.FACT, Layer.SEMANTIC),
    "preference": Kind(MemoryType.FACT, Layer.PROFILE, half_life_days=365, importance_boost=0.10, is_protected=True),
    "goal": Kind(MemoryType.FACT, Layer.SEMANTIC, half_life_days=180, importance_boost=0.05),
    "decision": Kind(
        MemoryType.PROCEDURE,
        Layer.PROCEDURAL,
        Durability.CORE,
        half_life_days=180,
        importance_boost=0.08,
        is_protected=True,
    ),
    "event": Kind(MemoryType.NARRATIVE, Layer.EPISODIC, half_life_days=60, is_episode=True),
    "question": Kind(MemoryType.NARRATIVE, Layer.EPISODIC, Durability.EPHEMERAL, half_life_days=60, is_episode=True),
    "insight": Kind(MemoryType.FACT, Layer.SEMANTIC, half_life_days=365),
    "synthesis": Kind(MemoryType.FACT, Layer.SEMANTIC),
    "correction": Kind(MemoryType.FACT, Layer.SEMANTIC, Durability.CORE, importance_boost=0.15, is_protected=True),
    "entity": Kind(MemoryType.FACT, Layer.SEMANTIC, importance_boost=0.02),
    "relationship": Kind(MemoryType.FACT, Layer.SEMANTIC, importance_boost=0.05),
    "principle": Kind(
        MemoryType.PROCEDURE, Layer.PROCEDURAL, Durability.CORE, importance_boost=0.12, is_protected=True
    ),
    "commitment": Kind(MemoryType.FACT, Layer.SEMANTIC, half_life_days=180, importance_boost=0.10, is_protected=True),
    "moment": Kind(MemoryType.NARRATIVE, Layer.EPISODIC, half_life_days=60, importance_boost=0.03, is_episode=True),
    "skill": Kind(MemoryType.PROCEDURE, Layer.PROCEDURAL, half_life_days=365, importance_boost=0.05),
    "procedure": Kind(MemoryType.PROCEDURE, Layer.PROCEDURAL, Durability.CORE, importance_boost=0.10),
    "rule": Kind(MemoryType.PROCEDURE, Layer.PROCEDURAL, Durability.CORE, importance_boost=0.11, is_protected=True),
    "constraint": Kind(
        MemoryType.PROCEDURE, Layer.PROCEDURAL, Durability.CORE, importance_boost=0.11, is_protected=True
    ),
    "habit": Kind(MemoryType.FACT, Layer.PROFILE, half_life_days=365, importance_boost=0.05),
    "interest": Kind(MemoryType.FACT, Layer.PROFILE, half_life_days=365),
    "user_request": Kind(
        MemoryType.NARRATIVE, Layer.EPISODIC, Durability.EPHEMERAL, half_life_days=60, is_episode=True
    ),
    "interaction": Kind(MemoryType.NARRATIVE, Layer.EPISODIC, Durability.EPHEMERAL, half_life_days=60, is_episode=True),
    "summary": Kind(MemoryType.NARRATIVE, Layer.SEMANTIC, half_life_days=365),
    "count": Kind(MemoryType.FACT, Layer.SEMANTIC, importance_boost=0.03),
    "recommendation": Kind(MemoryType.NARRATIVE, Layer.EPISODIC, half_life_days=90, is_episode=True),
    "reminder": Kind(MemoryType.FACT, Layer.EPISODIC, Durability.EPHEMERAL, half_life_days=3, importance_boost=0.03),
    "belief": Kind(MemoryType.FACT, Layer.SEMANTIC, half_life_days=365),
    "narrative": Kind(MemoryType.NARRATIVE, Layer.EPISODIC, half_life_days=365, is_episode=True),
    "box": Kind(MemoryType.NARRATIVE, Layer.EPISODIC, half_life_days=365, is_listing=True),
    "block": Kind(MemoryType.NARRATIVE, Layer.EPISODIC, half_life_days=365, is_listing=True),
    "code": Kind(MemoryType.FACT, Layer.CODEBASE, half_life_days=math.inf),
}


EXTRACTED_KINDS = ("fact", "preference", "interaction", "summary", "user_request", "entity", "interest", "decision")
"""The kinds that extraction assigns: by a language model, or where a sentence begins with the name of one."""


def kind_traits(kind: str) -> Kind:
    """Return the traits of a kind; an unknown kind has those of `fact`."""
    return KINDS.get(kind, KINDS["fact"])


MemoryKind = Literal["episode", "note"]

_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_TIME_WORDS = re.compile(
    rf"\b(?:yesterday|today|tonight|recently|earlier|just now|the other day|this (?:morning|afternoon|evening)"
    rf"|last (?:night|week|weekend|month|year|spring|summer|autumn|fall|winter|{_WEEKDAY})|on {_WEEKDAY}"
    rf"|(?:an?|one|two|three|a few|several|\d{{1,3}}) (?:minute|hour|day|week|month|year)s? ago)\b",
    re.IGNORECASE,
)
_NEUTRAL_KINDS = frozenset({"fact"})
"""Kinds that do not decide between episode and note."""
_FOREIGN_KINDS: dict[str, MemoryKind] = {
    "policy": "note",
    "standard": "note",
    "action": "episode",
    "observation": "episode",
    "issue": "episode",
    "bug": "episode",
    "incident": "episode",
}
_NOTE_TAGS = frozenset({"preference", "constraint", "goal", "habit", "policy", "belief"})
_EPISODE_TAGS = frozenset({"bug", "fix", "deploy", "incident", "release", "merge", "event"})
_EVENT_VERBS = re.compile(
    r"\b(?:deployed|pushed|fixed|merged|reported|mentioned|said|told|happened|failed|completed|shipped|released|launched"
    r"|went|met|visited|attended|bought|finished|started|crashed|broke)\b",
    re.IGNORECASE,
)
_STATE_WORDS = re.compile(
    r"\b(?:prefer\w{0,6}|want\w{0,4}|need\w{0,4}|always|never|must|should|goals?|decid\w{0,4}|decisions?|polic\w{0,4}"
    r"|requir\w{0,7}|constraints?|standards?|conventions?|usually|every (?:day|week|month|year|morning|evening))\b",
    re.IGNORECASE,
)


def memory_kind_of(content: str, kind: str, tags: Collection[str] = ()) -> MemoryKind:
    """Return episode or note: decided by words of time, else the kind, else the tags, else the verbs; episode by
    default."""
    if _TIME_WORDS.search(content):
        return "episode"
    by_kind = _memory_kind_by_kind(kind)
    if by_kind:
        return by_kind
    labels = {tag.casefold() for tag in tags}
    if labels & _NOTE_TAGS:
        return "note"
    if labels & _EPISODE_TAGS or _EVENT_VERBS.search(content):
        return "episode"
    return "note" if _STATE_WORDS.search(content) else "episode"


def _memory_kind_by_kind(kind: str) -> MemoryKind | None:
    if kind in KINDS and kind not in _NEUTRAL_KINDS:
        return "episode" if KINDS[kind].is_episode else "note"
    return _FOREIGN_KINDS.get(kind)
