"""Read and check annotated chats, the training data of the state model.

A chat is a block of lines::

    # ID | voice and situation | speaker name
    ## 2026-01-04                        a session and its day
    3 | text of the turn | annotation    turns are numbered through the whole chat; no " | " inside the text
    ? question | answering turns | kind  newest first, for example 14 or 14,3 or none

An annotation is "-" (the turn states nothing lasting) or facts and requests separated by " ; ".

A fact is ``owner/attribute=value FLAGS``. The owner is "me", a name or a thing; the value consists of words of the
turn, or is "yes" or "no" for a state that began or ended. Flags:

    !      states the value as current now        +      one more value beside the others
    >N     replaces what turn N said              x>N    corrects what turn N said wrongly
    =N     repeats what turn N said
    ~past ~plan ~hyp ~joke ~quote ~ask            mentions the slot without asserting a current value

A request is one of:

    @forget>N    asks to forget or delete what turn N said (several numbers: @forget>3,7)
    @nokeep      asks not to keep this very turn         @nokeep>N    or what turn N said a moment ago
    @secret      the turn holds a password, access code, PIN or login

Usage: python -m training.chat_format FILE.txt ...
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

QUESTION_KINDS = frozenset(["current", "past", "event", "when", "why", "list", "first", "yesno", "unknown", "other"])
MOODS = frozenset(["past", "plan", "hyp", "joke", "quote", "ask"])
_FACT = re.compile(
    r"^(?P<owner>[^/=]+)/(?P<attribute>[^=]+)=(?P<value>.*?)(?P<flags>(?:\s+(?:!|\+|~\w+|x?>[\d,]+|=\d+))*)$"
)
_REQUEST = re.compile(r"^@(?P<name>forget|nokeep|secret)(?:>(?P<targets>\d+(?:,\d+)*))?$")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(slots=True)
class Fact:
    owner: str
    attribute: str
    value: str
    is_current: bool = False
    adds: bool = False
    mood: str | None = None
    replaces: list[int] = field(default_factory=list)
    corrects: list[int] = field(default_factory=list)
    repeats: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Request:
    name: str
    targets: list[int]


@dataclass(slots=True)
class Turn:
    number: int
    day: str
    session: int
    text: str
    facts: list[Fact]
    requests: list[Request]


@dataclass(slots=True)
class Question:
    text: str
    gold: list[int]
    kind: str


@dataclass(slots=True)
class AnnotatedChat:
    id: str
    voice: str
    speaker: str
    turns: list[Turn] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)


def read_chats(path: Path) -> tuple[list[AnnotatedChat], list[str]]:
    """Return the chats of one file and a message for each malformed line."""
    chats: list[AnnotatedChat] = []
    errors: list[str] = []
    day, session = "", -1
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("//"):
            continue
        try:
            if line.startswith("## "):
                day, session = _read_day(line), session + 1
            elif line.startswith("# "):
                chats.append(_read_head(line))
                session = -1
            elif not chats:
                raise ValueError("a line before the first chat")
            elif line.startswith("? "):
                chats[-1].questions.append(_read_question(line, {turn.number for turn in chats[-1].turns}))
            else:
                chats[-1].turns.append(_read_turn(line, chats[-1], day, session))
        except ValueError as error:
            errors.append(f"{path.name}:{number}: {error}: {line[:90]}")
    return chats, errors


def _read_day(line: str) -> str:
    day = line[3:].strip()
    if not _DAY.fullmatch(day):
        raise ValueError("a session needs a day like 2026-01-04")
    return day


def _read_head(line: str) -> AnnotatedChat:
    parts = [part.strip() for part in line[2:].split(" | ")]
    if len(parts) != 3:
        raise ValueError("a chat head is '# ID | voice | speaker'")
    chat_id, voice, speaker = parts
    return AnnotatedChat(chat_id, voice, speaker)


def _read_question(line: str, known_turns: set[int]) -> Question:
    parts = [part.strip() for part in line[2:].split(" | ")]
    if len(parts) != 3 or parts[2] not in QUESTION_KINDS:
        raise ValueError("a question is '? text | turns | kind'")
    gold = [] if parts[1] == "none" else [int(part) for part in parts[1].split(",")]
    if not known_turns.issuperset(gold):
        raise ValueError("an answering turn does not exist")
    return Question(parts[0], gold, parts[2])


def _read_turn(line: str, chat: AnnotatedChat, day: str, session: int) -> Turn:
    parts = [part.strip() for part in line.split(" | ")]
    if len(parts) != 3 or not parts[0].isdigit():
        raise ValueError("a turn is 'number | text | annotation'")
    turn = Turn(int(parts[0]), day, session, parts[1], [], [])
    known = {earlier.number for earlier in chat.turns}
    if turn.number in known:
        raise ValueError("this turn number occurs twice")
    if not day:
        raise ValueError("a turn before the first session")
    for piece in [] if parts[2] == "-" else parts[2].split(" ; "):
        if request := _REQUEST.match(piece.strip()):
            targets = [int(target) for target in (request["targets"] or "").split(",") if target]
            turn.requests.append(Request(request["name"], targets))
            _check_targets(targets, known)
        else:
            turn.facts.append(_read_fact(piece.strip(), turn.text, known))
    return turn


def _read_fact(piece: str, text: str, known_turns: set[int]) -> Fact:
    match = _FACT.match(piece)
    if not match:
        raise ValueError(f"not a fact: '{piece}'")
    fact = Fact(match["owner"].strip(), match["attribute"].strip(), match["value"].strip())
    for flag in match["flags"].split():
        if flag == "!":
            fact.is_current = True
        elif flag == "+":
            fact.adds = True
        elif flag.startswith("~"):
            fact.mood = flag[1:]
            if fact.mood not in MOODS:
                raise ValueError(f"unknown mood {flag}")
        else:
            targets = [int(target) for target in re.findall(r"\d+", flag)]
            _check_targets(targets, known_turns)
            links = fact.corrects if flag.startswith("x>") else fact.replaces if flag.startswith(">") else fact.repeats
            links.extend(targets)
    if fact.value.lower() not in {"yes", "no"} and fact.value.lower() not in text.lower():
        raise ValueError(f"the value '{fact.value}' is not in the turn")
    return fact


def _check_targets(targets: list[int], known_turns: set[int]) -> None:
    if not known_turns.issuperset(targets):
        raise ValueError(f"a link to a turn that does not exist yet: {targets}")


def main() -> int:
    """Print every error and the size of the data; exit 1 if there is an error."""
    chats: list[AnnotatedChat] = []
    errors: list[str] = []
    for name in sys.argv[1:]:
        file_chats, file_errors = read_chats(Path(name))
        chats += file_chats
        errors += file_errors
    turns = [turn for chat in chats for turn in chat.turns]
    facts = [fact for turn in turns for fact in turn.facts]
    for error in errors[:40]:
        print(error)
    print(
        {
            "chats": len(chats),
            "turns": len(turns),
            "plain": sum(not turn.facts for turn in turns),
            "current": sum(fact.is_current for fact in facts),
            "changes": sum(bool(fact.replaces or fact.corrects) for fact in facts),
            "moods": sum(bool(fact.mood) for fact in facts),
            "requests": sum(len(turn.requests) for turn in turns),
            "questions": sum(len(chat.questions) for chat in chats),
            "errors": len(errors),
        }
    )
    return int(bool(errors))


if __name__ == "__main__":
    raise SystemExit(main())
