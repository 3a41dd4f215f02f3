"""The write path: words in, atoms out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId, IdSource
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.atom.trust import Origin, bound, statements_wait, words_wait
from lamina.capture.change.change import Change
from lamina.capture.change.replay import unsaid
from lamina.capture.conversation import Conversation
from lamina.capture.draft import Draft
from lamina.capture.erased import without_erased
from lamina.capture.fence import taken_out
from lamina.capture.pieces import Piece
from lamina.capture.reading import Reader, passages_said, waiting
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.segment import Place, extend
from lamina.capture.write import Words, Writer, fresh_ids, kept_anyway, verdicts_on, write
from lamina.store.base import Filter, Store
from lamina.text.hidden import HIDDEN, is_hidden
from lamina.text.roles import is_instrument

_PUT_OUT = Origin.TOOL
"""Whose words the output of a tool is."""


def capture(
    said: Conversation,
    writer: Writer,
    store: Store,
    ids: IdSource,
    now: datetime,
    limit: int,
    idle: timedelta,
    reader: Reader,
    key: str | None = None,
    *,
    at_once: bool = True,
    verb: str = "capture",
) -> Receipt:
    """Keep the words in the session's files, and read them for statements at once or let them wait to be read."""

    said = without_erased(said, writer.origin, writer.scope, store, now)

    def kept(compare: bool) -> Receipt:
        fresh = fresh_ids(ids, now)
        place = Place(
            writer.scope,
            said.session_id,
            said.source_id,
            writer.origin,
            writer.principal,
            said.agents,
            said.observed_at,
            limit,
            idle,
        )
        there = _segments(store, writer.scope, said.session_id)
        asked_before = key is not None and store.has_key(writer.scope, key)
        pieces = list(said.pieces) if asked_before else unsaid(said.pieces, there)
        if not pieces and there:
            return Receipt(None, (Outcome(Result.DUPLICATE, there[-1], "these words were captured before"),))
        open_segment, number = _open_segment(there, writer)
        grown = _grown(pieces, place, open_segment, number, fresh)
        segments = [_flagged(_tagged(_vouched(atom, writer), said.tags)) for atom in grown]
        before, turns = passages_said(segments, open_segment)
        reason = f"captured {said.session_id}"
        if at_once:
            kept_in: dict[str, Atom] = {segment.id: segment for segment in segments}
            made = reader.read(turns, before, kept_in, writer.scope, store, fresh, now)
            verdicts = reader.verdicts(made, turns, segments, writer.scope, store, fresh, now, compare=compare)
            receipt = write(Words(segments), verdicts, writer, store, verb, reason, key)
        else:
            words = Words(segments, waiting(turns, writer.scope, said.session_id, now, reader.patterns))
            receipt = write(words, (), writer, store, verb, reason, key)
        told = made.told if at_once else "wait to be read"
        context = (("context", taken_out(said.recalled)),) if said.recalled else ()
        return replace(receipt, stages=(("words", "kept"), *context, ("statements", told)), redacted=said.redacted)

    return kept_anyway(store, kept)


def remember(
    drafts: Sequence[Draft],
    writer: Writer,
    store: Store,
    ids: IdSource,
    now: datetime,
    reason: str,
    key: str | None = None,
) -> Receipt:
    """Write explicit statements, each classified against what is there, all in one commit."""

    def written(compare: bool) -> Receipt:
        fresh = fresh_ids(ids, now)
        new = (draft.to_atom(next(fresh), writer.scope, writer.origin, writer.principal, now) for draft in drafts)
        made = map(_flagged, new)
        atoms = [_held(each) if statements_wait(writer.origin) else each for each in made]
        verdicts = verdicts_on(atoms, store, now, writer.several)
        if compare:
            verdicts = Change((), (), {}, store, writer.scope, fresh, now).made_of(verdicts)
        return write(Words(), verdicts, writer, store, "remember", reason, key)

    return kept_anyway(store, written)


def _segments(store: Store, scope: Scope, session_id: str) -> list[Atom]:
    """What was kept of a session, in the order of its pieces."""
    found = store.read(Filter(scopes=(scope,), session_id=session_id))
    return sorted((each for each in found if each.is_segment), key=lambda each: (_number(each), each.id))


def _open_segment(segments: Sequence[Atom], writer: Writer) -> tuple[Atom | None, int]:
    """The session's last segment if it can still grow, and its number. Nobody's words go under another's name."""
    if not segments:
        return None, 0
    said = [segment for segment in segments if segment.origin is not _PUT_OUT or writer.origin is _PUT_OUT]
    last = (said or segments)[-1]
    # What nobody vouches for never joins words that a person has let through.
    grows = last.status is (Status.CONSTRAINED if words_wait(writer.origin, writer.through) else Status.ACTIVE)
    own = (last.origin, last.principal) == (writer.origin, writer.principal)
    return last if grows and own else None, _number(segments[-1])


def _grown(
    pieces: Sequence[Piece], place: Place, open_segment: Atom | None, number: int, ids: Iterator[AtomId]
) -> list[Atom]:
    """The segments that hold the pieces. What a tool put out, in whoever's transcript, is kept apart as the tool's."""
    own = [piece for piece in pieces if not is_instrument(piece.speaker)]
    grown = extend(own, place, open_segment, number, ids)
    foreign = [piece for piece in pieces if is_instrument(piece.speaker)]
    if not foreign:
        return grown
    last = max([number, *(_number(atom) for atom in grown)])
    return grown + extend(foreign, replace(place, origin=bound(place.origin, _PUT_OUT)), None, last, ids)


def _vouched(segment: Atom, writer: Writer) -> Atom:
    """Words nobody vouches for (a tool's, the web's, a file an agent brings) wait; a person's own are found at once."""
    return _held(segment) if not segment.revision and words_wait(segment.origin, writer.through) else segment


def _tagged(segment: Atom, tags: Sequence[str]) -> Atom:
    return segment.with_(tags=tuple(dict.fromkeys((*segment.tags, *tags)))) if tags else segment


def _flagged(atom: Atom) -> Atom:
    """Who reads it is told that it says more than they see."""
    return _tagged(atom, (HIDDEN,)) if is_hidden(atom.content) else atom


def _held(atom: Atom) -> Atom:
    return atom.with_(status=Status.CONSTRAINED)


def _number(segment: Atom) -> int:
    tail = (segment.segment_id or "").rpartition("-")[2]
    return int(tail) if tail.isdecimal() else 0
