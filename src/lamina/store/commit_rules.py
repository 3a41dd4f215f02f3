"""The rules that every commit is checked against, whatever the backend."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Protocol, TypeAlias

from lamina.atom.atom import DATA_FIELDS, FIXED_FIELDS, Atom, AtomId, is_atom_id
from lamina.atom.claim import claim_of
from lamina.atom.json_record import to_record
from lamina.atom.kinds import Layer
from lamina.atom.provenance import (
    TRUST,
    AtomLookup,
    Origin,
    Scope,
    has_trusted_lineage,
    lineage_trust,
    needs_review,
    readable_scopes,
    words_need_review,
)
from lamina.atom.status import ENDED, RECALL_WEIGHT, Status, TransitionCause, check_transition
from lamina.errors import ClaimTaken, InvalidInput, InvalidScope, NotFound, Refused, StaleRevision
from lamina.store.atoms import Atoms
from lamina.store.journal import AtomChange, Commit

MAX_CHAIN = 10_000
MAX_CONTENT_BYTES = 1 << 20
MAX_FIELD_BYTES = 64 << 10
"""The most that the file of an atom may contain: its text, and all other fields together."""
_STATUS_FIELDS = ("status", "valid_from", "valid_until", "superseded_by")
"""The fields that decide whether an atom counts. Once a person has changed the atom, only a person changes these."""
_CONTENT_FIELDS = tuple(name for name in DATA_FIELDS if name not in (*_STATUS_FIELDS, "pinned"))
"""All other fields. Any user of an atom may pin it; to unpin it takes the right to change its status."""

_UPKEEP_FIELDS = frozenset({"status", "layer", "relations"})
_UPKEEP_TRANSITIONS = frozenset(
    {
        (Status.ACTIVE, Status.ARCHIVED),
        (Status.ARCHIVED, Status.ACTIVE),
        (Status.ACTIVE, Status.CHALLENGED),
        (Status.ACTIVE, Status.TOMBSTONED),
        (Status.ARCHIVED, Status.TOMBSTONED),
    }
)
"""The fields and status transitions that maintenance may change as time passes."""

EditorOrigins: TypeAlias = Callable[[AtomId], Collection[Origin]]
"""Returns the origins that have changed an atom since it was created."""


class VersionChange(Protocol):
    """A version about to be written."""

    @property
    def old(self) -> Atom | None: ...

    @property
    def new(self) -> Atom: ...


def validate_change(change: AtomChange, heads: Mapping[AtomId, Atom], commit: Commit, at: datetime) -> AtomChange:
    """Return the change as it will be written.

    Raises `InvalidInput`, `InvalidScope`, `NotFound`, `StaleRevision`, `TransitionRefused` or `Refused` for the rule
    that it breaks.
    """
    old, new = heads.get(change.atom.id), change.atom
    if not is_atom_id(new.id):
        raise InvalidInput(f"{new.id!r} is not an atom id")
    if new.scope not in readable_scopes(commit.scope):
        raise InvalidScope(f"{commit.scope} may not write into the scope {new.scope}")
    if not new.content.strip():
        raise InvalidInput("the content is empty; an atom needs text")
    _check_size(new)
    if old is None:
        if new.revision:
            raise NotFound(f"no atom {new.id}")
        if TRUST[new.origin] > TRUST[commit.origin]:
            raise Refused(f"{commit.origin} may not write with the origin {new.origin}")
        recorded_at = min(new.recorded_at, at) if new.recorded_at else at
        episode_id = new.episode_id or new.default_episode_id
        return replace(change, atom=new.with_(recorded_at=recorded_at, episode_id=episode_id, revision=1))
    _check_change(old, new, commit)
    is_same = all(getattr(old, name) == getattr(new, name) for name in FIXED_FIELDS)
    if not is_same:
        raise Refused(f"{new.id}: the fields {', '.join(sorted(FIXED_FIELDS))} never change")
    return replace(change, atom=new if old == new else new.with_(revision=old.revision + 1))


def _check_size(atom: Atom) -> None:
    """Raise `InvalidInput` if an atom does not fit in a file."""
    if len(atom.content.encode()) > MAX_CONTENT_BYTES:
        raise InvalidInput(f"{atom.id} does not fit in a file of {MAX_CONTENT_BYTES >> 20} MiB; shorten its content")
    fields = {name: value for name, value in to_record(atom).items() if name != "content"}
    if len(json.dumps(fields, ensure_ascii=False).encode()) > MAX_FIELD_BYTES:
        raise InvalidInput(f"the fields of {atom.id} do not fit in {MAX_FIELD_BYTES >> 10} KiB; shorten them")


def _check_change(old: Atom, new: Atom, commit: Commit) -> None:
    """Raise if an existing atom may not change like this, whatever the origin of the commit."""
    if old.revision != new.revision:
        raise StaleRevision(old.id, new.revision, old.revision)
    check_transition(old.status, new.status, commit.way)
    is_replaced = old.status != new.status and new.status in (Status.SUPERSEDED, Status.MERGED)
    if old.is_episode and is_replaced and commit.way is TransitionCause.ORDINARY:
        raise Refused(f"{old.id} is an episode ({old.kind}): what happened is never superseded or merged")
    if commit.way is TransitionCause.UNDO:
        return
    if old.is_episode and commit.origin is not Origin.HUMAN and not new.content.startswith(old.content):
        raise Refused(f"{old.id} is an episode ({old.kind}): its text can only be extended")


def check_unique_atoms(commit: Commit) -> None:
    """Raise `InvalidInput` if a commit changes an atom twice."""
    ids = [change.atom.id for change in commit.changes]
    if len(set(ids)) < len(ids):
        raise InvalidInput(
            f"{next(atom_id for atom_id in ids if ids.count(atom_id) > 1)} is changed twice in one commit"
        )


def required_trust(atom: Atom, atoms: Atoms) -> float:
    """Return the trust needed to change the status of a stored atom."""
    return _required_trust(atom, partial(_read_atoms, atoms), partial(_read_editors, atoms))


def find_refusal_reason(atom: Atom, origin: Origin, atoms: Atoms) -> str | None:
    """Return why this origin may not write an atom as it is; None if the rules of trust allow it."""
    read_atoms = partial(_read_atoms, atoms)
    old = read_atoms([atom.id]).get(atom.id)
    return _find_refusal(old, atom, origin, TransitionCause.ORDINARY, read_atoms, partial(_read_editors, atoms))


def _read_atoms(atoms: Atoms, ids: Iterable[AtomId]) -> dict[AtomId, Atom]:
    return {atom_id: edited.atom for atom_id, edited in atoms.read_with_editors(ids).items()}


def _read_editors(atoms: Atoms, atom_id: AtomId) -> Collection[Origin]:
    edited = atoms.read_with_editors([atom_id]).get(atom_id)
    return edited.editors if edited else ()


def check_trust(
    commit: Commit, versions: Sequence[VersionChange], read_atoms: AtomLookup, editors_of: EditorOrigins
) -> None:
    """Raise `Refused` if a version overrides a more trusted origin, or makes pending content count."""
    for version in versions:
        refusal = _find_refusal(version.old, version.new, commit.origin, commit.way, read_atoms, editors_of)
        if refusal is not None:
            raise Refused(refusal)


def _find_refusal(
    old: Atom | None, new: Atom, origin: Origin, way: TransitionCause, read_atoms: AtomLookup, editors_of: EditorOrigins
) -> str | None:
    """Return why this origin may not create or change the atom; None if it may."""
    if (
        old is not None
        and way is not TransitionCause.UNDO
        and _drops_sources(old, new)
        and _gains_trust(old, new, read_atoms)
    ):
        return f"{old.id} is derived from a less trusted source: derived_from must keep naming it"
    if origin is Origin.HUMAN:
        return None
    if _becomes_recallable(old, new, way, read_atoms):
        return f"{new.id} is pending review, because its origin is {new.origin}; decide with `lamina review`"
    return (
        _find_untrusted_use(old, new, origin, read_atoms, editors_of)
        or _find_false_origin(old, new, read_atoms)
        or (
            _find_overruling(old, new, origin, read_atoms, editors_of)
            if old and not _is_open_to_all(old, new, way)
            else None
        )
    )


def _is_upkeep(old: Atom, new: Atom, way: TransitionCause) -> bool:
    """Return whether this is a change that maintenance may make to any atom that is not pinned.

    It may archive or challenge an atom, move it to another layer and re-weight its relations. It ends and rewrites
    nothing, except that what was kept for a limited time is forgotten when that time has passed.
    """
    if (
        way is not TransitionCause.UPKEEP
        or old.pinned
        or _differs(old, new, [field for field in DATA_FIELDS if field not in _UPKEEP_FIELDS])
    ):
        return False
    return old.status is new.status or (old.status, new.status) in _UPKEEP_TRANSITIONS


def _required_trust(atom: Atom, read_atoms: AtomLookup, editors_of: EditorOrigins) -> float:
    """Return the trust needed to change an atom's status: that of its lineage or of anyone who changed it."""
    return max([lineage_trust(atom, read_atoms), *(TRUST[hand] for hand in editors_of(atom.id))])


