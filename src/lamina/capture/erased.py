"""What was erased does not come back: not with an old transcript, not with an import, not from a machine's memory.

A person who says it anew, after it was erased, is heard.
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
"""Words of the longest value that is looked for inside a sentence."""
NOW = timedelta(seconds=2)
"""Words this near to the clock have most likely no time of their own."""
_SPOKEN = frozenset({Origin.HUMAN, Origin.AGENT})


def without_erased(said: Conversation, origin: Origin, scope: Scope, store: Store, now: datetime) -> Conversation:
    """The words without sentences that were erased after they were said, or that come from where nobody says them.

    Words without a time of their own seem to be said now. They are an old transcript once more where an erased
    sentence stands next to the words it stood next to.
    """
    if not store.fingerprints.any():
        return said
    heard = _Hearing(said, origin, scope, store, now)
    return replace(said, pieces=tuple(heard.piece(n, each) for n, each in enumerate(said.pieces)))


def erased_among(atoms: Sequence[Atom], store: Store) -> dict[AtomId, datetime]:
    """Those of the statements that were erased and are not said anew by a person, and when they were."""
    if not atoms or not store.fingerprints.any():
        return {}
    known = store.fingerprints.known({mark for atom in atoms for mark in _marks(atom)})
    found: dict[AtomId, datetime] = {}
    for atom in atoms:
        times = [known[mark] for mark in _marks(atom) if mark in known]
        if times and not _is_said_anew(atom, max(times)):
            found[atom.id] = max(times)
    return found


def _is_said_anew(atom: Atom, erased_at: datetime) -> bool:
    """Whether a person says so after the erasure. A machine may well remember what a person had erased."""
    by_person = atom.origin is Origin.HUMAN or (atom.origin is Origin.AGENT and bool(atom.evidence))
    return by_person and atom.observed_at > erased_at


def _marks(atom: Atom) -> Iterator[Mark]:
    org, form, claim = organisation(atom.scope), normal_form(atom.content), claim_of(atom)
    yield Mark(org, MarkKind.STATEMENT, form)
    if is_telling(form):
        yield Mark(org, MarkKind.SENTENCE, form)
    if claim is not None:
        yield Mark(org, MarkKind.CLAIM, f"{claim}::{value_of(atom)}")


class _Hearing:
    """Looks every sentence of a conversation up at once."""

    def __init__(self, said: Conversation, origin: Origin, scope: Scope, store: Store, now: datetime) -> None:
        self._org, self._at, self._spoken = organisation(scope), said.observed_at, origin in _SPOKEN
        self._now = now
        forms = {form for piece in said.pieces for _, form in _sentences(piece.text)}
        known = store.fingerprints.known({self._mark(MarkKind.SENTENCE, form) for form in forms if is_telling(form)})
        self._known: dict[str, datetime] = {mark.form: at for mark, at in known.items()}
        self._echoes(forms, store)
        self._again = self._said_again(said, store) if self._known and self._spoken else frozenset()

    def _echoes(self, forms: set[str], store: Store) -> None:
        """Sentences in other words that name an erased value together with what it is the value of."""
        values = {form: set(_runs(form)) for form in forms}
        wanted = {self._mark(MarkKind.VALUE, run) for runs in values.values() for run in runs}
        erased = {mark.form for mark in store.fingerprints.known(wanted)}
        pairs = {
            (form, self._mark(MarkKind.ECHO, f"{value}\0{word}"))
            for form, runs in values.items()
            for value in runs & erased
            for word in form.split()
        }
        known = store.fingerprints.known({mark for _, mark in pairs})
        for form, mark in pairs:
            if mark in known:
                self._known[form] = max(known[mark], self._known.get(form, known[mark]))

    def _said_again(self, said: Conversation, store: Store) -> frozenset[tuple[int, Span]]:
        """Where an erased sentence stands next to words it stood next to."""
        found = [each for each in beside([piece.text for piece in said.pieces]) if each[2] in self._known]
        pairs = {f"{form}\0{word}" for _, _, form, near in found for word in near}
        known = {mark.form for mark in store.fingerprints.known({self._mark(MarkKind.BESIDE, pair) for pair in pairs})}
        again = set()
        for n, span, form, near in found:
            same = [each for each in near if f"{form}\0{each}" in known]
            if len(same) > 1 or any(map(is_telling, same)):
                again.add((n, span))
        return frozenset(again)

    def piece(self, n: int, piece: Piece) -> Piece:
        at = piece.at or self._at
        told = [(span, self._known[form]) for span, form in _sentences(piece.text) if form in self._known]
        spans = [span for span, erased_at in told if not self._is_anew(n, span, at, erased_at)]
        return replace(piece, text=without(piece.text, spans)) if spans else piece

    def _is_anew(self, n: int, span: Span, at: datetime, erased_at: datetime) -> bool:
        """Whether somebody who may says it after the erasure, and not only because nobody wrote down when."""
        timeless = abs(self._now - at) <= NOW
        return self._spoken and at > erased_at and not (timeless and (n, span) in self._again)

    def _mark(self, kind: MarkKind, form: str) -> Mark:
        return Mark(self._org, kind, form)


def _sentences(text: str) -> Iterator[tuple[Span, str]]:
    for start, end in sentences(text):
        yield (start, end), normal_form(text[start:end])


def _runs(form: str) -> Iterator[str]:
    words = form.split()
    for length in range(1, LONGEST_VALUE + 1):
        yield from (" ".join(words[n : n + length]) for n in range(len(words) - length + 1))
