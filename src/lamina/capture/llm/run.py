"""Turns cut into runs that a chat model can take in at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lamina.capture.found import Said
from lamina.capture.llm.shapes import MOST_TURNS
from lamina.text.sentences import sentences

RUN_CHARS = 8000


@dataclass(frozen=True, slots=True)
class Shown:
    """A turn, or the piece of a long one, as the model sees it."""

    said: Said
    text: str


def runs(turns: Sequence[Said], most: int = RUN_CHARS) -> Iterator[list[Shown]]:
    """The turns in order, so many characters at a time; a turn longer than that is cut between sentences."""
    run: list[Shown] = []
    for piece in (Shown(said, text) for said in turns for text in _pieces(said.text, most)):
        if run and (len(run) == MOST_TURNS or sum(len(each.text) for each in run) + len(piece.text) > most):
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
