"""Memory: the facade. Each public method is a short story told with the rooms above."""

from __future__ import annotations

import builtins
import logging
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from lamina.atom.atom import Atom, Signals
from lamina.atom.identity import AtomId, IdSource, is_atom_id
from lamina.atom.kinds import MemoryType, traits
from lamina.atom.relation import Relation, RelationName
from lamina.atom.scope import Scope, agent, organisation, parse_scope, visible_from
from lamina.atom.status import ENDED, Status, Way
from lamina.atom.trust import Origin, bound
from lamina.capture.block import Block
from lamina.capture.box import seal
from lamina.capture.capture import capture, remember
from lamina.capture.change.dependants import with_dependants
from lamina.capture.clean import without_secrets
from lamina.capture.codebase import capture_codebase, codebase
from lamina.capture.confirm import by_file, moved
from lamina.capture.conversation import Conversation, conversation
from lamina.capture.draft import Turn, parse_draft, parse_heading, parse_text, parse_turns
from lamina.capture.entity import named_in, write_pages
from lamina.capture.pieces import Piece
from lamina.capture.reading import Pace, Reader, Rhythm, read_due, read_session
from lamina.capture.receipt import Receipt, with_statements
from lamina.capture.redact import redact
from lamina.capture.run import Run
from lamina.capture.workplace import Workplace
from lamina.capture.write import Writer, fresh_ids
from lamina.clock import Clock, SystemClock
from lamina.dream.dream import BATCH, chosen, dream
from lamina.dream.dream import Progress as DreamProgress
from lamina.dream.due import is_due
from lamina.dream.guidelines import gather, guidelines
from lamina.dream.report import DreamReport
from lamina.dream.steps import NIGHTLY, STEPS
from lamina.dream.topics import Topic, topics
from lamina.equipment import Equipment
from lamina.errors import Erased, InvalidInput, InvalidScope, NotFound, Refused, StaleRevision, StoreError
from lamina.importers.bring import Desk, Imported, Tally, bring
from lamina.importers.inbox import MOMENT, Inbox, Taken
from lamina.importers.plan import plan_import
from lamina.importers.retold import retold
from lamina.lifecycle.decision import Decision as Ageing
from lamina.lifecycle.promotion import lowered, raised
from lamina.lifecycle.retention import Mode
from lamina.models.choose import Choice
from lamina.models.encode import Background, encode_each
from lamina.models.encode import Progress as EncodeProgress
from lamina.models.errors import ModelMissing
from lamina.recall import Question, Recall, recall
from lamina.recall.answer import Answer, answer
from lamina.recall.feedback import Lesson, cite, learn, parse_verdict
from lamina.recall.hit import bundled_count
from lamina.recall.past import Moment, listed, moments, was
from lamina.recall.plain import plain
from lamina.recall.plan import PlanContext, plan_context
from lamina.review.confirmations import confirmations_of
from lamina.review.diagnosis import Diagnosis, is_theirs, problems_of
from lamina.review.erase import Eraser, ErasureReceipt, finish, planned
from lamina.review.export import export
from lamina.review.history import History, Transition, history_of
from lamina.review.pictures import write_pictures
from lamina.review.propose import propose, with_contract
from lamina.review.quarantine import Suspect, quarantine
from lamina.review.restore import restored
from lamina.review.review import Review
from lamina.review.reviewer import Reviewer, with_reason
from lamina.review.revise import parse_revision, revised
from lamina.review.rollback import rollback
from lamina.review.settle import settle
from lamina.review.stats import stats_of
from lamina.review.undo import last_undoable, undo, undo_batch
from lamina.settings import Settings, load_settings
from lamina.store.base import Change, Commit, Committed, Edge, Entry, Filter, Match, TextQuery
from lamina.store.jobs import Job
from lamina.store.recalls import not_kept
from lamina.store.sqlite import SqliteStore
from lamina.sync import Decision, Progress, Sync, SyncReport
from lamina.text.times import to_utc
from lamina.vault import home, layout
from lamina.vault.files import Disk
from lamina.vault.watch import Watcher
from lamina.worker import Worker

logger = logging.getLogger("lamina")

