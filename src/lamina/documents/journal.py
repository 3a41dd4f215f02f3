"""The JSON document of a commit in the journal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina.documents.atom import UtcTime
from lamina.documents.json_document import JsonDocument
from lamina.text.timestamps import format_time

if TYPE_CHECKING:
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


def entry_document(entry: JournalEntry) -> EntryDocument:
    """Return a commit with the atoms it changed."""
    return EntryDocument(
        seq=entry.seq,
        commit=entry.id,
        at=format_time(entry.at),
        scope=entry.scope,
        actor=entry.actor,
        origin=entry.origin.value,
        verb=entry.verb,
        reason=entry.reason,
        batch=entry.batch,
        undoes=entry.undoes,
        changes=[
            AtomChangeDocument(
                id=change.atom_id,
                revision=change.revision,
                old_status=change.old_status.value if change.old_status else None,
                status=change.new_status.value,
                fields=sorted(change.fields),
            )
            for change in entry.changes
        ],
    )
