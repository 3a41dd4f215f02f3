"""What recall told an agent comes back with the conversation. It is taken out before anything is made of the words.

Context of ours stands between `<memories>` and `</memories>`, begins with one of our headings, and has an item a line;
nothing inside can close it. Hosts wrap it, escape it, cut off either end or write other blanks, and agents quote single
items. Somebody who only writes about the tag is heard.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.errors import InvalidInput

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Unfenced:
    """Words without what recall had put among them, and how many stretches that were."""

    text: str
    taken: int = 0


def without_recalled(text: str) -> Unfenced:
    """The words with every stretch of recalled context taken out; all the rest is left as it was."""
    if "]" not in text and "memories" not in text.lower():
        return Unfenced(text)
    fenced = _joined(_fences(text))
    wrapped = [_with_wrapper(text, *span) for span in fenced]
    spans = _joined(_with_line_end(text, *span) for span in [*wrapped, *_items(text), *_begun_before(text)])
    return Unfenced(_left(text, spans), len(spans))


def own_words(text: str) -> str:
    """The words of a statement, which may not be nothing but what recall had told."""
    own = without_recalled(text)
    if not own.taken:
        return text
    if not own.text.strip():
        raise InvalidInput("there are no words to remember besides what recall had told")
    return own.text.strip()


def taken_out(taken: int) -> str:
    """One line for a receipt."""
    return f"{taken} recalled {'stretch was' if taken == 1 else 'stretches were'} taken out"


def _fences(text: str) -> Iterator[Span]:
    """Every block from its tag to the tag that closes it; one that was cut short goes as far as its lines are ours."""
    opened: list[int] = []
    for tag in _TAG.finditer(text):
        if tag["open"]:
            opened.append(tag.start())
        elif opened:
            yield opened.pop(), tag.end()
        else:
            yield from _torn(text, tag)
    reached = 0
    for start in opened:
        found = _CUT_SHORT.match(text, start) if start >= reached else None
        if found is not None:
            reached = found.end()
            yield found.span()


def _items(text: str) -> Iterator[Span]:
    """Every item that stands by itself, to the end of its line, and whole sections that have one."""
    for section in _SECTIONS.finditer(text):
        if _ITEM.search(text, *section.span()):
            yield section.span()
    yield from (found.span() for found in _ITEM.finditer(text))


def _begun_before(text: str) -> Iterator[Span]:
    """The first line of a text, where it is the rest of an item whose beginning is gone."""
    found = _REST_OF_ITEM.match(text)
    if found is not None:
        yield found.span()


def _torn(text: str, close: re.Match[str]) -> Iterator[Span]:
    """The end of a block whose beginning is gone: the tag and the lines of ours that lead up to it."""
    start = close.start()
    while start > 0 and text[start - 1] == "\n":
        line = text.rfind("\n", 0, start - 1) + 1
        if not _LINE.match(text, line, start):
            break
        start = line
    if start < close.start():
        yield start, close.end()


def _with_wrapper(text: str, start: int, end: int) -> Span:
    """The stretch together with the reminder a host put around it, or the words it put before it."""
    opens = text.rfind(_REMINDER, max(0, start - _WRAPPER), start)
    closes = text.find(_REMINDER_END, end, end + _WRAPPER)
    alone = opens >= 0 and closes >= 0 and text.find(_REMINDER_END, opens, start) < 0
    if alone and text.find(_REMINDER, end, closes) < 0:
        return opens, closes + len(_REMINDER_END)
    line = max(text.rfind("\n", max(0, start - _WRAPPER), start) + 1, start - _WRAPPER, 0)
    return (line if _LED_IN.fullmatch(text, line, start) else start), end


def _with_line_end(text: str, start: int, end: int) -> Span:
    """Without a line of its own left empty behind it."""
    found = _LINE_END.match(text, end) if start == 0 or text[start - 1] == "\n" else None
    return start, found.end() if found else end


def _joined(spans: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _left(text: str, spans: Iterable[Span]) -> str:
    parts, at = [], 0
    for start, end in spans:
        parts.append(text[at:start])
        at = end
    return "".join([*parts, text[at:]])


_BLANK = r"[^\S\n]"
"""Any blank but the end of a line: hosts write others than we did."""
_LESS = rf"(?:[<＜﹤‹]|&(?:amp;)?(?:lt|\#0*60|\#x0*3c);|\\{{1,4}}u003c|\\{{1,4}}x3c){_BLANK}{{0,2}}"
_MORE = rf"{_BLANK}{{0,2}}(?:[>＞﹥›]|&(?:amp;)?(?:gt|\#0*62|\#x0*3e);|\\{{1,4}}u003e|\\{{1,4}}x3e)"
_BREAK = r"(?:\r?\n|\\{1,4}n|<br\ ?/?>)"
_GAP = r"(?:\s|\\{1,4}[nrt]|[>|]|&gt;|<br\ ?/?>)*"
"""Between two of our lines: blanks, line ends also where they are escaped, and the marks of a quotation."""
_SECTION = rf"\#\#{_BLANK}+(?:core|workstream|profile|rules|facts|evidence|disputed)\b"
_EMPTY = rf"nothing{_BLANK}known|something{_BLANK}is{_BLANK}known,{_BLANK}but"
_REST = rf"(?:(?!{_BREAK})[^\n])*"
_OPEN = rf"{_LESS}memories{_MORE}(?={_GAP}(?:{_SECTION}|{_EMPTY}|{_LESS}\\{{0,4}}/{_BLANK}?memories))"
_CLOSE = rf"{_LESS}\\{{0,4}}/{_BLANK}?memories{_MORE}"
_LISTED = rf"-{_BLANK}+\[(?![\ xX]\])[^\]\n]*\](?!\()"
"""An item, and neither a box to tick nor a link."""
_OURS = rf"(?:{_SECTION}|{_EMPTY}|{_LISTED}){_REST}"
_DAY = r"\d{4}-\d\d-\d\d"
_HEAD = (
    rf"\[[0-7][0-9a-hjkmnp-tv-z]{{25}}{_BLANK}+(?:{'|'.join(Origin)}){_BLANK}+(?:{'|'.join(Status)}){_BLANK}+{_DAY}"
    r"[^\]\n]*\]"
)
"""What no person writes before a sentence."""
_HOW = re.IGNORECASE | re.VERBOSE
_TAG = re.compile(rf"(?P<open>{_OPEN})|{_CLOSE}", _HOW)
_CUT_SHORT = re.compile(rf"{_LESS}memories{_MORE}(?:{_GAP}{_OURS})*", _HOW)
_LINE = re.compile(rf"[\ \t>|]*(?:{_OURS})\s*", _HOW)
_ITEM = re.compile(
    rf"(?:^[\ \t>|]*)?[\"'*_`]{{0,4}}(?:(?:[-*+•]|\d{{1,3}}[.)]){_BLANK}{{1,4}})?[\"'*_`]{{0,4}}{_HEAD}{_REST}",
    _HOW | re.MULTILINE,
)
_SECTIONS = re.compile(rf"(?:^[\ \t>|]*{_SECTION}[^\n]*(?:\n[\ \t>|]*{_LISTED}[^\n]*)*\n?)+", _HOW | re.MULTILINE)
_REST_OF_ITEM = re.compile(
    rf"(?:…|\.\.\.)?[^\n\[\]]{{0,200}}(?:{_DAY}(?:;[^\n\[\]]*)?\]{_REST}|\][^\n]*\n(?=[\ \t>|]*(?:{_OURS}|{_CLOSE})))"
    rf"|{_BLANK}?\[[^\n\[\]]*\][^\n]*\n(?={_CLOSE})"
    rf"|(?:…|\.\.\.)[^\n]*\n(?=[\ \t>|]*(?:{_SECTION}|-{_BLANK}+{_HEAD}|{_CLOSE}))",
    _HOW,
)
_REMINDER, _REMINDER_END = "<system-reminder>", "</system-reminder>"
_LED_IN = re.compile(r"[ \t]*(?:\w+(?::\w+)? hook (?:success|(?:additional )?context|output|feedback)[^:\n]*:)[ \t]*")
_LINE_END = re.compile(r"\r?\n")
_WRAPPER = 4_000
"""Characters in which a host says what it wraps."""
