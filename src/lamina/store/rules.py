"""The rules that every commit is checked against, whatever the backend."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol, TypeAlias

from lamina.atom.atom import DATA_FIELDS, FIXED_FIELDS, Atom
from lamina.atom.claim import claim_of
from lamina.atom.identity import AtomId, is_atom_id
from lamina.atom.kinds import Layer
from lamina.atom.lineage import Look, is_clean, trust, waits
from lamina.atom.scope import Scope, visible_from
from lamina.atom.status import ENDED, RECALL_WEIGHT, Status, Way, check_transition
from lamina.atom.trust import TRUST, Origin, words_wait
from lamina.errors import ClaimTaken, InvalidInput, InvalidScope, NotFound, Refused, StaleRevision
from lamina.store.base import Change, Commit

CHAIN_LIMIT = 10_000
_STANDING = ("status", "valid_from", "valid_until", "superseded_by")
"""The fields that decide whether an atom counts. Once a person has changed the atom, only a person changes these."""
_OTHERS = tuple(name for name in DATA_FIELDS if name not in (*_STANDING, "pinned"))
"""All other fields. Any user of an atom may pin it; to unpin it takes the right to change its status."""

_AGES = frozenset({"status", "layer", "relations"})
_AGEING = frozenset(
    {
        (Status.ACTIVE, Status.ARCHIVED),
        (Status.ARCHIVED, Status.ACTIVE),
        (Status.ACTIVE, Status.CHALLENGED),
        (Status.ACTIVE, Status.TOMBSTONED),
        (Status.ARCHIVED, Status.TOMBSTONED),
    }
)
"""The fields and status transitions that maintenance may change as time passes."""

Hands: TypeAlias = Callable[[AtomId], Collection[Origin]]
"""Returns the origins that have changed an atom since it was created."""


class Version(Protocol):
    """A version about to be written."""

    @property
    def old(self) -> Atom | None: ...

    @property
    def new(self) -> Atom: ...


def accepted(change: Change, heads: Mapping[AtomId, Atom], commit: Commit, at: datetime) -> Change:
    """Return the change as it will be written.

    Raises `InvalidInput`, `InvalidScope`, `NotFound`, `StaleRevision`, `TransitionRefused` or `Refused` for the rule
    that it breaks.
    """
    old, new = heads.get(change.atom.id), change.atom
    if not is_atom_id(new.id):
        raise InvalidInput(f"{new.id!r} is not an atom id")
    if new.scope not in visible_from(commit.scope):
        raise InvalidScope(f"{commit.scope} may not write into the scope {new.scope}")
    if not new.content.strip():
        raise InvalidInput("the content is empty; an atom needs text")
    if old is None:
        if new.revision:
            raise NotFound(f"no atom {new.id}")
        if TRUST[new.origin] > TRUST[commit.origin]:
            raise Refused(f"{commit.origin} may not write with the origin {new.origin}")
        created = new.with_(recorded_at=min(new.recorded_at, at) if new.recorded_at else at, revision=1)
        return replace(change, atom=created)
    _check_change(old, new, commit)
    is_same = all(getattr(old, name) == getattr(new, name) for name in FIXED_FIELDS)
    if not is_same:
        raise Refused(f"{new.id}: the fields {', '.join(sorted(FIXED_FIELDS))} never change")
    return replace(change, atom=new if old == new else new.with_(revision=old.revision + 1))


def _check_change(old: Atom, new: Atom, commit: Commit) -> None:
    """Raise if an existing atom may not change like this, whoever writes it."""
    if old.revision != new.revision:
        raise StaleRevision(old.id, new.revision, old.revision)
    check_transition(old.status, new.status, commit.way)
    is_replaced = old.status != new.status and new.status in (Status.SUPERSEDED, Status.MERGED)
    if old.is_episode and is_replaced and commit.way is Way.ORDINARY:
        raise Refused(f"{old.id} is an episode ({old.kind}): what happened is never superseded or merged")
    if commit.way is Way.UNDO:
        return
    if old.is_episode and commit.origin is not Origin.HUMAN and not new.content.startswith(old.content):
        raise Refused(f"{old.id} is an episode ({old.kind}): its text can only be extended")


def check_once(commit: Commit) -> None:
    """Raise `InvalidInput` if a commit changes an atom twice."""
    ids = [change.atom.id for change in commit.changes]
    if len(set(ids)) < len(ids):
        raise InvalidInput(
            f"{next(atom_id for atom_id in ids if ids.count(atom_id) > 1)} is changed twice in one commit"
        )


def check_trust(commit: Commit, written: Sequence[Version], look: Look, hands: Hands) -> None:
    """Raise `Refused` if a version overrides a more trusted origin, or makes pending content count."""
    for version in written:
        refusal = objection(version.old, version.new, commit.origin, commit.way, look, hands)
        if refusal is not None:
            raise Refused(refusal)


def objection(old: Atom | None, new: Atom, by: Origin, way: Way, look: Look, hands: Hands) -> str | None:
    """Return why this origin may not create or change the atom; None if it may."""
    if old is not None and way is not Way.UNDO and _left_out(old, new) and _looks_better(old, new, look):
        return f"{old.id} is derived from a less trusted source: derived_from must keep naming it"
    if by is Origin.HUMAN:
        return None
    if _comes_to_count(old, new, way, look):
        return f"{new.id} is pending review, because its origin is {new.origin}; decide with `lamina review`"
    return (
        _draws_in(old, new, by, look, hands)
        or _rests_too_high(old, new, look)
        or (_overrules(old, new, by, look, hands) if old and not _is_open_to_anybody(old, new, way) else None)
    )


def _is_upkeep(old: Atom, new: Atom, way: Way) -> bool:
    """Return whether this is a change that maintenance may make to any atom that is not pinned.

    It may archive or challenge an atom, move it to another layer and re-weight its relations. It ends and rewrites
    nothing, except that what was kept for a limited time is forgotten when that time has passed.
    """
    if (
        way is not Way.UPKEEP
        or old.pinned
        or _differs(old, new, [field for field in DATA_FIELDS if field not in _AGES])
    ):
        return False
    return old.status is new.status or (old.status, new.status) in _AGEING


def guard(atom: Atom, look: Look, hands: Hands) -> float:
    """Return the trust needed to change an atom's status: that of its lineage or of anyone who changed it."""
    return max([trust(atom, look), *(TRUST[hand] for hand in hands(atom.id))])


