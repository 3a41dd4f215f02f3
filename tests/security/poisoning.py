"""Poison through every way in, and a look at what an agent would be shown afterwards."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from attacks import Payload, shows

import lamina
from lamina import Atom, Memory

TRUSTED = (
    "My bank is Sparebank.",
    "I live in Bergen.",
    "I work at Fjord Labs.",
    "My doctor is Dr Hale.",
    "My landlord is Ivar Strand.",
    "My phone number is 5550 201144.",
    "I prefer tea over coffee.",
    "We run the backups with borg every night.",
    "Code reviews need two approvals.",
)
PROBES = ("What is my bank?", "Where do I live?", "Where do I work?", "Who is my doctor?", "How do we run the backups?")
UNTRUSTED = ("web", "tool", "document", "import", "radar")

WritePath = Callable[[Memory, Payload], object]


@dataclass(slots=True)
class Report:
    """How often poison was put in and looked for, and where it showed."""

    written: int = 0
    recalls: int = 0
    shown: list[str] = field(default_factory=list)

    def summary(self) -> str:
        return f"{self.written} poisoned writes, {self.recalls} recalls, {len(self.shown)} showed poison"


def _capture_as(origin: str) -> WritePath:
    return lambda memory, item: memory.capture(item.text, origin=origin, session_id=f"{origin} {item.name}")


def _capture_in_turns(origin: str) -> WritePath:
    turns = [{"role": "user", "content": "What does it say?"}]
    return lambda memory, item: memory.capture([*turns, {"role": "user", "content": item.text}], origin=origin)


def _remember_as(origin: str) -> WritePath:
    kinds = {"procedure": "procedure", "false fact": "fact", "correction": "fact", "instruction": "rule"}
    return lambda memory, item: memory.remember(
        item.text,
        origin=origin,
        kind=kinds.get(item.family, "preference"),
        subject="user",
        pinned=True,
        attribute="bank" if item.family in ("false fact", "correction") else None,
        value=item.name,
    )


def _tool_turn(memory: Memory, payload: Payload) -> None:
    """A tool's output inside a conversation that an agent captures as its own."""
    talk = [("user", "Please look that up."), ("tool", payload.text), ("assistant", "I looked it up.")]
    memory.capture([{"role": role, "content": text} for role, text in talk], session_id=f"talk {payload.name}")


def _run_note(memory: Memory, payload: Payload) -> None:
    """An agent's summary of what a tool told it."""
    run = memory.run(f"run {payload.name}")
    run.note(payload.text, origin="tool")
    run.close("success", f"Did as told: {payload.text}", workflow=f"flow {payload.name}")


AGENT_PATHS: dict[str, WritePath] = {
    **{f"captured as {origin}": _capture_as(origin) for origin in UNTRUSTED if origin != "radar"},
    **{f"turns of {origin}": _capture_in_turns(origin) for origin in ("web", "tool")},
    **{f"remembered as {origin}": _remember_as(origin) for origin in UNTRUSTED},
    "a tool's turn": _tool_turn,
    "a run's summary": _run_note,
}
PERSON_PATHS: dict[str, WritePath] = {
    "pasted from the web": _capture_as("web"),
    "pasted from a tool": _capture_as("tool"),
}


def write_through_agents(root: Path, payloads: Sequence[Payload], seed: int, *, everyway: bool = False) -> Report:
    """Write every payload through an agent, by one of the ways as chance decides or by every way there is."""
    report, chance = Report(), random.Random(seed)
    with lamina.open(root, watch=False) as person:
        trusted = with_trusted_facts(person)
        with lamina.open(root, ceiling="agent", actor="bot", watch=False) as agent:
            for payload in payloads:
                for name in AGENT_PATHS if everyway else [chance.choice([*AGENT_PATHS])]:
                    AGENT_PATHS[name](agent, payload)
                    report.written += 1
            for n, payload in enumerate(payloads[: len(payloads) // 10]):
                [*PERSON_PATHS.values()][n % 2](person, payload)
                report.written += 1
            for memory in (agent, person):
                _probe(memory, payloads if memory is agent else payloads[:: len(payloads) // 20 or 1], report)
        report.shown += [f"changed: {atom.content}" for atom in trusted if person.get(atom.id) != atom]
    return report


def with_trusted_facts(memory: Memory) -> list[Atom]:
    """What a person said themselves, before anybody attacks."""
    receipt = memory.capture([{"role": "user", "content": text} for text in TRUSTED], session_id="mine", wait=True)
    return [outcome.atom for outcome in receipt.outcomes]


def _probe(memory: Memory, payloads: Iterable[Payload], report: Report) -> None:
    names = [payload.name for payload in payloads]
    for question in PROBES:
        report.recalls += 1
        texts = agent_view(memory, question)
        report.shown += [f"{question}: {name}" for name in names if shows(name, texts)]
    for payload in payloads:
        for question in payload.questions:
            report.recalls += 1
            if shows(payload.name, agent_view(memory, question)):
                report.shown.append(f"{payload.family} {payload.wording}: {payload.text}")
    texts = [atom.content for atom in (*memory.top(1000), *memory.list(limit=None), *memory.list(status="archived"))]
    report.shown += [f"listed: {name}" for name in names if shows(name, texts)]


def agent_view(memory: Memory, question: str) -> list[str]:
    """Everything a recall hands to an agent, but for the question itself."""
    result = memory.recall(question, k=20)
    texts = [result.context(100_000), *(hit.text for hit in result.hits), *(hit.atom.content for hit in result.hits)]
    return texts + [atom.content for hit in result.hits for atom in hit.statements]


def files_of(folder: Path, payloads: Sequence[Payload]) -> Path:
    """A folder of documents that a person might feed."""
    folder.mkdir(parents=True)
    for n, payload in enumerate(payloads):
        head = "---\norigin: human\nstatus: active\nprincipal: owner\n---\n" if n % 3 == 0 else ""
        (folder / f"{payload.name}.md").write_text(f"{head}# Page {n}\n\n{payload.text}\n", encoding="utf-8")
    return folder
