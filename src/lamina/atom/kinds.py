"""Define KINDS, the table of every kind and its traits. Every constant that depends on the kind is here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum


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
    """How fast an atom fades."""

    CORE = "core"
    STANDARD = "standard"
    EPHEMERAL = "ephemeral"


@dataclass(frozen=True, slots=True)
class Kind:
    """The traits of a kind. `is_listing`: atoms of the kind only list what other atoms or notes say."""

    memory_type: MemoryType
    layer: Layer
    episode: bool
    durability: Durability
    half_life_days: float
    protected: bool
    importance_boost: float
    lists: bool = False


def _kind(
    memory_type: str,
    layer: str,
    memory_kind: str,
    durability: str = "standard",
    half_life_days: float = 730,
    boost: float = 0.0,
    *,
    protected: bool = False,
    lists: bool = False,
) -> Kind:
    return Kind(
        MemoryType(memory_type),
        Layer(layer),
        memory_kind == "episode",
        Durability(durability),
        half_life_days,
        protected,
        boost,
        lists,
    )


KINDS: dict[str, Kind] = {
    "fact": _kind("fact", "semantic", "note"),
    "preference": _kind("fact", "profile", "note", half_life_days=365, boost=0.10, protected=True),
    "goal": _kind("fact", "semantic", "note", half_life_days=180, boost=0.05),
    "decision": _kind("procedure", "procedural", "note", "core", half_life_days=180, boost=0.08, protected=True),
    "event": _kind("narrative", "episodic", "episode", half_life_days=60),
    "question": _kind("narrative", "episodic", "episode", "ephemeral", half_life_days=60),
    "insight": _kind("fact", "semantic", "note", half_life_days=365),
    "synthesis": _kind("fact", "semantic", "note"),
    "correction": _kind("fact", "semantic", "note", "core", boost=0.15, protected=True),
    "entity": _kind("fact", "semantic", "note", boost=0.02),
    "relationship": _kind("fact", "semantic", "note", boost=0.05),
    "principle": _kind("procedure", "procedural", "note", "core", boost=0.12, protected=True),
    "commitment": _kind("fact", "semantic", "note", half_life_days=180, boost=0.10, protected=True),
    "moment": _kind("narrative", "episodic", "episode", half_life_days=60, boost=0.03),
    "skill": _kind("procedure", "procedural", "note", half_life_days=365, boost=0.05),
    "procedure": _kind("procedure", "procedural", "note", "core", boost=0.10),
    "rule": _kind("procedure", "procedural", "note", "core", boost=0.11, protected=True),
    "constraint": _kind("procedure", "procedural", "note", "core", boost=0.11, protected=True),
    "habit": _kind("fact", "profile", "note", half_life_days=365, boost=0.05),
    "interest": _kind("fact", "profile", "note", half_life_days=365),
    "user_request": _kind("narrative", "episodic", "episode", "ephemeral", half_life_days=60),
    "interaction": _kind("narrative", "episodic", "episode", "ephemeral", half_life_days=60),
    "summary": _kind("narrative", "semantic", "note", half_life_days=365),
    "count": _kind("fact", "semantic", "note", boost=0.03),
    "recommendation": _kind("narrative", "episodic", "episode", half_life_days=90),
    "reminder": _kind("fact", "episodic", "note", "ephemeral", half_life_days=3, boost=0.03),
    "belief": _kind("fact", "semantic", "note", half_life_days=365),
    "narrative": _kind("narrative", "episodic", "episode", half_life_days=365),
    "box": _kind("narrative", "episodic", "note", half_life_days=365, lists=True),
    "block": _kind("narrative", "episodic", "note", half_life_days=365, lists=True),
    "code": _kind("fact", "codebase", "note", half_life_days=math.inf),
}


def traits(kind: str) -> Kind:
    """Return the traits of a kind; an unknown kind has those of `fact`."""
    return KINDS.get(kind, KINDS["fact"])
