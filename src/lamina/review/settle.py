"""Settling: a statement whose successor's day has come is over, and says so."""

from __future__ import annotations

from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.scope import Scope
from lamina.atom.status import ENDED, Status
from lamina.atom.trust import Origin
from lamina.capture.change.dependants import with_dependants
from lamina.store.base import Change, Commit, Filter, Store

VERB = "settle"


def settle(store: Store, scope: Scope, now: datetime) -> list[Atom]:
    """Mark what an announced value has taken the place of, in one commit; where nothing is due, nothing is written.

    At read time validity has decided long before: this keeps the status, and the file that shows it, in step.
    """
    if not _due(store, scope, now):
        return []
    with store.alone():
        due = [atom.with_(status=Status.SUPERSEDED) for atom in _due(store, scope, now)]
        if not due:
            return []
        atoms, reason = with_dependants(due, f"their time was over by {now:%Y-%m-%d}", store, Origin.HUMAN)
        done = store.commit(
            Commit(
                # Whoever announced the successor was trusted enough to end them; this only keeps the day.
                actor="lamina",
                origin=Origin.HUMAN,
                verb=VERB,
                reason=reason,
                scope=scope,
                changes=tuple(map(Change, atoms)),
            )
        )
    return list(done.atoms)


def _due(store: Store, scope: Scope, now: datetime) -> list[Atom]:
    found = store.read(Filter(scopes=(scope,), statuses=frozenset({Status.ACTIVE}), over_by=now))
    return [atom for atom in found if atom.superseded_by and not atom.is_episode and _was_announced(store, atom)]


def _was_announced(store: Store, atom: Atom) -> bool:
    """Whether its end lay ahead when it was told. One that had ended and was restored stays as somebody wanted it."""
    versions = store.versions(atom.id)
    told = [
        version for version in versions if version.atom.superseded_by and version.atom.valid_until == atom.valid_until
    ]
    ahead = bool(told) and atom.valid_until is not None and told[0].at < atom.valid_until
    return ahead and not any(version.atom.status in ENDED for version in versions)
