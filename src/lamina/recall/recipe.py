"""The constants of a score, measured together; each path that recall can take has its own row."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

SPEAKER, IN_TIME, TELLS_OF, TELLS_WHEN, ASKS = 0.08, 0.20, 0.10, 0.03, -0.02
"""A passage said by somebody the question names; said at the time it names; that tells of that time; that tells a time
where one is asked for; that is itself a question."""
ANSWERS = 0.10
"""A passage that follows a person's question, as much as that question is the one asked."""
ASKED_ASSISTANT = 0.10
"""What the machine said, where that is what is asked for."""
EXACT, ENTITY = 0.05, 0.03
"""A fact whose subject the question names; one with an entity that it names."""
LINKED = 0.1
"""A fact that hangs together with what was found, as near as can be."""
TEXT_POOL, POOL, BESIDE = 100, 100, 1
"""How many passages the text channel is sure of, how many of all are looked at closely, and how many beside each."""
WINDOW = (1, 2)
"""How many passages before and after one can lend it the words it leaves out."""
READ_AGAIN, SECOND_OPINION = 12, 0.5
"""How many of the best a second model reads together with the question, and how much it can add."""
CROWD = 8
"""A session of which so many passages are looked at is a long one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One way to score: how much each channel counts when candidates are chosen, and when they are ranked.

    `floor` is the relevance below which nothing counts as an answer, for a passage by itself and for one in a long
    session, whose other passages lend it words by mere chance; `first_floor` the same without a closer look; `unnamed`
    the same for a fact that goes by names of which the question has none, where it names no fact and where it names
    others. `prior` is how much counts who said it, when, and what it hangs together with. `root_rarity`: a question's
    token counts by the square root of its rarity, else by the rarity itself.
    """

    name: str
    first_text: float
    first_vector: float
    text: float
    vector: float
    light: float = 0.0
    passage: float = 0.0
    window: float = 0.0
    session: float = 0.0
    prior: float = 1.0
    root_rarity: bool = False
    floor: tuple[float, float] = (0.20, 0.38)
    first_floor: float = 0.15
    unnamed: tuple[float, float] = (0.25, 0.55)


FULL = Recipe(
    name="full",
    first_text=0.01,
    first_vector=0.5,
    text=0.005,
    vector=0.05,
    light=0.15,
    passage=0.1,
    window=0.3,
    session=0.3,
    root_rarity=True,
)
"""A transformer's vectors and token states, and static vectors besides."""
LIGHT = Recipe(
    name="light",
    first_text=0.015,
    first_vector=0.5,
    text=0.0075,
    vector=0.4,
    passage=0.05,
    window=0.3,
    session=0.15,
    unnamed=(0.25, 0.45),
)
"""Static vectors alone."""
DENSE = Recipe(
    name="dense",
    first_text=0.01,
    first_vector=0.5,
    text=0.0075,
    vector=0.2,
    light=0.2,
    passage=0.05,
    window=0.3,
    session=0.15,
)
"""A model that gives vectors but no token states; static ones stand in for those."""
TEXT = Recipe(
    name="text",
    first_text=0.01,
    first_vector=0.0,
    text=0.01,
    vector=0.0,
    prior=0.2,
    floor=(0.0, 0.0),
    first_floor=0.0,
    unnamed=(0.0, 1.0),
)
"""Words alone; in a small store they say so little that who said them must not drown them."""


def floor(recipe: Recipe, crowd: int, *, closely: bool) -> float:
    """The relevance a passage must have to count as an answer, given how many of its session are looked at."""
    if not closely:
        return recipe.first_floor
    alone, crowded = recipe.floor
    return alone + (crowded - alone) * min(1.0, log2(max(1, crowd)) / log2(CROWD))
