"""Memory: the facade. Each public method is a short story told with the rooms above."""

from __future__ import annotations

import builtins
import logging
import os
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from pydantic import SecretStr

from lamina.atom.atom import Atom, Signals
from lamina.atom.identity import AtomId, IdSource, is_atom_id
from lamina.atom.kinds import MemoryType
from lamina.atom.relation import Relation, RelationName
from lamina.atom.scope import Scope, agent, organisation, parse_scope, visible_from
from lamina.atom.status import ENDED, Status, Way
from lamina.atom.trust import Origin, bound
from lamina.capture.capture import Writer, capture, conversation, remember
from lamina.capture.draft import parse_draft, parse_heading, parse_text, parse_turns
from lamina.capture.receipt import Receipt
from lamina.clock import Clock, SystemClock
from lamina.errors import InvalidInput, InvalidScope, NotFound, StaleRevision, StoreError
from lamina.models.choose import Choice, choose
from lamina.models.embedder import Embedder
from lamina.models.encode import Background, encode_all
from lamina.models.encode import Progress as EncodeProgress
from lamina.models.files import models_folder
from lamina.models.reranker import choose_reranker
from lamina.recall import Question, Recall, recall
from lamina.recall.feedback import Lesson, cite, learn, parse_verdict
from lamina.recall.plan import PlanContext, plan_context
from lamina.review.diagnosis import Diagnosis
from lamina.review.export import export
from lamina.review.history import History, Transition, history_of
from lamina.review.undo import last_undoable, undo
from lamina.settings import Settings, load_settings
from lamina.store.base import Change, Commit, Committed, Edge, Entry, Filter, Match, TextQuery
from lamina.store.jobs import Job
from lamina.store.ledger import Problem
from lamina.store.recalls import not_kept
from lamina.store.sqlite import SqliteStore
from lamina.sync import Progress, Sync, SyncReport
from lamina.text.times import to_utc
from lamina.vault import home, layout
from lamina.vault.files import Disk
from lamina.vault.watch import Watcher

logger = logging.getLogger("lamina")

MOST_HITS = 100
RANKINGS = ("full", "plain")
REVISABLE = frozenset({
    "subject", "attribute", "value", "tags", "entities", "kind", "confidence", "importance", "valid_from",
    "valid_until", "expires_at", "durability", "memory_type", "metadata",
})  # fmt: skip
TIMES = frozenset({"valid_from", "valid_until"})
REFRESHES = 5

E = TypeVar("E", bound=StrEnum)


