"""What a chat model is: messages and the shape of an answer in, an answer of that shape out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

T = TypeVar("T", bound=BaseModel)

MOST_TOKENS = 4096
"""How long a reply may be where the caller does not say."""


class Role(StrEnum):
    """Who speaks in a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Message:
    """One message to a chat model."""

    role: Role
    content: str

    def sent(self) -> dict[str, str]:
        """The message as it goes over a wire, which carries no half characters."""
        return {"role": str(self.role), "content": self.content.encode("utf-8", "replace").decode()}


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """What a model answered, and the tokens all its calls took; `takes_schema`: the server took the JSON schema."""

    value: T
    tokens_in: int
    tokens_out: int
    calls: int = 1
    takes_schema: bool = True


class Chat(Protocol):
    """Answers in the shape asked for, or raises a ModelError; asked the same again, it tries to say the same."""

    @property
    def model(self) -> str:
        """Which model answers, and where it runs."""

    def ask(self, messages: Sequence[Message], schema: type[T], *, most_tokens: int = MOST_TOKENS) -> Reply[T]:
        """What the model answers, as a value of `schema`, in at most so many tokens."""

    def close(self) -> None:
        """Let go of connections."""


class Meter(Protocol):
    """Is told of every call, and may forbid it."""

    def begin(self, model: str) -> None:
        """A call is about to be made; raises BudgetSpent where there may be no more."""

    def spent(self, model: str, tokens_in: int, tokens_out: int) -> None:
        """A call was answered, well or badly, and took so many tokens."""


class NoMeter:
    """Lets everything pass and counts nothing."""

    def begin(self, model: str) -> None: ...

    def spent(self, model: str, tokens_in: int, tokens_out: int) -> None: ...


def system(content: str) -> Message:
    """What the model is told to do."""
    return Message(Role.SYSTEM, content)


def user(content: str) -> Message:
    """What the model is asked."""
    return Message(Role.USER, content)
