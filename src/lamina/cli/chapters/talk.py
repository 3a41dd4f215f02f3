"""Somebody talks and somebody asks: words, answers, and what their scores are made of."""

from __future__ import annotations

import hashlib
import json
import math
import time

from lamina.cli import models, read, upkeep, write
from lamina.cli.output import Json, Line, View
from lamina.cli.scene import Chapter, Scene, atoms_in, holds_bytes
from lamina.cli.session import Session
from lamina.cli.words import turns_from

SECRET = f"ghp_{hashlib.sha256(b'tour').hexdigest()[:36]}"
TALK = (
    ("Ann", "Remember that I drink light roast coffee, never dark."),
    ("Bob", f"Noted. Our key is {SECRET}. Are you still flying to Lisbon?"),
    ("Ann", "Yes. Keep in mind that Miguel picks me up at the airport."),
)
CONVERSATION = "".join(
    json.dumps({"speaker": speaker, "content": said, "at": f"2026-11-15T09:0{minute}:00Z"}) + "\n"
    for minute, (speaker, said) in enumerate(TALK)
)
UNLIKE = "who collects her after the flight?"
WORDS_ALONE = "text"


class Talk(Chapter):
    """What is said, and what is asked."""

    began = 0.0

    def capture(self) -> Scene:
        self.began = time.process_time()
        file = self.vault.parent / "talk.jsonl"
        file.write_text(CONVERSATION, encoding="utf-8")
        scene = self.play(
            "Somebody talks. The words are kept, what they state becomes atoms, and a secret is taken out first.",
            "lamina capture talk.jsonl --turns --session kitchen",
            lambda session: write.capture(session, str(file), session_id="kitchen", turns=True),
        )
        outcomes = scene.view.data["outcomes"]
        stated = {outcome["atom"]["content"]: outcome["atom"]["id"] for outcome in outcomes[1:]}
        self.ids["coffee"] = next(name for content, name in stated.items() if "coffee" in content)
        self.ids["airport"] = next(name for content, name in stated.items() if "Miguel" in content)
        said = (self.vault / outcomes[0]["atom"]["path"]).read_text(encoding="utf-8")
        scene.checks += [
            (
                "both sentences became statements",
                [outcome["result"] for outcome in outcomes][:3] == ["kept", "new", "new"],
            ),
            ("every word is kept but the secret", _words_kept(said)),
            ("no byte of the secret is in the vault", not holds_bytes(self.vault, SECRET)),
            (
                "the atom's file links to the turn it came from",
                "#^p1" in self.file("coffee").read_text(encoding="utf-8"),
            ),
        ]
        return scene

    def recall(self) -> Scene:
        scene = self.ask("Ask, and each hit says why it is there.", "what coffee does Ann drink?")
        first = time.process_time() - self.began
        scene.checks += [
            ("the words are found, and with them what they state", self.ids["coffee"] in atoms_in(scene)),
            ("every hit has a reason", all(hit["why"] for hit in scene.view.data["hits"])),
            (f"from an empty folder to the first answer it took {first:.2f} s of processor time", first < 5),
        ]
        return scene

    def meaning(self) -> Scene:
        scene = self.ask("Ask by meaning: no word of the question stands in the answer.", UNLIKE)
        found = scene.view.data
        if found["model"] == WORDS_ALONE:
            scene.checks.append(("no embedder is chosen here, so words alone answer, and recall says so", True))
            return scene
        nothing: Json = {"text": "", "words": {}}
        first = next((hit for hit in found["hits"][:2] if "Miguel picks me up" in hit["text"]), nothing)
        scene.checks += [
            (f"{found['model']} leads to Miguel", bool(first["text"])),
            ("not one word of the question was met", not first["words"]),
        ]
        return scene

    def xray(self) -> Scene:
        question = "what coffee does Ann drink?"
        scene = self.play(
            "See through a score: every term, weight and word of it.",
            f'lamina recall "{question}" -k 1 --explain',
            lambda session: read.recall(session, question, k=1, explain=True),
        )
        again = self.ask("", question).view.data["hits"]
        scene.checks += [
            ("the terms add and the weights multiply back to the score", all(map(_adds_up, again))),
            ("asking again gives the same score, to the last bit", scene.view.data["hits"][0] == again[0]),
        ]
        return scene

    def feedback(self) -> Scene:
        asked = self.ask("", "what coffee does Ann drink?").view.data["recall_id"]

        def tell(session: Session) -> View:
            return write.feedback(session, asked, [self.ids["coffee"]])

        scene = self.play(
            "Tell that an answer helped: what it was made from counts for more, being shown counts nothing.",
            f"lamina feedback {asked} --cited {self.ids['coffee'][-8:]}",
            tell,
        )
        learnt = {each["id"]: (each["quality"], each["uses"]) for each in scene.view.data["learnt"]}
        again = self.play("", "", tell).view.data["learnt"]
        scene.checks += [
            ("its quality rose from 1 to 1.1, and it was used once", learnt[self.ids["coffee"]] == (1.1, 1)),
            ("the same answer is learnt from once only", again == []),
        ]
        return scene

    def models(self) -> Scene:
        def both(session: Session) -> View:
            there, work = models.inventory(session), upkeep.jobs(session)
            return View({**there.data, **work.data}, (*there.blocks, Line(), *work.blocks))

        scene = self.play(
            "Meaning comes from models on this machine; whatever they have not read yet is a job.",
            "lamina models\n$ lamina jobs",
            both,
        )
        scene.checks.append(
            (
                "nothing is left to be read and nothing went wrong",
                all(each["done"] == each["total"] and not each["error"] for each in scene.view.data["jobs"]),
            )
        )
        return scene


def _adds_up(hit: Json) -> bool:
    score: float = max(0.0, sum(hit["terms"].values())) * math.prod(hit["weights"].values())
    return math.isclose(score, hit["score"], rel_tol=0, abs_tol=1e-9)


def _words_kept(said: str) -> bool:
    return all(turn["content"].replace(SECRET, "[redacted: github token]") in said for turn in turns_from(CONVERSATION))
