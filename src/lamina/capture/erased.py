"""Erased text does not come back: not with an old transcript, not with an import, not from an agent's memory.

A person who says it again after the erasure is believed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from lamina.atom.atom import Atom
from lamina.atom.claim import claim_of, value_of
from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope, organisation
from lamina.atom.strike import Span, beside, is_telling, without
from lamina.atom.trust import Origin
from lamina.capture.conversation import Conversation
from lamina.capture.pieces import Piece
from lamina.store.base import Store
from lamina.store.fingerprints import Mark, MarkKind
from lamina.text.normal import normal_form
from lamina.text.sentences import sentences

LONGEST_VALUE = 4
"""The most words of an erased value that is looked for inside a sentence."""
NOW = timedelta(seconds=2)
"""Text with a time this near to the clock most likely has no time of its own."""
_SPOKEN = frozenset({Origin.HUMAN, Origin.AGENT})
"""Origins whose new statements may repeat erased text."""


def without_erased(said: Conversation, origin: Origin, scope: Scope, store: Store, now: datetime) -> Conversation:
    """Return the conversation without sentences that were erased after they were said.

    Sentences that an untrusted origin repeats are removed as well. Text without a time of its own seems to be new; it
    counts as an old transcript if an erased sentence is next to the same sentences as before.
    """
    if not store.fingerprints.any():
        return said
    erased = _Hearing(said, origin, scope, store, now)
    return replace(said, pieces=tuple(erased.piece(n, piece) for n, piece in enumerate(said.pieces)))


def erased_among(atoms: Sequence[Atom], store: Store) -> dict[AtomId, datetime]:
    """Return the statements that were erased and that no person repeats afterwards, with the time of the erasure."""
    if not atoms or not store.fingerprints.any():
        return {}
    erased_at = store.fingerprints.known({mark for atom in atoms for mark in _marks(atom)})
    erased: dict[AtomId, datetime] = {}
    for atom in atoms:
        times = [erased_at[mark] for mark in _marks(atom) if mark in erased_at]
        if times and not _is_said_anew(atom, max(times)):
            erased[atom.id] = max(times)
    return erased


def _is_said_anew(atom: Atom, erased_at: datetime) -> bool:
    """Return whether a person says it after the erasure; an agent alone may just remember the erased text."""
    by_person = atom.origin is Origin.HUMAN or (atom.origin is Origin.AGENT and bool(atom.evidence))
    return by_person and atom.observed_at > erased_at


def _marks(atom: Atom) -> Iterator[Mark]:
    """Yield the fingerprints under which a statement may have been erased."""
    org, form, claim = organisation(atom.scope), normal_form(atom.content), claim_of(atom)
    yield Mark(org, MarkKind.STATEMENT, form)
    if is_telling(form):
        yield Mark(org, MarkKind.SENTENCE, form)
    if claim is not None:
        yield Mark(org, MarkKind.CLAIM, f"{claim}::{value_of(atom)}")


class _Hearing:
    """Looks up all sentences of a conversation among the erased ones."""

    def __init__(self, said: Conversation, origin: Origin, scope: Scope, store: Store, now: datetime) -> None:
        self._org, self._at, self._is_trusted = organisation(scope), said.observed_at, origin in _SPOKEN
        self._now = now
        forms = {form for piece in said.pieces for _, form in _sentences(piece.text)}
        erased_marks = store.fingerprints.known(
            {self._mark(MarkKind.SENTENCE, form) for form in forms if is_telling(form)}
        )
        self._erased_at: dict[str, datetime] = {mark.form: at for mark, at in erased_marks.items()}
        self._echoes(forms, store)
        self._repeated = self._said_again(said, store) if self._erased_at and self._is_trusted else frozenset()

    def _echoes(self, forms: set[str], store: Store) -> None:
        """Find sentences in other words that contain an erased value together with a word of its slot."""
        word_runs = {form: set(_runs(form)) for form in forms}
        value_marks = {self._mark(MarkKind.VALUE, run) for runs in word_runs.values() for run in runs}
        erased_values = {mark.form for mark in store.fingerprints.known(value_marks)}
        pairs = {
            (form, self._mark(MarkKind.ECHO, f"{value}\0{word}"))
            for form, runs in word_runs.items()
            for value in runs & erased_values
            for word in form.split()
        }
        erased_at = store.fingerprints.known({mark for _, mark in pairs})
        for form, mark in pairs:
            if mark in erased_at:
                self._erased_at[form] = max(erased_at[mark], self._erased_at.get(form, erased_at[mark]))

    def _said_again(self, said: Conversation, store: Store) -> frozenset[tuple[int, Span]]:
        """Return the places where an erased sentence is next to the same sentences as before the erasure."""
        candidates = [
            candidate for candidate in beside([piece.text for piece in said.pieces]) if candidate[2] in self._erased_at
        ]
        pairs = {f"{form}\0{word}" for _, _, form, neighbours in candidates for word in neighbours}
        known_pairs = {
            mark.form for mark in store.fingerprints.known({self._mark(MarkKind.BESIDE, pair) for pair in pairs})
        }
        repeated = set()
        for n, span, form, neighbours in candidates:
            known_neighbours = [neighbour for neighbour in neighbours if f"{form}\0{neighbour}" in known_pairs]
            if len(known_neighbours) > 1 or any(map(is_telling, known_neighbours)):
                repeated.add((n, span))
        return frozenset(repeated)

    def piece(self, n: int, piece: Piece) -> Piece:
        """Return the piece without its erased sentences."""
        at = piece.at or self._at
        erased = [(span, self._erased_at[form]) for span, form in _sentences(piece.text) if form in self._erased_at]
        spans = [span for span, erased_at in erased if not self._is_anew(n, span, at, erased_at)]
        return replace(piece, text=without(piece.text, spans)) if spans else piece

    def _is_anew(self, n: int, span: Span, at: datetime, erased_at: datetime) -> bool:
        """Return whether a trusted speaker says it after the erasure, and not only because the text has no time."""
        is_untimed = abs(self._now - at) <= NOW
        return self._is_trusted and at > erased_at and not (is_untimed and (n, span) in self._repeated)

    def _mark(self, kind: MarkKind, form: str) -> Mark:
        return Mark(self._org, kind, form)


def _sentences(text: str) -> Iterator[tuple[Span, str]]:
    for start, end in sentences(text):
        yield (start, end), normal_form(text[start:end])


def _runs(form: str) -> Iterator[str]:
    words = form.split()
    for length in range(1, LONGEST_VALUE + 1):
        yield from (" ".join(words[n : n + length]) for n in range(len(words) - length + 1))
