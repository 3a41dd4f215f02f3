"""Choose which occurrence is meant by a date that names no year or week: by the tense of its clause, then by nearness.

Where neither decides, none is chosen: a wrong date would place what was said at a time that nobody meant.
"""

from __future__ import annotations

import re
from datetime import date
from enum import Enum

from lamina.text.calendar_days import DAY, DateSpan, WeeklyDay, YearlyDays, compile_rule

_REACH = 200
"""The number of characters before and after a date that are searched for its sentence."""
_CLEARLY_NEARER = 2
"""How many times nearer one occurrence is than the other if nearness decides."""

_OTHER_CLOCKS = 2 * DAY
"""How far ahead a day may be that is past for the speaker: time zones differ, and clocks are wrong."""


class _Tense(Enum):
    """The time of a date by its clause, from verbs that leave no doubt to those that do."""

    PAST = "past"
    MAYBE_PAST = "maybe past"
    FUTURE = "future"
    MAYBE_FUTURE = "maybe future"
    EVERY_TIME = "every time"
    UNKNOWN = "unknown"


_DOUBTED = {tense: tense for tense in _Tense} | {_Tense.PAST: _Tense.MAYBE_PAST, _Tense.FUTURE: _Tense.MAYBE_FUTURE}

_IRREGULAR_PASTS = """
    was were did had went met saw took came gave left began broke brought built chose cost drank drove ate fell felt
    flew forgot froze grew heard held hit hurt kept knew learnt led lent lost made ran sang sat sent shot slept slid
    sold spent spoke stole stood swam taught thought threw understood woke won wore wrote rode rang rose shook struck
    tore found became fought hid hung laid lit sank sprang stuck swept wept bit blew drew bought got paid set said told
"""
_PAST_WORDS = frozenset(_IRREGULAR_PASTS.split())
_PLANNING_WORDS = """
    booked scheduled rescheduled planned arranged reserved set moved postponed pushed delayed shifted slipped agreed
    decided promised invited asked told confirmed fixed changed extended announced offered wanted hoped needed said
"""
_PLANS = frozenset(_PLANNING_WORDS.split())
"""Verbs in the past whose date may lie ahead: "they promised it by Friday"."""
_ACQUIRING_WORDS = "got bought ordered paid renewed signed made"
_ACQUIRED = frozenset(_ACQUIRING_WORDS.split())
"""The same before "for" and "to" only: "I bought tickets for 3 December"."""
_NO_PAST_WORDS = """
    need speed feed seed bed red indeed exceed proceed succeed shed wed hundred naked sacred advanced detailed limited
    interested excited worried related based motivated dedicated experienced complicated supposed
"""
_NO_PASTS = frozenset(_NO_PAST_WORDS.split())
_NOUNS_IN_ING = """
    morning evening building thing something anything everything nothing wedding meeting training ceiling king ring
    spring string during amazing interesting exciting charming boring opening hearing briefing
"""
_THINKING = "wondering thinking feeling trying considering asking struggling dealing reaching using working"
_WORD = re.compile(r"[\w']+", re.ASCII)
_BE = "am is are be being get gets i'm you're we're they're he's she's it's that's who's"
_HAVE = "have has i've you've we've they've haven't hasn't been"
_BEFORE_PARTICIPLES = frozenset(f"{_BE} {_HAVE}".split())
_FUTURE = compile_rule(
    r"\b(?:will|shall|won't|gonna|going\s+to|about\s+to|upcoming|\w+'ll|let's|tomorrow)\b"
    r"|\b(?:plan|plans|planning|hope|hopes|hoping|want|wants|intend|intends|mean|means|need|needs|would\s+like|'d\s+like)"
    r"\s+to\b|\b(?:looking\s+forward|can't\s+wait|due(?!\s+to)|deadline|expires?|remind|remember\s+to|don't\s+forget|must)\b"
)
_CONTINUOUS = compile_rule(
    r"(?:\b(?:am|is|are|isn't|aren't)|'m|'re|'s)\s+(?:\w+\s+){0,2}?(?!(?:"
    + "|".join([*_NOUNS_IN_ING.split(), *_THINKING.split()])
    + r")\b)"
    r"\w{2,}ing\b"
)
_PRESENT = compile_rule(
    r"\b(?:am|is|are|have|has|do|does|can|can't|should|could|may|might|isn't|aren't)\b|'(?:m|re|ve|s)\b"
    r"|\b(?:starts?|begins?|leaves?|opens?|ends?|comes?|goes|runs?|takes?|flies|falls?|arrives?|returns?|moves?)\b"
)
_EVERY_TIME = compile_rule(
    r"\b(?:birthday|anniversary|every|each|always|usually|annual(?:ly)?|yearly|most\s+years|name\s+day)\b"
)
_BIRTH = compile_rule(r"\bborn\b")
_TARGET = compile_rule(r"\b(for|to|until|till|by|from|starting|beginning|of)\s+(?:the\s+)?\Z")
_OTHER_ACTION = compile_rule(
    r"\b(?:to\s+(?!the\b|a\b|an\b|my\b|our\b)[a-z]+\s+|that|which|whether|how|if|(?:after|before)(?!\s*\Z)|since|this|over|for|"
    r"(?!(?:" + "|".join(_NOUNS_IN_ING.split()) + r")\b)\w{3,}ing)\b"
)
_ONLY_PREPOSITION = re.compile(r"\s*(?:\w+\s+)?", re.ASCII)
_CLAUSE_END = re.compile(
    r"[,;:()]|\s-\s|\b(?:and|but|so|because|while|then|though|although)\b", re.ASCII | re.IGNORECASE
)
_SENTENCE_END = re.compile(r"[.?!;](?=\s|\Z)|[\n|]", re.ASCII)


