"""The words of what is erased: what removes them from texts, and the fingerprints by which they are recognised."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TypeVar

from lamina.atom.atom import Atom, has_generated_section
from lamina.atom.claim import claim_of, comparable_value
from lamina.atom.kinds import kind_traits
from lamina.atom.metadata import iterate_texts
from lamina.atom.passage import ROLE_NAMES, passages_of
from lamina.atom.provenance import TRUST, organisation_name
from lamina.atom.sentence_erasure import (
    Digest,
    RemovalTarget,
    TargetValue,
    anchor_words,
    is_distinctive,
    sentences_with_neighbours,
)
from lamina.store.erasure import FingerprintKind, FingerprintText
from lamina.text.analyser import STOP_WORDS
from lamina.text.normal_form import normal_form
from lamina.text.sentences import find_sentences

_UNSPECIFIC_WORDS = ROLE_NAMES | STOP_WORDS | {"s", "m", "profile"}
"""Words of a subject or attribute that occur in any sentence."""
_MIN_VALUE_CHARS = 6
"""A shorter value, of one word and without a digit, occurs in unrelated sentences."""
_MIN_SENTENCE_WORDS = 5
"""A shorter sentence of an erased session is not searched for elsewhere."""
_REASON_WORDS = frozenset(
    [
        "adopted",
        "asked",
        "captured",
        "changed",
        "confirmed",
        "deleted",
        "edited",
        "erase",
        "erased",
        "forget",
        "found",
        "imported",
        "older",
        "pinned",
        "remember",
        "sealed",
        "statement",
        "statements",
        "unpinned",
    ]
)
"""Words of lamina's own commit reasons, which quote no memory."""
FULL_TRUST = max(TRUST.values())


class StandingWords:
    """The erased words that also stand in memories that stay, each with the trust of the most trusted of these."""

    def __init__(self) -> None:
        self.sentences: dict[Digest, float] = {}
        self.values: dict[Digest, float] = {}
        """Values beside a word of what they are values of."""
        self.phrases: dict[Digest, float] = {}
        """Sentences, and values whatever stands beside them."""
        self.claims: dict[str, float] = {}

    def add(self, text: str, trust: float, target: RemovalTarget) -> bool:
        """Add what stands in a text; return whether that is a whole sentence, or a value with what it is a value of."""
        found = set(target.find_forms(text))
        named = {digest for start, end in find_sentences(text) for digest in target.find_values(text[start:end])}
        for digests, known in (
            (found, self.sentences),
            (named, self.values),
            (target.find_phrases(text), self.phrases),
        ):
            for digest in digests:
                known[digest] = max(trust, known.get(digest, 0.0))
        return bool(found or named)


