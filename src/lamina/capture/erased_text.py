"""Erased text does not come back: not with an old transcript, not with an import, not from an agent's memory.

A person who says it again after the erasure is believed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from lamina.atom.atom import Atom, AtomId
from lamina.atom.claim import claim_of, comparable_value
from lamina.atom.provenance import Origin, Scope, organisation_name
from lamina.atom.sentence_removal import Span, erase_spans, is_distinctive, sentences_with_neighbours
from lamina.capture.conversation import Conversation
from lamina.capture.pieces import TextPiece
from lamina.capture.store_reads import StoreReads
from lamina.store.base import Store
from lamina.store.erasure_fingerprints import FingerprintKind, FingerprintText
from lamina.text.normal_form import normal_form
from lamina.text.sentences import find_sentences

MAX_VALUE_WORDS = 4
"""The most words of an erased value that is looked for inside a sentence."""
UNTIMED_TOLERANCE = timedelta(seconds=2)
"""Text with a time this near to the clock most likely has no time of its own."""
_TRUSTED_SPEAKERS = frozenset({Origin.HUMAN, Origin.AGENT})
"""Origins whose new statements may repeat erased text."""


def remove_erased_sentences(
    conversation: Conversation, origin: Origin, scope: Scope, reads: StoreReads, now: datetime
) -> Conversation:
    """Return the conversation without sentences that were erased after they were said.

    Sentences that an untrusted origin repeats are removed as well. Text without a time of its own seems to be new; it
    counts as an old transcript if an erased sentence is next to the same sentences as before.
    """
    if not reads.has_erased:
        return conversation
    erased = _ErasedSentences(conversation, origin, scope, reads.store, now)
    return replace(
        conversation, pieces=tuple(erased.remove_from(n, piece) for n, piece in enumerate(conversation.pieces))
    )


def find_erased_statements(atoms: Sequence[Atom], reads: StoreReads) -> dict[AtomId, datetime]:
    """Return the statements that were erased and that no person repeats afterwards, with the time of the erasure."""
    if not atoms or not reads.has_erased:
        return {}
    erased_at = reads.store.admin.fingerprints.find_erased({mark for atom in atoms for mark in _fingerprints_of(atom)})
    erased: dict[AtomId, datetime] = {}
    for atom in atoms:
        times = [erased_at[mark] for mark in _fingerprints_of(atom) if mark in erased_at]
        if times and not _is_restated_by_person(atom, max(times)):
            erased[atom.id] = max(times)
    return erased


def _is_restated_by_person(atom: Atom, erased_at: datetime) -> bool:
    """Return whether a person says it after the erasure; an agent alone may just remember the erased text."""
    by_person = atom.origin is Origin.HUMAN or (atom.origin is Origin.AGENT and bool(atom.evidence))
    return by_person and atom.observed_at > erased_at


def _fingerprints_of(atom: Atom) -> Iterator[FingerprintText]:
    """Yield the fingerprints under which a statement may have been erased."""
    org, form, claim = organisation_name(atom.scope), normal_form(atom.content), claim_of(atom)
    yield FingerprintText(org, FingerprintKind.STATEMENT, form)
    if is_distinctive(form):
        yield FingerprintText(org, FingerprintKind.SENTENCE, form)
    if claim is not None:
        yield FingerprintText(org, FingerprintKind.CLAIM, f"{claim}::{comparable_value(atom)}")


class _ErasedSentences:
    """Looks up all sentences of a conversation among the erased ones."""

    def __init__(self, conversation: Conversation, origin: Origin, scope: Scope, store: Store, now: datetime) -> None:
        self._org, self._at, self._is_trusted = (
            organisation_name(scope),
            conversation.observed_at,
            origin in _TRUSTED_SPEAKERS,
        )
        self._now = now
        forms = {form for piece in conversation.pieces for _, form in _normalised_sentences(piece.text)}
        erased_marks = store.admin.fingerprints.find_erased(
            {self._fingerprint(FingerprintKind.SENTENCE, form) for form in forms if is_distinctive(form)}
        )
        self._erased_at: dict[str, datetime] = {mark.form: at for mark, at in erased_marks.items()}
        self._find_rephrased(forms, store)
        self._repeated = (
            self._find_repeated(conversation, store) if self._erased_at and self._is_trusted else frozenset()
        )

    def _find_rephrased(self, forms: set[str], store: Store) -> None:
        """Find sentences in other words that contain an erased value together with a word of its slot."""
        word_runs = {form: set(_word_runs(form)) for form in forms}
        value_marks = {self._fingerprint(FingerprintKind.VALUE, run) for runs in word_runs.values() for run in runs}
        erased_values = {mark.form for mark in store.admin.fingerprints.find_erased(value_marks)}
        pairs = {
            (form, self._fingerprint(FingerprintKind.VALUE_WITH_TOPIC, f"{value}\0{word}"))
            for form, runs in word_runs.items()
            for value in runs & erased_values
            for word in form.split()
        }
        erased_at = store.admin.fingerprints.find_erased({mark for _, mark in pairs})
        for form, mark in pairs:
            if mark in erased_at:
                self._erased_at[form] = max(erased_at[mark], self._erased_at.get(form, erased_at[mark]))

    def _find_repeated(self, conversation: Conversation, store: Store) -> frozenset[tuple[int, Span]]:
        """Return the places where an erased sentence is next to the same sentences as before the erasure."""
        candidates = [
            candidate
            for candidate in sentences_with_neighbours([piece.text for piece in conversation.pieces])
            if candidate[2] in self._erased_at
        ]
        pairs = {f"{form}\0{word}" for _, _, form, neighbours in candidates for word in neighbours}
        known_pairs = {
            mark.form
            for mark in store.admin.fingerprints.find_erased(
                {self._fingerprint(FingerprintKind.SENTENCE_WITH_NEIGHBOUR, pair) for pair in pairs}
            )
        }
        repeated = set()
        for n, span, form, neighbours in candidates:
            known_neighbours = [neighbour for neighbour in neighbours if f"{form}\0{neighbour}" in known_pairs]
            if len(known_neighbours) > 1 or any(map(is_distinctive, known_neighbours)):
                repeated.add((n, span))
        return frozenset(repeated)

    def remove_from(self, n: int, piece: TextPiece) -> TextPiece:
        """Return the piece without its erased sentences."""
        at = piece.at or self._at
        erased = [
            (span, self._erased_at[form]) for span, form in _normalised_sentences(piece.text) if form in self._erased_at
        ]
        spans = [span for span, erased_at in erased if not self._is_restated(n, span, at, erased_at)]
        return replace(piece, text=erase_spans(piece.text, spans)) if spans else piece

    def _is_restated(self, n: int, span: Span, at: datetime, erased_at: datetime) -> bool:
        """Return whether a trusted speaker says it after the erasure, and not only because the text has no time."""
        is_untimed = abs(self._now - at) <= UNTIMED_TOLERANCE
        return self._is_trusted and at > erased_at and not (is_untimed and (n, span) in self._repeated)

    def _fingerprint(self, kind: FingerprintKind, form: str) -> FingerprintText:
        return FingerprintText(self._org, kind, form)


def _normalised_sentences(text: str) -> Iterator[tuple[Span, str]]:
    for start, end in find_sentences(text):
        yield (start, end), normal_form(text[start:end])


def _word_runs(form: str) -> Iterator[str]:
    words = form.split()
    for length in range(1, MAX_VALUE_WORDS + 1):
        yield from (" ".join(words[n : n + length]) for n in range(len(words) - length + 1))
