"""Draw training batches: chats with their changes and ordinary talk, slot templates, remarks."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from training.examples import ChatTexts, Sentence, Text, plain_text, slot_text
from training.slot_sentences import SlotSentence

REQUESTS_A_BATCH = 6
DATED = "dated "
"""Names of slots with dated changes ("I moved to Porto last week") begin so; some are in every batch."""
_WORDS = re.compile(r"\w{3,}")


@dataclass(slots=True)
class Row:
    """One sentence or question of a batch; rows of the same slot (`groups`) attract each other."""

    text: Text
    sentence: Sentence
    groups: frozenset[str]
    words: frozenset[str]
    """Words of the attribute's name: rows of other chats that share one are neither near nor far."""
    source: str
    is_soft: bool = False


@dataclass(slots=True)
class Batch:
    rows: list[Row] = field(default_factory=list)

    @property
    def texts(self) -> list[Text]:
        return list({id(row.text): row.text for row in self.rows}.values())


def global_slot(slot: str) -> str:
    """Return the name of a slot across chats: the speakers' own attributes are the same slot in every chat."""
    chat, _, name = slot.partition(":")
    return name if chat != "slots" and name.startswith("me/") else slot


def _row(text: Text, sentence: Sentence, slots: Sequence[str], source: str) -> Row:
    words = frozenset(
        word for slot in slots for word in _WORDS.findall(slot.partition(":")[2].partition("/")[2] or slot)
    )
    return Row(text, sentence, frozenset(map(global_slot, slots)), words, source, sentence.is_soft and not slots)


class Sampler:
    def __init__(
        self,
        chats: Sequence[ChatTexts],
        groups: Sequence[ChatTexts],
        requests: Sequence[Text],
        slots: Sequence[SlotSentence],
        remarks: Sequence[str],
        events: Sequence[str],
        seed: int,
    ) -> None:
        self._draw = random.Random(seed)
        self._chats, self._groups, self._snippets = list(chats), list(groups), list(requests)
        self._remarks = [plain_text(remark) for remark in remarks]
        self._events = [plain_text(event) for event in events]
        self._by_slot: dict[str, dict[str, dict[str, list[Text]]]] = defaultdict(
            lambda: defaultdict(lambda: defaultdict(list))
        )
        for item in slots:
            self._by_slot[item.slot][item.slot_id][item.role].append(slot_text(item))
        self._slot_names = sorted(name for name in self._by_slot if not name.startswith(DATED))
        self._dated_names = sorted(name for name in self._by_slot if name.startswith(DATED))
        self._requests = [(text, chat) for chat in chats for text in chat.turns.values() if text.requests]
        """Turns with requests are rare; some are in every batch."""

    def batch(
        self,
        chats: int = 4,
        groups: int = 6,
        slots: int = 8,
        dated: int = 3,
        remarks: int = 6,
        events: int = 5,
        snippets: int = 14,
    ) -> Batch:
        """Draw one batch."""
        draw = self._draw
        batch = Batch()
        for chat in draw.sample(self._chats, min(chats, len(self._chats))):
            batch.rows += self._chat_rows(chat)
        for group in draw.sample(self._groups, min(groups, len(self._groups))):
            batch.rows += self._chat_rows(group)
        for text in draw.sample(self._snippets, min(snippets, len(self._snippets))):
            batch.rows.append(_row(text, text.sentences[0], [], "request"))
        for name in draw.sample(self._slot_names, slots) + draw.sample(self._dated_names, dated):
            batch.rows += self._slot_rows(name)
        for text, chat in draw.sample(self._requests, min(REQUESTS_A_BATCH, len(self._requests))):
            for sentence in text.sentences:
                batch.rows.append(_row(text, sentence, sentence.slots, chat.chat.id))
        for text in draw.sample(self._remarks, remarks) + draw.sample(self._events, events):
            batch.rows.append(_row(text, text.sentences[0], [], "remark"))
        return batch

    def _chat_rows(self, chat: ChatTexts) -> Iterator[Row]:
        draw, source = self._draw, chat.chat.id
        by_slot: dict[str, list[tuple[Text, Sentence]]] = defaultdict(list)
        plain: list[tuple[Text, Sentence]] = []
        for text in chat.turns.values():
            for sentence in text.sentences:
                for slot in sentence.slots:
                    by_slot[slot].append((text, sentence))
                if not sentence.slots and not text.requests:
                    plain.append((text, sentence))
        changed = [slot for slot, stated in by_slot.items() if len(stated) > 1]
        draw.shuffle(changed)
        others = [slot for slot in by_slot if slot not in set(changed)]
        chosen: dict[int, tuple[Text, Sentence]] = {}
        for slot in changed[:7]:
            for text, sentence in draw.sample(by_slot[slot], min(3, len(by_slot[slot]))):
                chosen[id(sentence)] = text, sentence
        for slot in draw.sample(others, min(5, len(others))):
            text, sentence = draw.choice(by_slot[slot])
            chosen[id(sentence)] = text, sentence
        for text, sentence in draw.sample(plain, min(12, len(plain))):
            chosen[id(sentence)] = text, sentence
        for text, sentence in chosen.values():
            yield _row(text, sentence, sentence.slots, source)
        for text, slots in draw.sample(chat.questions, min(8, len(chat.questions))):
            yield _row(text, text.sentences[0], slots, source)

    def _slot_rows(self, name: str) -> Iterator[Row]:
        draw = self._draw
        ids = sorted(self._by_slot[name])
        for number, slot_id in enumerate(draw.sample(ids, min(2 if draw.random() < 0.6 else 1, len(ids)))):
            items = self._by_slot[name][slot_id]
            slot = f"slots:{slot_id}"
            for text in draw.sample(items["assert"], min(3 - number, len(items["assert"]))):
                yield _row(text, text.sentences[0], [slot], f"slots:{name}")
            if items["question"]:
                text = draw.choice(items["question"])
                yield _row(text, text.sentences[0], [slot], f"slots:{name}")
            if items["negative"]:
                text = draw.choice(items["negative"])
                yield _row(text, text.sentences[0], [], f"slots:{name}")
