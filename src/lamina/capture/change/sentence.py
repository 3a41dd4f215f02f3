"""The sentences of a turn, each with its place and what it tells: what is compared with what was said before."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from lamina.atom.atom import Atom
from lamina.atom.passage import Passage
from lamina.capture.change.echo import is_hearsay
from lamina.capture.change.told import Told, tellings
from lamina.capture.rules.prose import fenced
from lamina.text.normal import one_line
from lamina.text.roles import is_role
from lamina.text.sentences import sentences

MOST_SENTENCES = 40
LONGEST_SENTENCE = 400


class Sentence(NamedTuple):
    """A sentence of a turn: its place, its words, those of the sentence before it, and what it tells."""

    start: int
    end: int
    text: str
    before: str
    tellings: tuple[Told, ...]


@lru_cache(maxsize=4096)
def told_by(turn: str, speaker: str | None, *, guess: bool = False) -> tuple[Sentence, ...]:
    """The sentences of a turn; those of earlier turns, where a guess counts too, are read each by itself."""
    found: list[Sentence] = []
    before, code = "", fenced(turn)
    spoken = (span for span in sentences(turn) if not any(span[0] < end and start < span[1] for start, end in code))
    for start, end in islice(spoken, MOST_SENTENCES):
        if end - start <= LONGEST_SENTENCE:
            text = one_line(turn[start:end])
            said = tellings(text, speaker, guess=True) if guess else tellings(text, speaker, before=before)
            found.append(Sentence(start, end, text, before, said))
            before = text
    return tuple(found)


def is_vouched_for(atom: Atom, passage: Passage) -> bool:
    """Whether somebody stands behind a passage: what a machine or a tool says is compared with nothing."""
    return not atom.is_segment or not is_hearsay(atom, passage.speaker, passage.text)


def name_of(speaker: str | None) -> str | None:
    """Who speaks, where it is somebody with a name."""
    return None if is_role(speaker) else speaker
