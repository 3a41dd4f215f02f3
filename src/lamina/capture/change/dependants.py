"""Statements that depend on an ended one are challenged, with the reason, in the commit that ends it.

One step only: recall marks what depends on a challenged statement. Pinned statements, segments and the successor of the
ended statement are left alone. Claims of one subject may also depend on each other by rules of the settings: a user who
changes `gym` may have another `locker`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lamina.atom.atom import Atom, AtomId, RelationName, effective_from
from lamina.atom.claim import Claim, claim_of, comparable_value
from lamina.atom.provenance import TRUST, Origin, Scope
from lamina.atom.status import Status
from lamina.store.base import AtomFilter, Store
from lamina.store.commit_rules import find_refusal_reason
from lamina.text.normal_form import are_equivalent, comparison_form, normal_form

DEPENDENCY_RELATIONS = frozenset({RelationName.DEPENDS_ON.value, RelationName.IMPLEMENTS.value})
ENDED_STATUSES = frozenset({Status.SUPERSEDED, Status.INVALIDATED, Status.TOMBSTONED})
MAX_CANDIDATES = 100
GUESSED_CONFIDENCE = 0.5
"""A relation that is not more confident was guessed by a language model or has faded: recall marks what depends on it,
and its status stays."""


@dataclass(frozen=True, slots=True)
class DependencyRule:
    """If one of the attributes in `when` changes, those in `doubts` may no longer hold."""

    name: str
    when: frozenset[str]
    doubts: frozenset[str]


def make_dependency_rule(name: str, when: Sequence[str], doubts: Sequence[str]) -> DependencyRule:
    """Return a rule with its attributes in the form in which they are compared."""
    return DependencyRule(name, frozenset(map(normal_form, when)), frozenset(map(normal_form, doubts)))


def find_dependants(
    changed: Mapping[AtomId, Atom], store: Store, origin: Origin, rules: Sequence[DependencyRule] = ()
) -> list[tuple[Atom, str]]:
    """Return the atoms that are challenged because of the changes, each with the reason.

    Atoms that change themselves are not among them, nor those that `origin`, who makes the changes, may not challenge.
    """
    ended_atoms = _find_ended(changed, store)
    dependent: dict[AtomId, tuple[Atom, str]] = {}
    for scope in {atom.scope for atom in ended_atoms.values()}:
        ended_in_scope = {atom.id: atom for atom in ended_atoms.values() if atom.scope == scope}
        dependent |= _find_linked(ended_in_scope, changed, store, scope)
        dependent |= {
            key: pair
            for key, pair in _find_by_rule(ended_in_scope, changed, store, scope, rules).items()
            if key not in dependent
        }
    return [
        (atom.with_(status=Status.CHALLENGED), cause)
        for key, (atom, cause) in sorted(dependent.items())
        if atom.status is Status.ACTIVE
        and not atom.pinned
        and key not in changed
        and may_challenge(atom, origin, store)
    ]


def add_dependants(
    changed: Sequence[Atom], reason: str, store: Store, origin: Origin, rules: Sequence[DependencyRule] = ()
) -> tuple[list[Atom], str]:
    """Return the changed atoms together with those challenged because of them, and all reasons joined."""
    challenged = find_dependants({atom.id: atom for atom in changed}, store, origin, rules)
    reasons = dict.fromkeys(text for text in (reason, *(cause for _, cause in challenged)) if text)
    return [*changed, *(atom for atom, _ in challenged)], "; ".join(reasons)


def may_challenge(atom: Atom, origin: Origin, store: Store) -> bool:
    """Return whether this origin may challenge a statement."""
    if origin is Origin.HUMAN:
        return True
    if not atom.revision:
        return TRUST[atom.origin] <= TRUST[origin]
    return find_refusal_reason(atom.with_(status=Status.CHALLENGED), origin, store.atoms) is None


def _find_ended(changed: Mapping[AtomId, Atom], store: Store) -> dict[AtomId, Atom]:
    """Return the stored statements that end with these changes."""
    ids = tuple(
        atom.id for atom in changed.values() if atom.status in ENDED_STATUSES and atom.revision and not atom.is_segment
    )
    if not ids:
        return {}
    scopes = tuple({changed[atom_id].scope for atom_id in ids})
    current_ids = {
        atom.id for atom in store.atoms.read(AtomFilter(scopes=scopes, ids=ids)) if atom.status not in ENDED_STATUSES
    }
    return {atom_id: changed[atom_id] for atom_id in ids if atom_id in current_ids}


def _find_linked(
    ended_atoms: Mapping[AtomId, Atom], changed: Mapping[AtomId, Atom], store: Store, scope: Scope
) -> dict[AtomId, tuple[Atom, str]]:
    """Return the statements with a relation that makes them depend on ended ones, each with the reason."""
    edges = [
        edge
        for edge in store.graph.edges(ended_atoms, [scope])
        if edge.name in DEPENDENCY_RELATIONS and edge.target in ended_atoms and edge.confidence > GUESSED_CONFIDENCE
    ]
    linked = _read_atoms({edge.source for edge in edges}, store, scope)
    sources = {atom.id: atom for atom in linked if not atom.is_segment}
    dependent: dict[AtomId, tuple[Atom, str]] = {}
    for edge in edges:
        ended, source = ended_atoms[AtomId(edge.target)], sources.get(edge.source)
        if source is not None and source.id not in ended.superseded_by and not _is_restated(ended, changed, store):
            dependent[source.id] = source, f"{source.id} depends on {ended.id}, which {_STATUS_PHRASES[ended.status]}"
    return dependent


_STATUS_PHRASES = {
    Status.SUPERSEDED: "was superseded",
    Status.INVALIDATED: "was wrong",
    Status.TOMBSTONED: "was forgotten",
}


def _is_restated(ended: Atom, changed: Mapping[AtomId, Atom], store: Store) -> bool:
    """Return whether a successor says the same again, so that nothing that depends on the statement is affected."""
    return any(
        (
            claim_of(successor) is not None
            and claim_of(successor) == claim_of(ended)
            and comparable_value(successor) == comparable_value(ended)
        )
        or are_equivalent(comparison_form(successor.content), comparison_form(ended.content))
        for successor in _read_successors(ended, changed, store)
    )


def _read_successors(ended: Atom, changed: Mapping[AtomId, Atom], store: Store) -> list[Atom]:
    """Return the successors of a statement, changed ones as they will be."""
    changed_successors = [changed[atom_id] for atom_id in ended.superseded_by if atom_id in changed]
    missing = {atom_id for atom_id in ended.superseded_by if atom_id not in changed}
    return changed_successors + _read_atoms(missing, store, ended.scope)


def _find_by_rule(
    ended_atoms: Mapping[AtomId, Atom],
    changed: Mapping[AtomId, Atom],
    store: Store,
    scope: Scope,
    rules: Sequence[DependencyRule],
) -> dict[AtomId, tuple[Atom, str]]:
    """Return the claims that depend on superseded ones by a rule of the settings, each with the reason."""
    dependent: dict[AtomId, tuple[Atom, str]] = {}
    for ended in (atom for atom in ended_atoms.values() if atom.status is Status.SUPERSEDED):
        claim, attribute = claim_of(ended), normal_form(ended.attribute or "")
        matching_rules = [rule for rule in reversed(rules) if attribute and attribute in rule.when]
        names = {doubted: rule.name for rule in matching_rules for doubted in rule.doubts}
        successors = _read_successors(ended, changed, store) if names else []
        if claim is None or not successors or comparable_value(successors[-1]) == comparable_value(ended):
            continue
        newest = max(successors, key=lambda successor: (effective_from(successor), successor.id))
        changed_claims = {claim_of(atom) for atom in changed.values() if atom.id != ended.id} - {None}
        claims = tuple(
            name for attribute_name in sorted(names) for name in Claim(claim.subject, attribute_name).stored_names
        )
        query = AtomFilter(scopes=(scope,), claims=claims, statuses=frozenset({Status.ACTIVE}), limit=MAX_CANDIDATES)
        for other in store.atoms.read(query):
            name = names.get(normal_form(other.attribute or ""))
            is_older = other.id not in (ended.id, newest.id) and effective_from(other) < effective_from(newest)
            is_same = normal_form(other.subject) == normal_form(ended.subject)
            if name and is_older and is_same and claim_of(other) not in changed_claims:
                dependent[other.id] = other, f"{name}: may no longer hold"
    return dependent


def _read_atoms(ids: Iterable[AtomId], store: Store, scope: Scope) -> list[Atom]:
    sorted_ids = tuple(sorted(set(ids)))
    return store.atoms.read(AtomFilter(scopes=(scope,), ids=sorted_ids)) if sorted_ids else []
