"""What a power loss may leave of a vault: every prefix of a trace, with any part of what was not yet synced.

Of writes that were not synced any subset may have reached the disk, one of them torn. Changes of folders may be lost
in any order, except that one which needs another is not there without it. The content of a file and its name are
independent: a renamed file may be empty, cut off or full of zeros.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from disk_trace import Op, is_database

SECTOR = 512
EXHAUSTIVE = 8
"""Up to this many unsynced writes every subset is an image; of more, a sample."""

Tree = dict[str, bytes]


@dataclass(slots=True)
class DatabaseFile:
    """One file of SQLite: what is on the disk for certain (None: no file), and what was done since it was synced."""

    durable: bytes | None
    pending: list[Op] = field(default_factory=list)

    def apply(self, op: Op) -> None:
        match op.kind:
            case "sync":
                self.durable, self.pending = apply_writes(self.durable or b"", self.pending), []
            case "delete" if op.other:
                self.durable, self.pending = None, []
            case "none":
                pass
            case _:
                self.pending.append(op)

    def whole(self) -> bytes | None:
        """Return the file as the running program sees it."""
        return apply_writes(self.durable, self.pending)


def apply_writes(content: bytes | None, ops: list[Op]) -> bytes | None:
    """Return a file after some operations; None if it does not exist."""
    if not ops:
        return content
    data = None if content is None else bytearray(content)
    for op in ops:
        match op.kind:
            case "open":
                data = bytearray() if data is None else data
            case "delete":
                data = None
            case "truncate" if data is not None:
                data = data[: op.offset] if op.offset <= len(data) else data + bytes(op.offset - len(data))
            case "write":
                data = bytearray() if data is None else data
                if len(data) < op.offset:
                    data += bytes(op.offset - len(data))
                data[op.offset : op.offset + len(op.data)] = op.data
    return None if data is None else bytes(data)


def database_variants(file: DatabaseFile, rng: random.Random, most: int) -> Iterator[bytes | None]:
    """Yield what a crash may leave of a database file: subsets of the unsynced writes, with and without a torn one."""
    deleted = max((n for n, op in enumerate(file.pending) if op.kind == "delete"), default=None)
    if deleted is not None:
        # A new file of that name is another file: nothing of it is to be seen while the old one is still there.
        yield from database_variants(DatabaseFile(file.durable, file.pending[:deleted]), rng, most)
        yield from database_variants(DatabaseFile(None, file.pending[deleted + 1 :]), rng, most)
        return
    count = len(file.pending)
    if not count:
        yield file.durable
        return
    if count <= EXHAUSTIVE and 2**count <= most:
        masks = iter(range(2**count))
    else:
        masks = iter(_sampled_masks(count, rng, most))
    for mask in masks:
        chosen = [op for n, op in enumerate(file.pending) if mask >> n & 1]
        yield apply_writes(file.durable, chosen)
        torn = _tear(chosen, rng)
        if torn is not None:
            yield apply_writes(file.durable, torn)


def _sampled_masks(count: int, rng: random.Random, most: int) -> list[int]:
    """Prefixes, single losses, single survivors and random subsets."""
    whole = 2**count - 1
    masks = [0, whole, *(2**n - 1 for n in rng.sample(range(count), min(count, most // 4 + 1)))]
    masks += [whole ^ 1 << n for n in rng.sample(range(count), min(count, most // 4 + 1))]
    masks += [1 << n for n in rng.sample(range(count), min(count, most // 8 + 1))]
    while len(masks) < most:
        masks.append(rng.getrandbits(count) if rng.random() < 0.5 else rng.getrandbits(count) | rng.getrandbits(count))
    return masks[:most]


def _tear(chosen: list[Op], rng: random.Random) -> list[Op] | None:
    """Return the operations with one write cut at a sector, or only its end there; None if there is none to cut."""
    writes = [n for n, op in enumerate(chosen) if op.kind == "write" and len(op.data) > SECTOR]
    if not writes:
        return None
    n = rng.choice(writes)
    op = chosen[n]
    cut = rng.randrange(SECTOR, len(op.data), SECTOR)
    first = rng.random() < 0.7
    torn = op._replace(data=op.data[:cut]) if first else op._replace(data=op.data[cut:], offset=op.offset + cut)
    return [*chosen[:n], torn, *chosen[n + 1 :]]


class VaultFolder:
    """The names and contents of the vault: what is on the disk for certain, and what was done since."""

    def __init__(self, tree: Tree) -> None:
        self.names = {path: f"base {path}" for path in tree}
        self.contents: dict[str, bytes] = {f"base {path}": data for path, data in tree.items()}
        self.unsynced: dict[str, bytes] = {}
        self.pending: list[Op] = []

    def apply(self, op: Op) -> None:
        match op.kind:
            case "append":
                self.unsynced[op.target] = self.unsynced.get(op.target, b"") + op.data
            case "sync content":
                self.contents[op.target] = self.unsynced.pop(op.target, b"")
            case "sync folder":
                self._settle_folder(op.target)
            case "person":
                self._settle(set(range(len(self.pending))))
                content = f"person {len(self.contents)}"
                self.names[op.target], self.contents[content] = content, op.data
            case "mkdir" | "rmdir":
                pass  # a folder is there as soon as a file in it is
            case _:
                self.pending.append(op)

    def whole(self) -> Tree:
        """Return the files as the running program sees them."""
        names = dict(self.names)
        _rename(names, self.pending)
        return {
            path: self.contents[at] if at in self.contents else self.unsynced.get(at, b"") for path, at in names.items()
        }

    def variant(self, rng: random.Random) -> Tree:
        """Return what a crash may leave: some changes of names, and some of the contents that were not synced."""
        count = len(self.pending)
        if not count:
            lost = set[int]()
        elif rng.random() < 0.4:
            lost = set(range(rng.randint(0, count), count))
        else:
            share = rng.choice((0.02, 0.1, 0.5))
            lost = {n for n in range(count) if rng.random() < share}
        names = dict(self.names)
        _rename(names, self._without(lost))
        fate = rng.choice(("kept", "any", "any", "nothing"))
        damaged = {content: _damage(self.unsynced.get(content, b""), fate, rng) for content in names.values()}
        return {path: self.contents[at] if at in self.contents else damaged[at] for path, at in names.items()}

    def _without(self, lost: set[int]) -> list[Op]:
        """Return the pending changes without the lost ones, and without those that need one of them."""
        gone: set[str] = set()
        remaining = []
        for n, op in enumerate(self.pending):
            paths = {op.target, op.other} if op.kind != "create" else {op.target}
            if n in lost or gone & paths:
                gone |= paths
            else:
                remaining.append(op)
        return remaining

    def _settle_folder(self, folder: str) -> None:
        """Make the changes in a folder durable, with those that they need."""
        wanted: set[int] = set()
        paths: set[str] = set()
        for n in reversed(range(len(self.pending))):
            op = self.pending[n]
            touched = {op.target, op.other} if op.kind != "create" else {op.target}
            if touched & paths or any(path.rpartition("/")[0] == folder.rstrip("/") for path in touched):
                wanted.add(n)
                paths |= touched
        self._settle(wanted)

    def _settle(self, wanted: set[int]) -> None:
        _rename(self.names, [op for n, op in enumerate(self.pending) if n in wanted])
        self.pending = [op for n, op in enumerate(self.pending) if n not in wanted]


def _rename(names: dict[str, str], ops: list[Op]) -> None:
    """Apply changes of names; a name that is not there, because what made it was lost, changes nothing."""
    for op in ops:
        match op.kind:
            case "create":
                names[op.target] = op.other
            case "unlink":
                names.pop(op.target, None)
            case "link" if op.target in names:
                names[op.other] = names[op.target]
            case "rename" if op.target in names:
                names[op.other] = names.pop(op.target)
            case "exchange" if op.target in names and op.other in names:
                names[op.target], names[op.other] = names[op.other], names[op.target]


def _damage(data: bytes, fate: str, rng: random.Random) -> bytes:
    """Return what a crash may leave of a file that was not synced."""
    choice = rng.choice(("kept", "empty", "torn", "zeros")) if fate == "any" else fate
    cut = rng.randrange(len(data) + 1)
    match choice:
        case "kept":
            return data
        case "torn":
            return data[:cut]
        case "zeros":
            return data[:cut] + bytes(len(data) - cut)
        case _:
            return b""


class CrashState:
    """The disk at one moment of a trace: databases and vault, each with what is durable and what is not."""

    def __init__(self, tree: Tree) -> None:
        self.databases = {name: DatabaseFile(data) for name, data in tree.items() if is_database(name)}
        self.vault = VaultFolder({name: data for name, data in tree.items() if not is_database(name)})

    def apply(self, op: Op) -> None:
        if is_database(op.target):
            self.databases.setdefault(op.target, DatabaseFile(None)).apply(op)
        else:
            self.vault.apply(op)

    def whole(self) -> Tree:
        """Return the disk as the running program sees it, to compare it with the real one."""
        databases = {name: data for name, file in self.databases.items() if (data := file.whole()) is not None}
        return databases | self.vault.whole()
