"""The machine goes down: files not yet on the disk are missing, empty, torn or old; what was acknowledged is there."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import apsw
from test_kills import write_something
from torture_harness import (
    Ack,
    Tally,
    ack_of,
    all_atoms,
    expect_none,
    fresh_seed,
    missing_acks,
    separate_process,
    show,
    unexpected_files,
    wrong_files,
)

import lamina
from lamina.errors import Refused
from lamina.memory import Memory
from lamina.store.sqlite import outbox

SCRATCH = Path("/dev/shm") if Path("/dev/shm").is_dir() else Path(tempfile.gettempdir())
IMAGES_EACH = 25
"""So many images are made of one written vault."""


def test_every_power_loss_image_restores_what_was_acknowledged(tmp_path: Path) -> None:
    seed = fresh_seed()
    expect_none(separate_process(power, 500, seed, tmp_path, lanes=2), seed, at_least=500)


def power(count: int, seed: int, folder: Path) -> Tally:
    """Write a vault, make images of what a crash may have left of it, open each; `count` images in all."""
    tally, rng = Tally("power"), random.Random(seed)
    with tempfile.TemporaryDirectory(dir=SCRATCH) as scratch:
        while tally.runs < count:
            history = _make_vault(Path(scratch) / "vault", rng)
            for _ in range(min(IMAGES_EACH, count - tally.runs)):
                label = f"image {tally.runs} of seed {seed}"
                image = Path(scratch) / "image"
                text = _make_image(history, image, rng)
                texts = _open_image(image, history)
                tally.fail(*(f"{label} ({text}): {item}" for item in texts))
                tally.runs += 1
                show("power", tally.runs, count)
    return tally


@dataclass(slots=True)
class History:
    """What was written: the vault of the last moment, and every version of each file that once stood there."""

    root: Path
    acks: list[Ack] = field(default_factory=list)
    moment: Path = Path()
    versions: dict[str, list[bytes]] = field(default_factory=dict)
    settled: dict[str, bytes] = field(default_factory=dict)
    """What is on the disk for certain: the files as they were before the last steps."""


def _make_vault(root: Path, rng: random.Random) -> History:
    """A vault, closed and settled, and then written to without being closed."""
    for leftover in (root, *root.parent.glob("moment*")):
        shutil.rmtree(leftover, ignore_errors=True)
    history, atoms = History(root), list[str]()
    with lamina.open(root, watch=False) as memory:
        for step in range(rng.randint(0, 6)):
            history.acks += _step(memory, rng, f"settled-{step}", atoms)
        _settle(memory)
        history.settled = _files(root)
        for step in range(rng.randint(1, 8)):
            history.acks += _step(memory, rng, f"fresh-{step}", atoms)
            for path, data in _files(root).items():
                if data not in history.versions.setdefault(path, []):
                    history.versions[path].append(data)
        # While it is still open: nobody has tidied anything up.
        history.moment = root.parent / "moment"
        shutil.copytree(root, history.moment)
    return history


def _step(memory: Memory, rng: random.Random, name: str, known: list[str]) -> list[Ack]:
    try:
        return [ack_of(item) for item in write_something(memory, rng, name, known)[0]]
    except Refused:
        return []


def _settle(memory: Memory) -> None:
    """As if two minutes had passed: everything written so far has reached the disk."""
    memory.engine.store.history.db.run("DELETE FROM outbox")
    memory.engine.store.history.db.run("DELETE FROM swapped")
    shutil.rmtree(memory.root / ".lamina/swapped", ignore_errors=True)


def _files(root: Path) -> dict[str, bytes]:
    result = [*root.rglob("*.md"), *(root / ".lamina/swapped").glob("*")]
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in result
        if path.is_file() and path.name != "Home.md" and "tmp" not in path.parts
    }


def _make_image(history: History, image: Path, rng: random.Random) -> str:
    """A copy in which each file that may not have reached the disk is left in one of the ways a crash leaves it."""
    shutil.rmtree(image, ignore_errors=True)
    shutil.copytree(history.moment, image)
    fields: dict[str, str] = {}
    present = _files(image)
    moved = {_name(path): path for path in history.settled if path not in present}
    for path in sorted(present):
        source = moved.get(_name(path))
        old, new = history.settled.get(path), present[path]
        if old == new:
            continue
        choice = rng.choice(("kept", "missing", "empty", "torn", "zeros", "old"))
        fields[path[-12:]] = choice
        if choice == "old" and source is not None:
            # A move is there or is not; never half.
            (image / path).unlink()
            (image / source).parent.mkdir(parents=True, exist_ok=True)
            (image / source).write_bytes(history.settled[source])
        else:
            _leave(image / path, choice, new, old, history.versions.get(path, []), rng)
    fields["ledger"] = _lose_ledger(image, rng)
    shutil.rmtree(image / ".lamina/tmp", ignore_errors=True)
    for name in ("history.db-shm", "index.db-shm", "index.db-wal", "index.db"):
        if rng.random() < 0.5 or name.endswith("shm"):
            (image / ".lamina" / name).unlink(missing_ok=True)
    return json.dumps(fields)


def _name(path: str) -> str:
    return path.rpartition("-")[2]


def _leave(path: Path, choice: str, new: bytes, old: bytes | None, past: list[bytes], rng: random.Random) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if choice == "old":
        # An exchange or a move that did not last leaves the file that was there; a new file was never there.
        data = old if old is not None else rng.choice([data for data in past if data != new] or [None])
    elif choice == "missing":
        data = None
    elif choice == "empty":
        data = b""
    elif choice == "torn":
        data = new[: rng.randrange(len(new) + 1)]
    elif choice == "zeros":
        cut = rng.randrange(len(new) + 1)
        data = new[:cut] + bytes(len(new) - cut)
    else:
        data = new
    path.unlink(missing_ok=True)
    if data is not None:
        path.write_bytes(data)


def _lose_ledger(image: Path, rng: random.Random) -> str:
    """What the ledger wrote after the last durable commit need not have reached the disk."""
    if rng.random() < 0.5:
        return "kept"
    log = image / ".lamina/history.db-wal"
    synced = _last_commit_end(image, log)
    if synced is None:
        return "kept"
    data = log.read_bytes()
    end = rng.randint(synced, len(data))
    log.write_bytes(data[:end] + rng.choice((b"", bytes(len(data) - end), rng.randbytes(len(data) - end))))
    return f"{end} of {len(data)} bytes, {synced} were synced"


def _last_commit_end(image: Path, log: Path) -> int | None:
    """The length of the log that the last acknowledged commit needs, found by looking for the shortest that has it."""
    if not log.exists():
        return None
    data = log.read_bytes()
    page = int.from_bytes(data[8:12], "big")
    whole = _position(image, data)
    frame, sizes = 24 + page, list[int]()
    for end in range(32 + frame, len(data) + 1, frame):
        header = data[end - frame : end - page]
        if int.from_bytes(header[4:8], "big"):
            sizes.append(end)
    low, high = 0, len(sizes) - 1
    if not sizes or _position(image, data[: sizes[high]]) != whole:
        return None
    while low < high:
        middle = (low + high) // 2
        if _position(image, data[: sizes[middle]]) == whole:
            high = middle
        else:
            low = middle + 1
    return sizes[low]


def _position(image: Path, log: bytes) -> int:
    with tempfile.TemporaryDirectory(dir=SCRATCH) as scratch:
        copy = Path(scratch) / "history.db"
        shutil.copy(image / ".lamina/history.db", copy)
        copy.with_name("history.db-wal").write_bytes(log)
        db = apsw.Connection(str(copy))
        try:
            result = db.execute("SELECT max(seq) FROM commits").fetchone()
        except apsw.SQLError:
            return -1
        finally:
            db.close()
        return int(result[0] or 0) if result else 0


def _open_image(image: Path, history: History) -> list[str]:
    real, outbox._boot_id = outbox._boot_id, lambda: "after the crash"
    try:
        with lamina.open(image, watch=False) as memory:
            memory.upkeep.sync()
            texts = missing_acks(memory, history.acks) + wrong_files(memory) + unexpected_files(memory)
            texts += memory.upkeep.doctor(deep=True).faults
            before = [ack_of(atom) for atom in all_atoms(memory)]
        with lamina.open(image, watch=False) as memory:
            if before != [ack_of(atom) for atom in all_atoms(memory)]:
                texts.append("opened again, it differs")
        return texts
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]
    finally:
        outbox._boot_id = real
