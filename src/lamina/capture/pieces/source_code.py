"""Source code: one piece for each definition, in any language; found by keywords and indentation, not parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from lamina.capture.pieces.code_fences import find_code_fences
from lamina.capture.pieces.piece import PARAGRAPH_LIMIT, TextPiece, split_paragraphs, split_span

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
