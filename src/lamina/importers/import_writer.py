"""Run an import: every step of a plan is one commit with its idempotency key, so an import can be interrupted and
repeated.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from typing import TypeAlias

from lamina.atom.atom import AtomId, IdSource, is_atom_id
from lamina.atom.passage import passages_of
from lamina.atom.provenance import Origin, readable_scopes
from lamina.atom.sentence_erasure import ERASED_MARK
from lamina.capture.caller_input import Conversation, parse_conversation
from lamina.capture.erased_text import remove_erased_sentences
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.redact import redact
from lamina.capture.statement_commit import Writer
from lamina.capture.store_reads import StoreReads
from lamina.errors import InvalidInput
from lamina.importers.evidence_quotes import QuoteLocator
from lamina.importers.import_items import (
    ImportedBox,
    ImportedConversation,
    ImportedDocument,
    ImportedFact,
    ImportedLinks,
    ImportProblem,
    SkippedItem,
)
from lamina.importers.import_plan import IMPORTED_BEFORE, ImportPlan
from lamina.importers.imported_facts import ForeignSuccessions, write_fact
from lamina.importers.imported_links_and_boxes import write_box, write_links
from lamina.store.base import AtomFilter, Store, TransactionMode
from lamina.text.normal_form import normal_form

Progress: TypeAlias = Callable[[str, int, int], None]

MAX_LISTED = 500
"""At most this many held statements are listed in a report, the most important ones; all of them are counted."""
MAX_PROBLEMS = 1000
FACT_BATCH_SIZE = 50
"""Facts of another memory that are written in one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """Counts of what an import stored. `top_held` are the most important of the statements that are pending review.

    `results` has the number of statements with each result, `left_out` that of the fields that were not imported.
    """

    source: str = ""
    conversations: int = 0
    documents: int = 0
    facts: int = 0
    boxes: int = 0
    links: int = 0
    turns: int = 0
    statements: int = 0
    duplicates: int = 0
    held_count: int = 0
    skipped: tuple[tuple[str, int], ...] = ()
    problems: tuple[ImportProblem, ...] = ()
    problem_count: int = 0
    top_held: tuple[Outcome, ...] = ()
    results: tuple[tuple[str, int], ...] = ()
    left_out: tuple[tuple[str, int], ...] = ()
    redacted: tuple[tuple[str, int], ...] = ()

    @property
    def secret_count(self) -> int:
        """Return how many secrets were redacted."""
        return sum(number for _, number in self.redacted)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportTarget:
    """The target of an import: the store, who writes for which origin, and how to capture words with or without
    extraction.
    """

    store: Store
    ids: IdSource
    now: Callable[[], datetime]
    writer: Callable[[Origin], Writer]
    capture: Callable[[Conversation, Writer, str, bool], Receipt]
    publish: Callable[[Receipt], Receipt]
    agents: tuple[str, ...] = ()
    personal: bool = False

    def is_imported(self, key: str) -> bool:
        """Return whether the item with this idempotency key was imported before."""
        return bool(self.store.journal.read([self.writer(Origin.IMPORT).scope], key=key))

    def known_passages(self, atom_id: str) -> set[int]:
        """Return the numbers of an atom's passages that this vault has, for words that return to the vault they were
        exported from.
        """
        if not is_atom_id(atom_id):
            return set()
        scopes = readable_scopes(self.writer(Origin.IMPORT).scope)
        atoms = self.store.atoms.read(AtomFilter(scopes=scopes, ids=(AtomId(atom_id),)))
        return {passage.n for atom in atoms for passage in passages_of(atom)}


def run_import(
    plan: ImportPlan, target: ImportTarget, progress: Progress | None = None, tally: ImportTally | None = None
) -> ImportReport:
    """Import every step of a plan: capture words, hold facts for review, report what cannot be read."""
    tally = tally or ImportTally()
    facts = _FactBatch(target)
    for n, step in enumerate(plan.steps(target.is_imported)):
        if progress:
            progress("importing", n, plan.total)
        if isinstance(step, ImportedFact):
            facts.add(step, tally)
            continue
        facts.flush(tally)
        if isinstance(step, ImportedBox | ImportedLinks):
            facts.write_structure(step, tally)
        else:
            _import_step(step, target, tally)
    facts.flush(tally)
    if progress:
        progress("importing", plan.total, plan.total)
    return tally.report(plan.importer.name)


