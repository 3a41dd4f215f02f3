"""Define origins and the trust in them. The origin is set by the transport, never by the text."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Origin(StrEnum):
    """A type of origin: who is responsible for an atom."""

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
"""The trust in text from anywhere, and in ancestors that do not exist."""

_REVIEWED_WORDS = frozenset({Origin.TOOL, Origin.WEB})
_REVIEWED_STATEMENTS = _REVIEWED_WORDS | {Origin.RADAR, Origin.IMPORT, Origin.DOCUMENT}


def words_need_review(origin: Origin, submitter: Origin = Origin.HUMAN) -> bool:
    """Return whether text of this origin needs review, depending on who submits it.

    Output of a tool or a web page always needs review. A file or an export is trusted as evidence if a person submits
    it; if an agent does, no one has confirmed it.
    """
    return origin in (_REVIEWED_WORDS if submitter is Origin.HUMAN else _REVIEWED_STATEMENTS)


def statements_need_review(origin: Origin) -> bool:
    """Return whether statements extracted from text of this origin need review, even if the text itself is searched."""
    return origin in _REVIEWED_STATEMENTS


def trust_of(origin: Origin, ancestors: Iterable[Origin] = ()) -> float:
    """Return the trust in an origin, never above that of anything it is derived from."""
    return min([TRUST[origin], *(TRUST[ancestor] for ancestor in ancestors)])


def limit_origin(ceiling: Origin, declared: Origin | None) -> Origin:
    """Return the origin that a caller may have: the declared one, but never more trusted than the ceiling."""
    if declared is None or TRUST[declared] > TRUST[ceiling]:
        return ceiling
    return declared
