"""`lamina try`: an interactive prompt that shows what is stored for a typed sentence."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from lamina.atom.atom import Evidence
from lamina.atom.claim import claim_of
from lamina.atom.passage import passages_of
from lamina.cli.command import command
from lamina.cli.output import Block, Facts, Json, Line, View
from lamina.cli.read import recall
from lamina.cli.receipts import undone_view
from lamina.cli.session import Session
from lamina.cli.told import atom_data, quotes_of
from lamina.errors import LaminaError

if TYPE_CHECKING:
    from lamina.capture.receipt import Outcome, Receipt
    from lamina.memory import Memory

app = typer.Typer()

SESSION = "try"
HELP = "type a sentence to store it · ?question recalls · undo removes the last one · quit exits"


@command(app, "try", panel="Start", may_make=True, example="lamina try  ·  echo 'I moved to Lisbon.' | lamina try")
def try_(session: Session) -> View | None:
    """Open a prompt: type a sentence to see what is stored, ?question to recall, undo to remove it."""
    prompt = Prompt(session)
    steps: list[Json] = []
    if not session.output.as_json:
        session.output.blocks([Line(f"{session.memory.root}: {HELP}", "dim")])
    for line in _lines():
        if line in ("quit", "exit", "q"):
            break
        view = prompt.answer(line)
        steps.append({"typed": line, **view.data})
        if not session.output.as_json:
            session.output.blocks(view.blocks)
    return View({"steps": steps}) if session.output.as_json else None


class Prompt:
    """Answers typed lines, and remembers its commits so that they can be undone."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._written: list[Sequence[str]] = []

    def answer(self, line: str) -> View:
        """Run one typed line and return its result; errors become part of the result."""
        try:
            return self._answer(line)
        except LaminaError as error:
            return View(
                {"error": {"type": type(error).__name__, "message": str(error)}}, (Line(f"error: {error}", "red"),)
            )

    def _answer(self, line: str) -> View:
        if line == "help":
            return View({"help": HELP}, (Line(HELP, "dim"),))
        if line == "undo":
            return self._undo()
        if line.startswith("?"):
            return recall(self._session, line[1:].strip(), k=5)
        return self._remember(line)

    def _remember(self, sentence: str) -> View:
        """Capture a sentence; if no statement is extracted, remember it with the captured words as evidence."""
        memory = self._session.memory
        capture_receipt = memory.capture(sentence, session_id=SESSION)
        statements = capture_receipt.outcomes[1:]
        receipt = (
            capture_receipt
            if statements
            else memory.remember(sentence, session_id=SESSION, evidence=(_passage(capture_receipt),))
        )
        outcomes = statements or receipt.outcomes
        commits = list(dict.fromkeys(commit for commit in (capture_receipt.commit, receipt.commit) if commit))
        self._written.append(commits)
        documents = [
            {"result": outcome.result.value, "reason": outcome.reason, "atom": atom_data(outcome.atom, outcome.path)}
            for outcome in outcomes
        ]
        blocks = [block for outcome in outcomes for block in _became(memory, outcome)]
        return View(
            {**documents[0], "became": documents, "commits": commits}, (*blocks, Line("  undo: type undo", "dim"))
        )

    def _undo(self) -> View:
        if not self._written:
            return View({"commits": []}, (Line("there is nothing left to undo"),))
        memory = self._session.memory
        undone = [committed for commit in reversed(self._written[-1]) for committed in memory.undo(commit)]
        self._written.pop()
        return undone_view(self._session, memory, undone)


def _became(memory: Memory, outcome: Outcome) -> Iterator[Block]:
    atom, claim = outcome.atom, claim_of(outcome.atom)
    pairs = [
        ("says", atom.content),
        ("kind", atom.kind),
        ("claim", str(claim) if claim else "none; a plain statement"),
        ("file", outcome.path or "none"),
    ]
    pairs += [("said in", link) for link, _ in quotes_of(memory, atom)]
    yield Line(f"{outcome.result.value}: {outcome.reason}", "bold")
    yield Facts(tuple(pairs), indent=2)


def _passage(kept: Receipt) -> Evidence:
    """Return the last passage of the segment that was just captured, as evidence."""
    segment = kept.outcomes[0].atom
    last = passages_of(segment)[-1]
    return Evidence(segment.id, last.n, 0, len(last.text))


def _lines() -> Iterator[str]:
    """Yield the typed or piped lines that are not blank."""
    for line in _typed() if sys.stdin.isatty() else sys.stdin:
        if line.strip():
            yield line.strip()


def _typed() -> Iterator[str]:
    import readline  # noqa: F401 - gives the prompt its arrow keys

    with suppress(EOFError):
        while True:
            yield input("> ")
