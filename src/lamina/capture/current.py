"""The existing statements that new ones are compared with."""

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
"""How many values one read of the store asks for."""
BESIDE = 100
"""How many of the newest statements on a subject or a claim are compared word by word."""
LATELY = 20
"""How many of the newest challenged or superseded values of a claim are always read."""
ASKED_AT = "asked_to_forget_at"
"""The metadata key for the time at which a user asked in a conversation to forget the statement."""
_STANDS = frozenset({Status.ACTIVE, Status.CONSTRAINED})
_TAKEN_BACK = frozenset({Status.INVALIDATED, Status.TOMBSTONED})


class Current:
    """The statements of a scope as they will be once the decisions so far are committed."""

    def __init__(self, atoms: Sequence[Atom], store: Store) -> None:
        self._store = store
        self._atoms: dict[AtomId, Atom] = {}
        self._by_words: dict[tuple[str, str], dict[AtomId, None]] = defaultdict(dict)
        self._by_claim: dict[tuple[str, Claim], dict[AtomId, None]] = defaultdict(dict)
        self._by_subject: dict[tuple[str, str], dict[AtomId, None]] = defaultdict(dict)
        self._forms: dict[str, Form] = {}
        self._is_complete: dict[Filter, bool] = {}
        for scope in sorted({atom.scope for atom in atoms}):
            self._look(scope, [atom for atom in atoms if atom.scope == scope])

    def _look(self, scope: Scope, atoms: Sequence[Atom]) -> None:
        """Read the statements that may decide about these atoms.

        A claim may have had thousands of values; most of them decide nothing and are not read.
        """
        for batch in _batches(sorted({atom.content for atom in atoms})):
            self._find(Filter(scopes=(scope,), contents=tuple(batch)))
        claims = {claim for atom in atoms if (claim := claim_of(atom))}
        claim_names = {name for claim in claims if claim.single_valued for name in claim.names}
        for batch in _batches(sorted(claim_names)):
            self._find(Filter(scopes=(scope,), claims=tuple(batch), statuses=frozenset({Status.ACTIVE})))
        for subject in sorted({atom.subject for atom in atoms if atom.subject and atom.evidence}):
            self._find(Filter(scopes=(scope,), subject=subject, statuses=_STANDS, limit=BESIDE))
        for claim in sorted({claim for atom in atoms if atom.evidence and (claim := claim_of(atom))}, key=str):
            self._find(Filter(scopes=(scope,), claims=claim.names, statuses=_STANDS, limit=BESIDE))

    def take(self, atoms: Iterable[Atom]) -> None:
        """Add atoms as they were decided."""
        self._put(atoms)

    def with_words_of(self, atom: Atom) -> list[Atom]:
        """Return the current statements with the same words."""
        return [word for word in self._in_words(atom) if word.status in RECALL_WEIGHT or word.status in _STANDS]

    def beside(self, atom: Atom) -> list[Atom]:
        """Return the current statements on the same subject."""
        ids = self._by_subject.get((atom.scope, normal_form(atom.subject)), ()) if atom.subject else ()
        return [self._atoms[atom_id] for atom_id in ids if self._atoms[atom_id].status in _STANDS]

    def holders(self, atom: Atom, claim: Claim) -> list[Atom]:
        """Return the active statements that are the only value of the claim."""
        active = (statement for statement in self._in_claim(atom, claim) if statement.status is Status.ACTIVE)
        return [
            statement
            for statement in active
            if (statement_claim := claim_of(statement)) and statement_claim.single_valued
        ]

    def doubted(self, atom: Atom, claim: Claim) -> list[Atom]:
        """Return the challenged statements that were the only value of the claim.

        Those that were challenged because they contradict another statement are not among them.
        """
        statuses = frozenset({Status.CHALLENGED})
        self._are_all(Filter(scopes=(atom.scope,), claims=claim.names, statuses=statuses, limit=LATELY))
        challenged = (statement for statement in self._in_claim(atom, claim) if statement.status is Status.CHALLENGED)
        single_valued = (
            statement
            for statement in challenged
            if (statement_claim := claim_of(statement)) and statement_claim.single_valued
        )
        return [statement for statement in single_valued if statement.id != atom.id and not is_rival(statement)]

    def over(self, atom: Atom, claim: Claim, *, late: bool) -> list[Atom]:
        """Return the superseded values of the claim that held for some time.

        Of many, only the newest are read and those around the time at which the statement begins; all of them if it
        `is_late`, as its place may be anywhere among them.
        """
        query = Filter(scopes=(atom.scope,), claims=claim.names, statuses=frozenset({Status.SUPERSEDED}))
        if not self._are_all(replace(query, limit=LATELY)) and not self._are_all(query, look=late):
            self._find(replace(query, valid_at=begins(atom)))
        superseded = (statement for statement in self._in_claim(atom, claim) if statement.status is Status.SUPERSEDED)
        return [
            statement for statement in superseded if statement.valid_until and begins(statement) < statement.valid_until
        ]

    def ended(self, atom: Atom, claim: Claim | None) -> tuple[Atom, datetime] | None:
        """Return a statement that said the same and was retracted after this one was said, and when; else None.

        Retractions by a less trusted origin do not count.
        """
        if claim:
            self._are_all(Filter(scopes=(atom.scope,), claims=claim.names, statuses=_TAKEN_BACK))
        claim_values = self._in_claim(atom, claim) if claim else []
        restatements = [*self._in_words(atom), *(rival for rival in claim_values if value_of(rival) == value_of(atom))]
        for statement in restatements:
            if statement.status in _TAKEN_BACK and statement.revision and self.guard(statement) >= self.trust(atom):
                at = ended_at(statement, self._store)
                if at is not None and atom.observed_at <= at:
                    return statement, at
        return None

    def guard(self, atom: Atom) -> float:
        """Return the trust that an origin needs to supersede the atom."""
        return self._store.guard(atom) if atom.revision else self.trust(atom)

    def trust(self, atom: Atom) -> float:
        """Return the trust of a statement that is not stored yet."""
        return trust(atom, lambda ids: self._ancestors(atom.scope, ids)) if atom.derived_from else trust_of(atom.origin)

    def _ancestors(self, scope: Scope, ids: Iterable[AtomId]) -> dict[AtomId, Atom]:
        return {atom.id: atom for atom in self._store.read(Filter(scopes=visible_from(scope), ids=tuple(ids)))}

    def form(self, atom: Atom) -> Form:
        """Return the words of the atom in the form in which they are compared."""
        if atom.content not in self._forms:
            self._forms[atom.content] = form_of(atom.content)
        return self._forms[atom.content]

    def _in_words(self, atom: Atom) -> list[Atom]:
        words = normal_form(atom.content)
        return [self._atoms[atom_id] for atom_id in self._by_words.get((atom.scope, words), ())] if words else []

    def _in_claim(self, atom: Atom, claim: Claim) -> list[Atom]:
        atoms = (self._atoms[atom_id] for atom_id in self._by_claim.get((atom.scope, claim), ()))
        return [known for known in atoms if may_replace(known, atom)]

    def _are_all(self, wanted: Filter, *, look: bool = True) -> bool:
        """Read the atoms of a filter once, and return whether there are no more of them than its limit."""
        if wanted not in self._is_complete and look:
            count = self._find(wanted)
            self._is_complete[wanted] = wanted.limit is None or count < wanted.limit
        return self._is_complete.get(wanted, False)

    def _find(self, wanted: Filter) -> int:
        """Read atoms from the store and return how many there are; decided versions are not overwritten."""
        atoms = self._store.read(wanted)
        self._put(atom for atom in atoms if atom.id not in self._atoms)
        return len(atoms)

    def _put(self, atoms: Iterable[Atom]) -> None:
        """Add atoms to the lookup tables. Notes of a run are left out: they are archived with it."""
        for atom in (candidate for candidate in atoms if candidate.is_searched):
            self._atoms[atom.id] = atom
            self._by_words[atom.scope, normal_form(atom.content)][atom.id] = None
            if atom.subject:
                self._by_subject[atom.scope, normal_form(atom.subject)][atom.id] = None
            claim = claim_of(atom)
            if claim:
                self._by_claim[atom.scope, claim][atom.id] = None


def ended_at(atom: Atom, store: Store) -> datetime | None:
    """Return when a statement was invalidated or forgotten.

    None if an undo removed it: then it may be said again at any time.
    """
    last_change = next(
        version for version in reversed(store.versions(atom.id)) if version.old_status is not version.atom.status
    )
    if atom.status is not Status.TOMBSTONED:
        return last_change.at
    if last_change.verb == "undo":
        return None
    requested_at = asked_at(atom)
    return min(last_change.at, requested_at) if requested_at else last_change.at


def is_undone(atom: Atom, store: Store) -> bool:
    """Return whether an atom was removed by undoing the commit that created it, and not by a request to forget it."""
    return atom.status is Status.TOMBSTONED and store.versions(atom.id)[-1].verb == "undo"


def asked_at(atom: Atom) -> datetime | None:
    """Return when a user asked in a conversation to forget it; None if the metadata has no valid time."""
    try:
        return parse_time(atom.metadata[ASKED_AT]) if ASKED_AT in atom.metadata else None
    except ValueError:
        return None


def _batches(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), AT_ONCE):
        yield values[start : start + AT_ONCE]
