"""What changed stays changed: in claims, in conversation, in another time, and when somebody wants it gone."""

from __future__ import annotations

from datetime import UTC, datetime

from lamina.cli import erase, read, review, upkeep, write
from lamina.cli.output import Line, View
from lamina.cli.scene import Chapter, Scene, holds_bytes
from lamina.cli.session import Session

OFFICE = "where is our office?"
ADDRESS = "what is Ann's address?"
CONTACT = "My address is 12 Quay Street. My phone number is 0612 345 678."


class Change(Chapter):
    """What is over, what was wrong, and what shall be forgotten."""

    def supersede(self) -> Scene:
        def twice(session: Session) -> View:
            first = write.remember(session, "Ann lives in Berlin.", subject="Ann", attribute="city", value="Berlin")
            self.ids["berlin"] = first.data["outcomes"][0]["atom"]["id"]
            second = write.remember(session, "Ann lives in Lisbon.", subject="Ann", attribute="city", value="Lisbon")
            return View(second.data, (*first.blocks, Line(), *second.blocks))

        options = "--subject Ann --attribute city --value"
        scene = self.play(
            "The world changes: a new value supersedes the old one, which is kept.",
            f'lamina remember "Ann lives in Berlin." {options} Berlin\n'
            f'$ lamina remember "Ann lives in Lisbon." {options} Lisbon',
            twice,
        )
        outcome = scene.view.data["outcomes"][0]
        self.ids["lisbon"] = outcome["atom"]["id"]
        again = self.ask("", "which city does Ann live in?")
        texts = [hit["text"] for hit in again.view.data["hits"]]
        scene.checks += [
            ("the new value supersedes the old", outcome["result"] == "supersedes"),
            (
                "recall finds Lisbon and no longer Berlin",
                "Ann lives in Lisbon." in texts and "Ann lives in Berlin." not in texts,
            ),
        ]
        return scene

    def history(self) -> Scene:
        scene = self.play(
            "Nothing is lost: the old value has its history.",
            f"lamina history {self.ids['berlin'][-8:]}",
            lambda session: read.history(session, self.ids["berlin"]),
        )
        moves = [each["new"] for each in scene.view.data["transitions"]]
        scene.checks.append(("it was active, then superseded", moves == ["active", "superseded"]))
        return scene

    def move(self) -> Scene:
        self._twice(
            "",
            [
                ("spring", "2026-03-02", "Remember that our office is in Cork."),
                ("autumn", "2026-09-07", "Remember that our office is in Galway."),
            ],
        )
        old, new = self.ids["first"], self.ids["second"]

        def decide(session: Session) -> View:
            write.relate(session, new, "contradicts", old)
            return review.keep(session, new, over=old, reason="the office moved")

        said = (
            'lamina capture --session spring --speaker Ann "Remember that our office is in Cork."\n'
            '$ lamina capture --session autumn --speaker Ann "Remember that our office is in Galway."'
        )
        if self.play("", "", lambda session: read.get(session, old)).view.data["status"] == "superseded":
            scene = self.play(
                "A plain statement surely replaces another. The old words are no longer an answer.",
                said,
                lambda session: read.get(session, old),
            )
        else:
            scene = self.play(
                "Two statements disagree: you decide, once. The old words are no longer an answer.",
                f"{said}\n$ lamina relate {new[-8:]} contradicts {old[-8:]}\n"
                f'$ lamina review keep {new[-8:]} --over {old[-8:]} --reason "the office moved"',
                decide,
            )
        ended = self.play("", "", lambda session: read.get(session, old)).view.data["status"]
        scene.checks += [
            ("what was said in spring is superseded, in one commit", ended == "superseded"),
            ("recall answers with Galway, and no longer with what was said in spring", self._knows_of_galway()),
        ]
        return scene

    def replay(self) -> Scene:
        said = "Remember that our office is in Cork."
        scene = self.play(
            "The old transcript comes in once more, from a backup. What changed stays changed.",
            f'lamina capture --session backup --speaker Ann --at 2026-03-02 "{said}"',
            lambda session: write.capture(session, said, session_id="backup", speaker="Ann", at="2026-03-02"),
        )
        scene.checks.append(("recall still answers with Galway alone", self._knows_of_galway()))
        return scene

    def as_of(self) -> Scene:
        scene = self.ask("Ask what was true in summer.", OFFICE, as_of="2026-06-01")
        first = scene.view.data["hits"][0] if scene.view.data["hits"] else {"text": "", "marks": []}
        scene.checks += [
            ("it was in Cork", "our office is in Cork." in first["text"]),
            ("and the hit says that this is history", "historical" in first["marks"]),
        ]
        return scene

    def correct(self) -> Scene:
        self._twice(
            "",
            [
                ("call", "", "Remember that my dentist is Dr Reyes, whose practice is above a bakery in the market."),
                ("call 2", "", "Remember that my dentist is Dr Moss."),
            ],
        )
        wrong, why = self.ids["first"], "she mixed them up"
        scene = self.play(
            "Something was never so: invalidate it. The words stay and are no answer any more.",
            f'lamina status {wrong[-8:]} invalidated --reason "{why}"',
            lambda session: write.status(session, wrong, "invalidated", reason=why),
        )
        after = self.play("", "", lambda session: read.get(session, wrong)).view.data
        scene.checks.append(("it is invalidated, not superseded: it never was so", after["status"] == "invalidated"))
        return scene

    def known_at(self) -> Scene:
        moment = self.ids["between"]
        scene = self.ask("Ask what was known before that.", "who is Ann's dentist?", known_at=moment)
        then = "".join(hit["text"] for hit in scene.view.data["hits"])
        now = self.found("who is Ann's dentist?")
        scene.checks += [
            ("it was Dr Reyes, for all anybody knew", "Reyes" in then and "Moss" not in then),
            ("today it is Dr Moss alone", "Moss" in now and "Reyes" not in now),
        ]
        return scene

    def hush(self) -> Scene:
        scene = self._twice(
            "Ask in a conversation to forget something. It is obeyed, and what stands beside it stays.",
            [("visit", "2026-10-01", CONTACT), ("visit", "2026-10-02", "Please forget my address.")],
        )
        taken = [each["atom"] for each in scene.view.data["outcomes"] if each["result"] == "taken back"]
        self.ids["address"] = taken[0]["id"] if taken else ""
        scene.checks += [
            ("the address is taken back", [each["status"] for each in taken] == ["tombstoned"]),
            ("recall does not know it any more", "Quay Street" not in self.found(ADDRESS)),
            ("the phone number is still known", "0612 345 678" in self.found("what is Ann's phone number?")),
        ]
        return scene

    def erase(self) -> Scene:
        why = "she asked me to"
        scene = self.play(
            "Forgetting keeps the words for undo. Erasing takes them out for good, and says what it cannot reach.",
            f'lamina erase {self.ids["address"][-8:]} --reason "{why}" --yes',
            lambda session: erase.erase(session, [self.ids["address"]], reason=why, yes=True),
        )
        told = scene.view.data
        again = self.play(
            "",
            "",
            lambda session: write.capture(session, CONTACT, session_id="backup 2", speaker="Ann", at="2026-10-01"),
        )
        sound = self.play("", "", lambda session: upkeep.doctor(session, deep=True)).view.data["healthy"]
        scene.checks += [
            ("the receipt counts what went, and names what is out of reach", bool(told["removed"] and told["outside"])),
            (
                "not a byte of it is left in the vault, nor after the old words came in again",
                bool(again.view.data) and not holds_bytes(self.vault, "Quay Street"),
            ),
            ("the journal's chain still verifies", sound),
        ]
        return scene

    def _twice(self, title: str, said: list[tuple[str, str, str]]) -> Scene:
        """Two things are said one after the other, by Ann; a moment between them is kept."""
        before = self._said(*said[0])
        self.ids["first"] = _stated(before)
        self.ids["between"] = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        after = self._said(*said[1])
        self.ids["second"] = _stated(after)
        command = "\n$ ".join(
            f'lamina capture --session {session_id} --speaker Ann {f"--at {at} " if at else ""}"{words}"'
            for session_id, at, words in said
        )
        return Scene(title, command, View(after.data, (*before.blocks, Line(), *after.blocks)))

    def _said(self, session_id: str, at: str, words: str) -> View:
        return self.play(
            "", "", lambda session: write.capture(session, words, session_id=session_id, speaker="Ann", at=at or None)
        ).view

    def _knows_of_galway(self) -> bool:
        told = self.found(OFFICE)
        return "Galway" in told and "office is in Cork" not in told


def _stated(view: View) -> str:
    """The id of the first statement that a capture made; "" where it made none."""
    atoms = (each["atom"] for each in view.data["outcomes"])
    return next((str(atom["id"]) for atom in atoms if atom["kind"] != "narrative"), "")
