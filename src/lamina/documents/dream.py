"""The JSON document of a dream: what each step did or would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina.documents.json_document import JsonDocument, UtcTime

if TYPE_CHECKING:
    from lamina.dream.report import DreamReport


class MoveDocument(JsonDocument):
    """One change of a dream step to one atom, with its reason."""

    action: str
    id: str
    text: str
    why: str


class StepDocument(JsonDocument):
    """One step in one scope. `held`: why a person must approve it first; `failed`: why nothing was done.

    `examined`: how much it looked at, and why nothing moved if nothing did.
    """

    step: str
    scope: str
    commit: str | None
    held: str | None
    failed: str | None
    examined: str
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
    steps = [
        StepDocument.of(step, moves=[MoveDocument.of(move, id=move.atom_id) for move in step.moves])
        for step in report.steps
    ]
    return DreamDocument.of(report, steps=steps)
