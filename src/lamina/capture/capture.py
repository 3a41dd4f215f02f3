"""The write path: `capture` stores text and extracts statements from it, `remember` writes statements as given."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from lamina.atom.atom import Atom, AtomId, IdSource
from lamina.atom.provenance import statements_need_review
from lamina.atom.status import Status
from lamina.capture.caller_input import Conversation, Draft
from lamina.capture.change.change_detection import TOPIC_KINDS, LoadStates, compare_declared, complete_verdicts
from lamina.capture.change.repetitions import drop_stored_pieces, filters_of_ended_statements
from lamina.capture.echo_filter import describe_removal
from lamina.capture.erased_text import remove_erased_sentences
from lamina.capture.extractors import CapturedTurn
from lamina.capture.pieces import TextPiece
from lamina.capture.queued_extraction import make_queue_entries, report_failed_extraction
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.segment import (
    SegmentTarget,
    extend_session,
    find_open_segment,
    sort_segments,
    tag_invisible_characters,
    turns_of,
)
from lamina.capture.statement_commit import (
    SegmentBatch,
    Writer,
    classify_statements,
    commit_verdicts,
    retry_exclusively,
    write_with_retries,
)
from lamina.capture.statement_extractor import StatementExtractor
from lamina.capture.statement_scores import SurpriseScorer
from lamina.capture.store_reads import StoreReads, WriteContext, new_ids
from lamina.errors import StoreError
from lamina.logs import summarise_error
from lamina.models.embedder import Embedder
from lamina.store.base import Store

logger = logging.getLogger("lamina")

TEXT_STAGE, TEXT_IS_STORED = "words", "kept"
"""The stage of a receipt for the text, and its only result: the text is stored verbatim."""
CONTEXT_STAGE = "context"
"""The stage that says how much recalled context, which an agent sent back, was left out."""
STATEMENTS_STAGE = "statements"
"""The stage that says what extracted the statements, or that they are still to be extracted."""


@dataclass(frozen=True, slots=True)
class _CaptureRequest:
    """A conversation to store: where, by whom, and whether its statements are extracted now or later."""

    conversation: Conversation
    target: SegmentTarget
    writer: Writer
    extractor: StatementExtractor
    extract_now: bool
    key: str | None
    verb: str


def capture(
    conversation: Conversation,
    writer: Writer,
    store: Store,
    ids: IdSource,
    now: datetime,
    segment_limit: int,
    idle_timeout: timedelta,
    extractor: StatementExtractor,
    key: str | None = None,
    *,
    extract_now: bool = True,
    verb: str = "capture",
) -> Receipt:
    """Store the text of a conversation in the session's segments and extract statements from it.

    The statements are extracted in the same commit, or queued for extraction if `extract_now` is false. If extraction
    fails, the text is committed without statements and queued, and the receipt and `doctor` say why; StoreError if the
    text cannot be stored. Sentences that were erased and pieces that the session already has are left out. A request
    whose idempotency `key` was used before writes nothing; its receipt names the atoms of the first commit.
    """
    target = SegmentTarget(
        scope=writer.scope,
        session_id=conversation.session_id,
        source_id=conversation.source_id,
        origin=writer.origin,
        principal=writer.principal,
        agents=conversation.agents,
        observed_at=conversation.observed_at,
        max_chars=segment_limit,
        idle_timeout=idle_timeout,
        delivered_by=writer.delivered_by,
        tags=conversation.tags,
    )
    request = _CaptureRequest(conversation, target, writer, extractor, extract_now, key, verb)

    def write(request: _CaptureRequest, *, detect_changes: bool) -> Receipt:
        """Make one attempt: it reads the store anew and ends with its one commit."""
        context = WriteContext(StoreReads(store), writer.scope, new_ids(ids, now), now)
        return _write_conversation(request, context, detect_changes=detect_changes)

    try:
        return write_with_retries(store, lambda detect_changes: write(request, detect_changes=detect_changes))
    except StoreError:
        raise
    except Exception as error:
        if not extract_now:
            raise
        words_only = replace(request, extract_now=False)
        receipt = retry_exclusively(store, lambda: write(words_only, detect_changes=False))
        return _report_failed_extraction(receipt, error, store)


def _report_failed_extraction(receipt: Receipt, error: Exception, store: Store) -> Receipt:
    """Return the receipt of a text that was stored without statements; `doctor` lists it until they are made."""
    cause = summarise_error(error)
    logger.error("stored words without their statements: %s", cause)
    for outcome in receipt.outcomes:
        report_failed_extraction(store, outcome.atom, cause, "the words are queued: `lamina jobs --now` tries again")
    stages = {**dict(receipt.stages), STATEMENTS_STAGE: f"not made, because {cause}; queued for extraction"}
    return replace(receipt, stages=tuple(stages.items()))


def _write_conversation(request: _CaptureRequest, context: WriteContext, *, detect_changes: bool) -> Receipt:
    """Leave out erased sentences and stored pieces, append the rest, extract or queue its statements, and commit all.

    `detect_changes`: compare the statements that are extracted now with the stored ones. It is false in the attempt
    after the store refused a change that was detected.
    """
    conversation = remove_erased_sentences(
        request.conversation, request.writer.origin, context.scope, context.reads, context.now
    )
    stored_segments = _read_session(request.target, context)
    pieces = _select_pieces_to_store(conversation.pieces, stored_segments, request.key, context)
    if not pieces and stored_segments:
        # All of them are stored already. Erasure drops no piece: an erased sentence is replaced by `[erased]`.
        outcome = Outcome(Result.DUPLICATE, stored_segments[-1], "these words were captured before")
        return _report_conversation(conversation, Receipt(commit=None, outcomes=(outcome,)))

    open_segment = find_open_segment(stored_segments, request.target)
    segments = extend_session(pieces, request.target, stored_segments, context.ids)
    earlier_turns = turns_of(open_segment) if open_segment else []
    new_turns = _find_new_turns(segments, earlier_turns)
    # New passages cannot be the evidence of a stored statement yet: this saves a query.
    context.reads.mark_not_stored(context.scope, [(AtomId(turn.segment), turn.n) for turn in new_turns])

    if request.extract_now:
        segments_by_id: dict[str, Atom] = {segment.id: segment for segment in segments}
        statement_batch = request.extractor.extract_new(new_turns, earlier_turns, segments_by_id, context)
        verdicts = request.extractor.decide_verdicts(
            statement_batch, new_turns, segments, context, detect_changes=detect_changes
        )
        segment_batch, extraction_summary = SegmentBatch(segments), statement_batch.summary
    else:
        urgency_patterns = request.extractor.urgency_patterns
        queue_entries = make_queue_entries(
            new_turns, context.scope, request.target.session_id, context.now, urgency_patterns
        )
        verdicts, segment_batch = [], SegmentBatch(segments, queue_entries)
        extraction_summary = "queued for extraction"

    reason = f"captured {request.target.session_id}"
    receipt = commit_verdicts(
        segment_batch, verdicts, request.writer, context.reads.store, request.verb, reason, request.key
    )
    return _report_conversation(conversation, receipt, (STATEMENTS_STAGE, extraction_summary))


def _report_conversation(conversation: Conversation, receipt: Receipt, *stages: tuple[str, str]) -> Receipt:
    """Return a receipt with the stages of storing a conversation and the secrets that were redacted from it."""
    removed_blocks = conversation.recalled_blocks
    removal = ((CONTEXT_STAGE, describe_removal(removed_blocks)),) if removed_blocks else ()
    all_stages = ((TEXT_STAGE, TEXT_IS_STORED), *removal, *stages)
    return replace(receipt, stages=all_stages, redacted=conversation.redacted_secrets)


def _read_session(target: SegmentTarget, context: WriteContext) -> list[Atom]:
    """Return the stored segments of the session, and prefetch the ended statements that change detection needs."""
    context.reads.prefetch(target.session_filter, *filters_of_ended_statements(context.scope))
    return sort_segments(context.reads.read(target.session_filter))


def _select_pieces_to_store(
    pieces: Sequence[TextPiece], stored_segments: Sequence[Atom], key: str | None, context: WriteContext
) -> Sequence[TextPiece]:
    """Return the pieces that the session does not have yet; all of them if the key was used before.

    All pieces are returned so that a repeated request reaches its commit, where the journal recognises the key and
    writes nothing. The statements that it extracts on the way are not committed; such requests are rare.
    """
    is_repeated_request = key is not None and bool(context.reads.store.journal.read([context.scope], key=key))
    return pieces if is_repeated_request else drop_stored_pieces(pieces, stored_segments)


def _find_new_turns(segments: Sequence[Atom], earlier_turns: Sequence[CapturedTurn]) -> list[CapturedTurn]:
    """Return the turns of the segments that are not among the earlier ones."""
    earlier = {(turn.segment, turn.n) for turn in earlier_turns}
    return [turn for segment in segments for turn in turns_of(segment) if (turn.segment, turn.n) not in earlier]


def remember(
    drafts: Sequence[Draft],
    writer: Writer,
    store: Store,
    ids: IdSource,
    now: datetime,
    reason: str,
    key: str | None = None,
    load_states: LoadStates = lambda: None,
    embedder: Embedder | None = None,
) -> Receipt:
    """Write explicit statements in one commit, each classified against the existing statements of its scope.

    With an `embedder`, each statement gets a surprise score, which adjusts its importance unless the draft sets one.
    """

    def write(detect_changes: bool) -> Receipt:
        context = WriteContext(StoreReads(store), writer.scope, new_ids(ids, now), now)
        scorer = SurpriseScorer(store, embedder, now)
        atoms = [_make_statement(draft, writer, context, scorer) for draft in drafts]
        verdicts = classify_statements(atoms, context.reads, now, writer.multi_valued)
        if detect_changes:
            verdicts = [
                compare_declared(verdict, context.reads, now, load_states)
                if verdict.atom.kind in TOPIC_KINDS
                else verdict
                for verdict in verdicts
            ]
            # The statements come with no conversation: there are no new turns, and no segments that hold them.
            verdicts = complete_verdicts(verdicts, turns=(), segments=(), context=context)
        return commit_verdicts(SegmentBatch(), verdicts, writer, store, "remember", reason, key)

    return write_with_retries(store, write)


def _make_statement(draft: Draft, writer: Writer, context: WriteContext, scorer: SurpriseScorer) -> Atom:
    """Return the atom of a draft with its surprise, pending if its origin needs review."""
    atom = draft.to_atom(next(context.ids), writer.scope, writer.origin, writer.principal, context.now)
    atom = scorer.apply(tag_invisible_characters(atom))
    if "importance" in draft.model_fields_set:
        atom = atom.with_(importance=draft.importance)
    return atom.with_(status=Status.CONSTRAINED) if statements_need_review(writer.origin) else atom
