"""A person's hand: what somebody did to a file, as an edit and as a commit by actor `human`."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.atom.atom import Atom
from lamina.atom.scope import Scope
from lamina.atom.status import Way
from lamina.atom.trust import Origin
from lamina.store.base import Change, Commit, Store
from lamina.store.ledger import FileRow
from lamina.sync.adopt import resolved
from lamina.sync.edit import Edit, human_edit
from lamina.vault.codec import Sheet


class Hand:
    """Puts what people wrote on top of what stands."""

    def __init__(self, store: Store) -> None:
        self._store, self._ledger = store, store.ledger

    def head(self, row: FileRow) -> Atom:
        """The atom of a file as it stands."""
        assert row.line.atom_id is not None
        return self._ledger.head(row.line.atom_id)

    def edit(self, before: Sheet, after: Sheet, head: Atom, path: str) -> Edit:
        """What a person changed, on top of the current state; what could not be taken over is reported."""
        named = self._ledger.atom_named
        edit = human_edit(resolved(before, named), resolved(after, named), head, path)
        for problem in edit.problems:
            self._ledger.report(problem)
        return edit

    def commit(self, verb: str, reason: str, changes: Sequence[Change], scope: Scope, way: Way = Way.ORDINARY) -> None:
        """Commit on a person's behalf."""
        self._store.commit(
            Commit(
                actor="human", origin=Origin.HUMAN, verb=verb, reason=reason, scope=scope, way=way,
                changes=tuple(changes),
            )
        )  # fmt: skip
