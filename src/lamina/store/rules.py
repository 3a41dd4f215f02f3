"""The rules every commit is held against, whatever the backend."""

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
"""What says how an atom stands. Once a person has had a hand in it, only a person changes these."""
_OTHERS = tuple(name for name in DATA_FIELDS if name not in (*_STANDING, "pinned"))
"""All else. A pin may be set by whoever uses an atom, and is taken out only by those who may change how it stands."""

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
"""What time may do to an atom, and the arrows it may go along."""

Hands: TypeAlias = Callable[[AtomId], Collection[Origin]]
"""The origins of those who have changed an atom since it was made."""


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


def check_once(commit: Commit) -> None:
    """A commit says of each atom one thing."""
    ids = [change.atom.id for change in commit.changes]
    if len(set(ids)) < len(ids):
        raise InvalidInput(f"{next(atom_id for atom_id in ids if ids.count(atom_id) > 1)} stands twice in one commit")


def check_trust(commit: Commit, written: Sequence[Version], look: Look, hands: Hands) -> None:
    """Nobody changes what somebody more trusted said or decided, and what waits for a person waits for a person."""
    for version in written:
        told = objection(version.old, version.new, commit.origin, commit.way, look, hands)
        if told is not None:
            raise Refused(told)


def objection(old: Atom | None, new: Atom, by: Origin, way: Way, look: Look, hands: Hands) -> str | None:
    """Why somebody of this origin may not make or change an atom so; None where they may."""
    if old is not None and way is not Way.UNDO and _left_out(old, new) and _looks_better(old, new, look):
        return f"{old.id} descends from what is less trusted, and keeps saying so in derived_from"
    if by is Origin.HUMAN:
        return None
    if _comes_to_count(old, new, way, look):
        return f"{new.id} waits for a person, being the word of {new.origin}: `lamina review`"
    return (
        _draws_in(old, new, by, look, hands)
        or _rests_too_high(old, new, look)
        or (_overrules(old, new, by, look, hands) if old and not _is_open_to_anybody(old, new, way) else None)
    )


def _is_upkeep(old: Atom, new: Atom, way: Way) -> bool:
    """What ageing may do to anybody's word that is not pinned: lay it aside or doubt it, move it, weigh its links.

    It ends nothing and rewrites nothing; what was kept for a while only is forgotten when the while is over.
    """
    if (
        way is not Way.UPKEEP
        or old.pinned
        or _differs(old, new, [field for field in DATA_FIELDS if field not in _AGES])
    ):
        return False
    return old.status is new.status or (old.status, new.status) in _AGEING


def guard(atom: Atom, look: Look, hands: Hands) -> float:
    """How trusted one must be to change how an atom stands: as its word is, or as whoever had a hand in it."""
    return max([trust(atom, look), *(TRUST[hand] for hand in hands(atom.id))])


def _overrules(old: Atom, new: Atom, by: Origin, look: Look, hands: Hands) -> str | None:
    """A change needs as much trust as the word it changes; a change of standing as much as anybody who had a hand."""
    ours = old.origin is Origin.DREAM and by is not Origin.DREAM  # what dreams gather, people alone put right
    if (ours or TRUST[by] < trust(old, look)) and _differs(old, new, _OTHERS):
        return f"{old.id} is the word of {old.origin}, not of {by}: remember what is so instead"
    loosened = old.pinned and not new.pinned
    if (loosened or _differs(old, new, _STANDING)) and TRUST[by] < guard(old, look, hands):
        return f"{by} may not change how {old.id} stands; a person decides, with `lamina review`"
    return None


def _left_out(old: Atom, new: Atom) -> bool:
    return bool(set(old.derived_from) - set(new.derived_from))


def _looks_better(old: Atom, new: Atom, look: Look) -> bool:
    return trust(new, look) > trust(old, look) or is_clean(new, look) > is_clean(old, look)


