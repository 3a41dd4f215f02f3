"""LoCoMo conversations as turns and questions, and text of the same shape in any amount."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lamina.errors import InvalidInput

_TURN_ID = re.compile(r"D:?(\d+):0*(\d+)")
_FILLER = (
    "I went to the market this morning and found a lovely old lamp for the hallway.",
    "That sounds great! How did your sister like the concert last weekend?",
    "We have been talking about moving closer to the lake for years now.",
    "My new job starts in May, so I am learning to cook simple things.",
    "He painted the kitchen yellow and it makes the whole house feel warmer.",
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation; `id` is how gold evidence names it."""

    id: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Session:
    """One sitting of a conversation."""

    id: str
    at: datetime
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the turns that answer it."""

    text: str
    gold: frozenset[str]
    category: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of many sessions and the questions about it."""

    id: str
    sessions: tuple[Session, ...]
    questions: tuple[Asked, ...]


def load(path: Path) -> tuple[list[Conversation], str]:
    """The conversations of a LoCoMo file (JSON, also gzipped) and the SHA-256 of the file."""
    raw = path.read_bytes()
    try:
        data = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
        return [_conversation(each) for each in data], hashlib.sha256(raw).hexdigest()
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise InvalidInput(f"{path} is not a LoCoMo file: {error}") from error


def _conversation(data: dict[str, Any]) -> Conversation:
    name, said = str(data["sample_id"]), data["conversation"]
    numbers = sorted(int(key.split("_")[1]) for key in said if re.fullmatch(r"session_\d+", key))
    sessions = tuple(_session(name, number, said) for number in numbers if said[f"session_{number}"])
    known = {turn.id for session in sessions for turn in session.turns}
    questions = []
    for each in data["qa"]:
        named = {f"{name}/D{a}:{b}" for text in each.get("evidence", []) for a, b in _TURN_ID.findall(str(text))}
        if named & known:
            questions.append(Asked(str(each["question"]), frozenset(named & known), int(each["category"])))
    return Conversation(name, sessions, tuple(questions))


def _session(name: str, number: int, said: dict[str, Any]) -> Session:
    at = datetime.strptime(said[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    turns = []
    for turn in said[f"session_{number}"]:
        caption = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
        a, b = _TURN_ID.findall(turn["dia_id"])[0]
        turns.append(Turn(f"{name}/D{a}:{b}", str(turn["speaker"]), str(turn["text"]) + caption))
    return Session(f"{name}-{number}", at, tuple(turns))


def shaped(conversations: Sequence[Conversation], count: int, seed: int) -> Iterator[Session]:
    """Sessions of `count` turns in all, each word following from the one before as in the conversations given.

    Word frequencies, turn lengths, session lengths and speakers are theirs, so that an index of them costs what an
    index of so much real talk would.
    """
    rng = random.Random(seed)
    turns = [turn for each in conversations for session in each.sessions for turn in session.turns]
    texts = [turn.text.split() for turn in turns] or [each.split() for each in _FILLER]
    speakers = sorted({turn.speaker for turn in turns}) or ["Ann", "Ben"]
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
        yield Session(
            f"shaped-{made}", at, tuple(
                Turn(f"shaped/{made + n}", pair[n % 2], _talk(rng, follows, rng.choice(lengths))) for n in range(size)
            )
        )  # fmt: skip
        made += size


def _talk(rng: random.Random, follows: dict[str, list[str]], length: int) -> str:
    words: list[str] = []
    last = ""
    for _ in range(max(1, length)):
        last = rng.choice(follows.get(last) or follows[""])
        words.append(last)
    return " ".join(words)
