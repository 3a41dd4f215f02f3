"""Many processes on one vault, some of them killed: every write is there exactly once, and all agree on the order.

Ten writers and ten readers work at once. A killed process is replaced by one that repeats the operation of which it
does not know whether it was done, with the same idempotency key. In the end the history is checked: each operation must
have a place in the journal that is between its call and its return, and every read must have seen the state there.
"""

from __future__ import annotations

import heapq
import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from torture_suite import Batch, Suite, Tally, expect_no_failure
from vault_checks import Ack, ack_of, all_atoms, journal, missing_acks, open_vault, unexpected_files, wrong_files

from lamina.atom.atom import Atom
from lamina.capture.receipt import Receipt
from lamina.errors import Refused, StoreBusy
from lamina.memory import Memory
from lamina.store.base import AtomFilter, TransactionMode

WRITERS, READERS = 10, 10
SHARED = 4
CLAIMS = 2
LONGEST_PAUSE = 0.5
"""At most so many seconds are between two kills."""


def use_concurrently(batch: Batch) -> Tally:
    """Let writers and readers do `count` operations together, and check what each of them was told."""
    tally, rng = Tally(), batch.random()
    root, each = batch.folder / "vault", max(1, batch.count // (WRITERS + READERS))
    with open_vault(root) as memory:
        shared = [memory.remember(f"Shared statement {n}.").atom.id for n in range(SHARED)]
    users = [User(batch.folder, n, batch.seed, each, shared, is_writer=n < WRITERS) for n in range(WRITERS + READERS)]
    tally.count("killed processes", _run_and_kill(users, rng, tally))
    logs = [user.read_log() for user in users]
    operations = [operation for log in logs for operation in log]
    tally.runs = sum(operation.is_done for operation in operations)
    tally.count("writes", sum(operation.is_done and operation.is_write for operation in operations))
    tally.count("operations repeated after a kill", sum(operation.is_repeated for operation in operations))
    tally.count("operations refused because the vault was busy", sum(item.is_busy for item in operations))
    whole = [item for item in operations if item.is_done and not item.is_repeated]
    tally.time("longest operation", max((item.end - item.begin) / 1e9 for item in whole))
    tally.fail(*(error for operation in operations for error in operation.errors))
    with open_vault(root) as memory:
        tally.fail(*_find_wrong_state(memory, operations), *find_anomalies(memory, operations))
    return tally


SUITE = Suite("concurrent", "operations", 20 * 20_000, 600, use_concurrently, lanes=1)


def test_concurrent_operations_have_one_order_and_happen_once_though_processes_are_killed(pool: Executor) -> None:
    report = expect_no_failure(Suite("concurrent", "operations", 300, 300, use_concurrently), 300, pool)
    assert report["counts"]["killed processes"] > 0


@dataclass(slots=True)
class Operation:
    """One operation as its process logged it: its name, when it began and ended, and what it was told."""

    name: str
    begin: int
    end: int = 0
    is_write: bool = False
    is_repeated: bool = False
    acks: tuple[Ack, ...] = ()
    commit: str | None = None
    seen: tuple[tuple[str, int], ...] = ()
    errors: tuple[str, ...] = ()
    is_busy: bool = False

    @property
    def is_done(self) -> bool:
        return self.end > 0


@dataclass(frozen=True, slots=True)
class User:
    """A writer or a reader, in a process of its own. What it does is determined by its seed and its log."""

    folder: Path
    number: int
    seed: int
    count: int
    shared: Sequence[str]
    is_writer: bool

    @property
    def _log(self) -> Path:
        return self.folder / f"user-{self.number}.log"

    def start(self) -> int:
        """Fork the process; return its id."""
        child = os.fork()
        if child == 0:
            self._work()
        return child

    def read_log(self) -> list[Operation]:
        """Return the operations, the last of which may have no end."""
        found: dict[str, Operation] = {}
        lines = self._log.read_text().splitlines(keepends=True) if self._log.exists() else []
        for line in lines:
            if not line.endswith("\n"):
                continue
            fields = json.loads(line)
            operation = found.get(fields["name"])
            if operation is None:
                found[fields["name"]] = Operation(fields["name"], fields["begin"], is_write=self.is_writer)
            elif "end" not in fields:
                operation.is_repeated = True
            else:
                operation.end = fields["end"]
                operation.acks = tuple((str(a), int(b), str(c), str(d)) for a, b, c, d in fields["acks"])
                operation.commit = fields["commit"]
                operation.seen = tuple((str(a), int(b)) for a, b in fields["seen"])
                operation.errors, operation.is_busy = tuple(fields["errors"]), fields["busy"]
        return [*found.values()]

    def _work(self) -> NoReturn:
        status = 1
        try:
            done = sum(operation.is_done for operation in self.read_log())
            log = os.open(self._log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            with _open_patiently(self.folder / "vault") as memory:
                for step in range(done, self.count):
                    self._do(memory, f"{self.number}-{step}", log)
            status = 0
        except Exception as error:
            os.write(2, f"user {self.number}: {type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(status)

    def _do(self, memory: Memory, name: str, log: int) -> None:
        rng = random.Random(f"{self.seed}/{name}")
        begin = time.monotonic_ns()
        os.write(log, json.dumps({"name": name, "begin": begin}).encode() + b"\n")
        told: dict[str, Any] = {"acks": (), "commit": None, "seen": (), "errors": (), "busy": False}
        try:
            told |= (_write if self.is_writer else _read)(memory, rng, name, self.shared)
        except Refused:
            pass
        except StoreBusy:
            told["busy"] = True
        except Exception as error:
            told["errors"] = [f"{name}: {type(error).__name__}: {error}"]
        os.write(log, json.dumps({"name": name, "end": time.monotonic_ns()} | told).encode() + b"\n")


def _open_patiently(root: Path) -> Memory:
    """Open the vault; with so many processes at once, it may be busy for longer than one of them waits."""
    while True:
        try:
            return open_vault(root)
        except StoreBusy:
            continue


def _run_and_kill(users: list[User], rng: random.Random, tally: Tally) -> int:
    """Run all users at once, killing one after the other and replacing it; return how many were killed."""
    running, killed = {user.start(): user for user in users}, 0
    while running:
        time.sleep(rng.uniform(0, LONGEST_PAUSE))
        for process in list(running):
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                user = running.pop(process)
                if status:
                    tally.fail(f"user {user.number} ended with {status}")
        if running:
            process = rng.choice(sorted(running))
            os.kill(process, signal.SIGKILL)
            _, status = os.waitpid(process, 0)
            user = running.pop(process)
            if os.WIFSIGNALED(status):
                killed += 1
                running[user.start()] = user
    return killed


def _write(memory: Memory, rng: random.Random, name: str, shared: Sequence[str]) -> dict[str, Any]:
    dice = rng.random()
    if dice < 0.45:
        return _told(memory.remember(f"Fact {name} is told.", key=name))
    if dice < 0.65:
        subject = f"claim {rng.randrange(CLAIMS)}"
        words = f"The value is {name}."
        return _told(memory.remember(words, kind="preference", subject=subject, attribute="value", key=name))
    if dice < 0.75:
        return _told(memory.capture([{"speaker": "A", "content": f"Turn {name}."}], session_id="all", key=name))
    atom, words = rng.choice(shared), f"Revised {name}."
    versions = memory.engine.store.journal.versions(memory.get(atom).id)
    before = [version.atom for version in versions if version.atom.content == words]
    # A revision has no key: one that repeats it looks first whether it was made.
    revised = before[0] if before else memory.revise(atom, words, reason="torture")
    return {"acks": [ack_of(revised)]}


def _told(receipt: Receipt) -> dict[str, Any]:
    return {"acks": [ack_of(outcome.atom) for outcome in receipt.outcomes], "commit": receipt.commit}


def _read(memory: Memory, rng: random.Random, name: str, shared: Sequence[str]) -> dict[str, Any]:
    match rng.randrange(4):
        case 0:
            return _saw([memory.get(rng.choice(shared))])
        case 1:
            values = memory.list(subject=f"claim {rng.randrange(CLAIMS)}", limit=None)
            errors = [f"{name}: {len(values)} active values of one claim"] if len(values) > 1 else []
            return _saw(values) | {"errors": errors}
        case 2:
            store = memory.engine.store
            with store.transaction(TransactionMode.SNAPSHOT) as snapshot:
                return _saw(snapshot.atoms.read(AtomFilter(scopes=memory.scopes)))
        case _:
            return _saw(
                [hit.atom for hit in memory.recall(f"which fact is {rng.randrange(10)}-{rng.randrange(50)}").hits]
            )


def _saw(atoms: list[Atom]) -> dict[str, Any]:
    return {"seen": [(atom.id, atom.revision) for atom in atoms]}


def _find_wrong_state(memory: Memory, operations: list[Operation]) -> Iterator[str]:
    """Yield what is wrong with the vault in the end: something lost, doubled, torn or with gaps."""
    yield from missing_acks(memory, (ack for operation in operations for ack in operation.acks))
    yield from wrong_files(memory)
    yield from unexpected_files(memory)
    yield from memory.upkeep.doctor(deep=True).faults
    entries = journal(memory)
    if [seq for seq, _, _ in entries] != list(range(1, len(entries) + 1)):
        yield "the journal has gaps or duplicates"
    contents = Counter(atom.content for atom in all_atoms(memory) if atom.content.startswith(("Fact ", "The value ")))
    yield from (f"{times} times: {content}" for content, times in contents.items() if times > 1)
    for claim in range(CLAIMS):
        values = memory.list(subject=f"claim {claim}", limit=None)
        yield from [f"{len(values)} active values of claim {claim}"] if len(values) > 1 else []


@dataclass(frozen=True, slots=True)
class Place:
    """An operation and the first and last positions of the journal at which it may have happened."""

    operation: Operation
    first: int
    last: int


def find_anomalies(memory: Memory, operations: list[Operation]) -> Iterator[str]:
    """Yield where no order of the operations explains what they were told.

    The journal is the order of the writes. What a read saw of one atom was current at a position of its time.
    """
    rows = memory.engine.store.history.db.rows("SELECT atom_id, revision, seq FROM versions")
    seq_of = {(str(atom_id), int(revision)): int(seq) for atom_id, revision, seq in rows}
    numbers = {commit: seq for seq, commit, _ in journal(memory)}
    end = len(numbers)
    places = []
    for operation in operations:
        if operation.is_done and operation.is_write:
            places += _place_of_write(operation, seq_of, numbers)
        elif operation.is_done:
            places += [_place_of_read(operation, seen, seq_of, end) for seen in operation.seen]
    counts = Counter(place.first for place in places if place.operation.is_write)
    yield from (f"commit {seq} belongs to {times} operations" for seq, times in counts.items() if times > 1)
    yield from _out_of_order(places)


def _place_of_write(operation: Operation, seq_of: dict[tuple[str, int], int], numbers: dict[str, int]) -> list[Place]:
    """Return the position of a write; none if it changed nothing."""
    if operation.commit is not None:
        return [Place(operation, numbers[operation.commit], numbers[operation.commit])]
    if len(operation.acks) == 1 and (seq := seq_of.get(operation.acks[0][:2])):
        return [Place(operation, seq, seq)]
    return []


def _place_of_read(operation: Operation, seen: tuple[str, int], seq_of: dict[tuple[str, int], int], end: int) -> Place:
    """Return the positions at which what was seen of one atom was current."""
    atom, revision = seen
    return Place(operation, seq_of[seen], seq_of.get((atom, revision + 1), end + 1) - 1)


def _out_of_order(places: list[Place]) -> Iterator[str]:
    """Yield each operation that began after another had ended, but must have happened before it."""
    ended: list[tuple[int, int, str]] = []
    latest, name = 0, ""
    for place in sorted(places, key=lambda place: place.operation.begin):
        operation = place.operation
        while ended and ended[0][0] < operation.begin:
            _, first, earlier = heapq.heappop(ended)
            if first > latest:
                latest, name = first, earlier
        is_late = latest >= place.first if operation.is_write else latest > place.last
        if is_late:
            yield f"{operation.name} is at {place.first} to {place.last}, but {name} had ended before with {latest}"
        heapq.heappush(ended, (operation.end, place.first, operation.name))


def test_an_order_that_contradicts_the_clock_is_noticed() -> None:
    def write(name: str, begin: int, end: int, position: int) -> Place:
        return Place(Operation(name, begin, end, is_write=True), position, position)

    def read(name: str, begin: int, end: int, first: int, last: int) -> Place:
        return Place(Operation(name, begin, end), first, last)

    right = [write("a", 1, 4, 2), write("b", 2, 3, 1), read("c", 5, 6, 2, 9)]
    assert list(_out_of_order(right)) == []
    assert list(_out_of_order([write("a", 1, 2, 2), write("b", 3, 4, 1)]))
    assert list(_out_of_order([write("a", 1, 2, 5), read("b", 3, 4, 1, 4)]))
    assert list(_out_of_order([read("a", 1, 2, 5, 6), write("b", 3, 4, 5)]))


def kill_holders(batch: Batch) -> Tally:
    """Kill a process while it holds the vault's lock or a write transaction; then write."""
    tally, root = Tally(), batch.folder / "vault"
    with open_vault(root) as memory:
        memory.remember("Before everything.")
    for number in range(batch.count):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            _hold(root, number, writer)
        os.close(writer)
        if os.read(reader, 4) != b"held":
            tally.fail(f"kill {number}: the holder failed")
        os.kill(child, signal.SIGKILL)
        began = time.monotonic()
        os.waitpid(child, 0)
        os.close(reader)
        with open_vault(root) as memory:
            memory.remember(f"After kill {number}.")
            tally.time("longest block", time.monotonic() - began)
            tally.fail(*unexpected_files(memory), *wrong_files(memory))
            if len(memory.list(limit=None)) != number + 2:
                tally.fail(f"kill {number}: atoms are missing or half-written ones are there")
        tally.runs += 1
    return tally


HOLDERS = Suite("holders", "kills of a lock's holder", 2_000, 50, kill_holders)


def test_a_killed_holder_of_a_lock_or_a_transaction_blocks_no_one(pool: Executor) -> None:
    expect_no_failure(HOLDERS, 10, pool)


def _hold(root: Path, number: int, pipe: int) -> NoReturn:
    try:
        with open_vault(root) as memory:
            if number % 2:
                with memory.engine.disk.lock("vault", 5):
                    os.write(pipe, b"held")
                    time.sleep(600)
            else:
                database = memory.engine.store.history.db
                with database.write_transaction(durable=True):
                    database.run("DELETE FROM commits")
                    os.write(pipe, b"held")
                    time.sleep(600)
    finally:
        os._exit(1)
