"""Whether what a sentence tells of lasts: not a mood, a deed, a day or a time gone by."""

from __future__ import annotations

import re

from lamina.capture.change.cues import STRONG
from lamina.text.closed import word_set
from lamina.text.verbs import base_form, is_past

_MOOD = re.compile(
    r"\bi(?:'m| am|'ve| have|'d| would|'ll| will)?\b(?: \w+){0,3}? (?:want(?:ed)? to|looking (?:forward|for|to|"
    r"into)|look forward|"
    r"interested|intrigued|curious|worried|concerned|excited|glad|happy|hoping|thinking|planning|considering|wondering|"
    r"need to|love to|like to (?!be called)|all set|ready|torn|research(?:ed|ing)|going to (?:start|try|check|"
    r"look|add|make|go|use)|"
    r"think i'll|remember(?:ed)?|realized?|realised?|noticed|struggling|trying)\b",
    re.IGNORECASE,
)
_AT_IT = re.compile(
    r"\b(?:have|'ve|has|'s) (?:\w+ )?been (?:\w+ )?(?!based|called|named|made|moved)\w+ing\b", re.IGNORECASE
)
_DEED = re.compile(
    r"\b(?:i|we)(?: (?:just|also|recently|already|finally|actually|even|really|once|did))* (\w+)\b", re.IGNORECASE
)
_THERE = re.compile(r"^\W*(?:[\w ]{0,30}\s)?there(?:'s| is| are| was| were)\b", re.IGNORECASE)
_DONE = re.compile(
    r"\b(?:i|we|(?:\w+ )?(?:has|have|had|'ve)) (?:\w+ )?(?:completed|finished|visited|seen|tried|watched|read|"
    r"attended|played|been "
    r"diagnosed|got diagnosed|got to|did \w+)\b|\bdiagnosed me\b",
    re.IGNORECASE,
)
_FOR_A_WHILE = re.compile(
    r"\b(?:on holiday|for (?:the|this) (?:day|night|weekend|afternoon|morning|evening|week)(?=[,.!;]|$)|just for|"
    r"for (?:an?|one|two|three|a few) (?:hours?|days?|nights?|weeks?)|temporarily|for the time being|"
    r"st(?:oo|an)d(?:s|ing)? in for|fill\w* in for)\b",
    re.IGNORECASE,
)
_VISITING = re.compile(
    r"\b(?:spent|visited|watched|attended|toured|dreamt|dreamed|tasted|saw|met|went (?:on|for|to (?:a|an|see)))\b",
    re.IGNORECASE,
)
FOR_GOOD = re.compile(
    r"\b(?:born|grew up|graduated|trained|(?:was|were) (?:founded|built|established|named after))\b", re.IGNORECASE
)
_SETTLING = word_set("""
    move join start switch become change hire name choose settle sign enrol enroll register marry rename appoint elect
    put set go rent plant take relocate transfer convert migrate retire quit leave drop sell keep live work have be own
    get book
""")
COMES_TO = re.compile(r"\b(?:up|down|over|back) to \W?\d", re.IGNORECASE)
_LONG_AGO = re.compile(
    r"\b(?:back (?:in (?:the|my|\d{4})|at|when|then)|in the (?:\d0s|\d{4}s|(?:sixt|sevent|eight|ninet)ies|noughties)|"
    r"in (?:19|200|201)\d\d?|"
    r"last (?:year|time|season|summer|winter|spring|autumn|christmas)\b[^.!?]*\b(?:was|were|held)|"
    r"(?:my|our|the) (?:old|former|previous|last) [\w ]{2,40}?(?:,[^,]*,)? was|in my \w+'s day|at (?:\d\d|the time) i|"
    r"years ago|decades ago|once upon|originally|in those days|at first|before (?:that|then|i was)|as a (?:kid|"
    r"child|student))\b",
    re.IGNORECASE,
)


def is_passing(text: str) -> bool:
    """Whether it tells of a mood, a wish, something done once or something one is just at: nothing that holds."""
    if COMES_TO.search(text):
        return False
    if _MOOD.search(text) or _AT_IT.search(text) or _THERE.match(text):
        return True
    if _DONE.search(text) or _VISITING.search(text):
        return True
    deed = _DEED.search(text)
    return deed is not None and is_past(deed.group(1).lower()) and base_form(deed.group(1).lower()) not in _SETTLING


def is_over(text: str) -> bool:
    """Whether a sentence only tells how it was, "back in the nineties our boat was the Gannet", or is for a while."""
    return bool(_LONG_AGO.search(text) and not STRONG.search(text)) or _FOR_A_WHILE.search(text) is not None
