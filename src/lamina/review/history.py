"""An atom's past, as its versions tell it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.status import Status
from lamina.store.base import CommitId, Version


@dataclass(frozen=True, slots=True)
class Transition:
    """One change of status."""

    old: Status | None
    new: Status
    reason: str
    actor: str
    at: datetime
    commit: CommitId


@dataclass(frozen=True, slots=True)
class History:
    """An atom's past: its changes of status and every version of it, oldest first."""

    transitions: tuple[Transition, ...]
    versions: tuple[Version, ...]


def history_of(versions: Sequence[Version]) -> History:
    """The versions with the changes of status among them."""
    transitions = tuple(
        Transition(version.old_status, version.atom.status, version.reason, version.actor, version.at, version.commit)
        for version in versions
        if version.old_status != version.atom.status
    )
    return History(transitions, tuple(versions))
