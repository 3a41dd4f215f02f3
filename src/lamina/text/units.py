"""The clauses of a text by punctuation alone: the pieces of which each may state one fact."""

from __future__ import annotations

import re

from lamina.text.sentences import sentences

_BREAK = re.compile(r"[,;:()–—/]\s+|\s+[-–—|+&]\s+|\s*[()]\s*|\.\.+\s+")
_JOINING = re.compile(
    r"\s+(?=(?:and|but|so|because|cos|then|while|which|und|aber|et|mais|y|pero|e|ma|en|maar|n)\s)", re.IGNORECASE
)
_WORD = re.compile(r"\w+")
FEWEST_WORDS = 3
"""A shorter piece joins the one before it."""
LONG = 14
"""A piece of more words than this, as in dictation without commas, is cut before joining words too."""


def units(text: str) -> list[tuple[int, int]]:
    """Return the (start, end) of each clause, in order; every sentence has at least one."""
    found: list[tuple[int, int]] = []
    for start, end in sentences(text):
        pieces = _cut(text, start, end, _BREAK)
        pieces = [
            part
            for piece in pieces
            for part in (_cut(text, *piece, _JOINING) if _count(text, piece) > LONG else [piece])
        ]
        found += _joined(text, pieces)
    return found


def _cut(text: str, start: int, end: int, pattern: re.Pattern[str]) -> list[tuple[int, int]]:
    cuts = [match.span() for match in pattern.finditer(text, start, end)]
    starts = [start, *(after for _, after in cuts)]
    ends = [*(before for before, _ in cuts), end]
    return [(first, last) for first, last in zip(starts, ends, strict=True) if text[first:last].strip()]


def _joined(text: str, pieces: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join pieces of few words with their neighbours."""
    found: list[tuple[int, int]] = []
    for piece in pieces:
        if found and (_count(text, piece) < FEWEST_WORDS or _count(text, found[-1]) < FEWEST_WORDS):
            found[-1] = found[-1][0], piece[1]
        else:
            found.append(piece)
    return found


def _count(text: str, span: tuple[int, int]) -> int:
    return len(_WORD.findall(text, *span))
