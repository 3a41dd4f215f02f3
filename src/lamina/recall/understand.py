"""What is asked: the words that count and the sort of memory that may answer."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from lamina.atom.kinds import MemoryType
from lamina.atom.status import INCLUDE, RECALL_WEIGHT, Status
from lamina.errors import InvalidInput
from lamina.recall.asked import Asked, asked

MODES: dict[str, frozenset[MemoryType]] = {
    "facts_only": frozenset({MemoryType.FACT}),
    "facts_plus_rules": frozenset({MemoryType.FACT, MemoryType.PROCEDURE}),
    "full_context": frozenset(MemoryType),
}
QUESTION_LIMIT = 4096


def understand(question: str, speakers: Collection[str], now: datetime) -> Asked:
    """What is asked: the words that are looked up, who and when it names, and what sort of question it is."""
    if not question.strip():
        raise InvalidInput("the question is empty")
    if len(question.encode(errors="replace")) > QUESTION_LIMIT:
        raise InvalidInput(f"the question is longer than {QUESTION_LIMIT} bytes")
    return asked(question, speakers, now)


def memory_types(mode: str) -> frozenset[MemoryType]:
    """The sorts of memory a mode lets through."""
    if mode not in MODES:
        raise InvalidInput(f"there is no mode {mode!r}; choose one of {', '.join(MODES)}")
    return MODES[mode]


def statuses(include: tuple[str, ...]) -> frozenset[Status]:
    """The statuses searched: what normal recall searches, and what was asked for besides."""
    unknown = set(include) - INCLUDE.keys()
    if unknown:
        raise InvalidInput(f"cannot include {', '.join(sorted(unknown))}; choose from {', '.join(INCLUDE)}")
    return frozenset(RECALL_WEIGHT).union(*(INCLUDE[name] for name in include))
