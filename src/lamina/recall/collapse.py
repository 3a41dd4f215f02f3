"""Near-duplicates take one slot. Two texts are one only if nothing in which they differ could be what matters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import combinations

from lamina.text.alike import ALIKE_TENTHS, Form, form_of, nearly
from lamina.text.analyse import analyse
from lamina.text.normal import normal_form

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
class _Compared:
    """A hit as it is compared."""

    said: Said
    words: Form
    subject: str
    speaker: str


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
    forms = [_compared(said) for said in hits]
    commonness = Counter(token for form in forms for token in form.words.members)
    slots = _Slots()
    for n, form in enumerate(forms):
        rarest = sorted(form.words.members, key=lambda token: (commonness[token], token))
        # Sets that overlap by nine tenths share one of so many of their rarest tokens, whichever order all agree on.
        rarest = rarest[: len(rarest) - -(-len(rarest) * ALIKE_TENTHS // 10) + 1]
        slot = _slot(form, forms, slots, rarest)
        if slot is not None:
            slots.groups[slot].append(n)
            continue
        slots.groups[n] = [n]
        slots.by_form.setdefault(form.words.form, []).append(n)
        for token in rarest if form.words.form else ():
            slots.by_token.setdefault(token, []).append(n)
    return Collapsed(tuple(slots.groups), {n: group[1:] for n, group in slots.groups.items() if len(group) > 1})


def _some_alike(hits: Sequence[Said]) -> bool:
    """Whether any two texts have most of their words in common; where none have, there is nothing to compare."""
    words = [frozenset(analyse(said.text)) for said in hits]
    return any(10 * len(one & other) >= MOSTLY_TENTHS * len(one | other) for one, other in combinations(words, 2))


def _slot(form: _Compared, forms: Sequence[_Compared], slots: _Slots, rarest: Sequence[str]) -> int | None:
    if not form.words.form:
        return None
    equal = slots.by_form.get(form.words.form, [])
    near = {n for token in rarest for n in slots.by_token.get(token, ()) if nearly(form.words, forms[n].words)}
    for n in sorted({*equal, *near}):
        if all(_may_be_one(form, forms[other]) for other in slots.groups[n]):
            return n
    return None


def _may_be_one(one: _Compared, other: _Compared) -> bool:
    return (
        one.words.signs == other.words.signs
        and _fits(one.said.kind, other.said.kind)
        and _fits(one.subject, other.subject)
        and _fits(one.speaker, other.speaker)
        and _fits(one.said.day, other.said.day)
    )


def _fits(one: object, other: object) -> bool:
    return not one or not other or one == other


def _compared(said: Said) -> _Compared:
    return _Compared(said, form_of(said.text), normal_form(said.subject), normal_form(said.speaker))
