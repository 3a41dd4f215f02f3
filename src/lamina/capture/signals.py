"""Which turns are worth reading at once: a scan by plain patterns, without a model, quick for any input."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence

from lamina.errors import InvalidInput

SCANNED = 4000
"""Characters of a turn that are read; what a person wants noticed stands early."""
SLICE = 80
"""A user's pattern sees the text in pieces of this length, so that the worst it can do is known."""
MOST_STEPS = 240
"""The most ways a user's pattern may try at one place."""
LONGEST_PATTERN = 200
MOST_OWN = 50

_CORRECTION = r"""
    actually,?\ (?:i|my|we|our|it|that|she|he|they|the)\b|no,\ (?:i|my|we|it|that|not|wrong|actually|the)\b
    |(?:that|this|it)(?:'s|\ is|\ was)\ not\ (?:right|correct|true|accurate|what\ i)\b
    |(?:that|this|it)(?:'s|\ is|\ was)\ (?:incorrect|wrong|false|outdated|a\ mistake)\b
    |you(?:'re|\ are)\ (?:wrong|mistaken)\b|you\ got\ (?:that|it|my\ \w{1,20})\ wrong
    |why\ did\ you\ (?:say|think|call|tell|assume)\b|correction\b|i\ misspoke\b|i\ meant\b|scratch\ that\b|i\ was\ wrong\b"""
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


def sounds_important(text: str, own: Sequence[re.Pattern[str]] = ()) -> bool:
    """Whether a turn sounds important in its first 4,000 characters, or matches one of a user's `own` patterns."""
    scanned = text[:SCANNED]
    words = scanned.lower().replace("’", "'")
    own_matches = (pattern.search(piece) for piece in _pieces(scanned) for pattern in own)
    return _IMPORTANT.search(words) is not None or any(own_matches)


def _pieces(text: str) -> Iterator[str]:
    """Pieces that overlap by half, so that a match of up to half a piece is never cut."""
    for start in range(0, max(1, len(text) - SLICE // 2), SLICE // 2):
        yield text[start : start + SLICE]


def compile_patterns(patterns: Mapping[str, str]) -> tuple[re.Pattern[str], ...]:
    """Compile a user's patterns, given by name; InvalidInput says which one cannot be used and why."""
    if len(patterns) > MOST_OWN:
        raise InvalidInput(f"{len(patterns)} signal patterns are too many; {MOST_OWN} may be added, join some with |")
    return tuple(_compile(name, pattern) for name, pattern in patterns.items())


def _compile(name: str, pattern: str) -> re.Pattern[str]:
    """A user's pattern, case ignored; refused where it is no pattern or could take long."""
    if not pattern or len(pattern) > LONGEST_PATTERN:
        raise InvalidInput(f"signal pattern {name!r} must have 1 to {LONGEST_PATTERN} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled = re.compile(pattern, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError, Warning) as error:
        raise InvalidInput(f"signal pattern {name!r} is not a regular expression: {error}") from error
    if compiled.search("") is not None:
        raise InvalidInput(f"signal pattern {name!r} matches nothing at all; name a word that has to be there")
    try:
        steps = _Reader(pattern).alternatives()
    except ValueError as error:
        raise InvalidInput(f"signal pattern {name!r} could take too long: {error}") from error
    if steps > MOST_STEPS:
        raise InvalidInput(
            f"signal pattern {name!r} could take too long: use one open repeat such as .* at most, "
            "bounded ones such as .{0,4} and few alternatives beside it"
        )
    return compiled


class _Reader:
    """Reads a valid pattern and counts in how many ways it could go on from one place."""

    _COUNT = re.compile(r"\{(\d*)(,?)(\d*)\}")
    _SET = re.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*\]", re.DOTALL)
    _GROUP = re.compile(r"\((?:\?:|\?P<\w+>|(?!\?))")

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def alternatives(self) -> int:
        """Ways of all branches together; of branches that begin with different letters only one can go on."""
        branches: list[int] = []
        letters = [self._letter()]
        ways = 1
        while self._at < len(self._pattern) and (char := self._pattern[self._at]) != ")":
            if char == "|":
                self._at += 1
                branches.append(ways)
                letters.append(self._letter())
                ways = 1
            else:
                ways *= self._piece(char)
        branches.append(ways)
        return max(branches) if "" not in letters and len(set(letters)) == len(letters) else sum(branches)

    def _letter(self) -> str:
        """The letter a branch cannot begin without, if there is one."""
        letter = self._pattern[self._at : self._at + 1]
        must = letter.isalnum() and self._pattern[self._at + 1 : self._at + 2] not in ("?", "*", "{")
        return letter.lower() if must else ""

    def _piece(self, char: str) -> int:
        group = char == "("
        ways = self._group() if group else self._single(char)
        fewest, most = self._times()
        if group and most > 1:
            raise ValueError("a group may not be repeated; write the repeat inside it")
        return ways + 1 if group and not fewest else ways * max(1, most - fewest + 1 if most < SLICE else SLICE)

    def _group(self) -> int:
        opened = self._GROUP.match(self._pattern, self._at)
        if opened is None:
            raise ValueError("only plain groups (…), (?:…) and (?P<name>…) are allowed")
        self._at = opened.end()
        ways = self.alternatives()
        self._at += 1
        return ways

    def _single(self, char: str) -> int:
        if char == "\\":
            following = self._pattern[self._at + 1]
            if following.isdigit() and following != "0":
                raise ValueError("a group may not be referred to again")
            self._at += 2
        else:
            whole = self._SET.match(self._pattern, self._at) if char == "[" else None
            self._at = whole.end() if whole else self._at + 1
        return 1

    def _times(self) -> tuple[int, int]:
        """How often the piece before stands at least and at most."""
        sign = self._pattern[self._at : self._at + 1]
        count = self._COUNT.match(self._pattern, self._at)
        if sign and sign in "*+?":
            self._at += 1
            times = int(sign == "+"), 1 if sign == "?" else SLICE
        elif count and count[0] not in ("{}", "{,}"):
            self._at = count.end()
            fewest = int(count[1] or 0)
            times = fewest, (int(count[3]) if count[3] else SLICE) if count[2] else fewest
        else:
            return 1, 1
        if self._pattern[self._at : self._at + 1] in ("?", "+"):
            self._at += 1
        return times
