"""Pasted chat transcripts: recognised by their speakers and times, and split into turns."""

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
    # [1/5/24, 12:03:11 PM] +44 7700 900123: …   1/5/24, 12:03 - 🌸 Ann: …   Any name may follow a date and time.
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
"""The text before the first turn is at most the whole text divided by this."""
_LOOKED_AT = 65_536


@dataclass(frozen=True, slots=True)
class _Start:
    at: int
    words: int
    speaker: str | None
    stamp: str | None


def is_chat(text: str, *, strict: bool = False) -> bool:
    """Return whether a text is a transcript: a few speakers who alternate, or turns with timestamps.

    `is_strict` is for markdown, where bold labels and lines with a colon are common: only roles and timestamps count
    there.
    """
    return bool(_starts(text[:_LOOKED_AT], strict=strict))


def chat(text: str, on: date | None = None) -> Iterator[Piece]:
    """Yield the turns of a transcript, verbatim; a timestamp without a date stays in the text unless `day` is given."""
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
        yield from (Piece(part, start.speaker, at) for part in cut_turn(words, TURN_LIMIT))


def _starts(text: str, *, strict: bool = False, lenient: bool = False) -> list[_Start]:
    """Return where turns start, in the one style that most of the text follows."""
    code_spans = fences(text, closed=True)
    best: list[_Start] = []
    for style, pattern in _STYLES.items():
        starts = _found(style, pattern, text, code_spans)
        is_sure = not strict or style in _STRICT or _timed(starts) or _all_roles(starts)
        fits = bool(starts) if lenient else is_sure and _convinces(style, starts, text)
        if fits and len(starts) > len(best):
            best = [*starts, *_notices(text, starts)] if style == "dated" else starts
    return sorted(best, key=lambda start: start.at)


def _found(style: str, pattern: re.Pattern[str], text: str, code: Sequence[tuple[int, int]]) -> list[_Start]:
    """Return the turn starts of one style, outside of code."""
    starts = []
    for match in pattern.finditer(text):
        speaker, groups = match["who"].strip(), match.groupdict()
        if _is_name(speaker) or (style == "dated" and not _LOG_WORD.search(speaker)):
            name = speaker.lstrip("~@ \u202f\u00a0")
            starts.append(_Start(match.start(), match.end(), name, groups.get("in") or groups.get("at")))
    if code:
        outside_code = set(outside([start.at for start in starts], code))
        starts = [start for start in starts if start.at in outside_code]
    roles = [start for start in starts if is_role(start.speaker)]
    return roles if len({start.speaker for start in roles}) > 1 else starts


def _is_name(who: str) -> bool:
    """Return whether a label can be the name of a speaker, and not a field name or a log level."""
    words = who.split()
    if not words or len(words) > _MOST_WORDS or who.casefold() in _LABELS or _LOG_WORD.search(who):
        return False
    if who.endswith((",", ".", "-")) and not who.endswith(("Jr.", "Sr.")):
        return False
    return is_role(who) or len(words) == 1 or not any(word[0].islower() and len(word) > 3 for word in words)


def _convinces(style: str, found: Sequence[_Start], text: str) -> bool:
    """Return whether these turn starts make the text a transcript."""
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
    """Return whether most turns have words; the lines of a timetable have none."""
    ends = [*(start.at for start in found[1:]), len(text)]
    empty_turns = sum(1 for start, end in zip(found, ends, strict=True) if not text[start.words : end].strip())
    return empty_turns * 2 <= len(found)


def _take_turns(found: Sequence[_Start], speakers: Counter[str | None]) -> bool:
    """Return whether the same names come again and alternate, as the fields of a form do not."""
    repeated_speakers = sum(1 for count in speakers.values() if count > 1)
    changes = sum(1 for before, after in pairwise(found) if before.speaker != after.speaker)
    return (
        len(speakers) * 3 <= len(found) * 2 and repeated_speakers * 2 >= len(speakers) and changes * 2 >= len(found) - 1
    )


def _fills(found: Sequence[_Start], text: str) -> bool:
    """Return whether turns cover the text: from its beginning, or every other line after an introduction."""
    if not text[: found[0].at].strip():
        return True
    lines = sum(1 for line in text[found[0].at :].split("\n") if line.strip())
    return _begins_soon(found, text) and len(found) > 2 and len(found) * 2 >= lines


def _begins_soon(found: Sequence[_Start], text: str) -> bool:
    before = text[: found[0].at]
    return not before.strip() or len(before) * _INTRODUCTION <= len(text)


def _all_roles(found: Sequence[_Start]) -> bool:
    assistant_names = {"chatgpt", "claude", "gemini", "you"}
    return all(is_role(start.speaker) or (start.speaker or "").casefold() in assistant_names for start in found)


def _capital(speaker: str | None) -> bool:
    return speaker is not None and not speaker[:1].islower()


def _notices(text: str, found: Sequence[_Start]) -> list[_Start]:
    """Return lines that a chat program added by itself, with a time and no speaker."""
    taken = {start.at for start in found}
    return [
        _Start(match.start(), match.end(), None, match["at"])
        for match in _NOTICE.finditer(text)
        if match.start() not in taken
    ]
