"""When two labels name one thing though they are not spelled alike: other order, a slip, a plural."""

from __future__ import annotations

from difflib import SequenceMatcher

ALIKE = 0.80
"""How alike the sorted words of two labels must be, and each word that differs with the one in its place."""
_SHORTEST = 5
"""Shorter words must be the same: a cat is no bat."""


def is_one_name(one: str, other: str) -> bool:
    """Whether two labels in normal form name one thing; numbers and short words never differ by a slip."""
    words, others = sorted(one.split()), sorted(other.split())
    if words == others:
        return bool(words)
    if len(words) != len(others) or _ratio(" ".join(words), " ".join(others)) < ALIKE:
        return False
    return all(a == b or _is_slip(a, b) for a, b in zip(words, others, strict=True))


def _is_slip(one: str, other: str) -> bool:
    if min(len(one), len(other)) < _SHORTEST or not (one.isalpha() and other.isalpha()):
        return False
    return _ratio(one, other) >= ALIKE


def _ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()
