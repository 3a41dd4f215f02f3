"""What a chat model is told and shown. Rules and words come first and are the same in both questions, so that a server
that remembers the beginning of a prompt reads them once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lamina.capture.change.nomination import Line
from lamina.capture.found import Said
from lamina.capture.llm.run import Shown
from lamina.models.chat import Message, system, user
from lamina.models.fence import DATA_ONLY, fenced, harmless

SLOTS = (
    "home", "employer", "job", "manager", "name", "age", "birthplace", "origin", "partner", "marital status", "pet",
    "owns", "like", "dislike", "allergy", "diet", "hobby", "language", "tool", "email", "phone", "website", "date",
    "status",
)  # fmt: skip
"""What the rules call the commonest slots: whoever reads, the same slot has the same name and can be filled anew."""
_CONTEXT_CHARS = 400
_RULES = f"""\
You read conversations for a memory that keeps few, true, lasting statements. {DATA_ONLY} Each line of the data is
one turn: its label, who spoke, the day, and the words. Lines labelled "before" only help to understand the others."""

_ASSESS = """\
Task: judge the turns, not the lines labelled "before".
worth: lasting if they tell anything that matters after this conversation, else transient.
durability: core (who somebody is, rules, decisions), standard (facts that may change), ephemeral (gone in days).
importance: 0 (small talk) to 10."""

_EXTRACT = f"""\
Task: list the statements the turns make. None is a good answer too.
turn, quote: the turn's number, and the exact words of that turn the statement rests on, copied letter by letter.
content: one complete sentence in the language of the turn that can be understood alone: names instead of pronouns,
nothing that was not said.
kind: preference is stated, habit is shown by what somebody does; a number that was counted is a count.
subject: who or what it is about, the speaker's name for "I". attribute, value: the slot and its filling in the words
of the quote, such as employer and Acme; both empty where there is no slot. Where one fits, the slot is one of
{", ".join(SLOTS)}; else a short noun.
certainty: stated if said outright, implied if it follows, guessed if not sure.
valid_from, valid_until: YYYY-MM-DD, worked out from the day of the turn ("yesterday" is the day before it); empty where
the words name no time. corrects: true if it says that something said earlier was wrong.
Leave out greetings, guesses, what is only asked or imagined, and what an assistant explains; of an assistant's turns
take only what it recommended by name."""

_COMPARE = f"""\
You keep a memory true to what people say. {DATA_ONLY} Each line of the data is one sentence: its number, whether it is
"earlier" or "new", who said it, the day, and the words."""

_NAME_CHANGES = """\
Task: list the new lines that say that something is no longer as an older line, earlier or new, says. None is a good
answer, and the usual one.
Both must be about the same person or thing and the same property, and cannot both be true now: another home, job, date,
number, taste, plan or owner. More of the same, another occasion, another thing, an opinion or a mood is no change.
new, old: the numbers of the two lines; the old one stands before the new one.
how: changed (it was so and is no longer), corrected (it was never so), ended (it is over and nothing takes its place).
was, now: the words of the old line that no longer hold, and the words of the new line that say so, copied letter by
letter, as few as possible."""


def assessing(shown: Sequence[Shown], before: Sequence[Said]) -> list[Message]:
    """Asks whether turns are worth reading closely."""
    return [system(_RULES), user(f"{_data(shown, before)}\n\n{_ASSESS}")]


def extracting(shown: Sequence[Shown], before: Sequence[Said]) -> list[Message]:
    """Asks for the statements turns make."""
    return [system(_RULES), user(f"{_data(shown, before)}\n\n{_EXTRACT}")]


def naming_changes(earlier: Sequence[Line], new: Sequence[Line]) -> list[Message]:
    """Asks which new lines overtake older ones."""
    labelled = [*(("earlier", each) for each in earlier), *(("new", each) for each in new)]
    lines = [_told(f"{n} {label}", each.speaker, each.at, harmless(each.text)) for n, (label, each) in
             enumerate(labelled, 1)]  # fmt: skip
    return [system(_COMPARE), user(f"{fenced(lines)}\n\n{_NAME_CHANGES}")]


def _data(shown: Sequence[Shown], before: Sequence[Said]) -> str:
    context = [_line("before", each, harmless(each.text, _CONTEXT_CHARS)) for each in before]
    return fenced([*context, *(_line(f"turn {n}", each.said, harmless(each.text)) for n, each in enumerate(shown, 1))])


def _line(label: str, said: Said, words: str) -> str:
    return _told(label, said.speaker, said.at, words)


def _told(label: str, speaker: str | None, at: datetime, words: str) -> str:
    who = harmless(speaker or "somebody", 60).replace("|", "/")
    return f"{label} | {who} | {at:%A %Y-%m-%d} | {words}"
