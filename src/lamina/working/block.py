"""The memory block of a workstream: an editable list of notes by role, in one atom, and how its entries are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lamina.argument_checks import Amount, verb
from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.provenance import TRUST, Origin
from lamina.atom.status import ENDED, Status
from lamina.capture.caller_input import parse_text
from lamina.capture.classification import StatementVerdict
from lamina.capture.receipt import Result
from lamina.capture.statement_commit import SegmentBatch, commit_verdicts
from lamina.errors import InvalidInput, Refused
from lamina.store.base import AtomFilter, TransactionMode
from lamina.text.normal_form import one_line, value_form
from lamina.text.sentences import find_sentences
from lamina.working.writer_access import WriterAccess, parse_name

MAX_ENTRIES, ENTRIES_AFTER_FOLD = 15, 10
"""The most notes of a list, and how many of the newest stay whole when it has more."""
FOLDED_ROLE = "earlier"
"""The role of the note into which the oldest are folded."""
DEFAULT_ROLE = "note"
MAX_ROLE_LENGTH, MAX_TEXT_LENGTH = 60, 2000
SUMMARY_LENGTH, MAX_SUMMARIES = 160, 24
"""The most characters that folding keeps of a note's first sentence, and the most notes it keeps one of."""

_ITEM = re.compile(r"[-*+][ \t]+(?=\S)")
_BREAK = re.compile(r"#{1,6}(?:[ \t]|$)|(?:[-*_][ \t]*){3,}$")
_ROLE = re.compile(r"\*\*([^*\n]{1,80}?)(?:\*\*:|:\*\*)[ \t]*|(\w{1,30}):[ \t]+(?=\S)")
_COUNT = re.compile(r"(\d{1,9}) notes?\b")


@dataclass(frozen=True, slots=True)
class BlockEntry:
    """One note of a block: the role of its author and its text."""

    role: str
    text: str

    def __str__(self) -> str:
        return f"{self.role}: {one_line(self.text)}"


@dataclass(frozen=True, slots=True)
class _Span:
    """A note and its position in the file's text."""

    entry: BlockEntry
    start: int
    end: int


def parse_entry(role: str, text: str) -> BlockEntry:
    """Return a note of a role and a text; InvalidInput if one is empty or too long."""
    label = one_line(parse_text(role).replace("*", " ")).strip(" :")
    words = "\n".join(line.rstrip() for line in parse_text(text).strip().split("\n"))
    if not label or len(label) > MAX_ROLE_LENGTH:
        raise InvalidInput(f"the role needs 1 to {MAX_ROLE_LENGTH} characters; it is shown before the text")
    if not words:
        raise InvalidInput("the note is empty; give it a text")
    if len(words) > MAX_TEXT_LENGTH:
        raise InvalidInput(f"a block holds notes of up to {MAX_TEXT_LENGTH} characters; capture long text instead")
    return BlockEntry(label, words)


def render_entry(entry: BlockEntry) -> str:
    """Return a note as markdown."""
    first, *rest = entry.text.split("\n")
    return "\n".join([f"- **{entry.role}**: {first}", *(f"  {line}" if line else "" for line in rest)])


def parse_entries(content: str) -> tuple[BlockEntry, ...]:
    """Return the notes of a file, in order."""
    return tuple(span.entry for span in _find_entries(content))


def append_entry(content: str, entry: BlockEntry) -> str:
    """Return the file with one more note at its end; existing text changes only if the list is too long."""
    return fold_entries(f"{content.rstrip()}\n{render_entry(entry)}" if content.strip() else render_entry(entry))


def fold_entries(content: str) -> str:
    """Return the file with its oldest notes folded into one if there are too many; idempotent."""
    spans = _find_entries(content)
    if len(spans) <= MAX_ENTRIES:
        return content
    oldest = spans[:-ENTRIES_AFTER_FOLD]
    note = render_entry(BlockEntry(FOLDED_ROLE, _summarise([span.entry for span in oldest])))
    return content[: oldest[0].start] + note + content[oldest[-1].end :]


def _summarise(entries: Sequence[BlockEntry]) -> str:
    count, lines = 0, list[str]()
    for entry in entries:
        folded_before = _COUNT.match(entry.text) if entry.role == FOLDED_ROLE else None
        if folded_before is None:
            count, lines = count + 1, [*lines, f"- {entry.role}: {_first_sentence(entry.text)}"]
        else:
            count += int(folded_before.group(1))
            lines += [_cut(line, SUMMARY_LENGTH + MAX_ROLE_LENGTH + 4) for line in entry.text.split("\n")[1:] if line]
    return "\n".join([f"{count} notes, in short; the whole is in this file's history", *lines[-MAX_SUMMARIES:]])


def _first_sentence(text: str) -> str:
    start, end = next(iter(find_sentences(text)), (0, len(text)))
    return _cut(one_line(text[start:end]), SUMMARY_LENGTH)


