"""A scene of the tour and the stage it is played on; chapters are made of scenes."""

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
    """One step as it was played: what a person would type, what came of it, and what was checked."""

    title: str
    command: str
    view: View
    checks: list[tuple[str, bool]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        return all(passed for _, passed in self.checks)


class Stage(Session):
    """A session on the tour's own vault, whatever the user's settings say."""

    def __init__(self, vault: Path) -> None:
        super().__init__(Choice(vault, Way.NEAREST), Output(), scope="org:local", may_make=True, quiet=True)

    def shell(self, *words: str) -> str:
        return shlex.join(["lamina", *words])


class Chapter:
    """Scenes on one vault; each opens it afresh, as a command typed in a shell does. Chapters share the ids by name."""

    def __init__(self, vault: Path, ids: dict[str, str]) -> None:
        self.vault, self.ids = vault, ids

    def play(self, title: str, command: str, act: Callable[[Session], View]) -> Scene:
        """Do something on the vault and keep what came of it."""
        began = time.monotonic()
        with Stage(self.vault) as session:
            view = act(session)
        return Scene(title, command, view, seconds=time.monotonic() - began)

    def ask(self, title: str, question: str, *, before: str = "", as_of: str = "", known_at: str = "") -> Scene:
        """Ask something, perhaps of another time."""
        options = [f"--as-of {as_of}"] * bool(as_of) + [f"--known-at {known_at}"] * bool(known_at)
        command = " ".join([f'lamina recall "{question}"', *options])
        return self.play(
            title,
            f"{before}\n$ {command}" if before else command,
            lambda session: read.recall(session, question, k=3, as_of=as_of or None, known_at=known_at or None),
        )

    def found(self, question: str, *, as_of: str = "", known_at: str = "") -> str:
        """All that recall shows for a question, as one text."""
        hits = self.ask("", question, as_of=as_of, known_at=known_at).view.data["hits"]
        return "\n".join(hit["text"] for hit in hits if hit["relevant"])

    def current(self) -> dict[str, tuple[str, str]]:
        """Every atom's status and words."""
        listed = self.play("", "", lambda session: read.list_(session, everything=True, limit=1000)).view.data["atoms"]
        return {each["id"]: (each["status"], each["content"]) for each in listed}

    def status(self, name: str) -> str:
        """How an atom of the story stands."""
        return self.current()[self.ids[name]][0]

    def file(self, name: str) -> Path:
        """The file of an atom of the story."""
        view = self.play("", "", lambda session: read.get(session, self.ids[name])).view
        return self.vault / str(view.data["path"])


def atoms_in(scene: Scene) -> list[Json]:
    """The atoms of the hits and of the statements that go with them."""
    hits = scene.view.data["hits"]
    return [*(hit["id"] for hit in hits), *(atom_id for hit in hits for atom_id, _ in hit["statements"])]


def holds_bytes(folder: Path, words: str) -> bool:
    """Whether any file below a folder holds these words."""
    return any(words.encode() in file.read_bytes() for file in folder.rglob("*") if file.is_file())
