"""The shapes of what a chat model is asked for. Every string and list has an end: a small model would not find one."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

MOST_TURNS = 50
"""So many turns or pieces of turns are shown in one run."""

Lasting = Literal["core", "standard", "ephemeral"]
FoundKind = Literal[
    "fact", "preference", "goal", "decision", "event", "question", "correction", "entity", "relationship", "principle",
    "commitment", "moment", "skill", "procedure", "rule", "habit", "interest", "count", "recommendation", "reminder",
    "belief", "insight",
]  # fmt: skip
Day = Annotated[str, Field(max_length=10)]
"""YYYY-MM-DD, or empty where the words do not say."""


class Assessment(BaseModel):
    """Whether turns are worth reading closely."""

    worth: Literal["lasting", "transient"]
    durability: Lasting
    importance: int = Field(ge=0, le=10)

    @property
    def is_worthless(self) -> bool:
        return self.worth == "transient" and self.durability == "ephemeral"


class FoundStatement(BaseModel):
    """One statement as the model gives it; nothing of it is believed before it is checked."""

    turn: int = Field(ge=1, le=MOST_TURNS)
    quote: str = Field(max_length=400)
    content: str = Field(max_length=300)
    kind: FoundKind
    subject: str = Field(max_length=80)
    attribute: str = Field(max_length=60)
    value: str = Field(max_length=120)
    certainty: Literal["stated", "implied", "guessed"]
    durability: Lasting
    entities: list[Annotated[str, Field(max_length=60)]] = Field(max_length=6)
    valid_from: Day
    valid_until: Day
    corrects: bool


class Extracted(BaseModel):
    """Everything a run states."""

    statements: list[FoundStatement] = Field(max_length=25)


MOST_LINES = 60
"""So many lines are shown where a model is asked what changed."""


class NamedChange(BaseModel):
    """One line that overtakes an earlier one, as the model gives it."""

    new: int = Field(ge=1, le=MOST_LINES)
    old: int = Field(ge=1, le=MOST_LINES)
    how: Literal["changed", "corrected", "ended"]
    was: str = Field(max_length=120)
    now: str = Field(max_length=120)


class Changes(BaseModel):
    """Everything that is over because of what is said now."""

    changes: list[NamedChange] = Field(max_length=12)
