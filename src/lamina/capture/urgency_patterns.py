"""Patterns for turns that should be read immediately: plain regular expressions, fast for any input."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence

from lamina.errors import InvalidInput

SCANNED_CHARS = 4000
"""How many characters of a turn are scanned; what should be noticed is usually said early."""
SLICE_CHARS = 80
"""The length of the slices in which a user's pattern sees the text, so that its worst cost is bounded."""
MAX_STEPS = 500
"""The most alternatives that a user's pattern may try at one position."""
MAX_PATTERN_CHARS = 200
MAX_USER_PATTERNS = 50

_CORRECTION = r"""
    actually,?\ (?:i|my|we|our|it|that|she|he|they|the)\b|no,\ (?:i|my|we|it|that|not|wrong|actually|the)\b
    |(?:that|this|it)(?:'s|\ is|\ was)\ not\ (?:right|correct|true|accurate|what\ i)\b
    |(?:that|this|it)(?:'s|\ is|\ was)\ (?:incorrect|wrong|false|outdated|a\ mistake)\b
    |you(?:'re|\ are)\ (?:wrong|mistaken)\b|you\ got\ (?:that|it|my\ \w{1,20})\ wrong
    |why\ did\ you\ (?:say|think|call|tell|assume)\b|correction\b|i\ (?:misspoke|meant|was\ wrong)\b|scratch\ that\b"""
_PREFERENCE = r"""
    i(?:'d|\ would)?\ (?:\w+ly\ |much\ |still\ )?(?:always|never|prefer|hate|love|want|need|adore|detest|rather)\b
    |i\ can't\ stand\b|my\ favou?rite\b|i'm\ (?:not\ )?a\ (?:big\ )?fan\ of\b
    |(?:don't|do\ not|never)\ (?:ever\ )?(?:use|do|call|say|make|send|write|add|put)\b|stop\ \w+ing\b
    |please\ (?:always|never|remember|note|don't|do\ not|stop|keep|use)\b"""
_REQUEST = r"""
    important(?:ly)?[:,]|fyi\b|for\ the\ record\b|for\ future\ reference\b|keep\ in\ mind\b|just\ so\ you\ know\b
    |(?:don't|do\ not)\ forget\b|note\ (?:that|to\ self)\b|(?:take|make\ a)\ note\b|save\ this\b
    |(?<!do\ you\ )(?<!did\ you\ )(?<!can't\ )(?<!don't\ )(?<!i\ )(?<!i'll\ )(?<!if\ you\ )remember\b"""
_IDENTITY = r"""
    my\ (?:[\w'-]{1,20}\ ){1,3}(?:is|are|was)\b|my\ \w{1,20}(?:'s\ |:)|(?:call\ me|i\ go\ by)\b
    |i(?:'m|\ am)\ (?:an?|at|in|from|called|named|based|the|allergic|married|single|vegan|vegetarian|\d\d)\b
    |i\ (?:work|live|was\ born|grew\ up|study|studied)\b"""
_DECISION = r"""
    (?:we|i)(?:'ve|\ have|\ had)?\ (?:finally\ |just\ |all\ )?
    (?:decided|agreed|chose|chosen|picked|settled\ on|went\ with)\b
    |(?:we|i)(?:'re|'m|\ are|\ am)?\ going\ with\b|let's\ go\ with\b|it's\ decided\b
    |the\ (?:final\ )?decision\ (?:is|was)\b|decision:|going\ forward\b|from\ now\ on\b"""
_IMPORTANT = re.compile(rf"\b(?:{_CORRECTION}|{_PREFERENCE}|{_REQUEST}|{_IDENTITY}|{_DECISION})", re.VERBOSE)


def sounds_important(text: str, user_patterns: Sequence[re.Pattern[str]] = ()) -> bool:
    """Return whether the first 4,000 characters of a turn match a built-in pattern or one of `user_patterns`."""
    scanned = text[:SCANNED_CHARS]
    words = scanned.lower().replace("’", "'")
    own_matches = (pattern.search(piece) for piece in _overlapping_slices(scanned) for pattern in user_patterns)
    return _IMPORTANT.search(words) is not None or any(own_matches)


