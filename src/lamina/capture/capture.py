"""The write path: `capture` stores text and extracts statements from it, `remember` writes statements as given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId, IdSource
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.atom.trust import Origin, limit_origin, statements_need_review, words_need_review
from lamina.capture.change.change_detector import ChangeDetector
from lamina.capture.change.replay import drop_stored_pieces
from lamina.capture.conversation import Conversation
from lamina.capture.draft import Draft
from lamina.capture.erased_text import remove_erased_sentences
from lamina.capture.extraction_queue import StatementReader, make_queue_entries, split_new_turns
from lamina.capture.pieces import TextPiece
from lamina.capture.recalled_context import describe_removal
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.segment import SegmentTarget, extend_segments
from lamina.capture.statement_commit import (
    SegmentBatch,
    Writer,
    classify_statements,
    commit_verdicts,
    new_ids,
    retry_without_changes,
)
from lamina.store.base import AtomFilter, Store
from lamina.text.hidden_characters import HIDDEN_TEXT_TAG, has_hidden_text
from lamina.text.speaker_roles import is_tool

_TOOL_OUTPUT_ORIGIN = Origin.TOOL
"""The origin of text that a tool put into a transcript."""


def capture(
    conversation: Conversation,
    writer: Writer,
    store: Store,
    ids: IdSource,
    now: datetime,
    segment_limit: int,
    idle_timeout: timedelta,
    reader: StatementReader,
    key: str | None = None,
    *,
    read_now: bool = True,
    verb: str = "capture",
) -> Receipt:
    """Store the text of a conversation in the session's segments and extract statements from it.

    The statements are extracted in the same commit, or queued for extraction if `read_now` is false. Sentences that
    were erased and pieces that the session already has are left out. A request with a known idempotency `key` changes
    nothing.
    """

    conversation = remove_erased_sentences(conversation, writer.origin, writer.scope, store, now)

    def store_and_read(compare: bool) -> Receipt:
        id_iterator = new_ids(ids, now)
        target = SegmentTarget(
            writer.scope,
            conversation.session_id,
            conversation.source_id,
            writer.origin,
            writer.principal,
            conversation.agents,
            conversation.observed_at,
            segment_limit,
            idle_timeout,
        )
        stored_segments = _read_segments(store, writer.scope, conversation.session_id)
        is_repeated_request = key is not None and store.has_key(writer.scope, key)
        pieces = (
            list(conversation.pieces)
            if is_repeated_request
            else drop_stored_pieces(conversation.pieces, stored_segments)
        )
        if not pieces and stored_segments:
            return Receipt(None, (Outcome(Result.DUPLICATE, stored_segments[-1], "these words were captured before"),))
        open_segment, number = _open_segment(stored_segments, writer)
        extended = _extend_session(pieces, target, open_segment, number, id_iterator)
        segments = [_tag_hidden_text(_add_tags(_hold_untrusted(atom, writer), conversation.tags)) for atom in extended]
        before, turns = split_new_turns(segments, open_segment)
        reason = f"captured {conversation.session_id}"
        if read_now:
            by_id: dict[str, Atom] = {segment.id: segment for segment in segments}
            batch = reader.read(turns, before, by_id, writer.scope, store, id_iterator, now)
            verdicts = reader.decide(batch, turns, segments, writer.scope, store, id_iterator, now, compare=compare)
            receipt = commit_verdicts(SegmentBatch(segments), verdicts, writer, store, verb, reason, key)
        else:
            segment_batch = SegmentBatch(
                segments, make_queue_entries(turns, writer.scope, conversation.session_id, now, reader.patterns)
            )
            receipt = commit_verdicts(segment_batch, (), writer, store, verb, reason, key)
        statement_stage = batch.summary if read_now else "queued for extraction"
        context = (("context", describe_removal(conversation.recalled_blocks)),) if conversation.recalled_blocks else ()
        return replace(
            receipt,
            stages=(("words", "kept"), *context, ("statements", statement_stage)),
            redacted=conversation.redacted_secrets,
        )

    return retry_without_changes(store, store_and_read)


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
        id_iterator = new_ids(ids, now)
        new_atoms = (
            draft.to_atom(next(id_iterator), writer.scope, writer.origin, writer.principal, now) for draft in drafts
        )
        tagged = map(_tag_hidden_text, new_atoms)
        atoms = [_as_pending(atom) if statements_need_review(writer.origin) else atom for atom in tagged]
        verdicts = classify_statements(atoms, store, now, writer.multi_valued)
        if compare:
            verdicts = ChangeDetector((), (), {}, store, writer.scope, id_iterator, now).complete_verdicts(verdicts)
        return commit_verdicts(SegmentBatch(), verdicts, writer, store, "remember", reason, key)

    return retry_without_changes(store, classify_and_write)


def _read_segments(store: Store, scope: Scope, session_id: str) -> list[Atom]:
    """Return the stored segments of a session in the order of their numbers."""
    atoms = store.read(AtomFilter(scopes=(scope,), session_id=session_id))
    return sorted(
        (segment for segment in atoms if segment.is_segment), key=lambda segment: (_segment_number(segment), segment.id)
    )


def _open_segment(segments: Sequence[Atom], writer: Writer) -> tuple[Atom | None, int]:
    """Return the session's last segment if the writer may extend it, else None, and the number of the last segment.

    A segment holds the words of one origin and principal only.
    """
    if not segments:
        return None, 0
    spoken = [
        segment
        for segment in segments
        if segment.origin is not _TOOL_OUTPUT_ORIGIN or writer.origin is _TOOL_OUTPUT_ORIGIN
    ]
    last = (spoken or segments)[-1]
    # Untrusted text is never appended to a segment that was confirmed in review.
    is_open = last.status is (
        Status.CONSTRAINED if words_need_review(writer.origin, writer.delivered_by) else Status.ACTIVE
    )
    is_same_writer = (last.origin, last.principal) == (writer.origin, writer.principal)
    return last if is_open and is_same_writer else None, _segment_number(segments[-1])


def _extend_session(
    pieces: Sequence[TextPiece],
    target: SegmentTarget,
    open_segment: Atom | None,
    last_number: int,
    ids: Iterator[AtomId],
) -> list[Atom]:
    """Return the segments that hold the pieces.

    Output of a tool gets segments of its own, with the origin of a tool.
    """
    spoken = [piece for piece in pieces if not is_tool(piece.speaker)]
    extended = extend_segments(spoken, target, open_segment, last_number, ids)
    tool_output = [piece for piece in pieces if is_tool(piece.speaker)]
    if not tool_output:
        return extended
    highest_number = max([last_number, *(_segment_number(atom) for atom in extended)])
    return extended + extend_segments(
        tool_output, replace(target, origin=limit_origin(target.origin, _TOOL_OUTPUT_ORIGIN)), None, highest_number, ids
    )


def _hold_untrusted(segment: Atom, writer: Writer) -> Atom:
    """Return a new segment as pending if its origin needs review (a tool, a web page, a file that an agent sends)."""
    return (
        _as_pending(segment)
        if not segment.revision and words_need_review(segment.origin, writer.delivered_by)
        else segment
    )


def _add_tags(segment: Atom, tags: Sequence[str]) -> Atom:
    return segment.with_(tags=tuple(dict.fromkeys((*segment.tags, *tags)))) if tags else segment


def _tag_hidden_text(atom: Atom) -> Atom:
    """Return the atom with a tag if its text contains invisible characters, so that readers are warned."""
    return _add_tags(atom, (HIDDEN_TEXT_TAG,)) if has_hidden_text(atom.content) else atom


def _as_pending(atom: Atom) -> Atom:
    return atom.with_(status=Status.CONSTRAINED)


def _segment_number(segment: Atom) -> int:
    tail = (segment.segment_id or "").rpartition("-")[2]
    return int(tail) if tail.isdecimal() else 0
