"""The public API: `Memory` holds the verbs, and each verb calls the packages that do the work."""

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
from lamina.atom.kinds import MemoryType, kind_traits
from lamina.atom.relation import Relation, RelationName
from lamina.atom.status import ENDED, Status, TransitionCause
from lamina.atom.summary_sources import is_summary, is_summary_outdated
from lamina.atom.trust import Origin
from lamina.capture.capture import remember
from lamina.capture.conversation import parse_conversation
from lamina.capture.draft import InputTurn, parse_conversation_header, parse_draft, parse_text, parse_turns
from lamina.capture.field_redaction import redact_fields
from lamina.capture.pieces import TextPiece
from lamina.capture.receipt import Receipt, merge_receipts
from lamina.capture.redact import redact
from lamina.capture.state_extractor import StateExtractor
from lamina.capture.statement_commit import new_ids
from lamina.codebase import capture_codebase, summarize_codebase
from lamina.dream.dream import BATCH_PREFIX, dream, select_steps
from lamina.dream.dream import Progress as DreamProgress
from lamina.dream.guidelines import gather_tallies, write_guidelines
from lamina.dream.report import DreamReport
from lamina.dream.schedule import is_due
from lamina.dream.steps import NIGHTLY, STEPS
from lamina.dream.topics import Topic, count_topics
from lamina.engine import INBOX_WAIT_SECONDS, Engine, parse_enum, translate_disk_errors
from lamina.errors import InvalidInput, InvalidScope, NotFound, Refused, StoreError
from lamina.importers.import_plan import plan_import
from lamina.importers.import_writer import ImportReport, ImportTally, run_import
from lamina.lifecycle.decision import AgeingDecision as Ageing
from lamina.lifecycle.promotion import decide_manual_demotion, decide_manual_promotion
from lamina.lifecycle.retention import RetentionMode
from lamina.logs import summarise_error
from lamina.models.encoding_worker import EncodingProgress as EncodeProgress
from lamina.models.encoding_worker import encode_with_all
from lamina.models.errors import ModelMissing
from lamina.models.model_choice import ModelChoice
from lamina.recall import Recall, RecallRequest, recall
from lamina.recall.cited_answer import CitedAnswer, answer_question
from lamina.recall.feedback import FeedbackEffect, derive_citation_effects, derive_feedback_effects, parse_verdict
from lamina.recall.hit import bundled_token_counter
from lamina.recall.plain_ranking import rank_plainly
from lamina.recall.plan_context import PlanContext, build_plan_context
from lamina.recall.query_time import TimeInput, list_past_atoms, parse_query_time, read_past_atom
from lamina.recall.session_context import (
    MAX_TOPIC_HITS,
    NEWEST_READ,
    SessionContext,
    build_session_context,
    select_session_atoms,
)
from lamina.review.charts import write_charts
from lamina.review.confirm import with_status
from lamina.review.confirmations import count_confirmations
from lamina.review.diagnosis import Diagnosis, problems_in
from lamina.review.erase import ErasureReceipt, dry_run_receipt
from lamina.review.export import export
from lamina.review.history import History, Transition, build_history
from lamina.review.propose import complete_profile_fields, propose
from lamina.review.quarantine import QuarantineTarget, quarantine
from lamina.review.reviewer import parse_reason
from lamina.review.revise import apply_revision, parse_revision
from lamina.review.rule_statement_migration import RereadResult, reread
from lamina.review.statement_rollback import rollback
from lamina.review.stats import collect_stats
from lamina.review.undo import last_undoable, undo, undo_batch
from lamina.store.base import AtomFilter, CommitResult, Edge, JournalEntry, TextMatch, TextQuery
from lamina.store.jobs import Job
from lamina.store.recalls import unknown_recall
from lamina.sync import Progress, SyncReport
from lamina.telemetry import Operation, traced
from lamina.text.timestamps import to_utc
from lamina.working.block import Block
from lamina.working.run import Run

logger = logging.getLogger("lamina")

MAX_HITS = 100
RANKINGS = ("full", "plain")


