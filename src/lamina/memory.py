"""The public API: `Memory` holds the verbs, and each verb calls the packages that do the work."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Unpack

from pydantic import InstanceOf

from lamina.argument_checks import parse_enum, verb
from lamina.atom.atom import Atom, Relation, RelationName
from lamina.atom.provenance import Origin, parse_scope
from lamina.atom.status import ENDED, Status
from lamina.caller import Caller
from lamina.capture.caller_input import (
    InputTurn,
    RevisionFields,
    StatementFields,
    UnitInterval,
    parse_conversation,
    parse_conversation_header,
    parse_text,
    parse_turns,
)
from lamina.capture.pieces import TextPiece
from lamina.capture.receipt import Receipt
from lamina.clock import Clock
from lamina.codebase import capture_codebase, summarize_codebase
from lamina.engine import Engine
from lamina.engine.atom_changes import AtomChanges, link_atom
from lamina.engine.due_work import DueWork
from lamina.engine.effects import translate_disk_errors
from lamina.engine.erasing import erase
from lamina.engine.imports import Imports
from lamina.engine.statement_writing import (
    DEFAULT_PROPOSE_REASON,
    DEFAULT_REMEMBER_REASON,
    StatementInput,
    StatementWriting,
)
from lamina.engine.undoing import undo_commits
from lamina.importers.import_writer import ImportReport
from lamina.memory_reader import MemoryReader
from lamina.models.encoding_worker import EncodingProgress
from lamina.recall.plain_ranking import rank_plainly
from lamina.recall.recall_result import bundled_token_counter
from lamina.review.confirm import with_status
from lamina.review.erase import ErasureReceipt
from lamina.review.quarantine import QuarantineTarget, quarantine
from lamina.review.review import Review
from lamina.review.review_context import parse_reason
from lamina.review.revision_fields import apply_revision, parse_revision
from lamina.review.undo import rollback
from lamina.settings import Settings
from lamina.store.base import CommitResult
from lamina.sync import Progress
from lamina.telemetry import Operation
from lamina.text.timestamps import TimeInput
from lamina.upkeep import Upkeep
from lamina.vault.disk import Disk
from lamina.working.block import Block
from lamina.working.run import Run


class Memory(MemoryReader):
    """The memory of one vault, for one caller. Opened by `lamina.open`; use it as a context manager or close it.

    `review` holds the decisions of people, `upkeep` what keeps the vault in order. `engine` is what callers share.
    """

    def __init__(self, engine: Engine, caller: Caller, on_close: Callable[[], None] = lambda: None) -> None:
        super().__init__(engine, caller)
        self._on_close, self._changes = on_close, AtomChanges(self._access)
        self._statements = StatementWriting(self._access)
        self._imports = Imports(self._access, self._sessions)
        self.review = Review(self._access.reviewer())
        self.upkeep = Upkeep(self._access, self._sessions, DueWork(self._access, self._sessions, self._imports))

    @verb()
    def for_caller(
        self,
        scope: str | None = None,
        *,
        actor: str = "human",
        principal: str | None = None,
        ceiling: Origin | str = Origin.HUMAN,
    ) -> Memory:
        """Return a memory on the same engine for another caller: its scope, actor, principal and highest origin.

        It is cheap, so make one for each request. Closing it closes nothing: the engine belongs to who opened it.
        """
        caller_scope = self.scope if scope is None else parse_scope(scope)
        return Memory(self.engine, Caller(caller_scope, actor, principal, parse_enum(Origin, ceiling, "ceiling")))

    @contextmanager
    def trial(self) -> Iterator[Memory]:
        """Yield a memory for a dry run: its verbs report what they would do, and at the end all is rolled back."""
        with self.engine.trial() as engine:
            yield Memory(engine, self.caller)

    def close(self) -> None:
        """Close files and stop threads, if this memory opened them. Acknowledged writes are durable without it."""
        self._on_close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @verb(Operation.UPSERT)
    def capture(
        self,
        words: str | Sequence[Mapping[str, object]] | Sequence[TextPiece],
        *,
        name: str | None = None,
        session_id: str | None = None,
        source_id: str | None = None,
        observed_at: TimeInput | None = None,
        origin: Origin | str | None = None,
        agents: Sequence[str] = (),
        private: bool = False,
        key: str | None = None,
        wait: bool = False,
    ) -> Receipt:
        """Store words verbatim and extract statements from them; return a receipt.

        The words are durable and searchable when this returns. Extraction runs in the background if background work
        is enabled; with `wait` it is finished too, and the receipt lists the outcome of every statement. A text is
        split by its format: a transcript into turns, markdown by headings. The file's `name` helps to detect it.
        `agents` names the agents that are to find it first, besides an agent that captures it.
        """
        heading = parse_conversation_header(session_id=session_id, source_id=source_id, observed_at=observed_at)
        writer = self._access.writer(origin, private)
        conversation = parse_conversation(
            _parse_words(words),
            heading.session_id,
            heading.source_id,
            heading.observed_at or self._access.write_time(),
            self.caller.agents(private, agents),
            file_name=name,
            redact_personal=self.settings.redact_personal,
        )
        return self._sessions.capture(conversation, writer, key, wait=wait)

    @verb(Operation.UPSERT)
    def capture_codebase(
        self, path: str | os.PathLike[str], name: str | None = None, *, private: bool = False
    ) -> Receipt:
        """Capture an outline of a source code folder: its tree and the signatures in its files.

        A second run reads only files that changed and archives what no longer exists.
        """
        with translate_disk_errors():
            outline = summarize_codebase(Path(path).expanduser().absolute(), name)
        writer, agents = self._access.writer(None, private), self.caller.agents(private)
        personal = self.settings.redact_personal
        return self._access.publish(
            capture_codebase(
                outline, writer, self._store, self.engine.ids, self.now(), agents=agents, personal=personal
            )
        )

    @verb(Operation.UPSERT)
    def read_waiting(self) -> builtins.list[Receipt]:
        """Extract statements from all captures that are still queued; return their receipts."""
        return self._sessions.read_queues(self.scopes)

    @verb(Operation.MAINTAIN)
    def embed(self, progress: EncodingProgress | None = None, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Compute the missing vectors of all passages now; return the number of texts embedded."""
        return self.engine.effects.encode(stop, progress)

    @verb(Operation.UPSERT, fields=StatementFields)
    def remember(
        self,
        content: str,
        *,
        origin: Origin | str | None = None,
        private: bool = False,
        reason: str = DEFAULT_REMEMBER_REASON,
        key: str | None = None,
        **fields: Unpack[StatementFields],
    ) -> Receipt:
        """Write one statement as given, classified against the existing statements; return a receipt."""
        return self.remember_many(
            [{"content": content, **fields}], origin=origin, private=private, reason=reason, key=key
        )

    @verb(Operation.UPSERT)
    def remember_many(
        self,
        statements: Iterable[Mapping[str, object]],
        *,
        origin: Origin | str | None = None,
        private: bool = False,
        reason: str = DEFAULT_REMEMBER_REASON,
        key: str | None = None,
    ) -> Receipt:
        """Write several statements in one commit: all of them, or none if one is invalid."""
        return self._statements.remember(statements, StatementInput(origin, private, reason, key))

    @verb(Operation.CREATE, fields=StatementFields)
    def propose(
        self,
        content: str,
        *,
        origin: Origin | str | None = None,
        private: bool = False,
        reason: str = DEFAULT_PROPOSE_REASON,
        key: str | None = None,
        **fields: Unpack[StatementFields],
    ) -> Receipt:
        """Propose a statement: it stays pending until a person confirms it.

        With `metadata` {profile_key, value, reason} it is a value for the profile.
        """
        return self._statements.propose({**fields, "content": content}, StatementInput(origin, private, reason, key))

    @verb(Operation.UPDATE)
    def rollback(self, id: str, reason: str = "rolled back") -> Receipt:
        """Reverse a statement, such as a confirmed proposal, and restore what it had superseded."""
        return rollback(id, reason, self._access.reviewer())

    @verb(Operation.UPDATE)
    def quarantine(
        self,
        *,
        source: str | None = None,
        session: str | None = None,
        origin: Origin | str | None = None,
        reason: str = "not to be trusted",
        yes: bool = False,
    ) -> Receipt:
        """Hold everything from a source, session or origin, and everything derived from it, for review.

        Its effects on other atoms are reversed. If it is more than 5 % of the store, `yes` is required.
        """
        parsed_origin = parse_enum(Origin, origin, "origin") if origin is not None else None
        return quarantine(QuarantineTarget(source, session, parsed_origin), reason, self._access.reviewer(), yes=yes)

    @verb(Operation.UPSERT)
    def import_(
        self, path: str | os.PathLike[str], *, private: bool = False, progress: Progress | None = None
    ) -> ImportReport:
        """Import an export of another program, a vault, a folder or a file; return the counts.

        Words are searchable immediately, statements stay pending. An interrupted import continues when run again.
        """
        return self._imports.import_path(Path(path).expanduser().absolute(), private=private, progress=progress)

    @verb()
    def run(self, id: str, *, private: bool = False) -> Run:
        """Return the working memory of one run: notes that only this run reads, until it is closed with an outcome."""
        return Run(
            id,
            self._access.working_context(private),
            lambda atoms, query: [match.atom for match in rank_plainly(atoms, query)],
        )

    @verb()
    def block(self, workstream: str, *, private: bool = False) -> Block:
        """Return the memory block of a workstream: short notes by role, given to an agent with its recalls."""
        return Block(workstream, self._access.working_context(private), bundled_token_counter)

    @verb(Operation.UPDATE, fields=RevisionFields)
    def revise(self, id: str, content: str | None = None, *, reason: str, **fields: Unpack[RevisionFields]) -> Atom:
        """Write a new version of an atom and return it; the old version stays in its history."""
        revision = parse_revision(content, fields, redact_personal=self.settings.redact_personal)
        return self._changes.change(id, "revise", parse_reason(reason), lambda atom: apply_revision(atom, revision))

    @verb(Operation.UPDATE)
    def update_status(self, id: str, status: Status | str, reason: str) -> Atom:
        """Change the status of an atom, with a reason; back from an ended status this is a restore."""
        reason, new_status, before = parse_reason(reason), parse_enum(Status, status, "status"), self.get(id)
        if before.status in (Status.CONSTRAINED, Status.CHALLENGED) and new_status is Status.ACTIVE:
            return self.review.confirm(before.id, reason).atom
        if before.status in ENDED:
            return self._changes.restore(id, new_status, reason)
        return self._changes.change(id, "update_status", reason, lambda atom: with_status(atom, new_status, self.now()))

    @verb(Operation.DELETE)
    def forget(self, id: str, reason: str) -> Atom:
        """Tombstone an atom: recall no longer finds it; its text and history are kept."""
        return self._changes.change(
            id, "forget", parse_reason(reason), lambda atom: atom.with_(status=Status.TOMBSTONED)
        )

    @verb(Operation.DELETE)
    def erase(
        self,
        ids: str | Sequence[str] = (),
        reason: str = "asked to erase",
        *,
        session: str | None = None,
        everywhere: bool = False,
    ) -> ErasureReceipt:
        """Remove atoms for good: every version, the sentences they rest on, what was derived from them, their vectors,
        files and free space.

        `session` erases everything captured in one session. The same words in other memories stay, unless `everywhere`;
        a trial returns every passage that would change. Only a person may erase, and nothing can undo it. Erased text
        is recognised and not stored if it is captured again.
        """
        self.caller.require_person("erase; only a person may, with `lamina erase`")
        targets = [ids] if isinstance(ids, str) else ids
        return erase(self._access, targets, session, parse_reason(reason), everywhere=everywhere)

    @verb(Operation.UPDATE)
    def pin(self, id: str, reason: str = "pinned") -> Atom:
        """Protect an atom from being forgotten, merged or archived by maintenance."""
        return self._changes.change(id, "pin", parse_reason(reason), lambda atom: atom.with_(pinned=True))

    @verb(Operation.UPDATE)
    def unpin(self, id: str, reason: str = "unpinned") -> Atom:
        """Remove the protection of a pinned atom."""
        return self._changes.change(id, "unpin", parse_reason(reason), lambda atom: atom.with_(pinned=False))

    @verb(Operation.UPDATE)
    def resolve(self, id: str, reason: str = "done") -> Atom:
        """Mark a commitment, a goal or a reminder as done: it becomes history and is archived later."""
        return self._changes.change(id, "resolve", parse_reason(reason), lambda atom: atom.with_(resolved=True))

    @verb(Operation.UPDATE)
    def relate(self, a: str, relation: RelationName | str, b: str, confidence: UnitInterval = 1.0) -> Atom:
        """Link one atom to another; an existing link gets the new confidence."""
        name = parse_enum(RelationName, relation, "relation")
        link = Relation(name, self.get(b).id, confidence, self.now())
        return self._changes.change(a, "relate", f"{name} {link.target}", lambda atom: link_atom(atom, link))

    @verb(Operation.UPDATE)
    def undo(self, commit: str | None = None, *, cascade: bool = False) -> builtins.list[CommitResult]:
        """Undo a commit or a dream, by default the last one; UndoRefused lists later commits that build on it."""
        return undo_commits(self._access, commit, cascade=cascade)


