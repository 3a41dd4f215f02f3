"""Packs hits into text for an agent: in sections, within a token budget, fenced as data that cannot break out of the
fence."""

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
"""Sections that are included whatever the question is, and so answer nothing."""
DISPUTED = frozenset({Status.CHALLENGED, Status.CONSTRAINED, Status.INVALIDATED, Status.TOMBSTONED})
"""Statuses of the section for disputed, unconfirmed and withdrawn statements. Superseded statements stay in their own
section."""
CORE_SHARE = 0.25
"""The largest share of a budget for core memories, which are included without being asked for."""
BESIDE_SHARE = 0.25
"""The largest share of a budget for the notes of workstreams."""
NOTHING = "nothing known"
TOO_LITTLE = "something is known, but the budget has no room for it"
_OPEN, _CLOSE = "<memories>", "</memories>"

Count = Callable[[str], int]
"""Counts the tokens of a text."""


class Item(NamedTuple):
    """A hit to be packed: `text` replaces the words of the passage where some of them no longer hold."""

    atom: Atom
    passage: Passage
    text: str | None = None
    marks: tuple[str, ...] = ()


Found = Item | tuple[Atom, Passage]


def by_characters(text: str) -> int:
    """Estimate the tokens of a text from above: one for every three letters of a word, one for every digit and sign,
    one to three for a character outside ASCII; spaces are free. Never less than a token for four characters."""
    plain = text if text.isascii() else _BEYOND_ASCII.sub("", text)
    beyond = 0 if plain is text else len(text.encode(errors="replace")) - len(plain) - (len(text) - len(plain))
    return len(_PIECE.findall(plain)) + beyond


def least(count: Count = by_characters) -> int:
    """Return the smallest budget that can be kept; the shortest possible context needs as much."""
    return max(count(_fenced([NOTHING])), count(_fenced([TOO_LITTLE])))


def pack(
    found: Sequence[Found],
    budget: int,
    *,
    core: Sequence[Found] = (),
    beside: Sequence[tuple[str, Sequence[str]]] = (),
    count: Count = by_characters,
) -> str:
    """Pack hits, best first, into the sections core, workstream, profile, rules, facts, evidence and disputed. The text
    never contains instructions.

    Each item states its id, origin, status, day, validity if known, marks and speaker. `count(pack_context(…))` is at
    most `budget`, if that is at least `minimum_budget(count)`; by default `estimate_tokens` counts. Items are added by
    rank while there is room; one that is too long is skipped, and only the best hit is cut with an ellipsis instead.
    `core` holds memories that are always included, within a quarter of the budget. `workstreams` holds names and notes,
    oldest first, within another quarter, the newest first. Without any hit the text says "nothing known".
    """
    packing = _Packing(budget, count)
    hits = _distinct(found)
    hit_keys = {(item.atom.id, item.passage.n) for item in hits}
    packing.limit = int(budget * CORE_SHARE)
    for item in _distinct(core):
        if (item.atom.id, item.passage.n) not in hit_keys:
            packing.take(_Line.of(item, "core"))
    for name, notes in beside:
        packing.limit = min(budget, packing.used + int(budget * BESIDE_SHARE / len(beside)))
        packing.take_last([_Line.beside(name, note) for note in notes])
    packing.limit = budget
    lines = [_Line.of(item, _section(item)) for item in hits]
    if lines and not packing.take(lines[0]):
        packing.cut(lines[0])
    for line in lines[1:]:
        packing.take(line)
    return packing.text(TOO_LITTLE if lines else NOTHING)


class _Line(NamedTuple):
    """An item on one line: its head, written by lamina, and its own words."""

    section: str
    head: str
    words: str

    @classmethod
    def of(cls, item: Item, section: str) -> _Line:
        """Return the line of an item."""
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
        """Return the line of a workstream's note."""
        return cls("workstream", f"- [{_harmless(name).translate(_ROUND)}] ", _harmless(note))

    def __str__(self) -> str:
        return self.head + self.words


