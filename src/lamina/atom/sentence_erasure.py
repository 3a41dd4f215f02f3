"""Erase sentences from texts: find them, replace them by a mark, and move the evidence of the others.

A removal target holds no text: it recognises sentences, values and phrases by digests.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from lamina.atom.atom import Evidence
from lamina.atom.passage import Passage, parse_segment, render_passage
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


ERASED_MARK = "[erased]"
"""The text that replaces an erased sentence."""

DISTINCTIVE_WORDS, DISTINCTIVE_CHARS = 3, 12
"""A sentence with fewer words and letters is too common to belong to one statement."""
SIMILAR_SHARE = 0.6
"""The share of common words above which two sentences are the same, slightly edited."""

_LEADING_LINKS = re.compile(r"- (?:\[\[[^\]]*\]\] ?)+")
_LINK = re.compile(r"\[\[([^\]|]*)(?:\|[^\]]*)?\]\]")

Span = tuple[int, int]


def is_distinctive(form: str) -> bool:
    """Return whether a text in normal form is long enough to belong to one statement."""
    return len(form.split()) >= DISTINCTIVE_WORDS or len(form) >= DISTINCTIVE_CHARS


def sentences_with_neighbours(texts: Sequence[str]) -> Iterator[tuple[int, Span, str, list[str]]]:
    """Yield every sentence of consecutive turns: turn, position, normal form, and the normal forms of its neighbours.

    Neighbours are the sentences before and after it, and the whole turns before and after its own.
    """
    turns = [normal_form(text) for text in texts]
    for turn, text in enumerate(texts):
        spans = find_sentences(text)
        forms = [normal_form(text[start:end]) for start, end in spans]
        around = [*turns[max(0, turn - 1) : turn], *turns[turn + 1 : turn + 2]]
        for position, span in enumerate(spans):
            neighbours = [*forms[max(0, position - 1) : position], *forms[position + 1 : position + 2], *around]
            yield turn, span, forms[position], [neighbour for neighbour in neighbours if neighbour]


def overlapping_sentences(text: str, start: int, end: int) -> list[Span]:
    """Return the whole sentences that a span of a text touches."""
    return [(first, last) for first, last in find_sentences(text) if first < end and start < last]


def are_similar_sentences(one: str, other: str) -> bool:
    """Return whether two sentences are the same, slightly edited."""
    words, others = set(normal_form(one).split()), set(normal_form(other).split())
    return bool(words) and len(words & others) >= SIMILAR_SHARE * len(words | others)


def erase_spans(text: str, spans: Iterable[Span]) -> str:
    """Return the text with a mark in place of each span."""
    parts, position = [], 0
    for start, end in merge_spans(spans):
        parts += [text[position:start], ERASED_MARK]
        position = end
    return "".join([*parts, text[position:]])


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in order, overlapping ones joined."""
    merged_spans: list[Span] = []
    for start, end in sorted(set(spans)):
        if merged_spans and start < merged_spans[-1][1]:
            merged_spans[-1] = (merged_spans[-1][0], max(end, merged_spans[-1][1]))
        else:
            merged_spans.append((start, end))
    return merged_spans


def shift_evidence(evidence: Evidence, spans: Sequence[Span]) -> Evidence:
    """Return the position of a sentence after spans of its passage were erased; of the mark if it was erased itself."""
    shift = 0
    for span_start, span_end in merge_spans(spans):
        if span_end <= evidence.start:
            shift += len(ERASED_MARK) - (span_end - span_start)
        elif span_start < evidence.end:
            return Evidence(
                evidence.segment, evidence.passage, span_start + shift, span_start + shift + len(ERASED_MARK)
            )
    return Evidence(evidence.segment, evidence.passage, evidence.start + shift, evidence.end + shift)


def erase_in_segment(
    content: str, choose_spans: Callable[[Passage], Iterable[Span]]
) -> tuple[str, dict[int, list[Span]]]:
    """Return a segment's text with spans of its passages erased, and those spans. All other bytes are unchanged."""
    parts, position = list[str](), 0
    erased: dict[int, list[Span]] = {}
    for passage in sorted(parse_segment(content), key=lambda passage: passage.start):
        spans = merge_spans(choose_spans(passage))
        if spans:
            erased[passage.n] = spans
            parts += [
                content[position : passage.start],
                _render_block(content, passage, erase_spans(passage.text, spans)),
            ]
            position = passage.end
    return "".join([*parts, content[position:]]), erased


def _render_block(content: str, passage: Passage, text: str) -> str:
    """Return a passage with another text under the same header, escaped as in a segment."""
    heading = ""
    if passage.speaker is not None:
        first, newline, _ = content[passage.start : passage.end].partition("\n")
        heading = first + newline
    rendered = render_passage(0, text)
    return heading + rendered[: -len("\n\n^p0" if rendered.endswith("\n\n^p0") else " ^p0")]


def remove_linked_lines(text: str, ids: Collection[str]) -> str:
    """Return a list without the lines that link to any of these ids."""
    return "\n".join(_unlinked_lines(text.split("\n"), ids))


def _unlinked_lines(lines: Sequence[str], ids: Collection[str]) -> Iterator[str]:
    for line in lines:
        if not any(name in ids for name in _linked_names(line)):
            yield line


def _linked_names(line: str) -> Iterator[str]:
    """Yield the names that the leading links of a list item point to, and the id at the end of each."""
    leading = _LEADING_LINKS.match(line)
    for name in _LINK.findall(leading.group()) if leading else ():
        yield from (name, name.rpartition("-")[2])
