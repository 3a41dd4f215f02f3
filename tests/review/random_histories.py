"""Random histories of single-valued claims on the real engine, beside a plain list of versions that says what is right.

A trial is one store in which many claims live side by side, each with a short history of its own: values said in and
out of order, late, early, at equal times, for a while or for good, corrected, forgotten, restored, undone, settled,
under a clock that goes back and jumps. The reference knows the journal's entries and nothing else of the engine: a row
for each version with its stretch of world time and its stretch of the journal, and questions asked of the whole list.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

from lamina.atom.atom import Atom, AtomId, IdSource
from lamina.atom.provenance import Origin, Scope
from lamina.atom.status import ENDED, Status, TransitionCause
from lamina.capture.caller_input import parse_draft
from lamina.capture.statement_commit import SegmentBatch, Writer, classify_statements, commit_verdicts
from lamina.capture.store_reads import StoreReads
from lamina.clock import FixedClock
from lamina.errors import ClaimTaken, LaminaError, Refused, TransitionRefused, UndoRefused
from lamina.recall.recall_view import RecallView, ViewTime, is_admitted
from lamina.review.announced_changes import settle
from lamina.review.undo import undo
from lamina.store.base import AtomChange, AtomFilter, Commit, CommitId, JournalEntry
from lamina.store.sqlite import SqliteStore

SCOPE = Scope("org:local")
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
DAY, TICK = timedelta(days=1), timedelta(milliseconds=1)
TOGETHER = 100
"""How many histories share a store: their claims have nothing to do with each other, their commits are shared."""
VALUES = ("Porto", "Lisbon", "Faro", "Braga")
FOR_EVER = 2**62


@dataclass(frozen=True, slots=True)
class Row:
    """A version: what an atom said and how it stood, for how long in the world, and for how long in the journal."""

    claim: str
    atom: str
    text: str
    status: str
    start: datetime | None
    begins: datetime
    until: datetime | None
    since: int
    before: int = FOR_EVER


@dataclass(slots=True)
class Tally:
    """How much was checked, and what was wrong."""

    histories: int = 0
    commits: int = 0
    questions: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    """Moments at which a claim had two values, though nobody restored or undid anything."""

    def add(self, other: Tally) -> None:
        self.histories += other.histories
        self.commits += other.commits
        self.questions += other.questions
        self.outcomes += other.outcomes
        self.faults += other.faults
        self.doubled += other.doubled


def rows_of(entries: Iterable[JournalEntry]) -> list[Row]:
    """The versions the journal tells of, folded by hand."""
    fields: dict[str, dict[str, object]] = {}
    rows: dict[str, Row] = {}
    result: list[Row] = []
    for entry in entries:
        for change in entry.changes:
            actual = fields.setdefault(change.atom_id, {})
            actual.update(change.fields)
            before = rows.get(change.atom_id)
            if before is not None:
                result.append(replace(before, before=entry.seq))
            start, until = _time(actual.get("valid_from")), _time(actual.get("valid_until"))
            observed = _time(actual["observed_at"])
            assert observed is not None
            rows[change.atom_id] = Row(
                str(actual["subject"]),
                change.atom_id,
                str(actual["content"]),
                str(actual.get("status", "active")),
                start,
                start or observed,
                until,
                entry.seq,
            )
    return [*result, *rows.values()]


def true_at(rows: Sequence[Row], moment: datetime, position: int) -> set[tuple[str, str]]:
    """What was true at a moment as the journal said at a position, by looking at every row."""
    return {
        (row.atom, row.text)
        for row in rows
        if row.since <= position < row.before
        if row.begins <= moment
        if row.status in ("active", "archived", "superseded", "merged")
        if (moment < row.until if row.until is not None else row.status in ("active", "archived"))
    }


def known_at(rows: Sequence[Row], position: int) -> set[tuple[str, str, str]]:
    """Every atom there was at a position, with its words and its status."""
    return {(row.atom, row.text, row.status) for row in rows if row.since <= position < row.before}


def overlapping(rows: Sequence[Row], position: int) -> bool:
    """Whether two active values held at once at a position."""
    there = [row for row in rows if row.since <= position < row.before and row.status == "active"]
    stretches = [(row.start or datetime.min.replace(tzinfo=UTC), row.until) for row in there]
    real = sorted(((start, until) for start, until in stretches if until is None or start < until), key=lambda s: s[0])
    return any(until is None or later < until for (_, until), (later, _) in pairwise(real))


def coalesced(rows: Sequence[Row]) -> list[Row]:
    """The rows with those that follow one another and say the same made one."""
    result: list[Row] = []
    for row in sorted(rows, key=lambda item: (item.atom, item.since)):
        if (
            result
            and result[-1].before == row.since
            and replace(row, since=result[-1].since, before=row.since) == result[-1]
        ):
            result[-1] = replace(result[-1], before=row.before)
        else:
            result.append(row)
    return result


def _time(text: object) -> datetime | None:
    return datetime.fromisoformat(str(text)) if text else None


class HistoryTrial:
    """One store with many short histories."""

    def __init__(self, folder: Path, seed: int, count: int) -> None:
        self.random = random.Random(seed)
        self.clock = FixedClock(START)
        self.store = SqliteStore(folder, self.clock)
        self.tally = Tally(histories=count)
        self.claims = [f"person {n}" for n in range(count)]
        self._ids = IdSource(os.urandom)
        self._tips: list[tuple[int, dict[str, dict[datetime, set[tuple[str, str]]]]]] = []
        self._commits: list[CommitId] = []
        self._meddled_with: set[str] = set()
        self._writer = Writer("test", Origin.HUMAN, None, SCOPE)

    def run(self) -> Tally:
        """Live the histories, looking at each position while it is the last, then check them all from the end."""
        try:
            for _ in range(self.random.randint(3, 7)):
                self._move_clock()
                self._round()
                self._tips.append((self.store.journal.position(), self._check_moments()))
            self._check()
        finally:
            self.store.close()
        return self.tally

    # What happens

    def _move_clock(self) -> None:
        kind = self.random.random()
        days = self.random.randint(-5, -1) if kind < 0.15 else 30 if kind < 0.25 else self.random.randint(0, 3)
        self.clock.at += days * DAY + self.random.choice([0, 0, 1, 1000]) * TICK

    def _round(self) -> None:
        chosen = [claim for claim in self.claims if self.random.random() < 0.7]
        self._remember_many([self._statement(claim) for claim in chosen])
        for act, share in ((self._forget, 0.08), (self._restore, 0.08)):
            for claim in self.claims:
                if self.random.random() < share:
                    act(claim)
        if self.random.random() < 0.3:
            atoms = settle(self.store, SCOPE, self.clock.at)
            self.tally.outcomes["settled"] += len(atoms)
        if self.random.random() < 0.25 and self._commits:
            self._undo(self.random.choice(self._commits))

    def _statement(self, claim: str) -> dict[str, object]:
        value, now = self.random.choice(VALUES), self.clock.at
        fields: dict[str, object] = {
            "content": f"{claim} lives in {value}",
            "subject": claim,
            "attribute": "city",
            "value": value,
        }
        if self.random.random() < 0.7:
            fields["valid_from"] = _midnight(now) + self.random.randint(-12, 12) * DAY
        if self.random.random() < 0.3:
            begins = fields.get("valid_from", now)
            assert isinstance(begins, datetime)
            fields["valid_until"] = begins + self.random.randint(1, 10) * DAY
        if self.random.random() < 0.3:
            fields["observed_at"] = _midnight(now) - self.random.randint(0, 15) * DAY
        if self.random.random() < 0.1:
            fields["tags"] = ("correction",)
        return fields

    def _remember_many(self, statements: Sequence[dict[str, object]]) -> None:
        """All in one commit, as `remember_many` does; if one is refused, one by one, so that it is known which."""
        try:
            self._remember(statements)
        except LaminaError:
            for statement in statements:
                try:
                    self._remember([statement])
                except LaminaError as error:
                    self.tally.outcomes["refused"] += 1
                    self.tally.faults.append(
                        f"{statement} was refused: {error}; known: {self._claim_values(str(statement['subject']))}"
                    )

    def _remember(self, statements: Sequence[dict[str, object]]) -> None:
        now, drafts = self.clock.at, [parse_draft(**statement) for statement in statements]
        atoms = [draft.to_atom(self._ids.new(now), SCOPE, Origin.HUMAN, None, now) for draft in drafts]
        receipt = commit_verdicts(
            SegmentBatch(),
            classify_statements(atoms, StoreReads(self.store), now),
            self._writer,
            self.store,
            "remember",
            "said",
            None,
        )
        self.tally.outcomes.update(outcome.result.value for outcome in receipt.outcomes)
        self._count(receipt.commit)

    def _forget(self, claim: str) -> None:
        live = [atom for atom in self._atoms(claim) if atom.status not in ENDED]
        if live:
            self._change(self.random.choice(live).with_(status=Status.TOMBSTONED), TransitionCause.ORDINARY)

    def _restore(self, claim: str) -> None:
        ended = [atom for atom in self._atoms(claim) if atom.status in ENDED]
        if ended:
            self._meddled_with.add(claim)
            self._change(self.random.choice(ended).with_(status=Status.ACTIVE), TransitionCause.RESTORE)

    def _change(self, atom: Atom, way: TransitionCause) -> None:
        before = self.store.journal.position()
        try:
            result = self.store.journal.append(
                Commit(
                    actor="test",
                    origin=Origin.HUMAN,
                    verb=way.value,
                    reason="so",
                    scope=SCOPE,
                    way=way,
                    changes=(AtomChange(atom),),
                )
            )
            self._count(result.id)
            self.tally.outcomes[atom.status.value] += 1
        except (ClaimTaken, TransitionRefused, Refused):
            self.tally.outcomes["not allowed"] += 1
            assert self.store.journal.position() == before

    def _undo(self, commit: CommitId) -> None:
        (entry,) = self.store.journal.read([SCOPE], commit=commit)
        touched = self.store.atoms.read(
            AtomFilter(scopes=(SCOPE,), ids=tuple(change.atom_id for change in entry.changes))
        )
        try:
            self._count(undo(self.store, commit, (SCOPE,), "test", Origin.HUMAN)[-1].id)
            self._commits.remove(commit)
            self._meddled_with |= {atom.subject for atom in touched}
            self.tally.outcomes["undone"] += 1
        except (UndoRefused, ClaimTaken):
            self.tally.outcomes["undo refused"] += 1

    def _count(self, commit: CommitId | None) -> None:
        if commit is not None:
            self._commits.append(commit)
            self.tally.commits += 1

    def _atoms(self, claim: str) -> list[Atom]:
        return self.store.atoms.read(AtomFilter(scopes=(SCOPE,), subject=claim))

    def _claim_values(self, claim: str) -> list[tuple[str | None, str, datetime | None, datetime, datetime | None]]:
        return [
            (a.value, a.status.value, a.valid_from, a.observed_at, a.valid_until) for a in reversed(self._atoms(claim))
        ]

    # What the engine says

    def _check_moments(self) -> dict[str, dict[datetime, set[tuple[str, str]]]]:
        """What the engine says of a few moments while this is the last position."""
        by_claim: dict[str, list[AtomId]] = {}
        for atom in self.store.atoms.read(AtomFilter(scopes=(SCOPE,))):
            by_claim.setdefault(atom.subject, []).append(atom.id)
        fields = {}
        probes = [START + self.random.randint(-30, 60) * DAY + self.random.choice([-1, 0, 1]) * TICK for _ in range(4)]
        known_value = RecallView(store=self.store, scopes=(SCOPE,), at=START).atoms(
            id for ids in by_claim.values() for id in ids
        )
        for claim, ids in by_claim.items():
            fields[claim] = {at: self._check_past([known_value[atom_id] for atom_id in ids], at, None) for at in probes}
        return fields

    def _check_past(self, atoms: Iterable[Atom], moment: datetime, seq: int | None) -> set[tuple[str, str]]:
        self.tally.questions += 1
        view = RecallView(store=self.store, scopes=(SCOPE,), at=moment, journal_position=seq, is_as_of=True)
        return {(atom.id, atom.content) for atom in atoms if is_admitted(view, atom, (Status.ACTIVE, Status.ARCHIVED))}

    # Whether it is right

    def _check(self) -> None:
        entries = self.store.journal.read([SCOPE])
        self._check_time(entries)
        rows: dict[str, list[Row]] = {}
        for row in rows_of(entries):
            rows.setdefault(row.claim, []).append(row)
        ids = sorted({AtomId(row.atom) for value in rows.values() for row in value})
        for position, then in self._tips:
            believed = self.store.atoms.read_at(ids, position, [SCOPE])
            by_claim: dict[str, list[Atom]] = {}
            for atom in believed.values():
                by_claim.setdefault(atom.subject, []).append(atom)
            for claim, fields in rows.items():
                self._check_claim(claim, fields, by_claim.get(claim, []), position, then.get(claim, {}))

    def _check_time(self, entries: Sequence[JournalEntry]) -> None:
        """Transaction time only ever goes up, and a moment finds the last entry up to it."""
        if [entry.seq for entry in entries] != list(range(1, len(entries) + 1)):
            self._fault("the journal's positions do not follow one another")
        if any(later.at < earlier.at for earlier, later in pairwise(entries)):
            self._fault("the journal's time went back")
        for entry in entries:
            result = ViewTime(known_at=entry.at).view(self.store, (SCOPE,), START).journal_position
            if result != max(item.seq for item in entries if item.at <= entry.at):
                self._fault(f"known_at={entry.at} is read as position {result}")

    def _check_claim(
        self,
        claim: str,
        rows: Sequence[Row],
        atoms: Sequence[Atom],
        position: int,
        then: dict[datetime, set[tuple[str, str]]],
    ) -> None:
        if {(atom.id, atom.content, atom.status.value) for atom in atoms} != known_at(rows, position):
            self._fault(f"{claim} at {position}: other atoms, words or statuses than the journal says")
        if overlapping(rows, position):
            self._fault(f"{claim} at {position}: two active values overlap: {self._rows(rows, position)}")
        short = coalesced(rows)
        for moment in (*_edges(rows), *then):
            right = true_at(rows, moment, position)
            if self._check_past(atoms, moment, position) != right or then.get(moment, right) != right:
                self._fault(f"{claim} at {position} as of {moment}: not what the list of versions says")
            if true_at(short, moment, position) != right:
                self._fault(f"{claim} at {position} as of {moment}: versions made one answer otherwise")
            if len(right) > 1 and claim not in self._meddled_with:
                self.tally.doubled.append(f"{claim} at {position} as of {moment}: {self._rows(rows, position)}")

    def _rows(self, rows: Sequence[Row], position: int) -> list[str]:
        there = [row for row in rows if row.since <= position < row.before]
        return [
            f"{row.text.rsplit(' ', 1)[-1]} {row.status} from {row.begins} until {row.until} since {row.since}"
            for row in sorted(there, key=lambda item: item.begins)
        ]

    def _fault(self, text: str) -> None:
        self.tally.faults.append(text)


def _edges(rows: Sequence[Row]) -> list[datetime]:
    """Where an answer can change, and just before."""
    turns = {turn for row in rows for turn in (row.begins, row.until) if turn is not None}
    return sorted({moment for turn in turns for moment in (turn - TICK, turn)})


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def histories(count: int, seed: int, folder: Path | None = None) -> Tally:
    """Live and check so many histories; whatever is wrong is told with the seed that brings it back."""
    tally = Tally()
    for n, start in enumerate(range(0, count, TOGETHER)):
        with tempfile.TemporaryDirectory(dir=folder) as place:
            fields = seed * 1_000_003 + n
            result = HistoryTrial(Path(place), fields, min(TOGETHER, count - start)).run()
            result.faults, result.doubled = (
                [f"seed {fields}: {item}" for item in actual] for actual in (result.faults, result.doubled)
            )
            tally.add(result)
    return tally