class _Packing:
    """The lines added so far. Lines are counted one by one, and the whole once more, because token counts need not add
    up."""

    def __init__(self, budget: int, count: Count) -> None:
        self.limit = self._budget = budget
        self._count = count
        self._lines: list[_Line] = []
        self.used = count(_fenced([]))

    def take(self, line: _Line) -> bool:
        """Add a line if there is room for it; return whether there was."""
        cost = self._count(f"{line}\n")
        if all(line.section != existing.section for existing in self._lines):
            cost += self._count(f"## {line.section}\n")
        if self.used + cost > self.limit:
            return False
        self._lines.append(line)
        self.used += cost
        return True

    def take_last(self, lines: Sequence[_Line]) -> None:
        """Add as many of the last lines as there is room for, in their order."""
        line_count = len(self._lines)
        for line in reversed(lines):
            if not self.take(line):
                break
        self._lines[line_count:] = reversed(self._lines[line_count:])

    def cut(self, line: _Line) -> None:
        """Add as much of a line as there is room for, if that is worth reading."""

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
        """Return the lines in their sections; the last ones are dropped while the whole is too long. `fallback` is
        added if no line answers."""
        while self._lines and not self._fits(self._lines, otherwise):
            self._lines.pop()
        return _render(self._lines, otherwise)

    def _fits(self, lines: Sequence[_Line], otherwise: str = TOO_LITTLE) -> bool:
        return self._count(_render(lines, otherwise)) <= self._budget


_FEWEST_LETTERS = 8
_LONGEST_WORD = 24


def _render(lines: Sequence[_Line], otherwise: str) -> str:
    output: list[str] = []
    for section in SECTIONS:
        section_lines = [str(line) for line in lines if line.section == section]
        output += [f"## {section}", *section_lines] if section_lines else []
    has_answer = any(line.section not in UNASKED for line in lines)
    return _fenced(output if has_answer else [*output, otherwise])


def _shortened(line: _Line, length: int) -> _Line:
    return line if length >= len(line.words) else line._replace(words=f"{line.words[:length].rstrip()}…")


def _word_end(text: str, length: int) -> int:
    """Return the end of the last whole word; a long run without spaces is cut anywhere."""
    if length >= len(text) or text[length] == " ":
        return length
    space = text.rfind(" ", max(0, length - _LONGEST_WORD), length)
    return space if space > length // 2 else length


def _distinct(found: Iterable[Found]) -> list[Item]:
    items: dict[tuple[str, int], Item] = {}
    for entry in found:
        items.setdefault((entry[0].id, entry[1].n), entry if isinstance(entry, Item) else Item(*entry))
    return list(items.values())


def _section(item: Item) -> str:
    """Return the section that an item belongs to."""
    atom = item.atom
    if atom.status in DISPUTED or not DISPUTES.isdisjoint(item.marks):
        return "disputed"
    if atom.is_segment or atom.memory_type is MemoryType.NARRATIVE:
        return "evidence"
    if atom.memory_type is MemoryType.PROCEDURE:
        return "rules"
    return "profile" if atom.layer is Layer.PROFILE else "facts"


def _valid(atom: Atom) -> list[str]:
    """Return the first and last day of validity as text; the end of an interval is exclusive."""
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
    """Return the text on one line, without anything that closes a fence, starts a line, looks like the head of an item
    or is invisible; joiners stay where a script or an emoji needs them."""
    if not text.isascii() or not text.isprintable():
        text = only_seen(_LOOSE_JOINER.sub("", " ".join("".join(map(_visible, text)).split())))
    return _LIKE_OUR_HEAD.sub("(", " ".join(text.split()).translate(_BRACKETS))


def _visible(char: str) -> str:
    if char.isprintable() or char in "\u200c\u200d":
        return "" if "\U000e0000" <= char <= "\U000e0fff" else char
    if char.isspace():
        return " "
    return "" if unicodedata.category(char) in ("Cc", "Cf", "Cs") or char >= "\U000e0000" else char
