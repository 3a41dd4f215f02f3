"""Names of subjects: under an alias or misspelled, a subject is still the same and fills the same slot."""

from __future__ import annotations

from datetime import datetime
from difflib import SequenceMatcher

from lamina.atom.atom import Atom
from lamina.atom.claim import claim_of
from lamina.atom.kinds import MemoryType
from lamina.atom.status import RECALL_WEIGHT
from lamina.store.base import AtomFilter, Store, TextQuery
from lamina.text.analyser import analyse
from lamina.text.normal_form import normal_form

ALIAS = "alias"
"""The attribute of a statement that says what else a subject is called."""
_MAX_CANDIDATES = 20
MIN_SIMILARITY = 0.80
"""The least similarity of two names, and of each pair of words in them that differ."""
_MIN_WORD_CHARS = 5
"""Shorter words must be equal: a cat is no bat."""


def resolve_subject(atom: Atom, store: Store, now: datetime) -> Atom:
    """Return the statement with the name by which its subject is already known, or unchanged if there is none."""
    subject_form = normal_form(atom.subject)
    if (
        not subject_form
        or claim_of(atom) is None
        or normal_form(atom.attribute or "") == ALIAS
        or _is_known_subject(atom, store)
    ):
        return atom
    known_name = _find_by_alias(atom, subject_form, store, now) or _find_by_spelling(atom, subject_form, store)
    return atom.with_(subject=known_name) if known_name else atom


def _is_known_subject(atom: Atom, store: Store) -> bool:
    return bool(store.read(AtomFilter(scopes=(atom.scope,), subject=atom.subject, limit=1)))


def _find_by_alias(atom: Atom, subject_form: str, store: Store, now: datetime) -> str | None:
    query = TextQuery(
        scopes=(atom.scope,),
        tokens=tuple(dict.fromkeys(analyse(subject_form))),
        statuses=frozenset(RECALL_WEIGHT),
        memory_types=frozenset({MemoryType.FACT}),
        valid_at=now,
        limit=_MAX_CANDIDATES,
    )
    ids = tuple(dict.fromkeys(match.atom_id for match in store.search_text(query)))
    atoms = store.read(AtomFilter(scopes=(atom.scope,), ids=ids)) if ids else []
    aliases = (alias for alias in atoms if normal_form(alias.attribute or "") == ALIAS)
    return next((alias.subject for alias in aliases if normal_form(alias.value or "") == subject_form), None)


def _find_by_spelling(atom: Atom, subject_form: str, store: Store) -> str | None:
    """Return the only known subject that is spelled nearly the same; None if there are several.

    The first word of a proper name must be equal: Martina is no misspelling of Martin.
    """
    similar = [
        subject
        for subject in store.find_subjects(atom.scope, subject_form.split())
        if is_same_name(subject_form, subject)
    ]
    if atom.subject[:1].isupper():
        first_word = subject_form.split()[0]
        similar = [subject for subject in similar if first_word in subject.split()]
    if len(similar) != 1:
        return None
    statements = store.read(AtomFilter(scopes=(atom.scope,), subject=similar[0], limit=1))
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
