"""Whether two sentences fill one slot with two values: the old one less its value is said by the new one as well.

No list of attributes is needed. What both share is the key, what differs is the value, and the value must be of a sort
with what stands in its place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from lamina.capture.change.another import (
    cuts_a_name,
    is_about_another,
    is_number_of,
    is_subject_of_another,
)
from lamina.capture.change.cues import Cue
from lamina.capture.change.items import CONTACT, ME, Item, root_of
from lamina.capture.change.place import TOWARDS, is_in_one_place, is_placed_alike, nearness
from lamina.capture.change.runs import COUNTS, is_near, runs_of
from lamina.capture.change.told import Part, Told
from lamina.text.closed import PREPOSITIONS, word_set
from lamina.text.tokens import TokenKind

NEEDED = {Cue.NONE: 0.70, Cue.WEAK: 0.60, Cue.STRONG: 0.45, Cue.CORRECTION: 0.40}
"""How much of the old sentence's key the new one must hold, by how strongly it tells of a change."""
NEEDED_FOR_CONTACT, NEEDED_FOR_NEW_CONTACT = 0.50, 0.35
_LONGEST_VALUE, _MOST_LOST, _MOST_EXTRA, _MOST_EXTRA_WITH_CUE = 5, 3, 3, 7
_SHORT = 12
_FEWEST, _MOST_WORDS = 3, 3
"""Words that a clause of the old sentence needs to be compared by itself."""
_TRAILING = 0.3
"""What words behind the value count: they tell more of it, not what it is the value of."""
_SAME_LEAD = 0.1
_ONE_OF = re.compile(r"\b(?:one|another|some|both|two|three) of (?:my|our|the|his|her|their)\b", re.IGNORECASE)
_IN_RETURN = word_set("for with by")
_SWAPPING = re.compile(r"\b(?:swapp|trad|replac|exchang|switch)(?:ed|ing)\b", re.IGNORECASE)
_A_NEW = re.compile(r"\b(?:an?|our|my|the|his|her|their) new (\w+)", re.IGNORECASE)
_STAYING = re.compile(r"\b(?:stays?|staying|remains?|carr(?:y|ies|ying) on|as well|too)\b", re.IGNORECASE)
_CONTACT_WORDS = frozenset(map(root_of, word_set("email e-mail mail phone number mobile contact address line case")))
_SEVERAL = frozenset(map(root_of, word_set("""
    play speak like love enjoy collect visit know read own watch follow support eat drink buy have allergic subscribe
    grow keep teach learn study sell offer make write use like hate adore dislike fancy volunteer sponsor feed
""")))  # fmt: skip
"""Verbs whose objects may be several at once."""
_SEVERAL_TO = frozenset(map(root_of, word_set("allergic subscribe")))
_OBJECT_AFTER = 3


@dataclass(frozen=True, slots=True)
class Difference:
    """The value the old sentence has and the one the new sentence has in its place; how much of the key both share."""

    old: tuple[Item, ...]
    new: tuple[Item, ...]
    shared: tuple[Item, ...]
    coverage: float
    lost: int
    extra: int
    cue: Cue
    same_shape: bool
    strict: float
    words: int
    led_to: bool
    names_old: bool
    placed: bool
    fixed: bool

    @property
    def exact(self) -> bool:
        """Whether nothing but the value differs."""
        return self.lost == 0 and self.extra == 0 and self.strict >= 0.99

    @property
    def typed(self) -> bool:
        """Whether the values are names, numbers, times or addresses, which a word of praise is never taken for."""
        first, other = self.old[0], self.new[0]
        return first.is_typed or (first.opens and first.is_key and (other.is_typed or other.opens))


def differ(old: Told, new: Told) -> Difference | None:
    """How two sentences differ in one value, if that is all they differ in; the best of all pairs of their parts."""
    if not old.roots & new.roots:
        return None
    found = [
        each
        for one in (old.whole, *(each for each in old.parts[1:] if len(each.items) >= _FEWEST))
        for other in new.parts
        if not other.denied and not (one.denied and old.whole is not one) and (each := _differ(one, other, old, new))
    ]
    return max(found, key=lambda each: (each.typed, each.coverage, len(each.shared), -each.extra), default=None)


