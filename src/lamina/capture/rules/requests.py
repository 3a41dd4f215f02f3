"""Requests that carry a fact: where mail goes, which number to call, what to do from now on."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lamina.capture.rules.rewrite import finished, third
from lamina.capture.rules.slots import Slot, Told
from lamina.text.closed import word_set
from lamina.text.tokens import Token, TokenKind
from lamina.text.verbs import KNOWN

_STANDING = re.compile(r"\b(?:from now on|from today|going forward|in future|from here on)\b", re.IGNORECASE)
_PLEASE = re.compile(r"\bplease\b", re.IGNORECASE)
_REACHING = re.compile(r"\b(?:reach|call|contact|find|email|e-mail|mail|text|ring|write|get)\b", re.IGNORECASE)
_POLITE = word_set("please just kindly so then and also ok okay now actually no")
_ALWAYS = frozenset({"always", "never"})
_REACHED = {TokenKind.EMAIL: "email", TokenKind.PHONE: "phone"}
_WAYS = {TokenKind.EMAIL: "by e-mail at", TokenKind.PHONE: "by phone on"}
_FEWEST_WORDS = 4
_LONGEST_NAME = 5


def asked(sentence: str, found: Sequence[Token], speaker: str, key: str) -> Told | None:
    """What a request tells about the one who makes it; nothing if it is only a request."""
    contact = next((token for token in found if token.kind in _REACHED), None)
    start = next((at for at, token in enumerate(found) if not token.is_mark and token.lower not in _POLITE), None)
    if start is None:
        return None
    words = _last_order(found[start:], contact)
    if any(token.lower in ("you", "your", "we", "i") for token in words):
        return _reached(sentence, found, contact, speaker, key) if contact else None
    if contact is None and not _is_rule(sentence, words):
        return None
    negated = len(words) > 2 and words[0].lower == "do" and words[1].lower == "n't"
    if not _is_order(words, negated):
        return None
    told = third(words[2:] if negated else words, speaker, known=True)
    content = finished(f"{speaker} asks {'not ' if negated else ''}to {told[0].lower()}{told[1:]}")
    if contact is None:
        return Told(content, Slot(key), "rule")
    return Told(content, Slot(key, _REACHED[contact.kind], contact.text), "fact")


def _last_order(words: Sequence[Token], contact: Token | None) -> Sequence[Token]:
    """The order that holds the contact, where another stands before it: "forget the old one, call me on ..."."""
    for at in range(len(words) - 2, 0, -1):
        if contact and words[at].text == "," and words[at].start < contact.start:
            return words[at + 1 :] if words[at + 1].lower in KNOWN else words
    return words


def _is_rule(sentence: str, words: Sequence[Token]) -> bool:
    """Whether an order holds for good: it says so, or is asked for with always or never."""
    if len(words) < _FEWEST_WORDS:
        return False
    lasting = any(token.lower in _ALWAYS for token in words) and _PLEASE.search(sentence)
    return bool(lasting or _STANDING.search(sentence))


def _is_order(words: Sequence[Token], negated: bool) -> bool:
    verb = words[2] if negated else words[1] if words[0].lower in _ALWAYS and len(words) > 1 else words[0]
    return verb.lower in KNOWN and verb.lower != "let" and (verb is words[0] or verb.text[0].islower())


def _reached(sentence: str, found: Sequence[Token], contact: Token, speaker: str, key: str) -> Told | None:
    """ "You can reach me at ...": the one thing said to somebody that is worth keeping."""
    if not any(token.lower == "you" for token in found) or not _REACHING.search(sentence):
        return None
    slot = Slot(key, _REACHED[contact.kind], contact.text)
    if not any(token.lower in ("me", "us", "my", "our") for token in found):
        name = next((token.text for token in found if token.kind is TokenKind.NAME), None) or _object(sentence, found)
        if name is None:
            return None
        speaker, slot = name, Slot(name.removeprefix("The "), _REACHED[contact.kind], contact.text)
    return Told(f"{speaker} can be reached {_WAYS[contact.kind]} {contact.text}.", slot, "fact")


def _object(sentence: str, found: Sequence[Token]) -> str | None:
    """Whom a verb of reaching reaches: the words between "the" and the next "at" or "on"."""
    start = next((at for at, token in enumerate(found) if token.lower == "the"), len(found))
    ends = (at for at in range(start + 2, len(found)) if found[at].lower in ("at", "on", "under", "via"))
    end = next(ends, None)
    if end is None or end - start > _LONGEST_NAME:
        return None
    words = sentence[found[start].start : found[end - 1].end]
    return words[0].upper() + words[1:]
