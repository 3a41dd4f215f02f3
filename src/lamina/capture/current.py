"""The statements that new ones are compared with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.claim import Claim, claim_of, value_of
from lamina.atom.identity import AtomId
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.store.base import Filter, Store
from lamina.text.alike import Form, form_of
from lamina.text.normal import normal_form

AT_ONCE = 500
BESIDE = 100
"""How many of the youngest statements on a subject a new one is compared with word by word."""
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
        """Those that fill the claim now."""
        return [each for each in self._in_claim(atom, claim) if each.status is Status.ACTIVE]

    def ended(self, atom: Atom, claim: Claim | None) -> tuple[Atom, datetime] | None:
        """One that said the same and was taken back after this was said, and when."""
        rivals = self._in_claim(atom, claim) if claim else []
        said = [*self._in_words(atom), *(each for each in rivals if value_of(each) == value_of(atom))]
        for each in said:
            if each.status in (Status.INVALIDATED, Status.TOMBSTONED) and each.revision:
                last = self._store.versions(each.id)[-1]
                undone = each.status is Status.TOMBSTONED and last.verb == "undo"
                if not undone and atom.observed_at <= last.at:
                    return each, last.at
        return None

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


def _batches(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), AT_ONCE):
        yield values[start : start + AT_ONCE]
