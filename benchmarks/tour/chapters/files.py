"""Tour chapter about files: edits, dropped notes, broken files, and lost databases."""

from __future__ import annotations

import shutil
from pathlib import Path

from benchmarks.tour.tour_chapter import TourChapter, TourStep, atom_ids_in
from lamina.cli import init, read, upkeep, write
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandResult, TextLine

DROPPED_NOTE = "The spare key is under the blue flower pot.\n"
BROKEN_FILE = "---\nkind: fact\nsubject: [never closed\n---\n\nThe boiler is serviced every May.\n"


class FilesChapter(TourChapter):
    """Steps in which a person edits, adds, breaks and repairs files."""

    def edit_file(self) -> TourStep:
        file = self.file_of("coffee")
        file.write_text(file.read_text(encoding="utf-8").replace("light roast coffee", "green tea"), encoding="utf-8")
        step = self.recall_step(
            "Edit the file in any editor: the edit is used immediately.",
            "what tea does Ann drink?",
            before=f"sed -i 's/light roast coffee/green tea/' {file.relative_to(self.vault)}",
        )
        hit = next((hit for hit in step.view.data["hits"] if hit["id"] == self.ids["coffee"]), {"text": ""})
        step.checks.append(("recall returns the edited words", "green tea" in hit["text"]))
        return step

    def drop_note(self) -> TourStep:
        file = self.vault / "atoms" / "spare key.md"
        file.write_text(DROPPED_NOTE, encoding="utf-8")
        step = self.recall_step(
            "Save a plain note in atoms/: it becomes an atom.",
            "where is the spare key?",
            before=f"echo '{DROPPED_NOTE.strip()}' > 'atoms/spare key.md'",
        )
        self.ids["key"] = step.view.data["hits"][0]["id"] if step.view.data["hits"] else ""
        step.checks += [
            ("the note is found", [hit["text"] for hit in step.view.data["hits"][:1]] == [DROPPED_NOTE.strip()]),
            (
                "an id was written into the file, its words are unchanged",
                _file_contains(file, self.ids["key"], DROPPED_NOTE),
            ),
        ]
        return step

    def pin_atom(self) -> TourStep:
        def both(session: CommandSession) -> CommandResult:
            done, core = write.pin(session, self.ids["key"]), read.top(session)
            return CommandResult(core.data, (*done.blocks, TextLine(), *core.blocks))

        step = self.run_step(
            "Pin what is important: an agent always gets it.", f"lamina pin {self.ids['key'][-8:]}\n$ lamina top", both
        )
        step.checks += [
            ("the file shows it", "pinned: true" in self.file_of("key").read_text(encoding="utf-8")),
            ("it is the first core memory", step.view.data["atoms"][0]["id"] == self.ids["key"]),
        ]
        return step

    def forget_atom(self) -> TourStep:
        step = self.run_step(
            "Forget an atom: it is hidden, not removed.",
            f'lamina forget {self.ids["key"][-8:]} --reason "changed the lock"',
            lambda session: write.forget(session, self.ids["key"], reason="changed the lock"),
        )
        again = self.recall_step("", "where is the spare key?")
        step.checks.append(("recall no longer finds it", self.ids["key"] not in atom_ids_in(again)))
        return step

    def undo_forget(self) -> TourStep:
        step = self.run_step("Undo it.", "lamina undo", lambda session: write.undo(session))
        again = self.recall_step("", "where is the spare key?")
        step.checks.append(("recall finds it again", self.ids["key"] in atom_ids_in(again)))
        return step

    def break_file(self) -> TourStep:
        file = self.vault / "atoms" / "boiler.md"
        file.write_text(BROKEN_FILE, encoding="utf-8")
        step = self.run_step(
            "A file that cannot be parsed is reported and left unchanged; everything else works.",
            "lamina doctor",
            lambda session: upkeep.doctor(session),
        )
        step.checks += [
            (
                "doctor names the file",
                [problem["path"] for problem in step.view.data["problems"]] == ["atoms/boiler.md"],
            ),
            ("the file is unchanged", file.read_text(encoding="utf-8") == BROKEN_FILE),
        ]
        return step

    def repair_file(self) -> TourStep:
        file = self.vault / "atoms" / "boiler.md"
        file.write_text(BROKEN_FILE.replace("[never closed", "boiler"), encoding="utf-8")
        step = self.recall_step(
            "Fix the line, and the file is read.",
            "when is the boiler serviced?",
            before="sed -i 's/\\[never closed/boiler/' atoms/boiler.md",
        )
        healthy = self.run_step("", "", lambda session: upkeep.doctor(session, deep=True))
        step.checks += [
            (
                "recall finds the fixed file",
                "serviced every May" in "".join(hit["text"] for hit in step.view.data["hits"]),
            ),
            ("doctor finds no problems in files, journal and index", healthy.view.data["healthy"]),
        ]
        return step

    def delete_index(self) -> TourStep:
        self.run_step("", "", upkeep.sync)
        before = self.recall_step("", "what tea does Ann drink?").view.data["hits"]
        for file in (self.vault / ".lamina").glob("index.db*"):
            file.unlink()
        self.run_step("", "", upkeep.sync)
        step = self.recall_step(
            "Delete the index: it is rebuilt and gives the same answers.",
            "what tea does Ann drink?",
            before="rm .lamina/index.db*\n$ lamina sync",
        )
        step.checks.append(("the same hits, order and scores", bool(before) and step.view.data["hits"] == before))
        return step

    def delete_databases(self) -> TourStep:
        current = self.current_atoms()
        shutil.rmtree(self.vault / ".lamina")
        step = self.run_step(
            "Delete all of .lamina/: the current state is restored from the files.",
            "rm -r .lamina\n$ lamina init .",
            lambda session: init.init(session, self.vault),
        )
        step.view = CommandResult(step.view.data, step.view.blocks[:2])
        step.checks.append(
            (f"all {len(current)} atoms are restored, with status and text", self.current_atoms() == current)
        )
        return step


def _file_contains(file: Path, *parts: str) -> bool:
    text = file.read_text(encoding="utf-8")
    return all(part in text for part in parts)
