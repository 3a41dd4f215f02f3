"""Erase sentences from texts: find the sentences, replace them by a mark, and move the evidence of the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from lamina.atom.atom import Evidence
from lamina.atom.passage import Passage, parse_segment, render_passage
from lamina.text.normal_form import normal_form
from lamina.text.sentences import find_sentences

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
