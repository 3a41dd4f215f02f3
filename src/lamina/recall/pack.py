"""Hits as text for an agent: sectioned, within a budget of tokens, fenced as data that cannot get out of its fence."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from lamina.atom.atom import Atom
from lamina.atom.kinds import Layer, MemoryType
from lamina.atom.passage import Passage
from lamina.atom.status import Status
from lamina.recall.marks import DISPUTES
from lamina.text.hidden import HIDDEN, is_hidden, only_seen

SECTIONS = ("core", "workstream", "profile", "rules", "facts", "evidence", "disputed")
UNASKED = frozenset({"core", "workstream"})
"""Sections that are told whatever is asked, and so answer nothing."""
DISPUTED = frozenset({Status.CHALLENGED, Status.CONSTRAINED, Status.INVALIDATED, Status.TOMBSTONED})
"""What is told apart because it is doubted, unconfirmed or withdrawn. What was true once stays in its section."""
CORE_SHARE = 0.25
"""The most of a budget that memories nobody asked for may take from those somebody did."""
BESIDE_SHARE = 0.25
"""The most of a budget that the notes of workstreams may take."""
NOTHING = "nothing known"
TOO_LITTLE = "something is known, but the budget has no room for it"
_OPEN, _CLOSE = "<memories>", "</memories>"

Count = Callable[[str], int]
"""How many tokens a text has."""


class Item(NamedTuple):
    """A hit as it is told: `text` stands in for the passage's words where some of them are stale."""

    atom: Atom
    passage: Passage
    text: str | None = None
    marks: tuple[str, ...] = ()


Found = Item | tuple[Atom, Passage]


def by_characters(text: str) -> int:
    """A careful guess at tokens: one for every three letters a word begins, for every digit and every sign, and one to
    three for a character beyond ASCII; spaces are free. It never counts less than a token for four characters."""
    plain = text if text.isascii() else _BEYOND_ASCII.sub("", text)
    beyond = 0 if plain is text else len(text.encode(errors="replace")) - len(plain) - (len(text) - len(plain))
    return len(_PIECE.findall(plain)) + beyond


def least(count: Count = by_characters) -> int:
    """The smallest budget that is kept to; with less, the shortest context there is takes more."""
    return max(count(_fenced([NOTHING])), count(_fenced([TOO_LITTLE])))


def pack(
    found: Sequence[Found],
    budget: int,
    *,
    core: Sequence[Found] = (),
    beside: Sequence[tuple[str, Sequence[str]]] = (),
    count: Count = by_characters,
) -> str:
    """The hits, best first, as sections core, workstream, profile, rules, facts, evidence and disputed; never orders.

    Each item says its id, origin, status, day, when it is valid if that is known, marks and speaker. `count(pack(…))`
    is at most `budget`, if that is at least `least(count)`; without a counter of the caller's, `by_characters` counts.
    Items are taken by rank while there is room, and one that is too long makes way for those behind it; only the best
    hit is cut with an ellipsis rather than left out. `core` holds memories that are told whatever is asked; they take
    at most a quarter of the budget. `beside` holds the names of workstreams and their notes, oldest first; they take at
    most another quarter, the youngest first. Without any hit the text says "nothing known".
    """
    packing = _Packing(budget, count)
    asked = _distinct(found)
    told = {(item.atom.id, item.passage.n) for item in asked}
    packing.limit = int(budget * CORE_SHARE)
    for item in _distinct(core):
        if (item.atom.id, item.passage.n) not in told:
            packing.take(_Line.of(item, "core"))
    for name, notes in beside:
        packing.limit = min(budget, packing.used + int(budget * BESIDE_SHARE / len(beside)))
        packing.take_last([_Line.beside(name, note) for note in notes])
    packing.limit = budget
    lines = [_Line.of(item, _section(item)) for item in asked]
    if lines and not packing.take(lines[0]):
        packing.cut(lines[0])
    for line in lines[1:]:
        packing.take(line)
    return packing.text(TOO_LITTLE if lines else NOTHING)


class _Line(NamedTuple):
    """An item on one line: what we say of it, and its own words."""

    section: str
    head: str
    words: str

    @classmethod
    def of(cls, item: Item, section: str) -> _Line:
        atom, passage = item.atom, item.passage
        day = (passage.at or atom.observed_at).date().isoformat()
        marks = [_harmless(mark).translate(_ROUND) for mark in item.marks]
        about = "; ".join([f"{atom.id} {atom.origin} {atom.status} {day}", *_valid(atom), *marks])
        words = passage.text if item.text is None else item.text
        if is_hidden(words):
            about = f"{about}; {HIDDEN}"
        return cls(section, f"- [{about}] ", _harmless(f"{passage.speaker}: {words}" if passage.speaker else words))

    @classmethod
    def beside(cls, name: str, note: str) -> _Line:
        return cls("workstream", f"- [{_harmless(name).translate(_ROUND)}] ", _harmless(note))

    def __str__(self) -> str:
        return self.head + self.words


