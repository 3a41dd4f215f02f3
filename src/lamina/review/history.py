"""The history of an atom, built from its versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.status import Status
from lamina.store.base import AtomVersion, CommitId


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
    """The history of an atom: its status changes and every version, oldest first."""

    transitions: tuple[Transition, ...]
    versions: tuple[AtomVersion, ...]


def build_history(versions: Sequence[AtomVersion]) -> History:
    """Return the versions with the status changes among them."""
    transitions = tuple(
        Transition(version.old_status, version.atom.status, version.reason, version.actor, version.at, version.commit)
        for version in versions
        if version.old_status != version.atom.status
    )
    return History(transitions, tuple(versions))
