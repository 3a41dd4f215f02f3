"""A chat model with a limited number of calls in one dream."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.models.chat import MOST_TOKENS, Chat, ChatReply, Message, T
from lamina.models.errors import BudgetSpent


class BudgetedChat:
    """Passes calls on while any are left; callers check `calls_left` first."""

    def __init__(self, chat: Chat, calls: int) -> None:
        self._chat, self.calls_left = chat, calls

    @property
    def model(self) -> str:
        """Return the name of the model that answers."""
        return self._chat.model

    def ask(self, messages: Sequence[Message], schema: type[T], *, most_tokens: int = MOST_TOKENS) -> ChatReply[T]:
        """Return the model's answer; BudgetSpent if this dream has no calls left."""
        if self.calls_left <= 0:
            raise BudgetSpent("this dream has used all its chat model calls (setting dream_chat_calls)")
        self.calls_left -= 1
        return self._chat.ask(messages, schema, most_tokens=most_tokens)

    def close(self) -> None:
        """Do nothing: the code that opened the model closes it."""
