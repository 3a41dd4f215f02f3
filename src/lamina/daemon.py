"""The daemon: the background work of one vault while a process runs.

It syncs edited files, extracts statements from captured text, embeds texts and dreams when due. It serves no requests;
`lamina serve` runs it beside the server, on its own thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from queue import Empty, SimpleQueue

from lamina.dream.report import DreamReport, StepReport
from lamina.errors import LaminaError
from lamina.logs import summarise_error
from lamina.memory import Memory
from lamina.sync import SyncReport

ROUND_SECONDS = 60.0
"""Seconds between two rounds. Where files can be watched, saved files are synced immediately."""

EventData = Mapping[str, str | int | list[str]]


class DaemonEventType(StrEnum):
    """The types of events that a daemon reports."""

    BEGAN = "began"
    SERVING = "serving"
    TOKEN = "token"
    FILES = "files"
    WRITTEN = "written"
    ENCODED = "encoded"
    DREAM = "dream"
    TROUBLE = "trouble"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class DaemonEvent:
    """One event, as a line of text and as data; never with memory content, because logs are read by others."""

    at: datetime
    event_type: DaemonEventType
    text: str
    facts: EventData = field(default_factory=dict)


EventHandler = Callable[[DaemonEvent], None]


class StopSignal:
    """Asks a daemon to stop, from any thread."""

    def __init__(self) -> None:
        # A signal handler may request a stop while its own thread waits here: the lock of an Event would deadlock.
        self._requests = SimpleQueue[None]()
        self._callbacks: list[Callable[[], None]] = []

    def request(self) -> None:
        """Ask the daemon to finish its current work and stop."""
        self._requests.put(None)
        for callback in self._callbacks:
            callback()

    def on_request(self, callback: Callable[[], None]) -> None:
        """Also call this when a stop is requested; it must be safe in a signal handler."""
        self._callbacks.append(callback)

    def is_requested(self) -> bool:
        """Return whether a stop was requested."""
        return not self._requests.empty()

    def wait(self, seconds: float) -> bool:
        """Wait for some seconds or until a stop is requested; return whether it was."""
        try:
            self._requests.get(timeout=seconds)
        except Empty:
            return False
        self._requests.put(None)
        return True


class Daemon:
    """Maintains an opened memory, round after round.

    Several daemons may run on one vault: leases decide which one extracts and which one dreams. `other_scopes` returns
    further scopes of the vault to maintain.
    """

    def __init__(
        self,
        memory: Memory,
        handle_event: EventHandler,
        stop_signal: StopSignal | None = None,
        round_seconds: float = ROUND_SECONDS,
        other_scopes: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._memory, self._handle_event, self._other_scopes = memory, handle_event, other_scopes
        self._stop_signal, self._round_seconds = stop_signal or StopSignal(), round_seconds
        self._last_positions = {scoped.scope: _last_position(scoped) for scoped in self._memories()}
        self._dream_batches: set[str] = set()
        self._failures: dict[str, str] = {}

    def run(self) -> None:
        """Run round after round until a stop is requested."""
        self._report(
            DaemonEventType.BEGAN, f"maintaining {self._memory.scope}, a round every {self._round_seconds:g} s"
        )
        self._report_file_changes(self._memory.upkeep.opening_report)
        while not self._stop_signal.is_requested():
            self._run_round()
            self._stop_signal.wait(self._round_seconds)
        self._report(DaemonEventType.ENDED, "acknowledged writes are safe")

    def describe_state(self) -> str:
        """Return the daemon's state in one line: the parts that fail, without memory content."""
        return f"failing: {', '.join(sorted(self._failures))}" if self._failures else "ok"

    def run_once(self) -> bool:
        """Run one round; return whether all of it succeeded."""
        self._report_file_changes(self._memory.upkeep.opening_report)
        self._run_round()
        return not self._failures

    def _run_round(self) -> None:
        """Run every part once. A part that fails is reported and retried in the next round; the others still run."""
        for name, part in (
            ("vault", self._process_vault),
            ("encoding", self._embed_texts),
            ("dream", self._dream_if_due),
        ):
            if self._stop_signal.is_requested():
                return
            try:
                part()
                self._failures.pop(name, None)
            except LaminaError as error:
                self._report_failure(name, summarise_error(error))

    def _memories(self) -> Iterator[Memory]:
        """Yield the memory itself, and the memory of each other scope."""
        yield self._memory
        for scope in dict.fromkeys(self._other_scopes()):
            if scope != self._memory.scope:
                yield self._memory.for_caller(scope)

    def _process_vault(self) -> None:
        for memory in self._memories():
            memory.upkeep.tend(self._stop_signal.is_requested)
            self._report_commits(memory)
        self._dream_batches.clear()

    def _embed_texts(self) -> None:
        count = self._memory.embed(stop=self._stop_signal.is_requested)
        if count:
            self._report(DaemonEventType.ENCODED, f"{count} texts", texts=count)

    def _dream_if_due(self) -> None:
        """Dream in every scope when one is due: the vault stores the time of only one last dream."""
        memories = [*self._memories()]
        if not any(memory.upkeep.dream_is_due() for memory in memories):
            return
        for memory in memories:
            report = memory.upkeep.dream(stop=self._stop_signal.is_requested)
            self._dream_batches.add(report.batch)
            self._report_dream(report)

    def _report_commits(self, memory: Memory) -> None:
        """Report the commits of a scope since the last round, counted by verb and actor."""
        entries = memory.journal(self._last_positions.get(memory.scope, 0))
        self._last_positions[memory.scope] = entries[-1].seq if entries else self._last_positions.get(memory.scope, 0)
        commits, atoms = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for entry in entries:
            if entry.batch not in self._dream_batches and (memory is self._memory or entry.scope == memory.scope):
                commits[entry.verb, entry.actor] += 1
                atoms[entry.verb, entry.actor] += len(entry.changes)
        for (verb, actor), count in commits.items():
            atom_count = atoms[verb, actor]
            self._report(
                DaemonEventType.WRITTEN,
                f"{verb} by {actor}: {_count_noun(atom_count, 'atom')} in {_count_noun(count, 'commit')}",
                verb=verb,
                actor=actor,
                commits=count,
                atoms=atom_count,
            )

    def _report_file_changes(self, report: SyncReport) -> None:
        counts = {name: len(paths) for name, paths in asdict(report).items() if isinstance(paths, list) and paths}
        if counts:
            summary = ", ".join(f"{count} {name}" for name, count in counts.items())
            self._report(DaemonEventType.FILES, f"changed while closed: {summary}", **counts)

    def _report_dream(self, report: DreamReport) -> None:
        if report.asleep:
            self._report(DaemonEventType.DREAM, report.asleep)
            return
        steps = [_describe_step(step) for step in report.steps if step.moves or step.held or step.failed]
        summary = "; ".join(steps) or "nothing to do"
        self._report(DaemonEventType.DREAM, f"{report.batch}: {summary}", batch=report.batch, steps=steps)

    def _report_failure(self, name: str, failure: str) -> None:
        """Report a failure once, not in every round."""
        if self._failures.get(name) != failure:
            self._report(DaemonEventType.TROUBLE, f"{name} failed and will be retried: {failure}")
        self._failures[name] = failure

    def _report(self, event_type: DaemonEventType, text: str, **facts: str | int | list[str]) -> None:
        self._handle_event(DaemonEvent(self._memory.now(), event_type, text, facts))


def _last_position(memory: Memory) -> int:
    return max((entry.seq for entry in memory.journal(limit=1)), default=0)


def _describe_step(step: StepReport) -> str:
    """Return a dream step in one line; the reason of a failure may quote memory content, so it is left out."""
    return f"{step.step}: failed; `lamina dream --step {step.step}` shows why" if step.failed else step.summary


def _count_noun(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
