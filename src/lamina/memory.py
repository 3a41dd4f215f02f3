"""Memory: the facade. Each public method is a short story told with the rooms above."""

from __future__ import annotations

import builtins
import logging
import os
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any

from lamina.atom.atom import Atom, Signals
from lamina.atom.identity import AtomId
from lamina.atom.kinds import MemoryType, traits
from lamina.atom.relation import Relation, RelationName
from lamina.atom.sources import is_outdated, is_summary
from lamina.atom.status import ENDED, Status, Way
from lamina.atom.trust import Origin
from lamina.capture.capture import remember
from lamina.capture.clean import without_secrets
from lamina.capture.conversation import conversation
from lamina.capture.draft import Turn, parse_draft, parse_heading, parse_text, parse_turns
from lamina.capture.pieces import Piece
from lamina.capture.receipt import Receipt, with_statements
from lamina.capture.redact import redact
from lamina.capture.state_extractor import StateExtractor
from lamina.capture.write import fresh_ids
from lamina.codebase import capture_codebase, codebase
from lamina.dream.dream import BATCH, chosen, dream
from lamina.dream.dream import Progress as DreamProgress
from lamina.dream.due import is_due
from lamina.dream.guidelines import gather, guidelines
from lamina.dream.report import DreamReport
from lamina.dream.steps import NIGHTLY, STEPS
from lamina.dream.topics import Topic, topics
from lamina.errors import InvalidInput, InvalidScope, NotFound, Refused, StoreError
from lamina.importers.bring import Imported, Tally, bring
from lamina.importers.plan import plan_import
from lamina.lifecycle.decision import Decision as Ageing
from lamina.lifecycle.promotion import lowered, raised
from lamina.lifecycle.retention import Mode
from lamina.logs import wordless
from lamina.models.choose import Choice
from lamina.models.encode import Progress as EncodeProgress
from lamina.models.encode import encode_each
from lamina.models.errors import ModelMissing
from lamina.opened import INBOX_PATIENCE, Opened, disk_errors, one_of
from lamina.recall import Question, Recall, recall
from lamina.recall.answer import Answer, answer
from lamina.recall.beginning import ABOUT, LOOKED_AT, Beginning, beginning, told_of
from lamina.recall.feedback import Lesson, cite, learn, parse_verdict
from lamina.recall.hit import bundled_count
from lamina.recall.past import Moment, listed, moments, was
from lamina.recall.plain import plain
from lamina.recall.plan import PlanContext, plan_context
from lamina.review.confirm import moved
from lamina.review.confirmations import confirmations_of
from lamina.review.diagnosis import Diagnosis, problems_of
from lamina.review.erase import ErasureReceipt, planned
from lamina.review.export import export
from lamina.review.history import History, Transition, history_of
from lamina.review.pictures import write_pictures
from lamina.review.propose import propose, with_contract
from lamina.review.quarantine import Suspect, quarantine
from lamina.review.reread import Reread, reread
from lamina.review.reviewer import with_reason
from lamina.review.revise import parse_revision, revised
from lamina.review.rollback import rollback
from lamina.review.stats import stats_of
from lamina.review.undo import last_undoable, undo, undo_batch
from lamina.store.base import Committed, Edge, Entry, Filter, Match, TextQuery
from lamina.store.jobs import Job
from lamina.store.recalls import not_kept
from lamina.sync import Progress, SyncReport
from lamina.telemetry import Operation, traced
from lamina.text.times import to_utc
from lamina.working.block import Block
from lamina.working.run import Run

logger = logging.getLogger("lamina")

MOST_HITS = 100
RANKINGS = ("full", "plain")


