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
    is_episode: bool
    durability: Durability
    half_life_days: float
    is_protected: bool
    importance_boost: float
    is_listing: bool = False


def _make_kind(
    memory_type: str,
    layer: str,
    memory_kind: str,
    durability: str = "standard",
    half_life_days: float = 730,
    boost: float = 0.0,
    *,
    is_protected: bool = False,
    is_listing: bool = False,
) -> Kind:
    return Kind(
        MemoryType(memory_type),
        Layer(layer),
        memory_kind == "episode",
        Durability(durability),
        half_life_days,
        is_protected,
        boost,
        is_listing,
    )


KINDS: dict[str, Kind] = {
    "fact": _make_kind("fact", "semantic", "note"),
    "preference": _make_kind("fact", "profile", "note", half_life_days=365, boost=0.10, is_protected=True),
    "goal": _make_kind("fact", "semantic", "note", half_life_days=180, boost=0.05),
    "decision": _make_kind(
        "procedure", "procedural", "note", "core", half_life_days=180, boost=0.08, is_protected=True
    ),
    "event": _make_kind("narrative", "episodic", "episode", half_life_days=60),
    "question": _make_kind("narrative", "episodic", "episode", "ephemeral", half_life_days=60),
    "insight": _make_kind("fact", "semantic", "note", half_life_days=365),
    "synthesis": _make_kind("fact", "semantic", "note"),
    "correction": _make_kind("fact", "semantic", "note", "core", boost=0.15, is_protected=True),
    "entity": _make_kind("fact", "semantic", "note", boost=0.02),
    "relationship": _make_kind("fact", "semantic", "note", boost=0.05),
    "principle": _make_kind("procedure", "procedural", "note", "core", boost=0.12, is_protected=True),
    "commitment": _make_kind("fact", "semantic", "note", half_life_days=180, boost=0.10, is_protected=True),
    "moment": _make_kind("narrative", "episodic", "episode", half_life_days=60, boost=0.03),
    "skill": _make_kind("procedure", "procedural", "note", half_life_days=365, boost=0.05),
    "procedure": _make_kind("procedure", "procedural", "note", "core", boost=0.10),
    "rule": _make_kind("procedure", "procedural", "note", "core", boost=0.11, is_protected=True),
    "constraint": _make_kind("procedure", "procedural", "note", "core", boost=0.11, is_protected=True),
    "habit": _make_kind("fact", "profile", "note", half_life_days=365, boost=0.05),
    "interest": _make_kind("fact", "profile", "note", half_life_days=365),
    "user_request": _make_kind("narrative", "episodic", "episode", "ephemeral", half_life_days=60),
    "interaction": _make_kind("narrative", "episodic", "episode", "ephemeral", half_life_days=60),
    "summary": _make_kind("narrative", "semantic", "note", half_life_days=365),
    "count": _make_kind("fact", "semantic", "note", boost=0.03),
    "recommendation": _make_kind("narrative", "episodic", "episode", half_life_days=90),
    "reminder": _make_kind("fact", "episodic", "note", "ephemeral", half_life_days=3, boost=0.03),
    "belief": _make_kind("fact", "semantic", "note", half_life_days=365),
    "narrative": _make_kind("narrative", "episodic", "episode", half_life_days=365),
    "box": _make_kind("narrative", "episodic", "note", half_life_days=365, is_listing=True),
    "block": _make_kind("narrative", "episodic", "note", half_life_days=365, is_listing=True),
    "code": _make_kind("fact", "codebase", "note", half_life_days=math.inf),
}


def kind_traits(kind: str) -> Kind:
    """Return the traits of a kind; an unknown kind has those of `fact`."""
    return KINDS.get(kind, KINDS["fact"])
