"""Tour chapter about files: edits, dropped notes, broken files, and lost databases."""

from __future__ import annotations

import shutil
from pathlib import Path

from lamina.cli import init, read, upkeep, write
from lamina.cli.output import Line, View
from lamina.cli.scene import Chapter, Scene, atoms_in
from lamina.cli.session import Session

DROPPED = "The spare key is under the blue flower pot.\n"
BROKEN = "---\nkind: fact\nsubject: [never closed\n---\n\nThe boiler is serviced every May.\n"


class Files(Chapter):
    """Steps in which a person edits, adds, breaks and repairs files."""

    def edit(self) -> Scene:
        file = self.file("coffee")
        file.write_text(file.read_text(encoding="utf-8").replace("light roast coffee", "green tea"), encoding="utf-8")
        step = self.ask(
            "Edit the file in any editor: the edit is used immediately.",
            "what tea does Ann drink?",
            before=f"sed -i 's/light roast coffee/green tea/' {file.relative_to(self.vault)}",
        )
        hit = next((hit for hit in step.view.data["hits"] if hit["id"] == self.ids["coffee"]), {"text": ""})
        step.checks.append(("recall returns the edited words", "green tea" in hit["text"]))
        return step

    def drop(self) -> Scene:
        file = self.vault / "atoms" / "spare key.md"
        file.write_text(DROPPED, encoding="utf-8")
        step = self.ask(
            "Save a plain note in atoms/: it becomes an atom.",
            "where is the spare key?",
            before=f"echo '{DROPPED.strip()}' > 'atoms/spare key.md'",
        )
        self.ids["key"] = step.view.data["hits"][0]["id"] if step.view.data["hits"] else ""
        step.checks += [
            ("the note is found", [hit["text"] for hit in step.view.data["hits"][:1]] == [DROPPED.strip()]),
            ("an id was written into the file, its words are unchanged", _holds(file, self.ids["key"], DROPPED)),
        ]
        return step

    def pin(self) -> Scene:
        def both(session: Session) -> View:
            done, core = write.pin(session, self.ids["key"]), read.top(session)
            return View(core.data, (*done.blocks, Line(), *core.blocks))

        step = self.play(
            "Pin what is important: an agent always gets it.", f"lamina pin {self.ids['key'][-8:]}\n$ lamina top", both
        )
        step.checks += [
            ("the file shows it", "pinned: true" in self.file("key").read_text(encoding="utf-8")),
            ("it is the first core memory", step.view.data["atoms"][0]["id"] == self.ids["key"]),
        ]
        return step

    def forget(self) -> Scene:
        step = self.play(
            "Forget an atom: it is hidden, not removed.",
            f'lamina forget {self.ids["key"][-8:]} --reason "changed the lock"',
            lambda session: write.forget(session, self.ids["key"], reason="changed the lock"),
        )
        again = self.ask("", "where is the spare key?")
        step.checks.append(("recall no longer finds it", self.ids["key"] not in atoms_in(again)))
        return step

    def undo(self) -> Scene:
        step = self.play("Undo it.", "lamina undo", lambda session: write.undo(session))
        again = self.ask("", "where is the spare key?")
        step.checks.append(("recall finds it again", self.ids["key"] in atoms_in(again)))
        return step

    def broken(self) -> Scene:
        file = self.vault / "atoms" / "boiler.md"
        file.write_text(BROKEN, encoding="utf-8")
        step = self.play(
            "A file that cannot be parsed is reported and left unchanged; everything else works.",
            "lamina doctor",
            lambda session: upkeep.doctor(session),
        )
        step.checks += [
            (
                "doctor names the file",
                [problem["path"] for problem in step.view.data["problems"]] == ["atoms/boiler.md"],
            ),
            ("the file is unchanged", file.read_text(encoding="utf-8") == BROKEN),
        ]
        return step

    def repair(self) -> Scene:
        file = self.vault / "atoms" / "boiler.md"
        file.write_text(BROKEN.replace("[never closed", "boiler"), encoding="utf-8")
        step = self.ask(
            "Fix the line, and the file is read.",
            "when is the boiler serviced?",
            before="sed -i 's/\\[never closed/boiler/' atoms/boiler.md",
        )
        healthy = self.play("", "", lambda session: upkeep.doctor(session, deep=True))
        step.checks += [
            (
                "recall finds the fixed file",
                "serviced every May" in "".join(hit["text"] for hit in step.view.data["hits"]),
            ),
            ("doctor finds no problems in files, journal and index", healthy.view.data["healthy"]),
        ]
        return step

    def lose_index(self) -> Scene:
        self.play("", "", upkeep.sync)
        before = self.ask("", "what tea does Ann drink?").view.data["hits"]
        for file in (self.vault / ".lamina").glob("index.db*"):
            file.unlink()
        self.play("", "", upkeep.sync)
        step = self.ask(
            "Delete the index: it is rebuilt and gives the same answers.",
            "what tea does Ann drink?",
            before="rm .lamina/index.db*\n$ lamina sync",
        )
        step.checks.append(("the same hits, order and scores", bool(before) and step.view.data["hits"] == before))
        return step

    def lose_everything(self) -> Scene:
        current = self.current()
        shutil.rmtree(self.vault / ".lamina")
        step = self.play(
            "Delete all of .lamina/: the current state is restored from the files.",
            "rm -r .lamina\n$ lamina init .",
            lambda session: init.init(session, self.vault),
        )
        step.view = View(step.view.data, step.view.blocks[:2])
        step.checks.append((f"all {len(current)} atoms are restored, with status and text", self.current() == current))
        return step


def _holds(file: Path, *parts: str) -> bool:
    text = file.read_text(encoding="utf-8")
    return all(part in text for part in parts)
