"""Files are the owner's: edited, dropped, broken and mended, and what is left when the databases are gone."""

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
    """What a person does with files, and with what lies in them."""

    def edit(self) -> Scene:
        file = self.file("coffee")
        file.write_text(file.read_text(encoding="utf-8").replace("light roast coffee", "green tea"), encoding="utf-8")
        scene = self.ask(
            "Edit the file in any editor: the edit counts at once.",
            "what tea does Ann drink?",
            before=f"sed -i 's/light roast coffee/green tea/' {file.relative_to(self.vault)}",
        )
        hit = next((each for each in scene.view.data["hits"] if each["id"] == self.ids["coffee"]), {"text": ""})
        scene.checks.append(("recall hands out the edited words", "green tea" in hit["text"]))
        return scene

    def drop(self) -> Scene:
        file = self.vault / "atoms" / "spare key.md"
        file.write_text(DROPPED, encoding="utf-8")
        scene = self.ask(
            "Drop a plain note into atoms/: it is an atom.",
            "where is the spare key?",
            before=f"echo '{DROPPED.strip()}' > 'atoms/spare key.md'",
        )
        self.ids["key"] = scene.view.data["hits"][0]["id"] if scene.view.data["hits"] else ""
        scene.checks += [
            ("the note is found", [hit["text"] for hit in scene.view.data["hits"][:1]] == [DROPPED.strip()]),
            ("an id was written into the file, the words are untouched", _holds(file, self.ids["key"], DROPPED)),
        ]
        return scene

    def pin(self) -> Scene:
        def both(session: Session) -> View:
            done, core = write.pin(session, self.ids["key"]), read.top(session)
            return View(core.data, (*done.blocks, Line(), *core.blocks))

        scene = self.play(
            "What matters is pinned: it is told to an agent whatever it asks.",
            f"lamina pin {self.ids['key'][-8:]}\n$ lamina top",
            both,
        )
        scene.checks += [
            ("the file says so", "pinned: true" in self.file("key").read_text(encoding="utf-8")),
            ("it is the first of the core", scene.view.data["atoms"][0]["id"] == self.ids["key"]),
        ]
        return scene

    def forget(self) -> Scene:
        scene = self.play(
            "Forgetting is asked for, and takes nothing away for good.",
            f'lamina forget {self.ids["key"][-8:]} --reason "changed the lock"',
            lambda session: write.forget(session, self.ids["key"], reason="changed the lock"),
        )
        again = self.ask("", "where is the spare key?")
        scene.checks.append(("recall no longer finds it", self.ids["key"] not in atoms_in(again)))
        return scene

    def undo(self) -> Scene:
        scene = self.play("A slip? Take it back.", "lamina undo", lambda session: write.undo(session))
        again = self.ask("", "where is the spare key?")
        scene.checks.append(("recall finds it again", self.ids["key"] in atoms_in(again)))
        return scene

    def broken(self) -> Scene:
        file = self.vault / "atoms" / "boiler.md"
        file.write_text(BROKEN, encoding="utf-8")
        scene = self.play(
            "A file that cannot be read is set aside, its bytes untouched, and everything else goes on.",
            "lamina doctor",
            lambda session: upkeep.doctor(session),
        )
        scene.checks += [
            ("doctor names the file", [each["path"] for each in scene.view.data["problems"]] == ["atoms/boiler.md"]),
            ("not a byte of it was changed", file.read_text(encoding="utf-8") == BROKEN),
        ]
        return scene

    def repair(self) -> Scene:
        file = self.vault / "atoms" / "boiler.md"
        file.write_text(BROKEN.replace("[never closed", "boiler"), encoding="utf-8")
        scene = self.ask(
            "Mend the line, and the file counts.",
            "when is the boiler serviced?",
            before="sed -i 's/\\[never closed/boiler/' atoms/boiler.md",
        )
        healthy = self.play("", "", lambda session: upkeep.doctor(session, deep=True))
        scene.checks += [
            (
                "the mended file is found",
                "serviced every May" in "".join(hit["text"] for hit in scene.view.data["hits"]),
            ),
            ("doctor is content, the journal's chain and the index included", healthy.view.data["healthy"]),
        ]
        return scene

    def lose_index(self) -> Scene:
        self.play("", "", upkeep.sync)
        before = self.ask("", "what tea does Ann drink?").view.data["hits"]
        for file in (self.vault / ".lamina").glob("index.db*"):
            file.unlink()
        self.play("", "", upkeep.sync)
        scene = self.ask(
            "Delete the index: it is made anew and answers the same.",
            "what tea does Ann drink?",
            before="rm .lamina/index.db*\n$ lamina sync",
        )
        scene.checks.append(("the same hits, order and scores", bool(before) and scene.view.data["hits"] == before))
        return scene

    def lose_everything(self) -> Scene:
        current = self.current()
        shutil.rmtree(self.vault / ".lamina")
        scene = self.play(
            "Delete all of .lamina/: the current state comes back from the files.",
            "rm -r .lamina\n$ lamina init .",
            lambda session: init.init(session, self.vault),
        )
        scene.view = View(scene.view.data, scene.view.blocks[:2])
        scene.checks.append((f"all {len(current)} atoms are there, with status and words", self.current() == current))
        return scene


def _holds(file: Path, *parts: str) -> bool:
    text = file.read_text(encoding="utf-8")
    return all(part in text for part in parts)
