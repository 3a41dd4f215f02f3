"""Striking sentences out of words: what is to go, where it stands, and where everything else stands afterwards."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from lamina.atom.atom import Evidence
from lamina.atom.passage import Passage, parse_segment, render_passage
from lamina.text.normal import normal_form
from lamina.text.sentences import sentences

ERASED = "[erased]"
"""What stands where a sentence was."""

TELLING_WORDS, TELLING_CHARS = 3, 12
"""A sentence of fewer words and letters is said so often that it is nobody's in particular."""
CONTAINED_WORDS = 4
"""So many words in a row are the same statement, whatever stands around them."""
ALIKE = 0.6
"""So much of two sentences is the same where somebody only mended one of them."""

_LEADING_LINKS = re.compile(r"- (?:\[\[[^\]]*\]\] ?)+")
_LINK = re.compile(r"\[\[([^\]]*)\]\]")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Told:
    """What a statement puts where: a value, and the words that say of whom and of what it is the value."""

    value: str
    about: frozenset[str]


def is_telling(form: str) -> bool:
    """Whether words in normal form are somebody's in particular."""
    return len(form.split()) >= TELLING_WORDS or len(form) >= TELLING_CHARS


class Sought:
    """Words to be struck: sentences in normal form, and values together with what they are the values of."""

    def __init__(self, forms: Collection[str], told: Collection[Told]) -> None:
        self.forms = frozenset(form for form in forms if is_telling(form))
        self.told = frozenset(each for each in told if each.value and each.about)
        self.words = frozenset(
            max(form.split(), key=len) for form in (*self.forms, *(each.value for each in self.told))
        )
        """One word of each sentence and value, by which texts that may hold it are found."""
        self._runs: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        self._unspaced = [form for form in self.forms if " " not in form]
        for form in self.forms:
            words = tuple(form.split())
            if len(words) >= CONTAINED_WORDS:
                self._runs[words[0]].append(words)

    def holds(self, sentence: str, *, echo: bool = False) -> bool:
        """Whether a sentence says it; `echo`: also one that names a value and what it is the value of."""
        form = normal_form(sentence)
        words = form.split()
        return bool(words) and (
            form in self.forms or self._contains(form, words) or (echo and self._echoes(form, frozenset(words)))
        )

    def _contains(self, form: str, words: Sequence[str]) -> bool:
        for n, word in enumerate(words):
            if any(tuple(words[n : n + len(run)]) == run for run in self._runs.get(word, ())):
                return True
        return any(each in form for each in self._unspaced)

    def _echoes(self, form: str, words: frozenset[str]) -> bool:
        padded = f" {form} "
        return any(not each.about.isdisjoint(words) and f" {each.value} " in padded for each in self.told)

    def spans(self, text: str, *, echo: bool = False) -> list[Span]:
        """Where in a text the sentences stand that say it."""
        return [(start, end) for start, end in sentences(text) if self.holds(text[start:end], echo=echo)]

    def struck(self, text: str, *, echo: bool = False) -> str:
        """The text without them."""
        return without(text, self.spans(text, echo=echo))

    def to_json(self) -> str:
        """All of it as text."""
        return json.dumps({"forms": sorted(self.forms), "told": [[t.value, sorted(t.about)] for t in self.told]})


def from_json(text: str) -> Sought:
    """What `to_json` wrote."""
    told = json.loads(text)
    return Sought(told["forms"], [Told(value, frozenset(about)) for value, about in told["told"]])


def beside(texts: Sequence[str]) -> Iterator[tuple[int, Span, str, list[str]]]:
    """Every sentence of turns that follow each other: where it stands, its form, and the forms of what is next to it.

    Next to it are the sentences before and after it, and the whole turns before and after its own.
    """
    turns = [normal_form(text) for text in texts]
    for n, text in enumerate(texts):
        spans = sentences(text)
        forms = [normal_form(text[start:end]) for start, end in spans]
        around = [*turns[max(0, n - 1) : n], *turns[n + 1 : n + 2]]
        for at, span in enumerate(spans):
            near = [*forms[max(0, at - 1) : at], *forms[at + 1 : at + 2], *around]
            yield n, span, forms[at], [each for each in near if each]


def overlapping(text: str, start: int, end: int) -> list[Span]:
    """The whole sentences that a stretch of a text touches."""
    return [(one, other) for one, other in sentences(text) if one < end and start < other]


def alike(one: str, other: str) -> bool:
    """Whether two sentences are one, a little mended."""
    words, others = set(normal_form(one).split()), set(normal_form(other).split())
    return bool(words) and len(words & others) >= ALIKE * len(words | others)


def without(text: str, spans: Iterable[Span]) -> str:
    """The text with a mark in the place of each stretch."""
    parts, at = [], 0
    for start, end in merged(spans):
        parts += [text[at:start], ERASED]
        at = end
    return "".join([*parts, text[at:]])


def merged(spans: Iterable[Span]) -> list[Span]:
    """The stretches in order, those that overlap as one."""
    found: list[Span] = []
    for start, end in sorted(set(spans)):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def moved(evidence: Evidence, spans: Sequence[Span]) -> Evidence:
    """Where a sentence stands once others of its passage were struck; one that was struck itself is the mark."""
    shift = 0
    for one, other in merged(spans):
        if other <= evidence.start:
            shift += len(ERASED) - (other - one)
        elif one < evidence.end:
            return Evidence(evidence.segment, evidence.passage, one + shift, one + shift + len(ERASED))
    return Evidence(evidence.segment, evidence.passage, evidence.start + shift, evidence.end + shift)


def struck_segment(content: str, chosen: Callable[[Passage], Iterable[Span]]) -> tuple[str, dict[int, list[Span]]]:
    """A segment's text with stretches of its passages struck, and which they were. All else stays to the byte."""
    parts, at = list[str](), 0
    struck: dict[int, list[Span]] = {}
    for passage in sorted(parse_segment(content), key=lambda each: each.start):
        spans = merged(chosen(passage))
        if spans:
            struck[passage.n] = spans
            parts += [content[at : passage.start], _block(content, passage, without(passage.text, spans))]
            at = passage.end
    return "".join([*parts, content[at:]]), struck


def _block(content: str, passage: Passage, text: str) -> str:
    """A passage with other words under the same heading, escaped as words in a segment are."""
    heading = ""
    if passage.speaker is not None:
        first, newline, _ = content[passage.start : passage.end].partition("\n")
        heading = first + newline
    rendered = render_passage(0, text)
    return heading + rendered[: -len("\n\n^p0" if rendered.endswith("\n\n^p0") else " ^p0")]


def lines_without(text: str, ids: Collection[str]) -> str:
    """A list without the lines that link to any of these."""
    return "\n".join(_kept(text.split("\n"), ids))


def _kept(lines: Sequence[str], ids: Collection[str]) -> Iterator[str]:
    for line in lines:
        if not any(each in ids for each in _linked(line)):
            yield line


def _linked(line: str) -> Iterator[str]:
    """The names a list item's leading links go to, and the id at the end of each."""
    leading = _LEADING_LINKS.match(line)
    for name in _LINK.findall(leading.group()) if leading else ():
        yield from (name, name.rpartition("-")[2])