class Memory(Engine):
    """The memory of one vault, for one caller. Opened by `lamina.open`; use it as a context manager or close it."""

    # Writing

    @traced(Operation.UPSERT)
    def capture(
        self,
        words: str | Sequence[dict[str, Any]] | Sequence[TextPiece],
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
        """Store words verbatim and extract statements from them; return a receipt.

        The words are durable and searchable when this returns. Extraction runs in the background if background work
        is enabled; with `wait` it is finished too, and the receipt lists the outcome of every statement. A text is
        split by its format: a transcript into turns, markdown by headings. The file's `name` helps to detect it.
        """
        heading = parse_conversation_header(session_id=session_id, source_id=source_id, observed_at=observed_at)
        at = heading.observed_at or self._clock.now()
        writer = self._make_writer(origin, private)
        captured = parse_conversation(
            _parse_words(words),
            heading.session_id,
            heading.source_id,
            at,
            self._agent_names(private),
            file_name=name,
            redact_personal=self.settings.redact_personal,
        )
        extract_now = wait or self._extraction_worker is None
        if extract_now and not self._reader.extractor.instant:
            with self._lease_session(writer.scope, captured.session_id) as lease:
                receipt = self._capture_conversation(captured, writer, key, extract_now=False)
                receipt = merge_receipts(receipt, self._extract_session(writer.scope, captured.session_id, lease))
        else:
            receipt = self._capture_conversation(captured, writer, key, extract_now=extract_now)
        return self._publish(receipt, in_background=not extract_now)

    @traced(Operation.UPSERT)
    def capture_codebase(
        self, path: str | os.PathLike[str], name: str | None = None, *, private: bool = False
    ) -> Receipt:
        """Capture an outline of a source code folder: its tree and the signatures in its files.

        A second run reads only files that changed and archives what no longer exists.
        """
        with translate_disk_errors():
            outline = summarize_codebase(Path(path).expanduser().absolute(), name)
        receipt = capture_codebase(
            outline,
            self._make_writer(None, private),
            self._store,
            self._ids,
            self._clock.now(),
            agents=self._agent_names(private),
            personal=self.settings.redact_personal,
        )
        return self._publish(receipt)

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
        """Write one statement as given, classified against the existing statements; return a receipt."""
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
        """Write several statements in one commit: all of them, or none if one is invalid."""
        extra = self._agent_names(private)
        reason = redact(parse_text(reason)).text
        cleaned = [redact_fields(statement, personal=self.settings.redact_personal) for statement in statements]
        drafts = [parse_draft(**{"agents": extra, **fields}) for fields, _ in cleaned]
        if not drafts:
            raise InvalidInput("there is nothing to remember")
        writer = self._make_writer(origin, private)
        receipt = remember(drafts, writer, self._store, self._ids, self._clock.now(), reason, key)
        redacted_names = dict.fromkeys(name for _, names in cleaned for name in names)
        return self._publish(replace(receipt, redacted=tuple(redacted_names)))

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
        """Propose a statement: it stays pending until a person confirms it.

        With `metadata` {profile_key, value, reason} it is a value for the profile.
        """
        reason = parse_reason(reason)
        draft_fields = complete_profile_fields(
            {"agents": self._agent_names(private), **fields, "content": content}, reason
        )
        clean, redacted_names = redact_fields(draft_fields, personal=self.settings.redact_personal)
        writer = self._make_writer(origin, private)
        receipt = propose([parse_draft(**clean)], writer, self._store, self._ids, self._clock, reason, key)
        return self._publish(replace(receipt, redacted=redacted_names))

    @traced(Operation.UPDATE)
    def rollback(self, id: str, reason: str = "rolled back") -> Receipt:
        """Reverse a statement, such as a confirmed proposal, and restore what it had superseded."""
        return rollback(id, reason, self._make_reviewer())

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
        """Hold everything from a source, session or origin, and everything derived from it, for review.

        Its effects on other atoms are reversed. If it is more than 5 % of the store, `yes` is required.
        """
        suspect = QuarantineTarget(
            source, session, parse_enum(Origin, origin, "origin") if origin is not None else None
        )
        return quarantine(suspect, reason, self._make_reviewer(), yes=yes)

    @traced(Operation.UPSERT)
    def import_(
        self, path: str | os.PathLike[str], *, private: bool = False, progress: Progress | None = None
    ) -> ImportReport:
        """Import an export of another program, a vault, a folder or a file; return the counts.

        Words are searchable immediately, statements stay pending. An interrupted import continues when run again.
        """
        source_path = Path(path).expanduser().absolute()
        if source_path.resolve().is_relative_to(self.root.resolve()):
            raise InvalidInput(f"{source_path} is inside this vault; files in its inbox are imported automatically")
        if self.root.resolve().is_relative_to(source_path.resolve()):
            raise InvalidInput(
                f"{source_path} contains this vault; import the other folders and files in it one by one"
            )
        scope, tally = self._make_writer(None, private).scope, ImportTally()
        desk = self._make_import_context(scope, self._agent_names(private), "import")
        with translate_disk_errors():
            plan = plan_import(source_path)
            run_import(plan, desk, progress, tally)
        if not (self._reader.extractor.instant or self._is_dry_run):
            for receipt in self._extract_queues((scope,), progress):
                tally.add_outcomes(receipt.outcomes)
        return tally.report(plan.importer.name)

    def run(self, id: str, *, private: bool = False) -> Run:
        """Return the working memory of one run: notes that only this run reads, until it is closed with an outcome."""
        return Run(
            id,
            self._make_working_context(private),
            lambda atoms, query: [match.atom for match in rank_plainly(atoms, query)],
        )

    def block(self, workstream: str, *, private: bool = False) -> Block:
        """Return the memory block of a workstream: short notes by role, given to an agent with its recalls."""
        return Block(workstream, self._make_working_context(private), bundled_token_counter)

    @traced(Operation.MAINTAIN)
    def reread(self, *, apply: bool = False) -> RereadResult:
        """Replace statements that rules of earlier versions wrote by their sentences; without `apply`, only report it.

        Refused without a state model, and with a chat model, whose statements look like those of the rules.
        """
        states = self._model_registry.state_reader
        if states is None:
            raise Refused(
                "the state model cannot be loaded: its weights or onnxruntime are missing; see `lamina models`"
            )
        if self.settings.chat != "none":
            raise Refused(
                "statements of the chat model look like those of the former rules; set `chat` to none and try again"
            )
        self._sync_files()
        return reread(StateExtractor(states), self._make_reviewer(), apply=apply and not self._is_dry_run)

    @traced(Operation.UPDATE)
    def revise(self, id: str, content: str | None = None, *, reason: str, **fields: Any) -> Atom:
        """Write a new version of an atom and return it; the old version stays in its history."""
        revision = parse_revision(content, fields, redact_personal=self.settings.redact_personal)
        return self._change_atom(id, "revise", parse_reason(reason), lambda atom: apply_revision(atom, revision))

    @traced(Operation.UPDATE)
    def update_status(self, id: str, status: Status | str, reason: str) -> Atom:
        """Change the status of an atom, with a reason; back from an ended status this is a restore."""
        reason = parse_reason(reason)
        new_status = parse_enum(Status, status, "status")
        before = self.get(id)
        if before.status in (Status.CONSTRAINED, Status.CHALLENGED) and new_status is Status.ACTIVE:
            return self.review.confirm(before.id, reason).atom
        if before.status in ENDED:
            return self._change_atoms(
                id, "restore", reason, lambda atom: self._restore_atoms(atom, new_status), TransitionCause.RESTORE
            )
        return self._change_atom(
            id, "update_status", reason, lambda atom: with_status(atom, new_status, self._clock.now())
        )

    @traced(Operation.DELETE)
    def forget(self, id: str, reason: str) -> Atom:
        """Tombstone an atom: recall no longer finds it; its text and history are kept."""
        reason = parse_reason(reason)
        return self._change_atom(id, "forget", reason, lambda atom: atom.with_(status=Status.TOMBSTONED))

    @traced(Operation.DELETE)
    def erase(
        self, ids: str | Sequence[str] = (), reason: str = "asked to erase", *, session: str | None = None
    ) -> ErasureReceipt:
        """Remove atoms for good: every version, the sentences they rest on, copies, vectors, files and free space.

        `session` erases everything captured in one session. Only a person may erase, and nothing can undo it. Erased
        text is recognised and not stored if it is captured again.
        """
        if self._ceiling is not Origin.HUMAN:
            raise Refused(f"{self._ceiling} may not erase; only a person may, with `lamina erase`")
        reason, eraser = parse_reason(reason), self._make_eraser()
        self._sync_files()
        named_atoms = [self._find_atom(atom_id) for atom_id in ([ids] if isinstance(ids, str) else ids)]
        session_atoms = self._store.read(AtomFilter(scopes=self.scopes, session_id=session)) if session else []
        targets = [
            *named_atoms,
            *(atom for atom in session_atoms if not (atom.evidence or kind_traits(atom.kind).is_listing)),
        ]
        if not targets:
            raise NotFound(
                f"there is nothing of session {session!r}" if session else "give the ids or the session to erase"
            )
        if self._is_dry_run:
            return dry_run_receipt(eraser.plan(targets))
        with translate_disk_errors():
            receipt = eraser.erase(targets, reason)
        if self._embedding_worker is not None:
            self._embedding_worker.wake()
        return receipt

    @traced(Operation.UPDATE)
    def pin(self, id: str, reason: str = "pinned") -> Atom:
        """Protect an atom from being forgotten, merged or archived by maintenance."""
        return self._change_atom(id, "pin", parse_reason(reason), lambda atom: atom.with_(pinned=True))

    @traced(Operation.UPDATE)
    def unpin(self, id: str, reason: str = "unpinned") -> Atom:
        """Remove the protection of a pinned atom."""
        return self._change_atom(id, "unpin", parse_reason(reason), lambda atom: atom.with_(pinned=False))

    @traced(Operation.UPDATE)
    def promote(self, id: str, reason: str = "promoted") -> Atom:
        """Move an atom one layer up: working, episodic, then the layer of its kind, which does not fade."""
        return self._change_atom(
            id, "promote", parse_reason(reason), lambda atom: _apply_layer_move(atom, decide_manual_promotion(atom))
        )

    @traced(Operation.UPDATE)
    def demote(self, id: str, reason: str = "demoted") -> Atom:
        """Move an atom one layer down, where it fades unless it is used."""
        return self._change_atom(
            id, "demote", parse_reason(reason), lambda atom: _apply_layer_move(atom, decide_manual_demotion(atom))
        )

    @traced(Operation.UPDATE)
    def resolve(self, id: str, reason: str = "done") -> Atom:
        """Mark a commitment, a goal or a reminder as done: it becomes history and is archived later."""
        return self._change_atom(id, "resolve", parse_reason(reason), lambda atom: atom.with_(resolved=True))

    @traced(Operation.UPDATE)
    def relate(self, a: str, relation: RelationName | str, b: str, confidence: float = 1.0) -> Atom:
        """Link one atom to another; an existing link gets the new confidence."""
        name = parse_enum(RelationName, relation, "relation")
        if not 0 <= confidence <= 1:
            raise InvalidInput("confidence must be between 0 and 1")
        target = self.get(b).id
        link = Relation(name, target, confidence, self._clock.now())

        def related(atom: Atom) -> Atom:
            if atom.id == target:
                raise InvalidInput("an atom cannot be related to itself")
            others = tuple(other for other in atom.relations if (other.name, other.target) != (name, target))
            return atom.with_(relations=(*others, link))

        return self._change_atom(a, "relate", f"{name} {target}", related)

    @traced(Operation.UPDATE)
    def undo(self, commit: str | None = None, *, cascade: bool = False) -> list[CommitResult]:
        """Undo a commit, by default the last one; UndoRefused lists later commits that build on it."""
        self._read_file_edits()
        if commit is None:
            last = last_undoable(self._store, self.scopes)
            if last is None:
                raise NotFound("there is nothing to undo")
            commit = last.id
        if commit.startswith(BATCH_PREFIX):
            return self._undo_dream(commit)
        if cascade and not self._is_dry_run:
            with self.trial():  # try everything first: a broken rule must not leave half an undo
                undo(self._store, commit, self.scopes, self._actor, self._ceiling, cascade=True)
        done = undo(self._store, commit, self.scopes, self._actor, self._ceiling, cascade=cascade)
        self._flush()
        return done

    def _undo_dream(self, batch: str) -> builtins.list[CommitResult]:
        """Undo every commit of a dream, or none of them."""
        if not self._is_dry_run:
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
        """Consolidate in steps: age, merge, cards, bridge, probe, drift, prune; `undo(report.batch)` undoes all.

        Vectors of faded atoms are then stored with fewer bits; this changes no atom and needs no undo. A step that
        would change more than 5 % of the store is held for a person, who allows it with `yes`.
        """
        if yes and self._ceiling is not Origin.HUMAN:
            raise Refused(f"{self._ceiling} may not approve what a dream holds for review; only a person may")
        chosen_steps = NIGHTLY if steps is None else select_steps(STEPS, [steps] if isinstance(steps, str) else steps)
        if dry_run and not self._is_dry_run:
            with self.trial():
                return self.dream(steps, dry_run=True, yes=yes, progress=progress, stop=stop)
        self._read_file_edits()
        now = self._clock.now()
        scenes = [
            self._model_registry.make_dream_context(self._store, scope, new_ids(self._ids, now), stop)
            for scope in self.scopes
        ]
        report = dream(
            scenes, chosen_steps, self._store, now, is_approved=yes, dry_run=self._is_dry_run, progress=progress
        )
        self._flush()
        dreamt_scenes = scenes if steps is None else ()
        return replace(
            report,
            guidelines=tuple(line for scene in dreamt_scenes for line in write_guidelines(gather_tallies(scene))),
        )

    def dream_is_due(self) -> bool:
        """Whether enough captures or hours have passed since the last dream, by the settings."""
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
        as_of: TimeInput | None = None,
        known_at: TimeInput | None = None,
        filter_stale: bool = False,
    ) -> Recall:
        """Return the passages that answer a question, best first, each with its score and reason.

        `fast` skips the comparison of token states; `ranking="plain"` is a fixed ranking over words alone.
        `filter_stale` leaves out what the last dream marked as stale, and what is archived.
        `as_of` asks what was true at a time (a date means its start), `known_at` what was known at a time (a date
        means its end): which atoms, with which text and status, never changes afterwards.
        """
        if not 1 <= k <= MAX_HITS:
            raise InvalidInput(f"k must be between 1 and {MAX_HITS}")
        if ranking not in RANKINGS:
            raise InvalidInput(f"unknown ranking {ranking!r}; choose one of {', '.join(RANKINGS)}")
        query = RecallRequest(
            text=question,
            scopes=self._check_scopes(scopes),
            k=k,
            mode=mode,
            include=(include,) if isinstance(include, str) else tuple(include),
            at=self._clock.now(),
            fast=fast,
            ranking=ranking,
            assistant_prior=self.settings.assistant_prior,
            query_time=parse_query_time(as_of, known_at),
            filter_stale=filter_stale,
        )
        core = (
            builtins.list[Atom] if query.query_time else self._core_memories
        )  # today's core memories are not those of a past time
        options = {
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
        delegated = (
            self._recall_delegate(self.scope, question, options)
            if self._recall_delegate and not self._is_dry_run
            else None
        )
        if delegated is not None:
            return replace(delegated, core=core)
        recalled = recall(query, self._store, self.models, self._make_refresher(), secrets.token_hex(8), core)
        if not self._is_dry_run:
            self._store_for_feedback(recalled)
        return recalled

    def _store_for_feedback(self, recalled: Recall) -> None:
        try:
            ids = [atom.id for hit in recalled.hits for atom in (hit.atom, *hit.statements)]
            self._store.recalls.save(recalled.id, ids, recalled.asked_at, self.scope)
        except StoreError as error:
            logger.warning("no feedback can be given on recall %s: %s", recalled.id, summarise_error(error))

    @traced(Operation.SEARCH)
    def answer(self, question: str, k: int = 12) -> CitedAnswer:
        """Answer a question with the chat model, citing atoms; the answer says if nothing is known.

        ModelMissing if no chat model is set.
        """
        chat = self._model_registry.chat
        if chat is None:
            raise ModelMissing("an answer needs a chat model; set chat to openai:MODEL or anthropic:MODEL")
        return answer_question(question, self.recall(question, k), chat, self._clock.now())

    @traced(Operation.UPDATE)
    def feedback(self, recall_id: str, cited: Sequence[str] = (), verdict: str = "up") -> builtins.list[AtomId]:
        """Rate an answer made from a recall: `up`, `down` or `wrong`; return the atoms whose signals changed.

        Quality and use counts change for cited atoms, and a little for hits that were not cited. Each recall counts
        once; rating it again changes nothing.
        """
        parsed_verdict = parse_verdict(verdict)
        hits = self._store.recalls.hits(recall_id, self.scope)
        if hits is None:
            raise unknown_recall(recall_id)
        lessons = derive_feedback_effects(hits, [self._find_atom(atom_id).id for atom_id in cited], parsed_verdict)
        if not lessons or not (self._is_dry_run or self._store.recalls.mark_answered(recall_id, self.scope)):
            return []
        return self._apply_lessons(lessons)

    @traced(Operation.UPDATE)
    def cite(self, ids: Sequence[str]) -> builtins.list[AtomId]:
        """Count a use of each of these atoms, without a verdict; return their ids."""
        return self._apply_lessons(derive_citation_effects([self._find_atom(atom_id).id for atom_id in ids]))

    def _apply_lessons(self, lessons: Mapping[AtomId, FeedbackEffect]) -> builtins.list[AtomId]:
        signals, now = self._store.ledger.signals_of(lessons), self._clock.now()
        for atom_id, lesson in lessons.items():
            self._store.ledger.set_signals(atom_id, lesson.apply_to(signals.get(atom_id, Signals()), now))
        return [*lessons]

    @traced(Operation.READ)
    def top(self, k: int = 10) -> builtins.list[Atom]:
        """Return the core memories, which accompany every recall: pinned first, then by importance, then the newest."""
        return self._core_memories()[:k]

    def _core_memories(self) -> builtins.list[Atom]:
        atoms = self._store.read(
            AtomFilter(
                scopes=self.scopes, core_only=True, statuses=frozenset({Status.ACTIVE}), valid_at=self._clock.now()
            )
        )
        summaries = {atom.id: atom for atom in atoms if is_summary(atom)}
        sources = tuple({source for atom in summaries.values() for source in atom.derived_from})
        source_atoms = self._store.read(AtomFilter(scopes=self.scopes, ids=sources)) if sources else []
        sources_by_id = {atom.id: atom for atom in source_atoms}
        return sorted(
            (
                atom
                for atom in atoms
                if atom.is_searched
                and not atom.is_segment
                and not (atom.id in summaries and is_summary_outdated(atom, sources_by_id))
            ),
            key=lambda atom: (not atom.pinned, -atom.importance),
        )

    @traced(Operation.SEARCH)
    def beginning(self, about: str | None = None, budget: int = 2000) -> SessionContext:
        """Return what an agent should know when a session starts: core, topic, profile and recent atoms."""
        hits = self.recall(about, MAX_TOPIC_HITS, fast=True).relevant if about else ()
        core, active = (
            self._core_memories(),
            AtomFilter(scopes=self.scopes, statuses=frozenset({Status.ACTIVE}), include_run_notes=False),
        )
        newest = select_session_atoms(core, self._store.read(replace(active, limit=NEWEST_READ)))
        newest_filter = replace(active, ids=tuple(atom.id for atom in newest))
        return build_session_context(core, self._read_fresh(lambda: self._store.read(newest_filter)), hits, budget)

    @traced(Operation.SEARCH)
    def plan_context(self, goal: str) -> PlanContext:
        """Return context for planning a goal: up to three hits each of profile, procedures and facts."""
        return build_plan_context(goal, self.recall(goal, MAX_HITS).relevant)

    @property
    def models(self) -> ModelChoice:
        """The embedding models that recall uses; a transformer downloaded meanwhile is used immediately."""
        return self._model_registry.models

    @traced(Operation.MAINTAIN)
    def embed(self, progress: EncodeProgress | None = None, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Compute the missing vectors of all passages now; return the number of texts embedded."""
        if self._is_dry_run:
            return 0
        return encode_with_all(self._store, self._model_registry.embedders(), stop, progress)

    @traced(Operation.READ)
    def get(self, id: str, *, as_of: TimeInput | None = None, known_at: TimeInput | None = None) -> Atom:
        """Return one atom as its file says now; with `as_of` or `known_at`, as it was then. NotFound if none."""
        current = self._read_atom(id)
        times = parse_query_time(as_of, known_at)
        return (
            read_past_atom(current.id, times, times.view(self._store, self.scopes, self._clock.now()))
            if times
            else current
        )

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
        as_of: TimeInput | None = None,
        known_at: TimeInput | None = None,
    ) -> builtins.list[Atom]:
        """Return atoms, newest first. `status=None` lists every status; notes of a run need its `run_id`.

        With `known_at` atoms are as they were known then; with `as_of` the active ones are those that were true then,
        superseded since or not.
        """
        times, chosen_status = (
            parse_query_time(as_of, known_at),
            parse_enum(Status, status, "status") if status else None,
        )
        query = AtomFilter(
            scopes=self.scopes,
            statuses=frozenset({chosen_status}) if chosen_status else None,
            kinds=frozenset({kind}) if kind else None,
            subject=subject,
            session_id=session_id,
            run_id=run_id,
            include_run_notes=run_id is not None,
            memory_types=frozenset({parse_enum(MemoryType, memory_type, "memory type")}) if memory_type else None,
            limit=limit,
            offset=offset,
        )
        if times:
            view = times.view(self._store, self.scopes, self._clock.now())
            return self._read_fresh(lambda: list_past_atoms(view, query, chosen_status))
        return self._read_fresh(lambda: self._store.read(query))

    @traced(Operation.READ)
    def history(self, id: str) -> History:
        """Return an atom's status changes and versions."""
        return build_history(self._store.versions(self.get(id).id))

    @traced(Operation.READ)
    def status_history(self, id: str) -> builtins.list[Transition]:
        """Return an atom's status changes, oldest first."""
        return builtins.list(self.history(id).transitions)

    @traced(Operation.READ)
    def neighbours(self, id: str) -> builtins.list[tuple[Edge, Atom]]:
        """Return the atoms linked to or from an atom, each with its link."""
        atom = self.get(id)
        edges = self._store.edges([atom.id], self.scopes)
        others = {n: AtomId(edge.target) if edge.source == atom.id else edge.source for n, edge in enumerate(edges)}
        neighbours = {
            other.id: other for other in self._store.read(AtomFilter(scopes=self.scopes, ids=tuple(others.values())))
        }
        return [(edges[n], neighbours[other]) for n, other in others.items() if other in neighbours]

    def journal(
        self, since: int | datetime = 0, *, until: int | None = None, limit: int | None = None
    ) -> builtins.list[JournalEntry]:
        """Return the commits after a position or a time, up to `until`, oldest first; with `limit`, the newest ones."""
        if isinstance(since, datetime):
            since = self._store.position(before=to_utc(since))
        return self._store.read_journal(self.scopes, since, until=until, limit=limit)

    @traced(Operation.SEARCH)
    def search_text(self, query: TextQuery) -> builtins.list[TextMatch]:
        """Return the matches of the text search alone, without weights. InvalidScope for scopes of others."""
        if set(query.scopes) - set(self.scopes):
            raise InvalidScope(f"{self.scope} may read {', '.join(self.scopes)}")
        return self._store.search_text(query)

    def now(self) -> datetime:
        """Return the current time of this memory's clock."""
        return self._clock.now()

    def signals(self, id: str) -> Signals:
        """Return an atom's usage counters."""
        return self._store.ledger.signals(self.get(id).id)

    def confirmations(self, id: str) -> int:
        """Return the number of independent sources that confirm an atom, beyond the first."""
        return count_confirmations(self.get(id), self._store)

    def path_of(self, id: str) -> str | None:
        """Return the path of an atom's file relative to the vault; None if the file was deleted."""
        atom_id = self._find_atom(id).id
        return self._store.ledger.paths_of([atom_id]).get(atom_id)

    # Upkeep

    @traced(Operation.MAINTAIN)
    def sync(self, *, accept_deletions: bool = False, progress: Progress | None = None) -> SyncReport:
        """Read every file and import the inbox now; opening a memory does this too."""
        if not self._is_dry_run:
            self._finish_erasures()
        report = self._sync_files(accept_deletions=accept_deletions, progress=progress)
        self._request_inbox_import(now=True, progress=progress)
        if self._apply_due_values():
            self._flush()
        return report

    @traced(Operation.MAINTAIN)
    def tend(self, stop: Callable[[], bool] = lambda: False) -> None:
        """Do the periodic work of a memory that stays open: read files, import the inbox, extract due captures."""
        self._finish_erasures()
        self._sync_files()
        self._process_due_work(stop, INBOX_WAIT_SECONDS)

    @traced(Operation.UPSERT)
    def read_waiting(self) -> builtins.list[Receipt]:
        """Extract statements from all captures that are still queued; return their receipts."""
        return self._extract_queues(self.scopes)

    def waiting(self) -> int:
        """Return the number of captured passages that are queued for extraction."""
        return sum(queue.passage_count for queue in self._store.buffer.backlogs() if queue.scope in self.scopes)

    def jobs(self) -> builtins.list[Job]:
        """Return the background jobs with their holder, progress and result."""
        return self._store.jobs.list()

    @traced(Operation.MAINTAIN)
    def rebuild(self) -> int:
        """Rebuild the index from the journal; return the number of atoms of this memory in it."""
        self.sync()
        self._store.rebuild_index()
        return sum(self._store.count_by(self.scopes, "status").values())

    @traced(Operation.MAINTAIN)
    def doctor(self, *, deep: bool = False, look: bool = True) -> Diagnosis:
        """Return problems, faults and notes; `deep` also verifies the journal's hash chain and compares the index.

        `look=False` reports what is known already, without reading every file.
        """
        if look:
            self.sync()
        faults = self._store.check() if deep else []
        chat = self._model_registry.find_chat_fault() if look else None
        faults += [chat] if chat else []
        return Diagnosis(tuple(problems_in(self._store, self.scopes)), tuple(faults), tuple(self._diagnosis_notes()))

    @traced(Operation.READ)
    def stats(self) -> dict[str, Any]:
        """Return counts and sizes of this memory."""
        counts = collect_stats(self._store, self.scopes, self.state, self.waiting())
        return {"vault": str(self.root), "scope": self.scope, **counts}

    @traced(Operation.READ)
    def topics(self, limit: int = 20) -> builtins.list[Topic]:
        """Return the most frequent subjects, names and tags, with their count and last date."""
        query = AtomFilter(scopes=self.scopes, statuses=frozenset({Status.ACTIVE}), include_run_notes=False)
        return count_topics(self._store.read(query))[:limit]

    def plot(self, path: str | os.PathLike[str]) -> Path:
        """Draw retention, heat and the number of atoms over time into an .svg or .png file; return its path."""
        target = Path(path).expanduser()
        write_charts(target, self._store, self.scopes, self._clock.now(), RetentionMode(self.settings.retention))
        return target

    @traced(Operation.MAINTAIN)
    def export(self, path: str | os.PathLike[str] | None = None, *, format: str = "json", history: bool = True) -> Path:
        """Export everything this memory may read as json, markdown, okf or csv; return the path."""
        self._read_file_edits()
        target = Path(path).expanduser() if path else None
        return export(self._store, self.scopes, self.root, target, format, history, self._clock.now())

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _apply_layer_move(atom: Atom, decision: Ageing) -> Atom:
    if not decision:
        raise Refused(f"{atom.id} stays in its layer: {decision.reason}")
    return decision.apply_to(atom)


def _parse_words(
    words: str | Sequence[dict[str, Any]] | Sequence[TextPiece],
) -> str | Sequence[InputTurn] | Sequence[TextPiece]:
    """Validate the words given to `capture`; pieces come from our own document readers."""
    if isinstance(words, str):
        return parse_text(words)
    turns: Any = words
    pieces = [word for word in words if isinstance(word, TextPiece)]
    return pieces if pieces and len(pieces) == len(words) else parse_turns(turns)
