"""Reading kept words for statements, later than they were kept: each passage once, whatever dies in between."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId, IdSource
from lamina.atom.passage import Passage, passages_of
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.capture.box import boxed
from lamina.capture.change.change import Change
from lamina.capture.change.nomination import Nominator, nominations
from lamina.capture.change.replay import replays_of, said_first
from lamina.capture.classify import Verdict
from lamina.capture.forget_requests import may_hold_request
from lamina.capture.found import Extractor, Nobody, Said
from lamina.capture.llm.counts import ModelCounts
from lamina.capture.receipt import Receipt
from lamina.capture.session_lease import SessionLease
from lamina.capture.signals import sounds_important
from lamina.capture.statement import CONTEXT, Made, statements
from lamina.capture.surprise import PROMOTES, Familiarity
from lamina.capture.write import Words, Writer, fresh_ids, kept_anyway, verdicts_on, write
from lamina.errors import LaminaError
from lamina.models.embedder import Embedder
from lamina.models.errors import ModelError
from lamina.states.state_reader import StateReader
from lamina.store.base import Filter, Store
from lamina.store.buffer import Queue, Waiting
from lamina.text.roles import is_assistant

JOB = "read for statements"
LEASE_SECONDS = 900.0
"""Longer than a slow chat model takes for what is read in one go."""
ONBOARDING = 20
"""So many passages of a scope are read turn by turn: the first ones tell who somebody is."""
RECENT_RECALLS = 10
AT_MOST = 10
"""So many passages are read in one go; between two goes others may write."""


@dataclass(frozen=True, slots=True)
class Reader:
    """How words are read: which extractor finds the statements, which signals are urgent, and which models help."""

    extractor: Extractor
    patterns: tuple[re.Pattern[str], ...] = ()
    embedder: Callable[[], Embedder | None] = lambda: None
    several: frozenset[str] = frozenset()
    nominator: Nominator | None = None
    states: StateReader | None = None

    @property
    def links(self) -> bool:
        """Whether what is said is compared with what was said before; not where nothing is to be made of words."""
        return not isinstance(self.extractor, Nobody)

    def read(
        self,
        turns: Sequence[Said],
        before: Sequence[Said],
        segments: Mapping[str, Atom],
        scope: Scope,
        store: Store,
        ids: Iterator[AtomId],
        now: datetime,
    ) -> Made:
        """Return the statements of turns; those that only repeat what was captured before state nothing."""
        replays = replays_of(turns, segments.values(), store, scope, now) if self.links else {}
        made = self.made(said_first(turns, replays), before, segments, scope, store, ids, now)
        return replace(made, replays=replays)

    def made(
        self,
        turns: Sequence[Said],
        before: Sequence[Said],
        segments: Mapping[str, Atom],
        scope: Scope,
        store: Store,
        ids: Iterator[AtomId],
        now: datetime,
    ) -> Made:
        """Return the statements turns give rise to, each in its box and with its surprise."""
        if not turns:
            return Made([], self.extractor.name)
        found = statements(turns, before, self.extractor, segments, ids, shown_lately(store, scope))
        feeling = Familiarity(store, self.embedder() if found.atoms else None, now)
        made = replace(found, atoms=[feeling.weighed(atom) for atom in boxed(found.atoms, store, ids)])
        return self._with_changes(made, turns, segments, scope, store, now)

    def _with_changes(
        self, made: Made, turns: Sequence[Said], segments: Mapping[str, Atom], scope: Scope, store: Store, now: datetime
    ) -> Made:
        """Add the changes a language model nominates; one that has just failed to read is not asked again."""
        if self.nominator is None or made.trouble:
            return made
        try:
            named = nominations(self.nominator, turns, segments, scope, store, now)
        except ModelError as error:
            failed = ModelCounts(calls=error.calls, failures=(f"changes were not compared: {error}",))
            return replace(made, counts=(made.counts or ModelCounts()) + failed)
        sure = sum(change.is_sure for change in named.changes)
        found = ModelCounts(named.calls, pairs=named.pairs, likely=len(named.changes) - sure, sure=sure)
        return replace(made, nominated=named.changes, counts=(made.counts or ModelCounts()) + found)

    def verdicts(
        self,
        made: Made,
        turns: Sequence[Said],
        words: Collection[Atom],
        scope: Scope,
        store: Store,
        ids: Iterator[AtomId],
        now: datetime,
        *,
        compare: bool,
    ) -> list[Verdict]:
        """What becomes of statements made of turns, and what is over because of them."""
        verdicts = verdicts_on(made.atoms, store, now, self.several)
        if not (self.links and compare):
            return verdicts
        change = Change(turns, words, made.replays, store, scope, ids, now, self.states, made.nominated)
        return change.made_of(verdicts)


class Rhythm(StrEnum):
    """When waiting passages are read."""

    SMART = "smart"
    SURPRISE = "surprise"
    EVERY_N = "every_n"
    TIME_BASED = "time_based"


@dataclass(frozen=True, slots=True)
class Pace:
    """How long passages wait for company: so many of them, or for so long; `smart` lets urgent ones go first, and
    `surprise` news as well."""

    rhythm: Rhythm = Rhythm.SMART
    turns: int = 5
    patience: timedelta = timedelta(minutes=15)

    def is_due(self, queue: Queue, taken: int, now: datetime) -> bool:
        """Whether a session's passages are to be read now."""
        enough, old = queue.length >= self.turns, now - queue.oldest >= self.patience
        match self.rhythm:
            case Rhythm.EVERY_N:
                return enough
            case Rhythm.TIME_BASED:
                return old
            case Rhythm.SMART | Rhythm.SURPRISE:
                return enough or old or queue.urgent or taken < ONBOARDING


