"""Near-duplicates take one slot. Two texts are one only if nothing in which they differ could be what matters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import combinations

from lamina.text.analyse import analyse
from lamina.text.normal import compatible, normal_form

ALIKE_TENTHS = 9
"""Token sets that overlap by nine tenths (Jaccard) may be near-duplicates."""
MOSTLY_TENTHS = 8
"""Texts whose stems overlap by less cannot be: stems of different words may be the same, never the other way round."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a hit says. `speaker` and `day` are given for what was said or happened, not for what holds; an empty
    subject, kind or speaker, or no day, fits any."""

    text: str
    subject: str = ""
    kind: str = ""
    speaker: str = ""
    day: date | None = None


@dataclass(frozen=True, slots=True)
class Collapsed:
    """Places in the list of hits: those that keep their slot, in order, and for some of them those folded into it."""

    kept: tuple[int, ...]
    folded: dict[int, list[int]]


@dataclass(frozen=True, slots=True)
class _Form:
    """A hit as it is compared."""

    said: Said
    form: str
    subject: str
    speaker: str
    signs: tuple[str, ...]
    tokens: tuple[str, ...]
    members: frozenset[str]


@dataclass(slots=True)
class _Slots:
    """The slots taken so far, found by the whole form and by the rarest tokens."""

    by_form: dict[str, list[int]] = field(default_factory=dict)
    by_token: dict[str, list[int]] = field(default_factory=dict)
    groups: dict[int, list[int]] = field(default_factory=dict)


def collapse(hits: Sequence[Said]) -> Collapsed:
    """Fold each hit into the first slot that says the same; the order of the slots stays the order of the hits.

    The same: equal normal form; or word sets that overlap by .9, where one side has no word of its own (a word in place
    of another may be a changed value) and the shared words come in the same order. Either way with the same numbers,
    dates, negations, hedges and question marks, and no other kind, subject, speaker or day in the whole slot: a fact
    and the turn it was taken from are two things. A text without a word is like no other.
    """
    if not _some_alike(hits):
        return Collapsed(tuple(range(len(hits))), {})
    forms = [_form(said) for said in hits]
    commonness = Counter(token for form in forms for token in form.members)
    slots = _Slots()
    for n, form in enumerate(forms):
        rarest = sorted(form.members, key=lambda token: (commonness[token], token))
        # Sets that overlap by nine tenths share one of so many of their rarest tokens, whichever order all agree on.
        rarest = rarest[: len(rarest) - -(-len(rarest) * ALIKE_TENTHS // 10) + 1]
        slot = _slot(form, forms, slots, rarest)
        if slot is not None:
            slots.groups[slot].append(n)
            continue
        slots.groups[n] = [n]
        slots.by_form.setdefault(form.form, []).append(n)
        for token in rarest if form.form else ():
            slots.by_token.setdefault(token, []).append(n)
    return Collapsed(tuple(slots.groups), {n: group[1:] for n, group in slots.groups.items() if len(group) > 1})


def _some_alike(hits: Sequence[Said]) -> bool:
    """Whether any two texts have most of their words in common; where none have, there is nothing to compare."""
    words = [frozenset(analyse(said.text)) for said in hits]
    return any(10 * len(one & other) >= MOSTLY_TENTHS * len(one | other) for one, other in combinations(words, 2))


def _slot(form: _Form, forms: Sequence[_Form], slots: _Slots, rarest: Sequence[str]) -> int | None:
    if not form.form:
        return None
    equal = slots.by_form.get(form.form, [])
    near = {n for token in rarest for n in slots.by_token.get(token, ()) if _near(form, forms[n])}
    for n in sorted({*equal, *near}):
        if all(_may_be_one(form, forms[other]) for other in slots.groups[n]):
            return n
    return None


def _near(one: _Form, other: _Form) -> bool:
    shared = one.members & other.members
    if 10 * len(shared) < ALIKE_TENTHS * len(one.members | other.members):
        return False
    if len(shared) < min(len(one.members), len(other.members)):
        return False
    first, second = ([token for token in each.tokens if token in shared] for each in (one, other))
    return first == second


def _may_be_one(one: _Form, other: _Form) -> bool:
    return (
        one.signs == other.signs
        and _fits(one.said.kind, other.said.kind)
        and _fits(one.subject, other.subject)
        and _fits(one.speaker, other.speaker)
        and _fits(one.said.day, other.said.day)
    )


def _fits(one: object, other: object) -> bool:
    return not one or not other or one == other


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


def _form(said: Said) -> _Form:
    form = normal_form(said.text)
    tokens = tuple(dict.fromkeys(token for word in form.split() for token in _tokens(word)))
    return _Form(
        said, form, normal_form(said.subject), normal_form(said.speaker), _signs(said.text), tokens, frozenset(tokens)
    )


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
