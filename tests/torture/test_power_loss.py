"""The machine goes down at any moment: what was acknowledged is there, and nothing of ours is taken for a person's.

A real workload is recorded once for each batch. Of every image of what a crash may leave, the journal is recovered by
SQLite and must be, byte for byte, the journal after one of its transactions, none synced before is missing; a seeded
sample is opened by lamina as a whole and compared with everything acknowledged.
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import apsw
from crash_images import CrashState, Tree, database_variants
from disk_trace import Op, RecordingSyscalls, RecordingVFS, Trace, read_tree, save_durably
from mixed_writes import write_something
from torture_suite import Batch, Suite, Tally, expect_no_failure
from vault_checks import (
    HUMAN_VERBS,
    Ack,
    ack_of,
    all_atoms,
    journal,
    missing_acks,
    open_vault,
    unexpected_files,
    wrong_files,
)

from lamina.errors import Refused
from lamina.memory import Memory
from lamina.store.sqlite import outbox
from lamina.store.sqlite.history import HistoryFile
from lamina.vault.disk import Disk

HISTORY, LOG = ".lamina/history.db", ".lamina/history.db-wal"
IMAGES_OF_A_MOMENT = 16
OPEN_SHARE = 25
SETTLED_FOLDERS = ("atoms", "sessions", "inbox")
_CONFLICT = re.compile(r"\.lamina/conflicts/\S+\.md")
DEEP_SHARE = 5


def check_crash_images(batch: Batch) -> Tally:
    """Record a workload, and check images of what a crash may leave of it."""
    rng = batch.random()
    with Workload(batch.folder / "vault", rng) as workload:
        workload.record()
        return Images(workload, batch, rng).check()


SUITE = Suite("images", "crash images", 1_000_000, 4_000, check_crash_images)


def test_a_journal_that_is_acknowledged_before_it_is_synced_is_noticed(tmp_path: Path) -> None:
    rng = random.Random(1)
    with Workload(tmp_path / "vault", rng) as workload:
        workload.record()
        ops = workload.trace.ops
        workload.trace.ops = [Op("none", op.target) if op.kind == "sync" and op.target == LOG else op for op in ops]
        tally = Images(workload, Batch(0, 50, 1, tmp_path), rng).check()
    assert any("not synced when it was acknowledged" in failure for failure in tally.failures)


def test_every_crash_image_has_the_acknowledged_writes(pool: Executor) -> None:
    report = expect_no_failure(Suite("images", "crash images", 3_000, 1_000, check_crash_images), 3_000, pool)
    assert report["counts"]["distinct images"] > 1_000
    assert report["counts"]["images opened by lamina"] > 20


def test_a_file_that_a_crash_emptied_while_a_save_waited_beside_it_is_written_again(tmp_path: Path) -> None:
    with Workload(tmp_path / "vault", random.Random(1)) as workload:
        memory = workload.open()
        first = memory.remember("Tea is preferred.", kind="preference", subject="drink", attribute="favourite").atom
        path = str(memory.path_of(first.id))
        text = (memory.root / path).read_text().replace("Tea is", "Mint tea is")
        save_durably(memory.root, path, text.encode(), workload.trace)
        memory.remember("Coffee is preferred.", kind="preference", subject="drink", attribute="favourite")
        ops, state = workload.trace.ops, CrashState(workload.base)
        replaced = next(n for n, op in enumerate(ops) if op.kind == "exchange" and op.other == path)
        for op in ops[: replaced + 2]:
            state.apply(op)
    write_tree(tmp_path / "image", state.whole() | {path: b""})
    assert judge_image(tmp_path / "image", [ack_of(first)], [(first.id, "Mint tea is")], deep=True) == []


def test_a_folder_that_a_crash_took_with_its_new_files_is_made_again(tmp_path: Path) -> None:
    with open_vault(tmp_path / "vault") as memory:
        acks = [ack_of(memory.remember(f"Statement {n} of the first day.").atom) for n in range(2)]
    image = {name: data for name, data in read_tree(tmp_path / "vault").items() if not name.startswith("atoms/")}
    write_tree(tmp_path / "image", image)
    assert judge_image(tmp_path / "image", acks, [], deep=True) == []


class Workload:
    """Writes of all kinds, saves of a person and reopenings, with what each acknowledged."""

    def __init__(self, root: Path, rng: random.Random) -> None:
        self.root, self.rng, self.trace = root, rng, Trace()
        self.base: Tree = {}
        self.acks: list[list[Ack]] = []
        self.saves: list[tuple[int, str, str]] = []
        """Of each save of a person: the number of operations before it, the atom, and words that were in no file."""
        self._settled: list[Ack] = []
        self._known: list[str] = []
        self._running: list[Memory] = []
        self._vfs = RecordingVFS(f"recording{id(self)}", self.trace)
        self._syscalls = RecordingSyscalls(self.trace)

    def __enter__(self) -> Workload:
        return self

    def __exit__(self, *error: object) -> None:
        for memory in self._running:
            memory.close()
        self._vfs.unregister()

    def record(self) -> None:
        with open_vault(self.root) as memory:
            for step in range(self.rng.randint(0, 4)):
                self._settled += self._step(memory, f"settled-{step}")
            _settle(memory)
        self.base = read_tree(self.root)
        for session in range(self.rng.choice((1, 1, 2))):
            self._record_session(session, closes=self.rng.random() < 0.4)

    def open(self) -> Memory:
        """Open the vault with recording file layers."""
        self.root.mkdir(exist_ok=True)
        memory = open_vault(self.root, disk=Disk(self.root, self._syscalls), vfs=self._vfs.vfs_name)
        self._running.append(memory)
        return memory

    def _record_session(self, session: int, *, closes: bool) -> None:
        memory = self.open()
        for step in range(self.rng.randint(2, 7)):
            if self._known and self.rng.random() < 0.15:
                self._save_by_person(memory, f"{session}-{step}")
            acks = self._step(memory, f"{session}-{step}")
            self.acks.append(acks)
            self.trace.mark()
        if closes:
            memory.close()

    def _step(self, memory: Memory, name: str) -> list[Ack]:
        try:
            return [ack_of(atom) for atom in write_something(memory, self.rng, name, self._known).atoms]
        except Refused:
            return []

    def _save_by_person(self, memory: Memory, name: str) -> None:
        atom = self.rng.choice(self._known)
        path = memory.path_of(atom)
        if path is None or not (self.root / path).exists():
            return
        words = f"(saved in {name})"
        text = (self.root / path).read_text().rstrip("\n") + f" {words}\n"
        self.saves.append((len(self.trace.ops), atom, words))
        save_durably(self.root, path, text.encode(), self.trace)

    def acknowledged(self, moment: int) -> list[Ack]:
        """Return what was acknowledged before an operation."""
        done = sum(mark <= moment for mark in self.trace.marks)
        return [*self._settled, *(ack for acks in self.acks[:done] for ack in acks)]


def _settle(memory: Memory) -> None:
    """As if two minutes had passed: everything written so far has reached the disk."""
    memory.engine.store.history.db.run("DELETE FROM outbox")
    memory.engine.store.history.db.run("DELETE FROM swapped")
    shutil.rmtree(memory.root / ".lamina/swapped", ignore_errors=True)


@dataclass(slots=True)
class _Journals:
    """The journal after each transaction, by the hash of its bytes as SQLite recovers them."""

    folder: Path
    states: dict[int, int] = field(default_factory=dict)
    recovered: dict[int, int | str] = field(default_factory=dict)

    def recover(self, database: bytes | None, log: bytes | None) -> int | str:
        """Return the hash of the database that SQLite recovers from these two files, or its error."""
        image = hash((database, log))
        if image not in self.recovered:
            self.recovered[image] = self._recover(database, log)
        return self.recovered[image]

    def _recover(self, database: bytes | None, log: bytes | None) -> int | str:
        file = write_database(self.folder, database, log)
        try:
            connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
            try:
                return hash(connection.serialize("main"))
            finally:
                connection.close()
        except apsw.Error as error:
            return f"{type(error).__name__}: {error}"


def write_database(folder: Path, database: bytes | None, log: bytes | None) -> Path:
    """Write the two files of a database, as they are after a restart; return the path of the first."""
    file = folder / "history.db"
    for suffix, data in (("", database), ("-wal", log), ("-shm", None)):
        path = file.with_name(file.name + suffix)
        if data is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(data)
    return file


class Images:
    """The images of one workload, and what is checked of each."""

    def __init__(self, workload: Workload, batch: Batch, rng: random.Random) -> None:
        self.workload, self.batch, self.rng, self.tally = workload, batch, rng, Tally()
        scratch = batch.folder / "journal"
        scratch.mkdir()
        self.journals = _Journals(scratch)
        self.state = CrashState(workload.base)
        self.synced = self.now = 0
        """The transactions that are certainly on the disk, and those that were finished."""
        self.distinct: set[int] = set()

    def check(self) -> Tally:
        ops, count = self.workload.trace.ops, self.batch.count
        moments = max(1, count // IMAGES_OF_A_MOMENT)
        shares = [count // moments + (n < count % moments) for n in range(moments)]
        chosen = sorted(self.rng.randint(0, len(ops)) for _ in range(moments))
        self._note_journal()
        for moment in range(len(ops) + 1):
            while chosen and chosen[0] == moment:
                chosen.pop(0)
                self._check_moment(moment, shares.pop())
            if moment in self.workload.trace.marks:
                self._check_acknowledgement(moment)
            if moment < len(ops):
                self._apply(ops[moment])
        self._compare_with_disk()
        self.tally.count("distinct images", len(self.distinct))
        self.tally.count("distinct journals recovered by SQLite", len(self.journals.recovered))
        self.tally.count("transactions recorded", len(self.journals.states))
        return self.tally

    def _apply(self, op: Op) -> None:
        self.state.apply(op)
        if op.target != LOG:
            return
        if op.kind == "sync":
            self.synced = self.now
        elif op.kind == "write" and len(op.data) > 24 and self._commit_ends:
            self._note_journal()
        self._commit_ends = op.kind == "write" and len(op.data) == 24 and op.data[4:8] != bytes(4)

    _commit_ends = False

    def _note_journal(self) -> None:
        """Note the journal as it is after a transaction."""
        recovered = self.journals.recover(*self._files())
        if isinstance(recovered, str):
            self.tally.fail(f"the journal of the running program cannot be read: {recovered}")
        elif recovered not in self.journals.states:
            self.journals.states[recovered] = self.now = len(self.journals.states)

    def _files(self) -> tuple[bytes | None, bytes | None]:
        databases = self.state.databases
        return databases[HISTORY].whole(), databases[LOG].whole() if LOG in databases else None

    def _check_acknowledgement(self, moment: int) -> None:
        """What is certainly on the disk has all that was acknowledged, and its chain is whole."""
        databases = self.state.databases
        file = write_database(
            self.journals.folder, databases[HISTORY].durable, databases[LOG].durable if LOG in databases else None
        )
        history = HistoryFile(file)
        try:
            texts = history.find_broken_links()
            for ack in self.workload.acknowledged(moment):
                row = history.db.one("SELECT status FROM versions WHERE atom_id=? AND revision=?", ack[:2])
                texts += [] if row == (ack[2],) else [f"not synced when it was acknowledged: {ack}, {row}"]
        finally:
            history.db.close()
        self.tally.fail(*(f"operation {moment}: {text}" for text in texts))

    def _check_moment(self, moment: int, count: int) -> None:
        """Check `count` images of one moment."""
        rng, databases = self.rng, self.state.databases
        logs = list(database_variants(databases[LOG], rng, IMAGES_OF_A_MOMENT)) if LOG in databases else [None]
        pairs = list(product(database_variants(databases[HISTORY], rng, IMAGES_OF_A_MOMENT), logs))
        rng.shuffle(pairs)
        for n in range(count):
            database, log = pairs[n % len(pairs)]
            tree = self.state.vault.variant(rng)
            self._check_image(moment, database, log, tree)

    def _check_image(self, moment: int, database: bytes | None, log: bytes | None, tree: Tree) -> None:
        recovered = self.journals.recover(database, log)
        number = self.journals.states.get(recovered) if isinstance(recovered, int) else None
        image = hash((database, log, frozenset(tree.items())))
        self.tally.runs += 1
        self.distinct.add(image)
        label = f"operation {moment}"
        if number is None:
            self.tally.fail(f"{label}: the journal is none that was written: {recovered}")
        elif not self.synced <= number <= self.now:
            self.tally.fail(f"{label}: transaction {number}, synced {self.synced}, finished {self.now}")
        elif self.rng.randrange(OPEN_SHARE) == 0:
            whole = tree | {name: data for name, data in ((HISTORY, database), (LOG, log)) if data is not None}
            texts = self._open_image(moment, whole | self._index_variant())
            self.tally.count("images opened by lamina")
            self.tally.fail(*(f"{label}, opened: {text}" for text in texts))

    def _index_variant(self) -> Tree:
        """Return the files of the other databases, which may be in any state: they are disposable."""
        others = {name: file for name, file in self.state.databases.items() if name not in (HISTORY, LOG)}
        variants = {name: self.rng.choice(list(database_variants(file, self.rng, 4))) for name, file in others.items()}
        return {name: data for name, data in variants.items() if data is not None}

    def _open_image(self, moment: int, tree: Tree) -> list[str]:
        root = self.batch.folder / "image"
        write_tree(root, tree)
        saves = [save[1:] for save in self.workload.saves if save[0] < moment]
        return judge_image(root, self.workload.acknowledged(moment), saves, deep=self.rng.randrange(DEEP_SHARE) == 0)

    def _compare_with_disk(self) -> None:
        """The recorded operations lead to the files that are really there, or the images mean nothing."""
        real, model = read_tree(self.workload.root), self.state.whole()
        differing = sorted(name for name in real.keys() | model.keys() if real.get(name) != model.get(name))
        if differing:
            self.tally.fail(f"the recording is incomplete: {differing[:5]}")


def write_tree(root: Path, tree: Tree) -> None:
    """Write the files of an image to an empty folder; the folders of a new vault were on the disk before."""
    shutil.rmtree(root, ignore_errors=True)
    for name in SETTLED_FOLDERS:
        (root / name).mkdir(parents=True)
    for name, data in tree.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)


def judge_image(root: Path, acks: list[Ack], saves: list[tuple[str, str]], *, deep: bool) -> list[str]:
    """Open what a crash left, and return what is wrong with it; opened twice, it is the same."""
    try:
        with after_reboot(), open_vault(root) as memory:
            memory.upkeep.sync()
            texts = missing_acks(memory, acks) + wrong_files(memory)
            texts += [text for text in unexpected_files(memory) if not _is_of_a_person(memory, text, saves)]
            edits = [seq for seq, _, verb in journal(memory) if verb in HUMAN_VERBS]
            texts += [f"{len(edits)} edits, {len(saves)} saves"] if len(edits) > len(saves) else []
            texts += [f"a person's {words} is lost" for atom, words in saves if not _is_kept(memory, atom, words)]
            texts += memory.engine.store.history.find_broken_links()
            texts += memory.upkeep.doctor(deep=True).faults if deep else []
            before = [ack_of(atom) for atom in all_atoms(memory)]
        with after_reboot(), open_vault(root) as memory:
            if before != [ack_of(atom) for atom in all_atoms(memory)]:
                texts.append("opened again, it differs")
        return texts
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]


def _is_of_a_person(memory: Memory, text: str, saves: list[tuple[str, str]]) -> bool:
    """Return whether a finding is what a person's save leads to: an edit, or a conflict file with the saved words."""
    if text.startswith("journal"):
        return bool(saves) and text.endswith(": edit")
    found = _CONFLICT.search(text)
    conflict = (memory.root / found[0]).read_text() if found else ""
    return any(words in conflict for _, words in saves)


def _is_kept(memory: Memory, atom: str, words: str) -> bool:
    """Return whether words that a person saved are in a version of the atom, or in a file beside it."""
    versions = memory.engine.store.journal.versions(memory.get(atom).id)
    if any(words in version.atom.content for version in versions):
        return True
    conflicts = memory.root / ".lamina/conflicts"
    return conflicts.is_dir() and any(words.encode() in path.read_bytes() for path in conflicts.iterdir())


@contextmanager
def after_reboot(boot_id: Callable[[], str] = lambda: "after the crash") -> Iterator[None]:
    """The machine was started anew: what was written and not yet confirmed is looked at again."""
    real, outbox._boot_id = outbox._boot_id, boot_id
    try:
        yield
    finally:
        outbox._boot_id = real
