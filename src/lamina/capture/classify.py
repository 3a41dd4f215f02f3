"""What a new statement is to those already there: new, the same, its successor, an older value, or a contradiction."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.claim import Claim, claim_of, value_of
from lamina.atom.identity import AtomId
from lamina.atom.relation import Relation, RelationName
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.capture.receipt import Result
from lamina.store.base import Filter, Store
from lamina.text.normal import normal_form, value_form

AT_ONCE = 500
_SIGNS = re.compile(r"(?<=\w)[+#]+|(?<!\w)[-−](?=\d)|%")
"""Signs that change what the words say: C++ is not C, and −5 is not 5."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How the statement is to be written, what else changes with it, and why."""

    result: Result
    atom: Atom
    others: tuple[Atom, ...]
    reason: str


class Current:
    """The statements that new ones have to be compared with, as they will be once what was decided is committed."""

    def __init__(self, atoms: Sequence[Atom], store: Store) -> None:
        self._atoms: dict[AtomId, Atom] = {}
        self._by_words: dict[tuple[str, str], dict[AtomId, None]] = defaultdict(dict)
        self._by_claim: dict[tuple[str, Claim], dict[AtomId, None]] = defaultdict(dict)
        for scope in {atom.scope for atom in atoms}:
            own = [atom for atom in atoms if atom.scope == scope]
            for batch in _batches(sorted({atom.content for atom in own})):
                self._put(store.read(Filter(scopes=(scope,), contents=tuple(batch))))
            for batch in _batches(sorted({str(claim) for atom in own if (claim := claim_of(atom))})):
                self._put(store.read(Filter(scopes=(scope,), claims=tuple(batch))))

    def take(self, verdict: Verdict) -> None:
        self._put((verdict.atom, *verdict.others))

    def with_words_of(self, atom: Atom) -> list[Atom]:
        words = normal_form(atom.content)
        found = [self._atoms[each] for each in self._by_words.get((atom.scope, words), ())] if words else []
        return [each for each in found if each.status in RECALL_WEIGHT]

    def holders(self, atom: Atom, claim: Claim) -> list[Atom]:
        found = [self._atoms[each] for each in self._by_claim.get((atom.scope, claim), ())]
        return [each for each in found if each.status is Status.ACTIVE]

    def _put(self, atoms: Iterable[Atom]) -> None:
        for atom in atoms:
            self._atoms[atom.id] = atom
            self._by_words[atom.scope, normal_form(atom.content)][atom.id] = None
            claim = claim_of(atom)
            if claim:
                self._by_claim[atom.scope, claim][atom.id] = None


def _batches(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), AT_ONCE):
        yield values[start : start + AT_ONCE]


def classify(atom: Atom, current: Current, now: datetime) -> Verdict:
    """Compare a statement with the current ones of its scope."""
    same = next(
        (each for each in current.with_words_of(atom) if _slot(each) == _slot(atom) and _meets(each, atom)), None
    )
    if same is not None:
        return _again(same, atom, "the same words are there already")
    claim = claim_of(atom)
    if claim is None or not claim.single_valued:
        return Verdict(Result.NEW, atom, (), "nothing like it was there")
    holders = current.holders(atom, claim)
    rivals = [each for each in holders if _meets(each, atom)]
    if not rivals:
        if any(each.validity.overlaps(atom.validity) for each in holders):
            atom = atom.with_(valid_from=_begins(atom))
        return Verdict(Result.NEW, atom, (), f"another time of {claim}" if holders else f"first value of {claim}")
    agreeing = next((each for each in rivals if value_of(each) == value_of(atom)), None)
    if agreeing is not None:
        return _again(agreeing, atom, f"{claim} has that value already")
    return _against(atom, rivals, claim, now)


def _slot(atom: Atom) -> tuple[str, ...]:
    labels = (normal_form(each or "") or each or "" for each in (atom.subject, atom.attribute))
    return atom.kind, *labels, value_form(atom.value or ""), *_SIGNS.findall(atom.content)


def _meets(known: Atom, atom: Atom) -> bool:
    """Whether what is known still holds when the statement begins, or begins while it holds."""
    lasts = known.valid_until is None or known.valid_until > _begins(atom)
    return lasts and known.validity.overlaps(atom.validity)


def _again(known: Atom, atom: Atom, reason: str) -> Verdict:
    """Said once more: what it rests on is added to what the known one rests on."""
    fresh = tuple(each for each in atom.evidence if each not in known.evidence)
    if not fresh:
        return Verdict(Result.DUPLICATE, known, (), reason)
    backed = known.with_(evidence=(*known.evidence, *fresh))
    return Verdict(Result.DUPLICATE, backed, (backed,), reason)


def _against(atom: Atom, rivals: Sequence[Atom], claim: Claim, now: datetime) -> Verdict:
    begins = _begins(atom)
    # Somebody quicker may have written since the clock was read: what is recorded is not in the future.
    now = max(now, *(each.recorded_at or now for each in rivals))
    rival = next((each for each in rivals if _begins(each) == begins), None)
    if rival is not None:
        doubt = Relation(RelationName.CONTRADICTS, rival.id)
        doubted = atom.with_(status=Status.CHALLENGED, relations=(*atom.relations, doubt))
        return Verdict(Result.CHALLENGED, doubted, (), f"{claim} has another value of the same time; a person decides")
    heir = min(
        (each for each in rivals if _begins(each) > begins), key=lambda each: (_begins(each), each.id), default=None
    )
    if heir is None:
        return _succeed(atom, rivals, claim, now)
    until = min(atom.valid_until or _begins(heir), _begins(heir))
    if _begins(heir) > now:
        return _succeed(atom.with_(valid_until=until), [each for each in rivals if _begins(each) < begins], claim, now)
    late = atom.with_(valid_until=until, status=Status.SUPERSEDED, superseded_by=(heir.id,))
    known = heir.with_(supersedes=(*heir.supersedes, atom.id))
    return Verdict(Result.SUPERSEDED, late, (known,), f"{claim} already has a later value")


def _succeed(atom: Atom, rivals: Sequence[Atom], claim: Claim, now: datetime) -> Verdict:
    begins = _begins(atom)
    status = Status.SUPERSEDED if begins <= now else Status.ACTIVE
    ended = tuple(
        each.with_(status=status, valid_until=begins, superseded_by=(*each.superseded_by, atom.id)) for each in rivals
    )
    heir = atom.with_(valid_from=begins, supersedes=(*atom.supersedes, *(each.id for each in rivals)))
    reason = f"{claim} changed" if begins <= now else f"{claim} will change on {begins:%Y-%m-%d}"
    return Verdict(Result.SUPERSEDES if ended else Result.NEW, heir, ended, reason)


def _begins(atom: Atom) -> datetime:
    return atom.valid_from or atom.observed_at
