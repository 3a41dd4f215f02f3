"""The same thing liked and then not, or said and then denied."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from lamina.capture.change.items import ME, Item, root_of
from lamina.capture.change.link import Earlier, Found, P, kind_of, made
from lamina.capture.change.plain import is_plain
from lamina.capture.change.told import Part, Told
from lamina.text.closed import word_set

_FOND = re.compile(
    r"\b(?:(?<!just )(?<!feel )(?<!look )(?<!is )(?<!was )(?<!be )(?<!s )(?<!felt )like|likes|love|loves|loved|enjoy|"
    r"enjoys|adore|adores|prefer|prefers|favou?rite|fan of|keen on|fond of|"
    r"(?:am|'m|are|'re|is|'s|been|really|so|more|got|getting|be) into|crazy about|can't get enough of|swear by)\b",
    re.IGNORECASE,
)
_AVERSE = re.compile(
    r"\b(?:hate|hates|dislike|dislikes|avoids?|steer clear of|had enough of|detest|loathe|"
    r"can't stand|cannot stand|can't bear|gone off|went off|sick of|"
    r"tired of|fed up with|allergic|(?:do|does|did)(?:n't| not)(?: really)? (?:like|enjoy|love|care for)|"
    r"not (?:into|keen "
    r"on|fond of|a fan of)|no longer (?:like|love|enjoy|fond|into|keen)\w*|stopped (?:liking|enjoying|loving)|"
    r"(?:am|'m|are|'re|is|'s|been|stay\w*|keep\w*|kept) off (?!the|to|on|at|in)|"
    r"lost (?:my|the) (?:taste|appetite|love) for|over (?=it|that)|i(?:'m| am) (?:so )?over (?!the |here|there|\d))\b",
    re.IGNORECASE,
)
_FAVOURITE = frozenset(map(root_of, ("favourite", "favorite")))
_SOON = 2
_EMPTY = frozenset(map(root_of, word_set("see hear agree know say think wait stuff thing talk tell look meet time")))
_LIKING = frozenset(map(root_of, word_set("""
    like love enjoy adore prefer hate dislike detest loathe stand bear go sick tire feed fan keen fond into taste bit
    care swear crazy get appetite lose any stop favour favourite favorite
""")))  # fmt: skip


def flipped(old: Earlier[P], new: Told) -> Found[P] | None:
    """The same thing liked and then not, or said and then denied."""
    for one in old.told.parts:
        for other in new.parts:
            there, here = _objects(one), _objects(other)
            shared = [each for each in there if each.root in {thing.root for thing in here}]
            telling = any(each.is_typed or (each.is_key and each.root not in _EMPTY) for each in shared)
            if not telling or len(shared) * 5 < len(there) * 3:
                continue
            before, now = _fondness(_words(old.told, one)), _fondness(_words(new, other))
            if before * now < 0 and _is_liked(shared, old.told, one) and _is_liked(shared, new, other):
                return made(old, kind_of(new), True, there, here, len(shared) + 1.0)
            same = {each.root for each in one.items} == {each.root for each in other.items}
            held = not (old.told.passing or new.passing) and is_plain(old.told) and is_plain(new)
            if same and held and one.denied != other.denied and not before and not now:
                return made(old, kind_of(new), True, there, here, len(shared) + 1.0)
    return None


def _words(told: Told, part: Part) -> str:
    return told.text[part.start : part.end]


def _objects(part: Part) -> list[Item]:
    """What is liked or not: of "my favourite drink is cider" the cider."""
    liked = [each for each in part.items if each.root != ME and each.root not in _LIKING]
    named = any(each.root in _FAVOURITE and each.at < part.verb_at for each in part.items)
    return [each for each in liked if each.at > part.verb_at] or liked if named else liked


def _is_liked(things: Sequence[Item], told: Told, part: Part) -> bool:
    """Whether what is liked or not is one of the things: it follows soon, or comes first and the rest is said of it."""
    roots = {each.root for each in things}
    text = _words(told, part).replace("’", "'")
    found = _AVERSE.search(text) or _FOND.search(text)
    end = part.start + found.end() if found else part.start
    after = [each for each in part.items if each.start >= end and each.root != ME]
    before = [each for each in part.items if each.start < end and each.root != ME and each.root not in _LIKING]
    return any(each.root in roots for each in after[:_SOON]) or (bool(before) and before[0].root in roots and not after)


@lru_cache(maxsize=4096)
def _fondness(text: str) -> int:
    plain = text.replace("’", "'")
    if _AVERSE.search(plain):
        return -1
    return 1 if _FOND.search(plain) else 0
