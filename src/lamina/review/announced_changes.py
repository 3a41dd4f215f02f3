"""Settles announced changes: a statement becomes superseded on the day its successor takes effect."""

from __future__ import annotations

from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.provenance import Origin, Scope
from lamina.atom.status import ENDED, Status
from lamina.capture.change.dependants import add_dependants
from lamina.capture.statement_commit import Writer
from lamina.store.base import AtomFilter, Store, TransactionMode

VERB = "settle"


def settle(store: Store, scope: Scope, now: datetime) -> list[Atom]:
    """Mark statements whose announced successor is in effect as superseded, in one commit; none if nothing is due.

    Recall follows validity and needs no mark: this keeps the status, and the file that shows it, up to date.
    """
    if not _find_due(store, scope, now):
        return []
    with store.transaction(TransactionMode.WRITE) as transaction:
        due = [atom.with_(status=Status.SUPERSEDED) for atom in _find_due(transaction, scope, now)]
        if not due:
            return []
        reason = f"their successors took effect by {now:%Y-%m-%d}"
        atoms, reason = add_dependants(due, reason, transaction, Origin.HUMAN)
        # The origin that announced the successor was trusted enough; this only applies it on its day.
        writer = Writer("lamina", Origin.HUMAN, None, scope)
        done = transaction.journal.append(writer.commit(VERB, reason, atoms))
    return list(done.atoms)


def _find_due(store: Store, scope: Scope, now: datetime) -> list[Atom]:
    expired = store.atoms.read(AtomFilter(scopes=(scope,), statuses=frozenset({Status.ACTIVE}), expired_by=now))
    return [atom for atom in expired if atom.superseded_by and not atom.is_episode and _was_announced(store, atom)]


def _was_announced(store: Store, atom: Atom) -> bool:
    """Return whether its end was in the future when it was set; a restored statement is left as it is."""
    versions = store.journal.versions(atom.id)
    announcing = [
        version for version in versions if version.atom.superseded_by and version.atom.valid_until == atom.valid_until
    ]
    was_future = bool(announcing) and atom.valid_until is not None and announcing[0].at < atom.valid_until
    return was_future and not any(version.atom.status in ENDED for version in versions)
