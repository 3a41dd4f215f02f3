"""Other values in the same place: after the same opening, in the same slot, of the same count, at the same address."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from lamina.capture.change.cues import STRONG, Cue
from lamina.capture.change.items import CONTACT, ME, Item, root_of
from lamina.capture.change.link import LONGEST_SURE, SHORT_NEW, SHORT_OLD, Earlier, Found, Kind, P, kind_of, made
from lamina.capture.change.place import TOWARDS, is_said_again
from lamina.capture.change.plain import is_fragment, is_plain, is_state
from lamina.capture.change.slots import Difference, differ, may_be_more, may_be_one_of
from lamina.capture.change.told import Part, Told
from lamina.text.closed import AUXILIARIES, BE, DETERMINERS, PREPOSITIONS, word_set
from lamina.text.tokens import TokenKind
from lamina.text.verbs import looks_finite

_OPENING_WORDS, _TAIL_WORDS = 3, 6
_CALLING = frozenset({"called", "named"})
_LONGEST_NEW = 22
_LONG_COVERAGE, _LONG_EXTRA, _CORRECTED = 0.75, 4, 0.4
_MOST_ITEMS_SURE = 14
_REPLACING = re.compile(
    r"\b(?:instead|replac\w+|swapp\w+|traded|sold|no longer|any ?more|switched|got rid of|gave up|ditched|dropped)\b",
    re.IGNORECASE,
)
_REACHING = frozenset(map(root_of, word_set("""
    email e-mail mail phone number mobile contact address line write reach call text ring message send get hold use
    new today now private personal
""")))  # fmt: skip
_MEASURES = frozenset(map(root_of, word_set("""
    minute hour day week month year time people person dollar euro pound mile km kilometre kilometer percent page
    inch foot feet meter metre gram kg kilo cup step point part place thing way money item
""")))  # fmt: skip
_UNIT_AFTER = 2
_SUM = re.compile(
    r"\b(?:that makes|(?:we|i|they)(?:'re| are|'m| am) (?:now )?(?:up |down )?(?:to|at)|brings? (?:it|us|me|"
    r"the total) to)\b",
    re.IGNORECASE,
)
_USING = root_of("use")
_HAVING = frozenset({"have", "got"})


def same_opening(old: Earlier[P], new: Told) -> Found[P] | None:
    """Word for word the same up to the value: "She is married to …", whatever stands there."""
    one, other = old.told.text.rstrip(".! ").split(), new.text.rstrip(".! ").split()
    length = _shared_words(one, other)
    rest, instead = one[length:], other[length:]
    if not (length >= _OPENING_WORDS and 0 < len(rest) <= _TAIL_WORDS and 0 < len(instead) <= _TAIL_WORDS):
        return None
    opening = [word.lower() for word in one[:length]]
    last = next((word for word in reversed(opening) if word not in DETERMINERS), "")
    start = len(" ".join(one[:length]))
    before = [each for each in old.told.whole.items if each.start < start and each.root != ME]
    led = (
        (last in PREPOSITIONS or last in BE or last in _CALLING)
        and _has_verb(opening[1:])
        and not _has_verb([*rest, *instead])
    )
    if not led or not any(each.is_key or each.is_typed for each in before) or any(map(may_be_more, before)):
        return None
    was = [each for each in old.told.whole.items if each.start >= start]
    now = [each for each in new.whole.items if each.start >= start]
    if not was or not now or old.told.whole.denied != new.whole.denied:
        return None
    thing = any(each.is_typed or (each.is_key and not each.is_verb) for each in before)
    sure = thing and old.told.whole.words <= LONGEST_SURE and (was[0].fits(now[0]) or len(opening) > _OPENING_WORDS)
    found = made(old, kind_of(new), sure, was, now, 2.0 + len(before))
    return replace(found, pinned=found.pinned or sure, link=replace(found.link, exact=True))


def _has_verb(words: Sequence[str]) -> bool:
    return any(word.lower() in AUXILIARIES or looks_finite(word.lower()) for word in words)


def _shared_words(one: Sequence[str], other: Sequence[str]) -> int:
    alike = (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a.lower() != b.lower())
    return next(alike, min(len(one), len(other)))


def filled(old: Earlier[P], new: Told) -> Found[P] | None:
    """The old sentence is said again whole, and handed over to another of its value's sort."""
    if new.cue < Cue.STRONG:
        return None
    roots = {each.root for each in new.whole.items}
    if not all(each.root in roots for each in old.told.whole.items if each.root != ME):
        return None
    known = {each.root for each in old.told.whole.items}
    values = [each for each in old.told.whole.items if each.is_typed or each.opens]
    came = [each for each in new.whole.items if each.root not in known]
    if new.whole.words > SHORT_NEW:
        return None
    for value in reversed(values):
        instead = [each for each in came if each.fits(value) and each.root != ME]
        if instead and not any(part.items and _says_whole(part, old.told) for part in new.parts[1:]):
            return made(old, kind_of(new), True, [value], instead, 1.0 + len(known))
    return None


