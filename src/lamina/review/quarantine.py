"""Quarantine: everything that came from a source, a session or an origin, and whatever descends from it, waits again.

One commit. What it had done to others is taken back: what it ended stands again, what it bore out no longer rests on
it. A statement descends from another by `derived_from`, and from words when it rests on no others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.kinds import traits
from lamina.atom.status import Status, Way
from lamina.atom.trust import Origin
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.write import unhurried
from lamina.errors import InvalidInput, NotFound, Refused
from lamina.review.give_back import given_back, in_the_way
from lamina.review.reviewer import Reviewer, with_reason
from lamina.review.waiting import comes_from
from lamina.store.base import Changed, CommitId, Filter

GUARD = 0.05
"""A larger share of what is remembered is not touched at once unless a person says so twice."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """What is not to be trusted any longer: one of the three."""

    source: str | None = None
    session: str | None = None
    origin: Origin | None = None

    def __post_init__(self) -> None:
        if sum(each is not None for each in (self.source, self.session, self.origin)) != 1:
            raise InvalidInput("quarantine a source, a session or an origin: one of them")

    def holds(self, atom: Atom) -> bool:
        if self.source is not None:
            return comes_from(atom, self.source)
        return atom.session_id == self.session if self.session is not None else atom.origin is self.origin

    def __str__(self) -> str:
        if self.source is not None:
            return f"source {self.source}"
        return f"session {self.session}" if self.session is not None else f"origin {self.origin}"


def quarantine(suspect: Suspect, reason: str, by: Reviewer, *, yes: bool) -> Receipt:
    """Let all of it wait for a person again; the receipt names what waits and what was given back."""
    told = with_reason(reason)
    by.writer()

    def isolated() -> Receipt:
        atoms = {atom.id: atom for atom in by.store.read(Filter(scopes=by.scopes))}
        bad = _descended(suspect.holds, atoms)
        if not bad:
            raise NotFound(f"nothing came from {suspect}")
        if len(bad) > GUARD * len(atoms) and not yes:
            raise Refused(
                f"{len(bad)} of {len(atoms)} atoms came from {suspect} or descend from it, more than "
                f"{GUARD:.0%} at once; look at them with --dry-run, then say --yes"
            )
        held = {each.id: _held(each) for each in bad.values() if each.status is not Status.TOMBSTONED}
        back = _given_back(bad, atoms, by)
        outcomes = [Outcome(Result.HELD, each, f"came from {suspect}") for each in held.values()]
        outcomes += [Outcome(_became(each, atoms), each, f"{suspect} is in quarantine") for each in back.values()]
        return by.carry_out("quarantine", f"{told}: {suspect}", outcomes, Way.QUARANTINE)

    return unhurried(by.store, isolated)


def _descended(is_bad: Callable[[Atom], bool], atoms: Mapping[AtomId, Atom]) -> dict[AtomId, Atom]:
    """All of it. Lists of other atoms are made anew from them and come along with nothing."""
    own = {atom.id: atom for atom in atoms.values() if not traits(atom.kind).lists}
    bad = {atom.id: atom for atom in own.values() if is_bad(atom)}
    children: dict[str, list[Atom]] = defaultdict(list)
    for atom in own.values():
        for parent in {*atom.derived_from, *(each.segment for each in atom.evidence)}:
            children[parent].append(atom)
    ahead = list(bad)
    while ahead:
        for child in children.get(ahead.pop(), ()):
            if child.id not in bad and _descends(child, bad):
                bad[child.id] = child
                ahead.append(child.id)
    return bad


def _descends(atom: Atom, bad: Mapping[AtomId, Atom]) -> bool:
    if any(each in bad for each in atom.derived_from):
        return True
    return bool(atom.evidence) and all(each.segment in bad for each in atom.evidence)


def _held(atom: Atom) -> Atom:
    """The atom as it waits: it has ended nothing, and nothing has ended it. Confirmed, it is compared anew."""
    return atom.with_(status=Status.CONSTRAINED, supersedes=(), superseded_by=())


def _given_back(bad: Mapping[AtomId, Atom], atoms: Mapping[AtomId, Atom], by: Reviewer) -> dict[AtomId, Atom]:
    back = given_back(bad, by.store, by.scopes)
    for atom in atoms.values():
        if atom.id not in bad and any(each.segment in bad for each in atom.evidence):
            known = back.get(atom.id, atom)
            kept = tuple(each for each in known.evidence if each.segment not in bad)
            back[atom.id] = known.with_(evidence=kept)
    for change, before in _changed_by(bad, by):
        head = back.get(change.atom_id) or atoms.get(change.atom_id)
        if head is not None and head.status is change.new_status and _untouched_since(change, by):
            back[head.id] = head.with_(status=before)
    for atom_id, holders in in_the_way(back, bad.keys(), by.store).items():
        # Somebody else fills its place by now, and stays: what it had been ended by is then that.
        back[atom_id] = atoms[atom_id].with_(superseded_by=tuple(holder.id for holder in holders))
        for holder in holders:
            heir = back.get(holder.id, holder)
            back[heir.id] = heir.with_(supersedes=tuple(dict.fromkeys((*heir.supersedes, atom_id))))
    return {each.id: each for each in back.values() if each != atoms[each.id]}


def _changed_by(bad: Mapping[AtomId, Atom], by: Reviewer) -> Iterable[tuple[Changed, Status]]:
    """What else became of others in the commits that brought nothing but what is in quarantine: forgotten, doubted."""
    commits: dict[CommitId, None] = {}
    for atom_id in bad:
        commits |= {version.commit: None for version in by.store.versions(atom_id) if "content" in version.fields}
    for commit in commits:
        for entry in by.store.journal(by.scopes, commit=commit):
            said = {change.atom_id for change in entry.changes if "content" in change.fields}
            if not said <= bad.keys():
                continue
            for change in entry.changes:
                if change.old_status not in (None, change.new_status) and change.atom_id not in bad:
                    assert change.old_status is not None
                    yield change, change.old_status


def _untouched_since(change: Changed, by: Reviewer) -> bool:
    later = (version for version in by.store.versions(change.atom_id) if version.revision > change.revision)
    return all("status" not in each.fields for each in later)


def _became(atom: Atom, before: Mapping[AtomId, Atom]) -> Result:
    return Result.RESTORED if atom.status is not before[atom.id].status else Result.REVISED
