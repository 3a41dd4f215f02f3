"""Whatever stands: a person's word undone leaves the store as it was, statuses follow the table, chains never loop."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_snapshot import store_snapshot

import lamina
from lamina import Atom, FixedClock, Memory, Receipt, Refused, Status
from lamina.atom.status import ENDED, TRANSITIONS

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
TOPICS = ("garden", "kitchen", "workshop")
WORDS = ("kettle", "ladder", "marble", "needle", "oyster", "pencil", "ribbon", "saddle", "trowel", "walnut")


def fill(memory: Memory, clock: FixedClock, random: Random, length: int) -> None:
    """A store with a little of everything that is decided about."""
    for n in range(length):
        clock.at += timedelta(minutes=random.choice((0, 1, 700)))
        word, session = random.choice(WORDS), random.choice(("good", "bad"))
        origin = random.choice(("human", "human", "agent", "import"))
        match random.randrange(6):
            case 0:
                memory.remember(
                    f"Ann lives in {word}.",
                    subject="Ann",
                    attribute="home",
                    value=word,
                    origin=origin,
                    session_id=session,
                )
            case 1:
                memory.remember(f"{n} {word}", tags=[random.choice(TOPICS)], origin=origin, session_id=session)
            case 2:
                fields = {"workflow": random.choice(("tea", "deploy"))}
                memory.remember(f"{word} {n}", kind="procedure", metadata=fields, origin=origin, session_id=session)
            case 3:
                fields = {"profile_key": "theme", "value": word, "reason": "r"}
                memory.propose(f"theme: {word}", metadata=fields, session_id=session)
            case 4:
                memory.capture([{"speaker": "Ann", "content": f"My favourite thing is a {word}."}], session_id=session)
            case _:
                atoms = [atom for atom in memory.list(limit=None) if not atom.is_segment]
                if len(atoms) > 1:
                    one, other = random.sample(atoms, 2)
                    memory.relate(one.id, "contradicts", other.id, 0.5)


def words(memory: Memory, random: Random) -> list[Callable[[], Receipt]]:
    """Every word a person could say now."""
    result: list[Callable[[], Receipt]] = [
        lambda: memory.quarantine(session="bad", yes=True),
        lambda: memory.quarantine(origin="agent", yes=True),
        lambda: memory.review.compact(create_proposals=True).receipt,
        lambda: memory.review.dedup(create_proposals=True).receipt,
    ]
    proposals = memory.review.held()
    if proposals:
        one = random.choice(proposals)
        result += [
            lambda: memory.review.confirm(one.id),
            lambda: memory.review.reject(one.id, "no"),
            lambda: memory.review.edit(one.id, f"{one.content} Indeed."),
        ]
    pairs = memory.review.pairs()
    if pairs:
        pair = random.choice(pairs)
        a, b = pair.a.id, pair.b.id
        result += [
            lambda: memory.review.keep_a(a, b),
            lambda: memory.review.keep_b(a, b),
            lambda: memory.review.both_valid(a, b),
            lambda: memory.review.merge(a, b, "Both of it."),
            lambda: memory.review.need_more(a, b),
        ]
    live = [atom for atom in memory.list(status=None, limit=None) if atom.status not in ENDED]
    if live:
        some = random.choice(live)
        result.append(lambda: memory.rollback(some.id))
    return result


def check(memory: Memory) -> None:
    atoms = {atom.id: atom for atom in memory.list(status=None, limit=None)}
    for atom in atoms.values():
        assert not _leads_back(atom, atoms)
        for target in atom.superseded_by:
            assert atom.id in atoms[target].supersedes or atoms[target].status in ENDED
    for entry in memory.journal():
        for change in entry.changes:
            if entry.verb in ("keep", "both_valid", "merge", "need_more", "reject") and change.old_status is not None:
                assert change.new_status in (change.old_status, *TRANSITIONS[change.old_status])
            if entry.verb == "quarantine" and change.new_status is Status.CONSTRAINED:
                assert change.old_status is not Status.TOMBSTONED


def _leads_back(atom: Atom, atoms: dict[lamina.AtomId, Atom]) -> bool:
    ahead, result = [*atom.superseded_by], set[str]()
    while ahead:
        one = ahead.pop()
        if one == atom.id:
            return True
        if one in atoms and one not in result:
            result.add(one)
            ahead += atoms[one].superseded_by
    return False


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**6), length=st.integers(4, 25))
def test_undoing_any_decision_restores_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, seed: int, length: int
) -> None:
    random, clock = Random(seed), FixedClock(NOON)
    root: Path = tmp_path_factory.mktemp("review") / "vault"
    with lamina.open(root, clock=clock, watch=False) as memory:
        fill(memory, clock, random, length)
        for _ in range(6):
            clock.at += timedelta(minutes=5)
            say = random.choice(words(memory, random))
            atom_ids = {atom.id for atom in memory.list(status=None, limit=None)}
            before = store_snapshot(memory)
            try:
                receipt = say()
            except (Refused, lamina.NotFound):
                assert store_snapshot(memory) == before
                continue
            check(memory)
            if receipt.commit is None:
                assert store_snapshot(memory) == before
                continue
            memory.undo(receipt.commit)
            born = {atom.id for atom in memory.list(status=None, limit=None)} - atom_ids
            assert {memory.get(atom_id).status for atom_id in born} <= {Status.TOMBSTONED}
            assert store_snapshot(memory, without=born) == before
            random.choice(words(memory, random))  # and on from there, with the word said for good
            if random.random() < 0.7:
                try:
                    say()
                except (Refused, lamina.NotFound):
                    pass
        check(memory)
        assert memory.upkeep.doctor(deep=True).healthy


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**6))
def test_a_review_pass_run_twice_changes_no_byte(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    random, clock = Random(seed), FixedClock(NOON)
    with lamina.open(tmp_path_factory.mktemp("review") / "vault", clock=clock, watch=False) as memory:
        fill(memory, clock, random, 25)
        for _ in range(2):
            memory.review.compact(create_proposals=True)
            memory.review.dedup(create_proposals=True)
            before, position = store_snapshot(memory), len(memory.journal())
            clock.at += timedelta(days=1)
            memory.review.compact(create_proposals=True)
            memory.review.dedup(create_proposals=True)
            assert (store_snapshot(memory), len(memory.journal())) == (before, position)
            for atom in memory.review.held():
                if random.random() < 0.5:
                    try:
                        memory.review.confirm(atom.id)
                    except Refused:
                        memory.review.reject(atom.id, "no")
