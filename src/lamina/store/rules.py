"""The rules every commit is held against, whatever the backend."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from lamina.atom.atom import FIXED_FIELDS, Atom
from lamina.atom.claim import claim_of
from lamina.atom.identity import AtomId, is_atom_id
from lamina.atom.scope import Scope, visible_from
from lamina.atom.status import Status, Way, check_transition
from lamina.atom.trust import TRUST, Origin
from lamina.errors import ClaimTaken, InvalidInput, InvalidScope, NotFound, Refused, StaleRevision
from lamina.store.base import Change, Commit

CHAIN_LIMIT = 10_000
_WORDS = ("content", "subject", "attribute", "value")


class Version(Protocol):
    """A version about to be written."""

    @property
    def old(self) -> Atom | None: ...

    @property
    def new(self) -> Atom: ...


def accepted(change: Change, heads: Mapping[AtomId, Atom], commit: Commit, at: datetime) -> Change:
    """The change as it will be written, or the rule it breaks."""
    old, new = heads.get(change.atom.id), change.atom
    if not is_atom_id(new.id):
        raise InvalidInput(f"{new.id!r} is not an id")
    if new.scope not in visible_from(commit.scope):
        raise InvalidScope(f"{commit.scope} may not write into {new.scope}")
    if not new.content.strip():
        raise InvalidInput("an atom needs words: its content is empty")
    if old is None:
        if new.revision:
            raise NotFound(f"no atom {new.id}")
        if TRUST[new.origin] > TRUST[commit.origin]:
            raise Refused(f"{commit.origin} may not write in the name of {new.origin}")
        born = new.with_(recorded_at=min(new.recorded_at, at) if new.recorded_at else at, revision=1)
        return replace(change, atom=born)
    _check_change(old, new, commit)
    same = all(getattr(old, name) == getattr(new, name) for name in FIXED_FIELDS)
    if not same:
        raise Refused(f"{new.id}: {', '.join(sorted(FIXED_FIELDS))} never change")
    return replace(change, atom=new if old == new else new.with_(revision=old.revision + 1))


def _check_change(old: Atom, new: Atom, commit: Commit) -> None:
    if old.revision != new.revision:
        raise StaleRevision(old.id, new.revision, old.revision)
    check_transition(old.status, new.status, commit.way)
    replaced = old.status != new.status and new.status in (Status.SUPERSEDED, Status.MERGED)
    if old.is_episode and replaced and commit.way is Way.ORDINARY:
        raise Refused(f"{old.id} is an episode ({old.kind}): what happened is never superseded or merged")
    if commit.way is Way.UNDO:
        return
    if old.is_episode and commit.origin is not Origin.HUMAN and not new.content.startswith(old.content):
        raise Refused(f"{old.id} is an episode ({old.kind}): its words are only added to")
    if TRUST[commit.origin] < TRUST[old.origin] and any(getattr(old, name) != getattr(new, name) for name in _WORDS):
        raise Refused(f"{old.id} is the word of {old.origin}, not of {commit.origin}: remember what is so instead")


def check_once(commit: Commit) -> None:
    """A commit says of each atom one thing."""
    ids = [change.atom.id for change in commit.changes]
    if len(set(ids)) < len(ids):
        raise InvalidInput(f"{next(each for each in ids if ids.count(each) > 1)} stands twice in one commit")


def check_claims(written: Sequence[Version], holders: Callable[[Scope, str], list[Atom]]) -> None:
    """Two active values of a single-valued claim never overlap in valid time."""
    ids = {each.new.id for each in written}
    for scope, name in {(each.new.scope, str(claim)) for each in written if (claim := _single_claim(each.new))}:
        stretches = sorted(
            holders(scope, name), key=lambda atom: (atom.valid_from is not None, atom.valid_from or 0, atom.id)
        )
        for i, one in enumerate(stretches):
            for other in stretches[i + 1 :]:
                if one.validity.overlaps(other.validity):
                    raise ClaimTaken(name, other.id if one.id in ids else one.id)


def _single_claim(atom: Atom) -> object | None:
    claim = claim_of(atom)
    return claim if claim and claim.single_valued and atom.status is Status.ACTIVE else None


def check_chains(written: Sequence[Version], heads: Callable[[Iterable[AtomId]], Mapping[AtomId, Atom]]) -> None:
    """Following what superseded an atom never leads back to it."""
    for each in written:
        if each.new.superseded_by and (each.old is None or each.old.superseded_by != each.new.superseded_by):
            _check_chain(each.new, heads)


def _check_chain(atom: Atom, heads: Callable[[Iterable[AtomId]], Mapping[AtomId, Atom]]) -> None:
    seen: set[AtomId] = set()
    ahead = set(atom.superseded_by)
    while ahead and len(seen) < CHAIN_LIMIT:
        if atom.id in ahead:
            raise Refused(f"{atom.id} would supersede itself")
        seen |= ahead
        ahead = {target for found in heads(ahead).values() for target in found.superseded_by} - seen
