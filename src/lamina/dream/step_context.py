"""The context of a dream step: one scope at one time, the store, and the models it may use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from lamina.atom.atom import Atom, AtomId
from lamina.atom.provenance import Scope, readable_scopes
from lamina.atom.status import Status
from lamina.capture.change.dependants import DependencyRule
from lamina.dream.call_budget import BudgetedChat
from lamina.dream.entity_pages import is_plain_statement
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.lifecycle.retention import DEFAULT_MODE, RetentionMode
from lamina.models.chat import Chat
from lamina.models.embedder import Embedder
from lamina.store.base import AtomFilter, Store

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
