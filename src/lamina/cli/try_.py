"""`lamina try`: a prompt where a typed sentence shows what it became."""

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
HELP = "type a sentence to remember it · ?question recalls · undo takes the last one back · quit leaves"


@command(app, "try", panel="Start", may_make=True, example="lamina try  ·  echo 'I moved to Lisbon.' | lamina try")
def try_(session: Session) -> View | None:
    """Open a prompt: a typed sentence shows what it became, ?question recalls, undo takes it back."""
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
    """Answers lines one after another, and knows what it wrote so that it can be taken back."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._written: list[Sequence[str]] = []

    def answer(self, line: str) -> View:
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
        """Keep the words, then remember them as an atom that rests on them."""
        memory = self._session.memory
        kept = memory.capture(sentence, session_id=SESSION)
        read = kept.outcomes[1:]
        receipt = kept if read else memory.remember(sentence, session_id=SESSION, evidence=(_passage(kept),))
        made = read or receipt.outcomes
        commits = list(dict.fromkeys(each for each in (kept.commit, receipt.commit) if each))
        self._written.append(commits)
        became = [
            {"result": each.result.value, "reason": each.reason, "atom": atom_data(each.atom, each.path)}
            for each in made
        ]
        blocks = [block for each in made for block in _became(memory, each)]
        return View({**became[0], "became": became, "commits": commits}, (*blocks, Line("  undo: type undo", "dim")))

    def _undo(self) -> View:
        if not self._written:
            return View({"commits": []}, (Line("nothing typed here is left to undo"),))
        memory = self._session.memory
        done = [each for commit in reversed(self._written[-1]) for each in memory.undo(commit)]
        self._written.pop()
        return undone_view(self._session, memory, done)


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
    """The place of the words just kept: the last passage of the segment they went into."""
    segment = kept.outcomes[0].atom
    last = passages_of(segment)[-1]
    return Evidence(segment.id, last.n, 0, len(last.text))


def _lines() -> Iterator[str]:
    """What is typed or piped, without blank lines, to the end."""
    for line in _typed() if sys.stdin.isatty() else sys.stdin:
        if line.strip():
            yield line.strip()


def _typed() -> Iterator[str]:
    import readline  # noqa: F401 - gives the prompt its arrow keys

    with suppress(EOFError):
        while True:
            yield input("> ")
