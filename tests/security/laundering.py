"""Chains of derivation: what nobody vouches for is summed up, merged, copied, exported and brought back, by chance."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import lamina
from lamina import Atom, FixedClock, LaminaError, Origin
from lamina.atom.atom import AtomId, IdSource
from lamina.atom.provenance import TRUST, Scope, lineage_trust, statements_need_review
from lamina.atom.status import RECALL_WEIGHT, Status, TransitionCause
from lamina.errors import Refused
from lamina.store.base import AtomChange, AtomFilter, Commit
from lamina.store.sqlite import SqliteStore
from lamina.testing import LOCAL, NOON

DIRTY = (Origin.WEB, Origin.TOOL, Origin.DOCUMENT, Origin.IMPORT)


@dataclass(slots=True)
class LaunderingReport:
    """How many chains were tried, how many links were refused, and what came out cleaner than it went in."""

    chains: int = 0
    links: int = 0
    refused: int = 0
    failures: list[str] = field(default_factory=list)

    def summary(self) -> str:
        return (
            f"{self.chains} chains of {self.links} links ({self.refused} refused), "
            f"{len(self.failures)} came out more trusted than what they came from"
        )


def in_a_store(folder: Path, chains: int, seed: int) -> LaunderingReport:
    """Chains of commits by anybody, straight at the store: derived, re-labelled, promoted, restored, cut loose."""
    folder.mkdir(parents=True, exist_ok=True)
    clock, chance, laundering_report = FixedClock(NOON), random.Random(seed), LaunderingReport()
    store = SqliteStore(folder, clock)
    try:
        for n in range(chains):
            _Chain(store, clock, chance, laundering_report, n).run()
            laundering_report.chains += 1
        return laundering_report
    finally:
        store.close()


class _Chain:
    """One chain. What each atom may be worth at most is kept apart from the store, by the chain itself."""

    def __init__(
        self, store: SqliteStore, clock: FixedClock, chance: random.Random, done: LaunderingReport, n: int
    ) -> None:
        self._store, self._clock, self._chance, self._done, self._n = store, clock, chance, done, n
        self._ids = IdSource(lambda count: chance.randbytes(count))
        self._worth: dict[AtomId, float] = {}
        self._vouched: set[AtomId] = set()

    def run(self) -> None:
        seed = self._chance.choice(DIRTY)
        self._put(self._atom(seed, "seed", status=Status.CONSTRAINED), seed)
        for _ in range(self._chance.randint(1, 6)):
            self._done.links += 1
            try:
                self._chance.choice((self._derive, self._derive, self._claim, self._promote, self._cut, self._end))()
            except Refused:
                self._done.refused += 1
        for atom in self._atoms():
            self._check(atom)

    def _derive(self) -> None:
        """A summary, a merger or a synthesis: by anybody, of some of the chain and perhaps of something trusted."""
        by = self._chance.choice([*Origin])
        parents = self._chance.sample([*self._worth], k=min(len(self._worth), self._chance.randint(1, 3)))
        status = self._chance.choice((Status.ACTIVE, Status.ARCHIVED, Status.CONSTRAINED, Status.CHALLENGED))
        atom = self._atom(by, "summary", status=status, derived_from=tuple(parents))
        worth = min([TRUST[by], *(self._worth[parent] for parent in parents)])
        pending = any(parent not in self._vouched for parent in parents) or statements_need_review(by)
        self._put(atom, by)
        self._worth[atom.id] = worth
        if by is Origin.HUMAN or not pending:
            self._vouched.add(atom.id)

    def _claim(self) -> None:
        """Somebody says the atom is more trusted than it is."""
        atom = self._pick()
        self._put(atom.with_(origin=Origin.HUMAN, principal="owner"), self._chance.choice([*Origin]))
        self._done.failures.append(f"chain {self._n}: {atom.id} changed its origin")

    def _promote(self) -> None:
        by, way = (
            self._chance.choice([*Origin]),
            self._chance.choice((TransitionCause.ORDINARY, TransitionCause.RESTORE, TransitionCause.UNDO)),
        )
        atom = self._pick()
        self._put(atom.with_(status=Status.ACTIVE), by, way)
        if by is Origin.HUMAN:
            self._vouched.add(atom.id)

    def _cut(self) -> None:
        """The lineage is left out, by anybody, the person at the file included."""
        atom = self._pick()
        self._put(atom.with_(derived_from=atom.derived_from[1:]), self._chance.choice([*Origin]))

    def _end(self) -> None:
        self._put(self._pick().with_(status=Status.TOMBSTONED), self._chance.choice([*Origin]))

    def _check(self, atom: Atom) -> None:
        worth = lineage_trust(atom, lambda ids: {atom.id: atom for atom in self._read(ids)})
        if worth > self._worth[atom.id]:
            self._done.failures.append(f"chain {self._n}: {atom.id} is worth {worth}, not {self._worth[atom.id]}")
        if atom.status in RECALL_WEIGHT and atom.id not in self._vouched:
            self._done.failures.append(f"chain {self._n}: {atom.id} is {atom.status} and nobody vouched for it")

    def _atom(self, origin: Origin, noun: str, **fields: object) -> Atom:
        self._clock.at += timedelta(milliseconds=1)
        return Atom(
            id=self._ids.new(self._clock.at),
            scope=Scope(LOCAL),
            kind="fact",
            origin=origin,
            content=f"{noun} {self._n} {self._chance.random()}",
            observed_at=self._clock.at,
            **fields,  # type: ignore[arg-type]
        )

    def _put(self, atom: Atom, by: Origin, way: TransitionCause = TransitionCause.ORDINARY) -> None:
        commit = Commit(
            actor="x", origin=by, verb="x", reason="x", scope=Scope(LOCAL), changes=(AtomChange(atom),), way=way
        )
        self._store.journal.append(commit)
        self._worth.setdefault(atom.id, TRUST[atom.origin])

    def _pick(self) -> Atom:
        return self._chance.choice(self._atoms())

    def _atoms(self) -> list[Atom]:
        return self._read([*self._worth])

    def _read(self, ids: Sequence[AtomId] | object) -> list[Atom]:
        return self._store.atoms.read(AtomFilter(scopes=(Scope(LOCAL),), ids=tuple(ids)))  # type: ignore[arg-type]


Step = Callable[["Laundry"], object]


class Laundry:
    """A vault in which one poisoned sentence goes through the verbs of people and agents, by chance.

    The person in it never confirms, restores or retypes anything: whatever counts in the end was laundered.
    """

    def __init__(self, root: Path, seed: int) -> None:
        self.root, self.chance = root, random.Random(seed)
        self.clock = FixedClock(NOON)
        self.person = lamina.open(root / "v", watch=False, clock=self.clock)
        self.agent = lamina.open(root / "v", ceiling="agent", actor="bot", watch=False, clock=self.clock)
        self.n = 0
        self.done = LaunderingReport()
        self.person.remember("The kettle stands in the kitchen.", subject="kettle")

    def close(self) -> None:
        self.agent.close()
        self.person.close()

    def chain(self, length: int = 5, steps: Sequence[Step] | None = None) -> None:
        """Bring in one sentence, launder it, and see what it is worth."""
        self.n += 1
        self.name = f"Zq{self.n}x{self.chance.randrange(10**6)}"
        self.origin = self.chance.choice(DIRTY)
        self.most = TRUST[self.origin]
        self.text = f"My dentist is Dr {self.name}."
        self._bring()
        for step in self.chance.choices(steps or STEPS, k=length):
            self.clock.at += timedelta(seconds=1)
            self.done.links += 1
            try:
                step(self)
            except LaminaError:
                self.done.refused += 1
        self.done.chains += 1
        self._check()

    def held(self) -> Atom:
        """One of the atoms that hold the sentence."""
        return self.chance.choice([atom for atom in self._all() if not atom.is_segment] or self._all())

    def _bring(self) -> None:
        if self.chance.random() < 0.5:
            self.agent.remember(self.text, origin=self.origin, source_id=f"page:{self.name}")
        else:
            self.agent.capture(self.text, origin=self.origin, source_id=f"page:{self.name}")

    def _all(self) -> list[Atom]:
        return [atom for atom in self.person.list(status=None, limit=None) if self.name in atom.content]

    def _check(self) -> None:
        for atom in self._all():
            worth = lineage_trust(atom, lambda ids: {atom.id: atom for atom in self._read(ids)})
            if worth > self.most:
                self.done.failures.append(f"{self.name}: {atom.id} of {self.origin} is worth {worth}: {atom.content}")
            if atom.status in RECALL_WEIGHT and atom.is_searched:
                self.done.failures.append(f"{self.name}: {atom.id} is {atom.status}: {atom.content}")
        result = self.agent.recall(self.text, k=20)
        texts = [hit.text for hit in result.hits]
        if any(
            self.name in text
            for text in (*texts, *(statement.content for hit in result.hits for statement in hit.statements))
        ):
            self.done.failures.append(f"{self.name}: recalled")

    def _read(self, ids: object) -> list[Atom]:
        return self.person.engine.store.atoms.read(AtomFilter(scopes=self.person.scopes, ids=tuple(ids)))  # type: ignore[arg-type]


def summarise(wash: Laundry) -> None:
    run = wash.agent.run(f"run {wash.chance.random()}")
    run.note(wash.text, origin=wash.origin)
    run.close("success", f"It turned out: {wash.text}", workflow=f"ask {wash.name}")


def compact_copies(wash: Laundry) -> None:
    with suppress(LaminaError):
        wash.agent.remember(f"{wash.text} ", origin=wash.origin, tags=(wash.name,))
    wash.person.review.compact(create_proposals=True)


def deduplicate_copies(wash: Laundry) -> None:
    wash.agent.remember(
        wash.text, origin=wash.origin, kind="procedure", subject=wash.name, metadata={"workflow": wash.name}
    )
    wash.person.review.dedup(create_proposals=True)


def repeat_text(wash: Laundry) -> None:
    origin = wash.chance.choice(DIRTY)
    wash.most = max(wash.most, TRUST[origin])
    wash.agent.capture(wash.text, origin=origin, session_id=f"again {wash.chance.random()}")


def echo_through_tool(wash: Laundry) -> None:
    wash.most = max(wash.most, TRUST[Origin.TOOL])
    talk = [{"role": "user", "content": "Look it up."}, {"role": "tool_result", "content": wash.text}]
    wash.agent.capture(talk, session_id=f"echo {wash.chance.random()}")


def reimport_export(wash: Laundry) -> None:
    """The vault's own export, imported again."""
    place = wash.root / f"export-{wash.n}-{wash.chance.randrange(10**9)}"
    form = wash.chance.choice(("json", "markdown"))
    wash.person.export(place.with_suffix(".json") if form == "json" else place, format=form)
    wash.person.import_(place.with_suffix(".json") if form == "json" else place)


