"""Turns cut into runs of a length that a language model with a small context window takes in one call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lamina.capture.found import Said
from lamina.capture.llm.shapes import MOST_TURNS
from lamina.text.sentences import sentences

RUN_CHARS = 6000
"""With the instructions and the answer this fits into a context window of 4,096 tokens, the default of many servers."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A turn, or the piece of a long one, as the model sees it."""

    said: Said
    text: str


def runs(turns: Sequence[Said], most: int = RUN_CHARS) -> Iterator[list[Shown]]:
    """Yield the turns in order, so many characters at a time; a longer turn is cut between sentences."""
    run: list[Shown] = []
    for piece in (Shown(said, text) for said in turns for text in _pieces(said.text, most)):
        if run and (len(run) == MOST_TURNS or sum(len(shown.text) for shown in run) + len(piece.text) > most):
            yield run
            run = []
        run.append(piece)
    if run:
        yield run


def _pieces(text: str, most: int) -> Iterator[str]:
    if len(text) <= most:
        yield from [text] if text.strip() else []
        return
    start = 0
    for _, end in (*sentences(text), (len(text), len(text))):
        while end - start > most:
            yield text[start : start + most]
            start += most
        if end == len(text) or end - start > most // 2:
            if text[start:end].strip():
                yield text[start:end]
            start = end
