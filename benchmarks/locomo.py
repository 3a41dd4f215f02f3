"""LoCoMo: long conversations of two people, and generated text of the same shape in any amount.

A turn is what the speaker said and, if an image was shared, its caption. Evidence ids are repaired ("D8:6; D9:17",
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

from benchmarks.data_set import BenchCollection, BenchQuestion, BenchSession, BenchTurn, read_data_file, require_any

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
SEPARATE_CATEGORIES = frozenset({"adversarial"})
"""Reported separately: a fact attributed to the wrong person is not a question with an answer."""
_TURN_ID = re.compile(r"D:?(\d+):0*(\d+)")
_FILLER = (
    "I went to the market this morning and found a lovely old lamp for the hallway.",
    "That sounds great! How did your sister like the concert last weekend?",
    "We have been talking about moving closer to the lake for years now.",
    "My new job starts in May, so I am learning to cook simple things.",
    "He painted the kitchen yellow and it makes the whole house feel warmer.",
)


def load(path: Path) -> tuple[list[BenchCollection], str]:
    """Return the conversations of a LoCoMo file and the SHA-256 of the file."""
    return read_data_file(
        path,
        "LoCoMo",
        lambda data: require_any((_parse_conversation(conversation) for conversation in data), "conversations"),
    )


def _parse_conversation(data: dict[str, Any]) -> BenchCollection:
    name, conversation = str(data["sample_id"]), data["conversation"]
    numbers = sorted(int(key.split("_")[1]) for key in conversation if re.fullmatch(r"session_\d+", key))
    sessions = tuple(
        _parse_session(name, number, conversation) for number in numbers if conversation[f"session_{number}"]
    )
    home = {turn.id: session.id for session in sessions for turn in session.turns}
    questions = []
    for question in data["qa"]:
        named = {f"{name}/D{a}:{b}" for text in question.get("evidence", []) for a, b in _TURN_ID.findall(str(text))}
        gold = frozenset(named & home.keys())
        if gold:
            category = CATEGORIES[int(question["category"])]
            questions.append(
                BenchQuestion(str(question["question"]), category, gold, frozenset(home[turn] for turn in gold))
            )
    return BenchCollection(name, sessions, tuple(questions))


def _parse_session(name: str, number: int, conversation: dict[str, Any]) -> BenchSession:
    at = datetime.strptime(conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    turns = []
    for turn in conversation[f"session_{number}"]:
        caption = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
        a, b = _TURN_ID.findall(turn["dia_id"])[0]
        turns.append(BenchTurn(f"{name}/D{a}:{b}", str(turn["text"]) + caption, speaker=str(turn["speaker"]), at=at))
    return BenchSession(f"{name}-{number}", at, tuple(turns))


def generate_sessions(conversations: Sequence[BenchCollection], count: int, seed: int) -> Iterator[BenchSession]:
    """Generate sessions with `count` turns in all, by a word chain trained on the given conversations.

    Word frequencies, turn lengths, session lengths and speakers are like theirs, so that indexing them costs as much as
    indexing real talk.
    """
    rng = random.Random(seed)
    turns = [turn for conversation in conversations for session in conversation.sessions for turn in session.turns]
    texts = [turn.text.split() for turn in turns] or [text.split() for text in _FILLER]
    speakers = sorted({turn.speaker for turn in turns if turn.speaker}) or ["Ann", "Ben"]
    follows: dict[str, list[str]] = defaultdict(list)
    for words in texts:
        for word, next_word in zip(["", *words], words, strict=False):
            follows[word].append(next_word)
    lengths = [len(words) for words in texts]
    generated = 0
    while generated < count:
        size = min(rng.randint(12, 40), count - generated)
        pair = rng.sample(speakers, 2)
        at = datetime.fromtimestamp(1_600_000_000 + generated * 60, UTC)
        session_turns = (
            BenchTurn(
                f"shaped/{generated + n}", _generate_turn(rng, follows, rng.choice(lengths)), speaker=pair[n % 2], at=at
            )
            for n in range(size)
        )
        yield BenchSession(f"shaped-{generated}", at, tuple(session_turns))
        generated += size


def _generate_turn(rng: random.Random, follows: dict[str, list[str]], length: int) -> str:
    words: list[str] = []
    last = ""
    for _ in range(max(1, length)):
        last = rng.choice(follows.get(last) or follows[""])
        words.append(last)
    return " ".join(words)
