"""Memory blocks: one list of short notes by role for each workstream, given to an agent beside what it recalls."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lamina.argument_checks import Amount, verb
from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.provenance import TRUST, Origin
from lamina.atom.status import ENDED, Status
from lamina.capture.classification import StatementVerdict
from lamina.capture.receipt import Result
from lamina.capture.statement_commit import SegmentBatch, commit_verdicts
from lamina.errors import Refused
from lamina.store.base import AtomFilter, TransactionMode
from lamina.text.normal_form import value_form
from lamina.working.block_entries import BlockEntry, append_entry, parse_entries, parse_entry
from lamina.working.context import WorkingContext, parse_name

BLOCK = "block"
BLOCK_ORIGIN = Origin.AGENT
"""The origin of a block: people and agents write into it, so it is trusted as much as an agent."""

Count = Callable[[str], int]
"""Counts the tokens of a text."""


class Block:
    """The notes of one workstream, stored in one file. Created by `Memory.block`; a name means one block."""

    def __init__(self, workstream: str, context: WorkingContext, count: Callable[[], Count]) -> None:
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
