"""Run an import: every step of a plan is one commit with its idempotency key, so an import can be interrupted and
repeated.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from typing import TypeAlias

from lamina.atom.identity import AtomId, IdSource, is_atom_id
from lamina.atom.passage import passages_of
from lamina.atom.scope import visible_from
from lamina.atom.strike import ERASED
from lamina.atom.trust import Origin
from lamina.capture.conversation import Conversation, conversation
from lamina.capture.erased import without_erased
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.redact import redact
from lamina.capture.write import Writer
from lamina.errors import InvalidInput
from lamina.importers.history import Successions, write_fact
from lamina.importers.item import ImportedConversation, ImportedDocument, ImportedFact, Problem, Skipped
from lamina.importers.plan import BEFORE, ImportPlan
from lamina.importers.quotes import Quoted
from lamina.store.base import Filter, Store
from lamina.text.normal import normal_form

Progress: TypeAlias = Callable[[str, int, int], None]

MOST_LEARNT = 500
"""At most this many held statements are listed in a report, the most important ones; all of them are counted."""
MOST_PROBLEMS = 1000
FACTS_AT_ONCE = 50
"""Facts of another memory that are written in one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """Counts of what an import stored. `top_held` are the most important of the statements that are pending review."""

    source: str = ""
    conversations: int = 0
    documents: int = 0
    facts: int = 0
    turns: int = 0
    statements: int = 0
    duplicates: int = 0
    held: int = 0
    skipped: tuple[tuple[str, int], ...] = ()
    problems: tuple[Problem, ...] = ()
    problem_count: int = 0
    learnt: tuple[Outcome, ...] = ()
    redacted: tuple[tuple[str, int], ...] = ()

    @property
    def secrets(self) -> int:
        """Return how many secrets were redacted."""
        return sum(number for _, number in self.redacted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Where an import is written: the store, who writes for which origin, and how to capture words with or without
    extraction.
    """

    store: Store
    ids: IdSource
    now: Callable[[], datetime]
    writer: Callable[[Origin], Writer]
    keep: Callable[[Conversation, Writer, str, bool], Receipt]
    published: Callable[[Receipt], Receipt]
    agents: tuple[str, ...] = ()
    personal: bool = False

    def knows(self, key: str) -> bool:
        """Return whether the item with this idempotency key was imported before."""
        return self.store.has_key(self.writer(Origin.IMPORT).scope, key)

    def places(self, atom_id: str) -> set[int]:
        """Return the numbers of an atom's passages that this vault has, for words that return to the vault they were
        exported from.
        """
        if not is_atom_id(atom_id):
            return set()
        scopes = visible_from(self.writer(Origin.IMPORT).scope)
        atoms = self.store.read(Filter(scopes=scopes, ids=(AtomId(atom_id),)))
        return {passage.n for atom in atoms for passage in passages_of(atom)}


def bring(plan: ImportPlan, desk: Desk, progress: Progress | None = None, tally: Tally | None = None) -> Imported:
    """Import every step of a plan: capture words, hold facts for review, report what cannot be read."""
    tally = tally or Tally()
    facts = _Facts(desk)
    for n, step in enumerate(plan.steps(desk.knows)):
        if progress:
            progress("importing", n, plan.total)
        if isinstance(step, ImportedFact):
            facts.take(step, tally)
            continue
        facts.flush(tally)
        _bring_one(step, desk, tally)
    facts.flush(tally)
    if progress:
        progress("importing", plan.total, plan.total)
    return tally.told(plan.importer.name)


def said_in(item: ImportedConversation | ImportedDocument, desk: Desk) -> Conversation:
    """Return the redacted conversation of an item; a piece without a context gets the title as its context."""
    pieces = [replace(piece, context=piece.context or item.title) for piece in item.pieces]
    tags = item.tags if isinstance(item, ImportedDocument) else ()
    return conversation(
        pieces,
        item.session_id,
        item.source_id,
        item.observed_at or desk.now(),
        desk.agents,
        tags=tags,
        personal=desk.personal,
    )


def secrets_in_words(
    item: ImportedConversation | ImportedDocument, said: Conversation, *, personal: bool = False
) -> int:
    """Return how many secrets were redacted in the text itself, not in its title, tags or ids."""
    if not said.redacted:
        return 0
    tags = item.tags if isinstance(item, ImportedDocument) else ()
    named = sum(len(redact(text).found) for text in (item.session_id, item.source_id))
    named += sum(len(redact(text, personal=personal).found) for text in {item.title, *tags})
    return max(0, len(said.redacted) - named)


def _bring_one(step: ImportedConversation | ImportedDocument | Problem | Skipped, desk: Desk, tally: Tally) -> None:
    match step:
        case Problem():
            tally.problem(step)
        case Skipped():
            tally.skip(step)
        case ImportedConversation() | ImportedDocument():
            item = _not_here(step, desk)
            if not item.pieces:
                tally.skip(Skipped(step.path, "already in this vault"))
                return
            words, writer = said_in(item, desk), desk.writer(item.origin)
            if _is_erased(words, writer, desk):
                tally.skip(Skipped(step.path, "erased from this vault"))
                return
            tally.secrets_in_words += secrets_in_words(item, words, personal=desk.personal)
            is_read = isinstance(item, ImportedConversation) and item.is_read
            tally.words(item, words, desk.keep(words, writer, item.key, is_read))


def _is_erased(said: Conversation, writer: Writer, desk: Desk) -> bool:
    """Return whether only erased text is left of a conversation."""
    remaining = without_erased(said, writer.origin, writer.scope, desk.store, desk.now())
    return remaining != said and not any(normal_form(piece.text.replace(ERASED, " ")) for piece in remaining.pieces)


def _not_here(item: ImportedConversation | ImportedDocument, desk: Desk) -> ImportedConversation | ImportedDocument:
    """Return the item without the passages that this vault already has, unchanged or edited."""
    known_numbers = desk.places(item.foreign_id) if isinstance(item, ImportedConversation) else set[int]()
    return item.without(known_numbers) if known_numbers and isinstance(item, ImportedConversation) else item


class _Facts:
    """Facts that are written in batches: each fact is one commit, a batch is one transaction."""

    def __init__(self, desk: Desk) -> None:
        self._target = desk
        self._pending: list[ImportedFact] = []
        self._successions: Successions | None = None

    def take(self, fact: ImportedFact, tally: Tally) -> None:
        self._pending.append(fact)
        if len(self._pending) >= FACTS_AT_ONCE:
            self.flush(tally)

    def flush(self, tally: Tally) -> None:
        if not self._pending:
            return
        target = self._target
        with target.store.alone():
            quoted = Quoted(target.store, target.writer(Origin.IMPORT).scope, personal=target.personal)
            written = [self._written(fact, quoted, tally) for fact in self._pending]
        self._pending.clear()
        receipts = [receipt for receipt in written if receipt is not None]
        outcomes = tuple(outcome for receipt in receipts for outcome in receipt.outcomes)
        tally.facts(receipts, self._target.published(Receipt(None, outcomes)).outcomes)

    def _written(self, fact: ImportedFact, quoted: Quoted, tally: Tally) -> Receipt | None:
        target, writer = self._target, self._target.writer(fact.origin)
        self._successions = self._successions or Successions(target.store, writer.scope)
        try:
            return write_fact(
                fact, writer, target.store, target.ids, target.now(), self._successions, quoted, target.personal
            )
        except InvalidInput as error:
            tally.problem(Problem(fact.path, str(error)))
            return None


class Tally:
    """Counts of what was imported so far. Its size does not grow with the import."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._redacted: Counter[str] = Counter()
        self._problems: list[Problem] = []
        self._top_held: list[tuple[float, int, Outcome]] = []
        self._order = count()
        self.secrets_in_words = 0

    def words(self, item: ImportedConversation | ImportedDocument, said: Conversation, receipt: Receipt) -> None:
        self._counts["conversations" if isinstance(item, ImportedConversation) else "documents"] += 1
        self._counts["turns"] += len(said.pieces)
        self._redacted.update(said.redacted)
        self.statements(receipt.outcomes)

    def facts(self, receipts: Sequence[Receipt], outcomes: Sequence[Outcome]) -> None:
        self._counts["facts"] += len(receipts)
        for receipt in receipts:
            self._redacted.update(receipt.redacted)
        self.statements(outcomes)

    def statements(self, outcomes: Sequence[Outcome]) -> None:
        """Count outcomes by result, and keep the most important of those held for review."""
        for outcome in outcomes:
            if outcome.result is Result.KEPT:
                continue
            counted = {Result.DUPLICATE: "duplicates", Result.REFUSED: "refused"}.get(outcome.result, "statements")
            self._counts[counted] += 1
            if outcome.result is Result.HELD:
                self._counts["held"] += 1
                place = outcome.atom.importance, -next(self._order), outcome
                (heapq.heappush if len(self._top_held) < MOST_LEARNT else heapq.heappushpop)(self._top_held, place)

    def problem(self, problem: Problem) -> None:
        self._counts["problems"] += 1
        if len(self._problems) < MOST_PROBLEMS:
            self._problems.append(Problem(redact(problem.path).text, redact(problem.reason).text))

    def skip(self, skipped: Skipped) -> None:
        self._skipped[skipped.reason] += 1

    @property
    def known(self) -> int:
        """Return how many steps had been imported before."""
        return self._skipped[BEFORE]

    def told(self, source: str) -> Imported:
        """Return the report of everything so far, the most important statement first."""
        skipped = self._skipped + Counter({"retracted or erased before": self._counts["refused"]})
        return Imported(
            source=source,
            conversations=self._counts["conversations"],
            documents=self._counts["documents"],
            facts=self._counts["facts"],
            turns=self._counts["turns"],
            statements=self._counts["statements"],
            duplicates=self._counts["duplicates"],
            held=self._counts["held"],
            skipped=tuple(sorted(skipped.items())),
            problems=tuple(self._problems),
            problem_count=self._counts["problems"],
            learnt=tuple(self._ranked()),
            redacted=tuple(sorted(self._redacted.items())),
        )

    def _ranked(self) -> Iterator[Outcome]:
        return (outcome for _, _, outcome in sorted(self._top_held, key=lambda entry: entry[:2], reverse=True))