def choose_occurrence(days: YearlyDays | WeeklyDay, text: str, start: int, end: int, today: date) -> DateSpan | None:
    """Return the occurrence that a date at `start` to `end` of a text means, said on a day; None if that is unsure."""
    last, coming = days.latest_begun(today), days.next_after(today)
    tense = _find_tense(text, start, end)
    if tense is _Tense.EVERY_TIME:
        return None
    if last is not None and today < last[1]:
        return last
    if tense is _Tense.PAST and isinstance(days, YearlyDays) and coming and coming[0] - today <= _OTHER_CLOCKS:
        return None
    if tense is _Tense.PAST or coming is None:
        return last
    if tense is _Tense.FUTURE or last is None:
        return coming
    if isinstance(days, WeeklyDay):
        return {_Tense.MAYBE_PAST: last, _Tense.MAYBE_FUTURE: coming}.get(tense)
    since, until = (today - last[1]).days + 1, (coming[0] - today).days
    if _CLEARLY_NEARER * until <= since:
        return coming if tense is not _Tense.MAYBE_PAST else None
    if _CLEARLY_NEARER * since <= until:
        return last if tense is not _Tense.MAYBE_FUTURE else None
    return {_Tense.MAYBE_PAST: last, _Tense.MAYBE_FUTURE: coming}.get(tense)


def _find_tense(text: str, start: int, end: int) -> _Tense:
    """Return the tense of the clause of a date, which is the next one after "In May,"; else that of its sentence.

    Another clause of the sentence may be about another time, so its tense leaves a doubt.
    """
    before = _SENTENCE_END.split(text[max(0, start - _REACH) : start])[-1]
    after = _SENTENCE_END.split(text[end : end + _REACH], maxsplit=1)[0]
    target = _TARGET.search(before)
    preposition = target[1].lower() if target else ""
    before_date, after_date = _CLAUSE_END.split(before)[-1], _CLAUSE_END.split(after, maxsplit=2)
    if _ONLY_PREPOSITION.fullmatch(before_date) and not after_date[0].strip():
        after_date[0] = " ".join(after_date[:2])
    tense = _tense_of(before_date, after_date[0], preposition)
    return tense if tense is not _Tense.UNKNOWN else _DOUBTED[_tense_of(before, after, preposition)]


def _tense_of(before: str, after: str, target: str) -> _Tense:
    """Return the tense of the words around a date, given the preposition by which it is a target, as in "until May".

    A verb leaves a doubt if other words between it and the date may be what the date belongs to.
    """
    words = f"{before} , {after}"
    pasts = _past_verbs(words)
    sure_pasts = [verb for verb in pasts if _stem(verb) not in _PLANS and not (target and _stem(verb) in _ACQUIRED)]
    futures = [*_FUTURE.finditer(words), *_CONTINUOUS.finditer(words)]
    if _BIRTH.search(words):
        return _Tense.EVERY_TIME
    if futures or sure_pasts:
        if (futures and sure_pasts) or (sure_pasts and target in ("for", "by")):
            return _Tense.UNKNOWN
        tense = _Tense.FUTURE if futures else _Tense.PAST
        is_sure = any(_is_beside(words, cue, len(before)) for cue in futures or sure_pasts)
        return tense if is_sure else _DOUBTED[tense]
    if _EVERY_TIME.search(words):
        return _Tense.EVERY_TIME
    if pasts:
        return _Tense.MAYBE_FUTURE if target else _Tense.MAYBE_PAST
    return _Tense.MAYBE_FUTURE if _PRESENT.search(words) else _Tense.UNKNOWN


def _is_beside(words: str, verb: re.Match[str], date_at: int) -> bool:
    """Return whether nothing between a verb and the date introduces another action."""
    between = words[verb.end() : date_at] if verb.end() <= date_at else words[date_at + 3 : verb.start()]
    return not _OTHER_ACTION.search(between)


def _past_verbs(words: str) -> list[re.Match[str]]:
    """Return the verbs in the past tense, without names and participles such as "is scheduled"."""
    pasts: list[re.Match[str]] = []
    previous: list[str] = []
    for match in _WORD.finditer(words):
        word = match.group().lower()
        is_name = bool(previous) and match.group()[0].isupper()
        is_regular = len(word) > 3 and word.endswith("ed") and word not in _NO_PASTS and not is_name
        is_past = is_regular or _stem(match) in _PAST_WORDS
        if is_past and _BEFORE_PARTICIPLES.isdisjoint(previous[-2:]):
            pasts.append(match)
        previous.append(word)
    return pasts


def _stem(verb: re.Match[str]) -> str:
    return verb.group().lower().removesuffix("n't")
