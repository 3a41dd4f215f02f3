"""Lists of requests to forget with earlier statements, of which some, one or none are meant.

At run time a request is read with up to twenty statements of its speaker, most of them about something else, and often
without the one that is meant: so are these.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lamina.models.list_reader import MAX_CANDIDATES
from training.chat_format import AnnotatedChat
from training.groups import Snippet
from training.reading_lists import MEANT, ReadingList

WITHOUT_TARGET = 0.35
"""The share of lists that the meant statement is missing from."""
RECENT = 3
"""How many turns right before a request are likely to be in its list."""


@dataclass(frozen=True, slots=True)
class RequestInTalk:
    """A request to forget with the turns before it, oldest first, and whether it means each."""

    text: str
    earlier: tuple[tuple[str, bool], ...]


def snippet_requests(snippets: Iterable[Snippet]) -> Iterator[RequestInTalk]:
    """Yield the requests of snippets that mean an earlier turn."""
    for snippet in snippets:
        for place, turn in enumerate(snippet.turns):
            if turn.request in {"forget", "nokeep"} and turn.target not in {None, place} and place:
                yield RequestInTalk(
                    turn.text, tuple((old.text, n == turn.target) for n, old in enumerate(snippet.turns[:place]))
                )


def chat_requests(chats: Iterable[AnnotatedChat]) -> Iterator[RequestInTalk]:
    """Yield the requests of chats that mean earlier turns."""
    for chat in chats:
        for turn in chat.turns:
            for request in turn.requests:
                targets = {n for n in request.targets if n < turn.number}
                if request.name != "secret" and targets:
                    earlier = [old for old in chat.turns if old.number < turn.number]
                    yield RequestInTalk(turn.text, tuple((old.text, old.number in targets) for old in earlier))


def find_strangers(chats: Iterable[AnnotatedChat]) -> list[str]:
    """Return turns that state something, for lists of other people's requests."""
    return [turn.text for chat in chats for turn in chat.turns if turn.facts and not turn.requests]


def draw_request_list(request: RequestInTalk, strangers: Sequence[str], draw: random.Random) -> ReadingList:
    """Return a list of a request: what it means, if that is there, turns before it and statements of strangers."""
    has_target = draw.random() >= WITHOUT_TARGET
    targets = [entry for entry in request.earlier if entry[1]] if has_target else []
    others = [entry for entry in request.earlier if not entry[1]]
    count = draw.randint(1, MAX_CANDIDATES - 1 - len(targets))
    near = others[-RECENT:] if draw.random() < 0.7 else []
    pool = [entry for entry in others if entry not in near]
    chosen = [*near, *draw.sample(pool, min(len(pool), max(0, count - len(near))))]
    chosen += [(text, False) for text in draw.sample(strangers, max(0, count - len(chosen)))]
    place = {entry: n for n, entry in enumerate(request.earlier)}
    rows = sorted([*targets, *chosen], key=lambda entry: place.get(entry, draw.uniform(0, len(place))))
    return ReadingList(
        "request", request.text, tuple(text for text, _ in rows), tuple(MEANT * int(is_meant) for _, is_meant in rows)
    )
