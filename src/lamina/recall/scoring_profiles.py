"""The constants of a score, measured together; there is a profile for each combination of models that recall can
use."""

from __future__ import annotations

from dataclasses import dataclass

NAMED_SPEAKER, SAID_AT_TIME, TELLS_OF_TIME, STATES_A_TIME, IS_QUESTION = 0.08, 0.20, 0.10, 0.03, -0.02
"""Terms for a passage said by someone the question names; said at the time it names; about that time; that states a
time where the question requests one; that is itself a question."""
FOLLOWS_QUESTION = 0.10
"""Term for a passage that follows another person's question, in proportion to how well that question matches."""
SAID_BY_ASSISTANT = 0.10
"""Term for what the assistant said, if the question asks for that."""
NAMED_SUBJECT, NAMED_ENTITY = 0.05, 0.03
"""Terms for a fact whose subject the question names, and for one with an entity that it names."""
LEARNT_BY_AGENT = 0.15
"""Term for what the calling agent learnt: a fact captured by it or for it, or a private note of its own."""
GRAPH_NEARNESS = 0.1
"""Term for a fact that is linked to the best candidates, at most."""
TEXT_POOL, POOL, NEIGHBOURS = 100, 100, 1
"""How many passages the text channel adds, how many of all are compared closely, and how many neighbours of each."""
WINDOW = (1, 2)
"""How many passages before and after a passage can supply words that it leaves out."""
RERANKED_COUNT, RERANKER_SHARE = 12, 0.5
"""How many of the best candidates a reranker reads with the question, and how much it can add."""
LONG_SESSION = 8
"""A session with this many candidates is a long one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringProfile:
    """One way to score: how much each channel counts when candidates are chosen, and when they are ranked.

    `relevance_floor` is the relevance below which nothing counts as an answer, for a passage by itself and for one in a
    long
    session, where other passages supply words by chance; `first_floor` the same without comparing tokens;
    `unnamed_floor` the same for a fact with declared names of which the question contains none, if the question names
    no fact and if it names others. `prior` scales the terms for speaker, time and links. `uses_root_rarity`: a token of
    the question counts by the square root of its rarity instead of the rarity.
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
    uses_root_rarity: bool = False
    floor: tuple[float, float] = (0.20, 0.38)
    first_floor: float = 0.15
    unnamed_floor: tuple[float, float] = (0.25, 0.55)


TRANSFORMER_PROFILE = ScoringProfile(
    name="full",
    first_text=0.01,
    first_vector=0.5,
    text=0.005,
    vector=0.05,
    light=0.15,
    passage=0.1,
    window=0.3,
    session=0.3,
    uses_root_rarity=True,
)
"""A transformer's vectors and token states, and static vectors in addition."""
LIGHT_PROFILE = ScoringProfile(
    name="light",
    first_text=0.015,
    first_vector=0.5,
    text=0.0075,
    vector=0.4,
    passage=0.05,
    window=0.3,
    session=0.15,
    unnamed_floor=(0.25, 0.45),
)
"""Static vectors only."""
DENSE_PROFILE = ScoringProfile(
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
"""A model with vectors but without token states; those of static vectors are used."""
TEXT_PROFILE = ScoringProfile(
    name="text",
    first_text=0.01,
    first_vector=0.0,
    text=0.01,
    vector=0.0,
    prior=0.2,
    floor=(0.0, 0.0),
    first_floor=0.0,
    unnamed_floor=(0.0, 1.0),
)
"""Text search only; in a small store its scores are so low that terms for speakers must not dominate them."""
