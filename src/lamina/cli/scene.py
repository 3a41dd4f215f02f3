"""The parts of the tour: a step, the session it runs in, and the base class of the chapters."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from lamina.cli import read
from lamina.cli.output import Json, Output, View
from lamina.cli.session import Session
from lamina.cli.vault_choice import Choice, Way


@dataclass(slots=True)
class Scene:
    """One step of the tour after it ran: the command a person would type, its result, and the checks."""

    title: str
    command: str
    view: View
    checks: list[tuple[str, bool]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(passed for _, passed in self.checks)


class Stage(Session):
    """A session on the tour's own vault, independent of the user's settings."""

    def __init__(self, vault: Path) -> None:
        super().__init__(Choice(vault, Way.NEAREST), Output(), scope="org:local", may_make=True, quiet=True)

    def shell(self, *words: str) -> str:
        return shlex.join(["lamina", *words])


class Chapter:
    """Steps on one vault; each opens it again, like a command in a shell. Chapters share the ids of atoms by name."""

    def __init__(self, vault: Path, ids: dict[str, str]) -> None:
        self.vault, self.ids = vault, ids

    def play(self, title: str, command: str, act: Callable[[Session], View]) -> Scene:
        """Run an action on the vault and return the step with its result."""
        started_at = time.monotonic()
        with Stage(self.vault) as session:
            view = act(session)
        return Scene(title, command, view, seconds=time.monotonic() - started_at)

    def ask(self, title: str, question: str, *, before: str = "", as_of: str = "", known_at: str = "") -> Scene:
        """Run a recall, optionally at a past time, and return the step."""
        options = [f"--as-of {as_of}"] * bool(as_of) + [f"--known-at {known_at}"] * bool(known_at)
        command = " ".join([f'lamina recall "{question}"', *options])
        return self.play(
            title,
            f"{before}\n$ {command}" if before else command,
            lambda session: read.recall(session, question, k=3, as_of=as_of or None, known_at=known_at or None),
        )

    def found(self, question: str, *, as_of: str = "", known_at: str = "") -> str:
        """Return the text of all relevant hits for a question."""
        hits = self.ask("", question, as_of=as_of, known_at=known_at).view.data["hits"]
        return "\n".join(hit["text"] for hit in hits if hit["relevant"])

    def current(self) -> dict[str, tuple[str, str]]:
        """Return the status and text of every atom by id."""
        atoms = self.play("", "", lambda session: read.list_(session, everything=True, limit=1000)).view.data["atoms"]
        return {atom["id"]: (atom["status"], atom["content"]) for atom in atoms}

    def status(self, name: str) -> str:
        """Return the status of an atom by its name in the tour."""
        return self.current()[self.ids[name]][0]

    def file(self, name: str) -> Path:
        """Return the file of an atom by its name in the tour."""
        view = self.play("", "", lambda session: read.get(session, self.ids[name])).view
        return self.vault / str(view.data["path"])


def atoms_in(scene: Scene) -> list[Json]:
    """Return the ids of the hits of a step and of their statements."""
    hits = scene.view.data["hits"]
    return [*(hit["id"] for hit in hits), *(atom_id for hit in hits for atom_id, _ in hit["statements"])]


def holds_bytes(folder: Path, words: str) -> bool:
    """Whether any file below a folder contains a text."""
    return any(words.encode() in file.read_bytes() for file in folder.rglob("*") if file.is_file())
