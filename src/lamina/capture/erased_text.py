"""Erased text does not come back: not with an old transcript, not with an import, not from an agent's memory.

A person who says it again after the erasure is believed, and words that are trusted more than the erased ones stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from lamina.atom.atom import Atom, AtomId
from lamina.atom.claim import claim_of, comparable_value
from lamina.atom.provenance import TRUST, Origin, Scope, organisation_name
from lamina.atom.sentence_erasure import Span, erase_spans, is_distinctive, sentences_with_neighbours
from lamina.capture.caller_input import Conversation
from lamina.capture.pieces import TextPiece
from lamina.capture.store_reads import StoreReads
from lamina.store.base import Store
from lamina.store.erasure import FingerprintKind, FingerprintText
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
    erased: dict[AtomId, datetime] = {}
    for origin in {atom.origin for atom in atoms}:
        stated = [atom for atom in atoms if atom.origin is origin]
        erased_at = reads.store.admin.erasures.find_erased(
            {mark for atom in stated for mark in _fingerprints_of(atom)}, TRUST[origin]
        )
        for atom in stated:
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
        self._store, self._trust, self._now = store, TRUST[origin], now
        forms = {form for piece in conversation.pieces for _, form in _normalised_sentences(piece.text)}
        self._erased_at = self._find_erased(FingerprintKind.SENTENCE, filter(is_distinctive, forms))
        self._find_rephrased(forms)
        self._repeated_at = self._find_repeated(conversation)

    def _find_erased(self, kind: FingerprintKind, forms: Iterable[str]) -> dict[str, datetime]:
        marks = {FingerprintText(self._org, kind, form) for form in forms}
        return {mark.form: at for mark, at in self._store.admin.erasures.find_erased(marks, self._trust).items()}

    def _find_rephrased(self, forms: set[str]) -> None:
        """Find sentences in other words that contain an erased value together with a word of its slot."""
        word_runs = {form: set(_word_runs(form)) for form in forms}
        erased_values = self._find_erased(FingerprintKind.VALUE, {run for runs in word_runs.values() for run in runs})
        pairs = {
            (form, f"{value}\0{word}")
            for form, runs in word_runs.items()
            for value in runs & erased_values.keys()
            for word in form.split()
        }
        erased_at = self._find_erased(FingerprintKind.VALUE_WITH_TOPIC, {pair for _, pair in pairs})
        for form, pair in pairs:
            if pair in erased_at:
                self._erased_at[form] = max(erased_at[pair], self._erased_at.get(form, erased_at[pair]))

    def _find_repeated(self, conversation: Conversation) -> dict[tuple[int, Span], datetime]:
        """Return the places where a sentence is next to the same sentences as where it was erased, and when that was.

        A sentence that other memories have too is only recognised by them.
        """
        sentences = list(sentences_with_neighbours([piece.text for piece in conversation.pieces]))
        erased_at = self._find_erased(
            FingerprintKind.SENTENCE_WITH_NEIGHBOUR,
            {f"{form}\0{neighbour}" for _, _, form, neighbours in sentences for neighbour in neighbours},
        )
        repeated: dict[tuple[int, Span], datetime] = {}
        for n, span, form, neighbours in sentences:
            known = {neighbour: pair for neighbour in neighbours if (pair := f"{form}\0{neighbour}") in erased_at}
            if len(known) > 1 or any(map(is_distinctive, known)):
                repeated[n, span] = max(erased_at[pair] for pair in known.values())
        return repeated

    def remove_from(self, n: int, piece: TextPiece) -> TextPiece:
        """Return the piece without its erased sentences."""
        said_at = piece.at or self._at
        spans: list[Span] = []
        for span, form in _normalised_sentences(piece.text):
            times = [at for at in (self._erased_at.get(form), self._repeated_at.get((n, span))) if at is not None]
            if times and not self._is_restated(n, span, said_at, max(times)):
                spans.append(span)
        return replace(piece, text=erase_spans(piece.text, spans)) if spans else piece

    def _is_restated(self, n: int, span: Span, at: datetime, erased_at: datetime) -> bool:
        """Return whether a trusted speaker says it after the erasure, and not only because the text has no time."""
        is_untimed = abs(self._now - at) <= UNTIMED_TOLERANCE
        return self._is_trusted and at > erased_at and not (is_untimed and (n, span) in self._repeated_at)


def _normalised_sentences(text: str) -> Iterator[tuple[Span, str]]:
    for start, end in find_sentences(text):
        yield (start, end), normal_form(text[start:end])


def _word_runs(form: str) -> Iterator[str]:
    words = form.split()
    for length in range(1, MAX_VALUE_WORDS + 1):
        yield from (" ".join(words[n : n + length]) for n in range(len(words) - length + 1))
