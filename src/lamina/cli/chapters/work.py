"""Agents at work: runs, blocks, links, and what leaves the vault."""

from __future__ import annotations

from lamina.cli import read, upkeep, working, write
from lamina.cli.output import Line, View
from lamina.cli.scene import Chapter, Scene
from lamina.cli.session import Session


class Work(Chapter):
    """What agents keep while they work, and how it all stands."""

    def work(self) -> Scene:
        def both(session: Session) -> View:
            noted = working.note(session, "task-7", "The kettle needs descaling first.")
            closed = working.close(session, "task-7", "success", "Tea was served on time.", workflow="tea")
            return View(closed.data, (*noted.blocks, Line(), *closed.blocks))

        scene = self.play(
            "An agent works: notes live as long as the run, what came of it stays.",
            'lamina run note task-7 "The kettle needs descaling first."\n'
            '$ lamina run close task-7 success "Tea was served on time." --workflow tea',
            both,
        )
        notes = self.ask("", "what needs descaling?").view.data["hits"]
        came = self.ask("", "was tea served on time?").view.data["hits"]
        scene.checks += [
            ("no recall finds the note", not any("descaling" in hit["text"] for hit in notes)),
            ("recall finds what came of it", any("Tea was served on time" in hit["text"] for hit in came)),
        ]
        return scene

    def block(self) -> Scene:
        def both(session: Session) -> View:
            working.add(session, "party", "planner", "Forty guests, two of them vegan.")
            working.add(session, "party", "cook", "The oven takes six loaves at a time.")
            return working.show_block(session, "party")

        scene = self.play(
            "Several agents share one list of notes, a file anyone can edit.",
            'lamina block add party planner "Forty guests, two of them vegan."\n'
            '$ lamina block add party cook "The oven takes six loaves at a time."\n$ lamina block show party',
            both,
        )
        scene.checks.append(("both notes are told, with who noted them", len(scene.view.data["entries"]) == 2))
        return scene

    def relate(self) -> Scene:
        def both(session: Session) -> View:
            done = write.relate(session, self.ids["key"], "part_of", self.ids["lisbon"])
            near = read.neighbours(session, self.ids["lisbon"])
            return View(near.data, (*done.blocks, Line(), *near.blocks))

        key, city = self.ids["key"][-8:], self.ids["lisbon"][-8:]
        scene = self.play(
            "Atoms are linked to each other.", f"lamina relate {key} part_of {city}\n$ lamina neighbours {city}", both
        )
        near = [each["atom"]["id"] for each in scene.view.data["neighbours"]]
        scene.checks.append(("the link is seen from the other side", self.ids["key"] in near))
        return scene

    def export(self) -> Scene:
        place = self.vault.parent / "backup.json"
        scene = self.play(
            "Everything leaves in one file that needs no lamina.",
            "lamina export backup.json",
            lambda session: upkeep.export(session, place),
        )
        scene.checks.append(("every atom is in it", all(id_ in place.read_text("utf-8") for id_ in self.current())))
        return scene

    def bundle(self) -> Scene:
        place = self.vault.parent / "bundle"
        scene = self.play(
            "Other programs get a bundle in an open format: what stands, and the words it rests on.",
            "lamina export bundle --format okf",
            lambda session: upkeep.export(session, place, format="okf"),
        )
        told = {file.read_text(encoding="utf-8") for file in place.rglob("*.md")}
        scene.checks += [
            ("it has an index and a log", (place / "index.md").is_file() and (place / "log.md").is_file()),
            ("what was replaced is not in it as a fact", not any("Ann lives in Berlin." in text for text in told)),
        ]
        return scene

    def stats(self) -> Scene:
        scene = self.play("How it stands.", "lamina stats", lambda session: upkeep.stats(session))
        noted = 1  # of the run that was closed; lists leave it out
        scene.checks.append(("it counts every atom", scene.view.data["atoms"] == len(self.current()) + noted))
        return scene