def _differ(one: Part, other: Part, old: Told, new: Told) -> Difference | None:
    shared = tuple(each for each in one.items if each.root in other.roots)
    left = [each for each in one.items if each.root not in other.roots]
    came = [each for each in other.items if each.root not in one.roots]
    if not left or not came or not shared or _far_apart(left, came, shared, new):
        return None
    runs, news = runs_of(left, one.items), runs_of(came, other.items)
    value = _value(runs, news, one.verb_at)
    if value is None:
        return None
    instead = _instead(value, news, new.cue, one, other)
    if instead is None:
        return None
    if is_number_of(value, one):
        return None
    if cuts_a_name(value, one.items, shared) and not cuts_a_name(instead, other.items, shared):
        return None
    lost = [each for each in left if each not in value and each.root not in new.around]
    extra = [each for each in came if each not in instead]
    cue = _cue(new, other, value, instead, shared)
    if is_subject_of_another(value, one, shared, cue):
        return None
    keyed = any(each.is_key or (each.is_typed and value[0].is_typed) for each in shared) or _is_compound(shared)
    if not keyed and not (cue >= Cue.STRONG and not lost and any(each.root != ME for each in shared)):
        return None
    same_shape = not _other_shape(value, instead)
    if is_about_another(one, other, value, shared, lost, extra, told=cue >= Cue.STRONG) or (
        cue < Cue.STRONG and not same_shape
    ):
        return None
    kept, missing = _weight(shared), _missing(lost, value, one)
    lead = _SAME_LEAD if value[0].led and value[0].led == instead[0].led and value[0].led in PREPOSITIONS else 0.0
    coverage = strict = min(1.0, kept / (kept + missing) + lead)
    if cue is not Cue.NONE:
        both = (coverage + kept / (kept + _weight(extra))) / 2
        coverage = max(coverage, both)
    found = Difference(
        value,
        instead,
        shared,
        coverage,
        len(lost),
        len(extra),
        cue,
        same_shape,
        strict,
        other.words,
        _is_led_to(instead, new),
        _names_old(new, other, value),
        is_placed_alike(value, instead, one, other),
        is_in_one_place(value, instead, one, other),
    )
    return found if _is_enough(found, one, other, cue) else None


def _far_apart(left: Sequence[Item], came: Sequence[Item], shared: Sequence[Item], new: Told) -> bool:
    """Whether two parts differ in more than any value could account for, so that nothing else need be looked at."""
    lost = sum(each.root not in new.around for each in left)
    if lost > _LONGEST_VALUE + _MOST_LOST or len(came) > _LONGEST_VALUE + _MOST_EXTRA_WITH_CUE:
        return True
    return (
        lost > _LONGEST_VALUE and not any(each.is_key or each.is_typed for each in shared) and not _is_compound(shared)
    )


def _is_compound(shared: Sequence[Item]) -> bool:
    """Whether words that say little by themselves stand together on both sides: the nightly load."""
    return any(ME not in (one.root, other.root) and other.at - one.at == 1 for one, other in pairwise(shared))


def _cue(new: Told, part: Part, value: Sequence[Item], instead: Sequence[Item], shared: Sequence[Item]) -> Cue:
    """What tells of a change; another clause that names the old value tells what became of it, and so does a new one of
    what both speak of."""
    told = _names_old(new, part, value) or _is_led_to(instead, new) or _is_renewed(new, shared)
    return max(new.cue, Cue.STRONG) if told else new.cue


def _is_renewed(new: Told, shared: Sequence[Item]) -> bool:
    """ "The hut has a new warden": there was another before."""
    named = {root_of(found.group(1).lower()) for found in _A_NEW.finditer(new.text)}
    return "one" in named or any(each.root in named and each.is_key for each in shared)


def _names_old(new: Told, part: Part, value: Sequence[Item]) -> bool:
    """Whether another clause or the sentence before names the old value: it tells what became of it."""
    elsewhere = ({each.root for each in new.whole.items} | new.around) - {each.root for each in part.items}
    named = [each for each in value if each.is_typed] or value
    return all(each.root in elsewhere for each in named) and not _STAYING.search(new.text)


def _is_led_to(instead: Sequence[Item], new: Told) -> bool:
    """ "Pushed to Friday", "up to £7", "swapped it for a Bosch": whatever was done, this is what it came to."""
    if instead[0].led in TOWARDS:
        return instead[0].is_typed or instead[0].led != "to"
    return instead[0].led in _IN_RETURN and _SWAPPING.search(new.text) is not None


def _other_shape(value: Sequence[Item], instead: Sequence[Item]) -> bool:
    """Whether plain words stand differently: what somebody is ("a nurse") is no change of how they are."""
    if value[0].is_typed or value[0].opens or instead[0].is_typed or instead[0].opens:
        return False
    return value[0].article != instead[0].article


