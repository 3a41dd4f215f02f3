"""The story of an import: every step of a plan is one commit with its key, so that it can be broken off anywhere."""

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
"""So many of the statements that wait are told, the most important ones; all of them are counted."""
MOST_PROBLEMS = 1000
FACTS_AT_ONCE = 50
"""Facts of another memory that reach the disk together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import brought. `learnt` are the most important of the `held` statements, which wait for a person."""

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
        """How many secrets were taken out."""
        return sum(number for _, number in self.redacted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Where an import is written: who writes what, and how words are kept, read for statements or not."""

    store: Store
    ids: IdSource
    now: Callable[[], datetime]
    writer: Callable[[Origin], Writer]
    keep: Callable[[Conversation, Writer, str, bool], Receipt]
    published: Callable[[Receipt], Receipt]
    agents: tuple[str, ...] = ()
    personal: bool = False

    def knows(self, key: str) -> bool:
        """Whether this was imported before."""
        return self.store.has_key(self.writer(Origin.IMPORT).scope, key)

    def places(self, atom_id: str) -> set[int]:
        """Which passages of an atom are here, where words come back to the vault they were exported from."""
        if not is_atom_id(atom_id):
            return set()
        scopes = visible_from(self.writer(Origin.IMPORT).scope)
        found = self.store.read(Filter(scopes=scopes, ids=(AtomId(atom_id),)))
        return {passage.n for atom in found for passage in passages_of(atom)}


def bring(plan: ImportPlan, desk: Desk, progress: Progress | None = None, tally: Tally | None = None) -> Imported:
    """Go through a plan: words are kept and read, facts wait for review, what cannot be read is told."""
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
    """The words of an item as they will be kept; where nothing else stands above a piece, the title does."""
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
    """How many secrets stood in the words themselves, and not in the names they go by."""
    if not said.redacted:
        return 0
    tags = item.tags if isinstance(item, ImportedDocument) else ()
    named = sum(len(redact(each).found) for each in (item.session_id, item.source_id))
    named += sum(len(redact(each, personal=personal).found) for each in {item.title, *tags})
    return max(0, len(said.redacted) - named)


def _bring_one(step: ImportedConversation | ImportedDocument | Problem | Skipped, desk: Desk, tally: Tally) -> None:
    match step:
        case Problem():
            tally.problem(step)
        case Skipped():
            tally.skip(step)
        case ImportedConversation() | ImportedDocument():
            left = _not_here(step, desk)
            if not left.pieces:
                tally.skip(Skipped(step.path, "it is here already"))
                return
            said, writer = said_in(left, desk), desk.writer(left.origin)
            if _is_erased(said, writer, desk):
                tally.skip(Skipped(step.path, "it was erased here"))
                return
            tally.secrets_in_words += secrets_in_words(left, said, personal=desk.personal)
            is_read = isinstance(left, ImportedConversation) and left.is_read
            tally.words(left, said, desk.keep(said, writer, left.key, is_read))


def _is_erased(said: Conversation, writer: Writer, desk: Desk) -> bool:
    """Whether nothing is left of the words without what was erased here."""
    left = without_erased(said, writer.origin, writer.scope, desk.store, desk.now())
    return left != said and not any(normal_form(piece.text.replace(ERASED, " ")) for piece in left.pieces)


def _not_here(item: ImportedConversation | ImportedDocument, desk: Desk) -> ImportedConversation | ImportedDocument:
    """What comes without the passages that stand in this very vault, as they were or as they were changed since."""
    here = desk.places(item.foreign_id) if isinstance(item, ImportedConversation) else set[int]()
    return item.without(here) if here and isinstance(item, ImportedConversation) else item


class _Facts:
    """Facts on their way: each a commit of its own, some together on the disk or none of them."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._waiting: list[ImportedFact] = []
        self._successions: Successions | None = None

    def take(self, fact: ImportedFact, tally: Tally) -> None:
        self._waiting.append(fact)
        if len(self._waiting) >= FACTS_AT_ONCE:
            self.flush(tally)

    def flush(self, tally: Tally) -> None:
        if not self._waiting:
            return
        desk = self._desk
        with desk.store.alone():
            quoted = Quoted(desk.store, desk.writer(Origin.IMPORT).scope, personal=desk.personal)
            done = [self._written(each, quoted, tally) for each in self._waiting]
        self._waiting.clear()
        receipts = [each for each in done if each is not None]
        outcomes = tuple(outcome for receipt in receipts for outcome in receipt.outcomes)
        tally.facts(receipts, self._desk.published(Receipt(None, outcomes)).outcomes)

    def _written(self, fact: ImportedFact, quoted: Quoted, tally: Tally) -> Receipt | None:
        desk, writer = self._desk, self._desk.writer(fact.origin)
        self._successions = self._successions or Successions(desk.store, writer.scope)
        try:
            return write_fact(fact, writer, desk.store, desk.ids, desk.now(), self._successions, quoted, desk.personal)
        except InvalidInput as error:
            tally.problem(Problem(fact.path, str(error)))
            return None


class Tally:
    """What has come in so far. However large the import, it stays small."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._redacted: Counter[str] = Counter()
        self._problems: list[Problem] = []
        self._learnt: list[tuple[float, int, Outcome]] = []
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
        """Count what was stated; of what waits, remember the most important."""
        for outcome in outcomes:
            if outcome.result is Result.KEPT:
                continue
            counted = {Result.DUPLICATE: "duplicates", Result.REFUSED: "refused"}.get(outcome.result, "statements")
            self._counts[counted] += 1
            if outcome.result is Result.HELD:
                self._counts["held"] += 1
                place = outcome.atom.importance, -next(self._order), outcome
                (heapq.heappush if len(self._learnt) < MOST_LEARNT else heapq.heappushpop)(self._learnt, place)

    def problem(self, problem: Problem) -> None:
        self._counts["problems"] += 1
        if len(self._problems) < MOST_PROBLEMS:
            self._problems.append(Problem(redact(problem.path).text, redact(problem.reason).text))

    def skip(self, skipped: Skipped) -> None:
        self._skipped[skipped.reason] += 1

    @property
    def known(self) -> int:
        """How many steps had been imported before."""
        return self._skipped[BEFORE]

    def told(self, source: str) -> Imported:
        """Everything so far, the most important statement first."""
        skipped = self._skipped + Counter({"taken back by a person": self._counts["refused"]})
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
        return (each for _, _, each in sorted(self._learnt, key=lambda one: one[:2], reverse=True))
