"""Quarantine: everything from a source, a session or an origin, and whatever was derived from it, is pending again.

It is one commit. The effects on other atoms are reversed: what the source had ended is reinstated, and evidence from it
is removed. A statement is derived from another by `derived_from`, and from a segment if it has no other evidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from lamina.atom.atom import Atom, AtomId
from lamina.atom.kinds import kind_traits
from lamina.atom.provenance import Origin
from lamina.atom.status import Status, TransitionCause
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.statement_commit import retry_exclusively
from lamina.errors import InvalidInput, NotFound, Refused
from lamina.review.pending_items import is_from_source
from lamina.review.reinstatement import find_claim_holders, reinstate_ended
from lamina.review.review_context import Reviewer, parse_reason
from lamina.store.base import AtomFilter, EntryChange

MAX_SHARE = 0.05
"""A quarantine of a larger share of all atoms needs explicit approval."""


@dataclass(frozen=True, slots=True)
class QuarantineTarget:
    """The target of a quarantine: exactly one of a source, a session or an origin."""

    source: str | None = None
    session: str | None = None
    origin: Origin | None = None

    def __post_init__(self) -> None:
        if sum(value is not None for value in (self.source, self.session, self.origin)) != 1:
            raise InvalidInput("name exactly one of source, session and origin to quarantine")

    def includes(self, atom: Atom) -> bool:
        if self.source is not None:
            return is_from_source(atom, self.source)
        return atom.session_id == self.session if self.session is not None else atom.origin is self.origin

    def __str__(self) -> str:
        if self.source is not None:
            return f"source {self.source}"
        return f"session {self.session}" if self.session is not None else f"origin {self.origin}"


def quarantine(target: QuarantineTarget, reason: str, reviewer: Reviewer, *, yes: bool) -> Receipt:
    """Make all of it pending again; the receipt lists what is pending and what was reinstated."""
    parsed_reason = parse_reason(reason)
    reviewer.authorised_writer()

    def attempt() -> Receipt:
        atoms = {atom.id: atom for atom in reviewer.store.atoms.read(AtomFilter(scopes=reviewer.scopes))}
        quarantined = _find_descendants(target.includes, atoms)
        if not quarantined:
            raise NotFound(f"nothing came from {target}")
        if len(quarantined) > MAX_SHARE * len(atoms) and not yes:
            raise Refused(
                f"{len(quarantined)} of {len(atoms)} atoms came from {target} or were derived from it, more than "
                f"{MAX_SHARE:.0%} of the memory; check them with --dry-run, then confirm with --yes"
            )
        pending = {atom.id: _as_pending(atom) for atom in quarantined.values() if atom.status is not Status.TOMBSTONED}
        reinstated = _reinstate_others(quarantined, atoms, reviewer)
        outcomes = [Outcome(Result.HELD, atom, f"came from {target}") for atom in pending.values()]
        why, commit_reason = f"{target} is in quarantine", f"{parsed_reason}: {target}"
        outcomes += [Outcome(_result_of(atom, atoms), atom, why) for atom in reinstated.values()]
        return reviewer.commit_outcomes("quarantine", commit_reason, outcomes, TransitionCause.QUARANTINE)

    return retry_exclusively(reviewer.store, attempt)


def _find_descendants(is_target: Callable[[Atom], bool], atoms: Mapping[AtomId, Atom]) -> dict[AtomId, Atom]:
    """Return the targets and everything derived from them. Lists of atoms are regenerated and not included."""
    candidates = {atom.id: atom for atom in atoms.values() if not kind_traits(atom.kind).is_listing}
    quarantined = {atom.id: atom for atom in candidates.values() if is_target(atom)}
    children: dict[str, list[Atom]] = defaultdict(list)
    for atom in candidates.values():
        for parent in {*atom.derived_from, *(evidence.segment for evidence in atom.evidence)}:
            children[parent].append(atom)
    queue = list(quarantined)
    while queue:
        for child in children.get(queue.pop(), ()):
            if child.id not in quarantined and _is_descendant(child, quarantined):
                quarantined[child.id] = child
                queue.append(child.id)
    return quarantined


def _is_descendant(atom: Atom, quarantined: Mapping[AtomId, Atom]) -> bool:
    if any(atom_id in quarantined for atom_id in atom.derived_from):
        return True
    return bool(atom.evidence) and all(evidence.segment in quarantined for evidence in atom.evidence)


def _as_pending(atom: Atom) -> Atom:
    """Return the atom as pending, without supersedes links: it is compared again when it is confirmed."""
    return atom.with_(status=Status.CONSTRAINED, supersedes=(), superseded_by=())


def _reinstate_others(
    quarantined: Mapping[AtomId, Atom], atoms: Mapping[AtomId, Atom], reviewer: Reviewer
) -> dict[AtomId, Atom]:
    reinstated = reinstate_ended(quarantined, reviewer.store, reviewer.scopes)
    for atom in atoms.values():
        if atom.id not in quarantined and any(evidence.segment in quarantined for evidence in atom.evidence):
            current = reinstated.get(atom.id, atom)
            remaining = tuple(evidence for evidence in current.evidence if evidence.segment not in quarantined)
            reinstated[atom.id] = current.with_(evidence=remaining)
    for change, before in _side_effects(quarantined, reviewer):
        head = reinstated.get(change.atom_id) or atoms.get(change.atom_id)
        if head is not None and head.status is change.new_status and _is_untouched_since(change, reviewer):
            reinstated[head.id] = head.with_(status=before)
    for atom_id, holders in find_claim_holders(reinstated, quarantined.keys(), reviewer.store).items():
        # Another atom holds its claim now and stays: it becomes the successor.
        reinstated[atom_id] = atoms[atom_id].with_(superseded_by=tuple(holder.id for holder in holders))
        for holder in holders:
            successor = reinstated.get(holder.id, holder)
            supersedes = tuple(dict.fromkeys((*successor.supersedes, atom_id)))
            reinstated[successor.id] = successor.with_(supersedes=supersedes)
    return {atom.id: atom for atom in reinstated.values() if atom != atoms[atom.id]}


def _side_effects(quarantined: Mapping[AtomId, Atom], reviewer: Reviewer) -> Iterable[tuple[EntryChange, Status]]:
    """Return other status changes in commits that only contain quarantined text, such as forgotten or challenged."""
    versions = (version for atom_id in quarantined for version in reviewer.store.journal.versions(atom_id))
    commits = dict.fromkeys(version.commit for version in versions if "content" in version.fields)
    for commit in commits:
        for entry in reviewer.store.journal.read(reviewer.scopes, commit=commit):
            written_ids = {change.atom_id for change in entry.changes if "content" in change.fields}
            if not written_ids <= quarantined.keys():
                continue
            for change in entry.changes:
                if change.old_status not in (None, change.new_status) and change.atom_id not in quarantined:
                    assert change.old_status is not None
                    yield change, change.old_status


def _is_untouched_since(change: EntryChange, reviewer: Reviewer) -> bool:
    versions = reviewer.store.journal.versions(change.atom_id)
    return not any(version.revision > change.revision and "status" in version.fields for version in versions)


def _result_of(atom: Atom, before: Mapping[AtomId, Atom]) -> Result:
    return Result.RESTORED if atom.status is not before[atom.id].status else Result.REVISED