def _overrules(old: Atom, new: Atom, by: Origin, look: Look, hands: Hands) -> str | None:
    """Return why this origin may not change the atom.

    Changing content needs the trust of the atom's origin; changing its status that of everyone who has changed it.
    """
    is_dream_summary = (
        old.origin is Origin.DREAM and by is not Origin.DREAM
    )  # only people correct what dreams summarise
    if (is_dream_summary or TRUST[by] < trust(old, look)) and _differs(old, new, _OTHERS):
        return f"{by} may not rewrite {old.id}, which has the origin {old.origin}; remember a new statement instead"
    is_unpinned = old.pinned and not new.pinned
    if (is_unpinned or _differs(old, new, _STANDING)) and TRUST[by] < guard(old, look, hands):
        return f"{by} may not change the status of {old.id}; a person decides with `lamina review`"
    return None


def _left_out(old: Atom, new: Atom) -> bool:
    return bool(set(old.derived_from) - set(new.derived_from))


def _looks_better(old: Atom, new: Atom, look: Look) -> bool:
    return trust(new, look) > trust(old, look) or is_clean(new, look) > is_clean(old, look)


def _comes_to_count(old: Atom | None, new: Atom, way: Way, look: Look) -> bool:
    """Return whether this would make pending or challenged content recallable."""
    if new.status not in RECALL_WEIGHT:
        return False
    if old is None:
        return words_wait(new.origin) if new.is_segment else new.is_searched and waits(new, look)
    if new.is_segment and new.content != old.content and words_wait(new.origin):
        return True
    if old.status in ENDED or (old.status is Status.CHALLENGED and way is Way.UNDO):
        # It may have been pending before it ended; that its sources were confirmed since does not confirm this atom.
        return not is_clean(new, look)
    return old.status in (Status.CONSTRAINED, Status.CHALLENGED)


