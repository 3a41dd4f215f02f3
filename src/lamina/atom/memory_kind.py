"""Decide whether a text says what happened (an episode, append-only) or what is true (a note, can be superseded)."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

from lamina.atom.kinds import KINDS

MemoryKind = Literal["episode", "note"]

_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_TIME_WORDS = re.compile(
    rf"\b(?:yesterday|today|tonight|recently|earlier|just now|the other day|this (?:morning|afternoon|evening)"
    rf"|last (?:night|week|weekend|month|year|spring|summer|autumn|fall|winter|{_WEEKDAY})|on {_WEEKDAY}"
    rf"|(?:an?|one|two|three|a few|several|\d{{1,3}}) (?:minute|hour|day|week|month|year)s? ago)\b",
    re.IGNORECASE,
)
_NEUTRAL_KINDS = frozenset({"fact"})
"""Kinds that do not decide between episode and note."""
_FOREIGN_KINDS: dict[str, MemoryKind] = {
    "policy": "note",
    "standard": "note",
    "action": "episode",
    "observation": "episode",
    "issue": "episode",
    "bug": "episode",
    "incident": "episode",
}
_NOTE_TAGS = frozenset({"preference", "constraint", "goal", "habit", "policy", "belief"})
_EPISODE_TAGS = frozenset({"bug", "fix", "deploy", "incident", "release", "merge", "event"})
_EVENT_VERBS = re.compile(
    r"\b(?:deployed|pushed|fixed|merged|reported|mentioned|said|told|happened|failed|completed|shipped|released|launched"
    r"|went|met|visited|attended|bought|finished|started|crashed|broke)\b",
    re.IGNORECASE,
)
_STATE_WORDS = re.compile(
    r"\b(?:prefer\w{0,6}|want\w{0,4}|need\w{0,4}|always|never|must|should|goals?|decid\w{0,4}|decisions?|polic\w{0,4}"
    r"|requir\w{0,7}|constraints?|standards?|conventions?|usually|every (?:day|week|month|year|morning|evening))\b",
    re.IGNORECASE,
)


def memory_kind_of(content: str, kind: str, tags: Collection[str] = ()) -> MemoryKind:
    """Return episode or note: decided by words of time, else the kind, else the tags, else the verbs; episode by
    default."""
    if _TIME_WORDS.search(content):
        return "episode"
    by_kind = _memory_kind_by_kind(kind)
    if by_kind:
        return by_kind
    labels = {tag.casefold() for tag in tags}
    if labels & _NOTE_TAGS:
        return "note"
    if labels & _EPISODE_TAGS or _EVENT_VERBS.search(content):
        return "episode"
    return "note" if _STATE_WORDS.search(content) else "episode"


def _memory_kind_by_kind(kind: str) -> MemoryKind | None:
    if kind in KINDS and kind not in _NEUTRAL_KINDS:
        return "episode" if KINDS[kind].is_episode else "note"
    return _FOREIGN_KINDS.get(kind)
