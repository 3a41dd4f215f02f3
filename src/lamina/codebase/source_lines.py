"""Parse any other language line by line: a line that starts a definition is one. Comments and strings are ignored."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from lamina.capture.pieces.code import defines
from lamina.codebase.signature import LONGEST, Signature, Source, declared, first_line

READER = "lines-1"
_MOST = 1000
_LONGEST_LINE = 600
_MOST_LINES = 12
"""At most this many lines of a declaration are joined to find its end."""
_LONG = r"/\*.*?(?:\*/|\Z)|\"{3}.*?(?:\"{3}|\Z)|`(?:[^`\\]|\\.)*+(?:`|\Z|\\)"
_TEXTS = rf"{_LONG}|\"(?:[^\"\\\n]|\\.)*+(?:\"|(?=\n)|\Z|\\)|//[^\n]*"
_NOT_CODE = re.compile(rf"{_TEXTS}|'(?:[^'\\\n]|\\.)*+(?:'|(?=\n)|\Z|\\)", re.DOTALL)
_NOT_RUST = re.compile(rf"{_TEXTS}|'(?:[^'\\\n]|\\[^\n]{{1,10}})'", re.DOTALL)
"""In Rust a single quote begins a lifetime as often as a character."""
_NAME = re.compile(
    r"(?:\b(?:def|class|function|func|fn|fun|interface|enum|struct|trait|mod|module|namespace|record|protocol|extension"
    r"|type|union|defmodule|defp|sub|const|let|var|table|view|procedure|macro_rules!)\b\*?\s+(?:\([^)]*\)\s*)?"
    r"(?:self\.)?([\w$#.:]+))|\bimpl\b(?:<[^>]*>)?\s+([^{]+)|([\w$~:#]+)\s*\("
)
LEADING = re.compile(r"^(?:/{2,}!?|/?\*+!?/?|#+|--+|;+)\s?")
"""What marks a line as a comment."""
_ENDS = re.compile(r"\{|=>|:\s*$|;|\bwhere\b")
_BODY = re.compile(r"\s*(?:\{.*|=>.*|;.*|:\s*$|=\s*$)", re.DOTALL)
_STEP = 4


def lines_source(text: str, language: str) -> Source:
    """Return what a source file probably defines."""
    return Source(language, _about(text), tuple(islice(_signatures(text, language), _MOST)), READER)


def _about(text: str) -> str:
    """Return the first line of the comment at the top of a file."""
    for line in text.splitlines()[:30]:
        stripped = line.strip()
        if stripped.startswith(("#!", "#include", "#define", "<?", "'use strict'", '"use strict"')) or not stripped:
            continue
        if not (mark := LEADING.match(stripped)):
            return ""
        if words := stripped[mark.end() :].removesuffix("*/").strip():
            return first_line(words)
    return ""


def _signatures(text: str, language: str) -> Iterator[Signature]:
    lines, bare = text.split("\n"), _bare(text, language).split("\n")
    depths: list[int] = []
    for at, line in enumerate(bare):
        code = line.strip()
        if len(line) > _LONGEST_LINE or not code or not defines(code):
            continue
        indent = len(line.expandtabs(_STEP)) - len(line.expandtabs(_STEP).lstrip())
        while depths and depths[-1] >= indent:
            depths.pop()
        depths.append(indent)
        if len(depths) > 2 or not (name := _NAME.search(code)):
            continue
        symbol = next(group for group in name.groups() if group).strip().rstrip(":")
        yield Signature(symbol, _declaration(bare, at), len(depths) - 1, _doc(lines, at))


def _bare(text: str, language: str) -> str:
    """Return the code with comments and strings blanked, line by line."""
    return (_NOT_RUST if language == "Rust" else _NOT_CODE).sub(_emptied, text)


def _emptied(found: re.Match[str]) -> str:
    piece = found.group()
    breaks = "\n" * piece.count("\n")
    return breaks if piece.startswith("/") else f"{piece[0]}{breaks}{piece[0]}"


def _declaration(lines: list[str], at: int) -> str:
    joined = ""
    for line in lines[at : at + _MOST_LINES]:
        joined += f" {line.strip()}"
        if _ENDS.search(joined) and joined.count("(") <= joined.count(")"):
            break
        if len(joined) > 2 * LONGEST:
            break
    else:
        joined = lines[at]
    return declared(_without_body(joined))


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
    while at > 0 and (line := lines[at - 1].strip()) and (LEADING.match(line) or line.startswith(("@", "#["))):
        at -= 1
        if line.startswith("//!"):
            break
        if not line.startswith(("@", "#[", "#include", "#define")) and (mark := LEADING.match(line)):
            comment_lines.insert(0, line[mark.end() :].removesuffix("*/").strip())
        if line.startswith("/*"):
            break
    return first_line("\n".join(comment_lines))
