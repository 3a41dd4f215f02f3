"""The parts of a turn that are prose, not code, headings, tables, list items, placeholders or pasted text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from lamina.text.normal_form import one_line
from lamina.text.sentences import find_sentences

MAX_SENTENCES = 40
MAX_SENTENCE_CHARS = 400
"""Of a turn, so many sentences of so many characters are compared."""

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_MARKDOWN_PREFIX = re.compile(r"^\s*+(?:#{1,6}\s|>|\||[-*•+–]\s|\(?\d{1,3}[.)]\s|\[|<)")
_SIGNS = re.compile(
    r"\*\*|__|`|[{}<>|\\^]|=>|==|:=|\(\)|;\s*\Z|\w\(\w*\)|[\w)]\s=\s|\[(?:your|name|insert|my|the)\b|https?://"
)
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|I've|my|we|our)\b", re.IGNORECASE)
_QUOTED = re.compile(r"\A\W*[\"“][^\"“”]*[\"”]\W*\Z")

_PASTED = re.compile(
    r"\A\s*>|\b(?:old|earlier|archived|previous|ancient|outdated)\b[^.!?]{0,30}"
    r"\b(?:chat|notes?|logs?|transcript|sheet|minutes|thread|message|newsletter|document|backup|draft)\b"
    r"|\b(?:pasting|pasted|copy-?past\w+|copied (?:from|over|this)|export(?:ed)? (?:of|from)|found this|"
    r"forward(?:ed|ing)|transcript|from the archive)\b"
    r"|\b(?:came across|found|dug (?:up|out)|stumbled (?:on|upon|across))\b[^.!?]{0,60}"
    r"\b(?:wrote|said|told you|sent|noted|message|note)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def is_pasted(text: str) -> bool:
    """Return whether a turn quotes text from elsewhere, such as an old note or a forwarded message."""
    return _PASTED.search(text) is not None


def is_question(sentence: str) -> bool:
    """Return whether a sentence ends with a question mark."""
    return sentence.rstrip("\"'”’)!.* ").endswith(("?", "？"))


def find_fenced_code(text: str) -> list[tuple[int, int]]:
    """Return the spans of fenced code blocks; an unclosed one runs to the end."""
    marks = [match.start() for match in _FENCE.finditer(text)]
    ends = [*marks[1::2], len(text)] if len(marks) % 2 else marks[1::2]
    return list(zip(marks[::2], ends, strict=False))


def is_in_code(start: int, end: int, code: Sequence[tuple[int, int]]) -> bool:
    """Return whether characters overlap one of the fenced code blocks, which are in order."""
    before_end = bisect_left(code, (end,)) - 1
    return before_end >= 0 and code[before_end][1] > start


def is_prose(sentence: str) -> bool:
    """Return whether a sentence is prose: no code, no quotation, no list item unless it is in the first person."""
    if _SIGNS.search(sentence) or _QUOTED.match(sentence) or sentence.endswith(":") or _opens_quotation(sentence):
        return False
    return not _MARKDOWN_PREFIX.match(sentence) or bool(
        _FIRST_PERSON.search(sentence) and not sentence.lstrip().startswith(("#", ">", "|", "["))
    )


def _opens_quotation(sentence: str) -> bool:
    """Return whether a sentence contains only one end of a quotation."""
    return sentence.count('"') % 2 == 1 or sentence.count("“") != sentence.count("”")


class StatableSentence(NamedTuple):
    """A sentence of a turn: its place and its words on one line."""

    start: int
    end: int
    text: str


@lru_cache(maxsize=4096)
def find_statable_sentences(text: str) -> tuple[StatableSentence, ...]:
    """Return the sentences of a turn that may state something, in order."""
    code_spans = find_fenced_code(text)
    outside = (span for span in find_sentences(text) if not is_in_code(*span, code_spans))
    candidates = (
        StatableSentence(start, end, one_line(text[start:end])) for start, end in islice(outside, MAX_SENTENCES)
    )
    return tuple(
        sentence
        for sentence in candidates
        if len(sentence.text) <= MAX_SENTENCE_CHARS and not is_question(sentence.text)
    )
