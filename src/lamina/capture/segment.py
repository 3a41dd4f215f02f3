"""Segments: the words as they were said, one passage for each turn or paragraph, in atoms that only grow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.identity import AtomId
from lamina.atom.passage import close_segment, parse_segment, render_passage
from lamina.atom.scope import Scope
from lamina.atom.trust import Origin
from lamina.capture.pieces import TextPiece

_PASSAGE_SEPARATOR = "\n\n"
_PAGE, _HEADING = "page", "heading"
"""Metadata keys: where in its document the text of a segment begins."""


@dataclass(frozen=True, slots=True)
class SegmentTarget:
    """Where pieces are stored: the session, the limits of its segments, and who is responsible for the words."""

    scope: Scope
    session_id: str
    source_id: str | None
    origin: Origin
    principal: str | None
    agents: tuple[str, ...]
    observed_at: datetime
    max_chars: int
    idle_timeout: timedelta


def extend_segments(
    pieces: Sequence[TextPiece],
    target: SegmentTarget,
    open_segment: Atom | None,
    last_number: int,
    ids: Iterator[AtomId],
) -> list[Atom]:
    """Return the segments that hold the pieces: the open one extended, then new ones, all within the size limit."""
    builders = [_SegmentBuilder(open_segment, target)] if open_segment else []
    for piece in pieces:
        if not builders or not builders[-1].accepts(piece):
            last_number += 1
            builders.append(_SegmentBuilder(_make_empty_segment(piece, target, last_number, next(ids)), target))
        builders[-1].add(piece)
    return [builder.build() for builder in builders if builder.has_grown]


class _SegmentBuilder:
    """A segment while pieces are added to it."""

    def __init__(self, segment: Atom, target: SegmentTarget) -> None:
        self._segment, self._place = segment, target
        passages = parse_segment(segment.content)
        self._n = max((passage.n for passage in passages), default=0)
        self._last = max((passage.at for passage in passages if passage.at), default=segment.observed_at)
        self._parts = [close_segment(segment.content)] if segment.content else []
        self._length = sum(map(len, self._parts))
        self._page = segment.metadata.get(_PAGE, "")
        self.has_grown = False

    def accepts(self, piece: TextPiece) -> bool:
        """Return whether a piece fits: the same page, below the size limit, soon after the last one."""
        if piece.page != self._page:
            return False
        at = piece.at or self._place.observed_at
        length = len(render_passage(self._n + 1, piece.text, piece.speaker, piece.at)) + len(_PASSAGE_SEPARATOR)
        return self._length + length <= self._place.max_chars and at - self._last <= self._place.idle_timeout

    def add(self, piece: TextPiece) -> None:
        """Append a piece as a passage."""
        self._n += 1
        part = render_passage(self._n, piece.text, piece.speaker, piece.at)
        self._length += len(part) + (len(_PASSAGE_SEPARATOR) if self._parts else 0)
        self._parts.append(part)
        self._last = max(self._last, piece.at or self._place.observed_at)
        self.has_grown = True

    def build(self) -> Atom:
        """Return the segment with all passages."""
        return self._segment.with_(content=_PASSAGE_SEPARATOR.join(self._parts))


def _make_empty_segment(piece: TextPiece, target: SegmentTarget, number: int, atom_id: AtomId) -> Atom:
    return Atom(
        id=atom_id,
        scope=target.scope,
        kind="narrative",
        content="",
        observed_at=piece.at or target.observed_at,
        source_id=target.source_id,
        session_id=target.session_id,
        segment_id=f"{target.session_id}-{number}",
        origin=target.origin,
        principal=target.principal,
        agents=target.agents,
        metadata=_location_metadata(piece),
        **kind_defaults("narrative", 1.0, target.origin),
    )


def _location_metadata(piece: TextPiece) -> dict[str, str]:
    """Return where in its document a segment begins, if its words do not say it."""
    return {key: value for key, value in ((_PAGE, piece.page), (_HEADING, piece.context)) if value}
