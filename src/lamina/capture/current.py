"""The statements that new ones are compared with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.claim import Claim, claim_of, may_replace, value_of
from lamina.atom.identity import AtomId
from lamina.atom.lineage import trust
from lamina.atom.pair import is_rival
from lamina.atom.scope import Scope, visible_from
from lamina.atom.standing import begins
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.atom.trust import trust_of
from lamina.store.base import Filter, Store
from lamina.text.alike import Form, form_of
from lamina.text.normal import normal_form
from lamina.text.times import parse_time

AT_ONCE = 500
BESIDE = 100
"""How many of the youngest statements on a subject, or of a claim, a new one is compared with word by word."""
LATELY = 20
"""How many of the youngest statements of a claim that were doubted or replaced are looked at in any case."""
ASKED_AT = "asked_to_forget_at"
"""The key of a statement's metadata that tells when somebody asked in a conversation to have it forgotten."""
_STANDS = frozenset({Status.ACTIVE, Status.CONSTRAINED})
_TAKEN_BACK = frozenset({Status.INVALIDATED, Status.TOMBSTONED})


class Current:
    """What stands of a scope, as it will be once what was decided is committed."""

    def __init__(self, atoms: Sequence[Atom], store: Store) -> None:
        self._store = store
        self._atoms: dict[AtomId, Atom] = {}
        self._by_words: dict[tuple[str, str], dict[AtomId, None]] = defaultdict(dict)
        self._by_claim: dict[tuple[str, Claim], dict[AtomId, None]] = defaultdict(dict)
        self._by_subject: dict[tuple[str, str], dict[AtomId, None]] = defaultdict(dict)
        self._forms: dict[str, Form] = {}
        self._asked: dict[Filter, bool] = {}
        for scope in sorted({atom.scope for atom in atoms}):
            self._look(scope, [atom for atom in atoms if atom.scope == scope])

    def _look(self, scope: Scope, atoms: Sequence[Atom]) -> None:
        """Read what can decide about these. A claim may have had thousands of values: most of them decide nothing."""
        for batch in _batches(sorted({atom.content for atom in atoms})):
            self._find(Filter(scopes=(scope,), contents=tuple(batch)))
        claims = {claim for atom in atoms if (claim := claim_of(atom))}
        names = {name for each in claims if each.single_valued for name in each.names}
        for batch in _batches(sorted(names)):
            self._find(Filter(scopes=(scope,), claims=tuple(batch), statuses=frozenset({Status.ACTIVE})))
        for subject in sorted({atom.subject for atom in atoms if atom.subject and atom.evidence}):
            self._find(Filter(scopes=(scope,), subject=subject, statuses=_STANDS, limit=BESIDE))
        for claim in sorted({claim for atom in atoms if atom.evidence and (claim := claim_of(atom))}, key=str):
            self._find(Filter(scopes=(scope,), claims=claim.names, statuses=_STANDS, limit=BESIDE))

    def take(self, atoms: Iterable[Atom]) -> None:
        """Count these as decided."""
        self._put(atoms)

    def with_words_of(self, atom: Atom) -> list[Atom]:
        """Those that stand and say it in the same words."""
        return [word for word in self._in_words(atom) if word.status in RECALL_WEIGHT or word.status in _STANDS]

    def beside(self, atom: Atom) -> list[Atom]:
        """Those that stand on the same subject."""
        found = self._by_subject.get((atom.scope, normal_form(atom.subject)), ()) if atom.subject else ()
        return [self._atoms[each] for each in found if self._atoms[each].status in _STANDS]

    def holders(self, atom: Atom, claim: Claim) -> list[Atom]:
        """Those that fill the claim now, and alone."""
        filling = (each for each in self._in_claim(atom, claim) if each.status is Status.ACTIVE)
        return [each for each in filling if (own := claim_of(each)) and own.single_valued]

    def doubted(self, atom: Atom, claim: Claim) -> list[Atom]:
        """Those that filled the claim alone until they were doubted; one that only contradicts another never did."""
        doubtful = frozenset({Status.CHALLENGED})
        self._are_all(Filter(scopes=(atom.scope,), claims=claim.names, statuses=doubtful, limit=LATELY))
        found = (each for each in self._in_claim(atom, claim) if each.status is Status.CHALLENGED)
        alone = (each for each in found if (own := claim_of(each)) and own.single_valued)
        return [each for each in alone if each.id != atom.id and not is_rival(each)]

    def over(self, atom: Atom, claim: Claim, *, late: bool) -> list[Atom]:
        """Those that filled the claim for a time and were replaced; of many only those about the time at which a
        statement begins and the youngest, unless it is a `late` one, whose place may be anywhere among them."""
        wanted = Filter(scopes=(atom.scope,), claims=claim.names, statuses=frozenset({Status.SUPERSEDED}))
        if not self._are_all(replace(wanted, limit=LATELY)) and not self._are_all(wanted, look=late):
            self._find(replace(wanted, valid_at=begins(atom)))
        found = (each for each in self._in_claim(atom, claim) if each.status is Status.SUPERSEDED)
        return [each for each in found if each.valid_until and begins(each) < each.valid_until]

    def ended(self, atom: Atom, claim: Claim | None) -> tuple[Atom, datetime] | None:
        """One that said the same and was taken back after this was said, and when; by nobody less trusted."""
        if claim:
            self._are_all(Filter(scopes=(atom.scope,), claims=claim.names, statuses=_TAKEN_BACK))
        rivals = self._in_claim(atom, claim) if claim else []
        said = [*self._in_words(atom), *(rival for rival in rivals if value_of(rival) == value_of(atom))]
        for each in said:
            if each.status in _TAKEN_BACK and each.revision and self.guard(each) >= self.trust(atom):
                at = ended_at(each, self._store)
                if at is not None and atom.observed_at <= at:
                    return each, at
        return None

    def guard(self, atom: Atom) -> float:
        """How trusted one must be to take an atom's place."""
        return self._store.guard(atom) if atom.revision else self.trust(atom)

    def trust(self, atom: Atom) -> float:
        """How much the word of a statement is worth that is not written yet."""
        return trust(atom, lambda ids: self._ancestors(atom.scope, ids)) if atom.derived_from else trust_of(atom.origin)

    def _ancestors(self, scope: Scope, ids: Iterable[AtomId]) -> dict[AtomId, Atom]:
        return {each.id: each for each in self._store.read(Filter(scopes=visible_from(scope), ids=tuple(ids)))}

    def form(self, atom: Atom) -> Form:
        """The atom's words as they are compared."""
        if atom.content not in self._forms:
            self._forms[atom.content] = form_of(atom.content)
        return self._forms[atom.content]

    def _in_words(self, atom: Atom) -> list[Atom]:
        words = normal_form(atom.content)
        return [self._atoms[each] for each in self._by_words.get((atom.scope, words), ())] if words else []

    def _in_claim(self, atom: Atom, claim: Claim) -> list[Atom]:
        found = (self._atoms[each] for each in self._by_claim.get((atom.scope, claim), ()))
        return [each for each in found if may_replace(each, atom)]

    def _are_all(self, wanted: Filter, *, look: bool = True) -> bool:
        """Read these once, and tell whether there are no more of them than that."""
        if wanted not in self._asked and look:
            found = self._find(wanted)
            self._asked[wanted] = wanted.limit is None or found < wanted.limit
        return self._asked.get(wanted, False)

    def _find(self, wanted: Filter) -> int:
        """Read from the store, and count; what was decided meanwhile counts as it was decided."""
        found = self._store.read(wanted)
        self._put(each for each in found if each.id not in self._atoms)
        return len(found)

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
    ended = next(
        version for version in reversed(store.versions(atom.id)) if version.old_status is not version.atom.status
    )
    if atom.status is not Status.TOMBSTONED:
        return ended.at
    if ended.verb == "undo":
        return None
    asked = asked_at(atom)
    return min(ended.at, asked) if asked else ended.at


def is_undone(atom: Atom, store: Store) -> bool:
    """Return whether an atom was removed by undoing the commit that created it, and not by a request to forget it."""
    return atom.status is Status.TOMBSTONED and store.versions(atom.id)[-1].verb == "undo"


def asked_at(atom: Atom) -> datetime | None:
    """When somebody asked in a conversation to have it forgotten; a person may have written anything there."""
    try:
        return parse_time(atom.metadata[ASKED_AT]) if ASKED_AT in atom.metadata else None
    except ValueError:
        return None


def _batches(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), AT_ONCE):
        yield values[start : start + AT_ONCE]
