"""Tour chapter about dreams: consolidation, its undo, the daemon, code capture and plots."""

from __future__ import annotations

from lamina.cli import dream, upkeep, write
from lamina.cli.output import Line, View
from lamina.cli.scene import Chapter, Scene
from lamina.cli.serve import happening_data
from lamina.cli.session import Session
from lamina.keeper import Happening, Keeper, What

_SAID = (
    "The harbour office opens at eight.",
    "The harbour office keeps the spare keys of every boat.",
    "The harbour office issues mooring permits on Mondays.",
    "The harbour office is closed in February.",
    "The harbour office moved into the old customs house.",
)
_HEARD = ("I bought a used sailing boat.", "I keep the boat at pier four.", "I paint the boat every spring.")


class Night(Chapter):
    """Steps that run a dream over a few statements about one thing."""

    def dream(self) -> Scene:
        def both(session: Session) -> View:
            for words in _SAID:
                write.remember(session, words, subject="Harbour Office")
            return dream.dream(session)

        step = self.play(
            "A dream summarises the statements about one thing, with a source for every line.", "lamina dream", both
        )
        self.ids["dream"] = str(step.view.data["batch"])
        syntheses = [words for status, words in self.current().values() if status == "active" and words.count("[") >= 3]
        pages = list((self.vault / "entities").glob("harbour-office-*.md"))
        statements = [words for _, words in self.current().values() if words in _SAID]
        step.checks += [
            ("a synthesis cites its sources", any("harbour office" in words for words in syntheses)),
            ("the Harbour Office has a page", len(pages) == 1),
            ("the statements themselves are unchanged", len(statements) == len(_SAID)),
        ]
        return step

    def again(self) -> Scene:
        tour_step = self.play("A second dream changes nothing.", "lamina dream", dream.dream)
        moves = [move for step in tour_step.view.data["steps"] for move in step["moves"]]
        tour_step.checks.append(("no step made a change", not moves))
        return tour_step

    def undo(self) -> Scene:
        batch = self.ids["dream"]
        step = self.play(
            "The whole dream is undone by its id.",
            f"lamina undo {batch}",
            lambda session: View(write.undo(session, batch).data, (Line("every step of it is undone"),)),
        )
        pages = list((self.vault / "entities").glob("harbour-office-*.md"))
        step.checks.append(("its page is removed from the vault", not pages))
        return step

    def keep(self) -> Scene:
        events: list[Happening] = []

        def run_once(session: Session) -> View:
            for n, words in enumerate(_HEARD):
                write.capture(session, words, session_id=f"pier-{n}", speaker="Ann")
            Keeper(session.memory, events.append).once()
            lines = tuple(Line(f"{happening.what}: {happening.text}") for happening in events)
            return View([happening_data(happening) for happening in events], lines)

        step = self.play(
            "A daemon does this automatically; after three captures a dream is due.", "lamina serve --once", run_once
        )
        step.checks.append(("it ran a dream", any(happening.what is What.DREAM for happening in events)))
        return step

    def code(self) -> Scene:
        folder = self.vault.parent / "bakery"
        folder.mkdir(exist_ok=True)
        source = (
            '"""The oven of the bakery."""\n\n\ndef bake(loaf: str, minutes: int = 40) -> int:\n    return minutes\n'
        )
        (folder / "oven.py").write_text(source, encoding="utf-8")
        step = self.play(
            "Capture an outline of a code folder: its tree and its signatures.",
            "lamina capture --codebase bakery",
            lambda session: write.capture(session, codebase=folder),
        )
        step.checks.append(
            ("recall finds the function", "def bake(loaf" in self.found("how is a loaf baked in the oven?"))
        )
        return step

    def move(self) -> Scene:
        def both(session: Session) -> View:
            remembered = write.remember(session, "Ann returns the ladder on Friday.", kind="commitment")
            atom_id = remembered.data["outcomes"][0]["atom"]["id"]
            write.demote(session, atom_id)
            return write.resolve(session, atom_id)

        step = self.play(
            "Mark a commitment as done: it is archived later, and nothing is lost.", "lamina resolve ID", both
        )
        step.checks.append(("the atom is resolved", step.view.data["atom"]["resolved"] is True))
        return step

    def picture(self) -> Scene:
        picture_path = self.vault.parent / "memory.svg"
        step = self.play(
            "Draw retention, heat and counts in one picture.",
            "lamina stats --plot memory.svg",
            lambda session: upkeep.stats(session, picture_path),
        )
        step.checks.append(("the picture is drawn", "<svg" in picture_path.read_text("utf-8")))
        return step
