"""Tour chapter about dreams: consolidation, its undo, the daemon, code capture and plots."""

from __future__ import annotations

from benchmarks.tour.tour_chapter import TourChapter, TourStep
from lamina.cli import dream, upkeep, write
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandResult, TextLine
from lamina.cli.serve import event_data
from lamina.daemon import Daemon, DaemonEvent, DaemonEventType

_STATEMENTS = (
    "The harbour office opens at eight.",
    "The harbour office keeps the spare keys of every boat.",
    "The harbour office issues mooring permits on Mondays.",
    "The harbour office is closed in February.",
    "The harbour office moved into the old customs house.",
)
_TURNS = ("I bought a used sailing boat.", "I keep the boat at pier four.", "I paint the boat every spring.")


class DreamChapter(TourChapter):
    """Steps that run a dream over a few statements about one thing."""

    def run_dream(self) -> TourStep:
        def both(session: CommandSession) -> CommandResult:
            for words in _STATEMENTS:
                write.remember(session, words, subject="Harbour Office")
            return dream.dream(session)

        step = self.run_step(
            "A dream summarises the statements about one thing, with a source for every line.", "lamina dream", both
        )
        self.ids["dream"] = str(step.view.data["batch"])
        syntheses = [
            words for status, words in self.current_atoms().values() if status == "active" and words.count("[") >= 3
        ]
        pages = list((self.vault / "entities").glob("harbour-office-*.md"))
        statements = [words for _, words in self.current_atoms().values() if words in _STATEMENTS]
        step.checks += [
            ("a synthesis cites its sources", any("harbour office" in words for words in syntheses)),
            ("the Harbour Office has a page", len(pages) == 1),
            ("the statements themselves are unchanged", len(statements) == len(_STATEMENTS)),
        ]
        return step

    def repeat_dream(self) -> TourStep:
        tour_step = self.run_step("A second dream changes nothing.", "lamina dream", dream.dream)
        moves = [move for step in tour_step.view.data["steps"] for move in step["moves"]]
        tour_step.checks.append(("no step made a change", not moves))
        return tour_step

    def undo_dream(self) -> TourStep:
        batch = self.ids["dream"]
        step = self.run_step(
            "The whole dream is undone by its id.",
            f"lamina undo {batch}",
            lambda session: CommandResult(write.undo(session, batch).data, (TextLine("every step of it is undone"),)),
        )
        pages = list((self.vault / "entities").glob("harbour-office-*.md"))
        step.checks.append(("its page is removed from the vault", not pages))
        return step

    def run_daemon_once(self) -> TourStep:
        events: list[DaemonEvent] = []

        def run_once(session: CommandSession) -> CommandResult:
            for n, words in enumerate(_TURNS):
                write.capture(session, words, session_id=f"pier-{n}", speaker="Ann")
            Daemon(session.memory, events.append).run_once()
            lines = tuple(TextLine(f"{happening.event_type}: {happening.text}") for happening in events)
            return CommandResult([event_data(happening) for happening in events], lines)

        step = self.run_step(
            "A daemon does this automatically; after three captures a dream is due.", "lamina serve --once", run_once
        )
        step.checks.append(
            ("it ran a dream", any(happening.event_type is DaemonEventType.DREAM for happening in events))
        )
        return step

    def capture_code(self) -> TourStep:
        folder = self.vault.parent / "bakery"
        folder.mkdir(exist_ok=True)
        source = (
            '"""The oven of the bakery."""\n\n\ndef bake(loaf: str, minutes: int = 40) -> int:\n    return minutes\n'
        )
        (folder / "oven.py").write_text(source, encoding="utf-8")
        step = self.run_step(
            "Capture an outline of a code folder: its tree and its signatures.",
            "lamina capture --codebase bakery",
            lambda session: write.capture(session, codebase=folder),
        )
        step.checks.append(
            ("recall finds the function", "def bake(loaf" in self.recalled_text("how is a loaf baked in the oven?"))
        )
        return step

    def resolve_commitment(self) -> TourStep:
        def both(session: CommandSession) -> CommandResult:
            remembered = write.remember(session, "Ann returns the ladder on Friday.", kind="commitment")
            atom_id = remembered.data["outcomes"][0]["atom"]["id"]
            write.demote(session, atom_id)
            return write.resolve(session, atom_id)

        step = self.run_step(
            "Mark a commitment as done: it is archived later, and nothing is lost.", "lamina resolve ID", both
        )
        step.checks.append(("the atom is resolved", step.view.data["atom"]["resolved"] is True))
        return step

    def plot_memory(self) -> TourStep:
        picture_path = self.vault.parent / "memory.svg"
        step = self.run_step(
            "Draw retention, heat and counts in one picture.",
            "lamina stats --plot memory.svg",
            lambda session: upkeep.stats(session, picture_path),
        )
        step.checks.append(("the picture is drawn", "<svg" in picture_path.read_text("utf-8")))
        return step
