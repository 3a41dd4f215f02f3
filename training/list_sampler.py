"""Draw the lists that the reader is trained on, from chats, groups, slots and snippets."""

from __future__ import annotations

import itertools
import random
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from lamina.models.list_reader import MAX_PIECES, RELATION_CLASSES, EncodedPieces, encode_pieces
from training.examples import is_ranker_chat, load_chats
from training.groups import load_groups, load_snippets
from training.name_swaps import NameSwaps
from training.pair_examples import chat_statement_pairs, group_pairs, project_pairs, slot_pairs, stranger_pairs
from training.reading_lists import ChatLists, ReadingList, SlotLists, group_question_lists, statement_lists
from training.request_lists import chat_requests, draw_request_list, find_strangers, snippet_requests
from training.train import MODELS
from training.trunk import open_trunk

MIX = {
    "people": 12,
    "chats": 4,
    "group questions": 4,
    "slot questions": 8,
    "group statements": 1,
    "chat statements": 1,
    "slot statements": 1,
    "project statements": 1,
    "requests": 2,
}
"""How many lists of each source are in a batch."""
COPIES = 1
"""Copies of each chat with other names and numbers; a question is drawn from the chat itself as often as from these."""
LONG_CHAT = 60
"""Number of turns from which on a chat counts as a person's year."""


class ListCache:
    """Word pieces and trunk states of texts, each computed once."""

    def __init__(self, trunk: str) -> None:
        self.trunk = open_trunk(trunk, MODELS)
        self._pieces: dict[str, EncodedPieces] = {}
        self._places: dict[tuple[str, str], list[int]] = {}

    def places(self, text: str, value: str) -> list[int]:
        """Return the positions of a value's word pieces in its text, [] if it is not there."""
        if (text, value) not in self._places:
            start = text.lower().find(value.lower()) if value else -1
            spans = self.trunk.tokens(text).first(MAX_PIECES).spans if start >= 0 else ()
            inside = [n for n, (a, b) in enumerate(spans, 1) if a < start + len(value) and b > start]
            self._places[text, value] = inside
        return self._places[text, value]

    def __getitem__(self, text: str) -> EncodedPieces:
        if text not in self._pieces:
            self._pieces[text] = encode_pieces(text, self.trunk)
        return self._pieces[text]


class PieceVectors:
    """Return one vector per text, the mean over its word pieces."""

    def __init__(self, cache: ListCache) -> None:
        self._cache = cache
        self._vectors: dict[str, np.ndarray] = {}

    def __getitem__(self, text: str) -> np.ndarray:
        if text not in self._vectors:
            mean = self._cache[text].meanings.astype(np.float32).mean(0)
            self._vectors[text] = mean / max(1e-9, float(np.linalg.norm(mean)))
        return self._vectors[text]


class ListSampler:
    """Draws training lists of every source."""

    def __init__(self, vectors: PieceVectors, seed: int) -> None:
        self._draw = random.Random(seed)
        chats = [chat for chat in load_chats() if not is_ranker_chat(chat)]
        filler = [turn.text for chat in chats for turn in chat.turns if not turn.facts and not turn.requests]
        swaps = NameSwaps(chats)
        copied = [[swaps.copy(chat, self._draw) for _ in range(COPIES)] for chat in chats]
        self._questions: dict[str, list[tuple[list[ChatLists], int]]] = {"people": [], "chats": []}
        for chat, copies in zip(chats, copied, strict=True):
            lists = [ChatLists(copy, vectors, filler) for copy in [chat] * COPIES + copies]
            source = "people" if len(chat.turns) >= LONG_CHAT else "chats"
            self._questions[source] += [(lists, number) for number in range(len(chat.questions))]
        groups = load_groups()
        slots = list(slot_pairs("train", 20000, 3))
        self._groups, self._slot_lists = groups, SlotLists("train")
        self._fixed = {
            "group statements": statement_lists([p for g in groups for p in group_pairs(g)], seed),
            "chat statements": statement_lists(chat_statement_pairs([*chats, *itertools.chain(*copied)]), seed),
            "slot statements": statement_lists([*slots, *stranger_pairs(groups)], seed),
            "project statements": statement_lists(project_pairs(False), seed),
        }
        self._requests = [*snippet_requests(load_snippets()), *chat_requests(chats)]
        self._strangers = find_strangers(chats)
        self._changing = {
            name: [item for item in some if set(item.labels) != {RELATION_CLASSES.index("keeps")}]
            for name, some in self._fixed.items()
            if name.endswith("statements")
        }
        print({name: len(some) for name, some in (self._questions | self._fixed).items()}, flush=True)

    def batch(self) -> list[ReadingList]:
        draw = self._draw
        chosen: list[ReadingList] = []
        for name in ("people", "chats"):
            for copies, number in draw.choices(self._questions[name], k=MIX[name]):
                chosen.append(draw.choice(copies).draw(number, draw))
        for group in draw.choices(self._groups, k=MIX["group questions"]):
            chosen += draw.sample(some := list(group_question_lists(group.lines, draw)), min(1, len(some)))
        chosen += [self._slot_lists.draw(draw) for _ in range(MIX["slot questions"])]
        for request in draw.choices(self._requests, k=MIX["requests"]):
            chosen.append(draw_request_list(request, self._strangers, draw))
        for name, some in self._fixed.items():
            for _ in range(MIX[name]):
                changing = self._changing.get(name)
                chosen.append(draw.choice(changing if changing and draw.random() < 0.6 else some))
        return [item for item in chosen if item.candidates]


def prepare_batches(sampler: ListSampler, cache: ListCache, count: int) -> Iterator[list[ReadingList]]:
    """Yield batches whose texts are encoded, prepared in a separate thread a few ahead of the training step."""

    def prepare() -> list[ReadingList]:
        lists = sampler.batch()
        for item in lists:
            for text in (item.first, *item.candidates):
                cache[text]
        return lists

    with ThreadPoolExecutor(max_workers=1) as thread:
        ahead = deque(thread.submit(prepare) for _ in range(4))
        for _ in range(count):
            yield ahead.popleft().result()
            ahead.append(thread.submit(prepare))