@verb()
def open_memory(
    path: str | os.PathLike[str],
    scope: str | None = None,
    *,
    actor: str = "human",
    principal: str | None = None,
    ceiling: Origin | str = Origin.HUMAN,
    clock: Clock | None = None,
    settings: InstanceOf[Settings] | None = None,
    disk: Disk | None = None,
    vfs: str | None = None,
    progress: Progress | None = None,
    **overrides: object,
) -> Memory:
    """Open the memory in a folder and return it; missing files are created, edits of its files are read immediately.

    `actor`, `principal` and `ceiling` say in whose name it writes and its highest origin; closing it ends its
    background work. `settings` are used instead of those of the vault, and each further argument is a setting by its
    name, such as `watch=False`. `disk` and `vfs` are what files and databases are written through.
    """
    engine = Engine.open(path, clock=clock, settings=settings, disk=disk, vfs=vfs, scope=scope, **overrides)
    try:
        caller = Caller(parse_scope(engine.settings.scope), actor, principal, parse_enum(Origin, ceiling, "ceiling"))
        memory = Memory(engine, caller, engine.close)
        memory.upkeep.opening_report = memory.upkeep.due_work.begin(progress)
    except BaseException:
        engine.close()
        raise
    return memory


def _parse_words(
    words: str | Sequence[Mapping[str, object]] | Sequence[TextPiece],
) -> str | Sequence[InputTurn] | Sequence[TextPiece]:
    """Validate the words given to `capture`; pieces come from our own document readers."""
    if isinstance(words, str):
        return parse_text(words)
    turns: Any = words
    pieces = [word for word in words if isinstance(word, TextPiece)]
    return pieces if pieces and len(pieces) == len(words) else parse_turns(turns)
