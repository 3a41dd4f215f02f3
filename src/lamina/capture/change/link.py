"""A link between two sentences: what became of the earlier one, how surely, and what it is worth beside others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from lamina.capture.change.cues import Cue
from lamina.capture.change.items import Item
from lamina.capture.change.told import Told

P = TypeVar("P")
SHORT_OLD, SHORT_NEW = 13, 16
LONGEST_SURE = 28


class Kind(StrEnum):
    """What became of the earlier sentence: it held until now, it was wrong, or what it tells of was given up."""

    CHANGED = "changed"
    CORRECTED = "corrected"
    GIVEN_UP = "given up"


@dataclass(frozen=True, slots=True)
class Earlier(Generic[P]):
    """A sentence said before, where it stands, and whether it belongs to the same session."""

    told: Told
    place: P
    near: bool = False


@dataclass(frozen=True, slots=True)
class Link(Generic[P]):
    """A new sentence overtakes an earlier one. Only a sure link may withhold what was said."""

    place: P
    kind: Kind
    sure: bool
    old_value: tuple[str, ...]
    new_value: tuple[str, ...]
    old_text: str
    same_shape: bool = True
    pinned: bool = False
    exact: bool = False
    strict: float = 0.0
    told: bool = False
    way: str = ""

    @property
    def is_correction(self) -> bool:
        return self.kind is Kind.CORRECTED

    @property
    def is_another_value(self) -> bool:
        """Whether nothing but another value in the same place tells of the change."""
        return self.way in ("differs", "same opening") and not self.told


@dataclass(frozen=True, slots=True)
class Found(Generic[P]):
    """A link with what it is worth beside others; `pinned`: names or numbers hold it, so that even a doubt is told."""

    link: Link[P]
    worth: float
    pinned: bool


def kind_of(new: Told) -> Kind:
    return Kind.CORRECTED if new.cue is Cue.CORRECTION else Kind.CHANGED


def made(old: Earlier[P], kind: Kind, sure: bool, was: Sequence[Item], now: Sequence[Item], worth: float) -> Found[P]:
    roots, instead = tuple(each.root for each in was), tuple(each.root for each in now)
    pinned = any(each.is_typed for each in was) and any(each.is_typed for each in now)
    return Found(Link(old.place, kind, sure, roots, instead, _text(old.told, roots)), worth, pinned)


def _text(old: Told, roots: Sequence[str]) -> str:
    """The words of the old sentence that are its value, from the first to the last."""
    own = [each for each in old.whole.items if each.root in roots]
    return old.text[own[0].start : own[-1].end] if own else ""
