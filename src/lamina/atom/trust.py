"""Who said it, and how much that is worth. Set by the transport, never by the text."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Origin(StrEnum):
    """Where an atom entered from."""

    HUMAN = "human"
    AGENT = "agent"
    RADAR = "radar"
    IMPORT = "import"
    DOCUMENT = "document"
    TOOL = "tool"
    DREAM = "dream"
    WEB = "web"


TRUST: dict[Origin, float] = {
    Origin.HUMAN: 1.0,
    Origin.AGENT: 0.7,
    Origin.RADAR: 0.6,
    Origin.IMPORT: 0.5,
    Origin.DOCUMENT: 0.5,
    Origin.TOOL: 0.5,
    Origin.DREAM: 0.4,
    Origin.WEB: 0.3,
}
LEAST_TRUST = min(TRUST.values())
"""What is worth no more than this: text from anywhere, and ancestors that nobody can look up."""

_WORDS_WAIT = frozenset({Origin.TOOL, Origin.WEB})
_STATEMENTS_WAIT = _WORDS_WAIT | {Origin.RADAR, Origin.IMPORT, Origin.DOCUMENT}


def words_wait(origin: Origin, through: Origin = Origin.HUMAN) -> bool:
    """Whether words of this origin are held for review, by who brings them.

    What a tool or a page says is held whoever brings it. A file or an export is evidence at once if a person feeds it;
    if it comes `through` an agent, nobody has vouched for it.
    """
    return origin in (_WORDS_WAIT if through is Origin.HUMAN else _STATEMENTS_WAIT)


def statements_wait(origin: Origin) -> bool:
    """Whether statements taken from words of this origin are held for review, though the words may be searched."""
    return origin in _STATEMENTS_WAIT


def trust_of(origin: Origin, ancestors: Iterable[Origin] = ()) -> float:
    """The trust of an origin, never above that of anything it descends from."""
    return min([TRUST[origin], *(TRUST[ancestor] for ancestor in ancestors)])


def bound(ceiling: Origin, declared: Origin | None) -> Origin:
    """The origin a transport lets a caller have: what is declared, but never more trusted than the ceiling."""
    if declared is None or TRUST[declared] > TRUST[ceiling]:
        return ceiling
    return declared
