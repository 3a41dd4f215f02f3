"""What atoms did to others, taken back: what they ended stands again, as it stood before them.

A statement between two others is bridged: what it had ended is then ended by whatever ended it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.claim import claim_of
from lamina.atom.identity import AtomId
from lamina.atom.relation import RelationName
from lamina.atom.scope import Scope
from lamina.atom.status import ENDED, Status
from lamina.store.base import CommitId, Filter, Store

_REPLACED = frozenset({Status.SUPERSEDED, Status.INVALIDATED, Status.MERGED})
_RESTS_ON = frozenset({RelationName.DEPENDS_ON, RelationName.IMPLEMENTS})


def given_back(gone: Mapping[AtomId, Atom], store: Store, scopes: Sequence[Scope]) -> dict[AtomId, Atom]:
    """The atoms that those which are gone had ended, as they shall be without them, and what was doubted for it."""
    ended = _read({target for atom in gone.values() for target in atom.supersedes} - gone.keys(), store, scopes)
    others = {each.id: each for each in ended if gone.keys() & set(each.superseded_by)}
    back: dict[AtomId, Atom] = {}
    for other in others.values():
        left = tuple(each for each in other.superseded_by if each not in gone)
        heirs, until = _heirs(other, gone)
        if left or heirs:
            held = other.status is Status.SUPERSEDED and not left
            kept = tuple(dict.fromkeys((*left, *heirs)))
            back[other.id] = other.with_(superseded_by=kept, valid_until=until if held else other.valid_until)
        else:
            versions = store.versions(other.id)
            n = next(n for n, each in enumerate(versions) if gone.keys() & set(each.atom.superseded_by))
            back[other.id] = as_before(other, versions[n - 1].atom if n else None, versions[n].atom)
            back |= relieved(other, versions[n].commit, others.keys(), store, scopes)
    for heir in _read({target for atom in gone.values() for target in atom.superseded_by} - gone.keys(), store, scopes):
        bridged = tuple(each.id for each in back.values() if heir.id in each.superseded_by)
        kept = tuple(supersede for supersede in heir.supersedes if supersede not in gone)
        if bridged or kept != heir.supersedes:
            known = back.get(heir.id, heir)
            back[heir.id] = known.with_(supersedes=tuple(dict.fromkeys((*kept, *bridged))))
    return back


def in_the_way(back: Mapping[AtomId, Atom], gone: Collection[AtomId], store: Store) -> dict[AtomId, list[Atom]]:
    """Who holds the claim of what would stand again by now."""
    found: dict[AtomId, list[Atom]] = {}
    for atom in back.values():
        if not _is_alone(atom) or atom.status is not Status.ACTIVE:
            continue
        wanted = Filter(scopes=(atom.scope,), claims=(str(claim_of(atom)),), statuses=frozenset({Status.ACTIVE}))
        holders = [back.get(each.id, each) for each in store.read(wanted) if each.id not in gone and _is_alone(each)]
        taken = [holder for holder in holders if holder.id != atom.id and holder.validity.overlaps(atom.validity)]
        if taken:
            found[atom.id] = taken
    return found


def _is_alone(atom: Atom) -> bool:
    claim = claim_of(atom)
    return claim is not None and claim.single_valued


def as_before(head: Atom, before: Atom | None, after: Atom) -> Atom:
    """The head with the fields set by what ended it as they were, unless somebody set them since."""
    status, until = head.status, head.valid_until
    if status in _REPLACED and status is after.status:
        status = before.status if before is not None else Status.ACTIVE
    if until == after.valid_until:
        until = before.valid_until if before is not None else None
    return head.with_(status=status, valid_until=until, superseded_by=before.superseded_by if before else ())


def _heirs(other: Atom, gone: Mapping[AtomId, Atom]) -> tuple[list[AtomId], datetime | None]:
    """Who ended those that are gone and had ended this one, and is not gone itself; and from when on."""
    found: dict[AtomId, None] = {}
    until = other.valid_until
    ahead, seen = [each for each in other.superseded_by if each in gone], set[AtomId]()
    while ahead:
        one = gone[ahead.pop()]
        seen.add(one.id)
        for each in one.superseded_by:
            if each not in gone:
                found[each], until = None, one.valid_until or until
            elif each not in seen:
                ahead.append(each)
    return list(found), until


def relieved(
    ended: Atom, commit: CommitId, others: Collection[AtomId], store: Store, scopes: Sequence[Scope]
) -> dict[AtomId, Atom]:
    """What was doubted only because the statement it hangs on had ended: in the same commit, or it says so itself."""
    changes = [change for entry in store.journal(scopes, commit=commit) for change in entry.changes]
    over = {each.atom_id for each in changes if each.new_status in ENDED and each.old_status not in ENDED}
    doubted = {
        each.atom_id: each.old_status
        for each in changes
        if each.new_status is Status.CHALLENGED and each.old_status not in (None, Status.CHALLENGED)
    }
    found: dict[AtomId, Atom] = {}
    for atom in _read(doubted.keys(), store, scopes):
        hangs = any(relation.name in _RESTS_ON and relation.target == ended.id for relation in atom.relations)
        before = doubted[atom.id]
        if before is not None and atom.status is Status.CHALLENGED and (hangs or over <= {*others}):
            found[atom.id] = atom.with_(status=before)
    return found


def _read(ids: Collection[AtomId], store: Store, scopes: Sequence[Scope]) -> list[Atom]:
    return store.read(Filter(scopes=tuple(scopes), ids=tuple(sorted(ids)))) if ids else []