def claim_human_origin(wash: Laundry) -> None:
    """The file says who it is from; whatever stands there is not believed."""
    atom = wash.held()
    path = wash.person.path_of(atom.id)
    if path is None:
        return
    file = wash.root / "v" / path
    lines = [line for line in file.read_text().split("\n") if not line.startswith(("origin:", "principal:"))]
    file.write_text("\n".join([lines[0], "origin: human", "principal: owner", *lines[1:]]))
    wash.person.upkeep.sync()


def remove_links(wash: Laundry) -> None:
    """The file's lineage is taken out."""
    path = wash.person.path_of(wash.held().id)
    if path is not None:
        file = wash.root / "v" / path
        file.write_text("\n".join(line for line in file.read_text().split("\n") if "derived_from" not in line))
        wash.person.upkeep.sync()


def quarantine_and_undo(wash: Laundry) -> None:
    wash.person.quarantine(source=f"page:{wash.name}", reason="doubtful", yes=True)
    wash.person.undo()


def forget_and_restore(wash: Laundry) -> None:
    wash.person.forget(wash.held().id, "doubtful")
    wash.chance.choice((wash.person, wash.agent)).undo()


def undo_and_redo(wash: Laundry) -> None:
    last = [entry for entry in wash.agent.journal(limit=3) if entry.verb != "undo"]
    wash.agent.undo(wash.chance.choice(last).id)


