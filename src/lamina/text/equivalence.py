"""Decide whether two texts say the same: whether they differ only in ways that cannot change the meaning."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lamina.text.analyser import analyse
from lamina.text.normal_form import normal_form, to_nfkc

MIN_OVERLAP_TENTHS = 9
"""The overlap of two word sets (Jaccard), in tenths, from which they may say the same."""


@dataclass(frozen=True, slots=True)
class ComparisonForm:
    """A text in a form for comparison: its normal form, the signs that must match in order, and its tokens."""

    normal_form: str
    signs: tuple[str, ...]
    tokens: tuple[str, ...]
    token_set: frozenset[str]


def comparison_form(text: str) -> ComparisonForm:
    """Return the text in a form for comparison."""
    form = normal_form(text)
    tokens = tuple(dict.fromkeys(token for word in form.split() for token in _word_tokens(word)))
    return ComparisonForm(form, _find_signs(text), tokens, frozenset(tokens))


def are_equivalent(one: ComparisonForm, other: ComparisonForm) -> bool:
    """Return whether two texts have the same or nearly the same words, and the same numbers, dates, negations and
    hedges.

    A text without words is not equivalent to any other.
    """
    return (
        bool(one.normal_form)
        and one.signs == other.signs
        and (one.normal_form == other.normal_form or are_nearly_equal(one, other))
    )


def are_nearly_equal(one: ComparisonForm, other: ComparisonForm) -> bool:
    """Return whether the words overlap by 0.9, one side has no word that the other lacks, and the shared words are in
    the same order.

    A word in place of another may be a changed value, so a replaced word is a difference.
    """
    shared = one.token_set & other.token_set
    if 10 * len(shared) < MIN_OVERLAP_TENTHS * len(one.token_set | other.token_set):
        return False
    if len(shared) < min(len(one.token_set), len(other.token_set)):
        return False
    first, second = ([token for token in form.tokens if token in shared] for form in (one, other))
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
_NUMBER_WORDS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen
    half once twice first second third last next
"""
_DATE_WORDS = """
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
    january february march april june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    today tonight yesterday tomorrow morning noon afternoon evening midnight weekend spring summer autumn fall winter
"""
_SIGN_WORDS = frozenset(f"{_NEGATIONS} {_HEDGES} {_NUMBER_WORDS} {_DATE_WORDS}".split())
_NOT_WORDS = """
    not cannot aint arent cant couldnt didnt doesnt dont hadnt hasnt havent isnt mustnt neednt shant shouldnt wasnt
    werent wont wouldnt
"""
_NOT = frozenset(_NOT_WORDS.split())
_SIGN = re.compile(
    r"(?:(?<!\w)[-+±~<>≤≥])?[$€£¥₹#]?\d+(?:[.,:/-]\d+)*+(?:\s?[%‰°$€£¥₹])?|[?؟]+|[^\W\d_]+(?:'[^\W\d_]+)?"
)
_UNSPACED_NEGATION = re.compile(r"[不没沒無无非未別别勿否않없]|아니|ない|なかっ|ません")


def _word_tokens(word: str) -> Sequence[str]:
    """Return the word itself, unstemmed because "lived" is not "lives"; its parts if its script has no spaces."""
    return (word,) if word.isascii() else analyse(word)


def _find_signs(text: str) -> tuple[str, ...]:
    """Return the signs that must be the same in the same order."""
    folded = to_nfkc(text).casefold().replace("’", "'")
    signs = filter(None, map(_normalise_sign, _SIGN.findall(folded)))
    return (*signs, *_UNSPACED_NEGATION.findall(folded))


def _normalise_sign(text: str) -> str:
    if text[0] in "?؟":
        return "?"
    if not text[0].isalpha():
        return text.replace(" ", "")
    word = text.replace("'", "")
    return "not" if word in _NOT else word if word in _SIGN_WORDS else ""
