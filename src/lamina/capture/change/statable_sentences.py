"""The sentences of a turn that may state something: no code, no questions, none that is too long."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from lamina.atom.atom import Atom
from lamina.atom.passage import Passage
from lamina.capture.change.repetitions import is_hearsay
from lamina.capture.prose import find_fenced_code, is_question
from lamina.text.normal_form import one_line
from lamina.text.sentences import find_sentences

MAX_SENTENCES = 40
MAX_SENTENCE_CHARS = 400


class StatableSentence(NamedTuple):
    """A sentence of a turn: its place and its words on one line."""

    start: int
    end: int
    text: str


@lru_cache(maxsize=4096)
def find_statable_sentences(text: str) -> tuple[StatableSentence, ...]:
    """Return the sentences of a turn that may state something, in order."""
    code_spans = find_fenced_code(text)
    outside = (
        span for span in find_sentences(text) if not any(span[0] < end and start < span[1] for start, end in code_spans)
    )
    candidates = (
        StatableSentence(start, end, one_line(text[start:end])) for start, end in islice(outside, MAX_SENTENCES)
    )
    return tuple(
        sentence
        for sentence in candidates
        if len(sentence.text) <= MAX_SENTENCE_CHARS and not is_question(sentence.text)
    )


def is_vouched_for(atom: Atom, passage: Passage) -> bool:
    """Return whether a passage is a trusted statement of a user; text of assistants and tools is not compared."""
    return not atom.is_segment or not is_hearsay(atom, passage.speaker, passage.text)
