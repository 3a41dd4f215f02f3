"""The JSON document of an atom's history: its status changes and versions, oldest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina.documents.atom import UtcTime
from lamina.documents.json_document import JsonDocument
from lamina.text.timestamps import format_time

if TYPE_CHECKING:
    from lamina.memory import Memory


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


def history_document(memory: Memory, id: str) -> HistoryDocument:
    """Return the history of an atom; NotFound if there is none with this id."""
    atom = memory.get(id)
    history = memory.history(atom.id)
    return HistoryDocument(
        id=atom.id,
        path=memory.path_of(atom.id),
        transitions=[
            TransitionDocument(
                old=transition.old and transition.old.value,
                new=transition.new.value,
                reason=transition.reason,
                actor=transition.actor,
                at=format_time(transition.at),
                commit=transition.commit,
            )
            for transition in history.transitions
        ],
        versions=[
            VersionDocument(
                revision=version.revision,
                commit=version.commit,
                at=format_time(version.at),
                actor=version.actor,
                verb=version.verb,
                reason=version.reason,
                status=version.atom.status.value,
                content=version.atom.content,
                fields=sorted(version.fields),
            )
            for version in history.versions
        ],
    )
