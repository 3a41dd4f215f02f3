"""Whether two sentences fill one slot with two values though they say it in other words.

Every pair of values that could stand for each other is weighed by what speaks for and against it: how much of what the
old sentence says is meant by the new one, word by word, whether the values are of one sort, and whether anything tells
of a change. The weights were learned once from conversations in which it is known what changed, and from talk in which
nothing did; `scripts/learn_slots.py` does it again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lamina.capture.change.another import cuts_a_name, is_about_another, is_number_of
from lamina.capture.change.cues import Cue
from lamina.capture.change.items import CONTACT, ME, Item
from lamina.capture.change.place import TOWARDS
from lamina.capture.change.runs import COUNTS, is_near, runs_of
from lamina.capture.change.told import Part, Told
from lamina.text.closed import word_set
from lamina.text.tokens import TokenKind

Sense = Callable[[str, str], float]
"""How near two words are in meaning, from 0 to 1."""
Features = tuple[float, ...]

NAMES = (
    "meant", "said", "subject", "subject is me", "name", "number", "when", "contact", "same sort", "same lead",
    "same sort of lead", "weak cue", "strong cue", "correction", "new in passing", "alike", "old value named",
    "same unit", "keys", "names lost", "lost", "more", "old words", "new words", "least noun", "head", "an event",
    "value first",
)  # fmt: skip
BIAS = -5.913
WEIGHTS = (
    10.720,  # meant
    -9.252,  # said
    -0.532,  # subject
    0.218,  # subject is me
    2.528,  # name
    3.376,  # number
    2.468,  # when
    5.120,  # contact
    1.898,  # same sort
    0.003,  # same lead
    1.803,  # same sort of lead
    0.040,  # weak cue
    1.906,  # strong cue
    0.839,  # correction
    -0.104,  # new in passing
    2.032,  # alike
    1.452,  # old value named
    2.081,  # same unit
    1.775,  # keys
    -1.051,  # names lost
    -3.029,  # lost
    -1.335,  # more
    -0.407,  # old words
    0.020,  # new words
    -0.550,  # least noun
    3.610,  # head
    -1.843,  # an event
    -1.167,  # value first
)

_LONGEST_OLD, _LONGEST_NEW = 5, 6
_LAST_OLD, _LAST_NEW = 4, 6
_FEWEST = 3
_NEARBY = 0.25
"""What unrelated words have in common anyhow."""
_PLACING = word_set("in at on to into onto behind outside near under over from inside")
_UNIT_AFTER = 2
_HEAD, _NOUN = 0.4, 0.3
"""How near the new sentence must come to what the old one is about, and to each of its other nouns."""
_WENT = re.compile(
    r"\b(?:i|we|he|she|they|it)(?: \w+ly| just| also| once)? \w+(?:ed|ent|ought|ook|ame|aw|ew|ot)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Filling:
    """Two values that may fill one slot, and what speaks for it."""

    old: tuple[Item, ...]
    new: tuple[Item, ...]
    features: Features

    @property
    def names_old(self) -> bool:
        """Whether the new sentence names the old value as well."""
        return bool(self.features[NAMES.index("old value named")])

    @property
    def of_one_sort(self) -> bool:
        """Whether both values are names, or numbers, or days."""
        return bool(self.features[NAMES.index("same sort")])

    @property
    def alike_placed(self) -> bool:
        """Whether both stand behind a preposition that tells of the same."""
        return bool(self.features[NAMES.index("same lead")] or self.features[NAMES.index("same sort of lead")])

    @property
    def likely(self) -> float:
        """How likely it is, as log odds."""
        return BIAS + sum(weight * told for weight, told in zip(WEIGHTS, self.features, strict=True))


def best_filling(old: Told, new: Told, sense: Sense) -> Filling | None:
    """The likeliest pair of values; none where nothing tells of a change."""
    if not _may_tell(old, new):
        return None
    return max(fillings(old, new, sense), key=lambda each: each.likely, default=None)


def _may_tell(old: Told, new: Told) -> bool:
    """Whether anything could tell of a change: a cue, a way to something, or a word the old sentence has."""
    return (
        new.cue is not Cue.NONE
        or any(each.led in TOWARDS for each in new.whole.items)
        or not old.roots.isdisjoint(new.roots | new.around)
    )


def fillings(old: Told, new: Told, sense: Sense) -> Iterator[Filling]:
    """Every pair of values that could stand for each other, in any clause of the two sentences."""
    clauses = (part for part in old.parts[1:] if len(part.items) >= _FEWEST and part.end <= len(old.text))
    for one in (old.whole, *clauses):
        for other in new.parts:
            if not one.denied and not other.denied:
                yield from _Pair(old, new, one, other, sense).fillings()


class _Pair:
    """A clause of the old sentence beside one of the new one."""

    def __init__(self, old: Told, new: Told, one: Part, other: Part, sense: Sense) -> None:
        self._old, self._new, self._one, self._other, self._sense = old, new, one, other, sense
        self._here = new.words if other.end > len(new.text) else new.text
        self._shared = [each for each in one.items if each.root in other.roots]
        self._left = [each for each in one.items if each.root not in other.roots]
        self._came = [each for each in other.items if each.root not in one.roots]
        self._gone = _things(runs_of(self._left, one.items))
        self._instead = _things(runs_of(self._came, other.items))

    def fillings(self) -> Iterator[Filling]:
        for value in self._gone[-_LAST_OLD:]:
            for instead in self._instead[-_LAST_NEW:]:
                if len(value) <= _LONGEST_OLD and len(instead) <= _LONGEST_NEW and self._may_stand_for(instead, value):
                    yield Filling(value, instead, self._features(value, instead))

    def _may_stand_for(self, instead: Sequence[Item], value: Sequence[Item]) -> bool:
        head = _head(value)
        if not any(each.fits(head) or is_near(each, head) for each in instead):
            return False
        if len(self._key(value)) == 0 or is_number_of(value, self._one) or self._differs_elsewhere(value, instead):
            return False
        lost = [each for each in self._left if each not in value and each.root not in self._new.around]
        more = [each for each in self._came if each not in instead]
        if is_about_another(self._one, self._other, value, self._shared, lost, more):
            return False
        cut = cuts_a_name(value, self._one.items, self._shared)
        if cut and not cuts_a_name(instead, self._other.items, self._shared):
            return False
        return self._is_about_the_same(value, instead)

    def _is_about_the_same(self, value: Sequence[Item], instead: Sequence[Item]) -> bool:
        """Whether the new sentence speaks of whatever the old one is about, each of its nouns meant at least by half;
        fewer where it names the old value and tells of a change."""
        rest = [each for each in self._other.items if each not in instead and each.root != ME]
        key = self._key(value)
        subject = [each for each in key if each.at < self._one.verb_at]
        if subject and self._nearest(subject[-1], rest) < _HEAD:
            return False
        nouns = [each for each in key if each.is_key and (each.at < self._one.verb_at or not each.is_verb)]
        told = self._new.cue >= Cue.STRONG and self._names(value)
        return bool(nouns) and (told or min(self._nearest(each, rest) for each in nouns) >= _NOUN)

    def _names(self, value: Sequence[Item]) -> bool:
        """Whether the new sentence, or the one before it, names the old value."""
        named = [each.root for each in value if each.is_typed] or [each.root for each in value]
        elsewhere = {each.root for each in self._new.whole.items} | self._new.around
        return all(root in elsewhere for root in named)

    def _differs_elsewhere(self, value: Sequence[Item], instead: Sequence[Item]) -> bool:
        """Whether another name or number differs as well: then it is said of something else."""
        others = [each for run in self._gone if run is not value for each in run if each.is_typed]
        rivals = [each for run in self._instead if run is not instead for each in run]
        return any(each.fits(rival) for each in others for rival in rivals)

    def _key(self, value: Sequence[Item]) -> list[Item]:
        return [each for each in self._one.items if each not in value and each.root != ME]

    def _features(self, value: Sequence[Item], instead: Sequence[Item]) -> Features:
        key, rest = self._key(value), [each for each in self._other.items if each not in instead and each.root != ME]
        subject = [each for each in key if each.at < self._one.verb_at]
        head, cue = _head(value), self._new.cue
        mine, ours = (any(each.root == ME for each in part.items) for part in (self._one, self._other))
        first, last = value[0], instead[0]
        return (
            self._meant(key, rest),
            _weight(key, self._other.roots),
            self._meant(subject, rest) if subject else 0.5,
            float(not subject and mine and ours),
            float(head.kind is TokenKind.NAME or head.opens),
            float(head.kind in (TokenKind.NUMBER, TokenKind.MONEY)),
            float(head.kind in (TokenKind.DATE, TokenKind.TIME)),
            float(head.kind in CONTACT),
            float(any(each.fits(head) for each in instead)),
            float(bool(first.led) and first.led == last.led),
            float(first.led in _PLACING and last.led in _PLACING),
            float(cue is Cue.WEAK),
            float(cue is Cue.STRONG),
            float(cue is Cue.CORRECTION),
            float(self._new.passing),
            self._sense(_words(self._old.text, value), _words(self._here, instead)),
            float(self._names(value)),
            float(head.kind in COUNTS and self._unit(value, self._one) == self._unit(instead, self._other) != ""),
            min(4, sum(each.is_key or each.is_typed for each in key)) / 2,
            sum(each.kind is TokenKind.NAME and each.root not in self._other.roots for each in key),
            min(5, sum(each.root not in self._other.roots for each in key)) / 3,
            min(8, sum(each.root not in self._one.roots for each in rest)) / 4,
            min(30, self._one.words) / 10,
            min(30, self._other.words) / 10,
            min((self._nearest(each, rest) for each in key if each.is_key and not each.is_verb), default=0.5),
            self._nearest(subject[-1], rest) if subject else 0.5,
            float(_WENT.search(self._old.text) is not None),
            float(first.at < self._one.verb_at),
        )

    def _nearest(self, item: Item, rest: Sequence[Item]) -> float:
        """How near any word of the new sentence comes to one of the old."""
        if item.root in self._other.roots:
            return 1.0
        if item.is_typed:
            return 0.0
        word = self._old.text[item.start : item.end].lower()
        return max((self._sense(word, self._here[each.start : each.end].lower()) for each in rest), default=0.0)

    def _meant(self, key: Sequence[Item], rest: Sequence[Item]) -> float:
        """How much of what the old sentence says the new one says too, or means with another word."""
        near = (each.weight * max(0.0, self._nearest(each, rest) - _NEARBY) / (1.0 - _NEARBY) for each in key)
        return sum(near) / sum(each.weight for each in key)

    def _unit(self, value: Sequence[Item], part: Part) -> str:
        """What follows a number: what it counts."""
        after = (each for each in part.items if 0 < each.at - value[-1].at <= _UNIT_AFTER)
        return next((each.root for each in after), "")


def _things(found: Sequence[tuple[Item, ...]]) -> list[tuple[Item, ...]]:
    """Those that may be values: no lone verb, and not who speaks."""
    return [run for run in found if run[0].root != ME and not (len(run) == 1 and run[0].is_verb and not run[0].opens)]


def _head(value: Sequence[Item]) -> Item:
    return next((each for each in value if each.is_typed), value[0])


def _weight(key: Sequence[Item], roots: frozenset[str]) -> float:
    return sum(each.weight for each in key if each.root in roots) / sum(each.weight for each in key)


def _words(text: str, run: Sequence[Item]) -> str:
    return " ".join(text[each.start : each.end].lower() for each in run)
