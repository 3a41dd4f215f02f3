"""Prompts. The system message never changes, so that servers with a prompt cache read it once; the data comes last."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lamina.capture.change.nomination import Line
from lamina.capture.found import Said
from lamina.capture.llm.run import Shown
from lamina.models.chat import Message, system, user
from lamina.models.fence import DATA_ONLY, fenced, harmless
from lamina.text.roles import is_assistant

_CONTEXT_CHARS = 400
_LINE_CHARS = 300

_EXTRACT = f"""\
You extract statements from a conversation for a long-term memory. {DATA_ONLY}
Each line of the data is one turn: its label, the speaker, the day and the words. Lines labelled "context" only help to
understand the others; take no statement from them.

Return the statements that the turns make. An empty list is a good answer.
quote: the exact words of one turn that make the statement, copied letter by letter.
content: the statement as one complete sentence in the language of the turn, understandable alone: names instead of
pronouns, the words of the quote otherwise, nothing that was not said. Keep "not", "if", "might" and the like.
subject: whom or what it is about; the speaker's name for "I".
attribute, value: which property of the subject it tells and its value, such as "employer" and "Acme"; the value in
the words of the quote. Both empty where there is none.
date: YYYY-MM-DD, the day since when it holds, worked out from the day of the turn; empty where the words name no time.
Leave out greetings, questions, jokes, guesses and what is only imagined."""

_COMPARE = f"""\
You compare pairs of sentences for a long-term memory. {DATA_ONLY}
Each line of the data is one pair: its number, an earlier sentence and a later one, each with its speaker and day.

For each pair say whether the later sentence shows that what the earlier one says is no longer so. Both must be about
the same person or thing and the same property, and cannot both be true now: another home, job, date, number or plan.
More of the same, another occasion, another person or thing, an opinion or a mood is no change.
pair: the number of the pair. is_change: true or false. Answer once for each pair."""


def extraction_prompt(shown: Sequence[Shown], before: Sequence[Said]) -> list[Message]:
    """Return the messages that ask for the statements of some turns."""
    lines = [_turn("context", said, harmless(said.text, _CONTEXT_CHARS)) for said in before]
    for piece in shown:
        is_context = is_assistant(piece.said.speaker)
        words = harmless(piece.text, _CONTEXT_CHARS if is_context else None)
        lines.append(_turn("context" if is_context else "turn", piece.said, words))
    return [system(_EXTRACT), user(fenced(lines))]


def comparison_prompt(pairs: Sequence[tuple[Line, Line]]) -> list[Message]:
    """Return the messages that ask, for each pair of sentences, whether the second one changes the first."""
    lines = [f"pair {n} | earlier: {_sentence(old)} | later: {_sentence(new)}" for n, (old, new) in enumerate(pairs, 1)]
    return [system(_COMPARE), user(fenced(lines))]


def _turn(label: str, said: Said, words: str) -> str:
    return f"{label} | {_who(said.speaker)} | {_day(said.at)} | {words}"


def _sentence(line: Line) -> str:
    words = harmless(line.text, _LINE_CHARS).replace("|", "/")
    return f"{_who(line.speaker)}, {_day(line.at)}: {words}"


def _who(speaker: str | None) -> str:
    return harmless(speaker or "unknown speaker", 60).replace("|", "/")


def _day(at: datetime) -> str:
    return f"{at:%A %Y-%m-%d}"
