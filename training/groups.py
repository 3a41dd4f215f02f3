"""Read the groups (an earlier statement and what may follow it) and the snippets with requests and secrets.

A group is a block of `label: sentence` lines about one earlier statement, `old`. A snippet is a block of turns:
`- text`, `@forget N | text`, `@nokeep self | text`, `@nokeep N | text` or `@secret | text with [[the secret]]`; N
counts its lines.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from training.chat_format import AnnotatedChat
from training.examples import ChatTexts, Sentence, Text

DATA = Path(__file__).parent / "data"
STATES_SLOT = ("old", "new", "corrects", "same", "ends")
"""Labels of sentences that state the value of the group's slot, or that it no longer has one."""
STATES_OTHER = ("owner", "thing", "aspect", "adds")
MOOD_OF = {"plan": "plan", "maybe": "hyp", "past": "past", "quote": "quote", "event": "none", "talk": "none"}
_TURN = re.compile(r"(?:-|@(?P<name>forget|nokeep|secret)(?: (?P<target>self|\d+))? \|) (?P<text>.+)")
_SECRET = re.compile(r"\[\[(.*?)\]\]")


@dataclass(frozen=True, slots=True)
class SentenceGroup:
    """The sentences of one group by their label."""

    id: str
    lines: dict[str, list[str]]

    @property
    def old(self) -> str:
        return self.lines["old"][0]

    @property
    def is_of_events(self) -> bool:
        """Return whether the earlier statement tells of an event and states no value that something could replace."""
        return not self.lines.keys() & {"ask", "new", "corrects", "ends", "same"}


@dataclass(frozen=True, slots=True)
class SnippetTurn:
    text: str
    request: str | None
    target: int | None
    """The number of the turn, from 0, that the request is about."""
    secret: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Snippet:
    id: str
    turns: list[SnippetTurn]


def is_held_out(name: str) -> bool:
    """Return whether a group or snippet is held out for evaluation."""
    return hashlib.sha256(name.encode()).digest()[0] % 6 == 0


def load_groups(*, held_out: bool = False) -> list[SentenceGroup]:
    groups = []
    for path in sorted((DATA / "groups").glob("*.txt")):
        for number, block in enumerate(path.read_text(encoding="utf-8").strip().split("\n\n"), 1):
            lines: dict[str, list[str]] = defaultdict(list)
            for line in block.strip().splitlines():
                label, _, text = line.strip().partition(": ")
                lines[label].append(text.strip())
            groups.append(SentenceGroup(f"group:{path.stem}-{number}", dict(lines)))
    return [group for group in groups if is_held_out(group.id) == held_out]


def load_snippets(*, held_out: bool = False) -> list[Snippet]:
    snippets = []
    for path in sorted((DATA / "requests").glob("*.txt")):
        for number, block in enumerate(path.read_text(encoding="utf-8").strip().split("\n\n"), 1):
            turns = []
            for place, line in enumerate(block.strip().splitlines()):
                match = _TURN.fullmatch(line.strip())
                if match is None:
                    raise SystemExit(f"{path.name}, snippet {number}: {line}")
                target = match["target"]
                secret = _SECRET.search(match["text"])
                span = (secret.start(), secret.end() - 4) if secret else None
                about = place if target == "self" else int(target) - 1 if target else None
                turns.append(SnippetTurn(_SECRET.sub(r"\1", match["text"]), match["name"], about, span))
            snippets.append(Snippet(f"{path.stem}-{number}", turns))
    return [snippet for snippet in snippets if is_held_out(snippet.id) == held_out]


def group_texts(group: SentenceGroup) -> ChatTexts:
    """Return a group as a chat of one topic, for the slot space: sentences that state its slot attract each other."""
    turns: list[Text] = []
    for label, sentences in group.lines.items():
        for number, text in enumerate(sentences):
            sentence = Sentence(0, len(text), MOOD_OF.get(label, "current"))
            if group.is_of_events and label == "old":
                sentence.mood = "none"
            elif label in STATES_SLOT:
                sentence.slots = [f"{group.id}:it/it"]
            elif label in STATES_OTHER and label != "adds":
                sentence.slots = [f"{group.id}:{label}{number}/it"]
            sentence.is_soft = label in {"plan", "maybe", "past", "quote", "adds"}
            if label not in {"ask", "askother"}:
                turns.append(Text(text, [sentence]))
    questions = [
        (
            Text(text, [Sentence(0, len(text), "ask", is_soft=label == "askother")], ask="current"),
            [f"{group.id}:it/it"] if label == "ask" else [],
        )
        for label in ("ask", "askother")
        for text in group.lines.get(label, [])
    ]
    return ChatTexts(AnnotatedChat(group.id, "", ""), dict(enumerate(turns)), questions)


def snippet_texts(snippet: Snippet) -> list[Text]:
    """Return the turns of a snippet as texts labelled with their requests only."""
    return [
        Text(
            turn.text,
            [Sentence(0, len(turn.text), None, values=[turn.secret] if turn.secret else [], is_soft=True)],
            frozenset([turn.request] if turn.request else []),
        )
        for turn in snippet.turns
    ]
