"""A reranker that uses a chat model: it reads up to twelve passages at once and picks the six that answer best."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from lamina.models.chat import MOST_TOKENS, Chat, Message, system_message, user_message
from lamina.models.prompt_fence import DATA_ONLY, fence_data, sanitise

MAX_PASSAGES, MAX_PICKS = 12, 6
_MAX_LENGTH = 600
_TASK = f"""\
You judge which notes answer a question. Pick up to {MAX_PICKS} notes that help to answer it, the best first. For each
give its number and how well it answers from 0 (not at all) to 100 (fully). Pick none where none helps. {DATA_ONLY}"""


class Pick(BaseModel):
    """A passage by its number, and how well it answers."""

    note: int = Field(ge=1, le=MAX_PASSAGES)
    fits: int = Field(ge=0, le=100)


class Picks(BaseModel):
    """The passages that answer, best first."""

    picks: list[Pick] = Field(max_length=MAX_PICKS)


class ChatReranker:
    """Reads passages together, so a score depends on the others; a passage that is not picked gets 0."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return how well each passage answers, from 0 to 1."""
        return [
            score
            for start in range(0, len(passages), MAX_PASSAGES)
            for score in self._batch(question, passages[start : start + MAX_PASSAGES])
        ]

    def _batch(self, question: str, passages: Sequence[str]) -> list[float]:
        picks = self._chat.ask(_build_messages(question, passages), Picks, most_tokens=MOST_TOKENS).value.picks
        scores = [0.0] * len(passages)
        for pick in picks:
            if pick.note <= len(passages):
                scores[pick.note - 1] = max(scores[pick.note - 1], pick.fits / 100)
        return scores


def _build_messages(question: str, passages: Sequence[str]) -> list[Message]:
    notes = [f"[{n}] {sanitise(text, _MAX_LENGTH)}" for n, text in enumerate(passages, 1)]
    return [system_message(_TASK), user_message(fence_data([f"question: {sanitise(question, _MAX_LENGTH)}", *notes]))]
