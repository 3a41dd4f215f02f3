"""Pasted transcripts: who said what and when, told from prose that merely holds a colon."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from lamina.capture.pieces.fences import fences, outside
from lamina.capture.pieces.piece import TURN_LIMIT, Piece, cut_turn, paragraphs
from lamina.capture.pieces.stamps import DATED, STAMP, has_day, moments
from lamina.text.roles import is_role

_NAME = r"[^\W\d_](?:[^\n:：*<>\[\]{}()=|`\"“”?!;#]|\((?:[^()\n]{1,20})\)){0,38}?"
_TILDE = "(?:~[ \u202f\u00a0]?)?"
_MARK = "[\u200e\u200f\u202a\u202c]*"
_SAYS = r"[:：](?=[ \t\n]|\Z|(?<=：))[ \t]*"

_STYLES: dict[str, re.Pattern[str]] = {
    # [1/5/24, 12:03:11 PM] +44 7700 900123: …   1/5/24, 12:03 - 🌸 Ann: …   Beside a day and a clock anybody may stand.
    "dated": re.compile(
        rf"(?m)^{_MARK}(?:\[(?P<in>{DATED})\] ?|(?P<at>{DATED}) +[-–] +){_MARK}(?P<who>[^\s:][^\n:]{{0,48}}?){_SAYS}"
    ),
    # [12:03] Ann: …   [1/5/24, 12:03:11 PM] Ann: …
    "bracketed": re.compile(
        rf"(?m)^{_MARK}\[(?P<at>{STAMP})\]{_MARK} +<?(?P<who>{_TILDE}{_NAME})>?(?:{_SAYS}|(?<=>)[ \t]*)"
    ),
    # 1/5/24, 12:03 - Ann: …   2024-05-01 12:03 Ann: …   12:03 Ann: …
    "stamped": re.compile(rf"(?m)^{_MARK}(?P<at>{STAMP}) +(?:[-–—] +)?{_MARK}(?P<who>{_TILDE}{_NAME}){_SAYS}"),
    # <ann> …   12:03 <ann> …
    "angled": re.compile(rf"(?m)^(?:\[?(?P<at>{STAMP})\]? +)?<[ @+~]?(?P<who>[^\W\d][\w|^`-]{{0,29}})>[ \t]+"),
    # **Ann** 10:02   **Ann:** …   **Ann**: …
    "bold": re.compile(
        rf"(?m)^\*\*(?P<who>{_NAME})(?::\*\*[ \t]*|\*\*(?:{_SAYS}|[ \t]+[(\[]?(?P<at>{STAMP})[)\]]?[ \t]*$|[ \t]*$))"
    ),
    # Ann  10:02 AM   Ann — 01/05/2024 10:02   Ann [10:02]
    "headed": re.compile(rf"(?m)^(?P<who>{_NAME})(?:[ \t]{{1,4}}|[ \t]+[-–—][ \t]+)[(\[]?(?P<at>{STAMP})[)\]]?[ \t]*$"),
    # ## User   ### Assistant:
    "titled": re.compile(
        r"(?m)^#{1,6}[ \t]+(?P<who>(?i:user|human|assistant|chatgpt|claude|gemini|ai|bot|you)):?[ \t]*$"
    ),
    # Ann: …   User: …
    "named": re.compile(rf"(?m)^(?P<who>@?{_NAME}){_SAYS}"),
}
_BRACKETS = ("bracketed", "angled")
_STRICT = ("bracketed", "titled")
_NOTICE = re.compile(rf"(?m)^{_MARK}(?P<at>{DATED}) +[-–] +(?=\S)")

_FIELD_WORDS = """
    note notes warning caution tip hint example examples important todo fixme question answer q a problem solution
    title subject from to cc bcc date time day when where who what why how name names email e-mail mail phone tel mobile
    fax address city country website url link links source sources author authors version summary abstract introduction
    background conclusion result results input output expected actual steps step usage description status owner priority
    pros cons pro con action actions decision decisions agenda attendees present absent topic goal goals risk risks
    ingredients method directions serves total subtotal price cost amount quantity qty size color colour weight height
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september
    october november december today tomorrow yesterday morning afternoon evening error info debug warn trace fatal
    critical notice update edit ps p.s re fwd http https figure fig table chapter section part act scene
