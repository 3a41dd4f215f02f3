"""Verbatim segments: the words as they were said, a passage a turn or paragraph, in files that only grow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.identity import AtomId
from lamina.atom.passage import closed, parse_segment, render_passage
from lamina.atom.scope import Scope
from lamina.atom.trust import Origin

PARAGRAPH_LIMIT = 4_000
_BETWEEN = "\n\n"


@dataclass(frozen=True, slots=True)
class Piece:
    """One turn or paragraph on its way into a segment."""

    text: str
    speaker: str | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where pieces go: the session, its segment limits, and who says so."""

    scope: Scope
    session_id: str
    source_id: str | None
    origin: Origin
    principal: str | None
    agents: tuple[str, ...]
    observed_at: datetime
    limit: int
    idle: timedelta


def paragraphs(text: str) -> Iterator[Piece]:
    """A document's paragraphs: cut at blank lines, very long ones at sentence or line ends."""
    for block in re.split(r"\n[ \t]*\n", text):
        rest = block.strip("\n")
        while len(rest) > PARAGRAPH_LIMIT:
            cut = max(rest.rfind(". ", 0, PARAGRAPH_LIMIT) + 1, rest.rfind("\n", 0, PARAGRAPH_LIMIT)) or PARAGRAPH_LIMIT
            yield Piece(rest[:cut])
            rest = rest[cut:].strip("\n")
        if rest.strip():
            yield Piece(rest)


def extend(
    pieces: Sequence[Piece], place: Place, open_segment: Atom | None, number: int, ids: Iterator[AtomId]
) -> list[Atom]:
    """The segments that hold the pieces: the open one grown first, then new ones, each closed at the limit."""
    growing = [_Growing(open_segment, place)] if open_segment else []
    for piece in pieces:
        if not growing or not growing[-1].takes(piece):
            number += 1
            growing.append(_Growing(_blank(piece, place, number, next(ids)), place))
        growing[-1].add(piece)
    return [each.atom() for each in growing if each.grew]


class _Growing:
    """A segment while turns are added to it."""

    def __init__(self, segment: Atom, place: Place) -> None:
        self._segment, self._place = segment, place
        told = parse_segment(segment.content)
        self._n = max((each.n for each in told), default=0)
        self._last = max((each.at for each in told if each.at), default=segment.observed_at)
        self._parts = [closed(segment.content)] if segment.content else []
        self._length = sum(map(len, self._parts))
        self.grew = False

    def takes(self, piece: Piece) -> bool:
        at = piece.at or self._place.observed_at
        length = len(render_passage(self._n + 1, piece.text, piece.speaker, piece.at)) + len(_BETWEEN)
        return self._length + length <= self._place.limit and at - self._last <= self._place.idle

    def add(self, piece: Piece) -> None:
        self._n += 1
        part = render_passage(self._n, piece.text, piece.speaker, piece.at)
        self._length += len(part) + (len(_BETWEEN) if self._parts else 0)
        self._parts.append(part)
        self._last = max(self._last, piece.at or self._place.observed_at)
        self.grew = True

    def atom(self) -> Atom:
        return self._segment.with_(content=_BETWEEN.join(self._parts))


def _blank(piece: Piece, place: Place, number: int, atom_id: AtomId) -> Atom:
    return Atom(
        id=atom_id, scope=place.scope, kind="narrative", content="", observed_at=piece.at or place.observed_at,
        source_id=place.source_id, session_id=place.session_id, segment_id=f"{place.session_id}-{number}",
        origin=place.origin, principal=place.principal, agents=place.agents,
        **kind_defaults("narrative", 1.0, place.origin),
    )  # fmt: skip