def _find_overruling(
    old: Atom, new: Atom, origin: Origin, read_atoms: AtomLookup, editors_of: EditorOrigins
) -> str | None:
    """Return why this origin may not change the atom.

    Changing content needs the trust of the atom's origin; changing its status that of everyone who has changed it.
    """
    is_dream_summary = (
        old.origin is Origin.DREAM and origin is not Origin.DREAM
    )  # only people correct what dreams summarise
    if (is_dream_summary or TRUST[origin] < lineage_trust(old, read_atoms)) and _differs(old, new, _CONTENT_FIELDS):
        return f"{origin} may not rewrite {old.id}, which has the origin {old.origin}; remember a new statement instead"
    is_unpinned = old.pinned and not new.pinned
    if (is_unpinned or _differs(old, new, _STATUS_FIELDS)) and TRUST[origin] < _required_trust(
        old, read_atoms, editors_of
    ):
        return f"{origin} may not change the status of {old.id}; a person decides with `lamina review`"
    return None


def _drops_sources(old: Atom, new: Atom) -> bool:
    return bool(set(old.derived_from) - set(new.derived_from))


def _gains_trust(old: Atom, new: Atom, read_atoms: AtomLookup) -> bool:
    return lineage_trust(new, read_atoms) > lineage_trust(old, read_atoms) or has_trusted_lineage(
        new, read_atoms
    ) > has_trusted_lineage(old, read_atoms)


