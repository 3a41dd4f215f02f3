"""Checks whether the words around a match of a date rule give it another meaning: "the last fall", "you may"."""

from __future__ import annotations

import re

from lamina.text.date_words import VERB_MONTHS, compile_rule

_LAST_WORD = re.compile(r"([\w']+)\W{0,3}\Z", re.ASCII)
_POSSESSIVE_WORDS = "my his our their your its a the every each whose"
_POSSESSIVES = frozenset(_POSSESSIVE_WORDS.split())
_AUXILIARY_WORDS = "did does do will would can could should might may must to didn't doesn't won't let make"
_AUXILIARIES = frozenset(_AUXILIARY_WORDS.split())
_WORDS = re.compile(r"[\w']+", re.ASCII)
_AFTER_VERB_FALL = compile_rule(
    r"\s+(?:apart|off|down|out|over|into|under|from|behind|short|through|victim|flat|back|asleep|ill|on)\b"
)
_PREPOSITION = compile_rule(
    r"\b(?:in|on|by|since|until|till|from|before|after|during|throughout|around|last|next)\s+"
    r"(?:(?:early|late|mid)[\s-]+)?\Z"
)
_PREPOSITION_OF = compile_rule(r"\bof\s+\Z")


def means_the_month(text: str, match: re.Match[str]) -> bool:
    """Return whether "may" and "march" are months: after a preposition, or capitalised inside a sentence."""
    word, groups = match["month"], match.groupdict()
    if word.lower() not in VERB_MONTHS:
        return True
    if (groups.get("chosen") or "").lower() == "this":
        return word.istitle()
    if _PREPOSITION.search(text_before(text, match.start())) or _PREPOSITION.search(
        text_before(text, match.start("month"))
    ):
        return True
    if groups.get("year") and groups.get("day"):
        return True
    if not word.istitle():
        return bool(groups.get("day") or groups.get("year")) and bool(
            _PREPOSITION_OF.search(text_before(text, match.start("month")))
        )
    return (
        bool(groups.get("year")) or not _starts_sentence(text, match.start()) or not _WORDS.match(text, match.end() + 1)
    )


def is_chosen(text: str, match: re.Match[str]) -> bool:
    """Return whether "last" and similar words select by time: "last May", but not "my last May" or "the last fall"."""
    previous, groups = _word_before(text, match.start()), match.groupdict()
    if previous in _POSSESSIVES or previous.endswith("'s"):
        return False
    if (groups.get("season") or "").lower() == "fall":
        return previous not in _AUXILIARIES and previous != "her" and not _AFTER_VERB_FALL.match(text, match.end())
    return not groups.get("month") or means_the_month(text, match)


def is_past(text: str, match: re.Match[str]) -> bool:
    """Return whether "last two weeks" is a time and not how long something lasted."""
    if match["led"] or match["chosen"].lower() != "last":
        return True
    sentence = re.split(r"[.?!]", text[max(0, match.start() - 200) : match.start()].lower())[-1]
    return _AUXILIARIES.isdisjoint(_WORDS.findall(sentence))


def is_count(text: str, match: re.Match[str]) -> bool:
    """Return whether a number counts whole units: not "half a year", not "how many weeks"."""
    return _word_before(text, match.start()) not in ("half", "many")


def always(text: str, match: re.Match[str]) -> bool:
    """Accept every match."""
    return True


def text_before(text: str, at: int) -> str:
    """Return the words before a position, as far as a check needs them."""
    return text[max(0, at - 24) : at]


def _word_before(text: str, at: int) -> str:
    word = _LAST_WORD.search(text_before(text, at))
    return word[1].lower() if word else ""


def _starts_sentence(text: str, at: int) -> bool:
    """Return whether a sentence begins at this position."""
    before = text_before(text, at).rstrip(" \"'(")
    return before[-1:] in ".?!:;\n" if before else at <= 24
