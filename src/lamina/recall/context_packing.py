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
from lamina.recall.marks import DISPUTE_MARKS
from lamina.text.normal_form import HIDDEN_TEXT_TAG, has_hidden_text, remove_hidden

SECTIONS = ("core", "workstream", "profile", "rules", "facts", "evidence", "related", "box", "disputed")
NOT_ANSWERS = frozenset({"core", "workstream", "box"})
"""Sections that answer nothing: they are included whatever the question is, or only surround a hit."""
DISPUTED_STATUSES = frozenset({Status.CHALLENGED, Status.CONSTRAINED, Status.INVALIDATED, Status.TOMBSTONED})
"""Statuses of the section for disputed, unconfirmed and withdrawn statements. Superseded statements stay in their own
section."""
CORE_SHARE = 0.25
"""The largest share of a budget for core memories, which are included in every context."""
WORKSTREAM_SHARE = 0.25
"""The largest share of a budget for the notes of workstreams."""
RELATED_SHARE = 0.2
"""The largest share of a budget for memories that relations lead to from hits; it is filled after the best hit."""
BOX_SHARE = 0.25
"""The largest share of a budget for statements that were made together with what a hit says."""
NOTHING_KNOWN = "nothing known"
BUDGET_TOO_SMALL = "something is known, but the budget has no room for it"
_OPEN, _CLOSE = "<memories>", "</memories>"

TokenCounter = Callable[[str], int]
"""Counts the tokens of a text."""


class ContextItem(NamedTuple):
    """A hit to be packed: `text` replaces the words of the passage where some of them no longer hold.

    A `section` replaces the one that the atom belongs to, unless it is disputed.
    """

    atom: Atom
    passage: Passage
    text: str | None = None
    marks: tuple[str, ...] = ()
    section: str = ""


