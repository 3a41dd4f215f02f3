"""The format of a text, from its file name and its words, and the pieces that it is split into.

Source code is split at definitions, found by keywords and indentation in any language; markdown at headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from enum import StrEnum
from itertools import pairwise
from typing import assert_never

from lamina.capture.pieces.chat_transcript import is_chat, split_chat
from lamina.capture.pieces.piece import (
    PARAGRAPH_LIMIT,
    TURN_LIMIT,
    TextPiece,
    find_code_fences,
    positions_outside,
    sentence_starts,
    split_paragraphs,
    split_span,
)

_MODIFIERS = (
    r"(?:(?:export|default|declare|public|private|protected|internal|static|final|abstract|async|override|open|sealed"
    r"|data|suspend|inline|virtual|extern|unsafe|const|pub(?:\([^)\n]{0,40}\))?|local|partial|readonly) )*+"
)
_KEYWORDS = (
    r"(?:(?:def|class|function\*?|func|fn|fun|interface|enum|struct|trait|mod|module|namespace|record|protocol|extension"
    r"|type|union|macro_rules!|defmodule|defp|sub)[ \t]+[\w$(\"']|impl\b[ <]"
    r"|(?i:create (?:or replace )?(?:table|view|function|procedure|index|trigger|type))\b)"
)
_ARROW = r"(?:const|let|var) \w+[^=\n]{0,120}= (?:async )?(?:function\b|\([^\n]{0,200}\) ?(?::[^=\n]{0,80})?=>|\w+ =>)"
_CALLABLE = (
    r"(?!(?:if|for|while|switch|catch|return|else|do|try|with|elif|except|finally|match|case|await|yield|new|throw"
    r"|print|assert|raise)\b)(?:[\w:<>\[\],.*&~?]+ ){0,6}[\w:~]+\([^;\n]{0,300}\{[ \t]*"
)
_DEFINITION = re.compile(rf"(?:export )?{_ARROW}|{_MODIFIERS}{_KEYWORDS}|{_CALLABLE}$")
_LEADING_LINE = re.compile(r"(?:@|#\[|//|/\*|\*|#|--|\"\"\"|;;)")
_CONTEXT_SEPARATOR = " > "
_MAX_DEPTH = 6
_MAX_LINE_CHARS = 600
_MAX_CONTEXT_CHARS = 120


def split_code(text: str) -> Iterator[TextPiece]:
    """Yield the definitions of a source text, each with the comments and decorators above it.

    No piece is longer than the limit.
    """
    start = 0
    for first, last in find_code_fences(text, only_closed=True):
        yield from split_paragraphs(text[start:first])
        yield from _CodeLines(text, first, last).pieces()
        start = last
    yield from _CodeLines(text, start, len(text)).pieces() if not start else split_paragraphs(text[start:])


def is_definition(line: str) -> bool:
    """Return whether a line of code, without its indentation, begins a definition."""
    return bool(_DEFINITION.match(line[:_MAX_LINE_CHARS]))


class _CodeLines:
    """A stretch of code as lines, so that definitions are found by their indentation."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self._text = text
        self._starts = [start, *(line_end.end() for line_end in re.compile("\n").finditer(text, start, end))]
        self._end = end

    def pieces(self) -> Iterator[TextPiece]:
        """Yield the pieces of the stretch."""
        yield from self._split(0, len(self._starts), 0, "")

    def _split(self, first: int, last: int, depth: int, context: str) -> Iterator[TextPiece]:
        if self._length(first, last) <= PARAGRAPH_LIMIT and depth:
            yield from self._cut_to_size(first, last, context)
            return
        heads = self._find_definition_lines(first, last, depth)
        if depth == _MAX_DEPTH or not heads:
            yield from self._cut_to_size(first, last, context)
            return
        bounds = sorted({first, *heads, last})
        for a, b in pairwise(bounds):
            if self._length(a, b) <= PARAGRAPH_LIMIT:
                yield from self._cut_to_size(a, b, context)
            else:
                yield from self._split_definition(a, b, depth, context)

    def _split_definition(self, first: int, last: int, depth: int, context: str) -> Iterator[TextPiece]:
        """Yield the parts of a definition that is too long for one piece, with its first line as context."""
        head = self._find_definition_line(first, last)
        title = " ".join(self._line(head).rstrip(" \t\n{:(").split())[:_MAX_CONTEXT_CHARS]
        inner_context = _CONTEXT_SEPARATOR.join(filter(None, (context, title)))
        nested = self._find_definition_lines(head + 1, last, depth + 1)
        if not nested:
            yield from self._cut_to_size(first, last, context, inner_context)
            return
        yield from self._cut_to_size(first, nested[0], context, inner_context)
        yield from self._split(nested[0], last, depth + 1, inner_context)

    def _find_definition_lines(self, first: int, last: int, depth: int) -> list[int]:
        """Return the lines where definitions of the least indentation begin, with the comments above them."""
        definitions = [(self._indent(n), n) for n in range(first, last) if is_definition(self._line(n).lstrip())]
        if not definitions:
            return []
        least = (
            0
            if depth == 0 and any(indent == 0 for indent, _ in definitions)
            else min(indent for indent, _ in definitions)
        )
        return sorted({self._first_leading_line(n, first, least) for indent, n in definitions if indent == least})

    def _first_leading_line(self, n: int, first: int, indent: int) -> int:
        while n > first and self._indent(n - 1) >= indent and _LEADING_LINE.match(self._line(n - 1).lstrip()):
            n -= 1
        return n

    def _find_definition_line(self, first: int, last: int) -> int:
        return next((n for n in range(first, last) if is_definition(self._line(n).lstrip())), first)

    def _cut_to_size(self, first: int, last: int, context: str, next_context: str | None = None) -> Iterator[TextPiece]:
        start, end = self._start(first), self._start(last)
        lines = self._starts[first:last] if end - start > PARAGRAPH_LIMIT else []
        blank = [at for n, at in enumerate(lines, first) if n > first and not self._line(n - 1).strip()]
        for a, b in split_span(self._text, start, end, PARAGRAPH_LIMIT, lines, blank):
            yield TextPiece(self._text[a:b], context=context)
            context = context if next_context is None else next_context

    def _start(self, n: int) -> int:
        return self._starts[n] if n < len(self._starts) else self._end

    def _length(self, first: int, last: int) -> int:
        return self._start(last) - self._start(first)

    def _line(self, n: int) -> str:
        return self._text[self._start(n) : min(self._start(n + 1), self._start(n) + _MAX_LINE_CHARS)]

    def _indent(self, n: int) -> int:
        line = self._line(n).expandtabs(4)
        return len(line) - len(line.lstrip(" "))