class ErasedWords:
    """Collects the sentences and values of what is erased, with the trust of the atoms that they come from.

    With `everywhere` a person decided about the words, whoever said them.
    """

    def __init__(self, *, everywhere: bool) -> None:
        self._everywhere = everywhere
        self._atoms: list[Atom] = []
        self._sentences: dict[str, float] = {}
        self._values: dict[TargetValue, float] = {}
        self._session_sentences: dict[str, float] = {}
        self._struck: set[str] = set()
        """The sentences that passages lose, whoever else has them too."""
        self._touched_segments: list[Atom] = []

    def add_version(self, version: Atom) -> None:
        """Add a version of an erased atom."""
        self._atoms.append(version)
        if version.is_segment:
            long_forms = filter(_is_long, distinctive_sentences(version))
            _raise_trust(self._session_sentences, long_forms, self._trust_of(version))
        elif is_statement(version):
            if not has_generated_section(version.content):
                forms = (normal_form(version.content), *distinctive_sentences(version))
                _raise_trust(self._sentences, forms, self._trust_of(version))
            _raise_trust(self._values, _values_of(version), self._trust_of(version))

    def add_evidence(self, forms: Iterable[str], trust: float) -> None:
        """Add sentences that an erased atom rests on."""
        evidence = list(forms)
        self._struck.update(evidence)
        _raise_trust(self._sentences, evidence, FULL_TRUST if self._everywhere else trust)

    def add_struck(self, segment: Atom, forms: Iterable[str]) -> None:
        """Add the sentences that a segment loses."""
        struck = list(forms)
        self._struck.update(struck)
        self._touched_segments.append(segment)
        _raise_trust(self._session_sentences, struck, self._trust_of(segment))

    def anchors(self) -> frozenset[str]:
        """Return a word of every sentence and value, for finding texts that may contain it."""
        return anchor_words(self._all_sentences(), self._values)

    def target(self) -> RemovalTarget:
        """Return what recognises the erased statements and the sentences that they rest on."""
        return RemovalTarget.of(self._sentences, self._values)

    def search_target(self) -> RemovalTarget:
        """Return what also recognises the sentences of erased sessions."""
        return RemovalTarget.of(self._all_sentences(), self._values)

    def own_target(self, target: RemovalTarget, standing: StandingWords) -> RemovalTarget:
        """Return what recognises only the words that stand in no memory that stays and is trusted as much."""
        return RemovalTarget.of(self._own_sentences(target, standing), self._own_values(target, standing))

    def file_target(self, target: RemovalTarget, standing: StandingWords) -> RemovalTarget:
        """Return what recognises the words in copies: those that no other memory has, and those that passages lose."""
        sentences = {*self._own_sentences(target, standing), *self._struck}
        return RemovalTarget.of(sentences, self._own_values(target, standing))

    def _all_sentences(self) -> dict[str, float]:
        sentences = dict(self._session_sentences)
        for form, trust in self._sentences.items():
            _raise_trust(sentences, [form], trust)
        return sentences

    def _own_sentences(self, target: RemovalTarget, standing: StandingWords) -> dict[str, float]:
        return {
            form: trust
            for form, trust in self._all_sentences().items()
            if is_distinctive(form) and standing.sentences.get(target.digest(form), 0) < trust
        }

    def _own_values(self, target: RemovalTarget, standing: StandingWords) -> list[TargetValue]:
        phrases = standing.phrases
        return [value for value, trust in self._values.items() if phrases.get(target.digest(value.value), 0) < trust]

    def telling_words(self) -> frozenset[str]:
        """Return the words of the erased atoms, of their sessions and their sources that could tell what they say."""
        texts = (text for atom in self._atoms for text in _texts_of(atom))
        words = {word for text in texts for word in normal_form(text).split() if len(word) > 3 or not word.isalpha()}
        return frozenset(words) - STOP_WORDS - _REASON_WORDS

    def fingerprints(self, target: RemovalTarget, standing: StandingWords) -> dict[FingerprintText, float]:
        """Return what recognises the words when they come again, each with the trust of who said them.

        A sentence or value that a memory which stays has too, and which is trusted as much, has no fingerprint of its
        own: only its neighbours tell the erased words from the others.
        """
        marks: dict[FingerprintText, float] = {}
        for org in sorted({organisation_name(atom.scope) for atom in self._atoms}):
            for form, trust in self._own_sentences(target, standing).items():
                _raise_trust(marks, [FingerprintText(org, FingerprintKind.SENTENCE, form)], trust)
        for atom in filter(is_statement, self._atoms):
            _raise_trust(marks, self._statement_marks(atom, target, standing), self._trust_of(atom))
        for mark, trust in self._neighbour_marks(self._all_sentences()):
            _raise_trust(marks, [mark], trust)
        org = organisation_name(self._atoms[0].scope)
        for value, trust in self._values.items():
            if standing.values.get(target.digest(value.value), 0) < trust:
                _raise_trust(marks, _value_marks(org, value), trust)
        return marks

    def _statement_marks(self, atom: Atom, target: RemovalTarget, standing: StandingWords) -> Iterator[FingerprintText]:
        org, form, trust = organisation_name(atom.scope), normal_form(atom.content), self._trust_of(atom)
        if standing.sentences.get(target.digest(form), 0) < trust:
            yield FingerprintText(org, FingerprintKind.STATEMENT, form)
        claimed = claimed_value(atom)
        if claimed is not None and standing.claims.get(claimed, 0) < trust:
            yield FingerprintText(org, FingerprintKind.CLAIM, claimed)

    def _neighbour_marks(self, forms: Collection[str]) -> Iterator[tuple[FingerprintText, float]]:
        """Yield marks for the neighbours of erased sentences: they tell an old transcript from a new statement."""
        latest = {atom.id: atom for atom in (*self._atoms, *self._touched_segments) if atom.is_segment}
        for segment in latest.values():
            org = organisation_name(segment.scope)
            for _, _, form, near in sentences_with_neighbours([passage.text for passage in passages_of(segment)]):
                for neighbour in near if form in forms else ():
                    mark = FingerprintText(org, FingerprintKind.SENTENCE_WITH_NEIGHBOUR, f"{form}\0{neighbour}")
                    yield mark, self._trust_of(segment)

    def _trust_of(self, atom: Atom) -> float:
        return FULL_TRUST if self._everywhere else TRUST[atom.origin]


def is_statement(atom: Atom) -> bool:
    """Return whether an atom says something itself: it is no segment, and no list of others."""
    return not atom.is_segment and not kind_traits(atom.kind).is_listing


def claimed_value(atom: Atom) -> str | None:
    """Return the claim of an atom with its value, as fingerprints name it; None if it claims nothing."""
    claim = claim_of(atom)
    return f"{claim}::{comparable_value(atom)}" if claim is not None else None


def distinctive_sentences(atom: Atom) -> Iterator[str]:
    """Return the distinctive sentences of an atom, in normal form."""
    for passage in passages_of(atom):
        for start, end in find_sentences(passage.text):
            form = normal_form(passage.text[start:end])
            if is_distinctive(form):
                yield form


def _is_long(form: str) -> bool:
    return " " not in form or form.count(" ") >= _MIN_SENTENCE_WORDS - 1


def _values_of(statement: Atom) -> Iterator[TargetValue]:
    value = normal_form(statement.value or "")
    # An extracted sentence has no attribute: its other words say what the value belongs to.
    attribute_text = statement.attribute or (statement.content if statement.evidence else "")
    context_words = frozenset(normal_form(f"{statement.subject} {attribute_text}").split())
    if len(value) >= _MIN_VALUE_CHARS or " " in value or any(map(str.isdigit, value)):
        yield TargetValue(value, context_words - _UNSPECIFIC_WORDS - set(value.split()))


def _value_marks(org: str, value: TargetValue) -> Iterator[FingerprintText]:
    yield FingerprintText(org, FingerprintKind.VALUE, value.value)
    for word in sorted(value.about):
        yield FingerprintText(org, FingerprintKind.VALUE_WITH_TOPIC, f"{value.value}\0{word}")


def _texts_of(atom: Atom) -> Iterator[str]:
    names = (atom.subject, atom.attribute, atom.value, atom.source_ref, atom.content, *atom.tags, *atom.entities)
    sources = (atom.session_id, atom.source_id) if atom.is_segment else ()
    yield from (text for text in (*names, *sources, *iterate_texts(atom.metadata)) if text)


Item = TypeVar("Item", str, TargetValue, FingerprintText)


def _raise_trust(known: dict[Item, float], items: Iterable[Item], trust: float) -> None:
    for item in items:
        known[item] = max(trust, known.get(item, 0.0))
