"""Twenty tenants in one vault, each with words of its own, and every public verb called by chance.

A verb is called with arguments of any tenant. Whatever comes back, errors included, may hold nothing of a scope that
the caller may not read: no word, no id.
"""

from __future__ import annotations

import inspect
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeAlias

import lamina
from lamina import FixedClock, LaminaError, Memory
from lamina.atom.provenance import Scope
from lamina.recall import Recall
from lamina.review.review import Review
from lamina.store.base import AtomFilter, TextQuery
from lamina.store.passages import PassageFilter
from lamina.testing import NOON
from lamina.upkeep import Upkeep
from lamina.working.block import Block
from lamina.working.run import Run

SCOPES = tuple(
    f"org:{name}{agent}"
    for name in ("local", "acme", "bolt", "cord", "dune", "echo", "fern", "gull", "hart", "iris")
    for agent in ("", ":agent:bot")
)
"""Ten organisations and an agent of each: an agent reads its organisation's, nobody reads a neighbour's."""


@dataclass(slots=True)
class Calls:
    """How many calls were made of each verb, and which told what they must not."""

    counts: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def summary(self) -> str:
        return f"{self.total} calls of {len(self.counts)} verbs by {len(SCOPES)} scopes, {len(self.failures)} leaked"


class Vault:
    """The vault with all its tenants. `word` and `ids` of a scope stand in no other."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root, self.chance, self.clock = root, random.Random(seed), FixedClock(NOON)
        self.memories = {scope: lamina.open(root / "v", scope, clock=self.clock, watch=False) for scope in SCOPES}
        self.words = {scope: f"Wq{n:02d}z{self.chance.randrange(10**6):06d}" for n, scope in enumerate(SCOPES)}
        self.ids: dict[str, list[str]] = {scope: [] for scope in SCOPES}
        self.commits: dict[str, list[str]] = {scope: [] for scope in SCOPES}
        self.recalls: dict[str, list[str]] = {scope: [] for scope in SCOPES}
        for scope in SCOPES:
            self.furnish(scope)

    def close(self) -> None:
        for memory in self.memories.values():
            memory.close()

    def furnish(self, scope: str) -> None:
        """A fact, a conversation, something held, a note, a block and a rule."""
        memory, word = self.memories[scope], self.words[scope]
        memory.remember(
            f"The meeting word is {word}.", subject="meeting word", attribute="value", value=word, private=True
        )
        memory.remember(f"Always greet {word}.", kind="rule", pinned=True, private=True, tags=(word,))
        memory.capture([{"speaker": word, "content": f"I live in {word}."}], session_id=f"s {word}", private=True)
        memory.capture(f"A page on {word}.", origin="web", source_id=f"page:{word}", private=True)
        memory.run(f"run {word}", private=True).note(f"note of {word}")
        memory.block(f"stream {word}", private=True).add("me", f"mind {word}")
        self.learn(scope)

    def learn(self, scope: str) -> None:
        """Which ids a scope has now."""
        store = self.memories[scope].engine.store
        self.ids[scope] = [atom.id for atom in store.atoms.read(AtomFilter(scopes=(Scope(scope),)))]
        self.commits[scope] = [str(entry.id) for entry in store.journal.read([Scope(scope)], limit=20)]

    def foreign(self, scope: str) -> list[str]:
        """The scopes that a scope may not read."""
        return [item for item in SCOPES if item not in self.memories[scope].scopes]

    def any_id(self) -> str:
        return self.chance.choice(self.ids[self.chance.choice(SCOPES)])

    def any_word(self) -> str:
        return self.words[self.chance.choice(SCOPES)]

    def call(self, scope: str, name: str, done: Calls) -> None:
        """Make one call and look at what came back."""
        self.clock.at += timedelta(seconds=1)
        memory, initial = self.memories[scope], self._given()
        try:
            text = visible_text(VERBS[name](memory, initial, self))
        except LaminaError as error:
            text = str(error)
        done.counts[name] = done.counts.get(name, 0) + 1
        # What the caller said themselves may be repeated to them.
        for value in initial.values():
            text = text.replace(value, "")
        for other in self.foreign(scope):
            if self.words[other] in text and self.words[other] not in "".join(initial.values()):
                done.failures.append(f"{scope} {name}: the word of {other}")
            done.failures += [f"{scope} {name}: {atom_id} of {other}" for atom_id in self.ids[other] if atom_id in text]

    def _given(self) -> dict[str, str]:
        other = self.chance.choice(SCOPES)
        return {
            "id": self.any_id(),
            "b": self.any_id(),
            "word": self.any_word(),
            "commit": self.chance.choice(self.commits[other] or ["none"]),
            "recall": self.chance.choice(self.recalls[other] or ["none"]),
            "scope": other,
        }


def visible_text(result: object) -> str:
    """Everything in what a verb gave back."""
    if isinstance(result, Recall):
        actual = [
            repr(result),
            result.context(100_000),
            *(json.dumps(hit.explain(), default=str) for hit in result.hits),
        ]
        return "\n".join(actual)
    if isinstance(result, Path):
        files = [result] if result.is_file() else [path for path in result.rglob("*") if path.is_file()]
        return "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in files)
    if isinstance(result, Run):
        return repr([result.notes(), result.event])
    if isinstance(result, Block):
        return repr(result.entries)
    return repr(result)


def call_by_chance(root: Path, calls: int, seed: int) -> Calls:
    """So many calls of each scope, every verb as often as every other."""
    vault, result = Vault(root, seed), Calls()
    try:
        for n in range(calls):
            for scope in SCOPES:
                names = [*VERBS]
                vault.call(scope, names[n] if n < len(names) else vault.chance.choice(names), result)
            if n % 50 == 0:
                for scope in SCOPES:
                    vault.learn(scope)
        return result
    finally:
        vault.close()


Arguments: TypeAlias = Mapping[str, str]
Verb: TypeAlias = Callable[[Memory, Arguments, Vault], object]


def _recall(memory: Memory, arguments: Arguments, vault: Vault) -> object:
    how: dict[str, Any] = vault.chance.choice(
        [{}, {"fast": True}, {"ranking": "plain"}, {"scopes": [arguments["scope"]]}]
    )
    past: dict[str, Any] = vault.chance.choice([{}, {"include": "history"}, {"include": ("constrained", "challenged")}])
    result = vault.chance.choice(["What is the meeting word?", f"What about {arguments['word']}?", "Where do I live?"])
    actual = memory.recall(result, k=20, **how, **past)
    vault.recalls[memory.scope].append(actual.id)
    return actual


def _export(memory: Memory, arguments: Arguments, vault: Vault) -> object:
    place = vault.root / f"out-{vault.chance.randrange(10**12)}"
    form = vault.chance.choice(("json", "markdown"))
    return memory.export(place.with_suffix(".json") if form == "json" else place, format=form)


def _import(memory: Memory, arguments: Arguments, vault: Vault) -> object:
    file = vault.root / f"in-{vault.chance.randrange(10**12)}.md"
    file.write_text(f"---\nscope: {arguments['scope']}\norigin: human\n---\nA letter about tea.\n")
    return memory.import_(file)


def _erase(memory: Memory, arguments: Arguments, vault: Vault) -> object:
    with memory.trial() as trial:
        return trial.erase(arguments["id"])


def _quarantine(memory: Memory, arguments: Arguments, vault: Vault) -> object:
    with memory.trial() as trial:
        return trial.quarantine(source=f"page:{arguments['word']}", yes=True)


def _dream(memory: Memory, arguments: Arguments, vault: Vault) -> object:
    """For good now and then, so that what dreams make is there to be told of."""
    return memory.upkeep.dream(dry_run=vault.chance.random() < 0.7, yes=True)


def _codebase(memory: Memory, arguments: Arguments, vault: Vault) -> object:
    folder = vault.root / "tea" / str(memory.scope).replace(":", "-")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pot.py").write_text(f"def pour(cups: int = {vault.chance.randrange(9)}) -> None: ...\n")
    return memory.capture_codebase(folder)


def _search(memory: Memory, arguments: Arguments, vault: Vault) -> object:
    from lamina.atom.kinds import MemoryType
    from lamina.atom.status import Status

    return memory.search_text(
        TextQuery(
            filter=PassageFilter(
                scopes=(Scope(arguments["scope"]),),
                statuses=frozenset(Status),
                memory_types=frozenset(MemoryType),
                valid_at=memory.now(),
            ),
            tokens=("pass", "word"),
            limit=50,
        )
    )


def _tried(work: Callable[[Memory, Arguments], object]) -> Verb:
    """A change that is made on trial, so that the vault stays as it is."""

    def call(memory: Memory, arguments: Arguments, vault: Vault) -> object:
        with memory.trial() as trial:
            return visible_text(work(trial, arguments))

    return call


VERBS: dict[str, Verb] = {
    "recall": _recall,
    "export": _export,
    "import_": _import,
    "erase": _erase,
    "quarantine": _quarantine,
    "search_text": _search,
    "capture": lambda memory, arguments, _: memory.capture(f"Tea is nice, {memory.scope} says.", session_id="tea"),
    "remember": lambda memory, arguments, _: memory.remember("Tea is nice.", subject="tea"),
    "remember_many": lambda memory, arguments, _: memory.remember_many([{"content": "Tea is hot."}]),
    "propose": lambda memory, arguments, _: memory.propose("Tea is wet.", subject="tea"),
    "rollback": _tried(lambda memory, arguments: memory.rollback(arguments["id"])),
    "run": lambda memory, arguments, _: memory.run(f"run {arguments['word']}", private=True),
    "block": lambda memory, arguments, _: memory.block(f"stream {arguments['word']}", private=True),
    "revise": _tried(lambda memory, arguments: memory.revise(arguments["id"], "Tea.", reason="r")),
    "update_status": _tried(lambda memory, arguments: memory.update_status(arguments["id"], "archived", "r")),
    "forget": _tried(lambda memory, arguments: memory.forget(arguments["id"], "r")),
    "pin": _tried(lambda memory, arguments: memory.pin(arguments["id"])),
    "unpin": _tried(lambda memory, arguments: memory.unpin(arguments["id"])),
    "upkeep.promote": _tried(lambda memory, arguments: memory.upkeep.promote(arguments["id"])),
    "upkeep.demote": _tried(lambda memory, arguments: memory.upkeep.demote(arguments["id"])),
    "resolve": _tried(lambda memory, arguments: memory.resolve(arguments["id"])),
    "relate": _tried(lambda memory, arguments: memory.relate(arguments["id"], "supports", arguments["b"])),
    "undo": _tried(lambda memory, arguments: memory.undo(arguments["commit"])),
    "upkeep.dream": _dream,
    "upkeep.dream_is_due": lambda memory, arguments, _: memory.upkeep.dream_is_due(),
    "capture_codebase": _codebase,
    "trial": _tried(lambda memory, arguments: None),
    "answer": lambda memory, arguments, _: memory.answer("What is the meeting word?"),
    "feedback": lambda memory, arguments, _: memory.feedback(arguments["recall"], [arguments["id"]]),
    "cite": lambda memory, arguments, _: memory.cite([arguments["id"]]),
    "top": lambda memory, arguments, _: memory.top(100),
    "plan_context": lambda memory, arguments, _: memory.plan_context("greet with the meeting word"),
    "beginning": lambda memory, arguments, _: memory.beginning("greet with the meeting word"),
    "embed": lambda memory, arguments, _: memory.embed(),
    "get": lambda memory, arguments, vault: memory.get(vault.chance.choice((arguments["id"], arguments["id"][-8:]))),
    "list": lambda memory, arguments, vault: memory.list(
        status=None,
        limit=None,
        subject=vault.chance.choice((None, "meeting word")),
        run_id=vault.chance.choice((None, f"run {arguments['word']}")),
        session_id=vault.chance.choice((None, f"s {arguments['word']}")),
    ),
    "history": lambda memory, arguments, _: memory.history(arguments["id"]),
    "why": lambda memory, arguments, _: memory.why(arguments["id"]),
    "standing": lambda memory, arguments, _: memory.standing(arguments["id"]),
    "status_history": lambda memory, arguments, _: memory.status_history(arguments["id"]),
    "neighbours": lambda memory, arguments, _: memory.neighbours(arguments["id"]),
    "journal": lambda memory, arguments, _: memory.journal(limit=200),
    "now": lambda memory, arguments, _: memory.now(),
    "signals": lambda memory, arguments, _: memory.signals(arguments["id"]),
    "confirmations": lambda memory, arguments, _: memory.confirmations(arguments["id"]),
    "path_of": lambda memory, arguments, _: memory.path_of(arguments["id"]),
    "upkeep.sync": lambda memory, arguments, _: memory.upkeep.sync(),
    "read_waiting": lambda memory, arguments, _: memory.read_waiting(),
    "upkeep.tend": lambda memory, arguments, _: memory.upkeep.tend(),
    "waiting": lambda memory, arguments, _: memory.waiting(),
    "upkeep.jobs": lambda memory, arguments, _: memory.upkeep.jobs(),
    "upkeep.rebuild": lambda memory, arguments, vault: memory.upkeep.rebuild() if vault.chance.random() < 0.05 else 0,
    "upkeep.reread": lambda memory, arguments, vault: memory.upkeep.reread(),
    "upkeep.doctor": lambda memory, arguments, vault: memory.upkeep.doctor(deep=vault.chance.random() < 0.05),
    "upkeep.backup": lambda memory, arguments, vault: (
        memory.upkeep.backup(vault.root / f"backup {vault.chance.randrange(10**9)}")
        if vault.chance.random() < 0.02
        else 0
    ),
    "upkeep.stats": lambda memory, arguments, _: memory.upkeep.stats(),
    "topics": lambda memory, arguments, _: memory.topics(),
    "upkeep.plot": lambda memory, arguments, vault: memory.upkeep.plot(
        vault.root / f"{vault.chance.randrange(10**12)}.svg"
    ),
    "review.list": lambda memory, arguments, _: memory.review.list(),
    "review.count": lambda memory, arguments, _: memory.review.count(),
    "review.held": lambda memory, arguments, vault: memory.review.held(
        vault.chance.choice((None, f"page:{arguments['word']}"))
    ),
    "review.confirm": _tried(lambda memory, arguments: memory.review.confirm(arguments["id"])),
    "review.edit": _tried(lambda memory, arguments: memory.review.edit(arguments["id"], "Tea.")),
    "review.reject": _tried(lambda memory, arguments: memory.review.reject(arguments["id"])),
    "review.approve_source": _tried(
        lambda memory, arguments: memory.review.approve_source(f"page:{arguments['word']}")
    ),
    "review.reject_source": _tried(lambda memory, arguments: memory.review.reject_source(f"page:{arguments['word']}")),
    "review.compact": _tried(lambda memory, arguments: memory.review.compact(create_proposals=True)),
    "review.dedup": _tried(lambda memory, arguments: memory.review.dedup(create_proposals=True)),
    "review.pairs": lambda memory, arguments, _: memory.review.pairs(later=True),
    "review.keep_a": _tried(lambda memory, arguments: memory.review.keep_a(arguments["id"], arguments["b"])),
    "review.keep_b": _tried(lambda memory, arguments: memory.review.keep_b(arguments["id"], arguments["b"])),
    "review.both_valid": _tried(lambda memory, arguments: memory.review.both_valid(arguments["id"], arguments["b"])),
    "review.merge": _tried(lambda memory, arguments: memory.review.merge(arguments["id"], arguments["b"], "Tea.")),
    "review.need_more": _tried(lambda memory, arguments: memory.review.need_more(arguments["id"], arguments["b"])),
}
"""How each public verb is called. One that is missing here fails the build: see `public_verbs`."""
NOT_CALLED = frozenset({"close", "for_caller"})
"""What tells nothing, or is for whoever runs the process: seats have a test of their own."""


def public_verbs() -> set[str]:
    """The names of all public verbs of a memory, its review and its upkeep."""
    names = {name for name, _ in inspect.getmembers(Memory) if not name.startswith("_")} - NOT_CALLED
    for kind in (Review, Upkeep):
        prefix = kind.__name__.lower()
        names |= {f"{prefix}.{name}" for name, _ in inspect.getmembers(kind) if not name.startswith("_")}
    return names