def _becomes_recallable(old: Atom | None, new: Atom, way: TransitionCause, read_atoms: AtomLookup) -> bool:
    """Return whether this would make pending or challenged content recallable."""
    if new.status not in RECALL_WEIGHT:
        return False
    if old is None:
        return words_need_review(new.origin) if new.is_segment else new.is_searched and needs_review(new, read_atoms)
    if new.is_segment and new.content != old.content and words_need_review(new.origin):
        return True
    if old.status in ENDED or (old.status is Status.CHALLENGED and way is TransitionCause.UNDO):
        # It may have been pending before it ended; that its sources were confirmed since does not confirm this atom.
        return not has_trusted_lineage(new, read_atoms)
    return old.status in (Status.CONSTRAINED, Status.CHALLENGED)


def _find_untrusted_use(
    old: Atom | None, new: Atom, origin: Origin, read_atoms: AtomLookup, editors_of: EditorOrigins
) -> str | None:
    """Return why the atom may not rest on, or supersede, what a more trusted origin wrote."""
    for segment in _new_evidence_segments(old, new, read_atoms):
        if TRUST[segment.origin] > TRUST[origin]:
            return f"{new.id} may not use {segment.id} as evidence: its origin {segment.origin} is more trusted"
    targets = set(new.supersedes) - set(old.supersedes if old else ())
    for target in read_atoms(sorted(targets)).values() if targets else ():
        if _required_trust(target, read_atoms, editors_of) > TRUST[origin]:
            return f"{new.id} may not supersede {target.id}; a person decides with `lamina review`"
    return None


