"""`lamina bench year`: simulate a year of writing, using and dreaming, compared with a store that never dreams.

Everything is generated from a seed: what is stated, when, and what is used how often. One store is written, used and
dreamt in through the shipped methods; the control takes over the same atoms and the same uses, and never dreams.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import lamina
from benchmarks.bench_result import BenchResult
from lamina.atom.atom import Atom, AtomId
from lamina.atom.provenance import Origin
from lamina.clock import FixedClock
from lamina.dream.report import DreamReport
from lamina.settings import Settings
from lamina.store.base import AtomChange, Commit

Say = Callable[[str], None]

BEGINS = datetime(2025, 1, 1, 20, tzinfo=UTC)
DAILY = ("age", "prune")
NOW_AND_THEN = ("merge", "cards", "bridge", "probe")
EVERY_DAYS = 30
"""The steps that read every statement run once in this many days; the others every day."""
POINTS = 4
ASKED = 200
OLD_DAYS = 242
DEPTH = 10
_PER_NAME, _PER_THING = 12, 60
_USED_A_DAY = 500
"""One use a day for this many atoms of the whole year."""
_FAVOURITES = 100
"""One in this many statements becomes a favourite."""
_YOUNG, _FAVOURED = 0.40, 0.92
"""Of all uses two in five are of young statements, half are of favourites, and the rest are of any."""
_RESOLVED = 0.7
_DEMOTED_EVERY = 30


@dataclass(frozen=True, slots=True)
class StatementType:
    """A type of statement: how common it is, who says it, its range of confidence and importance, and its template."""

    share: float
    kind: str
    origin: str
    confidence: tuple[float, float]
    importance: tuple[float, float]
    template: str


STATEMENT_TYPES: tuple[StatementType, ...] = (
    StatementType(0.27, "event", "agent", (0.45, 0.69), (0.10, 0.45), "{name} came by about {thing} with {other}."),
    StatementType(0.25, "fact", "agent", (0.40, 0.69), (0.10, 0.60), "{thing} seems to belong to {name} of {other}."),
    StatementType(0.12, "fact", "human", (0.95, 1.00), (0.40, 0.80), "{name} keeps {thing} in {other}."),
    StatementType(
        0.08, "question", "human", (0.60, 0.90), (0.10, 0.30), "What does {name} want with {thing} at {other}?"
    ),
    StatementType(
        0.08, "interaction", "agent", (0.50, 0.80), (0.05, 0.30), "Spoke with {name}: {thing}, then {other}."
    ),
    StatementType(
        0.06, "preference", "agent", (0.45, 0.98), (0.30, 0.70), "{name} would rather have {thing} than {other}."
    ),
    StatementType(0.05, "reminder", "human", (0.80, 1.00), (0.10, 0.40), "Call {name} about {thing} before {other}."),
    StatementType(0.04, "commitment", "human", (0.90, 1.00), (0.40, 0.80), "I owe {name} a {thing} from {other}."),
    StatementType(0.03, "fact", "agent", (0.10, 0.39), (0.10, 0.50), "Perhaps {name} has seen {thing} near {other}."),
    StatementType(0.02, "decision", "human", (0.95, 1.00), (0.60, 0.95), "We chose {thing} for {name} over {other}."),
)
"""What a year consists of: four in five are an agent's notes or events, which begin as episodes."""


@dataclass(frozen=True, slots=True)
class SimulatedStatement:
    """One statement of a day, and the words that ask for it."""

    n: int
    day: int
    sort: StatementType
    content: str
    question: str
    confidence: float
    importance: float
    subject: str

    @property
    def fields(self) -> dict[str, Any]:
        """Return the fields that `remember_many` takes."""
        return {
            "content": self.content,
            "kind": self.sort.kind,
            "subject": self.subject,
            "confidence": self.confidence,
            "importance": self.importance,
        }

    @property
    def stays_true(self) -> bool:
        """Return whether only its age could count against it: no guess, and no commitment that is resolved."""
        return self.sort.confidence[1] >= 0.4 and self.sort.kind != "commitment"


