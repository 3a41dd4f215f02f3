"""Near-duplicate hits share one place. Two texts are duplicates only if nothing in which they differ could matter."""

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
"""Texts whose stems overlap less than this cannot be duplicates: different words may share a stem, but equal words
always do."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a hit says. `speaker` and `day` are given for turns and events, not for facts that hold. An empty subject,
    kind, speaker or day is compatible with any."""

    text: str
    subject: str = ""
    kind: str = ""
    speaker: str = ""
    day: date | None = None


@dataclass(frozen=True, slots=True)
class Collapsed:
    """Indexes into the list of hits: those that keep a place, in order, and for some of them the hits folded into
    it."""

    kept: tuple[int, ...]
    folded: dict[int, list[int]]


@dataclass(frozen=True, slots=True)
class _Compared:
    """A hit prepared for comparison."""

    said: Said
    words: Form
    subject: str
    speaker: str


@dataclass(slots=True)
class _Slots:
    """The places taken so far, indexed by normal form and by the rarest tokens."""

    by_form: dict[str, list[int]] = field(default_factory=dict)
    by_token: dict[str, list[int]] = field(default_factory=dict)
    groups: dict[int, list[int]] = field(default_factory=dict)


def collapse(hits: Sequence[Said]) -> Collapsed:
    """Fold each hit into the first place that says the same; places keep the order of the hits.

    Two hits say the same if their normal forms are equal, or if their word sets overlap by .9, one side has no word of
    its own (a different word may be a changed value) and the shared words come in the same order. In both cases
    numbers, dates, negations, hedges and question marks must be equal, and no kind, subject, speaker or day in the
    whole place may differ: a fact and the turn it was extracted from are two things. A text without words equals no
    other.
    """
    if not _some_alike(hits):
        return Collapsed(tuple(range(len(hits))), {})
    forms = [_compared(content) for content in hits]
    commonness = Counter(token for form in forms for token in form.words.members)
    slots = _Slots()
    for n, form in enumerate(forms):
        rarest = sorted(form.words.members, key=lambda token: (commonness[token], token))
        # Sets that overlap by nine tenths share at least one of this many rarest tokens, in any order that all use.
        rarest = rarest[: len(rarest) - -(-len(rarest) * ALIKE_TENTHS // 10) + 1]
        place = _slot(form, forms, slots, rarest)
        if place is not None:
            slots.groups[place].append(n)
            continue
        slots.groups[n] = [n]
        slots.by_form.setdefault(form.words.form, []).append(n)
        for token in rarest if form.words.form else ():
            slots.by_token.setdefault(token, []).append(n)
    return Collapsed(tuple(slots.groups), {n: group[1:] for n, group in slots.groups.items() if len(group) > 1})


def _some_alike(hits: Sequence[Said]) -> bool:
    """Return whether any two texts have most of their words in common; if none do, there is nothing to compare."""
    words = [frozenset(analyse(content.text)) for content in hits]
    return any(
        10 * len(first & second) >= MOSTLY_TENTHS * len(first | second) for first, second in combinations(words, 2)
    )


def _slot(form: _Compared, forms: Sequence[_Compared], slots: _Slots, rarest: Sequence[str]) -> int | None:
    """Return the first place that a hit can share, or None."""
    if not form.words.form:
        return None
    equal = slots.by_form.get(form.words.form, [])
    similar = {n for token in rarest for n in slots.by_token.get(token, ()) if nearly(form.words, forms[n].words)}
    for n in sorted({*equal, *similar}):
        if all(_may_be_one(form, forms[other]) for other in slots.groups[n]):
            return n
    return None


def _may_be_one(one: _Compared, other: _Compared) -> bool:
    """Return whether nothing in which two hits differ could matter."""
    return (
        one.words.signs == other.words.signs
        and _fits(one.said.kind, other.said.kind)
        and _fits(one.subject, other.subject)
        and _fits(one.speaker, other.speaker)
        and _fits(one.said.day, other.said.day)
    )


def _fits(one: object, other: object) -> bool:
    """Return whether two values are equal or one of them is unknown."""
    return not one or not other or one == other


def _compared(said: Said) -> _Compared:
    return _Compared(said, form_of(said.text), normal_form(said.subject), normal_form(said.speaker))
