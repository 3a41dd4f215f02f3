"""Segments: the words as they were said, one passage for each turn or paragraph, in atoms that only grow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.identity import AtomId
from lamina.atom.passage import closed, parse_segment, render_passage
from lamina.atom.scope import Scope
from lamina.atom.trust import Origin
from lamina.capture.pieces import Piece

_BETWEEN = "\n\n"
_PAGE, _HEADING = "page", "heading"
"""Metadata keys: where in its document the text of a segment begins."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where pieces are stored: the session, the limits of its segments, and who is responsible for the words."""

    scope: Scope
    session_id: str
    source_id: str | None
    origin: Origin
    principal: str | None
    agents: tuple[str, ...]
    observed_at: datetime
    limit: int
    idle: timedelta


def extend(
    pieces: Sequence[Piece], place: Place, open_segment: Atom | None, number: int, ids: Iterator[AtomId]
) -> list[Atom]:
    """Return the segments that hold the pieces: the open one extended, then new ones, all within the size limit."""
    builders = [_Growing(open_segment, place)] if open_segment else []
    for piece in pieces:
        if not builders or not builders[-1].takes(piece):
            number += 1
            builders.append(_Growing(_blank(piece, place, number, next(ids)), place))
        builders[-1].add(piece)
    return [builder.atom() for builder in builders if builder.grew]


class _Growing:
    """A segment while pieces are added to it."""

    def __init__(self, segment: Atom, place: Place) -> None:
        self._segment, self._place = segment, place
        passages = parse_segment(segment.content)
        self._n = max((passage.n for passage in passages), default=0)
        self._last = max((passage.at for passage in passages if passage.at), default=segment.observed_at)
        self._parts = [closed(segment.content)] if segment.content else []
        self._length = sum(map(len, self._parts))
        self._page = segment.metadata.get(_PAGE, "")
        self.grew = False

    def takes(self, piece: Piece) -> bool:
        """Return whether a piece fits: the same page, below the size limit, soon after the last one."""
        if piece.page != self._page:
            return False
        at = piece.at or self._place.observed_at
        length = len(render_passage(self._n + 1, piece.text, piece.speaker, piece.at)) + len(_BETWEEN)
        return self._length + length <= self._place.limit and at - self._last <= self._place.idle

    def add(self, piece: Piece) -> None:
        """Append a piece as a passage."""
        self._n += 1
        part = render_passage(self._n, piece.text, piece.speaker, piece.at)
        self._length += len(part) + (len(_BETWEEN) if self._parts else 0)
        self._parts.append(part)
        self._last = max(self._last, piece.at or self._place.observed_at)
        self.grew = True

    def atom(self) -> Atom:
        """Return the segment with all passages."""
        return self._segment.with_(content=_BETWEEN.join(self._parts))


def _blank(piece: Piece, place: Place, number: int, atom_id: AtomId) -> Atom:
    return Atom(
        id=atom_id,
        scope=place.scope,
        kind="narrative",
        content="",
        observed_at=piece.at or place.observed_at,
        source_id=place.source_id,
        session_id=place.session_id,
        segment_id=f"{place.session_id}-{number}",
        origin=place.origin,
        principal=place.principal,
        agents=place.agents,
        metadata=_stood(piece),
        **kind_defaults("narrative", 1.0, place.origin),
    )


def _stood(piece: Piece) -> dict[str, str]:
    """Return where in its document a segment begins, if its words do not say it."""
    return {key: value for key, value in ((_PAGE, piece.page), (_HEADING, piece.context)) if value}
