"""When two texts say the same: nothing in which they differ could be what matters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lamina.text.analyse import analyse
from lamina.text.normal import compatible, normal_form

ALIKE_TENTHS = 9
"""Word sets that overlap by nine tenths (Jaccard) may say the same."""


@dataclass(frozen=True, slots=True)
class Form:
    """A text as it is compared: its normal form, what must be the same in the same order, and its words."""

    form: str
    signs: tuple[str, ...]
    tokens: tuple[str, ...]
    members: frozenset[str]


def form_of(text: str) -> Form:
    """The text as it is compared."""
    form = normal_form(text)
    tokens = tuple(dict.fromkeys(token for word in form.split() for token in _tokens(word)))
    return Form(form, _signs(text), tokens, frozenset(tokens))


def say_the_same(one: Form, other: Form) -> bool:
    """Equal words, or nearly: with the same numbers, dates, negations and hedges. No words are like no others."""
    return bool(one.form) and one.signs == other.signs and (one.form == other.form or nearly(one, other))


def nearly(one: Form, other: Form) -> bool:
    """Whether the words overlap by .9, where one side has no word of its own (a word in place of another may be a
    changed value) and the shared words come in the same order."""
    shared = one.members & other.members
    if 10 * len(shared) < ALIKE_TENTHS * len(one.members | other.members):
        return False
    if len(shared) < min(len(one.members), len(other.members)):
        return False
    first, second = ([token for token in each.tokens if token in shared] for each in (one, other))
    return first == second


_NEGATIONS = """
    no none never nobody nothing nowhere neither nor without hardly barely except stop stopped quit
    nicht nichts nie niemals kein keine keinen keinem keiner keines ohne
    ne pas jamais rien aucun aucune sans nunca jamás nada sin ni não nem sem non mai senza niet geen nooit zonder
    inte aldrig ikke aldri bez не нет ни никогда без
"""
_HEDGES = """
    if unless would could might may maybe perhaps probably possibly almost nearly only but instead until before after
    since used former formerly previous previously ex old was were had will
"""
_COUNTED = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen
    half once twice first second third last next
"""
_DATED = """
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
    january february march april june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    today tonight yesterday tomorrow morning noon afternoon evening midnight weekend spring summer autumn fall winter
"""
_SIGN_WORDS = frozenset(f"{_NEGATIONS} {_HEDGES} {_COUNTED} {_DATED}".split())
_NOT_WORDS = """
    not cannot aint arent cant couldnt didnt doesnt dont hadnt hasnt havent isnt mustnt neednt shant shouldnt wasnt
    werent wont wouldnt
"""
_NOT = frozenset(_NOT_WORDS.split())
_SIGN = re.compile(
    r"(?:(?<!\w)[-+±~<>≤≥])?[$€£¥₹#]?\d+(?:[.,:/-]\d+)*+(?:\s?[%‰°$€£¥₹])?|[?؟]+|[^\W\d_]+(?:'[^\W\d_]+)?"
)
_UNSPACED_NEGATION = re.compile(r"[不没沒無无非未別别勿否않없]|아니|ない|なかっ|ません")


def _tokens(word: str) -> Sequence[str]:
    """The word as it is, unstemmed because "lived" is not "lives"; its parts where a script has no spaces."""
    return (word,) if word.isascii() else analyse(word)


def _signs(text: str) -> tuple[str, ...]:
    """What must be the same in the same order."""
    folded = compatible(text).casefold().replace("’", "'")
    found = filter(None, map(_sign, _SIGN.findall(folded)))
    return (*found, *_UNSPACED_NEGATION.findall(folded))


def _sign(found: str) -> str:
    if found[0] in "?؟":
        return "?"
    if not found[0].isalpha():
        return found.replace(" ", "")
    word = found.replace("'", "")
    return "not" if word in _NOT else word if word in _SIGN_WORDS else ""