"""
_LABELS = frozenset(_FIELD_WORDS.split())
_LOG_WORD = re.compile(r"\b(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL|CRITICAL|NOTICE)\b")
_MOST_WORDS = 4
_INTRODUCTION = 3
"""What stands before the first turn is at most this part of the text."""
_LOOKED_AT = 65_536


@dataclass(frozen=True, slots=True)
class _Start:
    at: int
    words: int
    speaker: str | None
    stamp: str | None


def is_chat(text: str, *, strict: bool = False) -> bool:
    """Whether a text is a transcript: the same few speakers again and again, or turns with times before them.

    `strict` is for markdown, where bold labels and lines with a colon are ordinary: only roles and times count there.
    """
    return bool(_starts(text[:_LOOKED_AT], strict=strict))


def chat(text: str, on: date | None = None) -> Iterator[Piece]:
    """The turns of a transcript, words verbatim; a stamp without a day stays with the words unless `on` is given."""
    starts = _starts(text) or _starts(text, lenient=True)
    if not starts:
        yield from paragraphs(text)
        return
    yield from paragraphs(text[: starts[0].at])
    times = moments([start.stamp for start in starts], on)
    ends = [*(start.at for start in starts[1:]), len(text)]
    for start, end, at in zip(starts, ends, times, strict=True):
        words = text[start.words : end].strip("\n")
        if start.stamp and at is None:
            words = f"[{start.stamp}] {words}"
        yield from (Piece(each, start.speaker, at) for each in cut_turn(words, TURN_LIMIT))


def _starts(text: str, *, strict: bool = False, lenient: bool = False) -> list[_Start]:
    """Where turns start, in the one way of writing that most of the text follows."""
    code = fences(text, closed=True)
    best: list[_Start] = []
    for style, pattern in _STYLES.items():
        found = _found(style, pattern, text, code)
        sure = not strict or style in _STRICT or _timed(found) or _all_roles(found)
        fits = bool(found) if lenient else sure and _convinces(style, found, text)
        if fits and len(found) > len(best):
            best = [*found, *_notices(text, found)] if style == "dated" else found
    return sorted(best, key=lambda start: start.at)


def _found(style: str, pattern: re.Pattern[str], text: str, code: Sequence[tuple[int, int]]) -> list[_Start]:
    found = []
    for match in pattern.finditer(text):
        who, told = match["who"].strip(), match.groupdict()
        if _is_name(who) or (style == "dated" and not _LOG_WORD.search(who)):
            name = who.lstrip("~@ \u202f\u00a0")
            found.append(_Start(match.start(), match.end(), name, told.get("in") or told.get("at")))
    if code:
        kept = set(outside([start.at for start in found], code))
        found = [start for start in found if start.at in kept]
    roles = [start for start in found if is_role(start.speaker)]
    return roles if len({start.speaker for start in roles}) > 1 else found


def _is_name(who: str) -> bool:
    words = who.split()
    if not words or len(words) > _MOST_WORDS or who.casefold() in _LABELS or _LOG_WORD.search(who):
        return False
    if who.endswith((",", ".", "-")) and not who.endswith(("Jr.", "Sr.")):
        return False
    return is_role(who) or len(words) == 1 or not any(word[0].islower() and len(word) > 3 for word in words)


def _convinces(style: str, found: Sequence[_Start], text: str) -> bool:
    if len(found) < 2 or not _say_something(found, text):
        return False
    speakers = Counter(start.speaker for start in found)
    if _timed(found) and all(has_day(start.stamp or "") for start in found):
        return True
    if len(speakers) < 2:
        return style in _BRACKETS and len(found) > 2
    if style in _BRACKETS or (style == "bold" and _timed(found)):
        return True
    if _timed(found):
        return len(speakers) < len(found)
    if _all_roles(found):
        return _begins_soon(found, text)
    return all(_capital(start.speaker) for start in found) and _take_turns(found, speakers) and _fills(found, text)


def _timed(found: Sequence[_Start]) -> bool:
    return all(start.stamp for start in found)


def _say_something(found: Sequence[_Start], text: str) -> bool:
    """Whether most turns have words; the lines of a timetable have none."""
    ends = [*(start.at for start in found[1:]), len(text)]
    silent = sum(1 for start, end in zip(found, ends, strict=True) if not text[start.words : end].strip())
    return silent * 2 <= len(found)


def _take_turns(found: Sequence[_Start], speakers: Counter[str | None]) -> bool:
    """Whether the same names come again and answer each other, as the fields of a form do not."""
    again = sum(1 for count in speakers.values() if count > 1)
    changes = sum(1 for one, other in pairwise(found) if one.speaker != other.speaker)
    return len(speakers) * 3 <= len(found) * 2 and again * 2 >= len(speakers) and changes * 2 >= len(found) - 1


def _fills(found: Sequence[_Start], text: str) -> bool:
    """Whether turns are what the text is made of: from its beginning, or in every other line after a few words."""
    if not text[: found[0].at].strip():
        return True
    lines = sum(1 for line in text[found[0].at :].split("\n") if line.strip())
    return _begins_soon(found, text) and len(found) > 2 and len(found) * 2 >= lines


def _begins_soon(found: Sequence[_Start], text: str) -> bool:
    before = text[: found[0].at]
    return not before.strip() or len(before) * _INTRODUCTION <= len(text)


def _all_roles(found: Sequence[_Start]) -> bool:
    own = {"chatgpt", "claude", "gemini", "you"}
    return all(is_role(start.speaker) or (start.speaker or "").casefold() in own for start in found)


def _capital(speaker: str | None) -> bool:
    return speaker is not None and not speaker[:1].islower()


def _notices(text: str, found: Sequence[_Start]) -> list[_Start]:
    """Lines a chat program put in by itself, with a time and nobody who says them."""
    taken = {start.at for start in found}
    return [
        _Start(match.start(), match.end(), None, match["at"])
        for match in _NOTICE.finditer(text)
        if match.start() not in taken
    ]
