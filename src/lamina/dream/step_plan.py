"""The plan of a step: atoms in their new state, a line for each change, and notes on what it left alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lamina.atom.atom import Atom, AtomId, has_generated_section
from lamina.text.normal_form import one_line

TEXT_CHARS = 80
"""The most characters of an atom's text that a move quotes."""


@dataclass(frozen=True, slots=True)
class Move:
    """One change of an atom for a person to read: the action, the text of the atom, and why."""

    action: str
    atom_id: AtomId
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class StepPlan:
    """The changes of one step, committed together or not at all.

    `changes` are atoms in their new state (revision 0 is a new atom). `after_commit` runs once the changes are
    committed, or if there are none; `after_in_dry_run`: it only writes inside the store's trial, so a dry run may call
    it as well. `notes` say what was noticed and left alone; `examined` says how much the step looked at, and why
    nothing moved if nothing did.
    """

    changes: tuple[Atom, ...] = ()
    moves: tuple[Move, ...] = ()
    notes: tuple[str, ...] = ()
    examined: str = field(default="", compare=False)
    after_commit: Callable[[], None] = field(default=lambda: None)
    after_in_dry_run: bool = False

    @property
    def changed_count(self) -> int:
        """Return how many existing atoms would change; pages are not counted because they only list other atoms."""
        return sum(1 for change in self.changes if change.revision and not has_generated_section(change.content))


@dataclass(slots=True)
class PlanBuilder:
    """The plan of a step while it is put together; of several changes of one atom the last counts."""

    changes: dict[AtomId, Atom] = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    examined: str = ""

    def list_move(self, action: str, atom: Atom, why: str) -> None:
        """List what happens to an atom."""
        self.moves.append(Move(action, atom.id, one_line(atom.content)[:TEXT_CHARS], why))

    def record(self, action: str, atom: Atom, why: str) -> None:
        """Add the new state of an atom, and list what happens to it."""
        self.changes[atom.id] = atom
        self.list_move(action, atom, why)

    def add(self, plan: StepPlan) -> None:
        """Add the changes, moves and notes of another plan."""
        self.changes |= {atom.id: atom for atom in plan.changes}
        self.moves += plan.moves
        self.notes += plan.notes

    def build(self) -> StepPlan:
        """Return the plan."""
        return StepPlan(tuple(self.changes.values()), tuple(self.moves), tuple(self.notes), self.examined)
