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
        id=atom.id, path=memory.path_of(atom.id),
        transitions=[
            TransitionDocument(
                old=each.old and each.old.value, new=each.new.value, reason=each.reason, actor=each.actor,
                at=format_time(each.at), commit=each.commit,
            )
            for each in past.transitions
        ],
        versions=[
            VersionDocument(
                revision=each.revision, commit=each.commit, at=format_time(each.at), actor=each.actor, verb=each.verb,
                reason=each.reason, status=each.atom.status.value, content=each.atom.content,
                fields=sorted(each.fields),
            )
            for each in past.versions
        ],
    )  # fmt: skip
