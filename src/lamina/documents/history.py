"""An atom's past: its changes of status and every version of it, oldest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina.documents.atom import Moment
from lamina.documents.document import Document
from lamina.text.times import format_time

if TYPE_CHECKING:
    from lamina.memory import Memory


class TransitionDocument(Document):
    """One change of status."""

    old: str | None
    new: str
    reason: str
    actor: str
    at: Moment
    commit: str


class VersionDocument(Document):
    """An atom as one commit left it."""

    revision: int
    commit: str
    at: Moment
    actor: str
    verb: str
    reason: str
    status: str
    content: str
    fields: list[str]


class HistoryDocument(Document):
    """What an atom was, when, and why it changed."""

    id: str
    path: str | None
    transitions: list[TransitionDocument]
    versions: list[VersionDocument]


def history_document(memory: Memory, id: str) -> HistoryDocument:
    """The past of an atom."""
    atom = memory.get(id)
    past = memory.history(atom.id)
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
            for transition in past.transitions
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
            for version in past.versions
        ],
    )
