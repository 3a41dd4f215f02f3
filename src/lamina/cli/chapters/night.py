"""A night: what belongs together is summed up, beside what people said, and a night is taken back as one."""

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
    """What a dream makes of a few statements about one thing."""

    def dream(self) -> Scene:
        def both(session: Session) -> View:
            for words in _SAID:
                write.remember(session, words, subject="Harbour Office")
            return dream.dream(session)

        scene = self.play(
            "At night, what is said of one thing is summed up beside it, every line with its source.",
            "lamina dream",
            both,
        )
        self.ids["dream"] = str(scene.view.data["batch"])
        made = [words for status, words in self.current().values() if status == "active" and words.count("[") >= 3]
        pages = list((self.vault / "entities").glob("harbour-office-*.md"))
        kept = [words for _, words in self.current().values() if words in _SAID]
        scene.checks += [
            ("a synthesis cites what it was made of", any("harbour office" in words for words in made)),
            ("the Harbour Office has a page", len(pages) == 1),
            ("what was said stands as it was", len(kept) == len(_SAID)),
        ]
        return scene

    def again(self) -> Scene:
        scene = self.play("Dreaming again changes nothing.", "lamina dream", dream.dream)
        moves = [move for step in scene.view.data["steps"] for move in step["moves"]]
        scene.checks.append(("no step had anything to do", not moves))
        return scene

    def undo(self) -> Scene:
        batch = self.ids["dream"]
        scene = self.play(
            "The whole night is taken back by its name.",
            f"lamina undo {batch}",
            lambda session: View(write.undo(session, batch).data, (Line("every step of it is undone"),)),
        )
        pages = list((self.vault / "entities").glob("harbour-office-*.md"))
        scene.checks.append(("its page is gone from the vault", not pages))
        return scene

    def keep(self) -> Scene:
        told: list[Happening] = []

        def round_of(session: Session) -> View:
            for n, words in enumerate(_HEARD):
                write.capture(session, words, session_id=f"pier-{n}", speaker="Ann")
            Keeper(session.memory, told.append).once()
            lines = tuple(Line(f"{happening.what}: {happening.text}") for happening in told)
            return View([happening_data(happening) for happening in told], lines)

        scene = self.play(
            "A process can see to all of this by itself; after three captures a dream is due.",
            "lamina serve --once",
            round_of,
        )
        scene.checks.append(("it dreamt unasked", any(happening.what is What.DREAM for happening in told)))
        return scene

    def code(self) -> Scene:
        folder = self.vault.parent / "bakery"
        folder.mkdir(exist_ok=True)
        source = (
            '"""The oven of the bakery."""\n\n\ndef bake(loaf: str, minutes: int = 40) -> int:\n    return minutes\n'
        )
        (folder / "oven.py").write_text(source, encoding="utf-8")
        scene = self.play(
            "A folder of code is remembered in short: its tree and its signatures.",
            "lamina capture --codebase bakery",
            lambda session: write.capture(session, codebase=folder),
        )
        scene.checks.append(
            ("recall finds the function", "def bake(loaf" in self.found("how is a loaf baked in the oven?"))
        )
        return scene

    def move(self) -> Scene:
        def both(session: Session) -> View:
            made = write.remember(session, "Ann returns the ladder on Friday.", kind="commitment")
            atom = made.data["outcomes"][0]["atom"]["id"]
            write.demote(session, atom)
            return write.resolve(session, atom)

        scene = self.play(
            "A promise is kept: in time it is laid aside, and nothing of it is lost.", "lamina resolve ID", both
        )
        scene.checks.append(("it says that it is resolved", scene.view.data["atom"]["resolved"] is True))
        return scene

    def picture(self) -> Scene:
        place = self.vault.parent / "memory.svg"
        scene = self.play(
            "How memories fade, how warm they are, and how many there are, in one picture.",
            "lamina stats --plot memory.svg",
            lambda session: upkeep.stats(session, place),
        )
        scene.checks.append(("the picture is drawn", "<svg" in place.read_text("utf-8")))
        return scene
