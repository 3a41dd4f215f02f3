"""The constants of a score, measured together; each path that recall can take has its own row."""

from __future__ import annotations

from dataclasses import dataclass

SPEAKER, IN_TIME, ASKS = 0.08, 0.20, -0.01
"""A passage said by somebody the question names; said at the time it names; that is itself a question."""
ASKED_ASSISTANT = 0.10
"""What the machine said, where that is what is asked for."""
LINKED = 0.1
"""A fact that hangs together with what was found, as near as can be."""
TEXT_POOL, POOL, BESIDE = 100, 100, 1
"""How many passages the text channel is sure of, how many of all are looked at closely, and how many beside each."""
WINDOW = (1, 2)
"""How many passages before and after one can lend it the words it leaves out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One way to score: how much each channel counts when candidates are chosen, and when they are ranked.

    `floor` is the relevance below which nothing counts as an answer; `prior` how much counts who said it, when, and
    what it hangs together with. `root_rarity`: a question's token counts by the
    square root of its rarity, else by the rarity itself.
    """

    name: str
    floor: float
    first_text: float
    first_vector: float
    text: float
    vector: float
    prior: float = 1.0
    light: float = 0.0
    passage: float = 0.0
    window: float = 0.0
    session: float = 0.0
    root_rarity: bool = False


FULL = Recipe(
    name="full", floor=0.0, first_text=0.01, first_vector=0.5, text=0.005, vector=0.1, light=0.1, passage=0.1,
    window=0.3, session=0.3, root_rarity=True,
)  # fmt: skip
"""A transformer's vectors and token states, and static vectors besides."""
LIGHT = Recipe(
    name="light",
    floor=0.0,
    first_text=0.015,
    first_vector=0.5,
    text=0.0075,
    vector=0.4,
    passage=0.05,
    window=0.3,
    session=0.15,
)
"""Static vectors alone."""
DENSE = Recipe(
    name="dense", floor=0.0, first_text=0.01, first_vector=0.5, text=0.0075, vector=0.2, light=0.2, passage=0.05,
    window=0.3, session=0.15,
)  # fmt: skip
"""A model that gives vectors but no token states; static ones stand in for those."""
TEXT = Recipe(name="text", floor=0.0, first_text=0.01, first_vector=0.0, text=0.01, vector=0.0, prior=0.2)
"""Words alone; in a small store they say so little that who said them must not drown them."""
