"""The text to erase: recognise its sentences and values in other texts by keyed digests, without storing the text."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from lamina.atom.sentence_removal import Span, erase_spans, is_distinctive
from lamina.text.normal_form import normal_form
from lamina.text.sentences import find_sentences

CONTAINED_WORDS = 4
"""A sequence of at least so many words is the same statement, whatever surrounds it."""

Digest: TypeAlias = str


@dataclass(frozen=True, slots=True)
class TargetValue:
    """A value, and the words of whose value it is and of what."""

    value: str
    about: frozenset[str]


@dataclass(frozen=True, slots=True)
class _PhraseShape:
    """The key by which a phrase is looked up: the digest of its first word, its words and characters."""

    first_word: Digest
    words: int
    chars: int


class RemovalTarget:
    """Sentences to erase, and values with the words that say what they are values of, as digests under a random key.

    Texts are compared in normal form.
    """

    def __init__(
        self,
        key: bytes,
        phrases: Mapping[Digest, _PhraseShape],
        forms: Collection[Digest],
        values: Mapping[Digest, frozenset[Digest]],
    ) -> None:
        self._key, self._phrases = key, dict(phrases)
        self._forms, self._values = frozenset(forms), dict(values)
        self._word_digests: dict[str, Digest] = {}
        self._lengths: dict[Digest, set[int]] = defaultdict(set)
        """For the first word of each phrase, how many words the phrases have that begin with it."""
        for shape in self._phrases.values():
            self._lengths[shape.first_word].add(shape.words)
        self._unspaced = {phrases[form].chars for form in self._forms if phrases[form].words == 1}

    @classmethod
    def of(cls, forms: Iterable[str], values: Iterable[TargetValue] = ()) -> RemovalTarget:
        """Return the target for these sentences in normal form and these values; those too common are left out."""
        target = cls(secrets.token_bytes(16), {}, (), {})
        distinctive = [form for form in forms if is_distinctive(form)]
        specific = [value for value in values if value.value and value.about]
        phrases = {target.digest(form): target._shape_of(form) for form in distinctive}
        about: dict[Digest, frozenset[Digest]] = defaultdict(frozenset)
        for value in specific:
            digest = target.digest(value.value)
            about[digest] |= {target.digest(word) for word in value.about}
            phrases[digest] = target._shape_of(value.value)
        return cls(target._key, phrases, [target.digest(form) for form in distinctive], about)

    def digest(self, form: str) -> Digest:
        """Return the keyed digest of a text in normal form."""
        return hashlib.blake2b(form.encode(), key=self._key, digest_size=16).hexdigest()

    def matches(self, sentence: str, *, match_values: bool = False) -> bool:
        """Return whether a sentence is a target; with `match_values`, also if it names a value and what it is the value
        of."""
        words = normal_form(sentence).split()
        for digest in self._find_phrases(words):
            length = self._phrases[digest].words
            if digest in self._forms and (length >= min(CONTAINED_WORDS, len(words))):
                return True
            if match_values and not self._values.get(digest, frozenset()).isdisjoint(map(self._digest_word, words)):
                return True
        return next(self._find_unspaced(words), None) is not None

    def find_forms(self, text: str) -> Iterator[Digest]:
        """Yield the digests of the target's sentences that a text contains as whole words."""
        words = normal_form(text).split()
        yield from (digest for digest in self._find_phrases(words) if digest in self._forms)
        yield from self._find_unspaced(words)

    def find_values(self, sentence: str) -> Iterator[Digest]:
        """Yield the digests of the target's values that a sentence names, with a word of what they are values of."""
        words = normal_form(sentence).split()
        for digest in self._find_phrases(words):
            if not self._values.get(digest, frozenset()).isdisjoint(map(self._digest_word, words)):
                yield digest

    def find_phrases(self, text: str) -> Iterator[Digest]:
        """Yield the digests of the target's sentences and values that a text contains as whole words."""
        words = normal_form(text).split()
        yield from self._find_phrases(words)
        yield from self._find_unspaced(words)

    def is_in(self, text: str) -> bool:
        """Return whether a text contains a whole sentence of the target."""
        return next(self.find_forms(text), None) is not None

    def find_spans(self, text: str, *, match_values: bool = False) -> list[Span]:
        """Return the positions of the target sentences in a text."""
        return [
            (start, end)
            for start, end in find_sentences(text)
            if self.matches(text[start:end], match_values=match_values)
        ]

    def remove_from(self, text: str, *, match_values: bool = False) -> str:
        """Return the text with the target sentences erased."""
        return erase_spans(text, self.find_spans(text, match_values=match_values))

    def to_json(self) -> str:
        """Return the target as JSON text."""
        shapes = {digest: [shape.first_word, shape.words, shape.chars] for digest, shape in self._phrases.items()}
        values = {digest: sorted(about) for digest, about in self._values.items()}
        return json.dumps({"key": self._key.hex(), "phrases": shapes, "forms": sorted(self._forms), "values": values})

    @classmethod
    def from_json(cls, text: str) -> RemovalTarget:
        """Return the target that `to_json` wrote."""
        parsed = json.loads(text)
        shapes = {digest: _PhraseShape(*shape) for digest, shape in parsed["phrases"].items()}
        values = {digest: frozenset(about) for digest, about in parsed["values"].items()}
        return cls(bytes.fromhex(parsed["key"]), shapes, parsed["forms"], values)

    def _shape_of(self, form: str) -> _PhraseShape:
        words = form.split()
        return _PhraseShape(self.digest(words[0]), len(words), len(form))

    def _digest_word(self, word: str) -> Digest:
        if word not in self._word_digests:
            self._word_digests[word] = self.digest(word)
        return self._word_digests[word]

    def _find_phrases(self, words: Sequence[str]) -> Iterator[Digest]:
        """Yield the digests of the phrases that stand in a sequence of words."""
        for position, word in enumerate(words):
            for length in self._lengths.get(self._digest_word(word), ()):
                digest = self.digest(" ".join(words[position : position + length]))
                if position + length <= len(words) and digest in self._phrases:
                    yield digest

    def _find_unspaced(self, words: Iterable[str]) -> Iterator[Digest]:
        """Yield the digests of sentences without spaces that stand inside a longer word, as in Chinese."""
        for word in words:
            for length in self._unspaced:
                for start in range(len(word) - length + 1):
                    digest = self.digest(word[start : start + length])
                    if digest in self._forms:
                        yield digest


def anchor_words(forms: Iterable[str], values: Iterable[TargetValue]) -> frozenset[str]:
    """Return the longest word of each sentence and value, for finding texts that may contain it."""
    phrases = (*filter(is_distinctive, forms), *(value.value for value in values if value.about))
    return frozenset(max(phrase.split(), key=len) for phrase in phrases if phrase)