def _find_false_origin(old: Atom | None, new: Atom, read_atoms: AtomLookup) -> str | None:
    """Return why a new atom may not claim a higher trust than the words it rests on."""
    for segment in _new_evidence_segments(old, new, read_atoms) if old is None else ():
        if TRUST[segment.origin] < TRUST[new.origin]:
            return f"{new.id} rests on words of {segment.origin}: set that origin"
    return None


def _new_evidence_segments(old: Atom | None, new: Atom, read_atoms: AtomLookup) -> Collection[Atom]:
    """Return the segments of the evidence that the change adds."""
    old_evidence = set(old.evidence) if old else set()
    segments = {AtomId(evidence.segment) for evidence in new.evidence if evidence not in old_evidence} - {new.id}
    return read_atoms(sorted(segments)).values() if segments else ()


def _is_open_to_all(old: Atom, new: Atom, way: TransitionCause) -> bool:
    """Return whether any origin may make this change.

    Notes of a run are archived with it, and an ended atom may gain more evidence.
    """
    if _is_run_note(old) or _is_upkeep(old, new, way):
        return True
    only_evidence = not _differs(old, new, [name for name in DATA_FIELDS if name != "evidence"])
    is_extended = new.evidence[: len(old.evidence)] == old.evidence
    return only_evidence and old.status in ENDED and (is_extended or way is TransitionCause.UNDO)


def _is_run_note(atom: Atom) -> bool:
    return atom.layer is Layer.WORKING and atom.run_id is not None


def _differs(old: Atom, new: Atom, names: Iterable[str]) -> bool:
    return any(getattr(old, name) != getattr(new, name) for name in names)


def check_claims(versions: Sequence[VersionChange], claim_holders: Callable[[Scope, str], list[Atom]]) -> None:
    """Raise `ClaimTaken` if two active values of a single-valued claim overlap in valid time."""
    ids = {version.new.id for version in versions}
    for scope, name in {
        (version.new.scope, str(claim)) for version in versions if (claim := _single_claim(version.new))
    }:
        holders_in_order = sorted(
            filter(_single_claim, claim_holders(scope, name)),
            key=lambda atom: (atom.valid_from is not None, atom.valid_from or 0, atom.id),
        )
        for i, first in enumerate(holders_in_order):
            for second in holders_in_order[i + 1 :]:
                if first.validity.overlaps(second.validity):
                    raise ClaimTaken(name, second.id if first.id in ids else first.id)


def _single_claim(atom: Atom) -> object | None:
    claim = claim_of(atom)
    return claim if claim and claim.is_single_valued and atom.status is Status.ACTIVE else None


def check_chains(
    versions: Sequence[VersionChange], read_atoms: Callable[[Iterable[AtomId]], Mapping[AtomId, Atom]]
) -> None:
    """Raise `Refused` if following the successors of an atom leads back to it."""
    for version in versions:
        if version.new.superseded_by and (
            version.old is None or version.old.superseded_by != version.new.superseded_by
        ):
            _check_chain(version.new, read_atoms)


def _check_chain(atom: Atom, read_atoms: Callable[[Iterable[AtomId]], Mapping[AtomId, Atom]]) -> None:
    visited: set[AtomId] = set()
    pending = set(atom.superseded_by)
    while pending and len(visited) < MAX_CHAIN:
        if atom.id in pending:
            raise Refused(f"{atom.id} would supersede itself")
        visited |= pending
        pending = {target for successor in read_atoms(pending).values() for target in successor.superseded_by} - visited
