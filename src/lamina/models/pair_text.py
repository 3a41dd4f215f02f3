"""A text, or a part of one, that a model reads beside another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class PairText:
    """A text, or the part of it from `start` to `end`; `signs` are the stored token states of the text, if known;
    `is_named`: its speaker is named in the question it is read beside; `before`: what was said just before it."""

    text: str
    start: int = 0
    end: int | None = None
    is_named: bool = False
    signs: bytes | None = field(default=None, compare=False, repr=False)
    before: PairText | None = field(default=None, compare=False, repr=False)

    @property
    def words(self) -> str:
        """The part that is read."""
        return self.text[self.start : self.end]


Readable: TypeAlias = str | PairText


def words_of(text: Readable) -> str:
    """Return the words that are read."""
    return text if isinstance(text, str) else text.words
