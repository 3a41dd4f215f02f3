"""Corrections that name only a value: "No, Tuesday." What they correct stands in the talk before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from lamina.capture.found import Finding
from lamina.text.tokens import Token, TokenKind, tokens

_CUE = (
    r"(?:no|nope|sorry|oops|actually|wait|correction|i mean|i meant|rather|er|hang on|hold on|scratch that|my mistake|"
    r"whoops)"
)
_LEAD = (
    r"(?:it's|it is|that's|that is|make that|that should be|it should be|should be|that should have been|"
    r"should have been|i meant|i mean)"
)
_OPENS = re.compile(
    rf"^\W*+(?:{_CUE}\b[\s,.:;–—-]++)++(?:{_LEAD}\s+)?"
    r"|^\W*+(?:make that|i meant|i mean|that should have been|that should be)\s+",
    re.IGNORECASE,
)
_PLAIN_OPENS = re.compile(rf"^\W*(?:{_LEAD}\s+)?", re.IGNORECASE)
_INSIDE = re.compile(r"[;,]\s*(?:that|it) should (?:have been|be)\s+", re.IGNORECASE)
_TAIL = re.compile(r"^[^,;]{1,40}[,;]\s*(?:sorry|oops|my mistake|my bad|misread|i misread|not\b)", re.IGNORECASE)
_SMALL = frozenset({"the", "on", "at", "in", "of", "a", "an", "to", "and"})
_LONGEST = 5


def elliptic(sentence: str, found: Sequence[Token], *, correcting: bool = False) -> str | None:
    """The value that a bare correction names, as written; none if the sentence says more or less than that."""
    text = sentence.replace("’", "'")
    if inside := _INSIDE.search(text):
        return _value(sentence, found, inside.end())
    opening = _OPENS.match(text)
    if opening is not None:
        return _value(sentence, found, opening.end())
    if correcting and (plain := _PLAIN_OPENS.match(text)):
        return _value(sentence, found, plain.end())
    return _value(sentence, found, 0) if _TAIL.match(text) else None


def completed(finding: Finding, earlier: Sequence[Finding]) -> Finding | None:
    """A correction that names only a value, told in the words of the latest statement whose value is of its type."""
    if finding.content or finding.value is None:
        return finding
    kinds = _kinds(finding.value)
    for each in reversed(earlier):
        if each.value and each.content.count(each.value) == 1 and kinds & _kinds(each.value):
            content = each.content.replace(each.value, finding.value)
            names = tuple(name for name in each.entities if name in content)
            return replace(finding, content=content, subject=each.subject, attribute=each.attribute, entities=names)
    return None


def _kinds(value: str) -> set[TokenKind]:
    return {token.kind for token in tokens(value, opens=False) if token.is_typed}


def _value(sentence: str, found: Sequence[Token], start: int) -> str | None:
    left: list[Token] = []
    for token in found:
        if token.start < start:
            continue
        if token.is_mark and token.text not in "-&'’":
            break
        left.append(token)
    while left and left[0].lower in ("on", "at", "in", "to"):
        left = left[1:]
    if not left or len(left) > _LONGEST or not any(token.is_typed for token in left):
        return None
    counted = left[0].kind is TokenKind.NUMBER
    if any(
        not token.is_typed and token.lower not in _SMALL and not (counted and at <= 2) for at, token in enumerate(left)
    ):
        return None
    return sentence[left[0].start : left[-1].end]
