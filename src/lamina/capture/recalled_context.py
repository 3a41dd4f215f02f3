"""Removal of recalled context: an agent sends back what recall returned as part of the conversation.

Our context is enclosed in `<memories>` and `</memories>`, begins with one of our headings and has one item per line;
nothing inside can close it. Hosts wrap it, escape it, cut off either end or change the spaces, and agents quote single
items. Text that only mentions the tag is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lamina.atom.provenance import Origin
from lamina.atom.status import Status
from lamina.errors import InvalidInput

TextSpan = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ContextFreeText:
    """Text without recalled context, and the number of blocks that were removed."""

    text: str
    removed_blocks: int = 0


def remove_recalled_context(text: str) -> ContextFreeText:
    """Return the text with every block of recalled context removed; the rest is unchanged."""
    if "]" not in text and "memories" not in text.lower():
        return ContextFreeText(text)
    blocks = _merge_spans(_find_blocks(text))
    wrapped_blocks = [_extend_to_wrapper(text, *span) for span in blocks]
    spans = _merge_spans(
        _extend_to_line_end(text, *span)
        for span in [*wrapped_blocks, *_find_items(text), *_find_leading_fragment(text)]
    )
    return ContextFreeText(_remove_spans(text, spans), len(spans))


def require_own_words(text: str) -> str:
    """Return the text of a statement without recalled context; InvalidInput if nothing is left."""
    cleaned = remove_recalled_context(text)
    if not cleaned.removed_blocks:
        return text
    if not cleaned.text.strip():
        raise InvalidInput("there are no words to remember besides recalled context")
    return cleaned.text.strip()


def describe_removal(removed_blocks: int) -> str:
    """Return one line for a receipt."""
    return f"{removed_blocks} {'block' if removed_blocks == 1 else 'blocks'} of recalled context removed"


def _find_blocks(text: str) -> Iterator[TextSpan]:
    """Yield the span of every block, from the opening to the closing tag.

    A block without an end extends over the lines that are in our format.
    """
    open_starts: list[int] = []
    for tag in _TAG.finditer(text):
        if tag["open"]:
            open_starts.append(tag.start())
        elif open_starts:
            yield open_starts.pop(), tag.end()
        else:
            yield from _find_torn_block(text, tag)
    end = 0
    for start in open_starts:
        match = _CUT_SHORT.match(text, start) if start >= end else None
        if match is not None:
            end = match.end()
            yield match.span()


def _find_items(text: str) -> Iterator[TextSpan]:
    """Yield the spans of single items, to the end of the line, and of whole sections that contain one."""
    for section in _SECTIONS.finditer(text):
        if _ITEM.search(text, *section.span()):
            yield section.span()
    yield from (match.span() for match in _ITEM.finditer(text))


def _find_leading_fragment(text: str) -> Iterator[TextSpan]:
    """Yield the first line of a text if it is the rest of an item whose beginning is missing."""
    match = _REST_OF_ITEM.match(text)
    if match is not None:
        yield match.span()


def _find_torn_block(text: str, close: re.Match[str]) -> Iterator[TextSpan]:
    """Yield the end of a block whose beginning is missing: the tag and the lines of ours before it."""
    start = close.start()
    while start > 0 and text[start - 1] == "\n":
        line = text.rfind("\n", 0, start - 1) + 1
        if not _LINE.match(text, line, start):
            break
        start = line
    if start < close.start():
        yield start, close.end()


def _extend_to_wrapper(text: str, start: int, end: int) -> TextSpan:
    """Return the span extended by the reminder tags or the header line that a host put around it."""
    wrapper_start = text.rfind(_REMINDER, max(0, start - _MAX_WRAPPER_CHARS), start)
    wrapper_end = text.find(_REMINDER_END, end, end + _MAX_WRAPPER_CHARS)
    is_wrapped = wrapper_start >= 0 and wrapper_end >= 0 and text.find(_REMINDER_END, wrapper_start, start) < 0
    if is_wrapped and text.find(_REMINDER, end, wrapper_end) < 0:
        return wrapper_start, wrapper_end + len(_REMINDER_END)
    line_start = max(text.rfind("\n", max(0, start - _MAX_WRAPPER_CHARS), start) + 1, start - _MAX_WRAPPER_CHARS, 0)
    return (line_start if _HOOK_HEADER.fullmatch(text, line_start, start) else start), end


def _extend_to_line_end(text: str, start: int, end: int) -> TextSpan:
    """Return the span extended by the line end after it, if it begins a line, so that no empty line is left."""
    line_end = _LINE_END.match(text, end) if start == 0 or text[start - 1] == "\n" else None
    return start, line_end.end() if line_end else end


def _merge_spans(spans: Iterable[TextSpan]) -> list[TextSpan]:
    """Return the spans in order, overlapping ones merged."""
    merged: list[TextSpan] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _remove_spans(text: str, spans: Iterable[TextSpan]) -> str:
    parts, at = [], 0
    for start, end in spans:
        parts.append(text[at:start])
        at = end
    return "".join([*parts, text[at:]])


_BLANK = r"[^\S\n]"
"""Any space but a line end: hosts write other spaces than we do."""
_LESS = rf"(?:[<＜﹤‹]|&(?:amp;)?(?:lt|\#0*60|\#x0*3c);|\\{{1,4}}u003c|\\{{1,4}}x3c){_BLANK}{{0,2}}"
_MORE = rf"{_BLANK}{{0,2}}(?:[>＞﹥›]|&(?:amp;)?(?:gt|\#0*62|\#x0*3e);|\\{{1,4}}u003e|\\{{1,4}}x3e)"
_BREAK = r"(?:\r?\n|\\{1,4}n|<br\ ?/?>)"
_GAP = r"(?:\s|\\{1,4}[nrt]|[>|]|&gt;|<br\ ?/?>)*"
"""Between two of our lines: spaces, line ends even if escaped, and quotation marks of mail."""
_SECTION = rf"\#\#{_BLANK}+(?:core|workstream|profile|rules|facts|evidence|disputed)\b"
_EMPTY = rf"nothing{_BLANK}known|something{_BLANK}is{_BLANK}known,{_BLANK}but"
_REST = rf"(?:(?!{_BREAK})[^\n])*"
_OPEN = rf"{_LESS}memories{_MORE}(?={_GAP}(?:{_SECTION}|{_EMPTY}|{_LESS}\\{{0,4}}/{_BLANK}?memories))"
_CLOSE = rf"{_LESS}\\{{0,4}}/{_BLANK}?memories{_MORE}"
_LISTED = rf"-{_BLANK}+\[(?![\ xX]\])[^\]\n]*\](?!\()"
"""An item, and neither a checkbox nor a link."""
_CONTEXT_LINE = rf"(?:{_SECTION}|{_EMPTY}|{_LISTED}){_REST}"
_DAY = r"\d{4}-\d\d-\d\d"
_HEAD = (
    rf"\[[0-7][0-9a-hjkmnp-tv-z]{{25}}{_BLANK}+(?:{'|'.join(Origin)}){_BLANK}+(?:{'|'.join(Status)}){_BLANK}+{_DAY}"
    r"[^\]\n]*\]"
)
"""The id, origin, status and day before an item, which no person writes."""
_FLAGS = re.IGNORECASE | re.VERBOSE
_TAG = re.compile(rf"(?P<open>{_OPEN})|{_CLOSE}", _FLAGS)
_CUT_SHORT = re.compile(rf"{_LESS}memories{_MORE}(?:{_GAP}{_CONTEXT_LINE})*", _FLAGS)
_LINE = re.compile(rf"[\ \t>|]*(?:{_CONTEXT_LINE})\s*", _FLAGS)
_ITEM = re.compile(
    rf"(?:^[\ \t>|]*)?[\"'*_`]{{0,4}}(?:(?:[-*+•]|\d{{1,3}}[.)]){_BLANK}{{1,4}})?[\"'*_`]{{0,4}}{_HEAD}{_REST}",
    _FLAGS | re.MULTILINE,
)
_SECTIONS = re.compile(rf"(?:^[\ \t>|]*{_SECTION}[^\n]*(?:\n[\ \t>|]*{_LISTED}[^\n]*)*\n?)+", _FLAGS | re.MULTILINE)
_REST_OF_ITEM = re.compile(
    rf"(?:…|\.\.\.)?[^\n\[\]]{{0,200}}(?:{_DAY}(?:;[^\n\[\]]*)?\]{_REST}"
    rf"|\][^\n]*\n(?=[\ \t>|]*(?:{_CONTEXT_LINE}|{_CLOSE})))"
    rf"|{_BLANK}?\[[^\n\[\]]*\][^\n]*\n(?={_CLOSE})"
    rf"|(?:…|\.\.\.)[^\n]*\n(?=[\ \t>|]*(?:{_SECTION}|-{_BLANK}+{_HEAD}|{_CLOSE}))",
    _FLAGS,
)
_REMINDER, _REMINDER_END = "<system-reminder>", "</system-reminder>"
_HOOK_HEADER = re.compile(
    r"[ \t]*(?:\w+(?::\w+)? hook (?:success|(?:additional )?context|output|feedback)[^:\n]*:)[ \t]*"
)
_LINE_END = re.compile(r"\r?\n")
_MAX_WRAPPER_CHARS = 4_000
"""The most characters of the text that a host puts around a block."""