def build_conversation(item: ImportedConversation | ImportedDocument, target: ImportTarget) -> Conversation:
    """Return the redacted conversation of an item; a piece without a context gets the title as its context."""
    pieces = [replace(piece, context=piece.context or item.title) for piece in item.pieces]
    tags = item.tags if isinstance(item, ImportedDocument) else ()
    return parse_conversation(
        pieces,
        item.session_id,
        item.source_id,
        item.observed_at or target.now(),
        target.agents,
        tags=tags,
        redact_personal=target.personal,
    )


def count_secrets_in_text(
    item: ImportedConversation | ImportedDocument, conversation: Conversation, *, personal: bool = False
) -> int:
    """Return how many secrets were redacted in the text itself, not in its title, tags or ids."""
    if not conversation.redacted_secrets:
        return 0
    tags = item.tags if isinstance(item, ImportedDocument) else ()
    named = sum(len(redact(text).secrets) for text in (item.session_id, item.source_id))
    named += sum(len(redact(text, personal=personal).secrets) for text in {item.title, *tags})
    return max(0, len(conversation.redacted_secrets) - named)


def _import_step(
    step: ImportedConversation | ImportedDocument | ImportProblem | SkippedItem,
    target: ImportTarget,
    tally: ImportTally,
) -> None:
    match step:
        case ImportProblem():
            tally.add_problem(step)
        case SkippedItem():
            tally.add_skipped(step)
        case ImportedConversation() | ImportedDocument():
            item = _without_known_passages(step, target)
            if not item.pieces:
                tally.add_skipped(SkippedItem(step.path, "already in this vault"))
                return
            words, writer = build_conversation(item, target), target.writer(item.origin)
            if _is_erased(words, writer, target):
                tally.add_skipped(SkippedItem(step.path, "erased from this vault"))
                return
            tally.secrets_in_text += count_secrets_in_text(item, words, personal=target.personal)
            is_read = isinstance(item, ImportedConversation) and item.has_statements
            tally.add_words(item, words, target.capture(words, writer, item.key, is_read))


def _is_erased(conversation: Conversation, writer: Writer, target: ImportTarget) -> bool:
    """Return whether only erased text is left of a conversation."""
    remaining = remove_erased_sentences(
        conversation, writer.origin, writer.scope, StoreReads(target.store), target.now()
    )
    return remaining != conversation and not any(
        normal_form(piece.text.replace(ERASED_MARK, " ")) for piece in remaining.pieces
    )


def _without_known_passages(
    item: ImportedConversation | ImportedDocument, target: ImportTarget
) -> ImportedConversation | ImportedDocument:
    """Return the item without the passages that this vault already has, unchanged or edited."""
    known_numbers = target.known_passages(item.foreign_id) if isinstance(item, ImportedConversation) else set[int]()
    return item.without_passages(known_numbers) if known_numbers and isinstance(item, ImportedConversation) else item


class _FactBatch:
    """Facts that are written in batches: each fact is one commit, a batch is one transaction."""

    def __init__(self, target: ImportTarget) -> None:
        self._target = target
        self._pending: list[ImportedFact] = []
        self._successions: ForeignSuccessions | None = None

    def add(self, fact: ImportedFact, tally: ImportTally) -> None:
        self._pending.append(fact)
        if len(self._pending) >= FACT_BATCH_SIZE:
            self.flush(tally)

    def flush(self, tally: ImportTally) -> None:
        if not self._pending:
            return
        target = self._target
        with target.store.transaction(TransactionMode.WRITE):
            quoted = QuoteLocator(target.store, target.writer(Origin.IMPORT).scope, personal=target.personal)
            written = [self._write(fact, quoted, tally) for fact in self._pending]
        self._pending.clear()
        receipts = [receipt for receipt in written if receipt is not None]
        outcomes = tuple(outcome for receipt in receipts for outcome in receipt.outcomes)
        tally.add_facts(receipts, self._target.publish(Receipt(None, outcomes)).outcomes)

    def write_structure(self, item: ImportedBox | ImportedLinks, tally: ImportTally) -> None:
        """Write a box, or the links between facts, after the facts themselves."""
        target, writer = self._target, self._target.writer(Origin.IMPORT)
        self._successions = self._successions or ForeignSuccessions(target.store, writer.scope)
        find = self._successions.find_successor
        with target.store.transaction(TransactionMode.WRITE):
            if isinstance(item, ImportedBox):
                box, missing = write_box(item, writer, target.store, target.ids, target.now(), find)
                tally.add_box(box is not None, missing, item.path)
            else:
                tally.add_links(*write_links(item, writer, target.store, find))
        self._target.publish(Receipt(None, ()))

    def _write(self, fact: ImportedFact, quote_locator: QuoteLocator, tally: ImportTally) -> Receipt | None:
        target, writer = self._target, self._target.writer(fact.origin)
        self._successions = self._successions or ForeignSuccessions(target.store, writer.scope)
        tally.add_left_out(fact.left_out)
        try:
            return write_fact(
                fact, writer, target.store, target.ids, target.now(), self._successions, quote_locator, target.personal
            )
        except InvalidInput as error:
            tally.add_problem(ImportProblem(fact.path, str(error)))
            return None


