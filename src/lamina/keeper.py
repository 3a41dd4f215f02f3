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
from lamina.logs import wordless
from lamina.memory import Memory
from lamina.sync import SyncReport

EVERY = 60.0
"""Seconds between two rounds. Where files can be watched, saved files are synced immediately."""

Facts = Mapping[str, str | int | list[str]]


class What(StrEnum):
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
class Happening:
    """One event, as a line of text and as data; never with memory content, because logs are read by others."""

    at: datetime
    what: What
    text: str
    facts: Facts = field(default_factory=dict)


Tell = Callable[[Happening], None]


class Bell:
    """Asks a daemon to stop, from any thread."""

    def __init__(self) -> None:
        # A signal handler may request a stop while its own thread waits here: the lock of an Event would deadlock.
        self._rung = SimpleQueue[None]()
        self._more: list[Callable[[], None]] = []

    def ring(self) -> None:
        """Ask the daemon to finish its current work and stop."""
        self._rung.put(None)
        for callback in self._more:
            callback()

    def rings(self, other: Callable[[], None]) -> None:
        """Also call this when a stop is requested; it must be safe in a signal handler."""
        self._more.append(other)

    def rang(self) -> bool:
        """Return whether a stop was requested."""
        return not self._rung.empty()

    def wait(self, seconds: float) -> bool:
        """Wait for some seconds or until a stop is requested; return whether it was."""
        try:
            self._rung.get(timeout=seconds)
        except Empty:
            return False
        self._rung.put(None)
        return True


class Keeper:
    """Maintains an opened memory, round after round.

    Several daemons may run on one vault: leases decide which one extracts and which one dreams. `other_scopes` returns
    further scopes of the vault to maintain.
    """

    def __init__(
        self,
        memory: Memory,
        tell: Tell,
        bell: Bell | None = None,
        every: float = EVERY,
        others: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._memory, self._tell, self._bell, self._every = memory, tell, bell or Bell(), every
        self._others = others
        self._seen = {scoped_memory.scope: _last(scoped_memory) for scoped_memory in self._seats()}
        self._dreamt: set[str] = set()
        self._troubles: dict[str, str] = {}

    def keep(self) -> None:
        """Run round after round until a stop is requested."""
        self._say(What.BEGAN, f"maintaining {self._memory.scope}, a round every {self._every:g} s")
        self._say_opened(self._memory.opened)
        while not self._bell.rang():
            self._round()
            self._bell.wait(self._every)
        self._say(What.ENDED, "acknowledged writes are safe")

    def state(self) -> str:
        """Return the daemon's state in one line: the parts that fail, without memory content."""
        return f"failing: {', '.join(sorted(self._troubles))}" if self._troubles else "ok"

    def once(self) -> bool:
        """Run one round; return whether all of it succeeded."""
        self._say_opened(self._memory.opened)
        self._round()
        return not self._troubles

    def _round(self) -> None:
        """Run every part once. A part that fails is reported and retried in the next round; the others still run."""
        for name, part in (("vault", self._tend), ("encoding", self._encode), ("dream", self._dream)):
            if self._bell.rang():
                return
            try:
                part()
                self._troubles.pop(name, None)
            except LaminaError as error:
                self._complain(name, wordless(error))

    def _seats(self) -> Iterator[Memory]:
        """Yield the memory itself, and the memory of each other scope."""
        yield self._memory
        for scope in dict.fromkeys(self._others()):
            if scope != self._memory.scope:
                yield self._memory.seat(scope)

    def _tend(self) -> None:
        for memory in self._seats():
            memory.tend(self._bell.rang)
            self._say_written(memory)
        self._dreamt.clear()

    def _encode(self) -> None:
        count = self._memory.embed(stop=self._bell.rang)
        if count:
            self._say(What.ENCODED, f"{count} texts", texts=count)

    def _dream(self) -> None:
        """Dream in every scope when one is due: the vault stores the time of only one last dream."""
        memories = [*self._seats()]
        if not any(memory.dream_is_due() for memory in memories):
            return
        for memory in memories:
            report = memory.dream(stop=self._bell.rang)
            self._dreamt.add(report.batch)
            self._say_dream(report)

    def _say_written(self, seat: Memory) -> None:
        """Report the commits of a scope since the last round, counted by verb and actor."""
        entries = seat.journal(self._seen.get(seat.scope, 0))
        self._seen[seat.scope] = entries[-1].seq if entries else self._seen.get(seat.scope, 0)
        commits, atoms = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for entry in entries:
            if entry.batch not in self._dreamt and (seat is self._memory or entry.scope == seat.scope):
                commits[entry.verb, entry.actor] += 1
                atoms[entry.verb, entry.actor] += len(entry.changes)
        for (verb, actor), count in commits.items():
            atom_count = atoms[verb, actor]
            self._say(
                What.WRITTEN,
                f"{verb} by {actor}: {_counted(atom_count, 'atom')} in {_counted(count, 'commit')}",
                verb=verb,
                actor=actor,
                commits=count,
                atoms=atom_count,
            )

    def _say_opened(self, report: SyncReport) -> None:
        counts = {name: len(paths) for name, paths in asdict(report).items() if isinstance(paths, list) and paths}
        if counts:
            summary = ", ".join(f"{count} {name}" for name, count in counts.items())
            self._say(What.FILES, f"changed while closed: {summary}", **counts)

    def _say_dream(self, report: DreamReport) -> None:
        if report.asleep:
            self._say(What.DREAM, report.asleep)
            return
        steps = [_step_told(step) for step in report.steps if step.moves or step.held or step.failed]
        summary = "; ".join(steps) or "nothing to do"
        self._say(What.DREAM, f"{report.batch}: {summary}", batch=report.batch, steps=steps)

    def _complain(self, name: str, trouble: str) -> None:
        """Report a failure once, not in every round."""
        if self._troubles.get(name) != trouble:
            self._say(What.TROUBLE, f"{name} failed and will be retried: {trouble}")
        self._troubles[name] = trouble

    def _say(self, what: What, text: str, **facts: str | int | list[str]) -> None:
        self._tell(Happening(self._memory.now(), what, text, facts))


def _last(memory: Memory) -> int:
    return max((entry.seq for entry in memory.journal(limit=1)), default=0)


def _step_told(step: StepReport) -> str:
    """Return a dream step in one line; the reason of a failure may quote memory content, so it is left out."""
    return f"{step.step}: failed; `lamina dream --step {step.step}` shows why" if step.failed else step.told


def _counted(many: int, noun: str) -> str:
    return f"{many} {noun}{'' if many == 1 else 's'}"
