"""Turn chats and slot templates into labelled texts: which slot each sentence asserts, and what each question asks."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lamina.text.sentences import find_sentences
from training.chat_format import AnnotatedChat, Fact, Turn, read_chats
from training.slot_sentences import SlotSentence

CHATS = Path(__file__).parent / "data" / "chats"
HELD_OUT_FILES = frozenset({"heldout"})
HELD_OUT_CHATS = frozenset(
    ["pa09", "pb09", "pc09", "pd09", "pe09", "pf09", "pg09", "ph09", "dg07", "dt06", "dt12", "du06", "du12"]
)
"""People that nothing is trained on."""
OTHER_LANGUAGES = frozenset({"languages"})
MOODS = ("none", "current", "past", "plan", "hyp", "joke", "quote", "ask")
"""Whether a sentence asserts a current value, or why it does not."""
REQUESTS = ("forget", "nokeep", "secret")
ASKS = ("current", "past", "list", "yesno", "none")
"""What a question asks for: a current value, a past one, all values, whether a value holds, or no state at all."""
ASK_OF_KIND = {
    "current": "current",
    "past": "past",
    "first": "past",
    "list": "list",
    "yesno": "yesno",
    "event": "none",
    "when": "none",
    "why": "none",
    "other": "none",
}
_SPEAKER = re.compile(r"^([A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*)?): ")


@dataclass(slots=True)
class Sentence:
    """A sentence of a text with its labels; `slots` are the slots whose current value it states."""

    start: int
    end: int
    mood: str | None
    slots: list[str] = field(default_factory=list)
    is_own: bool | None = None
    is_many: bool | None = None
    values: list[tuple[int, int]] = field(default_factory=list)
    is_soft: bool = False
    """Mentions a slot without asserting it: neither near nor far in the slot space."""


@dataclass(slots=True)
class Text:
    """A turn, a template sentence or a question, as the model reads it."""

    text: str
    sentences: list[Sentence]
    requests: frozenset[str] = frozenset()
    ask: str | None = None
    """For questions: what is asked for."""


@dataclass(slots=True)
class ChatTexts:
    """A chat's turns and questions as labelled texts, with the slots that its questions ask for."""

    chat: AnnotatedChat
    turns: dict[int, Text]
    questions: list[tuple[Text, list[str]]]


def load_chats(*, held_out: bool = False) -> list[AnnotatedChat]:
    """Return the English training chats, or those held out; malformed lines are an error."""
    chats: list[AnnotatedChat] = []
    for path in sorted(CHATS.glob("*.txt")):
        if path.stem in OTHER_LANGUAGES:
            continue
        file_chats, errors = read_chats(path)
        if errors:
            raise SystemExit("\n".join(errors[:20]))
        chats += [chat for chat in file_chats if (path.stem in HELD_OUT_FILES or chat.id in HELD_OUT_CHATS) == held_out]
    return chats


def is_ranker_chat(chat: AnnotatedChat) -> bool:
    """Return whether a chat trains the ranker only, so that the ranker learns how far to trust the slot space."""
    return hashlib.sha256(chat.id.encode()).digest()[0] % 8 == 0


def without_speaker(text: str) -> str:
    """Return the words of a turn in a dialogue, without the name in front."""
    return _SPEAKER.sub("", text, count=1)


def speaker_of(turn: Turn, chat: AnnotatedChat) -> str:
    match = _SPEAKER.match(turn.text)
    return match[1] if match else chat.speaker


def chat_texts(chat: AnnotatedChat) -> ChatTexts:
    """Label every sentence of a chat."""
    turns = {turn.number: _turn_text(turn, chat) for turn in chat.turns}
    stated = {
        number: [slot for sentence in text.sentences for slot in sentence.slots] for number, text in turns.items()
    }
    questions = [
        (
            Text(question.text, [_whole(question.text, "ask")], ask=ASK_OF_KIND.get(question.kind)),
            _slots_asked([stated[number] for number in question.gold]) if question.kind != "unknown" else [],
        )
        for question in chat.questions
    ]
    return ChatTexts(chat, turns, questions)


def _slots_asked(stated: Sequence[Sequence[str]]) -> list[str]:
    if not stated or not stated[0]:
        return []
    common = set(stated[0]).intersection(*stated) or (set(stated[0]) if len(stated[0]) == 1 else set())
    return sorted(common) if len(common) == 1 else []


def _turn_text(turn: Turn, chat: AnnotatedChat) -> Text:
    text = without_speaker(turn.text)
    spans = find_sentences(text) or [(0, len(text))]
    labelled = [Sentence(start, end, "none") for start, end in spans]
    speaker = speaker_of(turn, chat)
    for fact in turn.facts:
        _label_fact(fact, text, labelled, chat, speaker)
    for sentence in labelled:
        if sentence.mood == "none" and text[sentence.start : sentence.end].rstrip().endswith("?"):
            sentence.mood = "ask"
    return Text(text, labelled, frozenset(request.name for request in turn.requests))


def _label_fact(fact: Fact, text: str, labelled: list[Sentence], chat: AnnotatedChat, speaker: str) -> None:
    slot = f"{chat.id}:{fact.owner.lower()}/{fact.attribute.lower()}"
    is_own = fact.owner.lower() in {"me", speaker.lower()}
    at = -1 if fact.value.lower() in {"yes", "no"} else text.lower().find(fact.value.lower())
    sentence = next((label for label in labelled if label.start <= at < label.end), None)
    if sentence is None:
        if len(labelled) == 1:
            sentence = labelled[0]
        else:
            for label in labelled:
                label.mood = None if label.mood == "none" else label.mood
            return
    if not fact.is_current:
        sentence.is_soft = True
        if sentence.mood != "current":
            sentence.mood = fact.mood
        return
    sentence.mood = "current"
    sentence.slots.append(slot)
    sentence.is_own = is_own if sentence.is_own in (None, is_own) else None
    sentence.is_many = fact.adds
    if at >= 0:
        sentence.values.append((at, at + len(fact.value)))


def _whole(text: str, mood: str | None) -> Sentence:
    return Sentence(0, len(text), mood)


def slot_text(item: SlotSentence) -> Text:
    """Return a template sentence as a labelled text; the clause around it may contain other sentences."""
    if item.role == "question":
        return Text(item.text, [_whole(item.text, "ask")], ask="current")
    spans = find_sentences(item.text) or [(0, len(item.text))]
    at = item.span[0] if item.span else 0
    start, end = next((span for span in spans if span[0] <= at < span[1]), spans[0])
    sentence = Sentence(start, end, _slot_mood(item))
    if item.role == "assert":
        sentence.slots = [f"slots:{item.slot_id}"]
        sentence.is_own = None if item.has_entity else True
        sentence.is_many = item.is_many
        sentence.values = [item.span] if item.span else []
    sentence.is_soft = item.style in {"past", "plan", "hyp"}
    return Text(item.text, [sentence])


def _slot_mood(item: SlotSentence) -> str | None:
    if item.role == "assert":
        return "current"
    return {"past": "past", "plan": "plan", "hyp": "hyp", "remark": "none", "event": "none"}.get(item.style)


def plain_text(text: str) -> Text:
    """Return a remark or request that states nothing as a labelled text."""
    return Text(text, [_whole(text, "ask" if text.rstrip().endswith("?") else "none")])


def all_strings(texts: Iterable[Text]) -> list[str]:
    return sorted({text.text for text in texts})
