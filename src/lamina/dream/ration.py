"""A chat model that may be asked so many times in one dream."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.models.chat import MOST_TOKENS, Chat, Message, Reply, T
from lamina.models.errors import BudgetSpent


class Rationed:
    """Passes questions on while there are any left; whoever asks looks first whether there are."""

    def __init__(self, chat: Chat, calls: int) -> None:
        self._chat, self.left = chat, calls

    @property
    def model(self) -> str:
        """Which model answers."""
        return self._chat.model

    def ask(self, messages: Sequence[Message], schema: type[T], *, most_tokens: int = MOST_TOKENS) -> Reply[T]:
        """What the model answers; BudgetSpent where this dream has no more questions."""
        if self.left <= 0:
            raise BudgetSpent("this dream has asked the chat model as often as it may (dream_chat_calls)")
        self.left -= 1
        return self._chat.ask(messages, schema, most_tokens=most_tokens)

    def close(self) -> None:
        """Nothing: whoever opened the model closes it."""
