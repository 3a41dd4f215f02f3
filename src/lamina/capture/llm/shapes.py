"""Schemas of what a language model is asked for. Every string and list is bounded: a small model would not stop."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

MOST_TURNS = 50
"""How many turns or pieces of turns are shown in one call."""
MOST_STATEMENTS = 10
MOST_PAIRS = 12
"""How many candidate pairs are asked about in one call, control pairs included."""

Day = Annotated[str, Field(max_length=10)]
"""YYYY-MM-DD, or empty where the words name no day."""


class ModelStatement(BaseModel):
    """One statement as the model returns it; unchecked."""

    quote: str = Field(max_length=240)
    content: str = Field(max_length=220)
    subject: str = Field(max_length=60)
    attribute: str = Field(max_length=40)
    value: str = Field(max_length=80)
    date: Day


class ModelStatements(BaseModel):
    """All statements of one call."""

    statements: list[ModelStatement] = Field(max_length=MOST_STATEMENTS)


class PairAnswer(BaseModel):
    """Whether the second sentence of one pair changes what the first one says."""

    pair: int = Field(ge=1, le=MOST_PAIRS)
    is_change: bool


class PairAnswers(BaseModel):
    """The answers of one call; a pair without an answer is no change."""

    answers: list[PairAnswer] = Field(max_length=MOST_PAIRS)
