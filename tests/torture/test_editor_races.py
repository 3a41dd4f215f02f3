"""A person saves while the engine writes the same file: no byte of theirs is lost with any editor."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

import pytest
from torture_suite import Batch, Suite, Tally, expect_no_failure
from vault_checks import all_atoms, open_vault, wrong_files

import lamina
from lamina.atom.atom import AtomId
from lamina.atom.provenance import Origin
from lamina.errors import Refused
from lamina.memory import Memory
from lamina.store.base import AtomChange, Commit
from lamina.vault.disk import Disk
from lamina.vault.syscalls import FolderEntry, Syscalls

STYLES = ("in place", "rename", "backup", "truncate", "recreate")
RACES_EACH = 20
"""So many races go over one atom; then a new vault takes its place, without the replaced files of the old one."""
LONGEST_DELAY = 0.004


def race_editors(batch: Batch) -> Tally:
    """Let the engine change an atom while a person saves its file; each batch has one style of editor."""
    tally, style = Tally(), STYLES[batch.number % len(STYLES)]
    rng = batch.random()
    with _person(style, batch.seed) as ask:
        for first in range(0, batch.count, RACES_EACH):
            numbers = range(first, min(first + RACES_EACH, batch.count))
            _race(tally, style, numbers, batch.folder / f"vault-{first}", rng, ask)
    tally.count(style, tally.runs)
    return tally


SUITE = Suite("editors", "races", 5 * 20_000, 200, race_editors)


def test_no_save_of_a_person_is_lost_or_doubled_in_a_race_with_the_engine(pool: Executor) -> None:
    report = expect_no_failure(Suite("editors", "races", 100, 20, race_editors), 100, pool)
    assert report["counts"].keys() >= set(STYLES)


def _race(tally: Tally, style: str, numbers: range, root: Path, rng: random.Random, ask: Ask) -> None:
    with open_vault(root) as memory:
        atom = memory.remember("A statement that everybody edits.", subject="race").atom.id
        for number in numbers:
            marker = f"<{style.replace(' ', '-')}-{number}>"
            path = memory.path_of(atom)
            assert path is not None
            wait_for_save = ask(root / path, marker)
            engine = [_engine(memory, rng, atom, f"{number}-{step}") for step in range(rng.randint(1, 3))]
            wait_for_save()
            texts = _judge(memory, AtomId(atom), root / path, marker)
            tally.fail(*(f"{style} race {number} (engine: {engine}): {text}" for text in texts))
            tally.runs += 1


def _engine(memory: Memory, rng: random.Random, atom: str, name: str) -> str:
    spin(rng.uniform(0, LONGEST_DELAY / 4))
    verb = rng.choice(("pin", "unpin", "revise", "tags", "status"))
    try:
        match verb:
            case "pin":
                memory.pin(atom)
            case "unpin":
                memory.unpin(atom)
            case "tags":
                memory.revise(atom, tags=[f"t{name}"], reason="race")
            case "revise":
                memory.revise(atom, f"Said anew in {name}.", reason="race")
            case _:
                status = "active" if memory.get(atom).status == "challenged" else "challenged"
                memory.update_status(atom, status, "race")
    except Refused as error:
        return f"{verb} refused: {error}"
    return verb


def _judge(memory: Memory, atom: AtomId, path: Path, marker: str) -> list[str]:
    memory.upkeep.sync()
    memory.upkeep.sync()
    head = memory.engine.store.projection.find_atom(atom)
    assert head is not None
    result = _misplaced(memory, atom, path, marker)
    if not path.exists() or head.status == "tombstoned":
        result.append(f"the file is {'there' if path.exists() else 'gone'} and the atom {head.status}")
    return result + wrong_files(memory, [head])


def _misplaced(memory: Memory, atom: AtomId, path: Path, marker: str) -> list[str]:
    """Return whether the marker is lost, or there twice: in one text, in two atoms, or committed a second time."""
    versions = [version.atom.content for version in memory.engine.store.journal.versions(atom)]
    before = ["", *versions]
    commits = sum(marker in new and marker not in old for old, new in pairwise(before))
    result = [f"committed {commits} times: {marker}"] if commits > 1 else []
    result += [f"doubled in one text: {marker}"] if any(text.count(marker) > 1 for text in versions) else []
    result += [f"also in {other.id}" for other in all_atoms(memory) if marker in other.content and other.id != atom]
    on_disk = path.read_text() if path.exists() else ""
    if not commits and marker not in on_disk and not _is_beside(memory, marker):
        result.append(f"LOST {marker}")
    return result


def _is_beside(memory: Memory, marker: str) -> bool:
    """Return whether the marker is in a conflict file, or in a replaced file that is still kept."""
    folders = [memory.root / ".lamina" / name for name in ("conflicts", "swapped")]
    return any(
        marker.encode() in path.read_bytes() for folder in folders if folder.exists() for path in folder.iterdir()
    )


def spin(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


Ask = Callable[[Path, str], Callable[[], None]]
"""Asks the person to save a file with a marker; returns what waits until it is saved."""


@contextmanager
def _person(style: str, seed: int) -> Iterator[Ask]:
    """A process of its own that saves when it is asked to. Forked before the vault is opened."""
    requests, their_requests = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.close(requests[1])
        os.close(their_requests[0])
        _edit(style, seed, requests[0], their_requests[1])
    os.close(requests[0])
    os.close(their_requests[1])
    with os.fdopen(requests[1], "w") as out, os.fdopen(their_requests[0]) as answers:

        def wait_for_save() -> None:
            answer = answers.readline()
            assert answer == "saved\n", f"the editor failed: {answer}"

        def ask(path: Path, marker: str) -> Callable[[], None]:
            out.write(f"{path}\t{marker}\n")
            out.flush()
            return wait_for_save

        yield ask
    os.waitpid(child, 0)


def save(style: str, path: Path, marker: str, rng: random.Random) -> None:
    """Save as an editor of that style does, with the marker as a last line."""
    if style == "in place" and rng.random() < 0.5:
        with path.open("a") as file:
            spin(rng.uniform(0, LONGEST_DELAY / 2))
            file.write(f"\n{marker}\n")
        return
    text = path.read_text().rstrip("\n") + f"\n{marker}\n"
    spin(rng.uniform(0, LONGEST_DELAY / 2))
    match style:
        case "in place":
            with path.open("r+") as file:
                file.write(text)
                file.truncate()
        case "truncate":
            with path.open("w") as file:
                spin(rng.uniform(0, LONGEST_DELAY / 4))
                file.write(text)
        case "rename":
            draft = path.with_name(f".{rng.randrange(10**9)}")
            draft.write_text(text)
            draft.replace(path)
        case "backup":
            backup = path.with_name(f"{path.name}~")
            path.replace(backup)
            spin(rng.uniform(0, LONGEST_DELAY / 4))
            with path.open("x") as file:
                file.write(text)
            backup.unlink()
        case _:
            path.unlink()
            spin(rng.uniform(0, LONGEST_DELAY / 4))
            with path.open("x") as file:
                file.write(text)


def _edit(style: str, seed: int, requests: int, answers: int) -> NoReturn:
    """The person: saves once for each line, a random moment after it came."""
    rng = random.Random(f"{style}-{seed}")
    try:
        with os.fdopen(requests) as lines:
            for line in lines:
                path, marker = line.rstrip("\n").split("\t")
                time.sleep(rng.uniform(0, LONGEST_DELAY))
                save(style, Path(path), marker, rng)
                os.write(answers, b"saved\n")
    except BaseException as error:
        os.write(answers, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(0)


# What is too rare to wait for


class InterruptedSyscalls(Syscalls):
    """Something happens just before or just after the next exchange."""

    def __init__(self) -> None:
        self.before: Callable[[], object] | None = None
        self.after: Callable[[], object] | None = None

    def exchange(self, one: FolderEntry, other: FolderEntry) -> None:
        before, self.before = self.before, None
        if before:
            before()
        super().exchange(one, other)
        after, self.after = self.after, None
        if after:
            after()


@contextmanager
def _prepare_race(root: Path) -> Iterator[tuple[Memory, InterruptedSyscalls, str, Path]]:
    root.mkdir()
    system = InterruptedSyscalls()
    with lamina.open(root, watch=False, disk=Disk(root, system)) as memory:
        atom = memory.remember("Ann grows tomatoes.", subject="ann", tags=["garden"]).atom
        yield memory, system, atom.id, root / str(memory.path_of(atom.id))


def test_a_commit_made_while_a_file_is_written_is_written_after_it(tmp_path: Path) -> None:
    with _prepare_race(tmp_path / "vault") as (memory, system, atom, _):
        other = lamina.open(tmp_path / "vault", watch=False)
        head = other.get(atom)
        quicker = head.with_(pinned=True, revision=head.revision + 1, content="Ann grows leeks.")

        def commit() -> None:
            other.engine.store.journal.append(
                Commit(
                    actor="other",
                    origin=Origin.HUMAN,
                    verb="revise",
                    reason="quick",
                    scope=head.scope,
                    changes=(AtomChange(quicker.with_(tags=("first",))),),
                )
            )

        system.after = commit
        memory.revise(atom, "Ann grows leeks.", reason="they grew")
        memory.upkeep.sync()
        assert memory.get(atom).pinned
        assert memory.get(atom).tags == ("first",)
        assert wrong_files(memory) == []
        assert [entry.verb for entry in memory.journal()] == ["remember", "revise", "revise"]
        other.close()


class Stopped(BaseException):
    """The process ends here."""


def test_a_displaced_save_is_imported_even_if_the_process_ends_before_reading_it(tmp_path: Path) -> None:
    def stop() -> None:
        raise Stopped

    with _prepare_race(tmp_path / "vault") as (memory, system, atom, path):
        system.before = lambda: save("rename", path, "<mine>", random.Random(1))
        system.after = stop
        with pytest.raises(Stopped):
            memory.pin(atom)
    with lamina.open(tmp_path / "vault", watch=False) as memory:
        head = memory.get(atom)
        assert head.pinned
        assert "<mine>" in head.content
        assert wrong_files(memory) == []
        assert memory.upkeep.doctor().healthy


def test_a_file_caught_empty_during_a_save_changes_nothing_until_the_save_is_complete(tmp_path: Path) -> None:
    with _prepare_race(tmp_path / "vault") as (memory, _, atom, path):
        text = path.read_text()
        with path.open("w") as editor:
            memory.pin(atom)
            head = memory.get(atom)
            assert (head.subject, head.tags, head.content) == ("ann", ("garden",), "Ann grows tomatoes.")
            editor.write(text.replace("tomatoes", "leeks"))
        memory.upkeep.sync()
        head = memory.get(atom)
        assert (head.content, head.pinned, head.tags) == ("Ann grows leeks.", True, ("garden",))
        assert wrong_files(memory) == []
        assert memory.upkeep.doctor().healthy


def test_an_editor_that_saves_twice_into_a_displaced_file_loses_nothing(tmp_path: Path) -> None:
    with _prepare_race(tmp_path / "vault") as (memory, _, atom, path), path.open("r+") as editor:
        text = editor.read()
        memory.pin(atom)
        for words in ("leeks", "leeks and beans"):
            editor.seek(0)
            editor.truncate()
            editor.write(text.replace("tomatoes", words))
            editor.flush()
            memory.upkeep.sync()
            assert memory.get(atom).content == f"Ann grows {words}."
        assert memory.get(atom).pinned
        assert wrong_files(memory) == []
