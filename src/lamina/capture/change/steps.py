"""Steps that are told outright: from one value to another, from hand to hand, or to nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from lamina.capture.change.items import ME, Item, root_of
from lamina.capture.change.link import SHORT_NEW, Earlier, Found, Kind, P, kind_of, made
from lamina.capture.change.plain import is_fragment
from lamina.capture.change.runs import COUNTS
from lamina.capture.change.told import Part, Told
from lamina.text.closed import word_set
from lamina.text.tokens import TokenKind

_TRANSITIONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:switch|chang|mov|migrat|convert|shift|transfer|rais|increas|dropp|lower|bump|upgrad|downgrad|renam|"
        r"extend|"
        r"postpon|reschedul|cut|went|gone|go|grew|grown|reassign|push|brought|bring|reduc|relocat|hand|"
        r"pass)\w*\b[^.!?]{0,60}?"
        r"\bfrom (?P<a>[^,;.!?]{2,60}?) (?:over )?to (?P<b>[^,;.!?]{2,60})",
        r"\breplac(?:ed|es|ing) (?P<a>[^,;.!?]{2,60}?) (?:with|by) (?P<b>[^,;.!?]{2,60})",
        r"\b(?:swapp|trad|exchang|chang)(?:ed|ing) (?P<a>[^,;.!?]{2,60}?) for (?P<b>[^,;.!?]{2,60})",
        r"(?P<b>[^,;.!?]{2,60}?),? (?:instead of|rather than|in place of|took over from|takes over from|"
        r"succeed(?:s|ed)|"
        r"replac(?:ed|es)) (?P<a>[^,;.!?]{2,60})",
        r"\b(?:left|leaving|leave|ditched|dumped|dropped|swap|traded) (?P<a>[^,;.!?]{2,40}?) for (?P<b>[^,;.!?]{2,60})",
        r"\bout of (?P<a>[^,;.!?]{2,60}?),? and (?:[^,;.!?]{1,40}? )?(?:in|into|to|with|at) (?P<b>[^,;.!?]{2,60})",
        r"\bnot (?P<a>[^,;.!?]{2,40}?),? but (?P<b>[^,;.!?]{2,60})",
        r"(?P<b>[^,;.!?]{2,60}?), (?:and )?not (?P<a>[^,;.!?]{2,40})",
        r"\b(?P<a>[^,;.!?]{2,60}?) (?:handed|passed|gave) (?:\w+ ){0,4}?(?:over |on )?to (?P<b>[^,;.!?]{2,60})",
        r"\b(?P<a>[^,;.!?]{2,40}?) (?:is|are) out,? (?:and )?(?P<b>[^,;.!?]{2,40}?) (?:is|are) in\b",
        r"\bno longer (?P<a>[^,;.!?]{2,40}?),? (?:but|it's|it is) (?P<b>[^,;.!?]{2,60})",
    )
)
_STEPPING = re.compile(
    r"\b(?:from|with|by|for|instead|rather|place|over|succeed\w*|replac\w*|not|handed|passed|gave|out|longer)\b",
    re.IGNORECASE,
)
_HAND_OVER = re.compile(
    r"\b(?:t[oa]ok over|tak(?:es|en|ing) over|replac\w+|stepp(?:ed|ing) (?:in|up|down)|succeed\w*|bow(?:ed|ing) out|"
    r"fill(?:ed|ing) in|jumped ship|resign\w*|retir\w+|pulled out|dropped out|went bust|moved on|ended up with|"
    r"instead)\b",
    re.IGNORECASE,
)
_GIVING_UP = re.compile(
    r"\b(?:sold|quit|gave up|given up|giv\w+ up|no longer|got rid of|cancell?ed|stopped|left|closed|dropped|"
    r"broke up with|"
    r"split up with|retired|scrapped|done with|ended(?! up)|resigned|returned|gave away|given away|donated|abandoned|"
    r"discontinued|shut|moved out of|withdrew|unsubscribed|deleted|ditched|called off|wound up|parted with|let go of|"
    r"(?:do|does|did|am|is|are|was|were)(?:n't| not)\b[^.!?]{1,60}?\bany ?more)\b",
    re.IGNORECASE,
)
_GOING_ON = re.compile(
    r"(?:\b(?:never|not|cannot)|n't)(?: \w+)? (?:give|giving|gave|given|quit|quitting|stop|stopped|stopping|leave|"
    r"leaving|left|drop|dropped|let|abandon\w*)\b(?![^.!?]*\bany ?more\b)",
    re.IGNORECASE,
)
"""Whoever does not give up goes on."""
_FEW = 5
_HAVING = frozenset(map(root_of, word_set("have keep own drive rent lease ride run hold store park")))
_OBJECT_AFTER = 3
"""So few words stand between a verb and what one has."""


def stepped(old: Earlier[P], new: Told) -> Found[P] | None:
    """An explicit step from one value to another: the first stands in the old sentence."""
    roots = {each.root for each in old.told.whole.items}
    for was, now in _steps(new):
        named = [each for each in was if each.is_typed or each.is_key]
        if not all(each.root in roots for each in named):
            continue
        if {each.root for each in now if each.is_key or each.is_typed} <= roots:
            continue
        others = {each.root for each in old.told.whole.items if each.is_key} - {each.root for each in was}
        shared = others & {each.root for each in new.whole.items if each.kind not in COUNTS}
        if any(each.is_typed and each.kind not in COUNTS for each in named) or shared or not others:
            sure = any(each.is_typed for each in (*named, *now)) or not is_fragment(new)
            return made(old, kind_of(new), sure, was, now, 2.0 + len(shared))
    return None


@lru_cache(maxsize=256)
def _steps(new: Told) -> tuple[tuple[list[Item], list[Item]], ...]:
    """The steps a sentence tells of, each from something to something."""
    text = new.text.replace("’", "'")
    if not _STEPPING.search(text):
        return ()
    found = ((_within(new, match.span("a")), _within(new, match.span("b")))
             for pattern in _TRANSITIONS for match in pattern.finditer(text))  # fmt: skip
    return tuple((was, now) for was, now in found if now and any(each.is_typed or each.is_key for each in was))


def _within(told: Told, span: tuple[int, int]) -> list[Item]:
    return [each for each in told.whole.items if span[0] <= each.start < span[1] and each.root != ME]


def handed_over(old: Earlier[P], new: Told) -> Found[P] | None:
    """Somebody or something the old sentence names is out, and another of its sort is named in its stead."""
    if not _tells(new.text, _HAND_OVER):
        return None
    here = {each.root for each in new.whole.items} | new.around
    there = {each.root for each in old.told.whole.items}
    out = [each for each in old.told.whole.items if (each.kind is TokenKind.NAME or each.opens) and each.root in here]
    came = [each for each in new.whole.items if each.kind is TokenKind.NAME or each.opens]
    came = [each for each in came if each.root not in there]
    if not out or not came or any(each.owns for each in out):
        return None
    shared = [each for each in old.told.whole.items if each.is_key and each.root in here and each not in out]
    return made(old, kind_of(new), bool(shared) or len(old.told.whole.items) <= _FEW, out, came, 0.5 + len(shared))


def gave_up(old: Earlier[P], new: Told) -> Found[P] | None:
    """What the old sentence tells of was sold, quit or is no longer so."""
    if not _tells(new.text, _GIVING_UP) or _tells(new.text, _GOING_ON):
        return None
    told_of = [each for each in old.told.whole.items if each.root != ME]
    for part in new.parts:
        roots = {each.root for each in part.items}
        shared = [each for each in told_of if each.root in roots and (each.is_key or each.is_typed)]
        named = [each for each in told_of if each.kind is TokenKind.NAME]
        mine = any(each.root == ME for each in old.told.whole.items) <= any(each.root == ME for each in new.whole.items)
        mine = mine or any(each.kind is TokenKind.NAME for each in shared)
        whole = bool(named) and all(each.root in roots for each in named) and not any(each.owns for each in named)
        others = any(each.kind is TokenKind.NAME and each.root not in old.told.roots for each in part.items)
        if named and not whole and others:
            continue  # it is another's
        much = 2 * len(shared) - len([each for each in told_of if each.is_key])
        things = any(not each.is_verb for each in shared)
        if things and _had_and_gave_up(old.told, part, shared):
            return made(old, Kind.GIVEN_UP, not old.told.passing, shared, (), 0.5 + len(shared))
        if things and mine and (whole or much > 0 or (much == 0 and any(each.is_typed for each in shared))):
            sure = (whole or part.denied) and part.words <= SHORT_NEW and not old.told.passing
            return made(old, Kind.GIVEN_UP, sure, shared, (), 0.5 + len(shared))
    return None


def _had_and_gave_up(old: Told, part: Part, shared: Sequence[Item]) -> bool:
    """ "I keep a caravan at the bay", "I sold the caravan": one had it, and nothing else is said than that it went."""
    others = [each for each in part.items if each.root != ME and not each.is_verb and each not in shared]
    others = [each for each in others if each.root not in {other.root for other in shared}]
    mine = all(any(each.root == ME for each in items) for items in (old.whole.items, part.items))
    if others or not mine:
        return False
    had = next((each.at for each in old.whole.items if each.root in _HAVING), None)
    return had is not None and any(0 < each.at - had <= _OBJECT_AFTER for each in shared)


@lru_cache(maxsize=1024)
def _tells(text: str, of: re.Pattern[str]) -> bool:
    return of.search(text.replace("’", "'")) is not None
