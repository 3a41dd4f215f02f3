"""LoCoMo: long conversations of two people, and text of the same shape in any amount.

A turn is what the speaker said and, where an image was shared, its caption. Evidence is repaired ("D8:6; D9:17",
"D:11:26", "D30:05"), turns that do not exist are dropped, and questions left without evidence are not asked.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lamina.bench.collection import Asked, Collection, Session, Turn, read, some

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
APART = frozenset({"adversarial"})
"""Told by itself: a fact attributed to the wrong person is no question to be answered."""
_TURN_ID = re.compile(r"D:?(\d+):0*(\d+)")
_FILLER = (
    "I went to the market this morning and found a lovely old lamp for the hallway.",
    "That sounds great! How did your sister like the concert last weekend?",
    "We have been talking about moving closer to the lake for years now.",
    "My new job starts in May, so I am learning to cook simple things.",
    "He painted the kitchen yellow and it makes the whole house feel warmer.",
)


def load(path: Path) -> tuple[list[Collection], str]:
    """The conversations of a LoCoMo file and the SHA-256 of the file."""
    return read(path, "LoCoMo", lambda data: some((_conversation(each) for each in data), "conversations"))


def _conversation(data: dict[str, Any]) -> Collection:
    name, said = str(data["sample_id"]), data["conversation"]
    numbers = sorted(int(key.split("_")[1]) for key in said if re.fullmatch(r"session_\d+", key))
    sessions = tuple(_session(name, number, said) for number in numbers if said[f"session_{number}"])
    home = {turn.id: session.id for session in sessions for turn in session.turns}
    questions = []
    for each in data["qa"]:
        named = {f"{name}/D{a}:{b}" for text in each.get("evidence", []) for a, b in _TURN_ID.findall(str(text))}
        gold = frozenset(named & home.keys())
        if gold:
            category = CATEGORIES[int(each["category"])]
            questions.append(Asked(str(each["question"]), category, gold, frozenset(home[turn] for turn in gold)))
    return Collection(name, sessions, tuple(questions))


def _session(name: str, number: int, said: dict[str, Any]) -> Session:
    at = datetime.strptime(said[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    turns = []
    for turn in said[f"session_{number}"]:
        caption = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
        a, b = _TURN_ID.findall(turn["dia_id"])[0]
        turns.append(Turn(f"{name}/D{a}:{b}", str(turn["text"]) + caption, speaker=str(turn["speaker"]), at=at))
    return Session(f"{name}-{number}", at, tuple(turns))


def shaped(conversations: Sequence[Collection], count: int, seed: int) -> Iterator[Session]:
    """Sessions of `count` turns in all, each word following from the one before as in the conversations given.

    Word frequencies, turn lengths, session lengths and speakers are theirs, so that an index of them costs what an
    index of so much real talk would.
    """
    rng = random.Random(seed)
    turns = [turn for conversation in conversations for session in conversation.sessions for turn in session.turns]
    texts = [turn.text.split() for turn in turns] or [each.split() for each in _FILLER]
    speakers = sorted({turn.speaker for turn in turns if turn.speaker}) or ["Ann", "Ben"]
    follows: dict[str, list[str]] = defaultdict(list)
    for words in texts:
        for one, other in zip(["", *words], words, strict=False):
            follows[one].append(other)
    lengths = [len(words) for words in texts]
    made = 0
    while made < count:
        size = min(rng.randint(12, 40), count - made)
        pair = rng.sample(speakers, 2)
        at = datetime.fromtimestamp(1_600_000_000 + made * 60, UTC)
        said = (
            Turn(f"shaped/{made + n}", _talk(rng, follows, rng.choice(lengths)), speaker=pair[n % 2], at=at)
            for n in range(size)
        )
        yield Session(f"shaped-{made}", at, tuple(said))
        made += size


def _talk(rng: random.Random, follows: dict[str, list[str]], length: int) -> str:
    words: list[str] = []
    last = ""
    for _ in range(max(1, length)):
        last = rng.choice(follows.get(last) or follows[""])
        words.append(last)
    return " ".join(words)
