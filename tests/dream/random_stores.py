"""Random stores to dream in: a little of everything that ages, made from a seed through the shipped verbs."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import lamina
from lamina import FixedClock, Memory
from lamina.atom.atom import Atom, AtomId
from lamina.atom.kinds import KINDS, Durability, Layer
from lamina.atom.provenance import Origin, Scope
from lamina.atom.status import Status
from lamina.lifecycle.signals import AgeingSignals

BEGINS = datetime(2026, 1, 1, 9, tzinfo=UTC)
DAY = timedelta(days=1)
NAMES = ("Ann", "Bob", "Cleo", "Dina")
THINGS = ("kettle", "ladder", "marble", "needle", "oyster", "pencil", "ribbon", "saddle", "trowel", "walnut")
AGEING = ("event", "fact", "question", "reminder", "interaction", "commitment", "preference", "belief", "decision")


def store_count(usual: int) -> int:
    """How many stores a proof looks at: a share of them, unless the environment asks for all."""
    return int(os.environ.get("LAMINA_DREAM_STORES", usual))


@contextmanager
def open_vault(root: Path, at: datetime = BEGINS, **options: Any) -> Iterator[tuple[Memory, FixedClock]]:
    """A vault nobody else looks at, and its clock."""
    clock = FixedClock(at)
    with lamina.open(root, clock=clock, watch=False, **options) as memory:
        yield memory, clock


def draw_statement(random: Random, n: int) -> dict[str, Any]:
    """One statement of any sort, as `remember` takes it."""
    name, thing = random.choice(NAMES), random.choice(THINGS)
    return {
        "content": f"{name} put the {thing} number {n} on shelf {random.randrange(90)}.",
        "kind": random.choice(AGEING),
        "subject": f"{name} {n}" if random.random() < 0.5 else name,
        "confidence": random.choice((0.2, 0.5, 0.8, 1.0)),
        "importance": random.choice((0.1, 0.2, 0.5, 0.75)),
        "layer": random.choice((None, None, "working", "episodic")),
        "pinned": random.random() < 0.15,
        "entities": [name, thing] if random.random() < 0.3 else [],
    }


def fill_vault(memory: Memory, clock: FixedClock, random: Random, length: int) -> None:
    """Some months of writing, using, linking and deciding, begun with much about one name."""
    about = {"subject": NAMES[0], "entities": [NAMES[0]], "kind": "fact"}
    begun = [draw_statement(random, n) | about for n in range(length // 2 + 2)]
    ids = [outcome.atom.id for outcome in memory.remember_many(begun, origin="agent").outcomes]
    for n in range(len(begun), length):
        clock.at += timedelta(days=random.choice((0, 1, 9, 40)), minutes=1)
        origin = random.choice(("human", "agent", "import"))
        match random.randrange(6):
            case 0 | 1:
                ids += [
                    outcome.atom.id for outcome in memory.remember(**draw_statement(random, n), origin=origin).outcomes
                ]
            case 2:
                memory.cite(random.sample(ids, min(len(ids), random.randint(1, 3))))
            case 3:
                one, other = random.sample(ids, 2)
                if one != other:
                    memory.relate(one, random.choice(("enriches", "depends_on", "contradicts")), other, 0.6)
            case 4:
                text = f"My favourite thing is a {random.choice(THINGS)}."
                memory.capture([{"speaker": random.choice(NAMES), "content": text}], session_id=f"s{n % 3}")
            case _:
                decide_randomly(memory, random)


def decide_randomly(memory: Memory, random: Random) -> None:
    """A person decides something about one of the memories."""
    atoms = [atom for atom in memory.list(limit=None) if not atom.is_segment]
    if not atoms:
        return
    one = random.choice(atoms)
    match random.randrange(4):
        case 0:
            memory.pin(one.id)
        case 1 if one.kind == "commitment":
            memory.resolve(one.id)
        case 2 if not one.is_episode:
            memory.revise(one.id, f"{one.content} Indeed.", reason="clearer")
        case _:
            memory.update_status(one.id, "archived", "out of the way")


def any_atom(random: Random, n: int, now: datetime) -> Atom:
    """An atom in any state at all, whether or not a store would let it come to that."""
    at = now - random.random() * 900 * DAY
    return Atom(
        id=AtomId(f"{n:026d}"),
        scope=Scope("org:local"),
        kind=random.choice([*KINDS, "of my own"]),
        content=f"tea {n}",
        observed_at=at,
        recorded_at=at,
        layer=random.choice(list(Layer)),
        origin=random.choice(list(Origin)),
        durability=random.choice(list(Durability)),
        status=random.choice([Status.ACTIVE, Status.ARCHIVED, *Status]),
        confidence=random.random(),
        importance=random.random() * random.choice((0.3, 1.0)),
        resolved=random.random() < 0.3,
        run_id=random.choice((None, None, "run")),
        revision=1,
        expires_at=random.choice((None, None, at + random.random() * 400 * DAY)),
        pinned=random.random() < 0.4,
    )


def any_signals(random: Random, now: datetime) -> AgeingSignals:
    """What may be known of such an atom."""
    signals = AgeingSignals(
        confirmations=random.choice((0, 0, 2)),
        quality=random.uniform(0.1, 2.0),
        is_disputed=random.random() < 0.1,
        reviewed_at=random.choice((None, now - random.random() * 300 * DAY)),
        archived_at=random.choice((None, now - random.random() * 300 * DAY)),
    )
    for _ in range(random.choice((0, 0, 1, 3, 8))):
        signals = signals.with_use(now - random.random() * 400 * DAY)
    return signals


def files(memory: Memory, without: Collection[str] = ()) -> dict[str, bytes]:
    """Every file a person sees, by name and bytes; but for those of the atoms named."""
    return {
        path.relative_to(memory.root).as_posix(): path.read_bytes()
        for path in sorted(memory.root.rglob("*.md"))
        if ".lamina" not in path.parts and not any(text[-6:] in path.name for text in without)
    }


def vault_snapshot(memory: Memory) -> tuple[dict[str, bytes], int, list[str]]:
    """The vault's bytes, the journal's position, and what the index holds."""
    return files(memory), memory.engine.store.journal.position(), memory.engine.store.dump()
