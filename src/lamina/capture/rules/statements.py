"""What one sentence states: its clauses that assert something particular, each as a sentence that stands alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import takewhile

from lamina.atom.atom import Evidence
from lamina.atom.kinds import Durability
from lamina.capture.found import Finding
from lamina.capture.rules.alone import stands_alone
from lamina.capture.rules.claims import slot_of
from lamina.capture.rules.classes import Sort, sort_of
from lamina.capture.rules.concrete import addresses
from lamina.capture.rules.context import elliptic
from lamina.capture.rules.dates import Resolved, began, ends, resolve
from lamina.capture.rules.kinds import judge
from lamina.capture.rules.labels import labels
from lamina.capture.rules.occasions import untold
from lamina.capture.rules.people import introduced
from lamina.capture.rules.questions import may_wonder, wondered
from lamina.capture.rules.requests import asked
from lamina.capture.rules.rewrite import third
from lamina.capture.rules.slots import Slot
from lamina.capture.rules.tails import tail_cuts
from lamina.capture.rules.trim import trimmed
from lamina.capture.rules.vague import EVALUATIVE
from lamina.capture.rules.values import is_sound
from lamina.capture.rules.whole import is_whole
from lamina.capture.rules.worth import is_worth
from lamina.text.clauses import Clause, clauses
from lamina.text.closed import MONTHS, WEEKDAYS, is_english, word_set
from lamina.text.frames import Form, Frame, Subject, frame
from lamina.text.normal import one_line
from lamina.text.tokens import Token, TokenKind, tokens

_FEWEST_WORDS = 2
_MOST_WORDS = 45
_BEGINNING = re.compile(r"\b(?:since|from|as of|starting)\b")
_UNTIL = re.compile(r"\b(?:until|till|through)\b")
_READ_ON = frozenset({"hedge", "forget", "question"})
_SKIPPED_JOINERS = word_set("because which cause cuz coz though although hence whereas or since as while")
_CARRYING_JOINERS = frozenset({"so", "and", ",", "then"})
_POINTING = word_set("it its they their he she his her")
_RELATING = word_set("i we who that which whose where")
_PLANNING = word_set("schedule plan book set expect")
_INTENDING = word_set("plan hope want start begin promise")
_CORE = frozenset({"name", "birthplace", "allergy", "birthday", "partner", "language", "blood type"})


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who speaks, as sentences and claims name them, and who else may be called by name."""

    name: str
    key: str
    called: frozenset[str]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as said, by whom and when, and whether the one before it said that something was wrong."""

    text: str
    speaker: Speaker
    at: datetime
    evidence: Evidence
    correcting: bool = False


def statements(sentence: Sentence) -> list[Finding]:
    """Every statement a sentence makes; a correction that only names its value comes without content."""
    sort = sort_of(sentence.text)
    if not sort.asserts and (sort.why not in _READ_ON or (sort.why == "question" and not may_wonder(sentence.text))):
        return []
    found = tokens(sentence.text)
    words = [token.lower for token in found if not token.is_mark]
    if not words or not is_english(words):
        return []
    if sort.why == "question":
        content = wondered(sentence.text, found, sentence.speaker.name)
        return [_finding(sentence, content, "question", Slot(sentence.speaker.key), sort, found)] if content else []
    parts = clauses(found)
    if special := _special(sentence, found, parts, sort):
        return special
    if sort.why == "forget":
        return []
    if value := elliptic(sentence.text, found, correcting=sentence.correcting):
        return [Finding(content="", kind="correction", evidence=sentence.evidence, value=value, corrects=True)]
    return _of_clauses(sentence, found, parts, sort)


def _special(sentence: Sentence, found: Sequence[Token], parts: Sequence[Clause], sort: Sort) -> list[Finding]:
    """What a sentence that is no plain statement still states: a label's value, or a request that carries a fact."""
    told = labels(sentence.text, found, sentence.speaker.name) if sort.asserts else None
    for part in (*parts, Clause(tuple(found))):
        told = told or asked(sentence.text, part.tokens, sentence.speaker.name, sentence.speaker.key)
    return [_finding(sentence, told.content, told.kind, told.slot, sort, found)] if told else []


def _of_clauses(sentence: Sentence, found: Sequence[Token], parts: Sequence[Clause], sort: Sort) -> list[Finding]:
    """The statements of the clauses; one that points at the clause before it is told together with that."""
    stated: list[Finding] = []
    before: list[Finding] = []
    hedged = False
    for at, clause in enumerate(parts):
        joiner = clause.joiner.split(" ")[-1]
        own = sort if sort.asserts else sort_of(_text(sentence, clause.tokens))
        hedged = hedged or not own.asserts
        if joiner in _SKIPPED_JOINERS or not own.asserts or (hedged and joiner in _CARRYING_JOINERS):
            continue
        told = list(_of_clause(sentence, clause, own))
        if not told and at and sort.asserts and _leans(clause):
            first, last = parts[at - 1].tokens[0].start, clause.tokens[-1].end
            both = Clause(tuple(token for token in found if first <= token.start < last))
            told = list(_of_clause(sentence, both, own, whole=True))
            stated = [each for each in stated if not told or each not in before]
        stated += told
        before = told
    return stated


def _leans(clause: Clause) -> bool:
    """Whether a clause points back at the one before it and gives it a value."""
    if clause.tokens[0].lower not in _POINTING or any(token.lower in EVALUATIVE for token in clause.tokens):
        return False
    placed = len(clause.tokens) <= 7 and any(
        token.lower in ("in", "at", "on", "under", "by") for token in clause.tokens[2:3]
    )
    return placed or any(token.is_typed for token in clause.tokens)


