"""What a new statement is to those already there: new, the same, its successor, an older value, or a contradiction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.claim import Claim, claim_of, value_of
from lamina.atom.identity import AtomId
from lamina.atom.relation import Relation, RelationName
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.capture.receipt import Result
from lamina.store.base import Filter, Store
from lamina.text.normal import normal_form


@dataclass(frozen=True, slots=True)
class Verdict:
    """How the statement is to be written, what else changes with it, and why."""

    result: Result
    atom: Atom
    others: tuple[Atom, ...]
    reason: str


class Current:
    """The current statements as they will be once what was decided so far is committed."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._decided: dict[AtomId, Atom] = {}
        self._by_words: dict[tuple[str, str], list[AtomId]] = defaultdict(list)
        self._by_claim: dict[tuple[str, Claim], list[AtomId]] = defaultdict(list)

    def take(self, verdict: Verdict) -> None:
        for atom in (verdict.atom, *verdict.others):
            self._decided[atom.id] = atom
            self._by_words[atom.scope, normal_form(atom.content)].append(atom.id)
            claim = claim_of(atom)
            if claim:
                self._by_claim[atom.scope, claim].append(atom.id)

    def with_words_of(self, atom: Atom) -> list[Atom]:
        stored = self._store.read(Filter(scopes=(atom.scope,), content=atom.content))
        words = normal_form(atom.content)
        found = self._merged(stored, self._by_words.get((atom.scope, words), ()) if words else ())
        return [each for each in found if each.status in RECALL_WEIGHT]

    def holders(self, atom: Atom, claim: Claim) -> list[Atom]:
        stored = self._store.read(Filter(scopes=(atom.scope,), claim=str(claim)))
        found = self._merged(stored, self._by_claim.get((atom.scope, claim), ()))
        return [each for each in found if each.status is Status.ACTIVE]

    def _merged(self, stored: Sequence[Atom], decided: Sequence[AtomId]) -> list[Atom]:
        found = {each.id: self._decided.get(each.id, each) for each in stored}
        return list((found | {each: self._decided[each] for each in decided}).values())


def classify(atom: Atom, current: Current, now: datetime) -> Verdict:
    """Compare a statement with the current ones of its scope."""
    same = next((each for each in current.with_words_of(atom) if _slot(each) == _slot(atom)), None)
    if same is not None:
        return Verdict(Result.DUPLICATE, same, (), "the same words are there already")
    claim = claim_of(atom)
    if claim is None or not claim.single_valued:
        return Verdict(Result.NEW, atom, (), "nothing like it was there")
    holders = current.holders(atom, claim)
    rivals = [each for each in holders if each.validity.overlaps(atom.validity)]
    if not rivals:
        return Verdict(Result.NEW, atom, (), f"another time of {claim}" if holders else f"first value of {claim}")
    agreeing = next((each for each in rivals if value_of(each) == value_of(atom)), None)
    if agreeing is not None:
        return Verdict(Result.DUPLICATE, agreeing, (), f"{claim} has that value already")
    return _against(atom, rivals, claim, now)


def _slot(atom: Atom) -> tuple[str, ...]:
    return atom.kind, *(normal_form(each or "") or each or "" for each in (atom.subject, atom.attribute, atom.value))


def _against(atom: Atom, rivals: Sequence[Atom], claim: Claim, now: datetime) -> Verdict:
    newest = max(rivals, key=lambda each: (_begins(each), each.id))
    if _begins(atom) > _begins(newest):
        return _succeed(atom, rivals, claim, now)
    if _begins(atom) < _begins(newest):
        late = atom.with_(valid_until=_begins(newest), status=Status.SUPERSEDED, superseded_by=(newest.id,))
        heir = newest.with_(supersedes=(*newest.supersedes, atom.id))
        return Verdict(Result.SUPERSEDED, late, (heir,), f"{claim} already has a later value")
    doubt = Relation(RelationName.CONTRADICTS, newest.id)
    doubted = atom.with_(status=Status.CHALLENGED, relations=(*atom.relations, doubt))
    return Verdict(Result.CHALLENGED, doubted, (), f"{claim} has another value of the same time; a person decides")


def _succeed(atom: Atom, rivals: Sequence[Atom], claim: Claim, now: datetime) -> Verdict:
    begins = _begins(atom)
    status = Status.SUPERSEDED if begins <= now else Status.ACTIVE
    ended = tuple(
        each.with_(status=status, valid_until=begins, superseded_by=(*each.superseded_by, atom.id)) for each in rivals
    )
    heir = atom.with_(valid_from=begins, supersedes=(*atom.supersedes, *(each.id for each in rivals)))
    reason = f"{claim} changed" if begins <= now else f"{claim} will change on {begins:%Y-%m-%d}"
    return Verdict(Result.SUPERSEDES, heir, ended, reason)


def _begins(atom: Atom) -> datetime:
    return atom.valid_from or atom.observed_at