PackableItem = ContextItem | tuple[Atom, Passage]


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text from above: one for every three letters of a word, one for every digit and sign,
    one to three for a character outside ASCII; spaces are free. Never less than a token for four characters."""
    plain = text if text.isascii() else _BEYOND_ASCII.sub("", text)
    beyond = 0 if plain is text else len(text.encode(errors="replace")) - len(plain) - (len(text) - len(plain))
    return len(_PIECE.findall(plain)) + beyond


def minimum_budget(count: TokenCounter = estimate_tokens) -> int:
    """Return the smallest budget that can be kept; the shortest possible context needs as much."""
    return max(count(_fence([NOTHING_KNOWN])), count(_fence([BUDGET_TOO_SMALL])))


def pack_context(
    items: Sequence[PackableItem],
    budget: int,
    *,
    core: Sequence[PackableItem] = (),
    workstreams: Sequence[tuple[str, Sequence[str]]] = (),
    related: Sequence[ContextItem] = (),
    box_items: Sequence[PackableItem] = (),
    count: TokenCounter = estimate_tokens,
) -> str:
    """Pack hits, best first, into the sections core, workstream, profile, rules, facts, evidence, related, box and
    disputed. The text never contains instructions.

    Each item states its id, origin, status, day, validity if known, marks and speaker. `count(pack_context(…))` is at
    most `budget`, if that is at least `minimum_budget(count)`; by default `estimate_tokens` counts. Items are added by
    rank while there is room; one that is too long is skipped, and only the best hit is cut with an ellipsis instead.
    `core` holds memories that are always included, within a quarter of the budget. `workstreams` holds names and notes,
    oldest first, within another quarter, the newest first. `related` holds what relations lead to from the hits, hits
    or not: it has a fifth of the budget after the best hit, and the room that is left. `box_items` holds what was
    stated together with hits; it gets what room is left then, at most a quarter. Without any hit the text says
    "nothing known".
    """
    packing = _ContextPacker(budget, count)
    hits = _distinct_items(items)
    hit_keys = {(item.atom.id, item.passage.n) for item in hits}
    packing.limit = int(budget * CORE_SHARE)
    shown_keys = set[tuple[str, int]]()
    for item in _distinct_items(core):
        key = item.atom.id, item.passage.n
        if key not in hit_keys and packing.add(_ContextLine.of(item, "core")):
            shown_keys.add(key)
    for name, notes in workstreams:
        packing.limit = min(budget, packing.used + int(budget * WORKSTREAM_SHARE / len(workstreams)))
        packing.add_last([_ContextLine.of_workstream(name, note) for note in notes])
    packing.limit = budget
    linked = {(item.atom.id, item.passage.n): item for item in related}
    lines = [_ContextLine.of(item, _section_of(item)) for item in hits if (item.atom.id, item.passage.n) not in linked]
    linked_lines = [
        _ContextLine.of(item, _section_of(item)) for key, item in linked.items() if hits and key not in shown_keys
    ]
    if lines and not packing.add(lines[0]):
        packing.add_shortened(lines[0])
    packing.limit = min(budget, packing.used + int(budget * RELATED_SHARE))
    left_over = [line for line in linked_lines if not packing.add(line)]
    packing.limit = budget
    for line in (*lines[1:], *left_over):
        packing.add(line)
    packing.limit = min(budget, packing.used + int(budget * BOX_SHARE))
    for item in _distinct_items(box_items) if hits else ():
        key = item.atom.id, item.passage.n
        if key not in hit_keys | shown_keys | linked.keys():
            packing.add(_ContextLine.of(item, "box"))
    return packing.render(BUDGET_TOO_SMALL if hits else NOTHING_KNOWN)


class _ContextLine(NamedTuple):
    """An item on one line: its head, written by lamina, and its own words."""

    section: str
    head: str
    words: str

    @classmethod
    def of(cls, item: ContextItem, section: str) -> _ContextLine:
        """Return the line of an item."""
        atom, passage = item.atom, item.passage
        day = (passage.at or atom.observed_at).date().isoformat()
        marks = [_sanitise(mark).translate(_TO_ROUND) for mark in item.marks]
        about = "; ".join([f"{atom.id} {atom.origin} {atom.status} {day}", *_describe_validity(atom), *marks])
        words = passage.text if item.text is None else item.text
        if has_hidden_text(words):
            about = f"{about}; {HIDDEN_TEXT_TAG}"
        return cls(section, f"- [{about}] ", _sanitise(f"{passage.speaker}: {words}" if passage.speaker else words))

    @classmethod
    def of_workstream(cls, name: str, note: str) -> _ContextLine:
        """Return the line of a workstream's note."""
        return cls("workstream", f"- [{_sanitise(name).translate(_TO_ROUND)}] ", _sanitise(note))

    def __str__(self) -> str:
        return self.head + self.words


class _ContextPacker:
    """The lines added so far. Lines are counted one by one, and the whole once more, because token counts need not add
    up."""

    def __init__(self, budget: int, count: TokenCounter) -> None:
        self.limit = self._budget = budget
        self._count = count
        self._lines: list[_ContextLine] = []
        self.used = count(_fence([]))

    def add(self, line: _ContextLine) -> bool:
        """Add a line if there is room for it; return whether there was."""
        cost = self._count(f"{line}\n")
        if all(line.section != existing.section for existing in self._lines):
            cost += self._count(f"## {line.section}\n")
        if self.used + cost > self.limit:
            return False
        self._lines.append(line)
        self.used += cost
        return True

    def add_last(self, lines: Sequence[_ContextLine]) -> None:
        """Add as many of the last lines as there is room for, in their order."""
        line_count = len(self._lines)
        for line in reversed(lines):
            if not self.add(line):
                break
        self._lines[line_count:] = reversed(self._lines[line_count:])

    def add_shortened(self, line: _ContextLine) -> None:
        """Add as much of a line as there is room for, if that is worth reading."""

        def fits(length: int) -> bool:
            return self._fits([*self._lines, _shorten(line, length)])

        low, high = 0, len(line.words)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if fits(middle) else (low, middle - 1)
        whole_words = _last_word_end(line.words, low)
        length = whole_words if fits(whole_words) else low
        if length >= _MIN_CUT_LENGTH:
            self._lines.append(_shorten(line, length))
            self.used = self._budget

    def render(self, fallback: str) -> str:
        """Return the lines in their sections; the last ones are dropped while the whole is too long. `fallback` is
        added if no line answers."""
        while self._lines and not self._fits(self._lines, fallback):
            self._lines.pop()
        return _render(self._lines, fallback)

    def _fits(self, lines: Sequence[_ContextLine], fallback: str = BUDGET_TOO_SMALL) -> bool:
        return self._count(_render(lines, fallback)) <= self._budget


