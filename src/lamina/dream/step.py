"""A dream step: its context (one scope at one time, the store, the models) and its plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from lamina.atom.atom import Atom, AtomId, has_generated_section
from lamina.atom.provenance import Scope, readable_scopes
from lamina.atom.status import Status
from lamina.capture.change.dependants import DependencyRule
from lamina.dream.entity_pages import is_plain_statement
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.lifecycle.retention import DEFAULT_MODE, RetentionMode
from lamina.models.chat import MOST_TOKENS, Chat, ChatReply, Message, T
from lamina.models.embedder import Embedder
from lamina.models.errors import BudgetSpent
from lamina.store.base import AtomFilter, Store
from lamina.text.normal_form import one_line


class BudgetedChat:
    """Passes calls on while any are left; callers check `calls_left` first."""

    def __init__(self, chat: Chat, calls: int) -> None:
        self._chat, self.calls_left = chat, calls

    @property
    def model(self) -> str:
        """Return the name of the model that answers."""
        return self._chat.model

    def ask(self, messages: Sequence[Message], schema: type[T], *, most_tokens: int = MOST_TOKENS) -> ChatReply[T]:
        """Return the model's answer; BudgetSpent if this dream has no calls left."""
        if self.calls_left <= 0:
            raise BudgetSpent("this dream has used all its chat model calls (setting dream_chat_calls)")
        self.calls_left -= 1
        return self._chat.ask(messages, schema, most_tokens=most_tokens)

    def close(self) -> None:
        """Do nothing: the code that opened the model closes it."""


LIVE = frozenset({Status.ACTIVE})


@dataclass(frozen=True, slots=True, kw_only=True)
class StepContext:
    """One scope at one time. Steps read it and plan; only the dream itself commits.

    `embedder` and `chat` are the models, if any; `code_roots` are folders of this machine that statements refer to;
    `should_stop` returns whether the dream was interrupted.
    """

    store: Store
    scope: Scope
    moment: AgeingTime
    ids: Iterator[AtomId]
    retention_mode: RetentionMode = DEFAULT_MODE
    embedder: Callable[[], Embedder | None] = lambda: None
    chat: Chat | None = None
    code_roots: tuple[Path, ...] = ()
    rules: tuple[DependencyRule, ...] = ()
    insights_enabled: bool = False
    should_stop: Callable[[], bool] = lambda: False

    @property
    def now(self) -> datetime:
        return self.moment.now

    @property
    def available_chat(self) -> Chat | None:
        """Return the chat model while this dream has calls left."""
        return None if isinstance(self.chat, BudgetedChat) and self.chat.calls_left <= 0 else self.chat

    def statements(self) -> list[Atom]:
        """Return current statements, newest first: no segments, no lists, nothing that a dream generated."""
        current = self.read(statuses=LIVE, include_run_notes=False, valid_at=self.now)
        return [atom for atom in current if is_plain_statement(atom)]

    def read(self, **filters: Any) -> list[Atom]:
        """Return the atoms of the scope that match these fields of `AtomFilter`."""
        return self.store.atoms.read(AtomFilter(scopes=(self.scope,), **filters))

    def read_readable(self, ids: Iterable[AtomId]) -> dict[AtomId, Atom]:
        """Return atoms by id, those of the organisation included."""
        atoms = self.store.atoms.read(AtomFilter(scopes=readable_scopes(self.scope), ids=tuple(ids)))
        return {atom.id: atom for atom in atoms}


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

    def then_mark_read(self, context: StepContext, name: str, position: int) -> StepPlan:
        """Return the plan that also stores, after its commit, up to where its step has read the journal."""

        def after() -> None:
            self.after_commit()
            context.store.queue.set_position(context.scope, name, position)

        return replace(self, after_commit=after)

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