def _value(runs: Sequence[tuple[Item, ...]], news: Sequence[tuple[Item, ...]], verb_at: int) -> tuple[Item, ...] | None:
    """The run that is the value: one with a sort before plain words, the later before the earlier. Where two runs have
    something of their sort in the new sentence, two things differ, and then it is about something else."""
    typed = [run for run in runs if any(each.is_typed or each.opens for each in run)]
    met = [run for run in typed if any(each.fits(other) for each in run for new in news for other in new)]
    if len(met) > 1 and not _is_one_name(met):
        return None
    typed = met or typed
    if len(typed) > 1:
        return None
    if typed and any(each.is_typed for each in typed[0]):
        counts = tuple(each for each in typed[0] if each.kind in COUNTS)
        named = any(each.kind is TokenKind.NAME for each in typed[0])
        return typed[0] if named or not counts else counts
    plain = typed or [run for run in runs if run[0].root != ME]
    return plain[-1] if plain and _is_thing(plain[-1]) and (typed or _follows(plain[-1], verb_at)) else None


def _follows(run: Sequence[Item], verb_at: int) -> bool:
    """Whether plain words stand behind the verb and hold none: what a sentence is about is not its value."""
    return run[0].at >= verb_at and not any(each.is_verb and each.at == verb_at for each in run)


def _is_thing(run: Sequence[Item]) -> bool:
    """Whether plain words name one thing; several with a verb among them are half a sentence."""
    return len(run) == 1 or (len(run) <= _MOST_WORDS and not run[0].is_verb)


def _is_one_name(runs: Sequence[tuple[Item, ...]]) -> bool:
    return len({each.kind for run in runs for each in run}) == 1 and runs[0][0].kind is TokenKind.DATE


def _instead(value: Sequence[Item], news: Sequence[tuple[Item, ...]], cue: Cue, one: Part, other: Part) -> (
    tuple[Item, ...] | None
):  # fmt: skip
    """What stands in the value's place: of the same sort, else of a near one where a cue tells of a change."""
    head = next((each for each in value if each.is_typed), value[0])
    whole = head.kind in (TokenKind.NAME, TokenKind.WORD)
    fitting = [run if whole else tuple(each for each in run if each.fits(head)) for run in news
               if any(each.fits(head) and each.root != ME for each in run)]  # fmt: skip
    if not fitting and cue is not Cue.NONE:
        fitting = [run for run in news if run[0].root != ME and any(is_near(each, head) for each in run)]
    return max(fitting, key=lambda run: (nearness(value, run, one, other), run[0].at), default=None)


def _weight(found: Sequence[Item]) -> float:
    return sum({each.root: each.weight for each in found}.values())


def _missing(lost: Sequence[Item], value: Sequence[Item], part: Part) -> float:
    """What the new sentence leaves out of the old one's key; what stands behind the value hardly belongs to it."""
    leads = value[0].at > part.verb_at and any(each.at < value[0].at and each.root != ME for each in part.items)
    lost = [each for each in lost if not (value[0].kind in CONTACT and each.root in _CONTACT_WORDS)]
    before = [each for each in lost if not leads or each.at < value[0].at]
    after = [each for each in lost if each not in before]
    return _weight(before) + _TRAILING * _weight(after)


def _is_enough(found: Difference, one: Part, other: Part, cue: Cue) -> bool:
    needed = NEEDED[cue]
    if found.old[0].kind in CONTACT:
        needed = NEEDED_FOR_CONTACT if cue < Cue.STRONG else NEEDED_FOR_NEW_CONTACT
    if found.coverage < needed or len(found.old) > _LONGEST_VALUE or len(found.new) > _LONGEST_VALUE:
        return False
    if found.lost > _MOST_LOST or found.extra > (_MOST_EXTRA if cue is Cue.NONE else _MOST_EXTRA_WITH_CUE):
        return False
    if found.typed:
        return True
    short = one.words <= _SHORT and other.words <= 2 * _SHORT
    return short and (cue >= Cue.STRONG or found.lost == 0)


def may_be_more(item: Item) -> bool:
    """Whether a word leads to one of several, preposition or not: allergic to, subscribed to."""
    return item.root in _SEVERAL_TO


def may_be_one_of(value: Sequence[Item], told: Told) -> bool:
    """Whether a value is one of several that may hold at once: the bare object of a verb such as play or own."""
    first = value[0]
    if first.kind in COUNTS:
        return False
    if _ONE_OF.search(told.text):
        return True
    verb = next((each for each in reversed(told.whole.items) if each.at < first.at and each.root in _SEVERAL), None)
    if verb is None or first.at - verb.at > _OBJECT_AFTER:
        return False
    return first.led not in PREPOSITIONS or verb.root in _SEVERAL_TO
