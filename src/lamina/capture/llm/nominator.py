"""A chat model that is asked what changed. Its word counts only where both sides quote what the lines really say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lamina.capture.change.link import Kind
from lamina.capture.change.nomination import Line, Nomination
from lamina.capture.llm.prompts import naming_changes
from lamina.capture.llm.shapes import Changes, NamedChange
from lamina.capture.llm.support import stands_in
from lamina.models.chat import MOST_TOKENS, Chat
from lamina.text.normal import normal_form
from lamina.text.roles import is_role

_KINDS = {"changed": Kind.CHANGED, "corrected": Kind.CORRECTED, "ended": Kind.GIVEN_UP}


class ChatNominator:
    """Shows a chat model numbered lines and takes those of its answers that the lines bear out."""

    def __init__(self, chat: Chat, *, most_tokens: int = MOST_TOKENS) -> None:
        self._chat, self._most_tokens = chat, most_tokens

    def nominate(self, earlier: Sequence[Line], new: Sequence[Line]) -> list[Nomination]:
        """The changes that new lines tell of; a ModelError where the model gives no answer."""
        lines = [*earlier, *new]
        named = self._chat.ask(naming_changes(earlier, new), Changes, most_tokens=self._most_tokens).value.changes
        found = (each for change in named for each in _borne_out(change, lines, len(earlier)))
        return list({(each.new, each.old): each for each in found}.values())


def _borne_out(change: NamedChange, lines: Sequence[Line], first_new: int) -> Iterator[Nomination]:
    """A change as it may be believed: of one person or thing, and in words that stand in the lines it names."""
    at, before = change.new - 1, change.old - 1
    if not (first_new <= at < len(lines) and before < at):
        return
    new, old = lines[at], lines[before]
    quoted = stands_in(change.was, old.text) and stands_in(change.now, new.text)
    again = normal_form(old.text) == normal_form(new.text) or normal_form(change.was) == normal_form(change.now)
    if quoted and not again and _is_of_one(old, new):
        yield Nomination(new.place, old.place, _KINDS[change.how], change.was, change.now)


def _is_of_one(old: Line, new: Line) -> bool:
    """Whether both lines may be about one person: one speaks in both, or the new one names who spoke before."""
    if not old.speaker or not new.speaker or is_role(old.speaker) or is_role(new.speaker):
        return True
    same = normal_form(old.speaker) == normal_form(new.speaker)
    return same or any(stands_in(each, new.text) for each in old.speaker.split())
