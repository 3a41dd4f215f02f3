"""A small town that talks: a few hundred turns from a seed, questions about them, and what recall tells of each."""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

import lamina
from lamina import FixedClock, Memory, Settings
from lamina.models.model_files import ALL_FILES, ModelStore, models_folder
from lamina.recall import Recall

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)
STORE = ModelStore(models_folder(os.environ, Path.home(), sys.platform))
COUNT = int(os.environ.get("LAMINA_QUESTIONS", "60"))
needs_minilm = pytest.mark.skipif(
    not all(STORE.has(file) for file in ALL_FILES),
    reason="the model's files are not here; `python scripts/fetch_models.py` or `lamina models download` gets them",
)
EMBEDDERS = ["none", "light", pytest.param("minilm", marks=needs_minilm)]

_PEOPLE = ("Ann", "Bob", "Carla", "Dmitri", "Esther", "Farid")
_CITIES = ("Lisbon", "Oslo", "Kyoto", "Quito", "Ghent", "Tunis", "Malmö")
_PETS = ("greyhound", "tabby cat", "parrot", "tortoise", "rabbit")
_CRAFTS = ("pottery", "rowing", "chess", "beekeeping", "salsa dancing", "bookbinding")
_DISHES = ("lentil soup", "ramen", "paella", "apple strudel", "couscous", "fish stew")
_THINGS = ("bicycle", "violin", "telescope", "sewing machine", "kayak")
_SENTENCES = (
    "We adopted a {pet} from the shelter last week.",
    "My sister is moving to {city} because of her work.",
    "Are you still going to {craft} on Thursdays?",
    "Yes, and I would not miss it!",
    "I cooked {dish} for eight people yesterday.",
    "The {thing} cost me {n} euros, and it was worth it.",
    "What did you do in {city}?",
    "Mostly walked along the water and ate {dish}.",
    "I broke the {thing}; it has to be repaired before spring.",
    "{friend} taught me {craft} when I was {n}.",
    "In {city} they close the market at {n} o'clock.",
    "No, never again.",
)
_QUESTIONS = (
    "which animal did {friend} take home?",
    "who is relocating, and where to?",
    "what does {friend} do on Thursdays?",
    "how much was the {thing}?",
    "what did {friend} eat in {city}?",
    "what needs fixing?",
    "what was served to the guests last week?",
    "did {friend} mention {craft} in October 2026?",
    "what did you recommend about {dish}?",
    "{city} market opening hours",
)


def open_memory(
    root: Path, embedder: str = "light", scope: str | None = None, clock: FixedClock | None = None, **settings: Any
) -> Memory:
    """A memory that looks through an embedder, with its own clock and nothing going on behind it."""
    chosen = Settings(embedder=embedder, background=False, watch=False, **settings)
    return lamina.open(root, scope, clock=clock or FixedClock(NOON), watch=False, settings=chosen)


def populate(memory: Memory, seed: int = 1, sessions: int = 24, turns: int = 12) -> None:
    """Sessions of people and of a user with a machine, a day apart, and some facts that hang together."""
    random = Random(seed)
    for n in range(sessions):
        speakers = random.sample(_PEOPLE, 2) if n % 4 else ["user", "assistant"]
        began = NOON - (sessions - n) * DAY
        text = [
            {
                "speaker": speakers[turn % 2],
                "content": _filled(random.choice(_SENTENCES), random),
                "at": began + turn * timedelta(minutes=1),
            }
            for turn in range(turns)
        ]
        memory.capture(text, session_id=f"talk {seed} {n}")
    facts = memory.remember_many(
        {
            "content": f"{person} {verb} {random.choice(where)}.",
            "subject": person,
            "attribute": verb,
            "observed_at": NOON - random.randint(1, 90) * DAY,
        }
        for person in _PEOPLE
        for verb, where in (("lives in", _CITIES), ("keeps a", _PETS), ("owns a", _THINGS))
    )
    ids = [outcome.atom.id for outcome in facts.outcomes]
    for one, other in zip(ids, ids[3:], strict=False):
        memory.relate(one, "supports", other, random.choice([0.1, 0.5, 1.0]))
    memory.embed()


def questions(seed: int = 2, count: int = COUNT) -> list[str]:
    """Questions about such a town; LAMINA_QUESTIONS asks more of them."""
    random = Random(seed)
    return [_filled(_QUESTIONS[n % len(_QUESTIONS)], random) for n in range(count)]


def answers(memory: Memory, result: list[str] | None = None) -> list[str]:
    """What recall tells of each question, to the last bit."""
    return [recall_snapshot(memory.recall(item, 10, fast=n % 7 == 6)) for n, item in enumerate(result or questions())]


def recall_snapshot(result: Recall) -> str:
    """A recall as text: everything but its own id and the position of the journal."""
    hits = [[hit.atom.id, hit.passage.n, hit.score.hex(), hit.why, hit.path, hit.explain()] for hit in result.hits]
    return json.dumps([result.question, result.model, result.understood, hits])


def remember_facts(memory: Memory, content: str, **fields: Any) -> str:
    """The id of a statement that is remembered."""
    return memory.remember(content, **fields).atom.id


def capture_session(memory: Memory, *turns: tuple[str, str], session: str = "s", at: datetime = NOON - DAY) -> None:
    """A session of (speaker, words), a minute apart."""
    text = [
        {"speaker": speaker, "content": words, "at": at + n * timedelta(minutes=1)}
        for n, (speaker, words) in enumerate(turns)
    ]
    memory.capture(text, session_id=session)


def texts(result: Recall) -> list[str]:
    return [hit.text for hit in result.hits]


def _filled(template: str, random: Random) -> str:
    return template.format(
        pet=random.choice(_PETS),
        city=random.choice(_CITIES),
        craft=random.choice(_CRAFTS),
        dish=random.choice(_DISHES),
        thing=random.choice(_THINGS),
        friend=random.choice(_PEOPLE),
        n=random.randint(3, 60),
    )


if __name__ == "__main__":
    with open_memory(Path(sys.argv[1]), sys.argv[2]) as asked_again:
        print(json.dumps(answers(asked_again)))
