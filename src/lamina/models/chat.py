"""The interface of chat models: messages and the type of an answer in, an answer of that type out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

T = TypeVar("T", bound=BaseModel)

MOST_TOKENS = 4096
"""The longest reply, unless the caller says otherwise."""


class Role(StrEnum):
    """The author of a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Message:
    """One message to a chat model."""

    role: Role
    content: str

    def to_wire(self) -> dict[str, str]:
        """Return the message as JSON data; unpaired surrogates are replaced."""
        return {"role": str(self.role), "content": self.content.encode("utf-8", "replace").decode()}


@dataclass(frozen=True, slots=True)
class ChatReply(Generic[T]):
    """A model's answer, and the tokens of all calls; `takes_schema`: the server accepted the JSON schema."""

    value: T
    tokens_in: int
    tokens_out: int
    calls: int = 1
    takes_schema: bool = True


class Chat(Protocol):
    """Answers with a value of the given type, or raises a ModelError; the same question gets the same answer as far as
    possible."""

    @property
    def model(self) -> str:
        """The name of the model and where it runs."""

    def ask(self, messages: Sequence[Message], schema: type[T], *, most_tokens: int = MOST_TOKENS) -> ChatReply[T]:
        """Return the model's answer as a value of `schema`, in at most `most_tokens` tokens. Raises ModelError if it
        fails."""

    def close(self) -> None:
        """Close the connections."""


class UsageMeter(Protocol):
    """Is notified of every call, and may reject it."""

    def begin(self, model: str) -> None:
        """Note that a call is about to be made. Raises BudgetSpent if no more calls are allowed."""

    def record_usage(self, model: str, tokens_in: int, tokens_out: int) -> None:
        """Record the tokens of a call that was answered, well or badly."""


class NoUsageMeter:
    """Allows every call and counts nothing."""

    def begin(self, model: str) -> None: ...

    def record_usage(self, model: str, tokens_in: int, tokens_out: int) -> None: ...


def system_message(content: str) -> Message:
    """Return a message with instructions for the model."""
    return Message(Role.SYSTEM, content)


def user_message(content: str) -> Message:
    """Return a message with the question for the model."""
    return Message(Role.USER, content)
