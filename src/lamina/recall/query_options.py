"""The filters of a recall: which memory types a mode lets through, and which statuses are searched."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from lamina.atom.kinds import MemoryType
from lamina.atom.status import INCLUDE_OPTIONS, RECALL_WEIGHT, Status
from lamina.errors import InvalidInput
from lamina.recall.recall_query import RecallQuery, parse_question

MEMORY_TYPES_BY_MODE: dict[str, frozenset[MemoryType]] = {
    "facts_only": frozenset({MemoryType.FACT}),
    "facts_plus_rules": frozenset({MemoryType.FACT, MemoryType.PROCEDURE}),
    "full_context": frozenset(MemoryType),
}
QUESTION_LIMIT = 4096


def parse_query(question: str, speakers: Collection[str], now: datetime) -> RecallQuery:
    """Check and parse a question. Raises InvalidInput if it is empty or too long."""
    if not question.strip():
        raise InvalidInput("the question is empty")
    if len(question.encode(errors="replace")) > QUESTION_LIMIT:
        raise InvalidInput(f"the question is longer than {QUESTION_LIMIT} bytes")
    return parse_question(question, speakers, now)


def select_memory_types(mode: str) -> frozenset[MemoryType]:
    """Return the memory types that a mode lets through. Raises InvalidInput for an unknown mode."""
    if mode not in MEMORY_TYPES_BY_MODE:
        raise InvalidInput(f"there is no mode {mode!r}; choose one of {', '.join(MEMORY_TYPES_BY_MODE)}")
    return MEMORY_TYPES_BY_MODE[mode]


def select_statuses(include: tuple[str, ...]) -> frozenset[Status]:
    """Return the statuses to search: the usual ones and those that `include` adds. Raises InvalidInput for an unknown
    name."""
    unknown = set(include) - INCLUDE_OPTIONS.keys()
    if unknown:
        raise InvalidInput(f"cannot include {', '.join(sorted(unknown))}; choose from {', '.join(INCLUDE_OPTIONS)}")
    return frozenset(RECALL_WEIGHT).union(*(INCLUDE_OPTIONS[name] for name in include))
