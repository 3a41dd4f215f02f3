"""The JSON documents of the journal: a commit, and the history of an atom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina.documents.json_document import JsonDocument, UtcTime

if TYPE_CHECKING:
    from lamina.memory import Memory
    from lamina.store.base import JournalEntry


class AtomChangeDocument(JsonDocument):
    """One atom's part in a commit: the fields that were set, and the status before and after."""

    id: str
    revision: int
    old_status: str | None
    status: str
    fields: list[str]


class EntryDocument(JsonDocument):
    """One commit: an atomic, attributed, undoable group of changes."""

    seq: int
    commit: str
    at: UtcTime
    scope: str
    actor: str
    origin: str
    verb: str
    reason: str
    batch: str | None
    undoes: str | None
    changes: list[AtomChangeDocument]


class TransitionDocument(JsonDocument):
    """One status change."""

    old: str | None
    new: str
    reason: str
    actor: str
    at: UtcTime
    commit: str


class VersionDocument(JsonDocument):
    """An atom after one commit."""

    revision: int
    commit: str
    at: UtcTime
    actor: str
    verb: str
    reason: str
    status: str
    content: str
    fields: list[str]


class HistoryDocument(JsonDocument):
    """An atom's status changes and versions."""

    id: str
    path: str | None
    transitions: list[TransitionDocument]
    versions: list[VersionDocument]


def entry_document(entry: JournalEntry) -> EntryDocument:
    """Return a commit with the atoms it changed."""
    changes = [
        AtomChangeDocument.of(change, id=change.atom_id, status=change.new_status, fields=sorted(change.fields))
        for change in entry.changes
    ]
    return EntryDocument.of(entry, commit=entry.id, changes=changes)


def history_document(memory: Memory, id: str) -> HistoryDocument:
    """Return the history of an atom; NotFound if there is none with this id."""
    atom = memory.get(id)
    history = memory.history(atom.id)
    versions = [
        VersionDocument.of(
            version, status=version.atom.status, content=version.atom.content, fields=sorted(version.fields)
        )
        for version in history.versions
    ]
    return HistoryDocument.of(history, id=atom.id, path=memory.path_of(atom.id), versions=versions)
