"""Working memory: notes that belong to one run, are read only inside it, and leave one event behind when it closes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import TypeVar

from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.kinds import Durability, Layer, traits
from lamina.atom.status import ENDED, Status
from lamina.atom.trust import TRUST, Origin, bound, statements_wait
from lamina.capture.classify import Verdict
from lamina.capture.current import is_undone
from lamina.capture.draft import parse_draft
from lamina.capture.receipt import Receipt, Result
from lamina.capture.write import Words, write
from lamina.errors import InvalidInput, Refused
from lamina.store.base import Filter
from lamina.working.context import Workplace, is_named, parse_name
from lamina.working.procedures import practised

EVENT = "event"
LINEAGE = 200
"""How many of its notes an event names: the frontmatter of a file has room for so much."""

Rank = Callable[[Iterable[Atom], str], Sequence[Atom]]
"""Orders atoms by how well they answer, the best first."""

E = TypeVar("E", bound=StrEnum)


class RunOutcome(StrEnum):
    """How a run may end."""

    SUCCESS = "success"
    FAILURE = "failure"
    ABANDONED = "abandoned"
    SCAN = "scan"
    PROMOTION = "promotion"
    ROLLBACK = "rollback"


class Run:
    """One piece of work and its notes. Made by `Memory.run`; the same name always means the same run."""

    def __init__(self, id: str, place: Workplace, rank: Rank) -> None:
        self.id = parse_name(id, "a run")
        self._place, self._rank = place, rank

    def __repr__(self) -> str:
        return f"Run({self.id!r})"

    def note(
        self,
        text: str,
        *,
        kind: str = "interaction",
        phase: str | None = None,
        tags: Sequence[str] = (),
        origin: Origin | str | None = None,
        observed_at: datetime | None = None,
    ) -> Atom:
        """Write something down for as long as the run lasts; no recall outside the run finds it."""
        place, writer = self._place, self._place.writer
        if traits(kind).lists:
            raise InvalidInput(f"a note is no {kind}; leave the kind out or give that of a statement")
        draft = parse_draft(
            content=place.clean(text).text, kind=kind, tags=tuple(place.clean(each).text for each in tags),
            metadata={"phase": place.clean(phase).text} if phase else {}, observed_at=observed_at,
            agents=place.agents, layer=Layer.WORKING, durability=Durability.EPHEMERAL,
        )  # fmt: skip
        said_by = bound(writer.origin, _one_of(Origin, origin, "origin") if origin is not None else None)
        with place.store.alone():
            self._refuse_if_closed()
            now = place.now()
            made = draft.to_atom(place.ids.new(now), writer.scope, said_by, writer.principal, now)
            verdict = Verdict(Result.NEW, made.with_(run_id=self.id), (), f"a note of run {self.id}")
            receipt = write(Words(), [verdict], writer, place.store, "note", f"noted in run {self.id}", None)
        return place.published(receipt).atom

    def notes(self) -> list[Atom]:
        """What was noted, oldest first, as the files say; nothing once the run is closed."""
        return _live(self._place.fresh(self._wanted))

    def recall(self, question: str, k: int = 5) -> list[Atom]:
        """The notes that answer a question, best first: a fixed ranking over their words."""
        if k < 1:
            raise InvalidInput("k is at least 1")
        return list(self._rank(self.notes(), question))[:k]

    @property
    def event(self) -> Atom | None:
        """What the run left behind when it was closed; None while it is open."""
        return self._event(self._place.fresh(self._endings))

    def close(self, outcome: RunOutcome | str, summary: str, workflow: str | None = None) -> Receipt:
        """End the run in one commit: its notes are laid aside and one event tells how it ended.

        A success of a named workflow also teaches: see `lamina.working.procedures`. Undoing the commit brings it all
        back.
        """
        ended = _one_of(RunOutcome, outcome, "outcome")
        told = self._place.clean(summary.strip())
        if not told.text:
            raise InvalidInput("say in the summary what came of the run; it is all that recall will find of it")
        named = parse_name(workflow, "a workflow") if workflow is not None else None
        place = self._place
        place.fresh(self._wanted)
        with place.store.alone():
            self._refuse_if_closed()
            verdict = self._ending(ended, told.text, named)
            verdicts = [verdict]
            if named is not None and ended is RunOutcome.SUCCESS:
                verdicts += practised(named, told.text, verdict.atom, place)
            reason = f"run {self.id} closed: {ended}"
            receipt = write(Words(), verdicts, place.writer, place.store, "close", reason, None)
        taken = tuple(secret.name for secret in told.found)
        return replace(place.published(receipt), redacted=taken)

    def _ending(self, outcome: RunOutcome, summary: str, workflow: str | None) -> Verdict:
        """The event, which is worth no more than the least trusted of the notes it was made from."""
        place, writer, now = self._place, self._place.writer, self._place.now()
        notes = _live(place.store.read(self._wanted))
        origin = min([writer.origin, *(note.origin for note in notes)], key=lambda each: TRUST[each])
        waits = statements_wait(origin)
        told = {"outcome": outcome.value, "notes": str(len(notes)), **({"workflow": workflow} if workflow else {})}
        event = Atom(
            id=place.ids.new(now), scope=writer.scope, kind=EVENT, content=self._self_contained(outcome, summary),
            observed_at=now, subject=self.id, agents=place.agents, origin=origin, principal=writer.principal,
            metadata=told, derived_from=tuple(note.id for note in notes)[-LINEAGE:], run_id=self.id,
            status=Status.CONSTRAINED if waits else Status.ACTIVE,
            **kind_defaults(EVENT) | {"layer": Layer.EPISODIC},
        )  # fmt: skip
        laid_aside = tuple(note.with_(status=Status.TOMBSTONED) for note in notes)
        count = "1 note" if len(notes) == 1 else f"{len(notes) or 'no'} notes"
        reason = f"{count} of run {self.id} laid aside"
        if waits:
            return Verdict(Result.HELD, event, laid_aside, f"{reason}; waits for review, resting on {origin}")
        return Verdict(Result.NEW, event, laid_aside, reason)

    def _self_contained(self, outcome: RunOutcome, summary: str) -> str:
        """The summary, with the run and its end named where it does not name them itself."""
        if is_named(self.id, summary) and is_named(outcome, summary):
            return summary
        return f"Run {self.id} ({outcome}): {summary}"

    @property
    def _wanted(self) -> Filter:
        return Filter(scopes=(self._place.writer.scope,), run_id=self.id)

    @property
    def _endings(self) -> Filter:
        return replace(self._wanted, kinds=frozenset({EVENT}))

    def _event(self, found: Iterable[Atom]) -> Atom | None:
        """The event of the last close that was not undone; one that somebody forgot still tells that it was closed."""
        ends = (atom for atom in found if atom.layer is not Layer.WORKING and atom.metadata.get("outcome"))
        return next((atom for atom in ends if not is_undone(atom, self._place.store)), None)

    def _refuse_if_closed(self) -> None:
        event = self._event(self._place.store.read(self._endings))
        if event is not None:
            raise Refused(
                f"run {self.id} is closed: {event.metadata['outcome']}, told by {event.id}; "
                "undo that commit to go on with it, or take another name for what comes next"
            )


def _live(found: Iterable[Atom]) -> list[Atom]:
    notes = (atom for atom in found if atom.layer is Layer.WORKING and atom.status not in ENDED)
    return sorted(notes, key=lambda atom: (atom.recorded_at or atom.observed_at, atom.id))


def _one_of(family: type[E], given: str, noun: str) -> E:
    try:
        return family(given)
    except ValueError as error:
        raise InvalidInput(f"{given!r} is no {noun}; choose from {', '.join(family)}") from error
