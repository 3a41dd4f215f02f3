"""The JSON documents of a write: every outcome with its reason, and the commit that undoes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from lamina.documents.atom import AtomDocument, atom_document
from lamina.documents.json_document import JsonDocument

if TYPE_CHECKING:
    from lamina.atom.atom import Atom
    from lamina.capture.receipt import Receipt
    from lamina.memory import Memory
    from lamina.store.base import CommitResult

CommitId = Annotated[str | None, Field(description="The commit, which can be undone; null if nothing changed.")]


class OutcomeDocument(JsonDocument):
    """One atom and what happened to it."""

    result: Annotated[str, Field(description="new, kept, duplicate, supersedes, held (pending review), refused, …")]
    reason: str
    atom: AtomDocument


class ReceiptDocument(JsonDocument):
    """Every outcome of a write."""

    commit: CommitId
    repeated: Annotated[bool, Field(description="The key was used before, so nothing was written.")]
    stages: Annotated[dict[str, str], Field(description="The stages that are done and those still to come.")]
    redacted: Annotated[list[str], Field(description="The kinds of secrets that were redacted.")]
    outcomes: list[OutcomeDocument]


class ChangeDocument(JsonDocument):
    """One atom after a change, and the commit that made it."""

    commit: CommitId
    atom: AtomDocument


class UndoCommitDocument(JsonDocument):
    """A commit that an undo made."""

    commit: str | None
    seq: int
    atoms: list[AtomDocument]


class UndoDocument(JsonDocument):
    """The commits that an undo made, with the restored atoms."""

    commits: list[UndoCommitDocument]


def receipt_document(receipt: Receipt) -> ReceiptDocument:
    """Return the outcomes of a capture, a remember or a decision."""
    return ReceiptDocument(
        commit=receipt.commit,
        repeated=receipt.repeated,
        stages=dict(receipt.stages),
        redacted=list(receipt.redacted),
        outcomes=[
            OutcomeDocument(
                result=outcome.result.value, reason=outcome.reason, atom=atom_document(outcome.atom, outcome.path)
            )
            for outcome in receipt.outcomes
        ],
    )


def change_document(memory: Memory, atom: Atom) -> ChangeDocument:
    """Return an atom after a change, with the commit that made it."""
    versions = memory.history(atom.id).versions
    commit = next((version.commit for version in versions if version.revision == atom.revision), None)
    return ChangeDocument(commit=commit, atom=atom_document(atom, memory.path_of(atom.id)))


def undo_document(memory: Memory, commits: Sequence[CommitResult]) -> UndoDocument:
    """Return the commits that an undo made."""
    return UndoDocument(
        commits=[
            UndoCommitDocument(
                commit=committed.id,
                seq=committed.seq,
                atoms=[atom_document(atom, memory.path_of(atom.id)) for atom in committed.atoms],
            )
            for committed in commits
        ]
    )
