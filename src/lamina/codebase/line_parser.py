"""Parse any other language line by line: a line that starts a definition is one. Comments and strings are ignored."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from lamina.capture.pieces.text_format import is_definition
from lamina.codebase.signatures import (
    MAX_DECLARATION_LENGTH,
    ParsedSource,
    Signature,
    first_doc_line,
    one_line_declaration,
)

PARSER_ID = "lines-1"
_MAX_SIGNATURES = 1000
_MAX_LINE_LENGTH = 600
_MAX_JOINED_LINES = 12
"""At most this many lines of a declaration are joined to find its end."""
_MAX_COMMENT_LINES = 200
_MULTILINE_TEXT = r"/\*.*?(?:\*/|\Z)|\"{3}.*?(?:\"{3}|\Z)|`(?:[^`\\]|\\.)*+(?:`|\Z|\\)"
_COMMENTS_AND_STRINGS = rf"{_MULTILINE_TEXT}|\"(?:[^\"\\\n]|\\.)*+(?:\"|(?=\n)|\Z|\\)|//[^\n]*"
_NOT_CODE = re.compile(rf"{_COMMENTS_AND_STRINGS}|'(?:[^'\\\n]|\\.)*+(?:'|(?=\n)|\Z|\\)", re.DOTALL)
_NOT_RUST = re.compile(rf"{_COMMENTS_AND_STRINGS}|'(?:[^'\\\n]|\\[^\n]{{1,10}})'", re.DOTALL)
"""In Rust a single quote begins a lifetime as often as a character."""
_NAME = re.compile(
    r"(?:\b(?:def|class|function|func|fn|fun|interface|enum|struct|trait|mod|module|namespace|record|protocol|extension"
    r"|type|union|defmodule|defp|sub|const|let|var|table|view|procedure|macro_rules!)\b\*?\s+(?:\([^)]*\)\s*)?"
    r"(?:self\.)?([\w$#.:]+))|\bimpl\b(?:<[^>]*>)?\s+([^{]+)|([\w$~:#]+)\s*\("
)
COMMENT_START = re.compile(r"^(?:/{2,}!?|/?\*+!?/?|#+|--+|;+)\s?")
"""What marks a line as a comment."""
_DECLARATION_END = re.compile(r"\{|=>|:\s*$|;|\bwhere\b")
_BODY = re.compile(r"\s*(?:\{.*|=>.*|;.*|:\s*$|=\s*$)", re.DOTALL)
_TAB_WIDTH = 4


def parse_lines(text: str, language: str) -> ParsedSource:
    """Return what a source file probably defines."""
    return ParsedSource(
        language, _file_doc(text), tuple(islice(_signatures(text, language), _MAX_SIGNATURES)), PARSER_ID
    )


def _file_doc(text: str) -> str:
    """Return the first line of the comment at the top of a file."""
    for line in text.splitlines()[:30]:
        stripped = line.strip()
        if stripped.startswith(("#!", "#include", "#define", "<?", "'use strict'", '"use strict"')) or not stripped:
            continue
        if not (mark := COMMENT_START.match(stripped)):
            return ""
        if words := stripped[mark.end() :].removesuffix("*/").strip():
            return first_doc_line(words)
    return ""


def _signatures(text: str, language: str) -> Iterator[Signature]:
    lines, bare = text.split("\n"), _blank_comments_and_strings(text, language).split("\n")
    depths: list[int] = []
    for at, line in enumerate(bare):
        code = line.strip()
        if len(line) > _MAX_LINE_LENGTH or not code or not is_definition(code):
            continue
        indent = len(line.expandtabs(_TAB_WIDTH)) - len(line.expandtabs(_TAB_WIDTH).lstrip())
        while depths and depths[-1] >= indent:
            depths.pop()
        depths.append(indent)
        if len(depths) > 2 or not (name := _NAME.search(code)):
            continue
        symbol = next(group for group in name.groups() if group).strip().rstrip(":")
        yield Signature(symbol, _declaration(bare, at), len(depths) - 1, _doc(lines, at))


def _blank_comments_and_strings(text: str, language: str) -> str:
    """Return the code with comments and strings blanked, line by line."""
    return (_NOT_RUST if language == "Rust" else _NOT_CODE).sub(_blank_match, text)


def _blank_match(match: re.Match[str]) -> str:
    piece = match.group()
    breaks = "\n" * piece.count("\n")
    return breaks if piece.startswith("/") else f"{piece[0]}{breaks}{piece[0]}"


def _declaration(lines: list[str], at: int) -> str:
    joined = ""
    for line in lines[at : at + _MAX_JOINED_LINES]:
        joined += f" {line.strip()}"
        if _DECLARATION_END.search(joined) and joined.count("(") <= joined.count(")"):
            break
        if len(joined) > 2 * MAX_DECLARATION_LENGTH:
            break
    else:
        joined = lines[at]
    return one_line_declaration(_without_body(joined))


def _without_body(text: str) -> str:
    """Return the declaration up to where its body begins outside of brackets."""
    depth = 0
    for at, char in enumerate(text):
        depth += (char in "([<") - (char in ")]")
        if char == ">" and text[at - 1] not in "-=":
            depth -= 1
        if depth <= 0 and (ends := _BODY.match(text, at)) and ends.end() > at:
            return text[:at]
    return text


def _doc(lines: list[str], at: int) -> str:
    """Return the first line of the comment directly above a definition."""
    comment_lines: list[str] = []
    for above in reversed(lines[max(0, at - _MAX_COMMENT_LINES) : at]):
        line = above.strip()
        if not line or not (COMMENT_START.match(line) or line.startswith(("@", "#["))):
            break
        if line.startswith("//!"):
            break
        if not line.startswith(("@", "#[", "#include", "#define")) and (mark := COMMENT_START.match(line)):
            comment_lines.insert(0, line[mark.end() :].removesuffix("*/").strip())
        if line.startswith("/*"):
            break
    return first_doc_line("\n".join(comment_lines))
