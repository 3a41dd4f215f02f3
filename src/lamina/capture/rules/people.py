"""People met in passing: "my sister Ana ..." says who Ana is, whatever else the sentence says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lamina.capture.rules.nouns import key_of, relation_of
from lamina.capture.rules.rewrite import possessive
from lamina.capture.rules.slots import Slot
from lamina.text.closed import PEOPLE, PETS
from lamina.text.tokens import Token, TokenKind

_CALLED = frozenset({"named", "called"})
_TITLES = frozenset({"mr", "mrs", "ms", "dr", "prof"})


def introduced(sentence: str, said: Sequence[Token], speaker: str, key: str) -> Iterator[tuple[str, Slot]]:
    """Every person or pet named right after what they are to the speaker."""
    for at, token in enumerate(said):
        if token.lower not in ("my", "our"):
            continue
        for step in range(at + 1, min(at + 5, len(said) - 1)):
            relation = said[step]
            if relation.kind is not TokenKind.WORD:
                break
            after = said[step + 1]
            gap = 1 + (after.lower in _CALLED or after.text == ",")
            named = said[step + gap] if step + gap < len(said) else None
            if relation.lower in PEOPLE | PETS and named is not None and named.kind is TokenKind.NAME:
                if named is said[-1] and named.lower in _TITLES:
                    break
                yield _relation(sentence, said, at, step, step + gap, speaker, key)
                break


def _relation(
    sentence: str, said: Sequence[Token], at: int, step: int, first: int, speaker: str, key: str
) -> tuple[str, Slot]:
    last = first
    if said[first].lower in _TITLES and first + 2 < len(said) and said[first + 1].text == ".":
        last = first + 2
    while last + 1 < len(said) and said[last + 1].kind is TokenKind.NAME and said[last + 1].start - said[last].end == 1:
        last += 1
    relation = sentence[said[at + 1].start : said[step].end]
    name = sentence[said[first].start : said[last].end]
    attribute = relation_of(key_of(said[at + 1 : step + 1]))
    slot = Slot(key, attribute, name) if attribute else Slot(key)
    return f"{possessive(speaker)} {relation} is called {name}.", slot
