"""Split texts into sentences, with little knowledge of any language and in linear time."""

from __future__ import annotations

import re

_CLOSERS = "\"'”’»)\\]}」』）】〉》"
_STOP = re.compile(
    r"(?P<line>[\n\r\x0b\x0c\x85\u2028\u2029]+)"
    rf"|(?P<full>[。！？｡।॥؟۔።։။។][。！？｡।॥؟۔።։။។.!?…]*+[{_CLOSERS}]*+)"
    rf"|(?<![.!?…])(?P<stop>[.!?…]++)(?P<closers>[{_CLOSERS}]*+)(?=\s|\Z)"
)
_NEXT = re.compile(r"[^\S\n\r\x0b\x0c\x85\u2028\u2029]*+[\"'“‘«(\[{*_]*+(\w{0,20})")
_OPENERS = "\"'“‘«([{*_-–—"
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_LONGEST_BEFORE = 24

_TITLES = "mr mrs ms mx dr prof gen sen rep gov capt col sgt lt rev hon messrs mme mlle"
_NEVER_LAST = frozenset(["e.g", "i.e", "eg", "ie", "cf", "vs", "viz", *_TITLES.split()])
_COUNTED = "no nos nr fig figs vol vols p pp ch sec art eq"
_MONTHS = "jan feb mar apr jun jul aug sep sept oct nov dec"
_BEFORE_A_NUMBER = frozenset(f"{_COUNTED} {_MONTHS}".split())
_MAYBE_LAST = "etc inc ltd co corp jr sr a.m p.m am pm approx dept est al ca"
_LAST_BEFORE_A_CAPITAL = frozenset(_MAYBE_LAST.split())
_LAST_BEFORE_A_STARTER = frozenset({"st", "mt", "ph.d"})
_FIRST_WORDS = """
    A An The This That These Those I We You He She It They My Our Your His Her Its Their But And So Then There Here
    In On At For After Before When While Where What Who Why How If Is Are Was Were Do Does Did No Yes Also However
"""
_STARTERS = frozenset(_FIRST_WORDS.split())


def find_sentences(text: str) -> list[tuple[int, int]]:
    """Return the (start, end) of each sentence, in order; none is blank, and only white space is between them."""
    spans: list[tuple[int, int]] = []
    start = 0
    for stop in _STOP.finditer(text):
        if stop["stop"] is None or _ends_sentence(text, start, stop):
            spans += _trim_span(text, start, stop.end())
            start = stop.end()
    return spans + _trim_span(text, start, len(text))


def _trim_span(text: str, start: int, end: int) -> list[tuple[int, int]]:
    stripped = text[start:end].rstrip()
    content = stripped.lstrip()
    return [(start + len(stripped) - len(content), start + len(stripped))] if content else []


def _ends_sentence(text: str, start: int, stop: re.Match[str]) -> bool:
    following = _NEXT.match(text, stop.end())
    word = following[1] if following else ""
    if word[:1].islower() and (stop["closers"] or _trails_off(stop["stop"])):
        return False
    if stop["stop"] != ".":
        return True
    return _full_stop_ends(_word_before(text, start, stop.start()), word)


def _trails_off(stop: str) -> bool:
    return stop.endswith(("..", "…")) and "!" not in stop and "?" not in stop


def _word_before(text: str, start: int, at: int) -> str:
    """Return the word before a full stop; "#" for the number of a list item at the start of a sentence."""
    before = text[max(start, at - _LONGEST_BEFORE) : at]
    words = before.split()
    word = words[-1].lstrip(_OPENERS) if words and not before[-1].isspace() else ""
    is_first = len(words) == 1 and at - start <= _LONGEST_BEFORE
    return "" if not word else "#" if is_first and word.isdecimal() and len(word) <= 3 else word


def _full_stop_ends(before: str, after: str) -> bool:
    if before == "#":
        return not after
    word = before.casefold()
    if word in _NEVER_LAST:
        return False
    if word in _BEFORE_A_NUMBER and after[:1].isdecimal():
        return False
    if word in _LAST_BEFORE_A_CAPITAL:
        return not after or after[0].isupper()
    if word in _LAST_BEFORE_A_STARTER or _INITIALS.fullmatch(before):
        return not after or after in _STARTERS
    return True
