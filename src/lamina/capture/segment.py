"""Segments: the words as they were said, one passage for each turn or paragraph, in atoms that only grow.

A segment holds the words of one origin and principal only. Output of a tool gets segments of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from lamina.atom.atom import Atom, AtomId, kind_defaults
from lamina.atom.passage import close_segment, is_tool, parse_segment, passages_of, render_passage
from lamina.atom.provenance import Origin, Scope, limit_origin, words_need_review
from lamina.atom.status import Status
from lamina.capture.extractors import CapturedTurn
from lamina.capture.pieces import TextPiece
from lamina.store.base import AtomFilter
from lamina.text.normal_form import HIDDEN_TEXT_TAG, has_hidden_text

_PASSAGE_SEPARATOR = "\n\n"
_PAGE, _HEADING = "page", "heading"
"""Metadata keys: where in its document the text of a segment begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentTarget:
    """The place of new pieces: the session, the limits of its segments, and who is responsible for the words.

    `delivered_by` is the origin of the caller who delivers words of another origin.
    """

    scope: Scope
    session_id: str
    source_id: str | None
    origin: Origin
    principal: str | None
    agents: tuple[str, ...]
    observed_at: datetime
    max_chars: int
    idle_timeout: timedelta
    delivered_by: Origin = Origin.HUMAN
    tags: tuple[str, ...] = ()

    @property
    def session_filter(self) -> AtomFilter:
        """Return the filter of the atoms of the session."""
        return AtomFilter(scopes=(self.scope,), session_id=self.session_id)


def sort_segments(atoms: Sequence[Atom]) -> list[Atom]:
    """Return the segments among the atoms of a session, in the order of their numbers."""
    segments = (atom for atom in atoms if atom.is_segment)
    return sorted(segments, key=lambda segment: (_segment_number(segment), segment.id))


def find_open_segment(segments: Sequence[Atom], target: SegmentTarget) -> Atom | None:
    """Return the last of a session's segments if new words of the target's origin may be appended to it, else None."""
    spoken = [
        segment for segment in segments if segment.origin is not Origin.TOOL or target.origin is Origin.TOOL
    ] or segments
    if not spoken:
        return None
    last = spoken[-1]
    # Untrusted text is never appended to a segment that was confirmed in review.
    needs_review = words_need_review(target.origin, target.delivered_by)
    is_open = last.status is (Status.CONSTRAINED if needs_review else Status.ACTIVE)
    is_same_writer = (last.origin, last.principal, last.agents) == (target.origin, target.principal, target.agents)
    return last if is_open and is_same_writer else None


def extend_session(
    pieces: Sequence[TextPiece], target: SegmentTarget, stored_segments: Sequence[Atom], ids: Iterator[AtomId]
) -> list[Atom]:
    """Return the segments of a session that hold the new pieces: the open one extended, then new ones.

    New segments are pending if their origin needs review: a tool, a web page, a file that an agent sends.
    """
    last_number = _segment_number(stored_segments[-1]) if stored_segments else 0
    spoken = [piece for piece in pieces if not is_tool(piece.speaker)]
    segments = extend_segments(spoken, target, find_open_segment(stored_segments, target), last_number, ids)
    tool_output = [piece for piece in pieces if is_tool(piece.speaker)]
    if tool_output:
        tool_target = replace(target, origin=limit_origin(target.origin, Origin.TOOL))
        last_number = max([last_number, *map(_segment_number, segments)])
        segments += extend_segments(tool_output, tool_target, None, last_number, ids)
    return [tag_invisible_characters(add_tags(_hold_untrusted(segment, target), target.tags)) for segment in segments]


def turns_of(segment: Atom) -> list[CapturedTurn]:
    """Return the turns of a segment."""
    return [
        CapturedTurn(segment.id, passage.n, passage.text, passage.speaker, passage.at or segment.observed_at)
        for passage in passages_of(segment)
    ]


def add_tags(atom: Atom, tags: Sequence[str]) -> Atom:
    """Return the atom with these tags too."""
    return atom.with_(tags=tuple(dict.fromkeys((*atom.tags, *tags)))) if tags else atom


def tag_invisible_characters(atom: Atom) -> Atom:
    """Return the atom with a tag if its text contains invisible characters, so that readers are warned."""
    return add_tags(atom, (HIDDEN_TEXT_TAG,)) if has_hidden_text(atom.content) else atom


def _hold_untrusted(segment: Atom, target: SegmentTarget) -> Atom:
    is_held = not segment.revision and words_need_review(segment.origin, target.delivered_by)
    return segment.with_(status=Status.CONSTRAINED) if is_held else segment


def _segment_number(segment: Atom) -> int:
    tail = (segment.segment_id or "").rpartition("-")[2]
    return int(tail) if tail.isdecimal() else 0


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
