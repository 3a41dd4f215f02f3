"""The JSON document of a dream: what each step did or would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina.documents.atom import Moment
from lamina.documents.document import Document
from lamina.text.times import format_time

if TYPE_CHECKING:
    from lamina.dream.report import DreamReport, StepReport


class MoveDocument(Document):
    """One change of a dream step to one atom, with its reason."""

    action: str
    id: str
    text: str
    why: str


class StepDocument(Document):
    """One step in one scope. `held`: why a person must approve it first; `failed`: why nothing was done."""

    step: str
    scope: str
    commit: str | None
    held: str | None
    failed: str | None
    notes: list[str]
    moves: list[MoveDocument]


class DreamDocument(Document):
    """A whole dream. `batch` undoes all of it; `asleep` says why nothing was done."""

    batch: str
    at: Moment
    dry_run: bool
    asleep: str | None
    steps: list[StepDocument]
    guidelines: list[str]


def dream_document(report: DreamReport) -> DreamDocument:
    """Return the document of a dream report."""
    return DreamDocument(
        batch=report.batch,
        at=format_time(report.at),
        dry_run=report.dry_run,
        asleep=report.asleep,
        steps=[_step(step) for step in report.steps],
        guidelines=list(report.guidelines),
    )


def _step(told: StepReport) -> StepDocument:
    return StepDocument(
        step=told.step,
        scope=told.scope,
        commit=told.commit,
        held=told.held,
        failed=told.failed,
        notes=list(told.notes),
        moves=[MoveDocument(action=move.action, id=move.atom_id, text=move.text, why=move.why) for move in told.moves],
    )