class _Packing:
    """Lines taken so far. Lines are counted one by one, and the whole once more: no tokenizer has to add up."""

    def __init__(self, budget: int, count: Count) -> None:
        self.limit = self._budget = budget
        self._count = count
        self._lines: list[_Line] = []
        self.used = count(_fenced([]))

    def take(self, line: _Line) -> bool:
        cost = self._count(f"{line}\n")
        if all(line.section != other.section for other in self._lines):
            cost += self._count(f"## {line.section}\n")
        if self.used + cost > self.limit:
            return False
        self._lines.append(line)
        self.used += cost
        return True

    def take_last(self, lines: Sequence[_Line]) -> None:
        """Take as many of the last lines as there is room for, in their order."""
        before = len(self._lines)
        for line in reversed(lines):
            if not self.take(line):
                break
        self._lines[before:] = reversed(self._lines[before:])

    def cut(self, line: _Line) -> None:
        """Take as much of the line as there is room for, if that is anything worth reading."""

        def fits(length: int) -> bool:
            return self._fits([*self._lines, _shortened(line, length)])

        low, high = 0, len(line.words)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if fits(middle) else (low, middle - 1)
        whole_words = _word_end(line.words, low)
        length = whole_words if fits(whole_words) else low
        if length >= _FEWEST_LETTERS:
            self._lines.append(_shortened(line, length))
            self.used = self._budget

    def text(self, otherwise: str) -> str:
        """The lines in their sections, the last ones given up if the whole is too long; `otherwise` if none answers."""
        while self._lines and not self._fits(self._lines, otherwise):
            self._lines.pop()
        return _render(self._lines, otherwise)

    def _fits(self, lines: Sequence[_Line], otherwise: str = TOO_LITTLE) -> bool:
        return self._count(_render(lines, otherwise)) <= self._budget


_FEWEST_LETTERS = 8
_LONGEST_WORD = 24


def _render(lines: Sequence[_Line], otherwise: str) -> str:
    told: list[str] = []
    for section in SECTIONS:
        own = [str(line) for line in lines if line.section == section]
        told += [f"## {section}", *own] if own else []
    answers = any(line.section not in UNASKED for line in lines)
    return _fenced(told if answers else [*told, otherwise])


def _shortened(line: _Line, length: int) -> _Line:
    return line if length >= len(line.words) else line._replace(words=f"{line.words[:length].rstrip()}…")


def _word_end(text: str, length: int) -> int:
    """The end of the last whole word; a long run without spaces is cut anywhere."""
    if length >= len(text) or text[length] == " ":
        return length
    space = text.rfind(" ", max(0, length - _LONGEST_WORD), length)
    return space if space > length // 2 else length


def _distinct(found: Iterable[Found]) -> list[Item]:
    items: dict[tuple[str, int], Item] = {}
    for each in found:
        items.setdefault((each[0].id, each[1].n), each if isinstance(each, Item) else Item(*each))
    return list(items.values())


def _section(item: Item) -> str:
    atom = item.atom
    if atom.status in DISPUTED or not DISPUTES.isdisjoint(item.marks):
        return "disputed"
    if atom.is_segment or atom.memory_type is MemoryType.NARRATIVE:
        return "evidence"
    if atom.memory_type is MemoryType.PROCEDURE:
        return "rules"
    return "profile" if atom.layer is Layer.PROFILE else "facts"


def _valid(atom: Atom) -> list[str]:
    """From the first to the last day on which it holds; the end of an interval lies outside it."""
    days = [f"from {atom.valid_from.date().isoformat()}"] if atom.valid_from else []
    if atom.valid_until:
        last = max(atom.valid_until, _FIRST_MOMENT + _MOMENT) - _MOMENT
        days.append(f"to {last.date().isoformat()}")
    return [f"valid {' '.join(days)}"] if days else []


def _fenced(lines: Iterable[str]) -> str:
    return "\n".join([_OPEN, *lines, _CLOSE])


_FIRST_MOMENT = datetime.min.replace(tzinfo=UTC)
_MOMENT = timedelta(milliseconds=1)
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_PIECE = re.compile(r"[A-Za-z]{1,3}|[^A-Za-z ]")
_BRACKETS = str.maketrans("<>＜＞﹤﹥", "‹›‹›‹›")
_ROUND = str.maketrans("[]", "()")
_LIKE_OUR_HEAD = re.compile(r"(?<!\[)\[(?=\s*[0-7][0-9a-z]{25})", re.IGNORECASE)
_LOOSE_JOINER = re.compile(r"[\u200c\u200d]{2,}|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])")


def _harmless(text: str) -> str:
    """The text on one line, with nothing in it that closes a fence, starts a line, looks like the head of an item or
    cannot be seen; joiners stay where a script or an emoji needs them."""
    if not text.isascii() or not text.isprintable():
        text = only_seen(_LOOSE_JOINER.sub("", " ".join("".join(map(_visible, text)).split())))
    return _LIKE_OUR_HEAD.sub("(", " ".join(text.split()).translate(_BRACKETS))


def _visible(char: str) -> str:
    if char.isprintable() or char in "\u200c\u200d":
        return "" if "\U000e0000" <= char <= "\U000e0fff" else char
    if char.isspace():
        return " "
    return "" if unicodedata.category(char) in ("Cc", "Cf", "Cs") or char >= "\U000e0000" else char
