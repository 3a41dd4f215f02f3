"""The format of a text, from its file name and its words, and the pieces that it is split into."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from enum import StrEnum
from typing import assert_never

from lamina.capture.pieces.chat_transcript import is_chat, split_chat
from lamina.capture.pieces.code_fences import find_code_fences
from lamina.capture.pieces.markdown import split_markdown
from lamina.capture.pieces.piece import TextPiece, split_paragraphs
from lamina.capture.pieces.source_code import is_definition, split_code

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