_BLANK = re.compile(r"\n(?:[ \t]*\n)+|\A(?:[ \t]*\n)+")
_ATX = re.compile(r"(?m)^ {0,3}(?P<level>#{1,6})(?:[ \t]+(?P<title>[^\n]*?))?[ \t]*$")
_SETEXT = re.compile(r"(?m)^ {0,3}(?P<title>\S[^\n]*)\n {0,3}(?P<rule>={2,}|-{2,})[ \t]*$")
_CLOSING = re.compile(r"(?:^|[ \t])#+$")
_FRONTMATTER = re.compile(r"---[ \t]*\n.*?\n---[ \t]*(?=\n|\Z)", re.DOTALL)


def split_markdown(text: str) -> Iterator[TextPiece]:
    """Yield the pieces of a markdown text; a fenced block is never split if a segment can hold it."""
    path = _HeadingPath()
    open_headings: list[tuple[int, str]] = []
    first: int | None = None
    for start, end, is_code in _find_blocks(text):
        headings = [] if is_code else _find_headings(text[start:end])
        open_headings += headings
        first = start if first is None else first
        if headings and end - first <= PARAGRAPH_LIMIT and _has_only_headings(text[start:end], headings):
            continue
        yield from _split_block(text, first, end, path, open_headings)
        open_headings, first = [], None
    if first is not None:
        yield from _split_block(text, first, len(text.rstrip()), path, open_headings)


