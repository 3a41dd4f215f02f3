"""The existing statements that new ones are compared with, and the names by which their subjects are known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from difflib import SequenceMatcher
from itertools import islice

from lamina.atom.atom import Atom, AtomId, effective_from
from lamina.atom.claim import Claim, can_replace, claim_of, comparable_value
from lamina.atom.kinds import MemoryType
from lamina.atom.proposals_and_pairs import has_sure_contradiction
from lamina.atom.provenance import Scope, lineage_trust, readable_scopes, trust_of
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.capture.store_reads import StoreReads
from lamina.store.base import AtomFilter, Store, TextQuery
from lamina.store.commit_rules import required_trust
from lamina.store.passages import PassageFilter
from lamina.text.analyser import analyse
from lamina.text.normal_form import ComparisonForm, comparison_form, normal_form
from lamina.text.timestamps import parse_time

READ_BATCH = 500
"""How many values one read of the store asks for."""
MAX_ON_SUBJECT = 100
"""How many of the newest statements on a subject or a claim are compared word by word."""
MAX_RECENT_ENDED = 20
"""How many of the newest challenged or superseded values of a claim are always read."""
FORGET_REQUESTED_AT = "asked_to_forget_at"
"""The metadata key for the time at which a user asked in a conversation to forget the statement."""
ALIAS = "alias"
"""The attribute of a statement that says what else a subject is called."""
_MAX_ALIASES = 20
MIN_SIMILARITY = 0.80
"""The least similarity of two names, and of each pair of words in them that differ."""
_MIN_WORD_CHARS = 5
"""Shorter words must be equal: a cat is no bat."""
_CURRENT_STATUSES = frozenset({Status.ACTIVE, Status.CONSTRAINED})
_RETRACTED_STATUSES = frozenset({Status.INVALIDATED, Status.TOMBSTONED})


class ExistingStatements:
    """The statements of a scope as they will be once the decisions so far are committed."""

    def __init__(self, atoms: Sequence[Atom], reads: StoreReads) -> None:
        self._store, self._reads = reads.store, reads
        self._atoms: dict[AtomId, Atom] = {}
        self._by_words: dict[tuple[str, str], dict[AtomId, None]] = defaultdict(dict)
        self._by_claim: dict[tuple[str, Claim], dict[AtomId, None]] = defaultdict(dict)
        self._new_by_claim: dict[tuple[str, Claim], dict[AtomId, None]] = defaultdict(dict)
        self._by_subject: dict[tuple[str, str], dict[AtomId, None]] = defaultdict(dict)
        self._forms: dict[str, ComparisonForm] = {}
        self._is_complete: dict[AtomFilter, bool] = {}
        filters = filters_of_candidates(atoms)
        reads.prefetch(*filters)
        for atom_filter in filters:
            self._read_new(atom_filter)

    def add_decided(self, atoms: Iterable[Atom]) -> None:
        """Add atoms as they were decided."""
        self._add(atoms)

    def with_same_words(self, atom: Atom) -> list[Atom]:
        """Return the current statements with the same words."""
        return [
            statement
            for statement in self._find_by_words(atom)
            if statement.status in RECALL_WEIGHT or statement.status in _CURRENT_STATUSES
        ]

    def on_same_subject(self, atom: Atom) -> list[Atom]:
        """Return the current statements on the same subject: of many, the first ones read and the last ones decided."""
        ids = self._by_subject.get((atom.scope, normal_form(atom.subject)), {}) if atom.subject else {}
        chosen = (self._atoms[atom_id] for atom_id in _first_and_last(ids))
        return [statement for statement in chosen if statement.status in _CURRENT_STATUSES]

    def current_values(self, atom: Atom, claim: Claim) -> list[Atom]:
        """Return the active statements that are the only value of the claim."""
        active = (statement for statement in self._find_by_claim(atom, claim) if statement.status is Status.ACTIVE)
        return [
            statement
            for statement in active
            if (statement_claim := claim_of(statement)) and statement_claim.is_single_valued
        ]

    def challenged_values(self, atom: Atom, claim: Claim) -> list[Atom]:
        """Return the challenged statements that were the only value of the claim.

        Those that were challenged because they contradict another statement are not among them.
        """
        statuses = frozenset({Status.CHALLENGED})
        self._read_once(
            AtomFilter(scopes=(atom.scope,), claims=claim.stored_names, statuses=statuses, limit=MAX_RECENT_ENDED)
        )
        challenged = (
            statement for statement in self._find_by_claim(atom, claim) if statement.status is Status.CHALLENGED
        )
        single_valued = (
            statement
            for statement in challenged
            if (statement_claim := claim_of(statement)) and statement_claim.is_single_valued
        )
        return [
            statement
            for statement in single_valued
            if statement.id != atom.id and not has_sure_contradiction(statement)
        ]

    def superseded_values(self, atom: Atom, claim: Claim, *, is_late: bool) -> list[Atom]:
        """Return the superseded values of the claim that held for some time.

        Of many, only the newest are read and those around the time at which the statement begins; all of them if it
        `is_late`, as its place may be anywhere among them.
        """
        query = AtomFilter(scopes=(atom.scope,), claims=claim.stored_names, statuses=frozenset({Status.SUPERSEDED}))
        if not self._read_once(replace(query, limit=MAX_RECENT_ENDED)) and not self._read_once(query, may_read=is_late):
            self._read_new(replace(query, valid_at=effective_from(atom)))
        superseded = (
            statement for statement in self._find_by_claim(atom, claim) if statement.status is Status.SUPERSEDED
        )
        return [
            statement
            for statement in superseded
            if statement.valid_until and effective_from(statement) < statement.valid_until
        ]

    def find_retracted(self, atom: Atom, claim: Claim | None) -> tuple[Atom, datetime] | None:
        """Return a statement that said the same and was retracted after this one was said, and when; else None.

        Retractions by a less trusted origin do not count.
        """
        if claim:
            self._read_once(AtomFilter(scopes=(atom.scope,), claims=claim.stored_names, statuses=_RETRACTED_STATUSES))
        claim_values = self._find_by_claim(atom, claim) if claim else []
        restatements = [
            *self._find_by_words(atom),
            *(rival for rival in claim_values if comparable_value(rival) == comparable_value(atom)),
        ]
        for statement in restatements:
            if (
                statement.status in _RETRACTED_STATUSES
                and statement.revision
                and self.required_trust(statement) >= self.trust_of_new(atom)
            ):
                at = ended_at(statement, self._store)
                if at is not None and atom.observed_at <= at:
                    return statement, at
        return None

    def required_trust(self, atom: Atom) -> float:
        """Return the trust that an origin needs to supersede the atom."""
        return required_trust(atom, self._store.atoms) if atom.revision else self.trust_of_new(atom)

    def trust_of_new(self, atom: Atom) -> float:
        """Return the trust of a statement that is not stored yet."""
        return (
            lineage_trust(atom, lambda ids: self._ancestors(atom.scope, ids))
            if atom.derived_from
            else trust_of(atom.origin)
        )

    def _ancestors(self, scope: Scope, ids: Iterable[AtomId]) -> dict[AtomId, Atom]:
        query = AtomFilter(scopes=readable_scopes(scope), ids=tuple(ids))
        return {atom.id: atom for atom in self._reads.read(query)}

    def comparison_form(self, atom: Atom) -> ComparisonForm:
        """Return the words of the atom in the form in which they are compared."""
        if atom.content not in self._forms:
            self._forms[atom.content] = comparison_form(atom.content)
        return self._forms[atom.content]

    def _find_by_words(self, atom: Atom) -> list[Atom]:
        words = normal_form(atom.content)
        return [self._atoms[atom_id] for atom_id in self._by_words.get((atom.scope, words), ())] if words else []

    def _find_by_claim(self, atom: Atom, claim: Claim) -> list[Atom]:
        key = atom.scope, claim
        ids = (*self._by_claim.get(key, ()), *_first_and_last(self._new_by_claim.get(key, {})))
        atoms = (self._atoms[atom_id] for atom_id in dict.fromkeys(ids))
        return [known for known in atoms if can_replace(known, atom)]

    def _read_once(self, query: AtomFilter, *, may_read: bool = True) -> bool:
        """Read the atoms of a filter once, and return whether there are no more of them than its limit."""
        if query not in self._is_complete and may_read:
            count = self._read_new(query)
            self._is_complete[query] = query.limit is None or count < query.limit
        return self._is_complete.get(query, False)

    def _read_new(self, query: AtomFilter) -> int:
        """Read atoms from the store and return how many there are; decided versions are not overwritten."""
        atoms = self._reads.read(query)
        self._add(atom for atom in atoms if atom.id not in self._atoms)
        return len(atoms)

    def _add(self, atoms: Iterable[Atom]) -> None:
        """Add atoms to the lookup tables. Notes of a run are left out: they are archived with it."""
        for atom in (candidate for candidate in atoms if candidate.is_searched):
            self._atoms[atom.id] = atom
            self._by_words[atom.scope, normal_form(atom.content)][atom.id] = None
            if atom.subject:
                self._by_subject[atom.scope, normal_form(atom.subject)][atom.id] = None
            claim = claim_of(atom)
            if claim:
                by_claim = self._by_claim if atom.revision else self._new_by_claim
                by_claim[atom.scope, claim][atom.id] = None


def _first_and_last(ids: dict[AtomId, None]) -> Iterator[AtomId]:
    """Yield the ids in order; of many, the first ones and the last ones."""
    if len(ids) <= 2 * MAX_ON_SUBJECT:
        yield from ids
        return
    yield from islice(ids, MAX_ON_SUBJECT)
    yield from reversed([*islice(reversed(ids), MAX_ON_SUBJECT)])


def filters_of_candidates(atoms: Sequence[Atom]) -> list[AtomFilter]:
    """Return the filters of the existing statements that may decide about these.

    A claim may have had thousands of values; most of them decide nothing and are not read.
    """
    filters: list[AtomFilter] = []
    for scope in sorted({atom.scope for atom in atoms}):
        new = [atom for atom in atoms if atom.scope == scope]
        claims = {claim for atom in new if (claim := claim_of(atom))}
        names = {name for claim in claims if claim.is_single_valued for name in claim.stored_names}
        with_evidence = [atom for atom in new if atom.evidence]
        subjects = {atom.subject for atom in with_evidence if atom.subject}
        own_claims = {claim for atom in with_evidence if (claim := claim_of(atom))}
        current = AtomFilter(scopes=(scope,), statuses=_CURRENT_STATUSES, limit=MAX_ON_SUBJECT)
        active = frozenset({Status.ACTIVE})
        contents = sorted({atom.content for atom in new})
        filters += [AtomFilter(scopes=(scope,), contents=tuple(batch)) for batch in _batches(contents)]
        filters += [
            AtomFilter(scopes=(scope,), claims=tuple(batch), statuses=active) for batch in _batches(sorted(names))
        ]
        filters += [replace(current, subject=subject) for subject in sorted(subjects)]
        filters += [replace(current, claims=claim.stored_names) for claim in sorted(own_claims, key=str)]
    return filters


def ended_at(atom: Atom, store: Store) -> datetime | None:
    """Return when a statement was invalidated or forgotten.

    None if an undo removed it: then it may be said again at any time.
    """
    last_change = next(
        version
        for version in reversed(store.journal.versions(atom.id))
        if version.old_status is not version.atom.status
    )
    if atom.status is not Status.TOMBSTONED:
        return last_change.at
    if last_change.verb == "undo":
        return None
    requested_at = forget_requested_at(atom)
    return min(last_change.at, requested_at) if requested_at else last_change.at


def is_undone(atom: Atom, store: Store) -> bool:
    """Return whether an atom was removed by undoing the commit that created it, and not by a request to forget it."""
    return atom.status is Status.TOMBSTONED and store.journal.versions(atom.id)[-1].verb == "undo"


def forget_requested_at(atom: Atom) -> datetime | None:
    """Return when a user asked in a conversation to forget it; None if the metadata has no valid time."""
    try:
        return parse_time(atom.metadata_text(FORGET_REQUESTED_AT)) if FORGET_REQUESTED_AT in atom.metadata else None
    except ValueError:
        return None


def _batches(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), READ_BATCH):
        yield values[start : start + READ_BATCH]


def resolve_subject(atom: Atom, reads: StoreReads, now: datetime) -> Atom:
    """Return the statement with the name by which its subject is already known, or unchanged if there is none."""
    subject_form = normal_form(atom.subject)
    if (
        not subject_form
        or claim_of(atom) is None
        or normal_form(atom.attribute or "") == ALIAS
        or _is_known_subject(atom, reads)
    ):
        return atom
    known_name = _find_by_alias(atom, subject_form, reads, now) or _find_by_spelling(atom, subject_form, reads)
    return atom.with_(subject=known_name) if known_name else atom


def _is_known_subject(atom: Atom, reads: StoreReads) -> bool:
    return reads.has_any(AtomFilter(scopes=(atom.scope,), subject=atom.subject))


def _find_by_alias(atom: Atom, subject_form: str, reads: StoreReads, now: datetime) -> str | None:
    query = TextQuery(
        filter=PassageFilter(
            scopes=(atom.scope,),
            statuses=frozenset(RECALL_WEIGHT),
            memory_types=frozenset({MemoryType.FACT}),
            valid_at=now,
        ),
        tokens=tuple(dict.fromkeys(analyse(subject_form))),
        limit=_MAX_ALIASES,
    )
    ids = tuple(dict.fromkeys(match.atom_id for match in reads.search(query)))
    atoms = reads.read(AtomFilter(scopes=(atom.scope,), ids=ids)) if ids else []
    aliases = (alias for alias in atoms if normal_form(alias.attribute or "") == ALIAS)
    return next((alias.subject for alias in aliases if normal_form(alias.value or "") == subject_form), None)


def _find_by_spelling(atom: Atom, subject_form: str, reads: StoreReads) -> str | None:
    """Return the only known subject that is spelled nearly the same; None if there are several.

    The first word of a proper name must be equal: Martina is no misspelling of Martin.
    """
    similar = [
        subject
        for subject in reads.store.atoms.find_subjects(atom.scope, subject_form.split())
        if is_same_name(subject_form, subject)
    ]
    if atom.subject[:1].isupper():
        first_word = subject_form.split()[0]
        similar = [subject for subject in similar if first_word in subject.split()]
    if len(similar) != 1:
        return None
    statements = reads.read(AtomFilter(scopes=(atom.scope,), subject=similar[0], limit=1))
    return statements[0].subject if statements else None


def is_same_name(name: str, other: str) -> bool:
    """Return whether two names in normal form mean one thing; numbers and short words must be equal."""
    words, other_words = sorted(name.split()), sorted(other.split())
    if words == other_words:
        return bool(words)
    if len(words) != len(other_words) or _similarity(" ".join(words), " ".join(other_words)) < MIN_SIMILARITY:
        return False
    return all(a == b or _is_misspelling(a, b) for a, b in zip(words, other_words, strict=True))


def _is_misspelling(word: str, other: str) -> bool:
    if min(len(word), len(other)) < _MIN_WORD_CHARS or not (word.isalpha() and other.isalpha()):
        return False
    return _similarity(word, other) >= MIN_SIMILARITY


def _similarity(text: str, other: str) -> float:
    return SequenceMatcher(None, text, other, autojunk=False).ratio()