MOST_HITS = 100
RANKINGS = ("full", "plain")
REFRESHES = 5
INBOX_PATIENCE = 5.0
"""Seconds to wait for another program that is at the inbox."""
READ_AGAIN = 30.0
"""Seconds after which waiting passages are looked at again: some become due by their age alone."""

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
        with _disk_errors():
            self.state = home.state_folder(self.root, self.settings.state_dir)
            self.state.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._disk = disk or Disk(self.root)
            self._store = SqliteStore(self.state, self._clock, vfs=vfs)
        self._equipment = Equipment(self.settings, self._store.usage, self._clock)
        self._sync = Sync(
            self._disk, self._store, self._clock, self._ids, lambda: home.is_vault(self.root), self._decision,
            review=self.settings.file_edits == "review",
        )  # fmt: skip
        self.review = Review(self._reviewer())
        self._inbox = Inbox(self._disk, self._store.ledger, self.scopes, lambda scope: self._desk(scope, (), "inbox"))
        self._encoding = (
            Background(self._store, self._equipment.embedders)
            if (self.settings.background if background is None else background)
            else None
        )
        self._reading = (
            Worker("reading", self._read_in_background)
            if (self.settings.background if background is None else background)
            else None
        )
        self._watcher = self._start_watching() if (self.settings.watch if watch is None else watch) else None
        try:
            self._finish_erasures()
            self.opened = self._look(progress=progress)
            self._take_inbox(progress=progress)
        except BaseException:
            self.close()
            raise

    # Writing

    def capture(
        self,
        words: str | Sequence[dict[str, Any]] | Sequence[Piece],
        *,
        name: str | None = None,
        session_id: str | None = None,
        source_id: str | None = None,
        observed_at: datetime | None = None,
        origin: Origin | str | None = None,
        private: bool = False,
        key: str | None = None,
        wait: bool = False,
    ) -> Receipt:
        """Keep the words as they were said, and read them for statements.

        The words are durable and can be found when this returns. Reading goes on in the background where there is
        one; with `wait` it is done too, and the receipt tells what became of every statement. A text is cut as it is
        written: a transcript into turns, markdown by headings; the `name` of its file helps to tell.
        """
        heading = parse_heading(session_id=session_id, source_id=source_id, observed_at=observed_at)
        at = heading.observed_at or self._clock.now()
        writer = self._writer(origin, private)
        said = conversation(
            _words(words), heading.session_id, heading.source_id, at, self._agents(private), name=name,
            personal=self.settings.redact_personal,
        )  # fmt: skip
        now_or_never = wait or self._reading is None
        receipt = self._keep(said, writer, key, at_once=now_or_never and self._reader.extractor.instant)
        if now_or_never and not self._reader.extractor.instant:
            receipt = with_statements(receipt, self._read(writer.scope, said.session_id))
        return self._published(receipt, later=not now_or_never)

    def capture_codebase(
        self, path: str | os.PathLike[str], name: str | None = None, *, private: bool = False
    ) -> Receipt:
        """Keep what a folder of source code holds, in short: its tree and the signatures of its files.

        Run again, only what changed is read anew; what is gone is laid aside.
        """
        with _disk_errors():
            known = codebase(Path(path).expanduser().absolute(), name)
        receipt = capture_codebase(
            known, self._writer(None, private), self._store, self._ids, self._clock.now(),
            agents=self._agents(private), personal=self.settings.redact_personal,
        )  # fmt: skip
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
        reason = redact(parse_text(reason)).text
        clean = [without_secrets(each, personal=self.settings.redact_personal) for each in statements]
        drafts = [parse_draft(**{"agents": extra, **fields}) for fields, _ in clean]
        if not drafts:
            raise InvalidInput("there is nothing to remember")
        writer = self._writer(origin, private)
        receipt = remember(drafts, writer, self._store, self._ids, self._clock.now(), reason, key)
        taken = dict.fromkeys(name for _, names in clean for name in names)
        return self._published(replace(receipt, redacted=tuple(taken)))

    def propose(
        self,
        content: str,
        *,
        origin: Origin | str | None = None,
        private: bool = False,
        reason: str = "proposed",
        key: str | None = None,
        **fields: Any,
    ) -> Receipt:
        """Put a statement before a person: it waits, and counts once it is confirmed.

        With `metadata` {profile_key, value, reason} it is a value for the profile.
        """
        reason = with_reason(reason)
        told = with_contract({"agents": self._agents(private), **fields, "content": content}, reason)
        clean, taken = without_secrets(told, personal=self.settings.redact_personal)
        writer = self._writer(origin, private)
        receipt = propose([parse_draft(**clean)], writer, self._store, self._ids, self._clock, reason, key)
        return self._published(replace(receipt, redacted=taken))

    def rollback(self, id: str, reason: str = "rolled back") -> Receipt:
        """Take a statement back, a confirmed proposal for one, and let what had made way for it stand again."""
        return rollback(id, reason, self._reviewer())

    def quarantine(
        self,
        *,
        source: str | None = None,
        session: str | None = None,
        origin: Origin | str | None = None,
        reason: str = "not to be trusted",
        yes: bool = False,
    ) -> Receipt:
        """Let everything from a source, session or origin, and all that descends from it, wait for a person again.

        What it had done to the rest is taken back. More than a twentieth of the store at once needs `yes`.
        """
        suspect = Suspect(source, session, _one_of(Origin, origin, "origin") if origin is not None else None)
        return quarantine(suspect, reason, self._reviewer(), yes=yes)

    def import_(
        self, path: str | os.PathLike[str], *, private: bool = False, progress: Progress | None = None
    ) -> Imported:
        """Bring in what a person has elsewhere: an export, a vault, a folder or a file.

        Words are evidence at once, statements wait for review. Broken off and started again, it brings the rest.
        """
        place = Path(path).expanduser().absolute()
        if place.resolve().is_relative_to(self.root.resolve()):
            raise InvalidInput(f"{place} lies in this vault; what is dropped into its inbox is taken in by itself")
        if self.root.resolve().is_relative_to(place.resolve()):
            raise InvalidInput(f"{place} holds this vault; import the folders and files beside it")
        scope, tally = self._writer(None, private).scope, Tally()
        desk = self._desk(scope, self._agents(private), "import")
        with _disk_errors():
            plan = plan_import(place)
            bring(plan, desk, progress, tally)
        if not (self._reader.extractor.instant or self._trying):
            for receipt in self._read_queues((scope,), progress):
                tally.statements(receipt.outcomes)
        return tally.told(plan.importer.name)

    def run(self, id: str, *, private: bool = False) -> Run:
        """The working memory of one run: notes that are read only inside it, and a close that tells how it ended."""
        return Run(id, self._workplace(private), lambda atoms, asked: [each.atom for each in plain(atoms, asked)])

    def block(self, workstream: str, *, private: bool = False) -> Block:
        """The memory block of a workstream: short notes by role, told to an agent beside what it recalls."""
        return Block(workstream, self._workplace(private), bundled_count)

    def revise(self, id: str, content: str | None = None, *, reason: str, **fields: Any) -> Atom:
        """A new version of an atom; the old one is kept."""
        wanted = parse_revision(content, fields, personal=self.settings.redact_personal)
        return self._change(id, "revise", with_reason(reason), lambda atom: revised(atom, wanted))

    def update_status(self, id: str, status: Status | str, reason: str) -> Atom:
        """Move an atom along the status table; back from an ended status it is a restore, and needs its reason."""
        reason = with_reason(reason)
        wanted = _one_of(Status, status, "status")
        before = self.get(id)
        if before.status in (Status.CONSTRAINED, Status.CHALLENGED) and wanted is Status.ACTIVE:
            return self.review.confirm(before.id, reason).atom
        if before.status in ENDED:
            return self._change_together(id, "restore", reason, lambda atom: self._restored(atom, wanted), Way.RESTORE)
        return self._change(id, "update_status", reason, lambda atom: moved(atom, wanted, self._clock.now()))

    def forget(self, id: str, reason: str) -> Atom:
        """Tombstone an atom: recall no longer finds it, its text and history are kept."""
        reason = with_reason(reason)
        return self._change(id, "forget", reason, lambda atom: atom.with_(status=Status.TOMBSTONED))

    def erase(
        self, ids: str | Sequence[str] = (), reason: str = "asked to erase", *, session: str | None = None
    ) -> ErasureReceipt:
        """Take atoms out for good: every version, the sentences they rest on, copies, vectors, files and free space.

        `session`: everything said in one session. Only a person may; nothing brings it back, and what was erased is
        known again when it comes in from elsewhere.
        """
        if self._ceiling is not Origin.HUMAN:
            raise Refused(f"{self._ceiling} may not erase; a person does, with `lamina erase`")
        reason, eraser = with_reason(reason), self._eraser()
        self._look()
        named = [self._find(each) for each in ([ids] if isinstance(ids, str) else ids)]
        said = self._store.read(Filter(scopes=self.scopes, session_id=session)) if session else []
        targets = [*named, *(atom for atom in said if not (atom.evidence or traits(atom.kind).lists))]
        if not targets:
            raise NotFound(f"nothing of session {session!r} is here" if session else "name what is to be erased")
        if self._trying:
            return planned(eraser.plan(targets))
        with _disk_errors():
            receipt = eraser.erase(targets, reason)
        if self._encoding is not None:
            self._encoding.soon()
        return receipt

    def pin(self, id: str) -> Atom:
        """Keep maintenance from forgetting, merging or archiving an atom."""
        return self._change(id, "pin", "pinned", lambda atom: atom.with_(pinned=True))

    def unpin(self, id: str) -> Atom:
        """Let maintenance treat an atom as any other."""
        return self._change(id, "unpin", "unpinned", lambda atom: atom.with_(pinned=False))

    def promote(self, id: str) -> Atom:
        """Move an atom one layer up: working, episodic, then the layer of its kind, where nothing fades."""
        return self._change(id, "promote", "promoted", lambda atom: _moved_by_hand(atom, raised(atom)))

    def demote(self, id: str) -> Atom:
        """Move an atom one layer down, where it fades unless it is used."""
        return self._change(id, "demote", "demoted", lambda atom: _moved_by_hand(atom, lowered(atom)))

    def resolve(self, id: str, reason: str = "done") -> Atom:
        """A commitment, a goal or a reminder is done: it stands as history and is laid aside in time."""
        return self._change(id, "resolve", with_reason(reason), lambda atom: atom.with_(resolved=True))

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
        if commit.startswith(BATCH):
            return self._undo_dream(commit)
        if cascade and not self._trying:
            with self.trial():  # all of it or nothing: a rule broken half-way must not leave half an undo
                undo(self._store, commit, self.scopes, self._actor, self._ceiling, cascade=True)
        done = undo(self._store, commit, self.scopes, self._actor, self._ceiling, cascade=cascade)
        self._flush()
        return done

    def _undo_dream(self, batch: str) -> builtins.list[Committed]:
        """All of a dream, or nothing of it."""
        if not self._trying:
            with self.trial():
                undo_batch(self._store, batch, self.scopes, self._actor, self._ceiling)
        done = undo_batch(self._store, batch, self.scopes, self._actor, self._ceiling)
        self._flush()
        return done

    def dream(
        self,
        steps: Sequence[str] | None = None,
        *,
        dry_run: bool = False,
        yes: bool = False,
        progress: DreamProgress | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> DreamReport:
        """Consolidate, step by step: age, merge, cards, bridge, probe, drift, prune; `undo(report.batch)` undoes all.

        A step that would change more than a twentieth of the store waits for a person: `yes` is their word.
        """
        if yes and self._ceiling is not Origin.HUMAN:
            raise Refused(f"{self._ceiling} may not wave through what a dream holds back; a person does")
        wanted = NIGHTLY if steps is None else chosen(STEPS, [steps] if isinstance(steps, str) else steps)
        if dry_run and not self._trying:
            with self.trial():
                return self.dream(steps, dry_run=True, yes=yes, progress=progress, stop=stop)
        self._look_for_edits()
        now = self._clock.now()
        scenes = [self._equipment.scene(self._store, each, fresh_ids(self._ids, now), stop) for each in self.scopes]
        report = dream(scenes, wanted, self._store, now, anyway=yes, dry_run=self._trying, progress=progress)
        self._flush()
        return replace(report, guidelines=tuple(line for each in scenes for line in guidelines(gather(each))))

    def dream_is_due(self) -> bool:
        """Whether so many captures were read since the last dream, or so many hours have gone by."""
        after = timedelta(hours=self.settings.dream_hours)
        return is_due(self._store, self.scopes, self._clock.now(), self.settings.dream_every, after)

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
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        filter_stale: bool = False,
    ) -> Recall:
        """The passages that answer a question, best first: deterministic, scoped, explained, never stale.

        `fast` leaves out the closer look at token states; `ranking="plain"` is a fixed ranking over words alone.
        `filter_stale` leaves out what the last dream found stale, and what is archived.
        `as_of` asks what was true at a moment (a bare date: when it begins), `known_at` what was known at one (a bare
        date: when it ends): which atoms, in which words and with which status never changes afterwards.
        """
        if not 1 <= k <= MOST_HITS:
            raise InvalidInput(f"k lies between 1 and {MOST_HITS}")
        if ranking not in RANKINGS:
            raise InvalidInput(f"there is no ranking {ranking!r}; choose one of {', '.join(RANKINGS)}")
        asked = Question(
            text=question, scopes=self._permitted(scopes), k=k, mode=mode,
            include=(include,) if isinstance(include, str) else tuple(include), at=self._clock.now(), fast=fast,
            ranking=ranking, assistant=self.settings.assistant_prior, moments=moments(as_of, known_at),
            filter_stale=filter_stale,
        )  # fmt: skip
        core = builtins.list[Atom] if asked.moments else self._core  # today's are not those of another time
        found = recall(asked, self._store, self.models, self._refresher(), secrets.token_hex(8), core)
        if not self._trying:
            self._keep_for_feedback(found)
        return found

    def _keep_for_feedback(self, found: Recall) -> None:
        try:
            ids = [atom.id for hit in found.hits for atom in (hit.atom, *hit.statements)]
            self._store.recalls.remember(found.id, ids, found.asked_at, self.scope)
        except StoreError as error:
            logger.warning("no feedback can be given on recall %s: %s", found.id, error)

    def answer(self, question: str, k: int = 12) -> Answer:
        """An answer in words with the atoms it rests on, by the chat model; what is not known is said to be so."""
        chat = self._equipment.chat
        if chat is None:
            raise ModelMissing("an answer needs a chat model; set chat to openai:MODEL or anthropic:MODEL")
        return answer(question, self.recall(question, k), chat, self._clock.now())

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
            (atom for atom in found if atom.is_searched and not atom.is_segment),
            key=lambda atom: (not atom.pinned, -atom.importance),
        )

    def plan_context(self, goal: str) -> PlanContext:
        """What a planner needs for a goal: three memories each of profile, procedures and facts."""
        return plan_context(goal, self.recall(goal, MOST_HITS).relevant)

    @property
    def models(self) -> Choice:
        """The embedders recall looks through; a transformer that has been fetched meanwhile counts at once."""
        return self._equipment.models

    def embed(self, progress: EncodeProgress | None = None) -> int:
        """Encode every passage that a model has not seen yet, now; returns how many texts were."""
        if self._trying:
            return 0
        return encode_each(self._store, self._equipment.embedders(), lambda: False, progress)

    def get(self, id: str, *, as_of: Moment | None = None, known_at: Moment | None = None) -> Atom:
        """One atom, as its file says at this moment; or as it was known at another, if it was true at a third."""
        found = self._fresh(lambda: [self._find(id)])[0]
        asked = moments(as_of, known_at)
        return was(found.id, asked, asked.view(self._store, self.scopes, self._clock.now())) if asked else found

    def list(
        self,
        *,
        status: Status | str | None = Status.ACTIVE,
        kind: str | None = None,
        memory_type: MemoryType | str | None = None,
        subject: str | None = None,
        session_id: str | None = None,
        run_id: str | None = None,
        limit: int | None = 50,
        offset: int = 0,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> builtins.list[Atom]:
        """Atoms, newest first. `status=None` lists all of them; the notes of a run only where it is named.

        With `known_at` they are as they were known then; with `as_of` the active ones are those that were true then,
        replaced since or not.
        """
        asked, chosen = moments(as_of, known_at), _one_of(Status, status, "status") if status else None
        wanted = Filter(
            scopes=self.scopes, statuses=frozenset({chosen}) if chosen else None,
            kinds=frozenset({kind}) if kind else None, subject=subject, session_id=session_id, run_id=run_id,
            notes=run_id is not None,
            memory_types=frozenset({_one_of(MemoryType, memory_type, "memory type")}) if memory_type else None,
            limit=limit, offset=offset,
        )  # fmt: skip
        if asked:
            view = asked.view(self._store, self.scopes, self._clock.now())
            return self._fresh(lambda: listed(view, wanted, chosen))
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

    def confirmations(self, id: str) -> int:
        """How many independent sources bear an atom out, beyond the first."""
        return confirmations_of(self.get(id), self._store)

    def path_of(self, id: str) -> str | None:
        """The atom's file, relative to the vault; None if a person deleted it."""
        atom_id = self._find(id).id
        return self._store.ledger.paths_of([atom_id]).get(atom_id)

    # Upkeep

    def sync(self, *, accept_deletions: bool = False, progress: Progress | None = None) -> SyncReport:
        """Look at every file and into the inbox now; happens by itself when a memory is opened."""
        if not self._trying:
            self._finish_erasures()
        report = self._look(accept_deletions=accept_deletions, progress=progress)
        self._take_inbox(again=True, progress=progress)
        if self._settle():
            self._flush()
        return report

    def _look(self, *, accept_deletions: bool = False, progress: Progress | None = None) -> SyncReport:
        if self._trying:
            return SyncReport()
        with _disk_errors():
            report = self._sync.run(accept_deletions=accept_deletions, progress=progress)
        # A file of theirs that lies in a foreign folder is held there, and it is theirs to know.
        astray = {each.path for each in problems_of(self._store, self.scopes)} if report.held else set()
        return report.of(lambda path: path in astray or is_theirs(path, self.scopes))

    def read_waiting(self) -> builtins.list[Receipt]:
        """Read every captured word that still waits to be read for statements; returns what became of them."""
        return self._read_queues(self.scopes)

    def _read_queues(self, scopes: Sequence[Scope], progress: Progress | None = None) -> builtins.list[Receipt]:
        own = [each for each in self._store.buffer.queues() if each.scope in scopes]
        done: builtins.list[Receipt] = []
        for n, each in enumerate(own):
            if progress:
                progress("reading", n, len(own))
            done += self._read(each.scope, each.session_id)
        self._seal_boxes()
        self._flush()
        return [self._published(each) for each in done]

    def waiting(self) -> int:
        """How many captured passages wait to be read for statements."""
        return sum(each.length for each in self._store.buffer.queues() if each.scope in self.scopes)

    def jobs(self) -> builtins.list[Job]:
        """Background work: who is at it, how far it is, how it ended."""
        return self._store.jobs.list()

    def rebuild(self) -> int:
        """Make the index anew; returns how many atoms of this memory it holds."""
        self.sync()
        self._store.rebuild()
        return sum(self._store.counts(self.scopes, "status").values())

    def doctor(self, *, deep: bool = False) -> Diagnosis:
        """What is wrong or worth knowing; `deep` also verifies the journal's hash chain and the index against it."""
        self.sync()
        faults = self._store.check() if deep else []
        return Diagnosis(tuple(problems_of(self._store, self.scopes)), tuple(faults), tuple(self._notes()))

    def stats(self) -> dict[str, Any]:
        """Counts and sizes."""
        held = stats_of(self._store, self.scopes, self.state, self.waiting())
        return {"vault": str(self.root), "scope": self.scope, **held}

    def topics(self, limit: int = 20) -> builtins.list[Topic]:
        """What is spoken of most: subjects, names and tags, with how often and when last."""
        wanted = Filter(scopes=self.scopes, statuses=frozenset({Status.ACTIVE}), notes=False)
        return topics(self._store.read(wanted))[:limit]

    def plot(self, path: str | os.PathLike[str]) -> Path:
        """Draw how memories fade, how warm they are, and how many there were of what over time; .svg or .png."""
        place = Path(path).expanduser()
        write_pictures(place, self._store, self.scopes, self._clock.now(), Mode(self.settings.retention))
        return place

    def export(self, path: str | os.PathLike[str] | None = None, *, format: str = "json", history: bool = True) -> Path:
        """Write everything this memory may read: json, markdown, okf or csv; returns where it is."""
        self._look_for_edits()
        target = Path(path).expanduser() if path else None
        return export(self._store, self.scopes, self.root, target, format, history, self._clock.now())

    def close(self) -> None:
        """Let go of files and threads. Everything acknowledged is safe without it."""
        if self._watcher is not None:
            self._watcher.stop()
            self._watcher = None
        for worker in (self._reading, self._encoding):
            if worker is not None:
                worker.stop()
        if self._reading is not None:
            self._follow_up()
        self._equipment.close()
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
        return self._writer_for(bound(self._ceiling, declared), scope)

    def _writer_for(self, origin: Origin, scope: Scope) -> Writer:
        own = self._equipment
        return Writer(
            self._actor, origin, self._principal, scope, own.dependencies, self._ceiling, own.several
        )  # fmt: skip

    def _workplace(self, private: bool) -> Workplace:
        return Workplace(
            store=self._store, writer=self._writer(None, private), agents=self._agents(private), ids=self._ids,
            now=self._clock.now, fresh=lambda wanted: self._fresh(lambda: self._store.read(wanted)),
            published=self._published, personal=self.settings.redact_personal,
        )  # fmt: skip

    def _reviewer(self) -> Reviewer:
        return Reviewer(
            store=self._store, scope=self.scope, scopes=self.scopes, actor=self._actor, ceiling=self._ceiling,
            principal=self._principal, ids=self._ids, now=self._clock.now, find=self.get,
            fresh=lambda wanted: self._fresh(lambda: self._store.read(wanted)), published=self._published,
            problems=lambda: [*problems_of(self._store, self.scopes)], personal=self.settings.redact_personal,
            rules=self._equipment.dependencies,
        )  # fmt: skip

    def _decision(self, atom: Atom, status: Status) -> Decision:
        if atom.status in ENDED and status is Status.ACTIVE:
            own, *others = self._restored(atom, status)
            return Decision(own, tuple(others), "", Way.RESTORE)
        return by_file(atom, status, self._store, self._clock.now(), self._equipment.dependencies)

    def _restored(self, atom: Atom, status: Status) -> builtins.list[Atom]:
        opened = atom.status in ENDED and status is Status.ACTIVE
        return restored(atom, self._store, self.scopes) if opened else [atom.with_(status=status)]

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

    def _eraser(self) -> Eraser:
        told = [f"{name}: words may have been sent to it; ask there what it keeps"
                for name in (self.settings.chat, self.settings.embedder) if ":" in name]  # fmt: skip
        return Eraser(
            store=self._store, disk=self._disk, sync=self._sync, actor=self._actor, scope=self.scope,
            scopes=self.scopes, told=tuple(told),
        )  # fmt: skip

    def _finish_erasures(self) -> None:
        """What somebody erased before they were stopped is gone before anything is read."""
        try:
            finish(self._store, self._disk, self._sync)
        except (OSError, StoreError) as error:
            logger.warning("an erasure will be finished later: %s", error)

    def _find(self, id: str) -> Atom:
        """The atom of an id or of an id's unmistakable end."""
        if is_atom_id(id):
            found = self._store.read(Filter(scopes=self.scopes, ids=(AtomId(id),)))
        elif len(id) >= 4 and id.isalnum():
            found = self._store.read(Filter(scopes=self.scopes, id_ending=id))
        else:
            found = []
        stub = self._store.fingerprints.stub(id, self.scopes) if not found and id else None
        if stub is not None:
            raise Erased(stub.atom_id, stub.at, stub.actor, stub.reason)
        if len(found) != 1:
            raise NotFound(f"{len(found)} atoms end in {id!r}; give more of the id" if found else f"no atom {id!r}")
        return found[0]

    def _keep(
        self, said: Conversation, writer: Writer, key: str | None, *, at_once: bool, verb: str = "capture",
        is_read: bool = False,
    ) -> Receipt:  # fmt: skip
        idle = timedelta(minutes=self.settings.idle_minutes)
        return capture(
            said, writer, self._store, self._ids, self._clock.now(), self.settings.segment_chars, idle,
            retold(self._reader) if is_read else self._reader, key, at_once=at_once or is_read, verb=verb,
        )  # fmt: skip

    def _desk(self, scope: Scope, agents: tuple[str, ...], verb: str) -> Desk:
        """Where what a person feeds is written: as evidence, never with more trust than whoever opened the memory."""

        def keep(said: Conversation, writer: Writer, key: str, is_read: bool) -> Receipt:
            at_once = self._reader.extractor.instant
            return self._published(self._keep(said, writer, key, at_once=at_once, verb=verb, is_read=is_read))

        return Desk(
            store=self._store, ids=self._ids, now=self._clock.now, keep=keep, published=self._published, agents=agents,
            writer=lambda origin: self._writer_for(bound(self._ceiling, origin), scope),
            personal=self.settings.redact_personal,
        )  # fmt: skip

    def _take_inbox(self, *, again: bool = False, progress: Progress | None = None) -> None:
        """Take in what was dropped: here and now, or in the background where there is one."""
        if self._trying:
            return
        if self._reading is not None and not again:
            self._reading.soon()
            return
        self._open_inbox(again=again, patience=INBOX_PATIENCE, progress=progress)

    def _open_inbox(self, **how: Any) -> Taken:
        """Take in what was dropped. Where the disk refuses, everything else goes on, and it is taken another time."""
        try:
            return self._inbox.take(**how)
        except (OSError, StoreError) as error:
            logger.warning("the inbox will be looked into later: %s", error)
            return Taken()

    def _change(self, id: str, verb: str, reason: str, change: Callable[[Atom], Atom]) -> Atom:
        """Read, change and commit one atom."""
        return self._change_together(id, verb, reason, lambda atom: [change(atom)])

    def _change_together(
        self, id: str, verb: str, reason: str, change: Callable[[Atom], Sequence[Atom]], way: Way = Way.ORDINARY
    ) -> Atom:
        """Read an atom, commit it with all that changes with it; if somebody was quicker, again with nobody between."""

        def changed(atom: Atom) -> Atom:
            rules = self._equipment.dependencies
            atoms, told = with_dependants(change(atom), reason, self._store, self._ceiling, rules)
            commit = Commit(
                actor=self._actor, origin=self._ceiling, verb=verb, reason=told, scope=self.scope, way=way,
                changes=tuple(map(Change, atoms)),
            )  # fmt: skip
            return self._store.commit(commit).atoms[0]

        try:
            done = changed(self.get(id))
        except StaleRevision:
            with self._store.alone():
                done = changed(self._find(id))
        self._flush()
        return done

    def _published(self, receipt: Receipt, *, later: bool = False) -> Receipt:
        """The receipt with the files it is about; `later`: the background writes them, recall does not wait for it."""
        if later and self._reading is not None and not self._trying:
            self._reading.soon()
        else:
            self._flush()
        paths = self._store.ledger.paths_of({outcome.atom.id for outcome in receipt.outcomes})
        return replace(
            receipt, outcomes=tuple(replace(each, path=paths.get(each.atom.id)) for each in receipt.outcomes)
        )

    def _flush(self) -> None:
        """Write the files of what was committed, and let others do what follows from it."""
        if self._trying:
            return
        self._follow_up()
        if self._reading is not None:
            self._reading.soon()

    def _follow_up(self) -> None:
        """Write files and index. The commit stands even where the disk refuses: the rest follows."""
        for follow in (self._sync.flush, self._store.catch_up):
            try:
                follow()
            except (OSError, StoreError) as error:
                logger.warning("files and index will follow later: %s", error)
        if self._encoding is not None:
            self._encoding.soon()

    @property
    def _reader(self) -> Reader:
        return self._equipment.reader

    def _read(self, scope: Scope, session_id: str) -> builtins.list[Receipt]:
        return read_session(self._store, self._reader, scope, session_id, self._actor, self._ids, self._clock.now)

    def _read_in_background(self, stop: Callable[[], bool]) -> float | None:
        self._follow_up()
        taken = self._open_inbox(stop=stop)
        patience = timedelta(minutes=self.settings.batch_minutes)
        pace = Pace(Rhythm(self.settings.rhythm), self.settings.batch_turns, patience)
        read_due(self._store, self._reader, pace, self._actor, self._ids, self._clock.now, stop)
        self._seal_boxes()
        self._settle()
        self._follow_up()
        return MOMENT if taken.later else READ_AGAIN if self._store.buffer.queues() else None

    def _seal_boxes(self) -> None:
        """Close boxes that are done, and bring the pages of whoever is named in them up to date."""
        now = self._clock.now()
        for scope in self.scopes:
            names = named_in(seal(self._store, scope, now))
            write_pages(self._store, scope, names, fresh_ids(self._ids, now), now)

    def _settle(self) -> bool:
        """Mark what an announced value has taken the place of, now that its day has come."""
        now = self._clock.now()
        settled = [] if self._trying else [settle(self._store, scope, now) for scope in self.scopes]
        return any(settled)

    def _look_for_edits(self) -> None:
        self._look()

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
        if any(map(layout.is_inbox, paths)):
            self._take_inbox()
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


def _one_of(family: type[E], given: str, noun: str) -> E:
    try:
        return family(given)
    except ValueError as error:
        raise InvalidInput(f"{given!r} is no {noun}; choose from {', '.join(family)}") from error


def _moved_by_hand(atom: Atom, decision: Ageing) -> Atom:
    if not decision:
        raise Refused(f"{atom.id} stays where it is: {decision.why}")
    return decision.applied(atom)


def _words(words: str | Sequence[dict[str, Any]] | Sequence[Piece]) -> str | Sequence[Turn] | Sequence[Piece]:
    """What a caller gave to capture, checked; pieces come from our own readers."""
    if isinstance(words, str):
        return parse_text(words)
    given: Any = words
    pieces = [each for each in words if isinstance(each, Piece)]
    return pieces if pieces and len(pieces) == len(words) else parse_turns(given)


@contextmanager
def _disk_errors() -> Iterator[None]:
    """The disk's errors in our own words."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"the disk failed: {error}; nothing acknowledged is lost. Check the disk and try again"
        ) from error