def _of_clause(sentence: Sentence, clause: Clause, sort: Sort, *, whole: bool = False) -> Iterator[Finding]:
    """What one clause states: as much of it as stands alone, from its end inwards."""
    words = trimmed(clause.tokens, sentence.speaker.called)
    for said in [words] if whole else tail_cuts(words):
        taken = frame(said)
        if taken is None or addresses(said) or not _FEWEST_WORDS <= len(said) <= _MOST_WORDS:
            continue
        days = _days(sentence, said, taken)
        if stands_alone(said, taken, [(each.start, each.end) for each in days]):
            yield from _stated(sentence, said, taken, sort, days, slots=not whole)
            return


def _stated(
    sentence: Sentence, said: Sequence[Token], taken: Frame, sort: Sort, days: Sequence[Resolved], *, slots: bool
) -> Iterator[Finding]:
    judged = judge(said, taken, dated=bool(days), past=sort.past_state)
    if (
        judged is None
        or _is_fleeting(sentence, taken, days)
        or untold(said, taken)
        or not is_whole(said, taken, dated=bool(days))
        or not (judged.sure or is_worth(taken, [(each.start, each.end) for each in days]))
    ):
        return
    speaker = sentence.speaker
    content = third(said, speaker.name, days, taken)
    slot = None
    if slots and judged.claims and not sort.past_state:
        slot = slot_of(sentence.text, taken, speaker.key, days)
        slot = slot or (_routine(sentence, taken) if judged.kind == "habit" else None)
    kind = "fact" if judged.kind in ("preference", "habit") and slot is None else judged.kind
    finding = _finding(sentence, content, kind, slot or Slot(_subject(taken, speaker)), sort, said)
    yield _dated(replace(finding, confidence=judged.confidence), days, taken, sentence)
    for told, who in introduced(sentence.text, said, speaker.name, speaker.key):
        yield _finding(sentence, told, "relationship", who, sort, said)


def _is_fleeting(sentence: Sentence, taken: Frame, days: Sequence[Resolved]) -> bool:
    """Whether it tells of this very day what is so or will be: by tomorrow it is worth nothing."""
    if taken.form not in (Form.PRESENT, Form.PROGRESSIVE, Form.FUTURE) or len(days) != 1:
        return False
    said = sentence.text[max(0, days[0].start - 5) : days[0].end].lower()
    return said.endswith(("today", "tonight", "this morning", "this evening", "this afternoon")) and "from" not in said


def _routine(sentence: Sentence, taken: Frame) -> Slot | None:
    """What somebody does again and again is the value of a routine named by its verb."""
    words = [token for token in taken.rest if not token.is_mark]
    slot = Slot(sentence.speaker.key, f"{taken.verb} routine", _text(sentence, words)) if words else None
    return slot if slot and is_sound(slot) else None


def _subject(taken: Frame, speaker: Speaker) -> str:
    own = takewhile(lambda token: token.lower not in _RELATING, taken.subject)
    names = [token.text for token in own if token.kind is TokenKind.NAME and token.text[0].isalpha()]
    names = [name for name in names if name.lower() not in WEEKDAYS | MONTHS]
    return " ".join(names) if names and taken.kind is not Subject.SPEAKER else speaker.key


def _text(sentence: Sentence, found: Sequence[Token]) -> str:
    return one_line(sentence.text[found[0].start : found[-1].end])


def _days(sentence: Sentence, said: Sequence[Token], taken: Frame) -> list[Resolved]:
    """The days a clause names; read forward where it speaks of what is to come."""
    lasting = taken.form is Form.PRESENT
    planned = taken.passive and lasting and taken.verb in _PLANNING
    intends = taken.verb in _INTENDING and not (taken.form is Form.PAST and taken.verb in ("start", "begin"))
    ahead = planned or taken.form in (Form.FUTURE, Form.MODAL, Form.PROGRESSIVE) or intends
    first, last = said[0].start, said[-1].end
    own = taken.kind in (Subject.SPEAKER, Subject.OWNED) and (ahead or not lasting)
    found = resolve(sentence.text, sentence.at, ahead=ahead, habitual=lasting and not ahead, own=own)
    return [each for each in found if first <= each.start and each.end <= last]


def _dated(finding: Finding, days: Sequence[Resolved], taken: Frame, sentence: Sentence) -> Finding:
    """With the days it holds from or until; a day that a lasting state merely names is no beginning."""
    if not days:
        return finding
    first = days[0]
    led = sentence.text[max(0, first.start - 12) : first.end].lower()
    if _UNTIL.search(led):
        return replace(finding, valid_until=ends(first.days))
    if taken.form is Form.PRESENT and not _BEGINNING.search(led):
        return finding
    return replace(finding, valid_from=began(sentence.text, first))


def _finding(sentence: Sentence, content: str, kind: str, slot: Slot, sort: Sort, said: Sequence[Token]) -> Finding:
    """The statement with its slot; who somebody is stays, a kind's own durability holds for the rest."""
    return Finding(
        content=content,
        kind="correction" if sort.corrects and kind == "fact" else kind,
        evidence=sentence.evidence,
        subject=slot.subject,
        attribute=slot.attribute,
        value=slot.value,
        durability=Durability.CORE if slot.attribute in _CORE or kind == "relationship" else None,
        entities=entities(said),
        tags=tuple(tag for tag, holds in (("additive", sort.additive), ("change", sort.changes)) if holds),
        corrects=sort.corrects,
    )


def entities(said: Sequence[Token]) -> tuple[str, ...]:
    """The names among the tokens, those that stand side by side as one."""
    names: list[str] = []
    last_end = -2
    for token in said:
        if token.kind is not TokenKind.NAME:
            continue
        if names and token.start - last_end == 1:
            names[-1] += f" {token.text}"
        else:
            names.append(token.text)
        last_end = token.end
    return tuple(dict.fromkeys(names))
