"""The write path: `capture` stores text and extracts statements from it, `remember` writes statements as given."""

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
"""The origin of text that a tool put into a transcript."""


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
    """Store the text of a conversation in the session's segments and extract statements from it.

    The statements are extracted in the same commit, or queued for extraction if `read_now` is false. Sentences that
    were erased and pieces that the session already has are left out. A request with a known idempotency `key` changes
    nothing.
    """

    said = without_erased(said, writer.origin, writer.scope, store, now)

    def store_and_read(compare: bool) -> Receipt:
        id_iterator = fresh_ids(ids, now)
        target = Place(
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
        stored_segments = _segments(store, writer.scope, said.session_id)
        is_repeated_request = key is not None and store.has_key(writer.scope, key)
        pieces = list(said.pieces) if is_repeated_request else unsaid(said.pieces, stored_segments)
        if not pieces and stored_segments:
            return Receipt(None, (Outcome(Result.DUPLICATE, stored_segments[-1], "these words were captured before"),))
        open_segment, number = _open_segment(stored_segments, writer)
        extended = _grown(pieces, target, open_segment, number, id_iterator)
        segments = [_flagged(_tagged(_vouched(atom, writer), said.tags)) for atom in extended]
        before, turns = passages_said(segments, open_segment)
        reason = f"captured {said.session_id}"
        if at_once:
            by_id: dict[str, Atom] = {segment.id: segment for segment in segments}
            batch = reader.read(turns, before, by_id, writer.scope, store, id_iterator, now)
            verdicts = reader.verdicts(batch, turns, segments, writer.scope, store, id_iterator, now, compare=compare)
            receipt = write(Words(segments), verdicts, writer, store, verb, reason, key)
        else:
            segment_batch = Words(segments, waiting(turns, writer.scope, said.session_id, now, reader.patterns))
            receipt = write(segment_batch, (), writer, store, verb, reason, key)
        statement_stage = batch.told if at_once else "queued for extraction"
        context = (("context", taken_out(said.recalled)),) if said.recalled else ()
        return replace(
            receipt, stages=(("words", "kept"), *context, ("statements", statement_stage)), redacted=said.redacted
        )

    return kept_anyway(store, store_and_read)


def remember(
    drafts: Sequence[Draft],
    writer: Writer,
    store: Store,
    ids: IdSource,
    now: datetime,
    reason: str,
    key: str | None = None,
) -> Receipt:
    """Write explicit statements in one commit, each classified against the existing statements of its scope."""

    def classify_and_write(compare: bool) -> Receipt:
        id_iterator = fresh_ids(ids, now)
        new_atoms = (
            draft.to_atom(next(id_iterator), writer.scope, writer.origin, writer.principal, now) for draft in drafts
        )
        tagged = map(_flagged, new_atoms)
        atoms = [_held(atom) if statements_wait(writer.origin) else atom for atom in tagged]
        verdicts = verdicts_on(atoms, store, now, writer.several)
        if compare:
            verdicts = Change((), (), {}, store, writer.scope, id_iterator, now).made_of(verdicts)
        return write(Words(), verdicts, writer, store, "remember", reason, key)

    return kept_anyway(store, classify_and_write)


def _segments(store: Store, scope: Scope, session_id: str) -> list[Atom]:
    """Return the stored segments of a session in the order of their numbers."""
    atoms = store.read(Filter(scopes=(scope,), session_id=session_id))
    return sorted(
        (segment for segment in atoms if segment.is_segment), key=lambda segment: (_number(segment), segment.id)
    )


def _open_segment(segments: Sequence[Atom], writer: Writer) -> tuple[Atom | None, int]:
    """Return the session's last segment if the writer may extend it, else None, and the number of the last segment.

    A segment holds the words of one origin and principal only.
    """
    if not segments:
        return None, 0
    spoken = [segment for segment in segments if segment.origin is not _PUT_OUT or writer.origin is _PUT_OUT]
    last = (spoken or segments)[-1]
    # Untrusted text is never appended to a segment that was confirmed in review.
    is_open = last.status is (Status.CONSTRAINED if words_wait(writer.origin, writer.through) else Status.ACTIVE)
    is_same_writer = (last.origin, last.principal) == (writer.origin, writer.principal)
    return last if is_open and is_same_writer else None, _number(segments[-1])


def _grown(
    pieces: Sequence[Piece], place: Place, open_segment: Atom | None, number: int, ids: Iterator[AtomId]
) -> list[Atom]:
    """Return the segments that hold the pieces.

    Output of a tool gets segments of its own, with the origin of a tool.
    """
    spoken = [piece for piece in pieces if not is_instrument(piece.speaker)]
    extended = extend(spoken, place, open_segment, number, ids)
    tool_output = [piece for piece in pieces if is_instrument(piece.speaker)]
    if not tool_output:
        return extended
    highest_number = max([number, *(_number(atom) for atom in extended)])
    return extended + extend(
        tool_output, replace(place, origin=bound(place.origin, _PUT_OUT)), None, highest_number, ids
    )


def _vouched(segment: Atom, writer: Writer) -> Atom:
    """Return a new segment as pending if its origin needs review (a tool, a web page, a file that an agent sends)."""
    return _held(segment) if not segment.revision and words_wait(segment.origin, writer.through) else segment


def _tagged(segment: Atom, tags: Sequence[str]) -> Atom:
    return segment.with_(tags=tuple(dict.fromkeys((*segment.tags, *tags)))) if tags else segment


def _flagged(atom: Atom) -> Atom:
    """Return the atom with a tag if its text contains invisible characters, so that readers are warned."""
    return _tagged(atom, (HIDDEN,)) if is_hidden(atom.content) else atom


def _held(atom: Atom) -> Atom:
    return atom.with_(status=Status.CONSTRAINED)


def _number(segment: Atom) -> int:
    tail = (segment.segment_id or "").rpartition("-")[2]
    return int(tail) if tail.isdecimal() else 0