def _comes_to_count(old: Atom | None, new: Atom, way: Way, look: Look) -> bool:
    """Whether something that waits for a person, or is doubted, would be recalled by this."""
    if new.status not in RECALL_WEIGHT:
        return False
    if old is None:
        return words_wait(new.origin) if new.is_segment else new.is_searched and waits(new, look)
    if new.is_segment and new.content != old.content and words_wait(new.origin):
        return True
    if old.status in ENDED or (old.status is Status.CHALLENGED and way is Way.UNDO):
        # It may have waited before it ended, and what it was made of may have been let through since: that is another.
        return not is_clean(new, look)
    return old.status in (Status.CONSTRAINED, Status.CHALLENGED)


def _draws_in(old: Atom | None, new: Atom, by: Origin, look: Look, hands: Hands) -> str | None:
    """Neither words nor statements of somebody more trusted are drawn into what becomes of an atom."""
    for segment in _fresh_words(old, new, look):
        if TRUST[segment.origin] > TRUST[by]:
            return f"{new.id} may not rest on {segment.id}, the word of {segment.origin}"
    targets = set(new.supersedes) - set(old.supersedes if old else ())
    for target in look(sorted(targets)).values() if targets else ():
        if guard(target, look, hands) > TRUST[by]:
            return f"{new.id} may not take the place of {target.id}; a person decides, with `lamina review`"
    return None


def _rests_too_high(old: Atom | None, new: Atom, look: Look) -> str | None:
    """Nobody passes the words of the less trusted off as their own."""
    for segment in _fresh_words(old, new, look) if old is None else ():
        if TRUST[segment.origin] < TRUST[new.origin]:
            return f"{new.id} rests on the word of {segment.origin}: declare that origin"
    return None


def _fresh_words(old: Atom | None, new: Atom, look: Look) -> Collection[Atom]:
    known = set(old.evidence) if old else set()
    segments = {AtomId(each.segment) for each in new.evidence if each not in known} - {new.id}
    return look(sorted(segments)).values() if segments else ()


def _is_open_to_anybody(old: Atom, new: Atom, way: Way) -> bool:
    """The notes of a run are laid aside with it, and what is over may be told of more words that say it."""
    if _is_note(old) or _is_upkeep(old, new, way):
        return True
    only = not _differs(old, new, [name for name in DATA_FIELDS if name != "evidence"])
    longer = new.evidence[: len(old.evidence)] == old.evidence
    return only and old.status in ENDED and (longer or way is Way.UNDO)


def _is_note(atom: Atom) -> bool:
    return atom.layer is Layer.WORKING and atom.run_id is not None


def _differs(old: Atom, new: Atom, names: Iterable[str]) -> bool:
    return any(getattr(old, name) != getattr(new, name) for name in names)


def check_claims(written: Sequence[Version], holders: Callable[[Scope, str], list[Atom]]) -> None:
    """Two active values of a single-valued claim never overlap in valid time."""
    ids = {version.new.id for version in written}
    for scope, name in {
        (version.new.scope, str(claim)) for version in written if (claim := _single_claim(version.new))
    }:
        stretches = sorted(
            filter(_single_claim, holders(scope, name)),
            key=lambda atom: (atom.valid_from is not None, atom.valid_from or 0, atom.id),
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
    for version in written:
        if version.new.superseded_by and (
            version.old is None or version.old.superseded_by != version.new.superseded_by
        ):
            _check_chain(version.new, heads)


def _check_chain(atom: Atom, heads: Callable[[Iterable[AtomId]], Mapping[AtomId, Atom]]) -> None:
    seen: set[AtomId] = set()
    ahead = set(atom.superseded_by)
    while ahead and len(seen) < CHAIN_LIMIT:
        if atom.id in ahead:
            raise Refused(f"{atom.id} would supersede itself")
        seen |= ahead
        ahead = {target for found in heads(ahead).values() for target in found.superseded_by} - seen
