"""The nth file operation of every mutating verb fails: the state is before or after, the error is ours, all works."""

from __future__ import annotations

import itertools
import random
import re
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from faulty_disk import KINDS, READING, Fault, FaultySyscalls, FaultyVFS
from torture_suite import SCRATCH, Batch, Suite, Tally, expect_no_failure
from vault_checks import HUMAN_VERBS, all_atoms, journal, open_vault, vault_files, wrong_files

from lamina.atom.atom import Atom
from lamina.errors import LaminaError, StoreError
from lamina.memory import Memory
from lamina.store.sqlite.database import LOG_PAGES
from lamina.vault.disk import Disk

PAGE_BYTES = 4096
READ_SHARE = 16
DEEP_SHARE = 4
AT = datetime(2026, 3, 1, 12, tzinfo=UTC)

_ID = re.compile(r"[0-9a-hjkmnp-tv-z]{26}")
State = tuple[int, list[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True)
class Verb:
    """Something that changes a vault. What a person did just before must count in the end, whatever failed."""

    run: Callable[[Memory], object]
    person: Callable[[Path], object] | None = None


def _turn(words: str) -> dict[str, Any]:
    return {"speaker": "Ann", "content": words, "at": AT}


def _named(memory: Memory, start: str) -> str:
    return next(atom.id for atom in all_atoms(memory) if atom.content.startswith(start))


def _file(root: Path, text: str) -> Path:
    return next(path for path in sorted((root / "atoms").rglob("*.md")) if text in path.read_text())


def _edit(root: Path) -> None:
    path = _file(root, "grows tomatoes")
    path.write_text(path.read_text().replace("grows tomatoes", "grows potatoes"))


def _adopt(root: Path) -> None:
    (root / "atoms/dropped.md").write_text("A note that somebody dropped in.\n")


def _both(root: Path) -> None:
    _edit(root)
    path = _file(root, "tea is preferred")
    path.write_text(path.read_text().replace("tea is", "mint tea is"))


VERBS: dict[str, Verb] = {
    "remember": Verb(lambda m: m.remember("The bridge is closed on Sunday.", tags=["bridge"])),
    "supersede": Verb(
        lambda m: m.remember("Now coffee is preferred.", kind="preference", subject="drink", attribute="favourite")
    ),
    "remember_many": Verb(lambda m: m.remember_many([{"content": f"Line {n} of many."} for n in range(4)])),
    "capture": Verb(lambda m: m.capture([_turn("Remember that I row.")], session_id="new")),
    "capture_more": Verb(lambda m: m.capture([_turn("And then he left.")], session_id="talk")),
    "revise": Verb(lambda m: m.revise(_named(m, "Ann grows"), "Ann grows leeks.", reason="they grew")),
    "archive": Verb(lambda m: m.update_status(_named(m, "Ann grows"), "archived", "winter")),
    "forget": Verb(lambda m: m.forget(_named(m, "Ann grows"), "wrong")),
    "pin": Verb(lambda m: m.pin(_named(m, "Ann grows"))),
    "relate": Verb(lambda m: m.relate(_named(m, "Ann grows"), "supports", _named(m, "Bob mends"))),
    "undo": Verb(lambda m: m.undo()),
    "sync_edit": Verb(lambda m: m.upkeep.sync(), _edit),
    "sync_adopt": Verb(lambda m: m.upkeep.sync(), _adopt),
    "sync_delete": Verb(lambda m: m.upkeep.sync(), lambda root: _file(root, "grows tomatoes").unlink()),
    "sync_move": Verb(
        lambda m: m.upkeep.sync(), lambda root: _file(root, "grows tomatoes").rename(root / "atoms/moved.md")
    ),
    "edit_under_revise": Verb(lambda m: m.pin(_named(m, "Ann grows")), _both),
}


LAYERS = ("vault", "sqlite")
CASES = [(layer, verb) for layer in LAYERS for verb in VERBS]


def inject_faults(batch: Batch) -> Tally:
    """Fail every writing operation of one verb on one layer, once and from then on; each batch is another verb.

    After all verbs they come again with the next kind of error, which the seed of the batch chooses.
    """
    tally = Tally()
    layer, verb = CASES[batch.number % len(CASES)]
    prepared = batch.folder / "prepared"
    _prepare(prepared)
    _Loop(layer, verb, prepared, batch.folder, batch.random(), tally).run(batch.count)
    tally.count(f"in the {layer}", tally.runs)
    return tally


SUITE = Suite("faults", "failed operations", 20_000, 120, inject_faults)


def test_after_any_failed_file_operation_the_state_is_before_or_after(pool: Executor) -> None:
    suite = Suite("faults", "failed operations", 160, 5, inject_faults)
    report = expect_no_failure(suite, 160, pool)
    assert report["counts"].keys() >= {f"in the {layer}" for layer in LAYERS}


def _prepare(root: Path) -> None:
    with open_vault(root) as memory:
        memory.remember("Ann grows tomatoes.", subject="ann")
        memory.remember("Bob mends nets.", subject="bob")
        memory.remember("Green tea is preferred.", kind="preference", subject="drink", attribute="favourite")
        memory.capture([_turn("It began like this.")], session_id="talk")
        memory.revise(_named(memory, "Bob mends"), "Bob mends nets and sails.", reason="more")


@contextmanager
def _open_vault(root: Path, layer: str, fault: Fault, *, armed_at: int = 0) -> Iterator[Memory]:
    root.mkdir(exist_ok=True)
    disk = Disk(root, FaultySyscalls(fault))
    vfs = FaultyVFS(f"faulty{id(fault)}", fault)
    if armed_at:
        fault.arm(armed_at, "EIO", persistent=True)
    try:
        with open_vault(root, **({"disk": disk} if layer == "vault" else {"vfs": vfs.vfs_name})) as memory:
            yield memory
    finally:
        vfs.unregister()
        disk.close()


def state(memory: Memory) -> State:
    """Everything that counts, in words that do not hang on ids: equal for two runs that did the same."""
    return _state_of(len(journal(memory)), all_atoms(memory))


def state_at(memory: Memory, position: int) -> State:
    """The state after an earlier commit."""
    versions = (memory.engine.store.journal.versions(atom.id) for atom in all_atoms(memory))
    earlier = ([version.atom for version in listed if version.seq <= position] for listed in versions)
    return _state_of(position, [listed[-1] for listed in earlier if listed])


def _state_of(position: int, listed: list[Atom]) -> State:
    stems = {atom.id: atom.content[:30] for atom in listed}
    atoms = sorted(
        (
            _ID.sub("ID", atom.content),
            atom.status.value,
            atom.revision,
            atom.pinned,
            atom.subject,
            atom.kind,
            tuple(sorted(stems.get(link.target, "?") for link in atom.relations)),
            tuple(sorted(stems.get(target, "?") for target in (*atom.supersedes, *atom.superseded_by))),
        )
        for atom in listed
    )
    return position, atoms


class _Loop:
    """One verb on one layer, tried with a fault at every place."""

    def __init__(self, layer: str, verb: str, prepared: Path, scratch: Path, rng: random.Random, tally: Tally) -> None:
        self.layer, self.name, self.verb, self.prepared = layer, verb, VERBS[verb], prepared
        self.root, self.rng, self.tally = scratch / "vault", rng, tally

    def run(self, most: int) -> None:
        """Try at most so many faults, in a random order; all of them if there are not more."""
        before, after, names = self._untouched()
        places = [
            (nth, persistent)
            for nth, name in enumerate(names, 1)
            for persistent in (False, True)
            if name not in READING or self.rng.randrange(READ_SHARE) == 0
        ]
        self.rng.shuffle(places)
        for nth, persistent in places[:most]:
            self._one(nth, self.rng.choice(KINDS), persistent, before, after)

    def _untouched(self) -> tuple[list[State], State, list[str]]:
        """The states before the last commit of the verb, that after the verb, and the operations that it needs.

        The first is that with a person's doing alone; a verb of several commits may stop after each of them.
        """
        fault = Fault()
        self._copy()
        with _open_vault(self.root, self.layer, fault) as memory:
            if self.verb.person:
                self.verb.person(self.root)
            memory.upkeep.sync()
            before, position = state(memory), memory.engine.store.journal.position()
        self._copy()
        with _open_vault(self.root, self.layer, fault) as memory:
            if self.verb.person:
                self.verb.person(self.root)
            fault.arm(0, "EIO", persistent=False)
            self.verb.run(memory)
            fault.disarm()
            memory.upkeep.sync()
            between = range(position + 1, memory.engine.store.journal.position())
            return [before, *(state_at(memory, seq) for seq in between)], state(memory), fault.names

    def _copy(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.prepared, self.root, symlinks=True)

    def _one(self, nth: int, kind: str, persistent: bool, before: list[State], after: State) -> None:
        fault = Fault()
        self._copy()
        label = f"{self.layer} {self.name} n={nth} {kind} {'persistent' if persistent else 'transient'}"
        try:
            with _open_vault(self.root, self.layer, fault) as memory:
                if self.verb.person:
                    self.verb.person(self.root)
                fault.arm(nth, kind, persistent=persistent)
                error = _outcome(lambda: self.verb.run(memory))
                fault.disarm()
                label += f" at {fault.hit or 'nothing'} -> {type(error).__name__}"
                texts = self._judge(memory, error, before, after)
            if not texts:
                texts = self._run_again(before, after)
        except Exception as failure:
            where = traceback.extract_tb(failure.__traceback__)[-1]
            texts = [f"afterwards {type(failure).__name__}: {failure} ({Path(where.filename).name}:{where.lineno})"]
        self.tally.fail(*(f"{label}: {text}" for text in texts))
        self.tally.runs += 1
        self.tally.count(f"{kind} injected", bool(fault.hit))

    def _judge(self, memory: Memory, error: BaseException | None, before: list[State], after: State) -> list[str]:
        if error is not None and not isinstance(error, LaminaError):
            return [f"raised {error!r} at {traceback.format_tb(error.__traceback__)[-1].strip()[:200]}"]
        memory.upkeep.sync()
        now = state(memory)
        if error is None and now != after:
            return [f"the change is not there: {_differing(now, after)}"]
        if now == after:
            return wrong_files(memory)
        if now not in before:
            return [f"neither before nor after: {_differing(now, before[0])} / {_differing(now, after)}"]
        return wrong_files(memory)

    def _run_again(self, before: list[State], after: State) -> list[str]:
        """A fresh look, and the next write."""
        with open_vault(self.root) as memory:
            now = state(memory)
            result = [] if now in (*before, after) else [f"reopened: {_differing(now, after)}"]
            probe = memory.remember("A probe afterwards.").atom
            if memory.get(probe.id).content != "A probe afterwards.":
                result.append("the next write is not there")
            if self.rng.randrange(DEEP_SHARE) == 0:
                result += memory.upkeep.doctor(deep=True).faults
            strange = [problem for problem in memory.engine.store.admin.problems.list() if problem.kind != "overruled"]
            return result + wrong_files(memory) + [f"problem {atom.kind}: {atom.message}" for atom in strange]


def _outcome(work: Callable[[], object]) -> BaseException | None:
    try:
        work()
    except Exception as error:
        return error
    return None


def _differing(one: State, other: State) -> str:
    return f"{one[0]} and {other[0]} commits; {sorted(set(one[1]) ^ set(other[1]))[:4]}"


# What a single fault cannot show


def test_a_failed_sync_is_never_acknowledged_and_the_log_is_repaired_before_the_next_write(tmp_path: Path) -> None:
    fault = Fault()
    with _open_vault(tmp_path / "vault", "sqlite", fault) as memory:
        memory.remember("Before the disk failed.")
        fault.arm(1, "EIO", persistent=True, only=frozenset({"xSync"}))
        with pytest.raises(StoreError):
            memory.remember("Never acknowledged.")
        assert fault.names.count("xSync") == 1
        with pytest.raises(StoreError):
            memory.remember("Refused, for the checkpoint fails too.")
        assert fault.names.count("xSync") == 2, "the write itself was not tried"
        fault.disarm()
        fault.arm(0, "EIO", persistent=False)
        memory.remember("After the disk was mended.")
        fault.disarm()
        emptied = fault.names.index("xTruncate")
        assert next(name for name in fault.names if name not in READING) == "xSync"
        assert "xSync" in fault.names[:emptied], "the log is copied and synced"
        assert {"xWrite", "xSync"} <= set(fault.names[emptied:]), "and only then written to"
    with open_vault(tmp_path / "vault") as memory:
        assert {atom.content for atom in memory.list()} == {"Before the disk failed.", "After the disk was mended."}
        assert memory.upkeep.doctor(deep=True).healthy


def test_a_log_that_cannot_be_synced_during_a_checkpoint_is_not_trusted_either(tmp_path: Path) -> None:
    fault, log = Fault(), tmp_path / "vault" / ".lamina" / "history.db-wal"
    with _open_vault(tmp_path / "vault", "sqlite", fault) as memory:
        while log.stat().st_size < (LOG_PAGES - 40) * PAGE_BYTES:
            memory.remember(f"Fills the log, {log.stat().st_size}. " * 100)
        count = len(memory.list(limit=None))
        fault.arm(2, "EIO", persistent=True, only=frozenset({"xSync"}))
        memory.remember("Acknowledged: its own sync went well, the checkpoint after it did not. " * 900)
        with pytest.raises(StoreError):
            memory.remember("Refused until the log is safe.")
        fault.disarm()
        memory.remember("After the disk was mended.")
        assert len(memory.list(limit=None)) == count + 2


def test_files_catch_up_after_several_failed_writes() -> None:
    for order in itertools.permutations(["archive", "kind", "revise", "pin", "active"], 3):
        with tempfile.TemporaryDirectory(dir=SCRATCH) as scratch:
            _assert_files_catch_up(order, Path(scratch))


def _assert_files_catch_up(order: tuple[str, ...], folder: Path) -> None:
    fault = Fault()
    with _open_vault(folder / "vault", "vault", fault) as memory:
        atom = memory.remember("Ann grows tomatoes.").atom
        fault.arm(1, "EACCES", persistent=True, only=frozenset({"open_new", "rename_new", "exchange"}))
        for text in order:
            match text:
                case "archive":
                    memory.update_status(atom.id, "archived", "winter")
                case "active":
                    memory.update_status(atom.id, "active", "spring")
                case "kind":
                    memory.revise(atom.id, kind="habit", reason="it is one")
                case "revise":
                    memory.revise(atom.id, "Ann grows leeks.", reason="they grew")
                case _:
                    memory.pin(atom.id)
        fault.disarm()
        memory.upkeep.sync()
        assert wrong_files(memory) == [], order
        assert memory.upkeep.doctor(deep=True).healthy, order
        assert len(vault_files(memory.root)) == 1, order
        assert not [verb for _, _, verb in journal(memory) if verb in HUMAN_VERBS], order


def fail_openings(batch: Batch) -> Tally:
    """Open a vault with one operation failing from then on: each in turn, on both layers."""
    tally, rng = Tally(), batch.random()
    _prepare(batch.folder / "vault")
    for layer in LAYERS:
        nth, fault = rng.randint(1, 3), Fault()
        while fault.hit or nth <= 3:
            error = _opening_error(batch.folder / "vault", layer, fault, nth)
            if error is not None and not isinstance(error, LaminaError):
                tally.fail(f"{layer} {nth} {fault.hit}: {error!r}")
            tally.runs += bool(fault.hit)
            nth += 1
    return tally


OPENINGS = Suite("openings", "failed openings", 2_000, 50, fail_openings)


def test_opening_with_a_failing_disk_raises_our_own_error(pool: Executor) -> None:
    expect_no_failure(OPENINGS, 20, pool)


def _opening_error(root: Path, layer: str, fault: Fault, nth: int) -> BaseException | None:
    try:
        with _open_vault(root, layer, fault, armed_at=nth):
            fault.disarm()
    except Exception as error:
        return error
    finally:
        fault.disarm()
    return None
