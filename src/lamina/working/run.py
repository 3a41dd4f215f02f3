"""Runs: notes that belong to one piece of work, are read only inside it, and leave one event when it closes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, TypeVar

from pydantic import Field

from lamina.argument_checks import verb
from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.kinds import Durability, Layer, kind_traits
from lamina.atom.provenance import TRUST, Origin, limit_origin, statements_need_review
from lamina.atom.status import ENDED, Status
from lamina.capture.caller_input import parse_draft
from lamina.capture.classification import StatementVerdict
from lamina.capture.existing_statements import is_undone
from lamina.capture.receipt import Receipt, Result
from lamina.capture.statement_commit import SegmentBatch, commit_verdicts
from lamina.errors import InvalidInput, Refused
from lamina.store.base import AtomFilter, TransactionMode
from lamina.text.timestamps import TimeInput
from lamina.working.procedures import record_success
from lamina.working.writer_access import LINEAGE_LIMIT, WriterAccess, is_named, parse_name

EVENT = "event"

Rank = Callable[[Iterable[Atom], str], Sequence[Atom]]
"""Orders atoms by how well they answer a question, best first."""

E = TypeVar("E", bound=StrEnum)


class RunOutcome(StrEnum):
    """The ways in which a run can end."""

    SUCCESS = "success"
    FAILURE = "failure"
    ABANDONED = "abandoned"
    SCAN = "scan"
    PROMOTION = "promotion"
    ROLLBACK = "rollback"


class Run:
    """One piece of work and its notes. Created by `Memory.run`; a name means one run."""

    def __init__(self, id: str, context: WriterAccess, rank: Rank) -> None:
        self.id = parse_name(id, "a run")
        self._context, self._rank = context, rank

    def __repr__(self) -> str:
        return f"Run({self.id!r})"

    @verb()
    def note(
        self,
        text: str,
        *,
        kind: str = "interaction",
        phase: str | None = None,
        tags: Sequence[str] = (),
        origin: Origin | str | None = None,
        observed_at: TimeInput | None = None,
    ) -> Atom:
        """Write a note that lasts as long as the run; recall outside the run does not find it."""
        context, writer = self._context, self._context.writer
        if kind_traits(kind).is_listing:
            raise InvalidInput(f"a note cannot be of kind {kind}; omit the kind or give that of a statement")
        draft = parse_draft(
            content=context.clean(text).text,
            kind=kind,
            tags=tuple(context.clean(tag).text for tag in tags),
            metadata={"phase": context.clean(phase).text} if phase else {},
            observed_at=observed_at,
            agents=context.agents,
            layer=Layer.WORKING,
            durability=Durability.EPHEMERAL,
        )
        requested = _parse_choice(Origin, origin, "origin") if origin is not None else None
        note_origin = limit_origin(writer.origin, requested)
        with context.store.transaction(TransactionMode.WRITE):
            self._refuse_if_closed()
            now = context.now()
            atom = draft.to_atom(context.ids.new(now), writer.scope, note_origin, writer.principal, now)
            verdict = StatementVerdict(Result.NEW, atom.with_(run_id=self.id), (), f"a note of run {self.id}")
            reason = f"noted in run {self.id}"
            receipt = commit_verdicts(SegmentBatch(), [verdict], writer, context.store, "note", reason, None)
        return context.publish(receipt).atom

    def notes(self) -> list[Atom]:
        """Return the notes, oldest first, as the files have them now; none once the run is closed."""
        return _select_notes(self._context.read_fresh(self._filter))

    @verb()
    def recall(self, question: str, k: Annotated[int, Field(ge=1)] = 5) -> list[Atom]:
        """Return the notes that answer a question, best first, by a fixed ranking over their words."""
        return list(self._rank(self.notes(), question))[:k]

    @property
    def event(self) -> Atom | None:
        """Return the event that closing the run created; None while it is open."""
        return self._find_event(self._context.read_fresh(self._event_filter))

    @verb()
    def close(self, outcome: RunOutcome | str, summary: str, workflow: str | None = None) -> Receipt:
        """End the run in one commit: its notes are removed from memory and one event records how it ended.

        A success of a named workflow also updates its procedure: see `lamina.working.procedures`. Undoing the commit
        reverts everything.
        """
        run_outcome = _parse_choice(RunOutcome, outcome, "outcome")
        context = self._context
        cleaned = context.clean(summary.strip())
        if not cleaned.text:
            raise InvalidInput(
                "the summary is empty; write how the run ended, because recall finds nothing else of the run"
            )
        workflow_name = parse_name(workflow, "a workflow") if workflow is not None else None
        context.read_fresh(self._filter)
        with context.store.transaction(TransactionMode.WRITE):
            self._refuse_if_closed()
            verdict = self._create_event(run_outcome, cleaned.text, workflow_name)
            verdicts = [verdict]
            if workflow_name is not None and run_outcome is RunOutcome.SUCCESS:
                verdicts += record_success(workflow_name, cleaned.text, verdict.atom, context)
            reason = f"run {self.id} closed: {run_outcome}"
            receipt = commit_verdicts(SegmentBatch(), verdicts, context.writer, context.store, "close", reason, None)
        return replace(context.publish(receipt), redacted=tuple(secret.name for secret in cleaned.secrets))

    def _create_event(self, outcome: RunOutcome, summary: str, workflow: str | None) -> StatementVerdict:
        """Return the event, which is trusted no more than the least trusted of the run's notes."""
        context, writer, now = self._context, self._context.writer, self._context.now()
        notes = _select_notes(context.store.atoms.read(self._filter))
        origin = min([writer.origin, *(note.origin for note in notes)], key=TRUST.__getitem__)
        is_pending = statements_need_review(origin)
        event = Atom(
            id=context.ids.new(now),
            scope=writer.scope,
            kind=EVENT,
            content=self._complete_summary(outcome, summary),
            observed_at=now,
            subject=self.id,
            agents=context.agents,
            origin=origin,
            principal=writer.principal,
            metadata={
                "outcome": outcome.value,
                "notes": str(len(notes)),
                **({"workflow": workflow} if workflow else {}),
            },
            derived_from=tuple(note.id for note in notes)[-LINEAGE_LIMIT:],
            run_id=self.id,
            status=Status.CONSTRAINED if is_pending else Status.ACTIVE,
            **kind_defaults(EVENT) | {"layer": Layer.EPISODIC},
        )
        removed = tuple(note.with_(status=Status.TOMBSTONED) for note in notes)
        count = "1 note" if len(notes) == 1 else f"{len(notes) or 'no'} notes"
        reason = f"{count} of run {self.id} removed"
        if is_pending:
            return StatementVerdict(Result.HELD, event, removed, f"{reason}; pending review: it rests on {origin}")
        return StatementVerdict(Result.NEW, event, removed, reason)

    def _complete_summary(self, outcome: RunOutcome, summary: str) -> str:
        """Return the summary, with the run and its outcome in front unless it names both."""
        if is_named(self.id, summary) and is_named(outcome, summary):
            return summary
        return f"Run {self.id} ({outcome}): {summary}"

    @property
    def _filter(self) -> AtomFilter:
        return AtomFilter(scopes=(self._context.writer.scope,), run_id=self.id)

    @property
    def _event_filter(self) -> AtomFilter:
        return replace(self._filter, kinds=frozenset({EVENT}))

    def _find_event(self, atoms: Iterable[Atom]) -> Atom | None:
        """Return the event of the last close that was not undone; a forgotten event still closes the run."""
        events = (atom for atom in atoms if atom.layer is not Layer.WORKING and atom.metadata.get("outcome"))
        return next((event for event in events if not is_undone(event, self._context.store)), None)

    def _refuse_if_closed(self) -> None:
        event = self._find_event(self._context.store.atoms.read(self._event_filter))
        if event is not None:
            raise Refused(
                f"run {self.id} is closed: {event.metadata['outcome']}, recorded in {event.id}; "
                "undo that commit to continue the run, or choose another run name"
            )


def _select_notes(atoms: Iterable[Atom]) -> list[Atom]:
    notes = (atom for atom in atoms if atom.layer is Layer.WORKING and atom.status not in ENDED)
    return sorted(notes, key=lambda note: (note.recorded_at or note.observed_at, note.id))


def _parse_choice(family: type[E], value: str, argument: str) -> E:
    try:
        return family(value)
    except ValueError as error:
        raise InvalidInput(f"{argument}: {value!r} is not one of {', '.join(family)}") from error
