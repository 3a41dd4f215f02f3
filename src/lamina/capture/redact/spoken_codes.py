"""Numbers that open something, called by their name in ordinary speech: "the alarm code is 9931", "PIN 4711"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lamina.capture.redact.secret_span import SecretSpan
from lamina.capture.redact.secret_words import (
    ANY_CASE,
    CARD,
    CHANGED,
    CODE,
    COPULA,
    HARMLESS_CODE,
    LOCK,
    PLACE,
    SELF_NAMED_CODE,
    UNITS,
)

_TOKEN = re.compile(
    r"(?<![\w.,:/$€£-])(?:\d{1,2} (?:left|right|links|rechts)(?:,? (?:then )?\d{1,2} (?:left|right|links|rechts)){1,4}"
    r"|[#*]?\d(?:[ -]?\d){2,11}(?:[A-Za-z]{1,3})?[#*]?|[A-Z]{2,5}\d{1,2}|[#*]?\d{1,6}[A-Za-z]{1,3}\d{1,8}[#*]?"
    r"|[A-Za-z]{1,3}-?\d{3,8}"
    r"[A-Za-z]?[#*]?)(?![\w%€$£/]|[.,:]\d)"
)
MAX_DIGITS = 8
"""Longer numbers are telephone, card or account numbers, not what one types at a door."""
_CHARS_BEFORE, _CHARS_AFTER = 80, 50
_SENTENCE_END = re.compile(
    r"[.!?]\s+(?!(?:it|that)['’]?s\b|it is\b|(?:es|das) ist\b|c['’]est\b|es el\b|es la\b|è il\b|é o\b)|\n", ANY_CASE
)
_CONNECTOR = rf"(?:{COPULA}|{CHANGED}|[.!?]\s+(?:it|that)['’]?s[ ]|[.!?]\s+(?:es|das) ist[ ]|[.!?]\s+c['’]est[ ])"
_NAMED = re.compile(
    rf"\b(?:{SELF_NAMED_CODE}|{CODE})(?:['’]s)?\b(?:[^\d=:]{{0,60}}?{_CONNECTOR}"
    rf"|(?:(?:[ ]\w{{1,5}}){{0,2}}[ ]{PLACE})?[ ])\Z",
    ANY_CASE,
)
_OPENED = re.compile(
    rf"\b{LOCK}\b[^\d]{{0,50}}?[ ](?:opens? with|wants|takes|uses|used|wants the code|geht mit|geht auf mit|öffnet mit"
    rf"|s['’]ouvre"
    r" avec|se abre con|abre con|abre com|si apre con|punch in|type in|type|enter|press|pon|marca|teclea|digita|digite"
    r"|tippe?|tapez|composez)[ ]\Z",
    ANY_CASE,
)
_TYPED = re.compile(
    r"\b(?:use|type|type in|enter|punch in|press|dial|tipp?e?|gib|drücke|tape[rz]?|composez|pon|marca|teclea|digita"
    r"|digite)[ ]\Z",
    ANY_CASE,
)
_TYPED_AFTER = re.compile(rf"[ ](?:\w{{1,12}}[ ]){{1,4}}?{LOCK}\b", ANY_CASE)
_NAMED_AFTER = re.compile(
    rf"[ ](?:is|ist|est|es|è|é|was)[ ](?:\w{{1,12}}[ ]){{1,3}}?(?:{PLACE}[ -]?{CODE}|{SELF_NAMED_CODE}"
    rf"|{CODE}[^.\n!?]{{1,30}}?\b{PLACE})\b",
    ANY_CASE,
)
_UNLOCK = re.compile(r"\b(?:unlock|entsperren|déverrouiller|desbloquear|sbloccare)\b", ANY_CASE)
_CODE_NAME = re.compile(rf"\b(?:{CODE}|{SELF_NAMED_CODE})\b", ANY_CASE)
_LOCK = re.compile(rf"\b(?:{LOCK}|{CARD})\b", ANY_CASE)
_NOT_A_CODE_BEFORE = re.compile(
    r"(?:\b(?:in|since|until|at|by|room|apartment|apt|flat|unit|number|no|house|street|floor|seit|bis|um|zimmer|nummer"
    r"|depuis"
    r"|chambre|numéro|desde|habitación|número|dal|camera|numero|desde|quarto|extension|ext|bus|line|year|ending in"
    r"|phone|call"
    r"|from|option|version)\.?|#)[ ]\Z",
    ANY_CASE,
)
_SELF_NAMED = re.compile(rf"(?<![\"'])\b(?:{SELF_NAMED_CODE}|pin)\b", ANY_CASE)
_ANY_PLACE = re.compile(rf"\b{PLACE}\b", ANY_CASE)
_STEM_WORDS = """
    code cód codi combo combi kombi pin puk clav zahl nummer cvv cvc pad box numero use type enter punch press dial
    tip gib drück tape composez marca teclea digit open takes wants geht öffnet ouvre abre apre pon
"""
_STEMS = tuple(_STEM_WORDS.split())


def find_spoken_codes(text: str) -> Iterator[SecretSpan]:
    """Yield every number that is said to open a door, a card, a safe or an account."""
    lowered = text.lower()
    if not any(stem in lowered for stem in _STEMS):
        return
    for match in _TOKEN.finditer(text):
        value = match.group()
        if sum(map(str.isalnum, value)) < 3 or sum(map(str.isdigit, value)) > MAX_DIGITS:
            continue
        before = _SENTENCE_END.split(text[max(0, match.start() - _CHARS_BEFORE) : match.start()])[-1]
        after = _SENTENCE_END.split(text[match.end() : match.end() + _CHARS_AFTER])[0]
        if not UNITS.match(after) and _is_announced(before, after):
            yield SecretSpan(*match.span(), "code")


def _is_announced(before: str, after: str) -> bool:
    """Return whether the words around a number say that it is a code and what it opens."""
    named = _NAMED.search(before)
    if named:
        is_place_named = _SELF_NAMED.search(before) or _ANY_PLACE.search(before) or _ANY_PLACE.search(after)
        return bool(is_place_named) and HARMLESS_CODE.search(before[max(0, named.start() - 16) :]) is None
    mentioned = list(_CODE_NAME.finditer(before + "\0" + after))
    if mentioned and not _NOT_A_CODE_BEFORE.search(before):
        around = before + "\0" + after
        return _LOCK.search(around) is not None and HARMLESS_CODE.search(around) is None
    if _OPENED.search(before) or _NAMED_AFTER.match(after):
        return True
    return _TYPED.search(before) is not None and bool(_TYPED_AFTER.match(after) or _UNLOCK.search(before))
