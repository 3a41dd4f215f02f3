"""What a step of a dream has before it: one scope as it stands, at one moment, and whoever may be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.capture.change.dependants import DependencyRule
from lamina.dream.entity_pages import is_stated
from lamina.dream.ration import Rationed
from lamina.lifecycle.moment import Moment
from lamina.lifecycle.retention import DEFAULT, Mode
from lamina.models.chat import Chat
from lamina.models.embedder import Embedder
from lamina.store.base import Filter, Store

LIVE = frozenset({Status.ACTIVE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One scope at one moment. Steps read it and plan; nothing but the dream itself commits.

    `embedder` compares meanings, `chat` writes, where there are any; `roots` are the folders of this machine that the
    scope's statements speak of; `stop` says that somebody wants to leave.
    """

    store: Store
    scope: Scope
    moment: Moment
    ids: Iterator[AtomId]
    mode: Mode = DEFAULT
    embedder: Callable[[], Embedder | None] = lambda: None
    chat: Chat | None = None
    roots: tuple[Path, ...] = ()
    rules: tuple[DependencyRule, ...] = ()
    insights: bool = False
    stop: Callable[[], bool] = lambda: False

    @property
    def now(self) -> datetime:
        return self.moment.now

    @property
    def writer(self) -> Chat | None:
        """The chat model, while this dream may still ask it."""
        return None if isinstance(self.chat, Rationed) and self.chat.left <= 0 else self.chat

    def stated(self) -> list[Atom]:
        """What somebody stated and still counts, newest first: no words as such, no lists, nothing a dream made."""
        wanted = Filter(scopes=(self.scope,), statuses=LIVE, notes=False, valid_at=self.now)
        return [each for each in self.store.read(wanted) if is_stated(each)]