def waiting(
    turns: Sequence[Said], scope: Scope, session_id: str, now: datetime, patterns: Sequence[re.Pattern[str]] = ()
) -> list[Waiting]:
    """The passages as they wait: a strong signal or a request to forget is urgent. A machine's words are context."""

    def is_urgent(text: str) -> bool:
        return sounds_important(text, patterns) or may_hold_request(text)

    return [
        Waiting(scope, session_id, AtomId(turn.segment), turn.n, now, is_urgent(turn.text))
        for turn in turns
        if not is_assistant(turn.speaker)
    ]


def passages_said(segments: Sequence[Atom], before: Atom | None) -> tuple[list[Said], list[Said]]:
    """The turns that stood in the open segment already, and those that were added."""
    known = [_said(before, passage) for passage in passages_of(before)] if before else []
    old = {(each.segment, each.n) for each in known}
    every = [_said(segment, passage) for segment in segments for passage in passages_of(segment)]
    return known, [each for each in every if (each.segment, each.n) not in old]


def _said(segment: Atom, passage: Passage) -> Said:
    return Said(segment.id, passage.n, passage.text, passage.speaker, passage.at or segment.observed_at)


def shown_lately(store: Store, scope: Scope) -> list[str]:
    """The statements that the last recalls returned: who repeats them says nothing new."""
    ids = store.recalls.recent(scope, RECENT_RECALLS)
    return [each.content for each in store.read(Filter(scopes=(scope,), ids=tuple(ids))) if not each.is_segment]


def read_due(
    store: Store,
    reader: Reader,
    pace: Pace,
    actor: str,
    ids: IdSource,
    now: Callable[[], datetime],
    stop: Callable[[], bool] = lambda: False,
) -> list[Receipt]:
    """Read every session whose passages are due, under a lease, so that two programs do not both pay for it."""
    due = [each for each in store.buffer.queues() if _is_due(each, pace, reader, store, now())]
    holder = f"{os.getpid()}-{secrets.token_hex(4)}"
    if not due or not store.jobs.take(JOB, holder, LEASE_SECONDS):
        return []
    receipts: list[Receipt] = []
    done, total, error = 0, sum(each.length for each in due), ""
    try:
        for queue in due:
            if stop() or not store.jobs.renew(JOB, holder, LEASE_SECONDS, done, total):
                break
            lease = SessionLease(store.buffer, queue.scope, queue.session_id, now)
            if lease.take():
                try:
                    receipts += read_session(store, reader, queue.scope, queue.session_id, actor, ids, now, lease)
                finally:
                    lease.release()
            done += queue.length
        return receipts
    except LaminaError as problem:
        error = str(problem)
        raise
    finally:
        store.jobs.release(JOB, holder, error)


