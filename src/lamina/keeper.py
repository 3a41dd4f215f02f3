"""The keeper: what one process does for a vault for as long as it runs, so that nobody has to think of it.

It takes in what people did to the files, reads captured words, encodes them, and dreams when it is time. It opens no
door to the outside: whoever does holds a keeper beside it, on a thread of its own.
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
"""Seconds between two rounds. Saved files count at once wherever they can be watched."""

Facts = Mapping[str, str | int | list[str]]


class What(StrEnum):
    """What may happen while a vault is kept."""

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
    """One thing that happened, in a line and in facts; never in anybody's words, for logs are read by others."""

    at: datetime
    what: What
    text: str
    facts: Facts = field(default_factory=dict)


Tell = Callable[[Happening], None]


class Bell:
    """Tells a keeper to end, from any thread."""

    def __init__(self) -> None:
        # A signal handler may ring while its own thread waits here: an Event's lock would then wait for itself.
        self._rung = SimpleQueue[None]()
        self._more: list[Callable[[], None]] = []

    def ring(self) -> None:
        """Finish what is at hand, and end."""
        self._rung.put(None)
        for each in self._more:
            each()

    def rings(self, other: Callable[[], None]) -> None:
        """Let something else be told, too, when somebody rings; it must be fit for a signal handler."""
        self._more.append(other)

    def rang(self) -> bool:
        """Whether somebody rang."""
        return not self._rung.empty()

    def wait(self, seconds: float) -> bool:
        """Wait for so long, or until somebody rings; whether they did."""
        try:
            self._rung.get(timeout=seconds)
        except Empty:
            return False
        self._rung.put(None)
        return True


class Keeper:
    """Keeps an opened memory, round after round. Many may keep one vault: leases say who reads and who dreams.

    `others` are further scopes of the vault that it looks after, as they are at the moment.
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
        self._seen = {seat.scope: _last(seat) for seat in self._seats()}
        self._dreamt: set[str] = set()
        self._troubles: dict[str, str] = {}

    def keep(self) -> None:
        """Round after round, until the bell rings."""
        self._say(What.BEGAN, f"keeping {self._memory.scope}, looking every {self._every:g} s")
        self._say_opened(self._memory.opened)
        while not self._bell.rang():
            self._round()
            self._bell.wait(self._every)
        self._say(What.ENDED, "everything acknowledged is safe")

    def state(self) -> str:
        """How it goes, in a line: which parts are in trouble, without anybody's words."""
        return f"in trouble: {', '.join(sorted(self._troubles))}" if self._troubles else "well"

    def once(self) -> bool:
        """One round; whether all of it went well."""
        self._say_opened(self._memory.opened)
        self._round()
        return not self._troubles

    def _round(self) -> None:
        """Whatever fails is told, keeps nothing else from being done, and is tried again in the next round."""
        for name, part in (("vault", self._tend), ("encoding", self._encode), ("dream", self._dream)):
            if self._bell.rang():
                return
            try:
                part()
                self._troubles.pop(name, None)
            except LaminaError as error:
                self._complain(name, wordless(error))

    def _seats(self) -> Iterator[Memory]:
        """The memory itself, and a seat in each of the other scopes."""
        yield self._memory
        for scope in dict.fromkeys(self._others()):
            if scope != self._memory.scope:
                yield self._memory.seat(scope)

    def _tend(self) -> None:
        for seat in self._seats():
            seat.tend(self._bell.rang)
            self._say_written(seat)
        self._dreamt.clear()

    def _encode(self) -> None:
        many = self._memory.embed(stop=self._bell.rang)
        if many:
            self._say(What.ENCODED, f"{many} texts", texts=many)

    def _dream(self) -> None:
        """All of them dream when one is due: the vault remembers only one last dream, and none shall miss theirs."""
        seats = [*self._seats()]
        if not any(seat.dream_is_due() for seat in seats):
            return
        for seat in seats:
            report = seat.dream(stop=self._bell.rang)
            self._dreamt.add(report.batch)
            self._say_dream(report)

    def _say_written(self, seat: Memory) -> None:
        """What was committed in a scope since the last round by anybody, counted by what it is and who did it."""
        entries = seat.journal(self._seen.get(seat.scope, 0))
        self._seen[seat.scope] = entries[-1].seq if entries else self._seen.get(seat.scope, 0)
        commits, atoms = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for entry in entries:
            if entry.batch not in self._dreamt and (seat is self._memory or entry.scope == seat.scope):
                commits[entry.verb, entry.actor] += 1
                atoms[entry.verb, entry.actor] += len(entry.changes)
        for (verb, actor), many in commits.items():
            touched = atoms[verb, actor]
            self._say(
                What.WRITTEN,
                f"{verb} by {actor}: {_counted(touched, 'atom')} in {_counted(many, 'commit')}",
                verb=verb,
                actor=actor,
                commits=many,
                atoms=touched,
            )

    def _say_opened(self, report: SyncReport) -> None:
        found = {name: len(paths) for name, paths in asdict(report).items() if isinstance(paths, list) and paths}
        if found:
            told = ", ".join(f"{many} {name}" for name, many in found.items())
            self._say(What.FILES, f"since it was last open: {told}", **found)

    def _say_dream(self, report: DreamReport) -> None:
        if report.asleep:
            self._say(What.DREAM, report.asleep)
            return
        steps = [_step_told(step) for step in report.steps if step.moves or step.held or step.failed]
        told = "; ".join(steps) or "nothing to do"
        self._say(What.DREAM, f"{report.batch}: {told}", batch=report.batch, steps=steps)

    def _complain(self, name: str, trouble: str) -> None:
        """Tell what is wrong once, not every minute."""
        if self._troubles.get(name) != trouble:
            self._say(What.TROUBLE, f"{name} will be tried again: {trouble}")
        self._troubles[name] = trouble

    def _say(self, what: What, text: str, **facts: str | int | list[str]) -> None:
        self._tell(Happening(self._memory.now(), what, text, facts))


def _last(memory: Memory) -> int:
    return max((entry.seq for entry in memory.journal(limit=1)), default=0)


def _step_told(step: StepReport) -> str:
    """A step in a line; why one failed may be told in the words it failed on, so whoever wants to know dreams again."""
    return f"{step.step}: failed; `lamina dream --step {step.step}` tells why" if step.failed else step.told


def _counted(many: int, noun: str) -> str:
    return f"{many} {noun}{'' if many == 1 else 's'}"