class _HeadingPath:
    """The headings above the current position in the text."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, title: str) -> None:
        """Replace the headings of this level and below by a new one."""
        self._open = [heading for heading in self._open if heading[0] < level]
        self._open.append((level, title))

    def above(self, level: int) -> str:
        """Return the headings above a level, joined."""
        return _CONTEXT_SEPARATOR.join(title for depth, title in self._open if depth < level and title)

    def __str__(self) -> str:
        return self.above(7)


def _split_block(
    text: str, start: int, end: int, path: _HeadingPath, headings: list[tuple[int, str]]
) -> Iterator[TextPiece]:
    context = path.above(min(level for level, _ in headings)) if headings else str(path)
    for level, title in headings:
        path.enter(level, title)
    code_spans: list[tuple[int, int]] = []
    stops: list[int] = []
    if end - start > PARAGRAPH_LIMIT:
        code_spans = [(start + a, start + b) for a, b in find_code_fences(text[start:end])]
        stops = _sentence_starts_outside_code(text, start, end, code_spans)
    for first, last in _split_around_code(text, start, end, stops, code_spans):
        yield TextPiece(text[first:last], context=context)
        context = str(path)


def _split_around_code(
    text: str, start: int, end: int, stops: list[int], code_spans: list[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield spans of a block: its fenced blocks whole, the text between them cut to size."""
    for first, last in code_spans:
        yield from split_span(text, start, first, PARAGRAPH_LIMIT, stops)
        yield from split_span(
            text, first, last, TURN_LIMIT, _line_starts(text, first, last) if last - first > TURN_LIMIT else []
        )
        start = last
    yield from split_span(text, start, end, PARAGRAPH_LIMIT, stops)


def _sentence_starts_outside_code(text: str, start: int, end: int, code_spans: list[tuple[int, int]]) -> list[int]:
    return positions_outside(sentence_starts(text, start, end), code_spans)


def _line_starts(text: str, start: int, end: int) -> list[int]:
    return [line_end.end() for line_end in re.compile(r"\n").finditer(text, start, end)]


def _find_blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield the span of each block between blank lines, and whether it begins with code.

    Fenced blocks and frontmatter are not divided.
    """
    frontmatter = _FRONTMATTER.match(text)
    spans = find_code_fences(text)
    if frontmatter:
        spans = [frontmatter.span(), *(span for span in spans if span[0] >= frontmatter.end())]
    start, index = 0, 0
    for blank in _BLANK.finditer(text):
        while index < len(spans) and spans[index][1] <= blank.start():
            index += 1
        if index < len(spans) and spans[index][0] < blank.start():
            continue
        if text[start : blank.start()].strip():
            yield start, blank.start(), _starts_in_span(start, spans, index)
        start = blank.end()
    if text[start:].strip():
        yield start, len(text.rstrip()), _starts_in_span(start, spans, len(spans) - 1)


def _starts_in_span(start: int, spans: list[tuple[int, int]], at: int) -> bool:
    return any(first <= start < last for first, last in spans[max(0, at - 1) : at + 1])


def _find_headings(block: str) -> list[tuple[int, str]]:
    """Return the levels and titles of the headings in a block outside its code, in order."""
    code_spans = find_code_fences(block) if "```" in block or "~~~" in block else []
    headings = [
        (match.start(), len(match["level"]), _CLOSING.sub("", match["title"] or "")) for match in _ATX.finditer(block)
    ]
    headings += [
        (match.start(), 1 if match["rule"][0] == "=" else 2, match["title"].strip())
        for match in _SETEXT.finditer(block)
        if not match["title"].startswith(("#", "|", "-", ">", "```"))
    ]
    outside_code = set(positions_outside(sorted(start for start, _, _ in headings), code_spans))
    return [(level, title) for start, level, title in sorted(headings) if start in outside_code]


def _has_only_headings(block: str, headings: list[tuple[int, str]]) -> bool:
    lines = [line for line in block.split("\n") if line.strip()]
    rules = sum(1 for line in lines if not line.strip(" \t=-"))
    return len(lines) - rules == len(headings)


_MARKDOWN = "md markdown mdown mkd mdx qmd rmd"
_CODE = """
    py pyi pyx js mjs cjs jsx ts tsx go rs java kt kts scala groovy c h cc cpp cxx hpp hh m mm cs fs vb swift rb php pl
    pm lua r jl dart ex exs erl hs ml mli clj cljs lisp el scm sh bash zsh fish ps1 sql proto graphql gql sol zig nim v
    vhd tf hcl css scss sass less vue svelte cmake gradle
