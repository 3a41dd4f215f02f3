"""The JSON document of a dream: what each step did or would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina.documents.atom import UtcTime
from lamina.documents.json_document import JsonDocument
from lamina.text.timestamps import format_time

if TYPE_CHECKING:
    from lamina.dream.report import DreamReport, StepReport


class MoveDocument(JsonDocument):
    """One change of a dream step to one atom, with its reason."""

    action: str
    id: str
    text: str
    why: str


class StepDocument(JsonDocument):
    """One step in one scope. `held`: why a person must approve it first; `failed`: why nothing was done."""

    step: str
    scope: str
    commit: str | None
    held: str | None
    failed: str | None
    notes: list[str]
    moves: list[MoveDocument]


class DreamDocument(JsonDocument):
    """A whole dream. `batch` undoes all of it; `asleep` says why nothing was done."""

    batch: str
    at: UtcTime
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
        steps=[_step_document(step) for step in report.steps],
        guidelines=list(report.guidelines),
    )


def _step_document(report: StepReport) -> StepDocument:
    return StepDocument(
        step=report.step,
        scope=report.scope,
        commit=report.commit,
        held=report.held,
        failed=report.failed,
        notes=list(report.notes),
        moves=[
            MoveDocument(action=move.action, id=move.atom_id, text=move.text, why=move.why) for move in report.moves
        ],
    )
