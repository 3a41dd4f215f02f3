"""What rests on something that is over is doubted, with the reason, in the commit that ends it.

One step only: what rests on what is doubted is told at read time. What is pinned is left alone, and so are the words
people said and what takes the place of the ended statement. Declared claims of one subject may also depend on each
other by rules of the settings: who changes `gym` may have another `locker`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lamina.atom.atom import Atom
from lamina.atom.claim import Claim, claim_of, value_of
from lamina.atom.identity import AtomId
from lamina.atom.relation import RelationName
from lamina.atom.scope import Scope
from lamina.atom.standing import begins
from lamina.atom.status import Status
from lamina.atom.trust import TRUST, Origin
from lamina.store.base import Filter, Store
from lamina.text.alike import form_of, say_the_same
from lamina.text.normal import normal_form

RESTS_ON = frozenset({RelationName.DEPENDS_ON.value, RelationName.IMPLEMENTS.value})
ENDS = frozenset({Status.SUPERSEDED, Status.INVALIDATED, Status.TOMBSTONED})
LOOKED_AT = 100


@dataclass(frozen=True, slots=True)
class DependencyRule:
    """Where one of the attributes in `when` has changed, those in `doubts` may no longer hold."""

    name: str
    when: frozenset[str]
    doubts: frozenset[str]


def dependency_rule(name: str, when: Sequence[str], doubts: Sequence[str]) -> DependencyRule:
    """Return a rule with its attributes in the form in which they are compared."""
    return DependencyRule(name, frozenset(map(normal_form, when)), frozenset(map(normal_form, doubts)))


def dependants(
    changed: Mapping[AtomId, Atom], store: Store, origin: Origin, rules: Sequence[DependencyRule] = ()
) -> list[tuple[Atom, str]]:
    """What is doubted because of what changes, and why; nothing that changes itself is among it.

    `origin` is who makes the change: what somebody more trusted said is not theirs to doubt.
    """
    over = _over(changed, store)
    found: dict[AtomId, tuple[Atom, str]] = {}
    for scope in {each.scope for each in over.values()}:
        own = {each.id: each for each in over.values() if each.scope == scope}
        found |= _linked(own, changed, store, scope)
        found |= {key: pair for key, pair in _by_rule(own, changed, store, scope, rules).items() if key not in found}
    return [
        (atom.with_(status=Status.CHALLENGED), why)
        for key, (atom, why) in sorted(found.items())
        if atom.status is Status.ACTIVE and not atom.pinned and key not in changed and may_end(atom, origin, store)
    ]


def with_dependants(
    changed: Sequence[Atom], reason: str, store: Store, origin: Origin, rules: Sequence[DependencyRule] = ()
) -> tuple[list[Atom], str]:
    """What changes together with what is doubted because of it, and the reason with all of theirs."""
    found = dependants({each.id: each for each in changed}, store, origin, rules)
    reasons = dict.fromkeys(each for each in (reason, *(why for _, why in found)) if each)
    return [*changed, *(atom for atom, _ in found)], "; ".join(reasons)


def may_end(atom: Atom, origin: Origin, store: Store) -> bool:
    """Whether somebody of this origin has a say over how a statement stands."""
    if origin is Origin.HUMAN:
        return True
    if not atom.revision:
        return TRUST[atom.origin] <= TRUST[origin]
    return store.objection(atom.with_(status=Status.CHALLENGED), origin) is None


def _over(changed: Mapping[AtomId, Atom], store: Store) -> dict[AtomId, Atom]:
    """Those that stood before and end with this change."""
    ids = tuple(atom.id for atom in changed.values() if atom.status in ENDS and atom.revision and not atom.is_segment)
    if not ids:
        return {}
    scopes = tuple({changed[atom_id].scope for atom_id in ids})
    stood = {each.id for each in store.read(Filter(scopes=scopes, ids=ids)) if each.status not in ENDS}
    return {atom_id: changed[atom_id] for atom_id in ids if atom_id in stood}


def _linked(
    over: Mapping[AtomId, Atom], changed: Mapping[AtomId, Atom], store: Store, scope: Scope
) -> dict[AtomId, tuple[Atom, str]]:
    """What was said to rest on them."""
    edges = [each for each in store.edges(over, [scope]) if each.name in RESTS_ON and each.target in over]
    linked = _read({each.source for each in edges}, store, scope)
    sources = {each.id: each for each in linked if not each.is_segment}
    found: dict[AtomId, tuple[Atom, str]] = {}
    for edge in edges:
        ended, source = over[AtomId(edge.target)], sources.get(edge.source)
        if source is not None and source.id not in ended.superseded_by and not _goes_on(ended, changed, store):
            found[source.id] = source, f"{source.id} rests on {ended.id}, which {_WORDS[ended.status]}"
    return found


_WORDS = {Status.SUPERSEDED: "is over", Status.INVALIDATED: "was wrong", Status.TOMBSTONED: "was taken back"}


def _goes_on(ended: Atom, changed: Mapping[AtomId, Atom], store: Store) -> bool:
    """Whether what took its place says the same again, so that nothing that rests on it is touched."""
    return any(
        (claim_of(heir) is not None and claim_of(heir) == claim_of(ended) and value_of(heir) == value_of(ended))
        or say_the_same(form_of(heir.content), form_of(ended.content))
        for heir in _heirs(ended, changed, store)
    )


def _heirs(ended: Atom, changed: Mapping[AtomId, Atom], store: Store) -> list[Atom]:
    known = [changed[each] for each in ended.superseded_by if each in changed]
    missing = {each for each in ended.superseded_by if each not in changed}
    return known + _read(missing, store, ended.scope)


def _by_rule(
    over: Mapping[AtomId, Atom],
    changed: Mapping[AtomId, Atom],
    store: Store,
    scope: Scope,
    rules: Sequence[DependencyRule],
) -> dict[AtomId, tuple[Atom, str]]:
    """Return the declared claims that depend on replaced ones by a rule of the settings."""
    found: dict[AtomId, tuple[Atom, str]] = {}
    for ended in (atom for atom in over.values() if atom.status is Status.SUPERSEDED):
        claim, attribute = claim_of(ended), normal_form(ended.attribute or "")
        applied = [rule for rule in reversed(rules) if attribute and attribute in rule.when]
        names = {doubted: rule.name for rule in applied for doubted in rule.doubts}
        heirs = _heirs(ended, changed, store) if names else []
        if claim is None or not heirs or value_of(heirs[-1]) == value_of(ended):
            continue
        heir = max(heirs, key=lambda each: (begins(each), each.id))
        told = {claim_of(atom) for atom in changed.values() if atom.id != ended.id} - {None}
        claims = tuple(name for each in sorted(names) for name in Claim(claim.subject, each).names)
        wanted = Filter(scopes=(scope,), claims=claims, statuses=frozenset({Status.ACTIVE}), limit=LOOKED_AT)
        for other in store.read(wanted):
            name = names.get(normal_form(other.attribute or ""))
            is_older = other.id not in (ended.id, heir.id) and begins(other) < begins(heir)
            is_same = normal_form(other.subject) == normal_form(ended.subject)
            if name and is_older and is_same and claim_of(other) not in told:
                found[other.id] = other, f"{name}: may no longer hold"
    return found


def _read(ids: Iterable[AtomId], store: Store, scope: Scope) -> list[Atom]:
    wanted = tuple(sorted(set(ids)))
    return store.read(Filter(scopes=(scope,), ids=wanted)) if wanted else []
