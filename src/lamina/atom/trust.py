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


def trust_of(origin: Origin, ancestors: Iterable[Origin] = ()) -> float:
    """The trust of an origin, never above that of anything it descends from."""
    return min([TRUST[origin], *(TRUST[ancestor] for ancestor in ancestors)])


def bound(ceiling: Origin, declared: Origin | None) -> Origin:
    """The origin a transport lets a caller have: what is declared, but never more trusted than the ceiling."""
    if declared is None or TRUST[declared] > TRUST[ceiling]:
        return ceiling
    return declared
