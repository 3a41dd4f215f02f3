"""The format of a text, from its file name and its words, and the pieces that it is split into."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from enum import StrEnum
from typing import assert_never

from lamina.capture.pieces.chat import chat, is_chat
from lamina.capture.pieces.code import code, defines
from lamina.capture.pieces.fences import fences
from lamina.capture.pieces.markdown import markdown
from lamina.capture.pieces.piece import Piece, paragraphs

_MARKDOWN = "md markdown mdown mkd mdx qmd rmd"
_CODE = """
    py pyi pyx js mjs cjs jsx ts tsx go rs java kt kts scala groovy c h cc cpp cxx hpp hh m mm cs fs vb swift rb php pl
    pm lua r jl dart ex exs erl hs ml mli clj cljs lisp el scm sh bash zsh fish ps1 sql proto graphql gql sol zig nim v
    vhd tf hcl css scss sass less vue svelte cmake gradle
"""
MARKDOWN_NAMES = frozenset(_MARKDOWN.split())
CODE_NAMES = frozenset(_CODE.split())
_LOOKED_AT = 65_536
_LINES = 400
_HEADING = re.compile(r"(?m)^#{1,6} +\S")
_ANCHOR = re.compile(r"(?:import [\w.{*\"']|from [\w.]+ import |#include|#define \w|package \w+;?$|use \w+(?:::|;))")
_CODE_LINE = re.compile(
    r".*[;{}(\[\])=]$|.*\w\(.*\)[:,]?$|[\w.\[\]\"']+(?: \w+)? ?[-+*/|&:]?= ?\S|@\w|[\"'].*[\"'][,:)]|.*[:,]$"
    r"|(?:return|if|for|while|else|elif|try|except|raise|with|yield|assert|break|continue|pass|let|const|var|end)\b"
)
_COMMENT = re.compile(r"#|//|/?\*|--|\"{3}|'{3}")
_CODE_SHARE = 0.6


class Form(StrEnum):
    """The format of a text, which decides where it may be split."""

    CHAT = "chat"
    MARKDOWN = "markdown"
    CODE = "code"
    PLAIN = "plain"


def form_of(text: str, name: str | None = None) -> Form:
    """Return the format of a text, from the suffix of its file name if that decides, else from its beginning."""
    suffix = name.rpartition(".")[2].lower() if name and "." in name else ""
    head = text[:_LOOKED_AT]
    if suffix in CODE_NAMES:
        return Form.CODE
    if suffix in MARKDOWN_NAMES:
        return Form.CHAT if is_chat(head, strict=True) else Form.MARKDOWN
    if is_chat(head):
        return Form.CHAT
    if fences(head, closed=True):
        return Form.MARKDOWN
    if _is_code(head):
        return Form.CODE
    return Form.MARKDOWN if _HEADING.search(head) else Form.PLAIN


def pieces_of(text: str, form: Form, on: date | None = None) -> list[Piece]:
    """Return the pieces of a text, verbatim; `day` is the date of a transcript whose timestamps have none."""
    return list(_cut(text, form, on))


def _cut(text: str, form: Form, on: date | None) -> Iterator[Piece]:
    match form:
        case Form.CHAT:
            return chat(text, on)
        case Form.MARKDOWN:
            return markdown(text)
        case Form.CODE:
            return code(text)
        case Form.PLAIN:
            return paragraphs(text)
        case _:
            assert_never(form)


def _is_code(text: str) -> bool:
    """Return whether most lines that are no comments look like code, and one of them can be nothing else."""
    lines = [line.strip() for line in text.split("\n", _LINES)[:_LINES]]
    relevant = [line[:400] for line in lines if line and (_ANCHOR.match(line) or not _COMMENT.match(line))]
    has_anchor = any(_ANCHOR.match(line) or defines(line) for line in relevant)
    code_count = sum(1 for line in relevant if _CODE_LINE.match(line) or _ANCHOR.match(line) or defines(line))
    return has_anchor and len(relevant) > 1 and code_count >= _CODE_SHARE * len(relevant)