def _draws_in(old: Atom | None, new: Atom, by: Origin, look: Look, hands: Hands) -> str | None:
    """Return why the atom may not rest on, or supersede, what a more trusted origin wrote."""
    for segment in _fresh_words(old, new, look):
        if TRUST[segment.origin] > TRUST[by]:
            return f"{new.id} may not use {segment.id} as evidence: its origin {segment.origin} is more trusted"
    targets = set(new.supersedes) - set(old.supersedes if old else ())
    for target in look(sorted(targets)).values() if targets else ():
        if guard(target, look, hands) > TRUST[by]:
            return f"{new.id} may not supersede {target.id}; a person decides with `lamina review`"
    return None


def _rests_too_high(old: Atom | None, new: Atom, look: Look) -> str | None:
    """Return why a new atom may not claim a higher trust than the words it rests on."""
    for segment in _fresh_words(old, new, look) if old is None else ():
        if TRUST[segment.origin] < TRUST[new.origin]:
            return f"{new.id} rests on words of {segment.origin}: set that origin"
    return None


def _fresh_words(old: Atom | None, new: Atom, look: Look) -> Collection[Atom]:
    """Return the segments of the evidence that the change adds."""
    old_evidence = set(old.evidence) if old else set()
    segments = {AtomId(evidence.segment) for evidence in new.evidence if evidence not in old_evidence} - {new.id}
    return look(sorted(segments)).values() if segments else ()


def _is_open_to_anybody(old: Atom, new: Atom, way: Way) -> bool:
    """Return whether any origin may make this change.

    Notes of a run are archived with it, and an ended atom may gain more evidence.
    """
    if _is_note(old) or _is_upkeep(old, new, way):
        return True
    only_evidence = not _differs(old, new, [name for name in DATA_FIELDS if name != "evidence"])
    is_extended = new.evidence[: len(old.evidence)] == old.evidence
    return only_evidence and old.status in ENDED and (is_extended or way is Way.UNDO)


def _is_note(atom: Atom) -> bool:
    return atom.layer is Layer.WORKING and atom.run_id is not None


def _differs(old: Atom, new: Atom, names: Iterable[str]) -> bool:
    return any(getattr(old, name) != getattr(new, name) for name in names)


def check_claims(written: Sequence[Version], holders: Callable[[Scope, str], list[Atom]]) -> None:
    """Raise `ClaimTaken` if two active values of a single-valued claim overlap in valid time."""
    ids = {version.new.id for version in written}
    for scope, name in {
        (version.new.scope, str(claim)) for version in written if (claim := _single_claim(version.new))
    }:
        holders_in_order = sorted(
            filter(_single_claim, holders(scope, name)),
            key=lambda atom: (atom.valid_from is not None, atom.valid_from or 0, atom.id),
        )
        for i, first in enumerate(holders_in_order):
            for second in holders_in_order[i + 1 :]:
                if first.validity.overlaps(second.validity):
                    raise ClaimTaken(name, second.id if first.id in ids else first.id)


def _single_claim(atom: Atom) -> object | None:
    claim = claim_of(atom)
    return claim if claim and claim.single_valued and atom.status is Status.ACTIVE else None


def check_chains(written: Sequence[Version], heads: Callable[[Iterable[AtomId]], Mapping[AtomId, Atom]]) -> None:
    """Raise `Refused` if following the successors of an atom leads back to it."""
    for version in written:
        if version.new.superseded_by and (
            version.old is None or version.old.superseded_by != version.new.superseded_by
        ):
            _check_chain(version.new, heads)


def _check_chain(atom: Atom, heads: Callable[[Iterable[AtomId]], Mapping[AtomId, Atom]]) -> None:
    seen: set[AtomId] = set()
    pending = set(atom.superseded_by)
    while pending and len(seen) < CHAIN_LIMIT:
        if atom.id in pending:
            raise Refused(f"{atom.id} would supersede itself")
        seen |= pending
        pending = {target for successor in heads(pending).values() for target in successor.superseded_by} - seen