class ImportTally:
    """Counts of what was imported so far. Its size does not grow with the import."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        """By the name of their field in the report."""
        self._refused = 0
        self._skipped: Counter[str] = Counter()
        self._redacted: Counter[str] = Counter()
        self._results: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self._problems: list[ImportProblem] = []
        self._top_held: list[tuple[float, int, Outcome]] = []
        self._order = count()
        self.secrets_in_text = 0

    def add_words(
        self, item: ImportedConversation | ImportedDocument, conversation: Conversation, receipt: Receipt
    ) -> None:
        self._counts["conversations" if isinstance(item, ImportedConversation) else "documents"] += 1
        self._counts["turns"] += len(conversation.pieces)
        self._redacted.update(conversation.redacted_secrets)
        self.add_outcomes(receipt.outcomes)

    def add_facts(self, receipts: Sequence[Receipt], outcomes: Sequence[Outcome]) -> None:
        self._counts["facts"] += len(receipts)
        for receipt in receipts:
            self._redacted.update(receipt.redacted)
        self.add_outcomes(outcomes)

    def add_outcomes(self, outcomes: Sequence[Outcome]) -> None:
        """Count outcomes by result, and keep the most important of those held for review."""
        for outcome in outcomes:
            if outcome.result is Result.KEPT:
                continue
            self._results[outcome.result.value] += 1
            if outcome.result is Result.REFUSED:
                self._refused += 1
                continue
            self._counts["duplicates" if outcome.result is Result.DUPLICATE else "statements"] += 1
            # A note of a run is not reviewed: only its run reads it, until it is closed.
            if outcome.result is Result.HELD and outcome.atom.is_searched:
                self._counts["held_count"] += 1
                place = outcome.atom.importance, -next(self._order), outcome
                (heapq.heappush if len(self._top_held) < MAX_LISTED else heapq.heappushpop)(self._top_held, place)

    def add_box(self, is_written: bool, missing: int, path: str) -> None:
        """Count a box, or skip it if none of its members was imported."""
        if is_written:
            self._counts["boxes"] += 1
        else:
            self.add_skipped(SkippedItem(path, "a box of memories that were not imported"))
        self._left_out["member of a box that was not imported"] += missing

    def add_links(self, count: int, missing: int) -> None:
        """Count links, and those with an end that was not imported."""
        self._counts["links"] += count
        self._left_out["link to a memory that was not imported"] += missing

    def add_problem(self, problem: ImportProblem) -> None:
        self._counts["problem_count"] += 1
        if len(self._problems) < MAX_PROBLEMS:
            self._problems.append(ImportProblem(redact(problem.path).text, redact(problem.reason).text))

    def add_skipped(self, skipped: SkippedItem) -> None:
        self._skipped[skipped.reason] += 1

    def add_left_out(self, names: Sequence[str]) -> None:
        """Count fields of a fact that are not imported."""
        self._left_out.update(names)

    @property
    def known_count(self) -> int:
        """Return how many steps had been imported before."""
        return self._skipped[IMPORTED_BEFORE]

    def report(self, source: str) -> ImportReport:
        """Return the report of everything so far, the most important statement first."""
        skipped = self._skipped + Counter({"retracted or erased before": self._refused})
        most_important = sorted(self._top_held, key=lambda entry: entry[:2], reverse=True)
        return ImportReport(
            source=source,
            skipped=tuple(sorted(skipped.items())),
            problems=tuple(self._problems),
            top_held=tuple(outcome for _, _, outcome in most_important),
            redacted=tuple(sorted(self._redacted.items())),
            results=tuple(sorted(self._results.items())),
            left_out=tuple(sorted((+self._left_out).items())),
            **self._counts,
        )