def _says_whole(part: Part, old: Told) -> bool:
    """Whether one clause alone still says all of the old sentence, undenied."""
    roots = {each.root for each in part.items}
    return not part.denied and {each.root for each in old.whole.items if each.root != ME} <= roots


def differs(old: Earlier[P], new: Told) -> Found[P] | None:
    """Both fill one slot, with different values."""
    found = differ(old.told, new)
    if found is None or _holds_several(found, old.told, new):
        return None
    strong = sum(each.is_key or each.is_typed for each in found.shared)
    worth = found.coverage * (strong + 0.5) * (1.0 if found.same_shape else 0.5)
    linked = made(old, kind_of(new), _is_sure(found, old.told, new), found.old, found.new, worth)
    return replace(
        linked, link=replace(linked.link, same_shape=found.same_shape, exact=found.exact, strict=found.strict)
    )


def reached(old: Earlier[P], new: Told) -> Found[P] | None:
    """Where somebody is reached, said of nobody and nothing else, and then another address of that sort."""
    if not new.has_contact or not old.told.has_contact:
        return None
    was, now = where_reached(old.told), where_reached(new)
    if was is None or now is None or was.kind is not now.kind or was.root == now.root or new.cue is Cue.NONE:
        return None
    return made(old, kind_of(new), True, [was], [now], 1.0)


def where_reached(told: Told) -> Item | None:
    """The one address or number at which whoever speaks is reached, if that is all a sentence tells."""
    found = [each for each in told.whole.items if each.kind in CONTACT]
    others = [
        each for each in told.whole.items if each.is_key and each.kind not in CONTACT and each.root not in _REACHING
    ]
    mine = any(each.root == ME for each in told.whole.items)
    return found[0] if len(found) == 1 and mine and not others else None


def _holds_several(found: Difference, old: Told, new: Told) -> bool:
    if not may_be_one_of(found.old, old):
        return False
    having = any(each.root in _HAVING for each in old.whole.items) or _only_uses(found)
    return not _REPLACING.search(new.text) if having else found.cue < Cue.STRONG


def _only_uses(found: Difference) -> bool:
    """Whether all that both tell is that somebody uses something, and not for what."""
    keys = [each for each in found.shared if each.root != ME]
    return [each.root for each in keys] == [_USING]


def _is_sure(found: Difference, old: Told, new: Told) -> bool:
    """Whether the link may withhold what was said; the longer the sentences, the more must agree."""
    if old.whole.words > LONGEST_SURE or len(old.whole.items) > _MOST_ITEMS_SURE:
        return False
    if is_fragment(old) and found.cue is Cue.NONE and found.old[0].kind not in CONTACT:
        return False
    whole = found.lost == 0 and found.strict >= 0.95 and found.words <= SHORT_NEW
    if old.passing or (new.passing and found.cue < Cue.STRONG and not whole):
        return False
    told = found.led_to or found.names_old
    if new.cue is Cue.CORRECTION:
        held = _is_of_a_sort(found, old, new) if found.typed else _is_set_right(found, old, new)
        return held and found.strict >= _CORRECTED and old.whole.words <= SHORT_NEW
    if new.whole.words > _LONGEST_NEW and not told:
        return False
    long = old.whole.words > SHORT_OLD or found.words > SHORT_NEW
    if long and (found.strict < _LONG_COVERAGE or found.extra > _LONG_EXTRA or not found.typed):
        return False
    if found.old[0].kind in CONTACT:
        return True
    if found.typed:
        needed = 0.45 if told else 0.6 if found.cue >= Cue.STRONG else 0.7
        return found.coverage >= needed and _is_of_a_sort(found, old, new)
    if not _is_in_place(found, old, new):
        return False
    if found.cue >= Cue.STRONG:
        return found.coverage >= 0.7 and found.strict >= 0.6
    plain = not any(each.is_verb for each in (*found.old, *found.new))
    return plain and whole and found.extra <= 2


