"""The statements that new ones are compared with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.claim import Claim, claim_of, value_of
from lamina.atom.identity import AtomId
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.atom.trust import trust_of
from lamina.store.base import Filter, Store
from lamina.text.alike import Form, form_of
from lamina.text.normal import normal_form
from lamina.text.times import parse_time

AT_ONCE = 500
BESIDE = 100
"""How many of the youngest statements on a subject a new one is compared with word by word."""
ASKED_AT = "asked_to_forget_at"
"""The key of a statement's metadata that tells when somebody asked in a conversation to have it forgotten."""
_STANDS = frozenset({Status.ACTIVE, Status.CONSTRAINED})


class Current:
    """What stands of a scope, as it will be once what was decided is committed."""

    def __init__(self, atoms: Sequence[Atom], store: Store) -> None:
        self._store = store
        self._atoms: dict[AtomId, Atom] = {}
        self._by_words: dict[tuple[str, str], dict[AtomId, None]] = defaultdict(dict)
        self._by_claim: dict[tuple[str, Claim], dict[AtomId, None]] = defaultdict(dict)
        self._by_subject: dict[tuple[str, str], dict[AtomId, None]] = defaultdict(dict)
        self._forms: dict[str, Form] = {}
        for scope in {atom.scope for atom in atoms}:
            own = [atom for atom in atoms if atom.scope == scope]
            for batch in _batches(sorted({atom.content for atom in own})):
                self._put(store.read(Filter(scopes=(scope,), contents=tuple(batch))))
            for batch in _batches(sorted({str(claim) for atom in own if (claim := claim_of(atom))})):
                self._put(store.read(Filter(scopes=(scope,), claims=tuple(batch))))
            for subject in sorted({atom.subject for atom in own if atom.subject and atom.evidence}):
                self._put(store.read(Filter(scopes=(scope,), subject=subject, statuses=_STANDS, limit=BESIDE)))

    def take(self, atoms: Iterable[Atom]) -> None:
        """Count these as decided."""
        self._put(atoms)

    def with_words_of(self, atom: Atom) -> list[Atom]:
        """Those that stand and say it in the same words."""
        return [each for each in self._in_words(atom) if each.status in RECALL_WEIGHT or each.status in _STANDS]

    def beside(self, atom: Atom) -> list[Atom]:
        """Those that stand on the same subject."""
        found = self._by_subject.get((atom.scope, normal_form(atom.subject)), ()) if atom.subject else ()
        return [self._atoms[each] for each in found if self._atoms[each].status in _STANDS]

    def holders(self, atom: Atom, claim: Claim) -> list[Atom]:
        """Those that fill the claim now, and alone."""
        filling = (each for each in self._in_claim(atom, claim) if each.status is Status.ACTIVE)
        return [each for each in filling if (own := claim_of(each)) and own.single_valued]

    def over(self, atom: Atom, claim: Claim) -> list[Atom]:
        """Those that filled the claim for a time and were replaced."""
        found = (each for each in self._in_claim(atom, claim) if each.status is Status.SUPERSEDED)
        return [each for each in found if each.valid_until and (each.valid_from or each.observed_at) < each.valid_until]

    def ended(self, atom: Atom, claim: Claim | None) -> tuple[Atom, datetime] | None:
        """One that said the same and was taken back after this was said, and when."""
        rivals = self._in_claim(atom, claim) if claim else []
        said = [*self._in_words(atom), *(each for each in rivals if value_of(each) == value_of(atom))]
        for each in said:
            if each.status in (Status.INVALIDATED, Status.TOMBSTONED) and each.revision:
                at = ended_at(each, self._store)
                if at is not None and atom.observed_at <= at:
                    return each, at
        return None

    def guard(self, atom: Atom) -> float:
        """How trusted one must be to take an atom's place."""
        return self._store.guard(atom) if atom.revision else trust_of(atom.origin)

    def form(self, atom: Atom) -> Form:
        """The atom's words as they are compared."""
        if atom.content not in self._forms:
            self._forms[atom.content] = form_of(atom.content)
        return self._forms[atom.content]

    def _in_words(self, atom: Atom) -> list[Atom]:
        words = normal_form(atom.content)
        return [self._atoms[each] for each in self._by_words.get((atom.scope, words), ())] if words else []

    def _in_claim(self, atom: Atom, claim: Claim) -> list[Atom]:
        return [self._atoms[each] for each in self._by_claim.get((atom.scope, claim), ())]

    def _put(self, atoms: Iterable[Atom]) -> None:
        """Take these in. A run's notes are laid aside with it, so nothing is left unsaid because a note says it."""
        for atom in (each for each in atoms if each.is_searched):
            self._atoms[atom.id] = atom
            self._by_words[atom.scope, normal_form(atom.content)][atom.id] = None
            if atom.subject:
                self._by_subject[atom.scope, normal_form(atom.subject)][atom.id] = None
            claim = claim_of(atom)
            if claim:
                self._by_claim[atom.scope, claim][atom.id] = None


def ended_at(atom: Atom, store: Store) -> datetime | None:
    """When a statement was found wrong or taken back; None where an undo did it: then it may be said at any time."""
    ended = next(each for each in reversed(store.versions(atom.id)) if each.old_status is not each.atom.status)
    if atom.status is not Status.TOMBSTONED:
        return ended.at
    if ended.verb == "undo":
        return None
    asked = asked_at(atom)
    return min(ended.at, asked) if asked else ended.at


def asked_at(atom: Atom) -> datetime | None:
    """When somebody asked in a conversation to have it forgotten; a person may have written anything there."""
    try:
        return parse_time(atom.metadata[ASKED_AT]) if ASKED_AT in atom.metadata else None
    except ValueError:
        return None


def _batches(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), AT_ONCE):
        yield values[start : start + AT_ONCE]
