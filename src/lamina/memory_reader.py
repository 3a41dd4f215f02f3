"""The reading half of the public API: recall, and what a memory says about its atoms and its journal."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

from pydantic import Field

from lamina.argument_checks import Amount, parse_enum_set, verb
from lamina.atom.atom import Atom, AtomId, Signals
from lamina.atom.kinds import Layer, MemoryType
from lamina.atom.status import Status
from lamina.caller import Caller
from lamina.dream.topics import Topic, count_topics
from lamina.engine import Engine
from lamina.engine.atom_listing import StandingFilter, list_by_standing, narrow_to_topic, parse_standing_filter
from lamina.engine.caller_access import CallerAccess
from lamina.engine.captures import SessionReading
from lamina.engine.recalls import CallerRecalls
from lamina.errors import InvalidInput
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.lifecycle.importance_report import ImportanceReport, report_importance
from lamina.lifecycle.retention import RetentionMode
from lamina.lifecycle.standing import Standing
from lamina.models.errors import ModelMissing
from lamina.recall import Recall, RecallRequest
from lamina.recall.cited_answer import CitedAnswer, answer_question
from lamina.recall.feedback import derive_citation_effects
from lamina.recall.recall_view import list_historical_atoms, parse_view_time, read_historical_atom
from lamina.recall.starting_context import MAX_TOPIC_HITS, PLAN_LAYERS, PlanContext, SessionContext, build_plan_context
from lamina.review.ageing_signals import count_confirmations, load_signals_with_history, load_standings
from lamina.review.export import export
from lamina.review.history import History, Transition, build_history
from lamina.store.base import AtomFilter, Edge, JournalEntry, TextMatch, TextQuery
from lamina.telemetry import Operation
from lamina.text.timestamps import TimeInput, to_utc
from lamina.working.block import Block

MAX_HITS = 100
RANKINGS = ("full", "plain")
UNLISTED_KINDS = frozenset({"box"})
"""Kinds that `list` returns only on request: a box repeats statements that are listed."""
HitCount = Annotated[int, Field(ge=1, le=MAX_HITS)]


class MemoryReader:
    """The verbs by which one caller reads. None of them changes an atom; feedback only counts uses."""

    def __init__(self, engine: Engine, caller: Caller) -> None:
        self.engine, self.caller = engine, caller
        self.root, self.settings, self.scope, self.scopes = engine.root, engine.settings, caller.scope, caller.scopes
        self._store, self._access = engine.store, CallerAccess(engine, caller)
        self._sessions, self._recalls = SessionReading(self._access), CallerRecalls(self._access)

    @verb(Operation.SEARCH)
    def recall(
        self,
        question: str,
        k: HitCount = 10,
        *,
        mode: str = "full_context",
        scopes: Sequence[str] | str | None = None,
        include: Sequence[str] | str = (),
        fast: bool = False,
        ranking: str = "full",
        as_of: TimeInput | None = None,
        known_at: TimeInput | None = None,
        filter_stale: bool = False,
        layer: Layer | str | Sequence[Layer | str] | None = None,
        status: Status | str | Sequence[Status | str] | None = None,
    ) -> Recall:
        """Return the passages that answer a question, best first, each with its score and reason.

        `fast` skips the comparison of token states; `ranking="plain"` is a fixed ranking over words alone.
        `filter_stale` leaves out what the last dream marked as stale, and what is archived. `layer` and `status` are
        one or several: only atoms of these layers, and of these statuses instead of the usual ones, are searched. An
        agent finds what it learnt first, and with only its own scope in `scopes` nothing else.
        `as_of` asks what was true at a time (a date means its start), `known_at` what was known at a time (a date
        means its end): which atoms, with which text and status, never changes afterwards.
        """
        if ranking not in RANKINGS:
            raise InvalidInput(f"ranking: {ranking!r} is not one of {', '.join(RANKINGS)}")
        options = {"k": k, "mode": mode, "fast": fast, "ranking": ranking, "filter_stale": filter_stale}
        request = RecallRequest(
            text=question,
            scopes=self.caller.select_scopes(scopes),
            include=(include,) if isinstance(include, str) else tuple(include),
            at=self.now(),
            assistant_prior=self.settings.assistant_prior,
            view_time=parse_view_time(as_of, known_at),
            k=k,
            mode=mode,
            fast=fast,
            ranking=ranking,
            filter_stale=filter_stale,
            agent=self.caller.agent,
            learnt_only=self.caller.selects_own(scopes),
            layers=parse_enum_set(Layer, layer, "layer"),
            only_statuses=parse_enum_set(Status, status, "status"),
        )
        options |= {"layer": layer, "status": status}
        options |= {"scopes": scopes, "include": include, "as_of": as_of, "known_at": known_at}
        return self._recalls.recall(request, options)

    @verb(Operation.SEARCH)
    def answer(self, question: str, k: HitCount = 12) -> CitedAnswer:
        """Answer a question with the chat model, citing atoms; the answer says if nothing is known.

        ModelMissing if no chat model is set.
        """
        chat = self.engine.models.chat
        if chat is None:
            raise ModelMissing("an answer needs a chat model; set chat to openai:MODEL or anthropic:MODEL")
        return answer_question(question, self.recall(question, k), chat, self.now())

    @verb(Operation.SEARCH)
    def beginning(
        self, about: str | None = None, budget: Amount = 2000, *, blocks: Sequence[Block] = ()
    ) -> SessionContext:
        """Return what an agent should know when a session starts: core, blocks, topic, profile and recent atoms."""
        topic = self.recall(about, MAX_TOPIC_HITS, fast=True) if about else None
        return self._recalls.session_context(topic, budget, blocks)

    @verb(Operation.SEARCH)
    def plan_context(self, goal: str) -> PlanContext:
        """Return context for planning a goal: up to three hits each of profile, procedures and facts."""
        return build_plan_context(goal, self.recall(goal, MAX_HITS, layer=PLAN_LAYERS).relevant)

    @verb(Operation.UPDATE)
    def feedback(self, recall_id: str, cited: Sequence[str] = (), verdict: str = "up") -> builtins.list[AtomId]:
        """Rate an answer made from a recall: `up`, `down` or `wrong`; return the atoms whose signals changed.

        Quality and use counts change for cited atoms, and a little for hits that were not cited. Each recall counts
        once; rating it again changes nothing.
        """
        return self._recalls.rate(recall_id, cited, verdict)

    @verb(Operation.UPDATE)
    def cite(self, ids: Sequence[str]) -> builtins.list[AtomId]:
        """Amount a use of each of these atoms, without a verdict; return their ids."""
        cited = [self._access.find_atom(atom_id).id for atom_id in ids]
        return self._recalls.apply_feedback(derive_citation_effects(cited))

    @verb(Operation.READ)
    def top(self, k: Amount = 10) -> builtins.list[Atom]:
        """Return the core memories, which accompany every recall: pinned first, then by effective importance."""
        return [item.atom for item in self._recalls.core_memories()[:k]]

    @verb(Operation.READ)
    def get(self, id: str, *, as_of: TimeInput | None = None, known_at: TimeInput | None = None) -> Atom:
        """Return one atom as its file says now; with `as_of` or `known_at`, as it was then. NotFound if none."""
        current, times = self._access.read_atom(id), parse_view_time(as_of, known_at)
        if not times.is_historical:
            return current
        return read_historical_atom(current.id, times, times.view(self._store, self.scopes, self.now()))

    @verb(Operation.READ)
    def list(
        self,
        *,
        status: Status | str | Sequence[Status | str] | None = Status.ACTIVE,
        layer: Layer | str | Sequence[Layer | str] | None = None,
        kind: str | None = None,
        memory_type: MemoryType | str | None = None,
        subject: str | None = None,
        session_id: str | None = None,
        episode_id: str | None = None,
        run_id: str | None = None,
        topic: str | None = None,
        verification: str | None = None,
        policy_class: str | None = None,
        lifecycle_state: str | None = None,
        tier: str | None = None,
        limit: Amount | None = 50,
        offset: Amount = 0,
        as_of: TimeInput | None = None,
        known_at: TimeInput | None = None,
    ) -> builtins.list[Atom]:
        """Return atoms, newest first. `status=None` lists every status; notes of a run need its `run_id`, boxes need
        `kind="box"`.

        `status` and `layer` are one or several; `topic` is one of `topics()`; `verification`, `policy_class`,
        `lifecycle_state` and `tier` are parts of the standing. With `known_at` atoms are as they were known then; with
        `as_of` the active ones are those that were true then, superseded since or not.
        """
        times = parse_view_time(as_of, known_at)
        standing_filter = parse_standing_filter(verification, policy_class, lifecycle_state, tier)
        statuses = parse_enum_set(Status, status, "status")
        query = AtomFilter(
            scopes=self.scopes,
            statuses=statuses,
            layers=parse_enum_set(Layer, layer, "layer"),
            kinds=frozenset({kind}) if kind else None,
            excluded_kinds=frozenset() if kind else UNLISTED_KINDS,
            subject=subject,
            session_id=session_id,
            episode_id=episode_id,
            run_id=run_id,
            include_run_notes=run_id is not None,
            memory_types=parse_enum_set(MemoryType, memory_type, "memory_type"),
            limit=limit,
            offset=offset,
        )
        query = narrow_to_topic(query, topic, self._store) if topic else query
        if not times.is_historical:
            return list_by_standing(query, standing_filter, self._access.read_synced, self._store, self.now())
        if standing_filter != StandingFilter():
            raise InvalidInput("the standing of an atom is known for the present only; leave out as_of and known_at")
        view = times.view(self._store, self.scopes, self.now())
        return self._access.read_fresh(lambda: list_historical_atoms(view, query, statuses))

    @verb(Operation.READ)
    def standing(self, id: str) -> Standing:
        """Return how far an atom is verified and protected, how current it is, and in which tier it is kept."""
        atom = self.get(id)
        return load_standings([atom], self._store, self.now())[atom.id]

    @verb(Operation.READ)
    def history(self, id: str) -> History:
        """Return an atom's status changes and versions."""
        return build_history(self._store.journal.versions(self.get(id).id))

    @verb(Operation.READ)
    def status_history(self, id: str) -> builtins.list[Transition]:
        """Return an atom's status changes, oldest first."""
        return builtins.list(self.history(id).transitions)

    @verb(Operation.READ)
    def neighbours(self, id: str) -> builtins.list[tuple[Edge, Atom]]:
        """Return the atoms linked to or from an atom, each with its link."""
        atom = self.get(id)
        edges = self._store.graph.edges([atom.id], self.scopes)
        others = [AtomId(edge.target) if edge.source == atom.id else edge.source for edge in edges]
        neighbours = self._store.atoms.read(AtomFilter(scopes=self.scopes, ids=tuple(others)))
        by_id = {neighbour.id: neighbour for neighbour in neighbours}
        return [(edge, by_id[other]) for edge, other in zip(edges, others, strict=True) if other in by_id]

    @verb()
    def journal(
        self, since: Amount | datetime = 0, *, until: Amount | None = None, limit: Amount | None = None
    ) -> builtins.list[JournalEntry]:
        """Return the commits after a position or a time, up to `until`, oldest first; with `limit`, the newest ones."""
        if isinstance(since, datetime):
            since = self._store.journal.position(before=to_utc(since))
        return self._store.journal.read(self.scopes, since, until=until, limit=limit)

    @verb(Operation.SEARCH)
    def search_text(self, query: TextQuery) -> builtins.list[TextMatch]:
        """Return the matches of the text search alone, without weights. InvalidScope for scopes of others."""
        self.caller.require_scopes(query.filter.scopes)
        return self._store.passages.search_text(query)

    @verb(Operation.READ)
    def topics(self, limit: Amount = 20) -> builtins.list[Topic]:
        """Return the most frequent topics: subjects, names, tags and topics of boxes, with count and last date."""
        query = AtomFilter(scopes=self.scopes, statuses=frozenset({Status.ACTIVE}), include_run_notes=False)
        return count_topics(self._store.atoms.read(query))[:limit]

    @verb()
    def signals(self, id: str) -> Signals:
        """Return an atom's usage counters."""
        atom_id = self.get(id).id
        return self._store.signals.get([atom_id]).signals.get(atom_id, Signals())

    @verb(Operation.READ)
    def why(self, id: str) -> ImportanceReport:
        """Return how much an atom matters and why: the nine factors of its importance, and what ageing does with it."""
        atom = self.get(id)
        moment = AgeingTime(self.now(), self._store.signals.last_activity(atom.scope))
        mode = RetentionMode(self.settings.retention)
        return report_importance(atom, load_signals_with_history(atom, self._store), moment, mode)

    @verb()
    def confirmations(self, id: str) -> int:
        """Return the number of independent sources that confirm an atom, beyond the first."""
        return count_confirmations(self.get(id), self._store)

    @verb()
    def path_of(self, id: str) -> str | None:
        """Return the path of an atom's file relative to the vault; None if the file was deleted."""
        atom_id = self._access.find_atom(id).id
        return self._store.projection.paths_of([atom_id]).get(atom_id)

    def waiting(self) -> int:
        """Return the number of captured passages that are queued for extraction."""
        return self._sessions.count_queued()

    def now(self) -> datetime:
        """Return the current time of this memory's clock."""
        return self._access.now()

    @verb(Operation.MAINTAIN)
    def export(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        format: str = "json",
        history: bool = True,
        layer: Layer | str | Sequence[Layer | str] | None = None,
        status: Status | str | Sequence[Status | str] | None = None,
    ) -> Path:
        """Export everything this memory may read as json, markdown, okf or csv; return the path.

        `layer` and `status`, one or several, select the atoms.
        """
        self._access.sync_files()
        target = Path(path).expanduser() if path else None
        atom_filter = AtomFilter(
            scopes=self.scopes,
            layers=parse_enum_set(Layer, layer, "layer"),
            statuses=parse_enum_set(Status, status, "status"),
        )
        return export(self._store, atom_filter, self.root, target, format, history, self.now())