_MIN_CUT_LENGTH = 8
_MAX_WORD_LENGTH = 24


def _render(lines: Sequence[_ContextLine], fallback: str) -> str:
    output: list[str] = []
    for section in SECTIONS:
        section_lines = [str(line) for line in lines if line.section == section]
        output += [f"## {section}", *section_lines] if section_lines else []
    has_answer = any(line.section not in NOT_ANSWERS for line in lines)
    return _fence(output if has_answer else [*output, fallback])


def _shorten(line: _ContextLine, length: int) -> _ContextLine:
    return line if length >= len(line.words) else line._replace(words=f"{line.words[:length].rstrip()}…")


def _last_word_end(text: str, length: int) -> int:
    """Return the end of the last whole word; a long run without spaces is cut anywhere."""
    if length >= len(text) or text[length] == " ":
        return length
    space = text.rfind(" ", max(0, length - _MAX_WORD_LENGTH), length)
    return space if space > length // 2 else length


def _distinct_items(entries: Iterable[PackableItem]) -> list[ContextItem]:
    items: dict[tuple[str, int], ContextItem] = {}
    for entry in entries:
        items.setdefault((entry[0].id, entry[1].n), entry if isinstance(entry, ContextItem) else ContextItem(*entry))
    return list(items.values())


def _section_of(item: ContextItem) -> str:
    """Return the section that an item belongs to."""
    atom = item.atom
    if atom.status in DISPUTED_STATUSES or not DISPUTE_MARKS.isdisjoint(item.marks):
        return "disputed"
    if item.section:
        return item.section
    if atom.is_segment or atom.memory_type is MemoryType.NARRATIVE:
        return "evidence"
    if atom.memory_type is MemoryType.PROCEDURE:
        return "rules"
    return "profile" if atom.layer is Layer.PROFILE else "facts"


def _describe_validity(atom: Atom) -> list[str]:
    """Return the first and last day of validity as text; the end of an interval is exclusive."""
    days = [f"from {atom.valid_from.date().isoformat()}"] if atom.valid_from else []
    if atom.valid_until:
        last = max(atom.valid_until, _FIRST_MOMENT + _MOMENT) - _MOMENT
        days.append(f"to {last.date().isoformat()}")
    return [f"valid {' '.join(days)}"] if days else []


def _fence(lines: Iterable[str]) -> str:
    return "\n".join([_OPEN, *lines, _CLOSE])


_FIRST_MOMENT = datetime.min.replace(tzinfo=UTC)
_MOMENT = timedelta(milliseconds=1)
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_PIECE = re.compile(r"[A-Za-z]{1,3}|[^A-Za-z ]")
_BRACKETS = str.maketrans("<>＜＞﹤﹥", "‹›‹›‹›")
_TO_ROUND = str.maketrans("[]", "()")
_ITEM_HEAD = re.compile(r"(?<!\[)\[(?=\s*[0-7][0-9a-z]{25})", re.IGNORECASE)
_LOOSE_JOINER = re.compile(r"[\u200c\u200d]{2,}|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])")


def _sanitise(text: str) -> str:
    """Return the text on one line, without anything that closes a fence, starts a line, looks like the head of an item
    or is invisible; joiners stay where a script or an emoji needs them."""
    if not text.isascii() or not text.isprintable():
        text = remove_hidden(_LOOSE_JOINER.sub("", " ".join("".join(map(_visible_part, text)).split())))
    return _ITEM_HEAD.sub("(", " ".join(text.split()).translate(_BRACKETS))


def _visible_part(char: str) -> str:
    if char.isprintable() or char in "\u200c\u200d":
        return "" if "\U000e0000" <= char <= "\U000e0fff" else char
    if char.isspace():
        return " "
    return "" if unicodedata.category(char) in ("Cc", "Cf", "Cs") or char >= "\U000e0000" else char
