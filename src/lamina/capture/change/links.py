"""Which earlier sentences a new one overtakes, and how surely: a decision list over what both say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lamina.capture.change.cues import Cue
from lamina.capture.change.flips import flipped
from lamina.capture.change.link import Earlier, Found, Link, P, kind_of, made
from lamina.capture.change.meaning import Sense, best_filling
from lamina.capture.change.place import TOWARDS
from lamina.capture.change.plain import is_exclaimed, is_plain, is_state, is_unnamed
from lamina.capture.change.runs import COUNTS
from lamina.capture.change.slots import may_be_one_of
from lamina.capture.change.steps import gave_up, handed_over, stepped
from lamina.capture.change.told import Told
from lamina.capture.change.values import bare_correction, counted, differs, filled, reached, same_opening, where_reached

WITHHOLDS, DOUBTS = 0.5, -0.5
"""The log odds from which what is meant withholds what was said, and from which it only casts a doubt on it."""
_BESIDE_THE_BEST = 0.6
_SHARED_ANYHOW = 2
"""Words that two sentences share, however little each of them tells."""


def decide(new: Told, earlier: Sequence[Earlier[P]], sense: Sense | None = None) -> list[Link[P]]:
    """The earlier sentences that a new one overtakes; none where it only adds, or tells of the past.

    With a `sense` of what words mean, one that says it in other words is found as well.
    """
    if not may_overtake(new):
        return []
    able = [each for each in earlier if comparable(each.told, new, near=each.near)]
    found = [each for old in able if (each := _link(old, new) or (_means(old, new, sense) if sense else None))]
    if not found and new.cue is Cue.CORRECTION:
        found = bare_correction(new, able)
    best = max((each.worth for each in found), default=0.0)
    return [each.link for each in found if each.worth >= _BESIDE_THE_BEST * best]


def may_overtake(new: Told) -> bool:
    """Whether a sentence may overtake another at all: one that only adds, or tells of the past, does not. What was
    is corrected like what is."""
    return not new.additive and (not new.past or new.cue is Cue.CORRECTION)


def _share_a_key(old: Told, new: Told) -> bool:
    shared = (old.roots & new.roots) | (old.roots & new.around)
    if len(shared) >= _SHARED_ANYHOW or (shared and new.cue >= Cue.STRONG):
        return True
    return bool(shared) and any(each.root in shared and (each.is_key or each.is_typed) for each in old.whole.items)


def _both_tell_where(old: Told, new: Told) -> bool:
    contact = old.has_contact and new.has_contact
    return contact and where_reached(old) is not None and where_reached(new) is not None


def comparable(old: Told, new: Told, *, near: bool) -> bool:
    """Whether two sentences are worth comparing: they share words that tell something, or a session, and one person
    says both."""
    past = (old.past or old.for_good) and new.cue is not Cue.CORRECTION
    if old.text == new.text:
        return False
    if past or old.pronoun or not (near or _share_a_key(old, new) or _both_tell_where(old, new)):
        return False
    one, other = (old.speaker or "").lower(), (new.speaker or "").lower()
    return not one or not other or one == other


def _link(old: Earlier[P], new: Told) -> Found[P] | None:
    """The first way in which the new sentence overtakes the old one."""
    for way in (flipped, stepped, same_opening, filled, differs, reached, handed_over, gave_up, counted):
        found = way(old, new)
        if found is None:
            continue
        loose = (old.told.loose or new.loose) and way in (same_opening, differs, gave_up, counted)
        passing = old.told.passing and way is not flipped and new.cue is not Cue.CORRECTION
        passing = passing or (new.passing and new.cue < Cue.STRONG and way not in (differs, gave_up))
        felt = not (is_plain(old.told) and is_plain(new)) and new.cue is not Cue.CORRECTION and way is not stepped
        felt = (felt and way is not flipped) or _is_a_call(old.told, new, found)
        sure = found.link.sure and not loose and not passing and not felt
        if sure or found.pinned:
            return replace(
                found,
                link=replace(
                    found.link,
                    sure=sure,
                    pinned=found.pinned,
                    told=new.cue >= Cue.STRONG,
                    way=way.__name__.strip("_").replace("_", " "),
                ),
            )
    return None


def _is_a_call(old: Told, new: Told, found: Found[P]) -> bool:
    """Whether a sentence is only called out, or speaks of what it does not name; a count that is called out is told,
    and so is a name where the words tell of a change."""
    if new.cue is Cue.CORRECTION:
        return False
    if is_exclaimed(old) or is_unnamed(old) or (is_unnamed(new) and len(new.parts) == 1):
        return True
    counts = any(each.kind in COUNTS and each.root in found.link.new_value for each in new.whole.items)
    return is_exclaimed(new) and not counts and not (new.cue >= Cue.STRONG and found.pinned)


def _means(old: Earlier[P], new: Told, sense: Sense) -> Found[P] | None:
    """Both fill one slot with different values, in whatever words; only of what was stated plainly and briefly."""
    if old.told.loose or new.loose or old.told.passing or not (is_plain(old.told) and is_plain(new)):
        return None
    if is_unnamed(old.told) or is_unnamed(new):
        return None
    found = best_filling(old.told, new, sense)
    if found is None or found.likely < DOUBTS or (may_be_one_of(found.old, old.told) and new.cue < Cue.STRONG):
        return None
    reached_to = found.new[0].led in TOWARDS and not found.new[0].is_verb
    told = new.cue >= Cue.STRONG or reached_to or found.names_old
    typed = any(each.is_typed for each in found.old) and found.of_one_sort
    shown = (typed and (told or new.cue is Cue.WEAK)) or (told and found.alike_placed and is_state(old.told))
    shown = shown and not is_exclaimed(old.told) and not is_exclaimed(new)
    linked = made(old, kind_of(new), found.likely >= WITHHOLDS and shown, found.old, found.new, 0.5)
    if not linked.link.sure and not (linked.pinned and found.of_one_sort and new.cue > Cue.NONE):
        return None
    return replace(linked, link=replace(linked.link, pinned=linked.pinned, told=told, way="means"))