class Memory(Opened):
    """An opened store: vault, index and settings. Made by `lamina.open`; use it as a context manager or close it."""

    # Writing

    @traced(Operation.UPSERT)
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
            _words(words),
            heading.session_id,
            heading.source_id,
            at,
            self._agents(private),
            name=name,
            personal=self.settings.redact_personal,
        )
        now_or_never = wait or self._reading is None
        if now_or_never and not self._reader.extractor.instant:
            with self._leased(writer.scope, said.session_id) as lease:
                receipt = self._keep(said, writer, key, at_once=False)
                receipt = with_statements(receipt, self._read(writer.scope, said.session_id, lease))
        else:
            receipt = self._keep(said, writer, key, at_once=now_or_never)
        return self._published(receipt, later=not now_or_never)

    @traced(Operation.UPSERT)
    def capture_codebase(
        self, path: str | os.PathLike[str], name: str | None = None, *, private: bool = False
    ) -> Receipt:
        """Keep what a folder of source code holds, in short: its tree and the signatures of its files.

        Run again, only what changed is read anew; what is gone is laid aside.
        """
        with disk_errors():
            known = codebase(Path(path).expanduser().absolute(), name)
        receipt = capture_codebase(
            known,
            self._writer(None, private),
            self._store,
            self._ids,
            self._clock.now(),
            agents=self._agents(private),
            personal=self.settings.redact_personal,
        )
        return self._published(receipt)

    @traced(Operation.UPSERT)
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

    @traced(Operation.UPSERT)
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
        clean = [without_secrets(statement, personal=self.settings.redact_personal) for statement in statements]
        drafts = [parse_draft(**{"agents": extra, **fields}) for fields, _ in clean]
        if not drafts:
            raise InvalidInput("there is nothing to remember")
        writer = self._writer(origin, private)
        receipt = remember(drafts, writer, self._store, self._ids, self._clock.now(), reason, key)
        taken = dict.fromkeys(name for _, names in clean for name in names)
        return self._published(replace(receipt, redacted=tuple(taken)))

    @traced(Operation.CREATE)
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

    @traced(Operation.UPDATE)
    def rollback(self, id: str, reason: str = "rolled back") -> Receipt:
        """Take a statement back, a confirmed proposal for one, and let what had made way for it stand again."""
        return rollback(id, reason, self._reviewer())

    @traced(Operation.UPDATE)
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
        suspect = Suspect(source, session, one_of(Origin, origin, "origin") if origin is not None else None)
        return quarantine(suspect, reason, self._reviewer(), yes=yes)

    @traced(Operation.UPSERT)
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
        with disk_errors():
            plan = plan_import(place)
            bring(plan, desk, progress, tally)
        if not (self._reader.extractor.instant or self._trying):
            for receipt in self._read_queues((scope,), progress):
                tally.statements(receipt.outcomes)
        return tally.told(plan.importer.name)

    def run(self, id: str, *, private: bool = False) -> Run:
        """The working memory of one run: notes that are read only inside it, and a close that tells how it ended."""
        return Run(id, self._working_context(private), lambda atoms, asked: [each.atom for each in plain(atoms, asked)])

    def block(self, workstream: str, *, private: bool = False) -> Block:
        """The memory block of a workstream: short notes by role, told to an agent beside what it recalls."""
        return Block(workstream, self._working_context(private), bundled_count)

    @traced(Operation.MAINTAIN)
    def reread(self, *, apply: bool = False) -> Reread:
        """Read statements of former versions' rules again, as sentences; without `apply`, only say what would change.

        Refused without a state model, and with a chat model: its statements cannot be told from those of the rules.
        """
        states = self._equipment.states
        if states is None:
            raise Refused(
                "no state model can be loaded, so nothing can be read again: its weights or onnxruntime are missing"
            )
        if self.settings.chat != "none":
            raise Refused("statements of the chat model look like those of the former rules; unset `chat` to re-read")
        self._look()
        return reread(StateExtractor(states), self._reviewer(), apply=apply and not self._trying)

    @traced(Operation.UPDATE)
    def revise(self, id: str, content: str | None = None, *, reason: str, **fields: Any) -> Atom:
        """A new version of an atom; the old one is kept."""
        wanted = parse_revision(content, fields, personal=self.settings.redact_personal)
        return self._change(id, "revise", with_reason(reason), lambda atom: revised(atom, wanted))

    @traced(Operation.UPDATE)
    def update_status(self, id: str, status: Status | str, reason: str) -> Atom:
        """Move an atom along the status table; back from an ended status it is a restore, and needs its reason."""
        reason = with_reason(reason)
        wanted = one_of(Status, status, "status")
        before = self.get(id)
        if before.status in (Status.CONSTRAINED, Status.CHALLENGED) and wanted is Status.ACTIVE:
            return self.review.confirm(before.id, reason).atom
        if before.status in ENDED:
            return self._change_together(id, "restore", reason, lambda atom: self._restored(atom, wanted), Way.RESTORE)
        return self._change(id, "update_status", reason, lambda atom: moved(atom, wanted, self._clock.now()))

    @traced(Operation.DELETE)
    def forget(self, id: str, reason: str) -> Atom:
        """Tombstone an atom: recall no longer finds it, its text and history are kept."""
        reason = with_reason(reason)
        return self._change(id, "forget", reason, lambda atom: atom.with_(status=Status.TOMBSTONED))

    @traced(Operation.DELETE)
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
        with disk_errors():
            receipt = eraser.erase(targets, reason)
        if self._encoding is not None:
            self._encoding.soon()
        return receipt

    @traced(Operation.UPDATE)
    def pin(self, id: str, reason: str = "pinned") -> Atom:
        """Keep maintenance from forgetting, merging or archiving an atom."""
        return self._change(id, "pin", with_reason(reason), lambda atom: atom.with_(pinned=True))

    @traced(Operation.UPDATE)
    def unpin(self, id: str, reason: str = "unpinned") -> Atom:
        """Let maintenance treat an atom as any other."""
        return self._change(id, "unpin", with_reason(reason), lambda atom: atom.with_(pinned=False))

    @traced(Operation.UPDATE)
    def promote(self, id: str, reason: str = "promoted") -> Atom:
        """Move an atom one layer up: working, episodic, then the layer of its kind, where nothing fades."""
        return self._change(id, "promote", with_reason(reason), lambda atom: _moved_by_hand(atom, raised(atom)))

    @traced(Operation.UPDATE)
    def demote(self, id: str, reason: str = "demoted") -> Atom:
        """Move an atom one layer down, where it fades unless it is used."""
        return self._change(id, "demote", with_reason(reason), lambda atom: _moved_by_hand(atom, lowered(atom)))

    @traced(Operation.UPDATE)
    def resolve(self, id: str, reason: str = "done") -> Atom:
        """A commitment, a goal or a reminder is done: it stands as history and is laid aside in time."""
        return self._change(id, "resolve", with_reason(reason), lambda atom: atom.with_(resolved=True))

    @traced(Operation.UPDATE)
    def relate(self, a: str, relation: RelationName | str, b: str, confidence: float = 1.0) -> Atom:
        """Link one atom to another; the same link again takes the new confidence."""
        name = one_of(RelationName, relation, "relation")
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

    @traced(Operation.UPDATE)
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

    @traced(Operation.MAINTAIN)
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

        Then vectors of what faded are kept in fewer bits, which is no change of what is known and needs no undoing.
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
        scenes = [self._equipment.scene(self._store, scope, fresh_ids(self._ids, now), stop) for scope in self.scopes]
        report = dream(scenes, wanted, self._store, now, anyway=yes, dry_run=self._trying, progress=progress)
        self._flush()
        taught = scenes if steps is None else ()
        return replace(report, guidelines=tuple(line for each in taught for line in guidelines(gather(each))))

    def dream_is_due(self) -> bool:
        """Whether so many captures were read since the last dream, or so many hours have gone by."""
        after = timedelta(hours=self.settings.dream_hours)
        return is_due(self._store, self.scopes, self._clock.now(), self.settings.dream_every, after)

    # Reading

    @traced(Operation.SEARCH)
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
            text=question,
            scopes=self._permitted(scopes),
            k=k,
            mode=mode,
            include=(include,) if isinstance(include, str) else tuple(include),
            at=self._clock.now(),
            fast=fast,
            ranking=ranking,
            assistant=self.settings.assistant_prior,
            moments=moments(as_of, known_at),
            filter_stale=filter_stale,
        )
        core = builtins.list[Atom] if asked.moments else self._core  # today's are not those of another time
        how = {
            "k": k,
            "mode": mode,
            "scopes": scopes,
            "include": include,
            "fast": fast,
            "ranking": ranking,
            "as_of": as_of,
            "known_at": known_at,
            "filter_stale": filter_stale,
        }
        elsewhere = self._elsewhere(self.scope, question, how) if self._elsewhere and not self._trying else None
        if elsewhere is not None:
            return replace(elsewhere, core=core)
        found = recall(asked, self._store, self.models, self._refresher(), secrets.token_hex(8), core)
        if not self._trying:
            self._keep_for_feedback(found)
        return found

    def _keep_for_feedback(self, found: Recall) -> None:
        try:
            ids = [atom.id for hit in found.hits for atom in (hit.atom, *hit.statements)]
            self._store.recalls.remember(found.id, ids, found.asked_at, self.scope)
        except StoreError as error:
            logger.warning("no feedback can be given on recall %s: %s", found.id, wordless(error))

    @traced(Operation.SEARCH)
    def answer(self, question: str, k: int = 12) -> Answer:
        """An answer in words with the atoms it rests on, by the chat model; what is not known is said to be so."""
        chat = self._equipment.chat
        if chat is None:
            raise ModelMissing("an answer needs a chat model; set chat to openai:MODEL or anthropic:MODEL")
        return answer(question, self.recall(question, k), chat, self._clock.now())

    @traced(Operation.UPDATE)
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

    @traced(Operation.UPDATE)
    def cite(self, ids: Sequence[str]) -> builtins.list[AtomId]:
        """Tell that these atoms were used; counts it, without a verdict."""
        return self._learn(cite([self._find(atom_id).id for atom_id in ids]))

    def _learn(self, lessons: Mapping[AtomId, Lesson]) -> builtins.list[AtomId]:
        known, now = self._store.ledger.signals_of(lessons), self._clock.now()
        for atom_id, lesson in lessons.items():
            self._store.ledger.set_signals(atom_id, lesson.applied(known.get(atom_id, Signals()), now))
        return [*lessons]

    @traced(Operation.READ)
    def top(self, k: int = 10) -> builtins.list[Atom]:
        """The core memories, told whatever is asked: pinned ones first, then by importance, then the youngest."""
        return self._core()[:k]

    def _core(self) -> builtins.list[Atom]:
        found = self._store.read(
            Filter(scopes=self.scopes, core=True, statuses=frozenset({Status.ACTIVE}), valid_at=self._clock.now())
        )
        summaries = {atom.id: atom for atom in found if is_summary(atom)}
        sources = tuple({each for atom in summaries.values() for each in atom.derived_from})
        known = {each.id: each for each in self._store.read(Filter(scopes=self.scopes, ids=sources))} if sources else {}
        return sorted(
            (
                atom
                for atom in found
                if atom.is_searched and not atom.is_segment and not (atom.id in summaries and is_outdated(atom, known))
            ),
            key=lambda atom: (not atom.pinned, -atom.importance),
        )

    @traced(Operation.SEARCH)
    def beginning(self, about: str | None = None, budget: int = 2000) -> Beginning:
        """What an agent should know before anybody has asked: the core, the matter at hand, the profile, the recent."""
        found = self.recall(about, ABOUT, fast=True).relevant if about else ()
        core, active = self._core(), Filter(scopes=self.scopes, statuses=frozenset({Status.ACTIVE}), notes=False)
        newest = told_of(core, self._store.read(replace(active, limit=LOOKED_AT)))
        chosen = replace(active, ids=tuple(each.id for each in newest))
        return beginning(core, self._fresh(lambda: self._store.read(chosen)), found, budget)

    @traced(Operation.SEARCH)
    def plan_context(self, goal: str) -> PlanContext:
        """What a planner needs for a goal: three memories each of profile, procedures and facts."""
        return plan_context(goal, self.recall(goal, MOST_HITS).relevant)

    @property
    def models(self) -> Choice:
        """The embedders recall looks through; a transformer that has been fetched meanwhile counts at once."""
        return self._equipment.models

    @traced(Operation.MAINTAIN)
    def embed(self, progress: EncodeProgress | None = None, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Encode every passage that a model has not seen yet, now; returns how many texts were."""
        if self._trying:
            return 0
        return encode_each(self._store, self._equipment.embedders(), stop, progress)

    @traced(Operation.READ)
    def get(self, id: str, *, as_of: Moment | None = None, known_at: Moment | None = None) -> Atom:
        """One atom, as its file says at this moment; or as it was known at another, if it was true at a third."""
        found = self._one(id)
        asked = moments(as_of, known_at)
        return was(found.id, asked, asked.view(self._store, self.scopes, self._clock.now())) if asked else found

    @traced(Operation.READ)
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
        asked, chosen = moments(as_of, known_at), one_of(Status, status, "status") if status else None
        wanted = Filter(
            scopes=self.scopes,
            statuses=frozenset({chosen}) if chosen else None,
            kinds=frozenset({kind}) if kind else None,
            subject=subject,
            session_id=session_id,
            run_id=run_id,
            notes=run_id is not None,
            memory_types=frozenset({one_of(MemoryType, memory_type, "memory type")}) if memory_type else None,
            limit=limit,
            offset=offset,
        )
        if asked:
            view = asked.view(self._store, self.scopes, self._clock.now())
            return self._fresh(lambda: listed(view, wanted, chosen))
        return self._fresh(lambda: self._store.read(wanted))

    @traced(Operation.READ)
    def history(self, id: str) -> History:
        """An atom's changes of status and versions."""
        return history_of(self._store.versions(self.get(id).id))

    @traced(Operation.READ)
    def status_history(self, id: str) -> builtins.list[Transition]:
        """An atom's changes of status, oldest first."""
        return builtins.list(self.history(id).transitions)

    @traced(Operation.READ)
    def neighbours(self, id: str) -> builtins.list[tuple[Edge, Atom]]:
        """The atoms linked to or from one, with the link."""
        atom = self.get(id)
        edges = self._store.edges([atom.id], self.scopes)
        others = {
            each: AtomId(edge.target) if edge.source == atom.id else edge.source for each, edge in enumerate(edges)
        }
        found = {each.id: each for each in self._store.read(Filter(scopes=self.scopes, ids=tuple(others.values())))}
        return [(edges[n], found[other]) for n, other in others.items() if other in found]

    def journal(
        self, since: int | datetime = 0, *, until: int | None = None, limit: int | None = None
    ) -> builtins.list[Entry]:
        """The commits after a position or a moment, up to `until`, oldest first; with `limit`, the newest of them."""
        if isinstance(since, datetime):
            since = self._store.position(before=to_utc(since))
        return self._store.journal(self.scopes, since, until=until, limit=limit)

    @traced(Operation.SEARCH)
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

    @traced(Operation.MAINTAIN)
    def sync(self, *, accept_deletions: bool = False, progress: Progress | None = None) -> SyncReport:
        """Look at every file and into the inbox now; happens by itself when a memory is opened."""
        if not self._trying:
            self._finish_erasures()
        report = self._look(accept_deletions=accept_deletions, progress=progress)
        self._take_inbox(again=True, progress=progress)
        if self._settle():
            self._flush()
        return report

    @traced(Operation.MAINTAIN)
    def tend(self, stop: Callable[[], bool] = lambda: False) -> None:
        """What a memory that stays open needs now and then: files looked at, the inbox emptied, due words read."""
        self._finish_erasures()
        self._look()
        self._read_what_is_due(stop, INBOX_PATIENCE)

    @traced(Operation.UPSERT)
    def read_waiting(self) -> builtins.list[Receipt]:
        """Read every captured word that still waits to be read for statements; returns what became of them."""
        return self._read_queues(self.scopes)

    def waiting(self) -> int:
        """How many captured passages wait to be read for statements."""
        return sum(queue.length for queue in self._store.buffer.queues() if queue.scope in self.scopes)

    def jobs(self) -> builtins.list[Job]:
        """Background work: who is at it, how far it is, how it ended."""
        return self._store.jobs.list()

    @traced(Operation.MAINTAIN)
    def rebuild(self) -> int:
        """Make the index anew; returns how many atoms of this memory it holds."""
        self.sync()
        self._store.rebuild()
        return sum(self._store.counts(self.scopes, "status").values())

    @traced(Operation.MAINTAIN)
    def doctor(self, *, deep: bool = False, look: bool = True) -> Diagnosis:
        """What is wrong or worth knowing; `deep` also verifies the journal's hash chain and the index against it.

        `look=False` tells what is known already, without a look at every file.
        """
        if look:
            self.sync()
        faults = self._store.check() if deep else []
        chat = self._equipment.chat_fault() if look else None
        faults += [chat] if chat else []
        return Diagnosis(tuple(problems_of(self._store, self.scopes)), tuple(faults), tuple(self._notes()))

    @traced(Operation.READ)
    def stats(self) -> dict[str, Any]:
        """Counts and sizes."""
        held = stats_of(self._store, self.scopes, self.state, self.waiting())
        return {"vault": str(self.root), "scope": self.scope, **held}

    @traced(Operation.READ)
    def topics(self, limit: int = 20) -> builtins.list[Topic]:
        """What is spoken of most: subjects, names and tags, with how often and when last."""
        wanted = Filter(scopes=self.scopes, statuses=frozenset({Status.ACTIVE}), notes=False)
        return topics(self._store.read(wanted))[:limit]

    def plot(self, path: str | os.PathLike[str]) -> Path:
        """Draw how memories fade, how warm they are, and how many there were of what over time; .svg or .png."""
        place = Path(path).expanduser()
        write_pictures(place, self._store, self.scopes, self._clock.now(), Mode(self.settings.retention))
        return place

    @traced(Operation.MAINTAIN)
    def export(self, path: str | os.PathLike[str] | None = None, *, format: str = "json", history: bool = True) -> Path:
        """Write everything this memory may read: json, markdown, okf or csv; returns where it is."""
        self._look_for_edits()
        target = Path(path).expanduser() if path else None
        return export(self._store, self.scopes, self.root, target, format, history, self._clock.now())

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _moved_by_hand(atom: Atom, decision: Ageing) -> Atom:
    if not decision:
        raise Refused(f"{atom.id} stays where it is: {decision.why}")
    return decision.applied(atom)


def _words(words: str | Sequence[dict[str, Any]] | Sequence[Piece]) -> str | Sequence[Turn] | Sequence[Piece]:
    """What a caller gave to capture, checked; pieces come from our own readers."""
    if isinstance(words, str):
        return parse_text(words)
    given: Any = words
    pieces = [word for word in words if isinstance(word, Piece)]
    return pieces if pieces and len(pieces) == len(words) else parse_turns(given)
