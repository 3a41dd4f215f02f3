"""Words of a sentence that only tell when: they are no part of what is compared."""

from __future__ import annotations

import re

from lamina.text.tokens import tokens

_ADVERBIAL = re.compile(
    r"\b(?:(?:since|from|as of|starting|beginning|effective|until|till|by|ever since)\s+(?:the\s+)?"
    r"(?:(?:start|end|beginning|middle)\s+of\s+)?(?:(?:last|next|this|early|late|mid)[\s-]+)?"
    r"(?:today|tomorrow|yesterday|now|then|week(?:end)?|month|year|spring|summer|autumn|fall|winter|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|"
    r"november|december|\d{4}|\d{1,2}(?:st|nd|rd|th)?(?:\s+(?:of\s+)?(?:january|february|march|april|may|june|"
    r"july|august|"
    r"september|october|november|december))?(?:\s+\d{4})?(?!\s*[:.]\d|\s*[ap]m))\b(?:\s+onwards?)?"
    r"|(?:(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten|couple of|few|\d+)\s+)"
    r"(?:day|week|month|year|hour|minute|night|morning)s?\s+(?:ago|back|earlier)"
    r"|for\s+the\s+(?:past|last)\s+(?:\w+\s+)?(?:day|week|month|year)s?"
    r"|(?:in|within)\s+(?:a|one|two|three|four|five|six|\d+)\s+(?:day|week|month|year)s?(?:['’]s?\s+time)?"
    r"|(?:last|next|this|the\s+other)\s+(?:week(?:end)?|month|year|night|evening|morning|spring|summer|autumn|fall|"
    r"winter|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|"
    r"october|november|december|day)"
    r"|(?:at|over|on)\s+the\s+weekend|these days|right now|at the moment|at present|for now|by the way|as it happens|"
    r"as of now|from now on|going forward|in the end|a while (?:ago|back)|earlier this (?:week|month|year)|"
    r"the other day|yesterday|today|tonight|tomorrow|nowadays|recently|lately)\b",
    re.IGNORECASE,
)
_EVENT_DAY = re.compile(
    r"\b(?:on|in)\s+(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:the\s+)?\d{1,2}(?:st|nd|rd|th)?(?:\s+(?:of\s+)?"
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december))?|"
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)(?:\s+\d{1,4})?)\b",
    re.IGNORECASE,
)
_CHANGING = re.compile(
    r"\b(?:moved|relocated|switched|changed|left|joined|started|quit|sold|bought|replaced|swapped|took over|retired|"
    r"resigned|migrated|became)\b",
    re.IGNORECASE,
)


def without_dates(text: str) -> str:
    """The sentence with what only tells when blanked out, every other character in its place."""
    blanked = _ADVERBIAL.sub(lambda found: " " * len(found.group()), text)
    if _CHANGING.search(blanked):
        kept = _EVENT_DAY.sub(lambda found: " " * len(found.group()), blanked)
        if any(token.is_typed for token in tokens(kept)):
            return kept
    return blanked
