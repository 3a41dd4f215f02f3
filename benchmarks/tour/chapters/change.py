"""Tour chapter about change: new values, corrections, recall at past times, forgetting and erasing."""

from __future__ import annotations

from datetime import UTC, datetime

from benchmarks.tour.tour_chapter import TourChapter, TourStep, folder_contains
from lamina.cli import erase, read, review, upkeep, write
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandResult, TextLine

OFFICE = "where is our office?"
ADDRESS = "what is Ann's address?"
CONTACT = "My address is 12 Quay Street. My phone number is 0612 345 678."


class ChangeChapter(TourChapter):
    """Steps that supersede, correct, forget and erase statements."""

    def supersede_value(self) -> TourStep:
        def twice(session: CommandSession) -> CommandResult:
            first = write.remember(session, "Ann lives in Berlin.", subject="Ann", attribute="city", value="Berlin")
            self.ids["berlin"] = first.data["outcomes"][0]["atom"]["id"]
            second = write.remember(session, "Ann lives in Lisbon.", subject="Ann", attribute="city", value="Lisbon")
            return CommandResult(second.data, (*first.blocks, TextLine(), *second.blocks))

        options = "--subject Ann --attribute city --value"
        step = self.run_step(
            "A value changes: the new one supersedes the old one, which is kept.",
            f'lamina remember "Ann lives in Berlin." {options} Berlin\n'
            f'$ lamina remember "Ann lives in Lisbon." {options} Lisbon',
            twice,
        )
        outcome = step.view.data["outcomes"][0]
        self.ids["lisbon"] = outcome["atom"]["id"]
        again = self.recall_step("", "which city does Ann live in?")
        texts = [hit["text"] for hit in again.view.data["hits"]]
        step.checks += [
            ("the new value supersedes the old", outcome["result"] == "supersedes"),
            (
                "recall finds Lisbon and no longer Berlin",
                "Ann lives in Lisbon." in texts and "Ann lives in Berlin." not in texts,
            ),
        ]
        return step

    def show_history(self) -> TourStep:
        step = self.run_step(
            "The old value still has its history.",
            f"lamina history {self.ids['berlin'][-8:]}",
            lambda session: read.history(session, self.ids["berlin"]),
        )
        moves = [transition["new"] for transition in step.view.data["transitions"]]
        step.checks.append(("it was active, then superseded", moves == ["active", "superseded"]))
        return step

    def replace_statement(self) -> TourStep:
        self._capture_two(
            "",
            [
                ("spring", "2026-03-02", "Remember that our office is in Cork."),
                ("autumn", "2026-09-07", "Remember that our office is in Galway."),
            ],
        )
        old, new = self.ids["first"], self.ids["second"]

        def decide(session: CommandSession) -> CommandResult:
            write.relate(session, new, "contradicts", old)
            return review.keep(session, new, over=old, reason="the office moved")

        commands = (
            'lamina capture --session spring --speaker Ann "Remember that our office is in Cork."\n'
            '$ lamina capture --session autumn --speaker Ann "Remember that our office is in Galway."'
        )
        if self.run_step("", "", lambda session: read.get(session, old)).view.data["status"] == "superseded":
            step = self.run_step(
                "A new statement replaces an old one. The old words are no longer an answer.",
                commands,
                lambda session: read.get(session, old),
            )
        else:
            step = self.run_step(
                "Two statements contradict each other: you decide once. The old words are no longer an answer.",
                f"{commands}\n$ lamina relate {new[-8:]} contradicts {old[-8:]}\n"
                f'$ lamina review keep {new[-8:]} --over {old[-8:]} --reason "the office moved"',
                decide,
            )
        status = self.run_step("", "", lambda session: read.get(session, old)).view.data["status"]
        step.checks += [
            ("the statement of spring is superseded, in one commit", status == "superseded"),
            ("recall answers with Galway, and no longer with Cork", self._recalls_galway_only()),
        ]
        return step

    def replay_transcript(self) -> TourStep:
        text = "Remember that our office is in Cork."
        step = self.run_step(
            "The old transcript is captured again, from a backup. It does not undo the change.",
            f'lamina capture --session backup --speaker Ann --at 2026-03-02 "{text}"',
            lambda session: write.capture(session, text, session_id="backup", speaker="Ann", observed_at="2026-03-02"),
        )
        step.checks.append(("recall still answers with Galway only", self._recalls_galway_only()))
        return step

    def recall_past_truth(self) -> TourStep:
        step = self.recall_step("Ask what was true in summer.", OFFICE, as_of="2026-06-01")
        first = step.view.data["hits"][0] if step.view.data["hits"] else {"text": "", "marks": []}
        step.checks += [
            ("the answer is Cork", "our office is in Cork." in first["text"]),
            ("the hit is marked as historical", "historical" in first["marks"]),
        ]
        return step

    def invalidate_statement(self) -> TourStep:
        self._capture_two(
            "",
            [
                ("call", "", "Remember that my dentist is Dr Reyes, whose practice is above a bakery in the market."),
                ("call 2", "", "Remember that my dentist is Dr Moss."),
            ],
        )
        wrong, why = self.ids["first"], "she mixed them up"
        step = self.run_step(
            "A statement was never true: invalidate it. Its words are kept, but are no longer an answer.",
            f'lamina status {wrong[-8:]} invalidated --reason "{why}"',
            lambda session: write.status(session, wrong, "invalidated", reason=why),
        )
        after = self.run_step("", "", lambda session: read.get(session, wrong)).view.data
        step.checks.append(("its status is invalidated, not superseded", after["status"] == "invalidated"))
        return step

    def recall_past_knowledge(self) -> TourStep:
        moment = self.ids["between"]
        step = self.recall_step("Ask what was known before that.", "who is Ann's dentist?", known_at=moment)
        then = "".join(hit["text"] for hit in step.view.data["hits"])
        now = self.recalled_text("who is Ann's dentist?")
        step.checks += [
            ("the answer is Dr Reyes, as known then", "Reyes" in then and "Moss" not in then),
            ("today the answer is Dr Moss only", "Moss" in now and "Reyes" not in now),
        ]
        return step

    def forget_on_request(self) -> TourStep:
        step = self._capture_two(
            "Ask in a conversation to forget something. Only that is forgotten.",
            [("visit", "2026-10-01", CONTACT), ("visit", "2026-10-02", "Please forget my address.")],
        )
        forgotten = [outcome["atom"] for outcome in step.view.data["outcomes"] if outcome["result"] == "taken back"]
        self.ids["address"] = forgotten[0]["id"] if forgotten else ""
        step.checks += [
            ("the address is tombstoned", [atom["status"] for atom in forgotten] == ["tombstoned"]),
            ("recall no longer finds it", "Quay Street" not in self.recalled_text(ADDRESS)),
            (
                "recall still finds the phone number",
                "0612 345 678" in self.recalled_text("what is Ann's phone number?"),
            ),
        ]
        return step

    def erase_text(self) -> TourStep:
        why = "she asked me to"
        step = self.run_step(
            "Forgetting keeps the words for undo. Erasing removes them for good, and names copies it cannot erase.",
            f'lamina erase {self.ids["address"][-8:]} --reason "{why}" --yes',
            lambda session: erase.erase(session, [self.ids["address"]], reason=why, yes=True),
        )
        receipt = step.view.data
        again = self.run_step(
            "",
            "",
            lambda session: write.capture(
                session, CONTACT, session_id="backup 2", speaker="Ann", observed_at="2026-10-01"
            ),
        )
        is_healthy = self.run_step("", "", lambda session: upkeep.doctor(session, deep=True)).view.data["healthy"]
        step.checks += [
            (
                "the receipt counts what was removed, and names copies elsewhere",
                bool(receipt["removed"] and receipt["outside"]),
            ),
            (
                "no byte of it is left in the vault, even after the old words were captured again",
                bool(again.view.data) and not folder_contains(self.vault, "Quay Street"),
            ),
            ("the journal's hash chain is still valid", is_healthy),
        ]
        return step

    def _capture_two(self, title: str, turns: list[tuple[str, str, str]]) -> TourStep:
        """Capture two turns of Ann and remember a time between them; return the step."""
        before = self._capture(*turns[0])
        self.ids["first"] = _first_statement_id(before)
        self.ids["between"] = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        after = self._capture(*turns[1])
        self.ids["second"] = _first_statement_id(after)
        command = "\n$ ".join(
            f'lamina capture --session {session_id} --speaker Ann {f"--at {at} " if at else ""}"{words}"'
            for session_id, at, words in turns
        )
        return TourStep(title, command, CommandResult(after.data, (*before.blocks, TextLine(), *after.blocks)))

    def _capture(self, session_id: str, at: str, text: str) -> CommandResult:
        return self.run_step(
            "",
            "",
            lambda session: write.capture(session, text, session_id=session_id, speaker="Ann", observed_at=at or None),
        ).view

    def _recalls_galway_only(self) -> bool:
        text = self.recalled_text(OFFICE)
        return "Galway" in text and "office is in Cork" not in text


def _first_statement_id(view: CommandResult) -> str:
    """Return the id of the first statement of a capture; empty if there is none."""
    atoms = (outcome["atom"] for outcome in view.data["outcomes"])
    return next((str(atom["id"]) for atom in atoms if atom["kind"] != "narrative"), "")
