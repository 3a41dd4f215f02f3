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
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandResult, FieldList, Json, OutputBlock, TextLine
from lamina.cli.read import recall
from lamina.cli.receipts import outcome_data, render_undo
from lamina.cli.record_views import read_quotes
from lamina.errors import LaminaError

if TYPE_CHECKING:
    from lamina.capture.receipt import Outcome, Receipt
    from lamina.memory import Memory

app = typer.Typer(rich_help_panel="Start")

SESSION_ID = "try"
HELP = "type a sentence to store it · ?question recalls · undo removes the last one · quit exits"


@command(app, "try", may_create=True, example="lamina try  ·  echo 'I moved to Lisbon.' | lamina try")
def try_(session: CommandSession) -> CommandResult | None:
    """Open a prompt: type a sentence to see what is stored, ?question to recall, undo to remove it."""
    prompt = TryPrompt(session)
    steps: list[Json] = []
    if not session.output.as_json:
        session.output.print_blocks([TextLine(f"{session.memory.root}: {HELP}", "dim")])
    for line in _input_lines():
        if line in ("quit", "exit", "q"):
            break
        view = prompt.answer(line)
        steps.append({"typed": line, **view.data})
        if not session.output.as_json:
            session.output.print_blocks(view.blocks)
    return CommandResult({"steps": steps}) if session.output.as_json else None


class TryPrompt:
    """Answers typed lines, and remembers its commits so that they can be undone."""

    def __init__(self, session: CommandSession) -> None:
        self._session = session
        self._commits: list[Sequence[str]] = []

    def answer(self, line: str) -> CommandResult:
        """Run one typed line and return its result; errors become part of the result."""
        try:
            return self._answer(line)
        except LaminaError as error:
            return CommandResult(
                {"error": {"type": type(error).__name__, "message": str(error)}}, (TextLine(f"error: {error}", "red"),)
            )

    def _answer(self, line: str) -> CommandResult:
        if line == "help":
            return CommandResult({"help": HELP}, (TextLine(HELP, "dim"),))
        if line == "undo":
            return self._undo()
        if line.startswith("?"):
            return recall(self._session, line[1:].strip(), k=5)
        return self._remember(line)

    def _remember(self, sentence: str) -> CommandResult:
        """Capture a sentence; if no statement is extracted, remember it with the captured words as evidence."""
        memory = self._session.memory
        capture_receipt = memory.capture(sentence, session_id=SESSION_ID)
        statements = capture_receipt.outcomes[1:]
        receipt = (
            capture_receipt
            if statements
            else memory.remember(sentence, session_id=SESSION_ID, evidence=(_last_passage(capture_receipt),))
        )
        outcomes = statements or receipt.outcomes
        commits = list(dict.fromkeys(commit for commit in (capture_receipt.commit, receipt.commit) if commit))
        self._commits.append(commits)
        documents = [*map(outcome_data, outcomes)]
        blocks = [block for outcome in outcomes for block in _outcome_blocks(memory, outcome)]
        return CommandResult(
            {**documents[0], "became": documents, "commits": commits}, (*blocks, TextLine("  undo: type undo", "dim"))
        )

    def _undo(self) -> CommandResult:
        if not self._commits:
            return CommandResult({"commits": []}, (TextLine("there is nothing left to undo"),))
        memory = self._session.memory
        undone = [committed for commit in reversed(self._commits[-1]) for committed in memory.undo(commit)]
        self._commits.pop()
        return render_undo(self._session, memory, undone)


def _outcome_blocks(memory: Memory, outcome: Outcome) -> Iterator[OutputBlock]:
    atom, claim = outcome.atom, claim_of(outcome.atom)
    pairs = [
        ("says", atom.content),
        ("kind", atom.kind),
        ("claim", str(claim) if claim else "none; a plain statement"),
        ("file", outcome.path or "none"),
    ]
    pairs += [("said in", link) for link, _ in read_quotes(memory, atom)]
    yield TextLine(f"{outcome.result.value}: {outcome.reason}", "bold")
    yield FieldList(tuple(pairs), indent=2)


def _last_passage(receipt: Receipt) -> Evidence:
    """Return the last passage of the segment that was just captured, as evidence."""
    segment = receipt.outcomes[0].atom
    last = passages_of(segment)[-1]
    return Evidence(segment.id, last.n, 0, len(last.text))


def _input_lines() -> Iterator[str]:
    """Yield the typed or piped lines that are not blank."""
    for line in _typed_lines() if sys.stdin.isatty() else sys.stdin:
        if line.strip():
            yield line.strip()


def _typed_lines() -> Iterator[str]:
    import readline  # noqa: F401 - gives the prompt its arrow keys

    with suppress(EOFError):
        while True:
            yield input("> ")