def _is_due(queue: Queue, pace: Pace, reader: Reader, store: Store, now: datetime) -> bool:
    if pace.is_due(queue, store.buffer.taken(queue.scope), now):
        return True
    if pace.rhythm is not Rhythm.SURPRISE:
        return False
    feeling = Familiarity(store, reader.embedder(), now)
    waits = store.buffer.of(queue.scope, queue.session_id)
    _, turns = _with_context(waits, _segments(waits, store))
    return any((feeling.surprise(turn.text, queue.scope) or 0.0) > PROMOTES for turn in turns)


def read_session(
    store: Store,
    reader: Reader,
    scope: Scope,
    session_id: str,
    actor: str,
    ids: IdSource,
    now: Callable[[], datetime],
    lease: SessionLease | None = None,
) -> list[Receipt]:
    """Read what waits of one session, a few passages at a time, while the lease holds; what another reader has read
    meanwhile is left out."""
    queue = store.buffer.of(scope, session_id)
    receipts: list[Receipt] = []
    for start in range(0, len(queue), AT_MOST):
        if lease is not None and not lease.take():
            break
        receipt = _read(queue[start : start + AT_MOST], reader, actor, store, ids, now())
        receipts += [receipt] if receipt is not None else []
    return receipts


def _read(
    passages: Sequence[Waiting], reader: Reader, actor: str, store: Store, ids: IdSource, now: datetime
) -> Receipt | None:
    """Read passages; None where somebody else has read them meanwhile.

    They leave the buffer together with the commit of what they state: either both happen or neither.
    """
    scope, session_id = passages[0].scope, passages[0].session_id
    segments = _segments(passages, store)
    before, turns = _with_context(passages, segments)
    fresh = fresh_ids(ids, now)
    made = reader.read(turns, before, segments, scope, store, fresh, now)

    def put_down(compare: bool) -> Receipt | None:
        with store.alone():
            if not store.buffer.take(passages):
                return None
            receipt = Receipt(None, ())
            for origin, principal in dict.fromkeys((each.origin, each.principal) for each in segments.values()):
                own = replace(
                    made, atoms=[atom for atom in made.atoms if (atom.origin, atom.principal) == (origin, principal)]
                )
                words = [each for each in segments.values() if (each.origin, each.principal) == (origin, principal)]
                said = [turn for turn in turns if turn.segment in {segment.id for segment in words}]
                verdicts = reader.verdicts(own, said, words, scope, store, fresh, now, compare=compare)
                writer = Writer(actor, origin, principal, scope)
                part = write(Words(), verdicts, writer, store, "extract", f"read {session_id}", None)
                receipt = replace(part, outcomes=(*receipt.outcomes, *part.outcomes))
        return replace(receipt, stages=(("statements", made.told),), counts=made.counts)

    return kept_anyway(store, put_down)


def _segments(passages: Sequence[Waiting], store: Store) -> dict[str, Atom]:
    """The segments that hold the passages, so far as they still count."""
    found = store.read(Filter(scopes=(passages[0].scope,), ids=tuple({passage.segment for passage in passages})))
    return {each.id: each for each in found if each.status in (Status.ACTIVE, Status.CONSTRAINED)}


def _with_context(passages: Sequence[Waiting], segments: Mapping[str, Atom]) -> tuple[list[Said], list[Said]]:
    """The turns that led up to the first waiting one, and the waiting ones with what a machine said in between."""
    oldest_first = sorted(segments.values(), key=lambda each: each.id)
    every = [_said(segment, passage) for segment in oldest_first for passage in passages_of(segment)]
    wanted = {(passage.segment, passage.n) for passage in passages}
    places = [n for n, each in enumerate(every) if (each.segment, each.n) in wanted]
    if not places:
        return [], []
    first, last = places[0], places[-1]
    turns = [each for each in every[first : last + 1] if (each.segment, each.n) in wanted or is_assistant(each.speaker)]
    return every[max(0, first - CONTEXT) : first], turns
