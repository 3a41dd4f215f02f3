"""The sentences of a turn that may state something: no code, no questions, none that is too long."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from lamina.atom.atom import Atom
from lamina.atom.passage import Passage
from lamina.capture.change.echo import is_hearsay
from lamina.capture.prose import fenced, is_question
from lamina.text.normal import one_line
from lamina.text.sentences import sentences

MOST_SENTENCES = 40
LONGEST_SENTENCE = 400


class Sentence(NamedTuple):
    """A sentence of a turn: its place and its words on one line."""

    start: int
    end: int
    text: str


@lru_cache(maxsize=4096)
def statable_sentences(turn: str) -> tuple[Sentence, ...]:
    """Return the sentences of a turn that may state something, in order."""
    code_spans = fenced(turn)
    outside = (
        span for span in sentences(turn) if not any(span[0] < end and start < span[1] for start, end in code_spans)
    )
    candidates = (Sentence(start, end, one_line(turn[start:end])) for start, end in islice(outside, MOST_SENTENCES))
    return tuple(
        sentence for sentence in candidates if len(sentence.text) <= LONGEST_SENTENCE and not is_question(sentence.text)
    )


def is_vouched_for(atom: Atom, passage: Passage) -> bool:
    """Return whether a passage is a trusted statement of a user; text of assistants and tools is not compared."""
    return not atom.is_segment or not is_hearsay(atom, passage.speaker, passage.text)
