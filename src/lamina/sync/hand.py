"""Edits of files as commits by the actor `human`.

If edits of files need review, an edit becomes a proposal, and the atom keeps its text.
"""

from __future__ import annotations

from collections.abc import Sequence

from lamina.atom.atom import Atom
from lamina.atom.identity import IdSource
from lamina.atom.proposal import EDITED, FILE, PROPOSABLE, TYPE, Proposal, edited_values
from lamina.atom.scope import Scope
from lamina.atom.status import ENDED, Status, Way
from lamina.atom.trust import TRUST, Origin, bound
from lamina.clock import Clock
from lamina.store.base import Change, Commit, Filter, Seen, Store
from lamina.store.ledger import FileRow, Problem
from lamina.sync.adopt import resolved
from lamina.sync.edit import Decide, Decision, Edit, brought_back, human_edit, verb_of
from lamina.vault.codec import Sheet


class Hand:
    """Commits what people wrote on top of the current state, or proposes it if `needs_review`."""

    def __init__(self, store: Store, decide: Decide, ids: IdSource, clock: Clock, *, review: bool) -> None:
        self._store, self._ledger, self._decide, self._ids, self._clock = store, store.ledger, decide, ids, clock
        self.review = review

    def head(self, row: FileRow) -> Atom:
        """Return the current atom of a file."""
        assert row.line.atom_id is not None
        return self._ledger.head(row.line.atom_id)

    def take(
        self, before: Sheet, after: Sheet, head: Atom, path: str, seen: Seen | None = None, *, came_back: bool = False
    ) -> bool:
        """Commit what a person changed on top of the current state; return whether anything changed.

        What could not be applied is reported. A file is committed even if nothing differs: what it must not say, or
        does not say yet, is written into it.
        """
        edit = self._edit(before, after, head, path)
        if self.review:
            return self._put_forward(edit, head, path, seen, after.lines.get("status", 1))
        if came_back:
            edit = brought_back(edit, after, head)
        if edit.atom.status is head.status or edit.way is Way.UNDO:
            self.commit("edit", f"edited {path}", [Change(edit.atom, seen)], head.scope, edit.way)
        else:
            decision = self._decide(edit.atom.with_(status=head.status), edit.atom.status)
            changes = [Change(decision.atom, seen), *map(Change, decision.others)]
            verb = verb_of(head.status, edit.atom.status)
            self.commit(verb, _told(f"edited {path}", decision), changes, head.scope, decision.way)
        return edit.changes(head)

    def delete(self, head: Atom, path: str) -> None:
        """Commit that a person deleted an atom's file."""
        decision = self._decide(head, Status.TOMBSTONED)
        changes = [Change(decision.atom, file_gone=True), *map(Change, decision.others)]
        self.commit("delete", _told(f"deleted {path}", decision), changes, head.scope)

    def as_found(self, atom: Atom) -> Atom:
        """Return the atom of a new file as it will be written: pending, if edits of files need review."""
        if not self.review:
            return atom
        status = atom.status if atom.status in ENDED else Status.CONSTRAINED
        return atom.with_(origin=bound(Origin.DOCUMENT, atom.origin), status=status)

    def commit(self, verb: str, reason: str, changes: Sequence[Change], scope: Scope, way: Way = Way.ORDINARY) -> None:
        """Commit changes as the actor `human`."""
        self._store.commit(
            Commit(
                actor="human",
                origin=Origin.HUMAN,
                verb=verb,
                reason=reason,
                scope=scope,
                way=way,
                changes=tuple(changes),
            )
        )

    def _edit(self, before: Sheet, after: Sheet, head: Atom, path: str) -> Edit:
        """Return the edit applied to the current state; report its problems."""
        named = self._ledger.atom_named
        edit = human_edit(resolved(before, named), resolved(after, named), head, path)
        for problem in edit.problems:
            self._ledger.report(problem)
        return edit

    def _put_forward(self, edit: Edit, head: Atom, path: str, seen: Seen | None, line: int) -> bool:
        """Propose the edit. The file is rewritten from the atom; the edited text is in the proposal."""
        if edit.atom.status is not head.status:
            message = "the status was not changed: edits of files need review; decide with `lamina review`"
            self._ledger.report(Problem(path, "refused-status", message, line, head.id))
        fields = [name for name in PROPOSABLE if getattr(edit.atom, name) != getattr(head, name)]
        proposal = self._proposal(edit.atom, head, path, fields)
        is_new = bool(fields) and not self._is_proposed(proposal)
        changes = [Change(head, seen)] if seen is not None else []
        changes += [Change(proposal)] if is_new else []
        if changes:
            self.commit("propose", f"edited {path}: pending review", changes, head.scope)
        return is_new

    def _proposal(self, edited: Atom, head: Atom, path: str, fields: Sequence[str]) -> Atom:
        metadata = {TYPE: Proposal.FILE_EDIT.value, EDITED: " ".join(fields), FILE: path}
        return edited.with_(
            id=self._ids.new(self._clock.now()),
            revision=0,
            recorded_at=None,
            status=Status.CONSTRAINED,
            origin=min((Origin.DOCUMENT, head.origin), key=lambda origin: TRUST[origin]),
            principal=None,
            segment_id=None,
            supersedes=(),
            superseded_by=(),
            derived_from=(head.id,),
            metadata={**edited.metadata, **metadata},
        )

    def _is_proposed(self, proposal: Atom) -> bool:
        """Return whether the same edit is pending already: an open editor may save it again."""
        atom_filter = Filter(
            scopes=(proposal.scope,), statuses=frozenset({Status.CONSTRAINED}), contents=(proposal.content,)
        )
        pending_atoms = (
            pending_atom
            for pending_atom in self._store.read(atom_filter)
            if pending_atom.derived_from == proposal.derived_from
        )
        return any(edited_values(pending_atom) == edited_values(proposal) for pending_atom in pending_atoms)


def _told(what: str, decision: Decision) -> str:
    return f"{what}: {decision.reason}" if decision.reason else what