def _overlapping_slices(text: str) -> Iterator[str]:
    """Yield slices that overlap by half, so that a match of up to half a slice is never cut."""
    for start in range(0, max(1, len(text) - SLICE_CHARS // 2), SLICE_CHARS // 2):
        yield text[start : start + SLICE_CHARS]


def compile_patterns(patterns: Mapping[str, str]) -> tuple[re.Pattern[str], ...]:
    """Return a user's patterns, given by name, compiled; InvalidInput says which one cannot be used and why."""
    if len(patterns) > MAX_USER_PATTERNS:
        raise InvalidInput(
            f"{len(patterns)} signal patterns are too many: at most {MAX_USER_PATTERNS} are allowed; join some with |"
        )
    return tuple(_compile(name, pattern) for name, pattern in patterns.items())


def _compile(name: str, pattern: str) -> re.Pattern[str]:
    """Return a user's pattern compiled without case; InvalidInput if it is invalid or could take too long."""
    if not pattern or len(pattern) > MAX_PATTERN_CHARS:
        raise InvalidInput(f"signal pattern {name!r} must have 1 to {MAX_PATTERN_CHARS} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled = re.compile(pattern, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError, Warning) as error:
        raise InvalidInput(f"signal pattern {name!r} is not a regular expression: {error}") from error
    if compiled.search("") is not None:
        raise InvalidInput(f"signal pattern {name!r} matches the empty text; add a word that must occur")
    try:
        steps = _count_steps(pattern)
    except ValueError as error:
        raise InvalidInput(f"signal pattern {name!r} could take too long: {error}") from error
    if steps > MAX_STEPS:
        raise InvalidInput(
            f"signal pattern {name!r} could take too long: use one open repeat such as .* at most, "
            "bounded ones such as .{0,4} and few alternatives beside it"
        )
    return compiled


_PART = re.compile(
    r"(?P<escape>\\.)|(?P<set>\[\^?\]?(?:[^\]\\]|\\.)*\])|(?P<open>\((?:\?:|\?P<\w+>|(?!\?)))|(?P<special>\(\?)"
    r"|(?P<close>\))|(?P<or>\|)|(?P<times>[*+?]|\{(?:\d+,?\d*|,\d+)\})|(?P<sign>.)",
    re.DOTALL,
)


def _count_steps(pattern: str) -> int:
    """Return the most alternatives that a valid pattern can try at one position; ValueError if they are unbounded."""
    steps, branches, before = 1, [1], ""
    for part in _PART.finditer(pattern):
        kind, text = part.lastgroup or "", part[0]
        if kind == "special":
            raise ValueError("only plain groups (…), (?:…) and (?P<name>…) are allowed")
        if kind == "escape" and text[1] in "123456789":
            raise ValueError("a group may not be referred to again")
        if kind == "open":
            branches.append(1)
        elif kind == "close":
            steps *= branches.pop()
        elif kind == "or":
            branches[-1] += 1
        elif kind == "times" and before == "times":
            kind = "greed"
        elif kind == "times":
            if before == "close" and text not in ("?", "{0,1}", "{1}"):
                raise ValueError("a group may not be repeated; write the repeat inside it")
            steps *= _count_lengths(text)
        before = kind
    return steps * branches[0]


def _count_lengths(quantifier: str) -> int:
    """Return how many lengths a quantifier allows; an open one as many as a slice has characters."""
    if quantifier == "?":
        return 2
    fewest, _, most = quantifier.strip("{}").partition(",")
    if "," not in quantifier:
        return 1 if fewest.isdecimal() else SLICE_CHARS
    return max(1, min(SLICE_CHARS, int(most or SLICE_CHARS) - int(fewest or 0) + 1))
