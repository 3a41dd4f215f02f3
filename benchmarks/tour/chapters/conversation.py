"""Tour chapter about a conversation: capture, recall, scores, feedback and models."""

from __future__ import annotations

import hashlib
import json
import math
import time

from benchmarks.tour.tour_chapter import TourChapter, TourStep, atom_ids_in, folder_contains
from lamina.cli import models, read, upkeep, write
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandResult, Json, TextLine
from lamina.cli.text_input import parse_json_turns

SECRET = f"ghp_{hashlib.sha256(b'tour').hexdigest()[:36]}"
TURNS = (
    ("Ann", "Remember that I drink light roast coffee, never dark."),
    ("Bob", f"Noted. Our key is {SECRET}. Are you still flying to Lisbon?"),
    ("Ann", "Yes. Keep in mind that Miguel picks me up at the airport."),
)
CONVERSATION = "".join(
    json.dumps({"speaker": speaker, "content": text, "at": f"2026-11-15T09:0{minute}:00Z"}) + "\n"
    for minute, (speaker, text) in enumerate(TURNS)
)
MEANING_QUESTION = "who collects her after the flight?"
TEXT_MODEL = "text"


class ConversationChapter(TourChapter):
    """Steps that capture a conversation and recall from it."""

    started_at = 0.0

    def capture_conversation(self) -> TourStep:
        self.started_at = time.process_time()
        file = self.vault.parent / "talk.jsonl"
        file.write_text(CONVERSATION, encoding="utf-8")
        step = self.run_step(
            "Capture a conversation: its words are stored, statements become atoms, and a secret is redacted first.",
            "lamina capture talk.jsonl --turns --session kitchen",
            lambda session: write.capture(session, str(file), session_id="kitchen", turns=True),
        )
        outcomes = step.view.data["outcomes"]
        statement_ids = {outcome["atom"]["content"]: outcome["atom"]["id"] for outcome in outcomes[1:]}
        self.ids["coffee"] = next(name for content, name in statement_ids.items() if "coffee" in content)
        self.ids["airport"] = next(name for content, name in statement_ids.items() if "Miguel" in content)
        text = (self.vault / outcomes[0]["atom"]["path"]).read_text(encoding="utf-8")
        step.checks += [
            (
                "both sentences became statements",
                [outcome["result"] for outcome in outcomes][:3] == ["kept", "new", "new"],
            ),
            ("every word is stored except the secret", _keeps_every_word(text)),
            ("no byte of the secret is in the vault", not folder_contains(self.vault, SECRET)),
            ("the atom's file links to its turn", "#^p1" in self.file_of("coffee").read_text(encoding="utf-8")),
        ]
        return step

    def recall_answer(self) -> TourStep:
        step = self.recall_step("Ask a question: every hit has a reason.", "what coffee does Ann drink?")
        first = time.process_time() - self.started_at
        step.checks += [
            ("recall finds the words and their statement", self.ids["coffee"] in atom_ids_in(step)),
            ("every hit has a reason", all(hit["why"] for hit in step.view.data["hits"])),
            (f"from an empty folder to the first answer took {first:.2f} s of processor time", first < 5),
        ]
        return step

    def recall_by_meaning(self) -> TourStep:
        step = self.recall_step("Ask by meaning: the answer contains no word of the question.", MEANING_QUESTION)
        result = step.view.data
        if result["model"] == TEXT_MODEL:
            step.checks.append(("no embedding model is set, so recall uses words only, and says so", True))
            return step
        no_hit: Json = {"text": "", "words": {}}
        first = next((hit for hit in result["hits"][:2] if "Miguel picks me up" in hit["text"]), no_hit)
        step.checks += [
            (f"{result['model']} finds Miguel", bool(first["text"])),
            ("no word of the question matched", not first["words"]),
        ]
        return step

    def explain_score(self) -> TourStep:
        question = "what coffee does Ann drink?"
        step = self.run_step(
            "Explain a score: every term, weight and word.",
            f'lamina recall "{question}" -k 1 --explain',
            lambda session: read.recall(session, question, k=1, explain=True),
        )
        again = self.recall_step("", question).view.data["hits"]
        step.checks += [
            ("the terms and weights give the score", all(map(_score_adds_up, again))),
            ("the same question gives exactly the same score", step.view.data["hits"][0] == again[0]),
        ]
        return step

    def give_feedback(self) -> TourStep:
        recall_id = self.recall_step("", "what coffee does Ann drink?").view.data["recall_id"]

        def give_feedback(session: CommandSession) -> CommandResult:
            return write.feedback(session, recall_id, [self.ids["coffee"]])

        step = self.run_step(
            "Give feedback: the atoms an answer used gain quality; being shown alone does not count.",
            f"lamina feedback {recall_id} --cited {self.ids['coffee'][-8:]}",
            give_feedback,
        )
        learnt = {atom["id"]: (atom["quality"], atom["uses"]) for atom in step.view.data["learnt"]}
        again = self.run_step("", "", give_feedback).view.data["learnt"]
        step.checks += [
            ("its quality rose from 1 to 1.1, and it counts as used once", learnt[self.ids["coffee"]] == (1.1, 1)),
            ("feedback on the same recall counts once only", again == []),
        ]
        return step

    def list_models(self) -> TourStep:
        def both(session: CommandSession) -> CommandResult:
            inventory, jobs = models.render_inventory(session), upkeep.jobs(session)
            return CommandResult({**inventory.data, **jobs.data}, (*inventory.blocks, TextLine(), *jobs.blocks))

        step = self.run_step(
            "Models on this machine compute meaning; unfinished work is listed as jobs.",
            "lamina models\n$ lamina jobs",
            both,
        )
        step.checks.append(
            (
                "all jobs are done without errors",
                all(job["done"] == job["total"] and not job["error"] for job in step.view.data["jobs"]),
            )
        )
        return step


def _score_adds_up(hit: Json) -> bool:
    score: float = max(0.0, sum(hit["terms"].values())) * math.prod(hit["weights"].values())
    return math.isclose(score, hit["score"], rel_tol=0, abs_tol=1e-9)


def _keeps_every_word(text: str) -> bool:
    return all(
        turn["content"].replace(SECRET, "[redacted: github token]") in text for turn in parse_json_turns(CONVERSATION)
    )
