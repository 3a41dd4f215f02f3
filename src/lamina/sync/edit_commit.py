"""Edits of files as commits by the actor `human`.

If edits of files need review, an edit becomes a proposal, and the atom keeps its text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext

from lamina.atom.atom import Atom, IdSource
from lamina.atom.proposals_and_pairs import (
    EDITED_FIELDS_KEY,
    EDITED_FILE_KEY,
    PROPOSABLE_FIELDS,
    PROPOSAL_TYPE_KEY,
    ProposalType,
    edited_values,
)
from lamina.atom.provenance import TRUST, Origin, Scope, limit_origin
from lamina.atom.status import ENDED, Status, TransitionCause
from lamina.clock import Clock
from lamina.store.admin import FileProblem
from lamina.store.base import AtomChange, AtomFilter, Commit, FileSnapshot, Store, TransactionMode
from lamina.store.projection import FileChanges, FileRecord
from lamina.sync.field_edits import (
    DecideNew,
    DecideStatus,
    FileEdit,
    StatusDecision,
    edited_counters,
    merge_edit,
    undo_deletion,
    verb_of,
)
from lamina.sync.new_files import resolve_links
from lamina.vault.atom_file import ParsedFile

NO_CHANGES = FileChanges()


class EditCommitter:
    """Commits what people wrote on top of the current state, or proposes it if `needs_review`."""

    def __init__(
        self,
        store: Store,
        decide_status: DecideStatus,
        decide_new: DecideNew,
        ids: IdSource,
        clock: Clock,
        *,
        needs_review: bool,
    ) -> None:
        self._store, self._ledger, self._problems = store, store.projection, store.admin.problems
        self._decide_status, self._decide_new, self._ids, self._clock = decide_status, decide_new, ids, clock
        self.needs_review = needs_review

    def head(self, record: FileRecord) -> Atom:
        """Return the current atom of a file."""
        atom = self._ledger.find_atom(str(record.entry.atom_id))
        assert atom is not None
        return atom

    def commit_edit(
        self,
        before: ParsedFile,
        after: ParsedFile,
        head: Atom,
        path: str,
        snapshot: FileSnapshot | None = None,
        *,
        is_restored: bool = False,
    ) -> bool:
        """Commit what a person changed on top of the current state; return whether anything changed.

        What could not be applied is reported. A file is committed even if nothing differs: what it must not say, or
        does not say yet, is written into it.
        """
        edit = self._merge_edit(before, after, head, path)
        files = FileChanges({head.id: snapshot}) if snapshot is not None else NO_CHANGES
        counters = edited_counters(before, after)
        if self.needs_review:
            self._restore_counters(counters, head, path, after)
            return self._propose(edit, head, path, files, after.lines.get("status", 1))
        if is_restored:
            edit = undo_deletion(edit, after, head)
        with self._store.transaction(TransactionMode.WRITE) if counters else nullcontext():
            self._commit_merged(edit, head, path, files)
            if counters:
                self._store.signals.edit(head.id, counters)
        return edit.differs_from(head) or bool(counters)

    def _commit_merged(self, edit: FileEdit, head: Atom, path: str, files: FileChanges) -> None:
        """Commit an edit that was applied to the current state; a new status may change other atoms as well."""
        if edit.atom.status is head.status or edit.way is TransitionCause.UNDO:
            self.commit("edit", f"edited {path}", [edit.atom], head.scope, edit.way, files)
            return
        decision = self._decide_status(edit.atom.with_(status=head.status), edit.atom.status)
        atoms = [decision.atom, *decision.other_atoms]
        verb = verb_of(head.status, edit.atom.status)
        self.commit(verb, _commit_reason(f"edited {path}", decision), atoms, head.scope, decision.way, files)

    def _restore_counters(self, counters: Mapping[str, object], head: Atom, path: str, after: ParsedFile) -> None:
        """Report edited counters that are not applied, and have the file written with the stored ones again."""
        if counters:
            message = f"{', '.join(counters)}: the edit was ignored, because edits of files need review"
            line = after.lines.get(next(iter(counters)), 1)
            self._problems.report(FileProblem(path, "ignored-field", message, line, head.id))
            self._store.signals.edit(head.id, {})

    def commit_deletion(self, head: Atom, path: str) -> None:
        """Commit that a person deleted an atom's file."""
        decision = self._decide_status(head, Status.TOMBSTONED)
        files = FileChanges(deleted=frozenset({head.id}))
        atoms = [decision.atom, *decision.other_atoms]
        self.commit("delete", _commit_reason(f"deleted {path}", decision), atoms, head.scope, files=files)

    def to_new_atom(self, atom: Atom) -> Atom:
        """Return the atom of a new file as it will be written: pending, if edits of files need review."""
        if not self.needs_review:
            return atom
        status = atom.status if atom.status in ENDED else Status.CONSTRAINED
        return atom.with_(origin=limit_origin(Origin.DOCUMENT, atom.origin), status=status)

    def adopt_compared(self, atom: Atom, path: str, snapshot: FileSnapshot) -> None:
        """Commit the statement of a new file together with what it changes about others."""
        decision = self._decide_new(atom)
        files = FileChanges({atom.id: snapshot})
        atoms = [decision.atom, *decision.other_atoms]
        self.commit("adopt", _commit_reason(f"found {path}", decision), atoms, atom.scope, decision.way, files)

    def commit(
        self,
        verb: str,
        reason: str,
        atoms: Sequence[Atom],
        scope: Scope,
        way: TransitionCause = TransitionCause.ORDINARY,
        files: FileChanges = NO_CHANGES,
    ) -> None:
        """Commit atoms as the actor `human`, together with what a person did to their files."""
        self._ledger.commit_edits(
            Commit(
                actor="human",
                origin=Origin.HUMAN,
                verb=verb,
                reason=reason,
                scope=scope,
                way=way,
                changes=tuple(map(AtomChange, atoms)),
            ),
            files,
        )

    def _merge_edit(self, before: ParsedFile, after: ParsedFile, head: Atom, path: str) -> FileEdit:
        """Return the edit applied to the current state; report its problems."""
        find_atom = self._ledger.find_atom
        edit = merge_edit(resolve_links(before, find_atom), resolve_links(after, find_atom), head, path)
        for problem in edit.problems:
            self._problems.report(problem)
        return edit

    def _propose(self, edit: FileEdit, head: Atom, path: str, files: FileChanges, line: int) -> bool:
        """Propose the edit. The file is rewritten from the atom; the edited text is in the proposal."""
        if edit.atom.status is not head.status:
            message = "the status was not changed: edits of files need review; decide with `lamina review`"
            self._problems.report(FileProblem(path, "refused-status", message, line, head.id))
        fields = [name for name in PROPOSABLE_FIELDS if getattr(edit.atom, name) != getattr(head, name)]
        proposal = self._proposal(edit.atom, head, path, fields)
        is_new = bool(fields) and not self._is_proposed(proposal)
        atoms = ([head] if head.id in files.snapshots else []) + ([proposal] if is_new else [])
        if atoms:
            self.commit("propose", f"edited {path}: pending review", atoms, head.scope, files=files)
        return is_new

    def _proposal(self, edited: Atom, head: Atom, path: str, fields: Sequence[str]) -> Atom:
        metadata = {
            PROPOSAL_TYPE_KEY: ProposalType.FILE_EDIT.value,
            EDITED_FIELDS_KEY: " ".join(fields),
            EDITED_FILE_KEY: path,
        }
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
        pending, values = frozenset({Status.CONSTRAINED}), edited_values(proposal)
        query = AtomFilter(scopes=(proposal.scope,), statuses=pending, contents=(proposal.content,))
        return any(
            atom.derived_from == proposal.derived_from and edited_values(atom) == values
            for atom in self._store.atoms.read(query)
        )


def _commit_reason(action: str, decision: StatusDecision) -> str:
    return f"{action}: {decision.reason}" if decision.reason else action
