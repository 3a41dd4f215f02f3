"""Copy chats with other names and numbers, so that a network learns to read and not to memorise."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from training.chat_format import AnnotatedChat, Fact

COMMON_IN_CHATS = 12
"""A word that is in this many chats is not treated as a name, even if a person has that name."""
TRIES = 20
_NUMBER = re.compile(r"(?<![\w.,])\d{2,6}(?!\d)")
_BUCKETS = ((10, 12), (13, 31), (32, 59), (60, 99))
"""Two-digit numbers stay in their range: hours, days, minutes or larger ones."""
_YEARS = range(1900, 2100)


class NameSwaps:
    """Swaps the names of people, and numbers, in chats."""

    def __init__(self, chats: Sequence[AnnotatedChat]) -> None:
        counts = Counter(
            word for chat in chats for word in {w for turn in chat.turns for w in turn.text.lower().split()}
        )
        self._common = {word for word, count in counts.items() if count >= COMMON_IN_CHATS}
        self._pool = sorted({name for chat in chats for name in self._names(chat)})

    def copy(self, chat: AnnotatedChat, draw: random.Random) -> AnnotatedChat:
        """Return the chat with names drawn from those of all chats and other numbers, the same everywhere in it."""
        names = self._names(chat)
        others = draw.sample(self._pool, len(names)) if len(names) <= len(self._pool) else names
        change = self._change(dict(zip((name.lower() for name in names), others, strict=True)), draw)
        turns = [
            replace(turn, text=change(turn.text), facts=[_changed(fact, change) for fact in turn.facts])
            for turn in chat.turns
        ]
        questions = [replace(question, text=change(question.text)) for question in chat.questions]
        return replace(chat, turns=turns, questions=questions)

    def _names(self, chat: AnnotatedChat) -> list[str]:
        """Return the names of people whose facts are stated: owners that are written with a capital letter."""
        words = {fact.owner.split()[-1] for turn in chat.turns for fact in turn.facts if fact.owner[:1].isupper()}
        return sorted(word for word in words if word.isalpha() and len(word) > 2 and word.lower() not in self._common)

    @staticmethod
    def _change(names: dict[str, str], draw: random.Random) -> Callable[[str], str]:
        numbers: dict[str, str] = {}
        pattern = (
            re.compile(rf"\b({'|'.join(map(re.escape, names))})(?=(?:['’]?s)?\b)", re.IGNORECASE) if names else None
        )

        def swap_name(match: re.Match[str]) -> str:
            other = names[match[0].lower()]
            return other.lower() if match[0].islower() else other.upper() if match[0].isupper() else other

        def swap_number(match: re.Match[str]) -> str:
            if match[0] not in numbers:
                drawn = (_other_number(match[0], draw) for _ in range(TRIES))
                numbers[match[0]] = next((number for number in drawn if number not in numbers.values()), match[0])
            return numbers[match[0]]

        def change(text: str) -> str:
            return _NUMBER.sub(swap_number, pattern.sub(swap_name, text) if pattern else text)

        return change


def _changed(fact: Fact, change: Callable[[str], str]) -> Fact:
    return replace(fact, owner=change(fact.owner), value=change(fact.value))


def _other_number(number: str, draw: random.Random) -> str:
    if int(number) in _YEARS or number.startswith("0"):
        return number
    for low, high in _BUCKETS:
        if low <= int(number) <= high:
            return str(draw.randint(low, high))
    return number[0] + "".join(draw.choice("0123456789") for _ in number[1:])
