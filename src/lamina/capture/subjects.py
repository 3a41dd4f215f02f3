"""Who or what a claim is about: under another name or misspelled it is still the same, and fills the same slot."""

from __future__ import annotations

from datetime import datetime
from difflib import SequenceMatcher

from lamina.atom.atom import Atom
from lamina.atom.claim import claim_of
from lamina.atom.kinds import MemoryType
from lamina.atom.status import RECALL_WEIGHT
from lamina.store.base import Filter, Store, TextQuery
from lamina.text.analyse import analyse
from lamina.text.normal import normal_form

ALIAS = "alias"
"""The attribute by which somebody says what else a subject is called."""
_LOOKED_AT = 20
ALIKE = 0.80
"""How alike the sorted words of two labels must be, and each word that differs with the one in its place."""
_SHORTEST = 5
"""Shorter words must be the same: a cat is no bat."""


def resolved(atom: Atom, store: Store, now: datetime) -> Atom:
    """The statement under the name its subject is known by; as it is where that is known, or nothing like it is."""
    form = normal_form(atom.subject)
    if not form or claim_of(atom) is None or normal_form(atom.attribute or "") == ALIAS or _is_known(atom, store):
        return atom
    called = _by_alias(atom, form, store, now) or _by_spelling(atom, form, store)
    return atom.with_(subject=called) if called else atom


def _is_known(atom: Atom, store: Store) -> bool:
    return bool(store.read(Filter(scopes=(atom.scope,), subject=atom.subject, limit=1)))


def _by_alias(atom: Atom, form: str, store: Store, now: datetime) -> str | None:
    query = TextQuery(
        scopes=(atom.scope,),
        tokens=tuple(dict.fromkeys(analyse(form))),
        statuses=frozenset(RECALL_WEIGHT),
        memory_types=frozenset({MemoryType.FACT}),
        valid_at=now,
        limit=_LOOKED_AT,
    )
    ids = tuple(dict.fromkeys(each.atom_id for each in store.search(query)))
    found = store.read(Filter(scopes=(atom.scope,), ids=ids)) if ids else []
    told = (each for each in found if normal_form(each.attribute or "") == ALIAS)
    return next((each.subject for each in told if normal_form(each.value or "") == form), None)


def _by_spelling(atom: Atom, form: str, store: Store) -> str | None:
    """The one subject that is spelled nearly so; where several are, nobody can tell. Martina is no slip for Martin: a
    name may be misspelled behind its first word only."""
    near = [subject for subject in store.subjects(atom.scope, form.split()) if is_one_name(form, subject)]
    if atom.subject[:1].isupper():
        first = form.split()[0]
        near = [each for each in near if first in each.split()]
    if len(near) != 1:
        return None
    known = store.read(Filter(scopes=(atom.scope,), subject=near[0], limit=1))
    return known[0].subject if known else None


def is_one_name(one: str, other: str) -> bool:
    """Whether two labels in normal form name one thing; numbers and short words never differ by a slip."""
    words, others = sorted(one.split()), sorted(other.split())
    if words == others:
        return bool(words)
    if len(words) != len(others) or _ratio(" ".join(words), " ".join(others)) < ALIKE:
        return False
    return all(a == b or _is_slip(a, b) for a, b in zip(words, others, strict=True))


def _is_slip(one: str, other: str) -> bool:
    if min(len(one), len(other)) < _SHORTEST or not (one.isalpha() and other.isalpha()):
        return False
    return _ratio(one, other) >= ALIKE


def _ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()
