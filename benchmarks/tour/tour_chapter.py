"""The parts of the tour: a step, the session it runs in, and the base class of the chapters."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from lamina.cli import read
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandOutput, CommandResult, Json
from lamina.cli.vault_choice import ChoiceReason, VaultChoice


@dataclass(slots=True)
class TourStep:
    """One step of the tour after it ran: the command a person would type, its result, and the checks."""

    title: str
    command: str
    view: CommandResult
    checks: list[tuple[str, bool]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def has_passed(self) -> bool:
        """Return whether every check passed."""
        return all(passed for _, passed in self.checks)


class TourSession(CommandSession):
    """A session on the tour's own vault, independent of the user's settings."""

    def __init__(self, vault: Path) -> None:
        super().__init__(
            VaultChoice(vault, ChoiceReason.NEAREST), CommandOutput(), scope="org:local", may_create=True, is_quiet=True
        )

    def format_command(self, *arguments: str) -> str:
        return shlex.join(["lamina", *arguments])


class TourChapter:
    """Steps on one vault; each opens it again, like a command in a shell. Chapters share the ids of atoms by name."""

    def __init__(self, vault: Path, ids: dict[str, str]) -> None:
        self.vault, self.ids = vault, ids

    def run_step(self, title: str, command: str, action: Callable[[CommandSession], CommandResult]) -> TourStep:
        """Run an action on the vault and return the step with its result."""
        started_at = time.monotonic()
        with TourSession(self.vault) as session:
            view = action(session)
        return TourStep(title, command, view, seconds=time.monotonic() - started_at)

    def recall_step(
        self, title: str, question: str, *, before: str = "", as_of: str = "", known_at: str = ""
    ) -> TourStep:
        """Run a recall, optionally at a past time, and return the step."""
        options = [f"--as-of {as_of}"] * bool(as_of) + [f"--known-at {known_at}"] * bool(known_at)
        command = " ".join([f'lamina recall "{question}"', *options])
        return self.run_step(
            title,
            f"{before}\n$ {command}" if before else command,
            lambda session: read.recall(session, question, k=3, as_of=as_of or None, known_at=known_at or None),
        )

    def recalled_text(self, question: str, *, as_of: str = "", known_at: str = "") -> str:
        """Return the text of all relevant hits for a question."""
        hits = self.recall_step("", question, as_of=as_of, known_at=known_at).view.data["hits"]
        return "\n".join(hit["text"] for hit in hits if hit["relevant"])

    def current_atoms(self) -> dict[str, tuple[str, str]]:
        """Return the status and text of every atom by id."""
        atoms = self.run_step("", "", lambda session: read.list_(session, all_statuses=True, limit=1000)).view.data[
            "atoms"
        ]
        return {atom["id"]: (atom["status"], atom["content"]) for atom in atoms}

    def status_of(self, name: str) -> str:
        """Return the status of an atom by its name in the tour."""
        return self.current_atoms()[self.ids[name]][0]

    def file_of(self, name: str) -> Path:
        """Return the file of an atom by its name in the tour."""
        view = self.run_step("", "", lambda session: read.get(session, self.ids[name])).view
        return self.vault / str(view.data["path"])


def atom_ids_in(scene: TourStep) -> list[Json]:
    """Return the ids of the hits of a step and of their statements."""
    hits = scene.view.data["hits"]
    return [*(hit["id"] for hit in hits), *(atom_id for hit in hits for atom_id, _ in hit["statements"])]


def folder_contains(folder: Path, text: str) -> bool:
    """Return whether any file below a folder contains a text."""
    return any(text.encode() in file.read_bytes() for file in folder.rglob("*") if file.is_file())
