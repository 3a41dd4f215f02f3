"""Captures words and extracts statements from them, now or later, in the name of one caller."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta

from lamina.atom.atom import Atom
from lamina.atom.provenance import Scope
from lamina.capture.box import seal_boxes
from lamina.capture.caller_input import Conversation
from lamina.capture.capture import capture
from lamina.capture.extractors import CapturedTurn
from lamina.capture.queued_extraction import (
    ExtractionPolicy,
    ExtractionSchedule,
    SessionLease,
    extract_due_sessions,
    extract_session,
)
from lamina.capture.receipt import Receipt, merge_receipts
from lamina.capture.statement_commit import Writer
from lamina.capture.statement_extractor import StatementBatch, StatementExtractor
from lamina.capture.store_reads import WriteContext, new_ids
from lamina.dream.entity_pages import find_names, update_pages
from lamina.engine.caller_access import CallerAccess
from lamina.sync import Progress


class WithoutExtraction(StatementExtractor):
    """Extracts no statements, so that what was decided about them in the other memory is not reversed."""

    def extract(
        self,
        turns: Sequence[CapturedTurn],
        before: Sequence[CapturedTurn],
        segments: Mapping[str, Atom],
        context: WriteContext,
    ) -> StatementBatch:
        """Return no statements."""
        return StatementBatch([], "the memory they come from")


def without_extraction(extractor: StatementExtractor) -> StatementExtractor:
    """Return an extractor with the same parts that extracts nothing."""
    return WithoutExtraction(
        extractor=extractor.extractor,
        urgency_patterns=extractor.urgency_patterns,
        embedder=extractor.embedder,
        multi_valued=extractor.multi_valued,
        state_reader=extractor.state_reader,
    )


SEAL_INTERVAL = timedelta(minutes=1)
"""Time between two searches for boxes that can be sealed; each reads the newest statements."""


class SessionReading:
    """The write path of one caller: words into segments, segments into statements, statements into boxes."""

    def __init__(self, access: CallerAccess) -> None:
        self._access = access
        self._sealed_at: datetime | None = None

    @property
    def is_instant(self) -> bool:
        """Return whether extraction is so fast that no one needs to wait for it."""
        return self._extractor.is_instant

    def capture(self, conversation: Conversation, writer: Writer, key: str | None, *, wait: bool) -> Receipt:
        """Store words and extract statements from them: now with `wait` or if no worker does it, otherwise later."""
        extract_now = wait or not self._access.engine.effects.reads_in_background
        if extract_now and not self.is_instant:
            with self._lease_session(writer.scope, conversation.session_id) as lease:
                receipt = self._store(conversation, writer, key, self._extractor, extract_now=False)
                receipt = merge_receipts(receipt, self._extract_session(writer.scope, conversation.session_id, lease))
        else:
            receipt = self._store(conversation, writer, key, self._extractor, extract_now=extract_now)
        if extract_now:
            self.seal_boxes()
        return self._access.publish(receipt) if extract_now else self._access.publish_later(receipt)

    def store_imported(self, conversation: Conversation, writer: Writer, key: str, verb: str) -> Receipt:
        """Store imported words, and extract statements from them now if that is fast, otherwise later."""
        return self._store(conversation, writer, key, self._extractor, extract_now=self.is_instant, verb=verb)

    def store_only(self, conversation: Conversation, writer: Writer, key: str, verb: str) -> Receipt:
        """Store imported words whose statements are imported with them: nothing is extracted."""
        return self._store(conversation, writer, key, without_extraction(self._extractor), extract_now=True, verb=verb)

    def _store(
        self,
        conversation: Conversation,
        writer: Writer,
        key: str | None,
        extractor: StatementExtractor,
        *,
        extract_now: bool,
        verb: str = "capture",
    ) -> Receipt:
        engine = self._access.engine
        return capture(
            conversation,
            writer,
            engine.store,
            engine.ids,
            self._access.now(),
            engine.settings.segment_chars,
            timedelta(minutes=engine.settings.idle_minutes),
            extractor,
            key,
            extract_now=extract_now,
            verb=verb,
        )

    def read_queues(self, scopes: Sequence[Scope], progress: Progress | None = None) -> list[Receipt]:
        """Extract statements from everything that is queued in these scopes, and publish them."""
        queues = [queue for queue in self._access.engine.store.queue.list_backlogs() if queue.scope in scopes]
        receipts: list[Receipt] = []
        for n, queue in enumerate(queues):
            if progress:
                progress("reading", n, len(queues))
            with self._lease_session(queue.scope, queue.session_id) as lease:
                receipts += self._extract_session(queue.scope, queue.session_id, lease)
        self._update_pages(self._seal_boxes())
        self._access.flush()
        return [self._access.publish(receipt) for receipt in receipts]

    def read_due(self, stop: Callable[[], bool]) -> None:
        """Extract statements from what is due by the settings, in any scope, and seal finished boxes."""
        engine = self._access.engine
        settings, now = engine.settings, engine.clock.now
        policy = ExtractionPolicy(
            ExtractionSchedule(settings.rhythm), settings.batch_turns, timedelta(minutes=settings.batch_minutes)
        )
        extract_due_sessions(engine.store, self._extractor, policy, self._access.caller.actor, engine.ids, now, stop)
        if self._is_sealing_due():
            self._update_pages(self._seal_boxes())

    def seal_boxes(self) -> None:
        """Seal finished boxes, at most once a minute; the pages of entities are left to dreams."""
        if self._is_sealing_due():
            self._seal_boxes()

    def count_queued(self) -> int:
        """Return the number of passages that are queued in the caller's scopes."""
        backlogs, scopes = self._access.engine.store.queue.list_backlogs(), self._access.caller.scopes
        return sum(queue.passage_count for queue in backlogs if queue.scope in scopes)

    @property
    def _extractor(self) -> StatementExtractor:
        return self._access.engine.models.statement_extractor

    def _lease_session(self, scope: Scope, session_id: str) -> AbstractContextManager[SessionLease | None]:
        engine = self._access.engine
        return engine.effects.lease_session(
            SessionLease(engine.store.queue, scope, session_id, is_instant=self._extractor.is_instant)
        )

    def _extract_session(self, scope: Scope, session_id: str, lease: SessionLease | None) -> list[Receipt]:
        engine, actor = self._access.engine, self._access.caller.actor
        return extract_session(
            engine.store, self._extractor, scope, session_id, actor, engine.ids, engine.clock.now, lease
        )

    def _is_sealing_due(self) -> bool:
        return self._sealed_at is None or abs(self._access.engine.clock.now() - self._sealed_at) >= SEAL_INTERVAL

    def _seal_boxes(self) -> dict[Scope, dict[str, str]]:
        """Seal finished boxes; return the names of the entities in them, by scope."""
        engine = self._access.engine
        now = self._sealed_at = engine.clock.now()
        return {scope: find_names(seal_boxes(engine.store, scope, now)) for scope in self._access.caller.scopes}

    def _update_pages(self, names_by_scope: Mapping[Scope, dict[str, str]]) -> None:
        engine, now = self._access.engine, self._access.now()
        for scope, names in names_by_scope.items():
            update_pages(engine.store, scope, names, new_ids(engine.ids, now), now)
