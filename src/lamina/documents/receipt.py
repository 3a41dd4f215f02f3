"""The JSON documents of a write: every outcome with its reason, the commit that undoes it, undos and erasures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from lamina.documents.atom import AtomDocument, BriefAtom, atom_document, atom_documents, brief_atom
from lamina.documents.json_document import JsonDocument

if TYPE_CHECKING:
    from lamina.atom.atom import Atom
    from lamina.capture.receipt import Receipt
    from lamina.memory import Memory
    from lamina.review.erase import ErasureReceipt
    from lamina.store.base import CommitResult

CommitId = Annotated[str | None, Field(description="The commit, which can be undone; null if nothing changed.")]
ResultName = Annotated[str, Field(description="new, kept, duplicate, supersedes, held (pending review), refused, …")]


class OutcomeDocument(JsonDocument):
    """One atom and what happened to it."""

    result: ResultName
    reason: str
    atom: AtomDocument


class BriefOutcome(JsonDocument):
    """One atom and what happened to it."""

    result: ResultName
    reason: str
    atom: BriefAtom


class WriteSummary(JsonDocument):
    """The result of a write without its outcomes."""

    commit: CommitId
    repeated: Annotated[
        bool, Field(description="The key was used before, so nothing was written; the outcomes are from that time.")
    ]
    stages: Annotated[dict[str, str], Field(description="The stages that are done and those still to come.")]
    redacted: Annotated[list[str], Field(description="The kinds of secrets that were redacted.")]


class ReceiptDocument(WriteSummary):
    """Every outcome of a write."""

    outcomes: list[OutcomeDocument]


class WriteResult(WriteSummary):
    """Every outcome of a write."""

    outcomes: list[BriefOutcome]


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


class PassageChangeDocument(JsonDocument):
    """A passage that an erasure would change; `becomes` is empty if nothing of it is left."""

    atom_id: str
    passage: int
    origin: str
    text: str
    becomes: str
    is_more_trusted: Annotated[bool, Field(description="It is trusted more than what was asked to be erased.")]


class ErasureDocument(JsonDocument):
    """The receipt of an erasure: what was removed where, and which copies lamina cannot reach."""

    commit: str | None
    erased: list[str]
    removed: dict[str, int]
    still_in: list[str]
    outside: list[str]
    finished: bool
    also_in: Annotated[list[str], Field(description="Memories that have some of the words themselves, and stay.")]
    changes: Annotated[
        list[PassageChangeDocument], Field(description="In a dry run, every passage that would change, with its text.")
    ]


def receipt_document(receipt: Receipt) -> ReceiptDocument:
    """Return the outcomes of a capture, a remember or a decision."""
    outcomes = [
        OutcomeDocument.of(outcome, atom=atom_document(outcome.atom, outcome.path)) for outcome in receipt.outcomes
    ]
    return ReceiptDocument.of(receipt, stages=dict(receipt.stages), outcomes=outcomes)


def brief_receipt(receipt: Receipt) -> WriteResult:
    """Return the same with each atom in brief."""
    outcomes = [BriefOutcome.of(outcome, atom=brief_atom(outcome.atom, outcome.path)) for outcome in receipt.outcomes]
    return WriteResult.of(receipt, stages=dict(receipt.stages), outcomes=outcomes)


def change_document(memory: Memory, atom: Atom) -> ChangeDocument:
    """Return an atom after a change, with the commit that made it."""
    return ChangeDocument(commit=commit_of(memory, atom), atom=atom_document(atom, memory.path_of(atom.id)))


def commit_of(memory: Memory, atom: Atom) -> str | None:
    """Return the commit that made this revision of an atom."""
    versions = memory.history(atom.id).versions
    return next((version.commit for version in versions if version.revision == atom.revision), None)


def undo_document(memory: Memory, commits: Sequence[CommitResult]) -> UndoDocument:
    """Return the commits that an undo made."""
    return UndoDocument(
        commits=[
            UndoCommitDocument(commit=done.id, seq=done.seq, atoms=atom_documents(memory, done.atoms))
            for done in commits
        ]
    )


def erasure_document(receipt: ErasureReceipt) -> ErasureDocument:
    """Return the document of an erasure receipt."""
    changes = [PassageChangeDocument.of(change) for change in receipt.changes]
    return ErasureDocument.of(receipt, removed=dict(receipt.removed), changes=changes)