"""
MARKDOWN_SUFFIXES = frozenset(_MARKDOWN.split())
CODE_SUFFIXES = frozenset(_CODE.split())
_SCANNED_CHARS = 65_536
_SCANNED_LINES = 400
_HEADING = re.compile(r"(?m)^#{1,6} +\S")
_ANCHOR = re.compile(r"(?:import [\w.{*\"']|from [\w.]+ import |#include|#define \w|package \w+;?$|use \w+(?:::|;))")
_CODE_LINE = re.compile(
    r".*[;{}(\[\])=]$|.*\w\(.*\)[:,]?$|[\w.\[\]\"']+(?: \w+)? ?[-+*/|&:]?= ?\S|@\w|[\"'].*[\"'][,:)]|.*[:,]$"
    r"|(?:return|if|for|while|else|elif|try|except|raise|with|yield|assert|break|continue|pass|let|const|var|end)\b"
)
_COMMENT = re.compile(r"#|//|/?\*|--|\"{3}|'{3}")
_MIN_CODE_SHARE = 0.6


class TextFormat(StrEnum):
    """The format of a text, which decides where it may be split."""

    CHAT = "chat"
    MARKDOWN = "markdown"
    CODE = "code"
    PLAIN = "plain"


def detect_format(text: str, file_name: str | None = None) -> TextFormat:
    """Return the format of a text, from the suffix of its file name if that decides, else from its beginning."""
    suffix = file_name.rpartition(".")[2].lower() if file_name and "." in file_name else ""
    head = text[:_SCANNED_CHARS]
    if suffix in CODE_SUFFIXES:
        return TextFormat.CODE
    if suffix in MARKDOWN_SUFFIXES:
        return TextFormat.CHAT if is_chat(head, is_strict=True) else TextFormat.MARKDOWN
    if is_chat(head):
        return TextFormat.CHAT
    if find_code_fences(head, only_closed=True):
        return TextFormat.MARKDOWN
    if _is_code(head):
        return TextFormat.CODE
    return TextFormat.MARKDOWN if _HEADING.search(head) else TextFormat.PLAIN


def split_text(text: str, text_format: TextFormat, day: date | None = None) -> list[TextPiece]:
    """Return the pieces of a text, verbatim; `day` is the date of a transcript whose timestamps have none."""
    return list(_split(text, text_format, day))


def _split(text: str, text_format: TextFormat, day: date | None) -> Iterator[TextPiece]:
    match text_format:
        case TextFormat.CHAT:
            return split_chat(text, day)
        case TextFormat.MARKDOWN:
            return split_markdown(text)
        case TextFormat.CODE:
            return split_code(text)
        case TextFormat.PLAIN:
            return split_paragraphs(text)
        case _:
            assert_never(text_format)


def _is_code(text: str) -> bool:
    """Return whether most lines that are no comments look like code, and one of them can be nothing else."""
    lines = [line.strip() for line in text.split("\n", _SCANNED_LINES)[:_SCANNED_LINES]]
    relevant = [line[:400] for line in lines if line and (_ANCHOR.match(line) or not _COMMENT.match(line))]
    has_anchor = any(_ANCHOR.match(line) or is_definition(line) for line in relevant)
    code_count = sum(1 for line in relevant if _CODE_LINE.match(line) or _ANCHOR.match(line) or is_definition(line))
    return has_anchor and len(relevant) > 1 and code_count >= _MIN_CODE_SHARE * len(relevant)