def _is_of_a_sort(found: Difference, old: Told, new: Told) -> bool:
    """Whether the new sentence names anything of the old value's sort at all: no plain word takes a name's place."""
    if found.new[0].is_typed or found.new[0].opens or found.names_old:
        return True
    came = (each for part in new.parts for each in part.items if each.is_typed and each.root not in old.roots)
    return any(each.fits(value) for each in came for value in found.old)


def _is_in_place(found: Difference, old: Told, new: Told) -> bool:
    """Whether plain words are the value of a state before and after, and stand where the other stood; the less the
    place tells, the more the words must."""
    if not (is_state(old) and is_state(new)) or all(each.root in old.whole.roots for each in found.new):
        return False
    named = found.names_old and not is_said_again(found.old[0].root, old.whole, new.whole)
    if not (found.placed or named) or (len(found.shared) == 1 and found.shared[0].is_verb):
        return False
    if found.fixed and (found.old[0].led or any(each.is_key for each in found.shared)):
        return True
    told = found.cue >= Cue.STRONG or found.new[0].led in TOWARDS
    return told and any(each.is_key for each in found.shared) and _say_something(found, new)


def _is_set_right(found: Difference, old: Told, new: Told) -> bool:
    """Whether a correction puts other plain words into the very place of the old ones: many a story begins with
    "actually" as well."""
    plain = is_plain(old) and is_plain(new) and not any(each.is_verb for each in (*found.old, *found.new))
    return plain and (found.fixed or found.names_old) and _is_in_place(found, old, new)


def _say_something(found: Difference, new: Told) -> bool:
    """Whether two values are more than words under which anything fits; a verb that tells of the change is enough."""
    spans = [each.span() for each in STRONG.finditer(new.words)]
    if any(start <= each.start < end for each in found.new for start, end in spans):
        return True
    return any(each.is_key or each.opens for each in found.old) and any(each.is_key for each in found.new)


def counted(old: Earlier[P], new: Told) -> Found[P] | None:
    """Another number of the same things, in words that share something else: it may have gone up or down."""
    then, now = _counts(old.told.whole), _counts(new.whole)
    for unit in then.keys() & now.keys():
        if then[unit].root == now[unit].root or then[unit].kind is not now[unit].kind:
            continue
        there = {each.root for each in old.told.whole.items if each.is_key or each.is_typed} - {unit, then[unit].root}
        here = {each.root for each in new.whole.items if each.is_key or each.is_typed}
        if len(there & here) >= (2 if unit in _MEASURES else 1):
            return made(old, kind_of(new), False, [then[unit]], [now[unit]], len(there & here))
        if _sums_up(new) and unit not in _MEASURES and old.told.whole.words <= SHORT_OLD:
            return made(old, kind_of(new), True, [then[unit]], [now[unit]], 1.0)
    return None


def _sums_up(new: Told) -> bool:
    """ "That makes 41 singers": whatever was counted before, this is the sum."""
    return _SUM.search(new.text) is not None and new.whole.words <= SHORT_NEW


def _counts(part: Part) -> dict[str, Item]:
    """What is counted, by what it is counted in; a number behind a noun tells which one, not how many."""
    found: dict[str, Item] = {}
    for each in part.items:
        if each.kind is TokenKind.TIME:
            found.setdefault("time", each)
        elif each.kind in (TokenKind.NUMBER, TokenKind.MONEY) and not any(
            other.at == each.at - 1 and not other.is_verb and other.root != ME for other in part.items
        ):
            unit = next((other for other in part.items if 0 < other.at - each.at <= _UNIT_AFTER), None)
            if unit is not None and not unit.is_typed and not unit.is_verb:
                found.setdefault(unit.root, each)
    return found


def bare_correction(new: Told, earlier: Sequence[Earlier[P]]) -> list[Found[P]]:
    """A correction that names only a value goes to the last sentence of the session with one of its sort."""
    values = [each for each in new.whole.items if each.is_typed and each.root != "1"]
    if not values or len(new.whole.items) > len(values) + 1 or new.whole.words > SHORT_OLD:
        return []
    for old in reversed([each for each in earlier if each.near]):
        was = [each for each in old.told.whole.items if each.is_typed and each.fits(values[0])]
        if was and values[0].root not in {each.root for each in old.told.whole.items}:
            return [made(old, Kind.CORRECTED, True, was[-1:], values, 1.0)]
    return []
