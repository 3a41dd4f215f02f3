"""Pasted chat transcripts: recognised by their speakers and times, and split into turns.

The format of the timestamps is inferred from all of them together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise

from lamina.atom.passage import is_role
from lamina.capture.pieces.piece import (
    TURN_LIMIT,
    TextPiece,
    find_code_fences,
    positions_outside,
    split_paragraphs,
    split_turn,
)

_AM_PM = r"(?:[ \u202f\u00a0]?[AaPp]\.?[Mm]\.?)?"
_CLOCK = rf"\d{{1,2}}:\d{{2}}(?::\d{{2}})?{_AM_PM}"
_DOTTED = rf"\d{{1,2}}[:.]\d{{2}}(?:[:.]\d{{2}})?{_AM_PM}"
_DATE = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2}))"
DATED_TIMESTAMP = (
    rf"(?:\d{{4}}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{{1,6}})?)?(?:Z|[+-]\d\d:?\d\d)?"
    rf"|{_DATE},?[ T]{{1,2}}{_DOTTED})"
)
"""A timestamp with a date. Only next to a date may the clock have a dot: 1.10 alone is a number."""
TIMESTAMP = rf"(?:{DATED_TIMESTAMP}|{_CLOCK})"

_ISO = re.compile(r"\d{4}-\d\d-\d\dT\S+")
_PARTS = re.compile(
    r"(?:(?P<one>\d{1,4})(?P<sign>[-/.])(?P<two>\d{1,2})[-/.](?P<three>\d{1,4}),?[ T]{1,2})?"
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?[ \u202f\u00a0]?(?P<half>[AaPp])?\.?[Mm]?\.?"
)


@dataclass(frozen=True, slots=True)
class _ParsedTimestamp:
    """A timestamp as parsed: the numbers of its date, its clock time, and how they are written."""

    numbers: tuple[int, int, int] | None
    has_dots: bool
    clock: time
    has_am_pm: bool


def has_day(timestamp: str) -> bool:
    """Return whether a timestamp contains a date."""
    return bool(_ISO.fullmatch(timestamp)) or bool((parts := _PARTS.fullmatch(timestamp)) and parts["one"])


def resolve_timestamps(timestamps: Sequence[str | None], day: date | None) -> list[datetime | None]:
    """Return the moment of each timestamp in UTC; None if it is missing or has no date and no `day` is given.

    Whether the month or the day comes first is inferred: from a number above 12, else from the order in which time runs
    forwards, else from AM and PM. Clock times without a date continue from `day`.
    """
    parsed = [_parse_timestamp(stamp) if stamp else None for stamp in timestamps]
    month_first = _is_month_first([item for item in parsed if isinstance(item, _ParsedTimestamp)])
    result: list[datetime | None] = []
    latest = datetime.combine(day, time.min, UTC) if day else None
    for item in parsed:
        if isinstance(item, _ParsedTimestamp):
            moment = _combine_date(item, month_first) if item.numbers else _next_time(item.clock, latest)
        else:
            moment = item
        latest = moment or latest
        result.append(moment)
    return result


def _parse_timestamp(timestamp: str) -> _ParsedTimestamp | datetime | None:
    if _ISO.fullmatch(timestamp):
        try:
            moment = datetime.fromisoformat(timestamp)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            return None
    parts = _PARTS.fullmatch(timestamp)
    clock = _parse_clock(parts) if parts else None
    if parts is None or clock is None:
        return None
    numbers = (int(parts["one"]), int(parts["two"]), int(parts["three"])) if parts["one"] else None
    return _ParsedTimestamp(numbers, parts["sign"] == ".", clock, parts["half"] is not None)


def _parse_clock(parts: re.Match[str]) -> time | None:
    hour, half = int(parts["hour"]), (parts["half"] or "").lower()
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    try:
        return time(hour, int(parts["minute"]), int(parts["second"] or 0))
    except ValueError:
        return None


def _is_month_first(timestamps: Sequence[_ParsedTimestamp]) -> bool:
    dated = [item for item in timestamps if item.numbers and item.numbers[0] < 100]
    if any(day.has_dots or (day.numbers and day.numbers[0] > 12) for day in dated):
        return False
    if any(day.numbers and day.numbers[1] > 12 for day in dated):
        return True
    forwards = {first: _runs_forwards([_combine_date(day, first) for day in dated]) for first in (True, False)}
    if forwards[True] != forwards[False]:
        return forwards[True]
    return any(day.has_am_pm for day in dated)


def _runs_forwards(moments: Sequence[datetime | None]) -> bool:
    dated = [moment for moment in moments if moment is not None]
    return all(earlier <= later for earlier, later in pairwise(dated))


def _combine_date(timestamp: _ParsedTimestamp, is_month_first: bool) -> datetime | None:
    """Return the moment of a timestamp with a date; None if there is no such day."""
    assert timestamp.numbers is not None
    first, second, third = timestamp.numbers
    if first > 99:
        year, month, day = first, second, third
    else:
        month, day = (first, second) if is_month_first else (second, first)
        year = third if third > 99 else 2000 + third
    try:
        return datetime.combine(date(year, month, day), timestamp.clock, UTC)
    except ValueError:
        return None


def _next_time(clock: time, last: datetime | None) -> datetime | None:
    """Return the next moment at which the clock shows this time.

    A step back of a few hours is disorder, a longer one means midnight has passed.
    """
    if last is None:
        return None
    moment = datetime.combine(last.date(), clock, UTC)
    back = last - moment
    return moment + timedelta(days=1) if back > timedelta(hours=6) and last.date() < date.max else moment


_NAME = r"[^\W\d_](?:[^\n:：*<>\[\]{}()=|`\"“”?!;#]|\((?:[^()\n]{1,20})\)){0,38}?"
_TILDE = "(?:~[ \u202f\u00a0]?)?"
_MARK = "[\u200e\u200f\u202a\u202c]*"
_SPEAKER_COLON = r"[:：](?=[ \t\n]|\Z|(?<=：))[ \t]*"

_STYLES: dict[str, re.Pattern[str]] = {
    # [1/5/24, 12:03:11 PM] +44 7700 900123: …   1/5/24, 12:03 - 🌸 Ann: …   Any name may follow a date and time.
    "dated": re.compile(
        rf"(?m)^{_MARK}(?:\[(?P<in>{DATED_TIMESTAMP})\] ?|(?P<at>{DATED_TIMESTAMP}) +[-–] +)"
        rf"{_MARK}(?P<who>[^\s:][^\n:]{{0,48}}?){_SPEAKER_COLON}"
    ),
    # [12:03] Ann: …   [1/5/24, 12:03:11 PM] Ann: …
    "bracketed": re.compile(
        rf"(?m)^{_MARK}\[(?P<at>{TIMESTAMP})\]{_MARK} +<?(?P<who>{_TILDE}{_NAME})>?(?:{_SPEAKER_COLON}|(?<=>)[ \t]*)"
    ),
    # 1/5/24, 12:03 - Ann: …   2024-05-01 12:03 Ann: …   12:03 Ann: …
    "stamped": re.compile(
        rf"(?m)^{_MARK}(?P<at>{TIMESTAMP}) +(?:[-–—] +)?{_MARK}(?P<who>{_TILDE}{_NAME}){_SPEAKER_COLON}"
    ),
    # <ann> …   12:03 <ann> …
    "angled": re.compile(rf"(?m)^(?:\[?(?P<at>{TIMESTAMP})\]? +)?<[ @+~]?(?P<who>[^\W\d][\w|^`-]{{0,29}})>[ \t]+"),
    # **Ann** 10:02   **Ann:** …   **Ann**: …
    "bold": re.compile(
        rf"(?m)^\*\*(?P<who>{_NAME})(?::\*\*[ \t]*|\*\*"
        rf"(?:{_SPEAKER_COLON}|[ \t]+[(\[]?(?P<at>{TIMESTAMP})[)\]]?[ \t]*$|[ \t]*$))"
    ),
    # Ann  10:02 AM   Ann — 01/05/2024 10:02   Ann [10:02]
    "headed": re.compile(
        rf"(?m)^(?P<who>{_NAME})(?:[ \t]{{1,4}}|[ \t]+[-–—][ \t]+)[(\[]?(?P<at>{TIMESTAMP})[)\]]?[ \t]*$"
    ),
    # ## User   ### Assistant:
    "titled": re.compile(
        r"(?m)^#{1,6}[ \t]+(?P<who>(?i:user|human|assistant|chatgpt|claude|gemini|ai|bot|you)):?[ \t]*$"
    ),
    # Ann: …   User: …
    "named": re.compile(rf"(?m)^(?P<who>@?{_NAME}){_SPEAKER_COLON}"),
}
_BRACKETS = ("bracketed", "angled")
_STRICT = ("bracketed", "titled")
_NOTICE = re.compile(rf"(?m)^{_MARK}(?P<at>{DATED_TIMESTAMP}) +[-–] +(?=\S)")

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
_MAX_NAME_WORDS = 4
_INTRODUCTION_DIVISOR = 3
"""The text before the first turn is at most the whole text divided by this."""
_SCANNED_CHARS = 65_536


@dataclass(frozen=True, slots=True)
class _TurnStart:
    start: int
    text_start: int
    speaker: str | None
    timestamp: str | None


def is_chat(text: str, *, is_strict: bool = False) -> bool:
    """Return whether a text is a transcript: a few speakers who alternate, or turns with timestamps.

    `is_strict` is for markdown, where bold labels and lines with a colon are common: only roles and timestamps count
    there.
    """
    return bool(_find_turn_starts(text[:_SCANNED_CHARS], is_strict=is_strict))


def split_chat(text: str, day: date | None = None) -> Iterator[TextPiece]:
    """Yield the turns of a transcript, verbatim; a timestamp without a date stays in the text unless `day` is given."""
    starts = _find_turn_starts(text) or _find_turn_starts(text, is_lenient=True)
    if not starts:
        yield from split_paragraphs(text)
        return
    yield from split_paragraphs(text[: starts[0].start])
    times = resolve_timestamps([start.timestamp for start in starts], day)
    ends = [*(start.start for start in starts[1:]), len(text)]
    for start, end, at in zip(starts, ends, times, strict=True):
        words = text[start.text_start : end].strip("\n")
        if start.timestamp and at is None:
            words = f"[{start.timestamp}] {words}"
        yield from (TextPiece(part, start.speaker, at) for part in split_turn(words, TURN_LIMIT))


def _find_turn_starts(text: str, *, is_strict: bool = False, is_lenient: bool = False) -> list[_TurnStart]:
    """Return where turns start, in the one style that most of the text follows."""
    code_spans = find_code_fences(text, only_closed=True)
    best: list[_TurnStart] = []
    for style, pattern in _STYLES.items():
        starts = _match_style(style, pattern, text, code_spans)
        is_sure = not is_strict or style in _STRICT or _all_have_times(starts) or _are_all_roles(starts)
        fits = bool(starts) if is_lenient else is_sure and _is_convincing(style, starts, text)
        if fits and len(starts) > len(best):
            best = [*starts, *_find_notices(text, starts)] if style == "dated" else starts
    return sorted(best, key=lambda start: start.start)


def _match_style(
    style: str, pattern: re.Pattern[str], text: str, code_spans: Sequence[tuple[int, int]]
) -> list[_TurnStart]:
    """Return the turn starts of one style, outside of code."""
    starts = []
    for match in pattern.finditer(text):
        speaker, groups = match["who"].strip(), match.groupdict()
        if _is_name(speaker) or (style == "dated" and not _LOG_WORD.search(speaker)):
            name = speaker.lstrip("~@ \u202f\u00a0")
            starts.append(_TurnStart(match.start(), match.end(), name, groups.get("in") or groups.get("at")))
    if code_spans:
        outside_code = set(positions_outside([start.start for start in starts], code_spans))
        starts = [start for start in starts if start.start in outside_code]
    roles = [start for start in starts if is_role(start.speaker)]
    return roles if len({start.speaker for start in roles}) > 1 else starts


def _is_name(name: str) -> bool:
    """Return whether a label can be the name of a speaker, and not a field name or a log level."""
    words = name.split()
    if not words or len(words) > _MAX_NAME_WORDS or name.casefold() in _LABELS or _LOG_WORD.search(name):
        return False
    if name.endswith((",", ".", "-")) and not name.endswith(("Jr.", "Sr.")):
        return False
    return is_role(name) or len(words) == 1 or not any(word[0].islower() and len(word) > 3 for word in words)


def _is_convincing(style: str, starts: Sequence[_TurnStart], text: str) -> bool:
    """Return whether these turn starts make the text a transcript."""
    if len(starts) < 2 or not _have_words(starts, text):
        return False
    speakers = Counter(start.speaker for start in starts)
    if _all_have_times(starts) and all(has_day(start.timestamp or "") for start in starts):
        return True
    if len(speakers) < 2:
        return style in _BRACKETS and len(starts) > 2
    if style in _BRACKETS or (style == "bold" and _all_have_times(starts)):
        return True
    if _all_have_times(starts):
        return len(speakers) < len(starts)
    if _are_all_roles(starts):
        return _start_early(starts, text)
    return (
        all(_is_capitalised(start.speaker) for start in starts)
        and _alternate(starts, speakers)
        and _cover_text(starts, text)
    )


def _all_have_times(starts: Sequence[_TurnStart]) -> bool:
    return all(start.timestamp for start in starts)


def _have_words(starts: Sequence[_TurnStart], text: str) -> bool:
    """Return whether most turns have words; the lines of a timetable have none."""
    ends = [*(start.start for start in starts[1:]), len(text)]
    empty_turns = sum(1 for start, end in zip(starts, ends, strict=True) if not text[start.text_start : end].strip())
    return empty_turns * 2 <= len(starts)


def _alternate(starts: Sequence[_TurnStart], speakers: Counter[str | None]) -> bool:
    """Return whether the same names come again and alternate, as the fields of a form do not."""
    repeated_speakers = sum(1 for count in speakers.values() if count > 1)
    changes = sum(1 for before, after in pairwise(starts) if before.speaker != after.speaker)
    return (
        len(speakers) * 3 <= len(starts) * 2
        and repeated_speakers * 2 >= len(speakers)
        and changes * 2 >= len(starts) - 1
    )


def _cover_text(starts: Sequence[_TurnStart], text: str) -> bool:
    """Return whether turns cover the text: from its beginning, or every other line after an introduction."""
    if not text[: starts[0].start].strip():
        return True
    lines = sum(1 for line in text[starts[0].start :].split("\n") if line.strip())
    return _start_early(starts, text) and len(starts) > 2 and len(starts) * 2 >= lines


def _start_early(starts: Sequence[_TurnStart], text: str) -> bool:
    before = text[: starts[0].start]
    return not before.strip() or len(before) * _INTRODUCTION_DIVISOR <= len(text)


def _are_all_roles(starts: Sequence[_TurnStart]) -> bool:
    assistant_names = {"chatgpt", "claude", "gemini", "you"}
    return all(is_role(start.speaker) or (start.speaker or "").casefold() in assistant_names for start in starts)


def _is_capitalised(speaker: str | None) -> bool:
    return speaker is not None and not speaker[:1].islower()


def _find_notices(text: str, starts: Sequence[_TurnStart]) -> list[_TurnStart]:
    """Return lines that a chat program added by itself, with a time and no speaker."""
    taken = {start.start for start in starts}
    return [
        _TurnStart(match.start(), match.end(), None, match["at"])
        for match in _NOTICE.finditer(text)
        if match.start() not in taken
    ]