def _cut(line: str, length: int) -> str:
    if len(line) <= length:
        return line
    space = line.rfind(" ", length // 2, length)
    return line[: space if space > 0 else length - 1].rstrip() + "…"


def _find_entries(content: str) -> list[_Span]:
    spans: list[_Span] = []
    lines: list[str] = []
    start = position = end = 0
    after_gap = True

    def finish() -> None:
        if lines:
            spans.extend(_parse_span(lines, start, end))
            lines.clear()

    for line in content.split("\n"):
        indented = line[:1] in (" ", "\t")
        if not line.strip():
            after_gap = True
            if lines:
                lines.append("")
        elif _BREAK.match(line.rstrip()):
            finish()
        elif lines and (indented or (not after_gap and not _ITEM.match(line))):
            lines.append(line)
            end, after_gap = position + len(line), False
        else:
            finish()
            start, end, after_gap = position, position + len(line), False
            lines.append(line)
        position += len(line) + 1
    finish()
    return spans


def _parse_span(lines: Sequence[str], start: int, end: int) -> Iterable[_Span]:
    first = _ITEM.sub("", lines[0].lstrip(), count=1)
    role = _ROLE.match(first)
    label = one_line(role.group(1) or role.group(2) or "") if role else ""
    words = [first[role.end() :] if role and label else first, *(_remove_indent(line) for line in lines[1:])]
    text = "\n".join(line.rstrip() for line in words).strip()
    return [_Span(BlockEntry(label or DEFAULT_ROLE, text), start, end)] if text else []


def _remove_indent(line: str) -> str:
    return line[1:] if line.startswith("\t") else line[2:] if line.startswith("  ") else line.removeprefix(" ")


BLOCK = "block"
BLOCK_ORIGIN = Origin.AGENT
"""The origin of a block: people and agents write into it, so it is trusted as much as an agent."""

Count = Callable[[str], int]
"""Counts the tokens of a text."""


class Block:
    """The notes of one workstream, stored in one file. Created by `Memory.block`; a name means one block."""

    def __init__(self, workstream: str, context: WriterAccess, count: Callable[[], Count]) -> None:
        self.workstream = parse_name(workstream, "a workstream")
        self._context, self._count = context, count

    def __repr__(self) -> str:
        return f"Block({self.workstream!r})"

    @verb()
    def add(self, role: str, text: str) -> Atom:
        """Add a note under a role. Beyond fifteen notes the oldest are merged; the file's history keeps their words."""
        context, writer = self._context, self._context.writer
        entry = parse_entry(context.clean(role).text, context.clean(text).text)
        if TRUST[writer.origin] < TRUST[BLOCK_ORIGIN]:
            raise Refused(f"{writer.origin} may not write into a block; write as a person or an agent")
        context.read_fresh(self._filter)
        with context.store.transaction(TransactionMode.WRITE):
            verdict = self._append(entry)
            receipt = commit_verdicts(SegmentBatch(), [verdict], writer, context.store, "note", verdict.reason, None)
        return context.publish(receipt).atom

    @property
    def entries(self) -> tuple[BlockEntry, ...]:
        """Return the notes, oldest first, as the file has them now."""
        atoms = self._select_current(self._context.read_fresh(self._filter))
        return tuple(entry for atom in atoms for entry in parse_entries(atom.content))

    @property
    def lines(self) -> tuple[str, ...]:
        """Return the notes for an agent, one per line with its role."""
        return tuple(map(str, self.entries))

    @verb()
    def text(self, budget: Amount | None = None, *, count: Count | None = None) -> str:
        """Return the notes as text for an agent; with a budget of tokens, the newest that fit."""
        lines = list(self.lines)
        if budget is None:
            return "\n".join(lines)
        count_tokens = count or self._count()
        while lines and count_tokens("\n".join(lines)) > budget:
            del lines[0]
        return "\n".join(lines)

    def _append(self, entry: BlockEntry) -> StatementVerdict:
        """Return the block with one more note; an agent does not change a person's block but creates another."""
        context, writer, now = self._context, self._context.writer, self._context.now()
        current = self._select_current(context.store.atoms.read(self._filter))
        writable = next((atom for atom in current if TRUST[atom.origin] <= TRUST[writer.origin]), None)
        if writable is not None:
            status = Status.ACTIVE if writable.status is Status.ARCHIVED else writable.status
            updated = writable.with_(content=append_entry(writable.content, entry), status=status)
            return StatementVerdict(Result.DUPLICATE, updated, (updated,), f"note added to block {self.workstream}")
        block = Atom(
            id=context.ids.new(now),
            scope=writer.scope,
            kind=BLOCK,
            content=append_entry("", entry),
            observed_at=now,
            subject=self.workstream,
            agents=context.agents,
            origin=BLOCK_ORIGIN,
            principal=writer.principal,
            **kind_defaults(BLOCK),
        )
        return StatementVerdict(Result.NEW, block, (), f"block {self.workstream} created")

    @property
    def _filter(self) -> AtomFilter:
        return AtomFilter(scopes=(self._context.writer.scope,), kinds=frozenset({BLOCK}), subject=self.workstream)

    def _select_current(self, atoms: Iterable[Atom]) -> list[Atom]:
        name = value_form(self.workstream)
        current = (atom for atom in atoms if value_form(atom.subject) == name and atom.status not in ENDED)
        return sorted(current, key=lambda atom: atom.id)
