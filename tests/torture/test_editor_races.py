"""A person saves while the engine writes the same file: no byte of theirs is lost with any editor."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from torture_harness import Tally, expect_none, fresh_seed, show, wrong_files

import lamina
from lamina.atom.atom import AtomId
from lamina.atom.provenance import Origin
from lamina.errors import Refused
from lamina.memory import Memory
from lamina.store.base import AtomChange, Commit
from lamina.vault.disk import Disk
from lamina.vault.syscalls import FolderEntry, Syscalls

STYLES = ("in place", "rename", "append", "sed", "checkout")
RACES_EACH = 20
"""So many races go over one atom before a new one takes its place."""


@pytest.mark.parametrize("style", STYLES)
def test_no_byte_of_a_person_is_lost_in_a_race_with_the_engine(style: str, tmp_path: Path) -> None:
    seed = fresh_seed()
    expect_none(people(40, seed, tmp_path, style), seed, at_least=40)


def people(count: int, seed: int, folder: Path, style: str | None = None) -> Tally:
    """Let the engine change an atom while a person saves its file, `count` times for each style of editor."""
    tally = Tally(f"people{f' ({style})' if style else ''}")
    for item in (style,) if style else STYLES:
        _races(tally, item, count, seed, Path(tempfile.mkdtemp(dir=folder)))
    return tally


def _races(tally: Tally, style: str, count: int, seed: int, root: Path) -> None:
    rng = random.Random(seed)
    with lamina.open(root, watch=False) as memory, _person(style, f"{seed}-{style}") as ask:
        atom = memory.remember("A first statement.").atom.id
        for number in range(count):
            if number % RACES_EACH == 0:
                atom = memory.remember(f"Statement {number} that everybody edits.", subject="race").atom.id
            marker = f"<{style.replace(' ', '-')}-{seed}-{number}>"
            path = memory.path_of(atom)
            assert path is not None
            response = ask(root / path, marker)
            engine = [_engine(memory, rng, atom, f"{number}-{step}") for step in range(rng.randint(1, 3))]
            response()
            texts = _judge(memory, AtomId(atom), root / path, marker)
            tally.fail(*(f"{style} race {number} (engine: {engine}): {text}" for text in texts))
            tally.runs += 1
            show(f"people ({style})", number + 1, count)


def _engine(memory: Memory, rng: random.Random, atom: str, name: str) -> str:
    spin(rng.uniform(0, 0.002))
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
    result = []
    if not _is_somewhere(memory, atom, path, marker):
        result.append(f"LOST {marker}")
    if not path.exists() or head.status == "tombstoned":
        result.append(f"the file is {'there' if path.exists() else 'gone'} and the atom {head.status}")
    return result + wrong_files(memory, [head])


def _is_somewhere(memory: Memory, atom: AtomId, path: Path, marker: str) -> bool:
    if path.exists() and marker in path.read_text():
        return True
    if any(marker in version.atom.content for version in memory.engine.store.journal.versions(atom)):
        return True
    folders = [memory.root / ".lamina" / name for name in ("conflicts", "swapped")]
    return any(
        marker.encode() in path.read_bytes() for folder in folders if folder.exists() for path in folder.iterdir()
    )


def spin(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


@contextmanager
def _person(style: str, seed: str) -> Iterator[Callable[[Path, str], Callable[[], None]]]:
    command = [sys.executable, __file__, style, seed]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as editor:
        assert editor.stdin is not None
        assert editor.stdout is not None
        actual, answers = editor.stdin, editor.stdout

        def ask(path: Path, marker: str) -> Callable[[], None]:
            actual.write(f"{path}\t{marker}\n")
            actual.flush()
            return result

        def result() -> None:
            assert answers.readline() == "saved\n"

        yield ask
        actual.close()
        assert editor.wait(60) == 0


def save(style: str, path: Path, marker: str, rng: random.Random) -> None:
    """Save as an editor of that style does, with the marker as a last line."""
    if style == "append":
        with path.open("a") as file:
            spin(rng.uniform(0, 0.002))
            file.write(f"\n{marker}\n")
        return
    text = path.read_text().rstrip("\n") + f"\n{marker}\n"
    spin(rng.uniform(0, 0.002))
    match style:
        case "in place":
            with path.open("w") as file:
                spin(rng.uniform(0, 0.001))
                file.write(text)
        case "rename" | "sed":
            other = path.with_name(f"{'.' if style == 'rename' else 'sed'}{rng.randrange(10**9)}")
            other.write_text(text)
            other.replace(path)
        case _:
            path.unlink()
            spin(rng.uniform(0, 0.001))
            with path.open("x") as file:
                file.write(text)


def _edit(style: str, seed: str) -> None:
    """The person: saves once for each line of standard input, a random moment after it came."""
    rng = random.Random(seed)
    for line in sys.stdin:
        path, marker = line.rstrip("\n").split("\t")
        spin(rng.uniform(0, 0.008))
        save(style, Path(path), marker, rng)
        print("saved", flush=True)


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


if __name__ == "__main__":
    _edit(sys.argv[1], sys.argv[2])