class Memory:
    """An opened store: vault, index and settings. Made by `lamina.open`; use it as a context manager or close it."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        scope: str | None = None,
        *,
        actor: str = "human",
        principal: str | None = None,
        ceiling: Origin | str = Origin.HUMAN,
        clock: Clock | None = None,
        watch: bool | None = None,
        background: bool | None = None,
        settings: Settings | None = None,
        disk: Disk | None = None,
        vfs: str | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.root = Path(path).expanduser().absolute()
        with _disk_errors():
            self.created = home.establish(self.root)
            self.settings = settings or load_settings(
                self.root / home.FOLDER / "settings.toml", scope=scope, watch=watch, background=background
            )
        self.scope = parse_scope(scope if scope is not None else self.settings.scope)
        self._actor, self._principal, self._ceiling = actor, principal, _one_of(Origin, ceiling, "origin")
        self._clock: Clock = clock or SystemClock()
        self._ids = IdSource(os.urandom)
        self._trying = False
        self._choice: Choice | None = None
        with _disk_errors():
            self.state = home.state_folder(self.root, self.settings.state_dir)
            self.state.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._disk = disk or Disk(self.root)
            self._store = SqliteStore(self.state, self._clock, vfs=vfs)
        self._sync = Sync(self._disk, self._store, self._clock, self._ids, lambda: home.is_vault(self.root))
        self._encoding = (
            Background(self._store, self._embedders)
            if (self.settings.background if background is None else background)
            else None
        )
        self._watcher = self._start_watching() if (self.settings.watch if watch is None else watch) else None
        try:
            self.opened = self.sync(progress=progress)
        except BaseException:
            self.close()
            raise

    # Writing

    def capture(
        self,
        words: str | Sequence[dict[str, Any]],
        *,
        session_id: str | None = None,
        source_id: str | None = None,
        observed_at: datetime | None = None,
        origin: Origin | str | None = None,
        private: bool = False,
        key: str | None = None,
    ) -> Receipt:
        """Keep the words as they were said, and make an atom of every sentence somebody asked to have remembered."""
        heading = parse_heading(session_id=session_id, source_id=source_id, observed_at=observed_at)
        at = heading.observed_at or self._clock.now()
        turns = parse_text(words) if isinstance(words, str) else parse_turns(words)
        writer = self._writer(origin, private)
        said = conversation(turns, heading.session_id, heading.source_id, at, self._agents(private))
        idle = timedelta(minutes=self.settings.idle_minutes)
        receipt = capture(
            said, writer, self._store, self._ids, self._clock.now(), self.settings.segment_chars, idle, key
        )
        return self._published(receipt)

    def remember(
        self,
        content: str,
        *,
        origin: Origin | str | None = None,
        private: bool = False,
        reason: str = "asked to remember",
        key: str | None = None,
        **fields: Any,
    ) -> Receipt:
        """Write one explicit statement, classified against what is there."""
        return self.remember_many(
            [{"content": content, **fields}], origin=origin, private=private, reason=reason, key=key
        )

    def remember_many(
        self,
        statements: Iterable[dict[str, Any]],
        *,
        origin: Origin | str | None = None,
        private: bool = False,
        reason: str = "asked to remember",
        key: str | None = None,
    ) -> Receipt:
        """Write many explicit statements in one commit: all or none."""
        extra = self._agents(private)
        parse_text(reason)
        drafts = [parse_draft(**{"agents": extra, **each}) for each in statements]
        if not drafts:
            raise InvalidInput("there is nothing to remember")
        writer = self._writer(origin, private)
        return self._published(remember(drafts, writer, self._store, self._ids, self._clock.now(), reason, key))

    def revise(self, id: str, content: str | None = None, *, reason: str, **fields: Any) -> Atom:
        """A new version of an atom; the old one is kept."""
        _need_reason(reason)
        unknown = fields.keys() - REVISABLE
        if unknown:
            raise InvalidInput(
                f"cannot revise {', '.join(sorted(unknown))}; choose from {', '.join(sorted(REVISABLE))}"
            )

        def revised(atom: Atom) -> Atom:
            times = {name: getattr(atom, name) for name in TIMES} if fields.keys() & TIMES else {}
            words = "as it is" if content is None or atom.is_segment else content
            draft = parse_draft(**{**times, **fields, "content": words})
            changed = {name: getattr(draft, name) for name in fields}
            if content is not None:
                changed["content"] = parse_text(content).strip("\n") if atom.is_segment else draft.content
            return atom.with_(**changed)

        return self._change(id, "revise", reason, revised)

    def update_status(self, id: str, status: Status | str, reason: str) -> Atom:
        """Move an atom along the status table; back from an ended status it is a restore, and needs its reason."""
        _need_reason(reason)
        wanted = _one_of(Status, status, "status")
        way = Way.RESTORE if self.get(id).status in ENDED else Way.ORDINARY
        verb = "restore" if way is Way.RESTORE else "update_status"
        return self._change(id, verb, reason, lambda atom: atom.with_(status=wanted), way)

    def forget(self, id: str, reason: str) -> Atom:
        """Tombstone an atom: recall no longer finds it, its text and history are kept."""
        _need_reason(reason)
        return self._change(id, "forget", reason, lambda atom: atom.with_(status=Status.TOMBSTONED))

    def pin(self, id: str) -> Atom:
        """Keep maintenance from forgetting, merging or archiving an atom."""
        return self._change(id, "pin", "pinned", lambda atom: atom.with_(pinned=True))

    def unpin(self, id: str) -> Atom:
        """Let maintenance treat an atom as any other."""
        return self._change(id, "unpin", "unpinned", lambda atom: atom.with_(pinned=False))

    def relate(self, a: str, relation: RelationName | str, b: str, confidence: float = 1.0) -> Atom:
        """Link one atom to another; the same link again takes the new confidence."""
        name = _one_of(RelationName, relation, "relation")
        if not 0 <= confidence <= 1:
            raise InvalidInput("confidence lies between 0 and 1")
        target = self.get(b).id
        link = Relation(name, target, confidence, self._clock.now())

        def related(atom: Atom) -> Atom:
            if atom.id == target:
                raise InvalidInput("an atom cannot be related to itself")
            others = tuple(each for each in atom.relations if (each.name, each.target) != (name, target))
            return atom.with_(relations=(*others, link))

        return self._change(a, "relate", f"{name} {target}", related)

    def undo(self, commit: str | None = None, *, cascade: bool = False) -> list[Committed]:
        """Undo a commit, by default the last; refused with the list of later ones that build on it."""
        self._look_for_edits()
        if commit is None:
            last = last_undoable(self._store, self.scopes)
            if last is None:
                raise NotFound("there is nothing to undo")
            commit = last.id
        if cascade and not self._trying:
            with self.trial():  # all of it or nothing: a rule broken half-way must not leave half an undo
                undo(self._store, commit, self.scopes, self._actor, self._ceiling, cascade=True)
        done = undo(self._store, commit, self.scopes, self._actor, self._ceiling, cascade=cascade)
        self._flush()
        return done

    @contextmanager
    def trial(self) -> Iterator[None]:
        """A dry run: verbs called inside are checked and tell what they would do; at the end nothing has happened."""
        with self._store.trial():
            self._trying = True
            try:
                yield
            finally:
                self._trying = False

    # Reading

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """What this memory may read: its own scope and its organisation's."""
        return visible_from(self.scope)

    def recall(
        self,
        question: str,
        k: int = 10,
        *,
        mode: str = "full_context",
        scopes: Sequence[str] | None = None,
        include: Sequence[str] | str = (),
        fast: bool = False,
        ranking: str = "full",
    ) -> Recall:
        """The passages that answer a question, best first: deterministic, scoped, explained, never stale.

        `fast` leaves out the closer look at token states; `ranking="plain"` is a fixed ranking over words alone.
        """
        if not 1 <= k <= MOST_HITS:
            raise InvalidInput(f"k lies between 1 and {MOST_HITS}")
        if ranking not in RANKINGS:
            raise InvalidInput(f"there is no ranking {ranking!r}; choose one of {', '.join(RANKINGS)}")
        asked = Question(
            text=question, scopes=self._permitted(scopes), k=k, mode=mode,
            include=(include,) if isinstance(include, str) else tuple(include), at=self._clock.now(), fast=fast,
            ranking=ranking, assistant=self.settings.assistant_prior,
        )  # fmt: skip
        found = recall(asked, self._store, self.models, self._refresher(), secrets.token_hex(8), self._core)
        if not self._trying:
            self._keep_for_feedback(found)
        return found

    def _keep_for_feedback(self, found: Recall) -> None:
        try:
            ids = [hit.atom.id for hit in found.hits]
            self._store.recalls.remember(found.id, ids, found.asked_at, self.scope)
        except StoreError as error:
            logger.warning("no feedback can be given on recall %s: %s", found.id, error)

    def feedback(self, recall_id: str, cited: Sequence[str] = (), verdict: str = "up") -> builtins.list[AtomId]:
        """Tell how an answer made from a recall was: `up`, `down` or `wrong`; returns the atoms it taught us about.

        Quality and counts of use move for what was cited, and a little for what was passed over. A recall is learnt
        from once; telling again changes nothing.
        """
        judged = parse_verdict(verdict)
        hits = self._store.recalls.hits(recall_id, self.scope)
        if hits is None:
            raise not_kept(recall_id)
        lessons = learn(hits, [self._find(each).id for each in cited], judged)
        if not lessons or not (self._trying or self._store.recalls.answer(recall_id, self.scope)):
            return []
        return self._learn(lessons)

    def cite(self, ids: Sequence[str]) -> builtins.list[AtomId]:
        """Tell that these atoms were used; counts it, without a verdict."""
        return self._learn(cite([self._find(each).id for each in ids]))

    def _learn(self, lessons: Mapping[AtomId, Lesson]) -> builtins.list[AtomId]:
        known, now = self._store.ledger.signals_of(lessons), self._clock.now()
        for atom_id, lesson in lessons.items():
            self._store.ledger.set_signals(atom_id, lesson.applied(known.get(atom_id, Signals()), now))
        return [*lessons]

    def top(self, k: int = 10) -> builtins.list[Atom]:
        """The core memories, told whatever is asked: pinned ones first, then by importance, then the youngest."""
        return self._core()[:k]

    def _core(self) -> builtins.list[Atom]:
        found = self._store.read(
            Filter(scopes=self.scopes, core=True, statuses=frozenset({Status.ACTIVE}), valid_at=self._clock.now())
        )
        return sorted(
            (atom for atom in found if not atom.is_segment), key=lambda atom: (not atom.pinned, -atom.importance)
        )

    def plan_context(self, goal: str) -> PlanContext:
        """What a planner needs for a goal: three memories each of profile, procedures and facts."""
        return plan_context(goal, self.recall(goal, MOST_HITS).relevant)

    @property
    def models(self) -> Choice:
        """The embedders recall looks through; a transformer that has been fetched meanwhile counts at once."""
        if self._choice is None or (self._choice.missing and not self._choice.primary):
            chosen = choose(
                self.settings.embedder, _models_folder(self.settings), base_url=self.settings.embedder_url,
                api_key=_secret(self.settings.embedder_key),
            )  # fmt: skip
            second = choose_reranker(
                self.settings.reranker, self.settings.reranker_url, _secret(self.settings.reranker_key)
            )
            self._choice = replace(chosen, reranker=second)
        return self._choice

    def embed(self, progress: EncodeProgress | None = None) -> int:
        """Encode every passage that a model has not seen yet, now; returns how many texts were."""
        if self._trying:
            return 0
        return sum(encode_all(self._store, each, lambda: False, progress) for each in self._embedders())

    def _embedders(self) -> builtins.list[Embedder]:
        return [each for each in (self.models.light, self.models.primary) if each is not None]

    def get(self, id: str) -> Atom:
        """One atom, as its file says at this moment."""
        return self._fresh(lambda: [self._find(id)])[0]

    def list(
        self,
        *,
        status: Status | str | None = Status.ACTIVE,
        kind: str | None = None,
        memory_type: MemoryType | str | None = None,
        subject: str | None = None,
        session_id: str | None = None,
        limit: int | None = 50,
        offset: int = 0,
    ) -> builtins.list[Atom]:
        """Atoms, newest first. `status=None` lists all of them."""
        wanted = Filter(
            scopes=self.scopes, statuses=frozenset({_one_of(Status, status, "status")}) if status else None,
            kinds=frozenset({kind}) if kind else None, subject=subject, session_id=session_id,
            memory_types=frozenset({_one_of(MemoryType, memory_type, "memory type")}) if memory_type else None,
            limit=limit, offset=offset,
        )  # fmt: skip
        return self._fresh(lambda: self._store.read(wanted))

    def history(self, id: str) -> History:
        """An atom's changes of status and versions."""
        return history_of(self._store.versions(self.get(id).id))

    def status_history(self, id: str) -> builtins.list[Transition]:
        """An atom's changes of status, oldest first."""
        return builtins.list(self.history(id).transitions)

    def neighbours(self, id: str) -> builtins.list[tuple[Edge, Atom]]:
        """The atoms linked to or from one, with the link."""
        atom = self.get(id)
        edges = self._store.edges([atom.id], self.scopes)
        others = {
            each: AtomId(edge.target) if edge.source == atom.id else edge.source for each, edge in enumerate(edges)
        }
        found = {each.id: each for each in self._store.read(Filter(scopes=self.scopes, ids=tuple(others.values())))}
        return [(edges[n], found[other]) for n, other in others.items() if other in found]

    def journal(self, since: int | datetime = 0, *, limit: int | None = None) -> builtins.list[Entry]:
        """The commits after a position or a moment, oldest first; with `limit`, the newest of them."""
        if isinstance(since, datetime):
            since = self._store.position(before=to_utc(since))
        return self._store.journal(self.scopes, since, limit=limit)

    def search_text(self, query: TextQuery) -> builtins.list[Match]:
        """The text channel alone, unweighted: what recall is built on and benchmarks look into."""
        if set(query.scopes) - set(self.scopes):
            raise InvalidScope(f"{self.scope} may read {', '.join(self.scopes)}")
        return self._store.search(query)

    def now(self) -> datetime:
        """The time by this memory's clock."""
        return self._clock.now()

    def signals(self, id: str) -> Signals:
        """What use has taught of an atom."""
        return self._store.ledger.signals(self.get(id).id)

    def path_of(self, id: str) -> str | None:
        """The atom's file, relative to the vault; None if a person deleted it."""
        atom_id = self._find(id).id
        return self._store.ledger.paths_of([atom_id]).get(atom_id)

    # Upkeep

    def sync(self, *, accept_deletions: bool = False, progress: Progress | None = None) -> SyncReport:
        """Look at every file now; happens by itself when a memory is opened."""
        if self._trying:
            return SyncReport()
        with _disk_errors():
            return self._sync.run(accept_deletions=accept_deletions, progress=progress)

    def jobs(self) -> builtins.list[Job]:
        """Background work: who is at it, how far it is, how it ended."""
        return self._store.jobs.list()

    def rebuild(self) -> int:
        """Make the index anew; returns how many atoms it holds."""
        self.sync()
        return self._store.rebuild()

    def doctor(self, *, deep: bool = False) -> Diagnosis:
        """What is wrong or worth knowing; `deep` also verifies the journal's hash chain and the index against it."""
        self.sync()
        faults = self._store.check() if deep else []
        return Diagnosis(tuple(self._problems()), tuple(faults), tuple(self._notes()))

    def _problems(self) -> Iterator[Problem]:
        """Those of atoms and folders this memory may read; what lies in no scope's folder concerns the vault's own."""
        found = self._store.ledger.problems()
        ids = tuple({each.atom_id for each in found if each.atom_id})
        own = {atom.id for atom in self._store.read(Filter(scopes=self.scopes, ids=ids))}
        folders = (*self.scopes, None) if layout.DEFAULT_SCOPE in self.scopes else self.scopes
        for each in found:
            if each.atom_id in own or (each.atom_id is None and layout.scope_of(each.path) in folders):
                yield each

    def stats(self) -> dict[str, Any]:
        """Counts and sizes."""
        by_status = self._store.counts(self.scopes, "status")
        return {
            "vault": str(self.root),
            "scope": self.scope,
            "atoms": sum(by_status.values()),
            "by_status": by_status,
            "by_kind": self._store.counts(self.scopes, "kind"),
            "by_layer": self._store.counts(self.scopes, "layer"),
            "commits": self._store.position(),
            "files": self._store.ledger.summary(),
            "models": self._store.encodings.models(),
            "bytes": {file.name: file.stat().st_size for file in sorted(self.state.glob("*.db"))},
        }

    def export(self, path: str | os.PathLike[str] | None = None, *, format: str = "json", history: bool = True) -> Path:
        """Write everything this memory may read to a JSON file or a folder of markdown; returns where it is."""
        self._look_for_edits()
        target = Path(path).expanduser() if path else None
        return export(self._store, self.scopes, self.root, target, format, history, self._clock.now())

    def close(self) -> None:
        """Let go of files and threads. Everything acknowledged is safe without it."""
        if self._watcher is not None:
            self._watcher.stop()
            self._watcher = None
        if self._encoding is not None:
            self._encoding.stop()
        self._store.close()
        self._disk.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Inside

    def _writer(self, origin: Origin | str | None, private: bool) -> Writer:
        scope = self.scope if private or agent(self.scope) is None else Scope(f"org:{organisation(self.scope)}")
        declared = _one_of(Origin, origin, "origin") if origin is not None else None
        return Writer(self._actor, bound(self._ceiling, declared), self._principal, scope)

    def _agents(self, private: bool) -> tuple[str, ...]:
        name = agent(self.scope)
        return (name,) if name and not private else ()

    def _permitted(self, scopes: Sequence[str] | None) -> tuple[Scope, ...]:
        if scopes is None:
            return self.scopes
        wanted = tuple(parse_scope(each) for each in ([scopes] if isinstance(scopes, str) else scopes))
        if not wanted or set(wanted) - set(self.scopes):
            raise InvalidScope(
                f"{self.scope} may read {', '.join(self.scopes)}, not {', '.join(map(str, scopes)) or 'nothing'}"
            )
        return wanted

    def _find(self, id: str) -> Atom:
        """The atom of an id or of an id's unmistakable end."""
        if is_atom_id(id):
            found = self._store.read(Filter(scopes=self.scopes, ids=(AtomId(id),)))
        elif len(id) >= 4 and id.isalnum():
            found = self._store.read(Filter(scopes=self.scopes, id_ending=id))
        else:
            found = []
        if len(found) != 1:
            raise NotFound(f"{len(found)} atoms end in {id!r}; give more of the id" if found else f"no atom {id!r}")
        return found[0]

    def _change(self, id: str, verb: str, reason: str, change: Callable[[Atom], Atom], way: Way = Way.ORDINARY) -> Atom:
        """Read, change and commit one atom; if somebody else was quicker, again with nobody in between."""

        def changed(atom: Atom) -> Atom:
            commit = Commit(
                actor=self._actor, origin=self._ceiling, verb=verb, reason=reason, scope=self.scope, way=way,
                changes=(Change(change(atom)),),
            )  # fmt: skip
            return self._store.commit(commit).atoms[0]

        try:
            done = changed(self.get(id))
        except StaleRevision:
            with self._store.alone():
                done = changed(self._find(id))
        self._flush()
        return done

    def _published(self, receipt: Receipt) -> Receipt:
        self._flush()
        paths = self._store.ledger.paths_of({outcome.atom.id for outcome in receipt.outcomes})
        return replace(
            receipt, outcomes=tuple(replace(each, path=paths.get(each.atom.id)) for each in receipt.outcomes)
        )

    def _flush(self) -> None:
        """Write the files of what was committed. The commit stands even where the disk refuses: the rest follows."""
        if self._trying:
            return
        for follow in (self._sync.flush, self._store.catch_up):
            try:
                follow()
            except (OSError, StoreError) as error:
                logger.warning("files and index will follow later: %s", error)
        if self._encoding is not None:
            self._encoding.soon()

    def _look_for_edits(self) -> None:
        self.sync()

    def _refresher(self) -> Callable[[Sequence[AtomId]], bool]:
        left, seen = REFRESHES, self._store.position()

        def refresh(ids: Sequence[AtomId]) -> bool:
            nonlocal left, seen
            self._refresh(ids)
            before, seen, left = seen, self._store.position(), left - 1
            return left >= 0 and seen != before

        return refresh

    def _fresh(self, read: Callable[[], builtins.list[Atom]]) -> builtins.list[Atom]:
        """Atoms as their files say at this moment: read again if the journal moved while the files were looked at."""
        before = self._store.position()
        found = read()
        self._refresh([atom.id for atom in found])
        return found if self._store.position() == before else read()

    def _refresh(self, ids: Sequence[AtomId]) -> None:
        """Take in what people did to these atoms' files. The watcher may be quicker; the journal tells either way."""
        if self._trying:
            return
        with _disk_errors():
            stale = self._sync.stale(ids)
            if stale:
                self._sync.look_at(stale)

    def _start_watching(self) -> Watcher | None:
        watcher = Watcher(self.root, self._on_change, lambda error: logger.warning("watching: %s", error))
        return watcher if watcher.start() else None

    def _on_change(self, paths: frozenset[str]) -> None:
        self._sync.look_at(paths)
        self._store.catch_up()
        if self._encoding is not None:
            self._encoding.soon()

    def _notes(self) -> Iterable[str]:
        first = self._store.journal(self.scopes, until=1)
        if first and first[0].verb == "adopt":
            yield (f"the journal begins on {first[0].at:%Y-%m-%d} with files that were there before; "
                   "what they said earlier, and undo of it, is not known")  # fmt: skip
        tool = home.sync_tool(self.root)
        if tool:
            yield f"{tool} owns this folder, so the databases live in {self.state}"
        if self._watcher is None and self.settings.watch:
            yield "saved files are not watched here; edits count when they are recalled and at the next open"


def _secret(key: SecretStr | None) -> str | None:
    return key.get_secret_value() if key is not None else None


def _models_folder(settings: Settings) -> Path:
    if settings.models_dir is not None:
        return settings.models_dir.expanduser()
    return models_folder(os.environ, Path.home(), sys.platform)


def _one_of(family: type[E], given: str, noun: str) -> E:
    try:
        return family(given)
    except ValueError as error:
        raise InvalidInput(f"{given!r} is no {noun}; choose from {', '.join(family)}") from error


def _need_reason(reason: str) -> None:
    if not parse_text(reason).strip():
        raise InvalidInput("say why: the reason is kept in the journal")


@contextmanager
def _disk_errors() -> Iterator[None]:
    """The disk's errors in our own words."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"the disk failed: {error}; nothing acknowledged is lost. Check the disk and try again"
        ) from error
