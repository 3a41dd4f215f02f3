"""Which parts of a turn are talk: code, headings, tables, list items and placeholders are not."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_MARKED = re.compile(r"^\s*+(?:#{1,6}\s|>|\||[-*•+–]\s|\(?\d{1,3}[.)]\s|\[|<)")
_SIGNS = re.compile(
    r"\*\*|__|`|[{}<>|\\^]|=>|==|:=|\(\)|;\s*\Z|\w\(\w*\)|[\w)]\s=\s|\[(?:your|name|insert|my|the)\b|https?://"
)
_SPOKEN = re.compile(r"\b(?:I|I'm|I've|my|we|our)\b", re.IGNORECASE)
_QUOTED = re.compile(r"\A\W*[\"“][^\"“”]*[\"”]\W*\Z")


def fenced(text: str) -> list[tuple[int, int]]:
    """Where code stands between fences; an open fence runs to the end."""
    marks = [match.start() for match in _FENCE.finditer(text)]
    ends = [*marks[1::2], len(text)] if len(marks) % 2 else marks[1::2]
    return list(zip(marks[::2], ends, strict=False))


def is_prose(sentence: str) -> bool:
    """Whether a sentence is said and not set: no code, no quotation, no list item unless somebody speaks in it."""
    if _SIGNS.search(sentence) or _QUOTED.match(sentence) or sentence.endswith(":") or _opens_quotation(sentence):
        return False
    return not _MARKED.match(sentence) or bool(
        _SPOKEN.search(sentence) and not sentence.lstrip().startswith(("#", ">", "|", "["))
    )


def _opens_quotation(sentence: str) -> bool:
    """Whether a quotation begins in it and ends in another, or the other way round."""
    return sentence.count('"') % 2 == 1 or sentence.count("“") != sentence.count("”")
