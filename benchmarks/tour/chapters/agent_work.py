"""Tour chapter about agents at work: runs, blocks, relations, exports and statistics."""

from __future__ import annotations

from benchmarks.tour.tour_chapter import TourChapter, TourStep
from lamina.cli import read, upkeep, working_memory, write
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandResult, TextLine


class AgentWorkChapter(TourChapter):
    """Steps with working memory, exports and counts."""

    def run_task(self) -> TourStep:
        def both(session: CommandSession) -> CommandResult:
            noted = working_memory.note(session, "task-7", "The kettle needs descaling first.")
            closed = working_memory.close(session, "task-7", "success", "Tea was served on time.", workflow="tea")
            return CommandResult(closed.data, (*noted.blocks, TextLine(), *closed.blocks))

        step = self.run_step(
            "An agent works on a task: its notes belong to the run, the outcome is kept.",
            'lamina run note task-7 "The kettle needs descaling first."\n'
            '$ lamina run close task-7 success "Tea was served on time." --workflow tea',
            both,
        )
        note_hits = self.recall_step("", "what needs descaling?").view.data["hits"]
        outcome_hits = self.recall_step("", "was tea served on time?").view.data["hits"]
        step.checks += [
            ("recall does not find the note", not any("descaling" in hit["text"] for hit in note_hits)),
            ("recall finds the outcome", any("Tea was served on time" in hit["text"] for hit in outcome_hits)),
        ]
        return step

    def share_block(self) -> TourStep:
        def both(session: CommandSession) -> CommandResult:
            working_memory.add(session, "party", "planner", "Forty guests, two of them vegan.")
            working_memory.add(session, "party", "cook", "The oven takes six loaves at a time.")
            return working_memory.show_block(session, "party")

        step = self.run_step(
            "Several agents share notes in one file that anyone can edit.",
            'lamina block add party planner "Forty guests, two of them vegan."\n'
            '$ lamina block add party cook "The oven takes six loaves at a time."\n$ lamina block show party',
            both,
        )
        step.checks.append(("both notes are listed with their roles", len(step.view.data["entries"]) == 2))
        return step

    def relate_atoms(self) -> TourStep:
        def both(session: CommandSession) -> CommandResult:
            done = write.relate(session, self.ids["key"], "part_of", self.ids["lisbon"])
            near = read.neighbours(session, self.ids["lisbon"])
            return CommandResult(near.data, (*done.blocks, TextLine(), *near.blocks))

        key, city = self.ids["key"][-8:], self.ids["lisbon"][-8:]
        step = self.run_step(
            "Link one atom to another.", f"lamina relate {key} part_of {city}\n$ lamina neighbours {city}", both
        )
        near = [neighbour["atom"]["id"] for neighbour in step.view.data["neighbours"]]
        step.checks.append(("the link is visible from the other atom", self.ids["key"] in near))
        return step

    def export_json(self) -> TourStep:
        export_path = self.vault.parent / "backup.json"
        step = self.run_step(
            "Export everything to one file that other programs can read.",
            "lamina export backup.json",
            lambda session: upkeep.export(session, export_path),
        )
        step.checks.append(
            ("every atom is in it", all(id_ in export_path.read_text("utf-8") for id_ in self.current_atoms()))
        )
        return step

    def export_bundle(self) -> TourStep:
        bundle_path = self.vault.parent / "bundle"
        step = self.run_step(
            "Export a bundle in an open format: active statements with their evidence.",
            "lamina export bundle --format okf",
            lambda session: upkeep.export(session, bundle_path, format="okf"),
        )
        texts = {file.read_text(encoding="utf-8") for file in bundle_path.rglob("*.md")}
        step.checks += [
            ("it has an index and a log", (bundle_path / "index.md").is_file() and (bundle_path / "log.md").is_file()),
            ("superseded statements are not in it as facts", not any("Ann lives in Berlin." in text for text in texts)),
        ]
        return step

    def show_stats(self) -> TourStep:
        step = self.run_step("Show the counts.", "lamina stats", lambda session: upkeep.stats(session))
        note_count = 1  # the archived note of the closed run, which lists leave out
        unlisted = note_count + step.view.data["by_kind"].get("box", 0)
        step.checks.append(("it counts every atom", step.view.data["atoms"] == len(self.current_atoms()) + unlisted))
        return step
