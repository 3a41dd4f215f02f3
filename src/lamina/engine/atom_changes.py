"""Changes of single atoms, each with what depends on the atom."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lamina.atom.atom import Atom, Relation
from lamina.atom.provenance import Origin
from lamina.atom.status import ENDED, Status, TransitionCause
from lamina.capture.change.dependants import add_dependants
from lamina.engine.caller_access import CallerAccess
from lamina.errors import InvalidInput, Refused, StaleRevision
from lamina.lifecycle.action_policy import PolicyContext, classify_change, find_objection, lifecycle_stage
from lamina.lifecycle.ageing_decision import AgeingDecision
from lamina.review.reinstatement import restore_atom
from lamina.store.base import TransactionMode


class AtomChanges:
    """Changes atoms in the name of one caller, each in one commit."""

    def __init__(self, access: CallerAccess) -> None:
        self._access = access

    def change(self, id: str, verb: str, reason: str, change: Callable[[Atom], Atom]) -> Atom:
        """Read, change and commit one atom; return its new version."""
        return self.change_together(id, verb, reason, lambda atom: [change(atom)])

    def change_together(
        self,
        id: str,
        verb: str,
        reason: str,
        change: Callable[[Atom], Sequence[Atom]],
        way: TransitionCause = TransitionCause.ORDINARY,
    ) -> Atom:
        """Read an atom and commit it with all that changes with it; after a conflicting write, retry under a lock."""
        access = self._access
        store, caller = access.engine.store, access.caller

        def commit(atom: Atom) -> Atom:
            rules = access.engine.models.dependency_rules
            changed_atoms = change(atom)
            _check_policy(verb, atom, changed_atoms, caller.ceiling)
            atoms, full_reason = add_dependants(changed_atoms, reason, store, caller.ceiling, rules)
            writer = access.writer_to(caller.scope, None)
            return store.journal.append(writer.commit(verb, full_reason, atoms, way=way)).atoms[0]

        try:
            changed = commit(access.read_atom(id))
        except StaleRevision:
            with store.transaction(TransactionMode.WRITE):
                changed = commit(access.find_atom(id))
        access.flush()
        return changed

    def restore(self, id: str, status: Status, reason: str) -> Atom:
        """Give an ended atom a status; an active one takes back what had ended it."""

        def restored(atom: Atom) -> Sequence[Atom]:
            if atom.status in ENDED and status is Status.ACTIVE:
                return restore_atom(atom, self._access.engine.store, self._access.caller.scopes)
            return [atom.with_(status=status)]

        return self.change_together(id, "restore", reason, restored, TransitionCause.RESTORE)

    def move_layer(self, id: str, verb: str, reason: str, decide: Callable[[Atom], AgeingDecision]) -> Atom:
        """Move an atom to another layer; Refused if the decision is against it."""

        def moved(atom: Atom) -> Atom:
            decision = decide(atom)
            if not decision:
                raise Refused(f"{atom.id} stays in its layer: {decision.reason}")
            return decision.apply_to(atom)

        return self.change(id, verb, reason, moved)


_POLICY_VERBS = frozenset({"forget", "revise", "update_status", "relate"})
"""Verbs of an agent that the action policy decides about; a person is free."""


def _check_policy(verb: str, before: Atom, changed: Sequence[Atom], ceiling: Origin) -> None:
    """Raise Refused if the action policy does not allow an agent what it asks for."""
    if ceiling is Origin.HUMAN or verb not in _POLICY_VERBS:
        return
    context = PolicyContext(
        confidence=1.0,  # it was asked for
        lifecycle_state=lifecycle_stage(before),
        importance=before.importance,
    )
    actions = (action for atom in changed if atom.id == before.id for action in classify_change(before, atom))
    if objection := find_objection(actions, context):
        raise Refused(f"{before.id} stays as it is: {objection}")


def link_atom(atom: Atom, link: Relation) -> Atom:
    """Return the atom with a link, in place of an earlier one of that name; InvalidInput if it is linked to itself."""
    if atom.id == link.target:
        raise InvalidInput("an atom cannot be related to itself")
    others = tuple(other for other in atom.relations if (other.name, other.target) != (link.name, link.target))
    return atom.with_(relations=(*others, link))