def make_words(random: Random, many: int) -> list[str]:
    """Return made-up words, all different, that are in no language."""
    heads, vowels, tails = (
        ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "br", "dr", "kl", "st", "tr"],
        "aeiou",
        ["l", "n", "r", "s", "x", "mp", "nd", "rk"],
    )
    made_words: dict[str, None] = {}
    while len(made_words) < many:
        parts = (random.choice(heads) + random.choice(vowels) for _ in range(random.choice((2, 3, 3))))
        made_words["".join(parts) + random.choice(tails)] = None
    return list(made_words)


def make_statements(atoms: int, days: int, seed: int) -> list[list[SimulatedStatement]]:
    """Return the statements of each day."""
    random = Random(seed)
    pool = make_words(random, 2 + atoms // _PER_NAME + atoms // _PER_THING)
    names, things = [entry.title() for entry in pool[: 1 + atoms // _PER_NAME]], pool[1 + atoms // _PER_NAME :]
    others = make_words(random, 40)
    year: list[list[SimulatedStatement]] = [[] for _ in range(days)]
    for n, sort in enumerate(random.choices(STATEMENT_TYPES, [entry.share for entry in STATEMENT_TYPES], k=atoms)):
        day, name, thing = n * days // atoms, random.choice(names), f"{random.choice(things)}{n % 1000}"
        content = sort.template.format(name=name, thing=thing, other=random.choice(others))
        confidence, importance = (round(random.uniform(*entry), 2) for entry in (sort.confidence, sort.importance))
        # A preference is compared with those of the same subject; here all of them should stay.
        subject = f"{name} {thing}" if sort.kind == "preference" else name
        year[day].append(SimulatedStatement(n, day, sort, content, f"{name} {thing}", confidence, importance, subject))
    return year


@dataclass(slots=True)
class UsageHabits:
    """A pattern of use: mostly young statements, always the same few favourites, and sometimes any."""

    random: Random
    uses_per_day: int
    favourites: list[int] = field(default_factory=list)

    def used_on_day(self, written: int, fresh: int) -> list[int]:
        """Return the numbers of the statements that are used on a day, each once, among those written so far."""
        self.favourites += [n for n in range(written - fresh, written) if self.random.random() < 1 / _FAVOURITES]
        return sorted({self._choose(written, fresh) for _ in range(self.uses_per_day)}) if written else []

    def _choose(self, written: int, fresh: int) -> int:
        chance = self.random.random()
        if chance < _YOUNG:
            return max(0, written - 1 - int(self.random.expovariate(1 / (7 * max(1, fresh)))))
        if chance < _FAVOURED and self.favourites:
            return self.favourites[min(len(self.favourites), int(self.random.paretovariate(0.8))) - 1]
        return self.random.randrange(written)


class SimulatedVault:
    """A vault that is written and used for a year, and dreams unless it is the control."""

    def __init__(self, folder: Path) -> None:
        self.clock = FixedClock(BEGINS)
        settings = Settings(embedder="none", extractor="none", background=False, watch=False)
        self.memory = lamina.open(folder, clock=self.clock, watch=False, settings=settings)
        self.ids: list[AtomId] = []
        self.used: set[int] = set()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.worked: defaultdict[str, float] = defaultdict(float)
        self.moves: Counter[str] = Counter()
        self.held = 0

    def write(self, today: Sequence[SimulatedStatement]) -> list[Atom]:
        """Remember the statements of today, each with its origin."""
        atoms_by_number: dict[int, Atom] = {}
        with self._timed("writing"):
            for origin in ("human", "agent"):
                of_origin = [statement for statement in today if statement.sort.origin == origin]
                if of_origin:
                    receipt = self.memory.remember_many([entry.fields for entry in of_origin], origin=origin)
                    outcomes = receipt.outcomes[: len(of_origin)]
                    atoms_by_number |= {
                        entry.n: outcome.atom for entry, outcome in zip(of_origin, outcomes, strict=True)
                    }
        atoms = [atoms_by_number[n] for n in sorted(atoms_by_number)]
        self.ids += [atom.id for atom in atoms]
        return atoms

    def copy_atoms(self, atoms: Sequence[Atom]) -> None:
        """Store the atoms of the other vault as they were on that day."""
        changes = {atom.id: AtomChange(atom.with_(revision=0, recorded_at=None)) for atom in atoms}
        commit = Commit(
            actor="human",
            origin=Origin.HUMAN,
            verb="remember",
            reason="told elsewhere",
            scope=self.memory.scope,
            changes=tuple(changes.values()),
        )
        with self._timed("writing"):
            self.memory.engine.store.journal.append(commit)
        self.ids += [atom.id for atom in atoms]

    def use(self, numbers: Sequence[int]) -> None:
        """Count a use of each statement."""
        with self._timed("using"):
            self.memory.cite([self.ids[n] for n in numbers])
            self.used |= set(numbers)

    def dream(self, steps: Sequence[str]) -> None:
        """Dream, and count the moves."""
        with self._timed("dreaming"):
            report: DreamReport = self.memory.upkeep.dream(steps)
        self.held += len(report.held)
        self.moves.update(f"{move.action} by dreams" for move in report.moves)
        for step in report.steps:
            for note in step.notes:
                many, _, what = note.partition(" ")
                if what in ("cooled down", "warmed up"):
                    self.moves[what] += int(many)

    def recall_share(self, statements: Sequence[SimulatedStatement]) -> float:
        """Return how many of these statements are among the first hits, in percent."""
        with self._timed("asking"):
            hits = sum(
                self.ids[statement.n] in {hit.atom.id for hit in self.memory.recall(statement.question, DEPTH).hits}
                for statement in statements
            )
        return round(100 * hits / len(statements), 2) if statements else 0.0

    def close(self) -> None:
        """Close the vault."""
        self.memory.close()

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        began, worked = time.perf_counter(), time.process_time()
        yield
        self.seconds[what] += time.perf_counter() - began
        self.worked[what] += time.process_time() - worked


BARS: dict[str, tuple[str, float]] = {
    "used, of control": ("≥", 99.0),
    "old and unused": ("≥", 99.0),
    "hot episodic": ("≤", 30.0),
    **{f"{action} by dreams": ("≥", 1.0) for action in ("promote", "archive", "revive", "expire")},
    "demote by hand": ("≥", 1.0),
    "dreaming_s": ("≤", 600.0),
}


def judge_bars(figures: Mapping[str, float]) -> dict[str, dict[str, Any]]:
    """Return each required figure with its value and whether it passes."""
    judged: dict[str, dict[str, Any]] = {}
    for name, (sign, limit) in BARS.items():
        value = figures.get(name, 0.0)
        holds = value >= limit if sign == "≥" else value <= limit
        judged[name] = {"figure": value, "bar": f"{sign} {limit:g}", "holds": holds}
    return judged


def run(atoms: int, days: int, seed: int, say: Say) -> BenchResult:
    """Simulate a year in two stores, one that dreams every day and one that never does, and ask both."""
    began, folder = time.perf_counter(), Path(tempfile.mkdtemp(prefix="lamina-year-"))
    try:
        with (
            closing(SimulatedVault(folder / "dreams")) as dreams,
            closing(SimulatedVault(folder / "control")) as control,
        ):
            points = _simulate(dreams, control, make_statements(atoms, days, seed), seed, say)
            chosen = {
                "atoms": atoms,
                "days": days,
                "seed": seed,
                "daily": list(DAILY),
                "now and then": list(NOW_AND_THEN),
                "every days": EVERY_DAYS,
                "embedder": "none",
                "model": "",
            }
            speed = {**_speed(dreams, control, atoms), "all_s": round(time.perf_counter() - began, 1)}
            figures = {**list(points.values())[-1], **dict(sorted(dreams.moves.items())), "held": dreams.held}
            overall = {"figures": figures, "bars": judge_bars({**figures, **speed})}
            return BenchResult("year", None, chosen, overall, points, speed)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _simulate(
    dreams: SimulatedVault, control: SimulatedVault, year: Sequence[Sequence[SimulatedStatement]], seed: int, say: Say
) -> dict[str, dict[str, float]]:
    days, random = len(year), Random(seed + 1)
    every = [statement for today in year for statement in today]
    habits = UsageHabits(Random(seed + 2), max(3, len(every) // _USED_A_DAY))
    due: dict[int, list[int]] = {}
    points: dict[str, dict[str, float]] = {}
    for day, today in enumerate(year):
        dreams.clock.at = control.clock.at = BEGINS + timedelta(days=day)
        control.copy_atoms(dreams.write(today))
        used = habits.used_on_day(len(dreams.ids), len(today))
        for store in (dreams, control):
            store.use(used)
        _schedule_resolutions(today, day, days, due, random)
        _apply_user_actions(dreams, day, due.pop(day, []), every)
        dreams.clock.at += timedelta(hours=6)
        dreams.dream((*DAILY, *NOW_AND_THEN) if day % EVERY_DAYS == EVERY_DAYS - 1 else DAILY)
        if (day + 1) % max(1, days // (POINTS + 1)) == 0 or day == days - 1:
            points[f"day {day + 1}"] = _measure_recall(dreams, control, every, day, random)
            say(f"day {day + 1} of {days}: {dict(points[f'day {day + 1}'])}")
    return points


def _schedule_resolutions(
    today: Sequence[SimulatedStatement], day: int, days: int, due: dict[int, list[int]], random: Random
) -> None:
    """Schedule that most commitments are resolved some weeks later."""
    for statement in today:
        if statement.sort.kind == "commitment" and random.random() < _RESOLVED:
            due.setdefault(day + random.randint(10, 60), []).append(statement.n)


def _apply_user_actions(
    dreams: SimulatedVault, day: int, resolved: Sequence[int], every: Sequence[SimulatedStatement]
) -> None:
    """Do what users do: resolve commitments, and sometimes demote a statement."""
    for n in resolved:
        dreams.memory.resolve(dreams.ids[n])
        dreams.moves["resolve by hand"] += 1
    if day % _DEMOTED_EVERY == _DEMOTED_EVERY - 1:
        stated = (
            statement
            for statement in every
            if day - _DEMOTED_EVERY < statement.day < day and statement.sort.origin == "human"
        )
        for entry in islice((entry for entry in stated if entry.sort.kind == "fact"), 2):
            dreams.memory.upkeep.demote(dreams.ids[entry.n])
            dreams.moves["demote by hand"] += 1


def _measure_recall(
    dreams: SimulatedVault, control: SimulatedVault, every: Sequence[SimulatedStatement], day: int, random: Random
) -> dict[str, float]:
    """Ask both stores for statements that were used, and for old unused ones."""
    used = [statement for statement in every[: len(dreams.ids)] if statement.n in dreams.used and statement.stays_true]
    old = [
        statement
        for statement in every[: len(dreams.ids)]
        if day - statement.day >= OLD_DAYS and statement.n not in dreams.used and statement.stays_true
    ]
    used_sample, old_sample = (random.sample(entry, min(ASKED, len(entry))) for entry in (used, old))
    now = {"used": dreams.recall_share(used_sample), "used, control": control.recall_share(used_sample)}
    now["used, of control"] = round(100 * now["used"] / now["used, control"], 2) if now["used, control"] else 0.0
    if old_sample:
        now |= {
            "old and unused": dreams.recall_share(old_sample),
            "old and unused, control": control.recall_share(old_sample),
        }
    return {
        **now,
        "hot episodic": _hot_share(dreams),
        "archived": dreams.memory.upkeep.stats()["by_status"].get("archived", 0),
    }


def _hot_share(store: SimulatedVault) -> float:
    """Return the share of episodic memories in the hot tier, in percent."""
    tiers = store.memory.upkeep.stats()["at_hand"]
    hot, cold = tiers.get("episodic hot", 0), tiers.get("episodic cold", 0)
    return round(100 * hot / (hot + cold), 2) if hot + cold else 0.0


def _speed(dreams: SimulatedVault, control: SimulatedVault, atoms: int) -> dict[str, float]:
    """Return the time of the dreaming store by activity, its CPU time, and the time of the control."""
    return {
        **{f"{name}_s": round(value, 1) for name, value in dreams.seconds.items()},
        **{f"{name}_cpu_s": round(value, 1) for name, value in dreams.worked.items()},
        "control_s": round(sum(control.seconds.values()), 1),
        "atoms_per_s": round(atoms / max(dreams.seconds["writing"], 1e-9), 1),
    }
