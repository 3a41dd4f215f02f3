"""Memory blocks: for each workstream one list of short notes by role, told to an agent beside what it recalls."""

from __future__ import annotations

from collections.abc import Callable

from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.status import ENDED, Status
from lamina.atom.trust import TRUST, Origin
from lamina.capture.classify import Verdict
from lamina.capture.receipt import Result
from lamina.capture.write import Words, write
from lamina.errors import InvalidInput, Refused
from lamina.store.base import Filter
from lamina.text.normal import value_form
from lamina.working import block_entries as entries
from lamina.working.block_entries import Entry, parse_entry
from lamina.working.context import Workplace, parse_name

KIND = "block"
SHARED = Origin.AGENT
"""The origin of a block: people and agents write into it, so it is worth what an agent's word is worth."""

Count = Callable[[str], int]
"""How many tokens a text has."""


class Block:
    """The notes of one workstream, kept in one file. Made by `Memory.block`; the same name means the same block."""

    def __init__(self, workstream: str, place: Workplace, count: Callable[[], Count]) -> None:
        self.workstream = parse_name(workstream, "a workstream")
        self._place, self._count = place, count

    def __repr__(self) -> str:
        return f"Block({self.workstream!r})"

    def add(self, role: str, text: str) -> Atom:
        """Note something under a role; beyond fifteen notes the oldest are folded, and history keeps their words."""
        entry = parse_entry(self._place.clean(role).text, self._place.clean(text).text)
        place, writer = self._place, self._place.writer
        if TRUST[writer.origin] < TRUST[SHARED]:
            raise Refused(f"{writer.origin} may not write into a block: a person or an agent notes what it vouches for")
        place.fresh(self._wanted)
        with place.store.alone():
            verdict = self._with(entry)
            receipt = write(Words(), [verdict], writer, place.store, "note", verdict.reason, None)
        return place.published(receipt).atom

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The notes, oldest first, as the file says at this moment."""
        standing = self._standing(self._place.fresh(self._wanted))
        return tuple(entry for atom in standing for entry in entries.read(atom.content))

    @property
    def lines(self) -> tuple[str, ...]:
        """The notes for an agent, one a line with its role."""
        return tuple(map(str, self.entries))

    def text(self, budget: int | None = None, *, count: Count | None = None) -> str:
        """The notes as text for an agent; with a budget of tokens, the youngest that fit."""
        lines = list(self.lines)
        if budget is None:
            return "\n".join(lines)
        if budget < 0:
            raise InvalidInput("a budget is at least 0 tokens")
        tokens = count or self._count()
        while lines and tokens("\n".join(lines)) > budget:
            del lines[0]
        return "\n".join(lines)

    def _with(self, entry: Entry) -> Verdict:
        """The block with one more note; one that a person made by hand is theirs, so an agent starts its own."""
        place, writer, now = self._place, self._place.writer, self._place.now()
        standing = self._standing(place.store.read(self._wanted))
        own = next((atom for atom in standing if TRUST[atom.origin] <= TRUST[writer.origin]), None)
        if own is not None:
            status = Status.ACTIVE if own.status is Status.ARCHIVED else own.status
            longer = own.with_(content=entries.added(own.content, entry), status=status)
            return Verdict(Result.DUPLICATE, longer, (longer,), f"noted in block {self.workstream}")
        made = Atom(
            id=place.ids.new(now), scope=writer.scope, kind=KIND, content=entries.added("", entry), observed_at=now,
            subject=self.workstream, agents=place.agents, origin=SHARED, principal=writer.principal,
            **kind_defaults(KIND),
        )  # fmt: skip
        return Verdict(Result.NEW, made, (), f"block {self.workstream} begun")

    @property
    def _wanted(self) -> Filter:
        return Filter(scopes=(self._place.writer.scope,), kinds=frozenset({KIND}), subject=self.workstream)

    def _standing(self, found: list[Atom]) -> list[Atom]:
        name = value_form(self.workstream)
        own = (atom for atom in found if value_form(atom.subject) == name and atom.status not in ENDED)
        return sorted(own, key=lambda atom: atom.id)