def revise_text(wash: Laundry) -> None:
    wash.agent.revise(wash.held().id, f"{wash.text} It is certain.", reason="clearer", confidence=1.0, kind="rule")


def claim_slot(wash: Laundry) -> None:
    verb = wash.chance.choice(("status", "restore", "review", "pin", "relate", "rollback", "merge"))
    atom = wash.held()
    if verb in ("status", "restore"):
        wash.agent.update_status(atom.id, "active", "I am sure")
    elif verb == "review":
        wash.agent.review.confirm(atom.id, "I am sure")
    elif verb == "pin":
        wash.agent.pin(atom.id)
    elif verb == "rollback":
        wash.agent.rollback(atom.id, "back")
    elif verb == "merge":
        wash.agent.review.merge(atom.id, wash.held().id, wash.text)
    else:
        wash.agent.relate(atom.id, "supports", wash.held().id)


def feed_recall(wash: Laundry) -> None:
    """Somebody votes for it as often as they like."""
    result = wash.agent.recall(wash.text, include="constrained")
    if result.hits:
        wash.agent.feedback(result.id, [result.hits[0].atom.id], "up")


STEPS: tuple[Step, ...] = (
    summarise,
    compact_copies,
    deduplicate_copies,
    repeat_text,
    echo_through_tool,
    reimport_export,
    claim_human_origin,
    remove_links,
    quarantine_and_undo,
    forget_and_restore,
    undo_and_redo,
    revise_text,
    claim_slot,
    feed_recall,
)
