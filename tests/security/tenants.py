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

from lamina import FixedClock, LaminaError, Memory
from lamina.atom.scope import Scope
from lamina.recall import Recall
from lamina.review.review import Review
from lamina.store.base import AtomFilter, TextQuery
from lamina.testing import NOON
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

    made: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        return sum(self.made.values())

    def told(self) -> str:
        return (
            f"{self.total} calls of {len(self.made)} verbs by {len(SCOPES)} scopes, {len(self.failures)} told of others"
        )


class Vault:
    """The vault with all its tenants. `word` and `ids` of a scope stand in no other."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root, self.chance, self.clock = root, random.Random(seed), FixedClock(NOON)
        self.memories = {scope: Memory(root / "v", scope, clock=self.clock, watch=False) for scope in SCOPES}
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
        memory.remember(f"The pass word is {word}.", subject="pass word", attribute="value", value=word, private=True)
        memory.remember(f"Always greet {word}.", kind="rule", pinned=True, private=True, tags=(word,))
        memory.capture([{"speaker": word, "content": f"I live in {word}."}], session_id=f"s {word}", private=True)
        memory.capture(f"A page on {word}.", origin="web", source_id=f"page:{word}", private=True)
        memory.run(f"run {word}", private=True).note(f"note of {word}")
        memory.block(f"stream {word}", private=True).add("me", f"mind {word}")
        self.learn(scope)

    def learn(self, scope: str) -> None:
        """Which ids a scope has now."""
        store = self.memories[scope]._store
        self.ids[scope] = [atom.id for atom in store.read(AtomFilter(scopes=(Scope(scope),)))]
        self.commits[scope] = [str(entry.id) for entry in store.read_journal([Scope(scope)], limit=20)]

    def foreign(self, scope: str) -> list[str]:
        """The scopes that a scope may not read."""
        return [each for each in SCOPES if each not in self.memories[scope].scopes]

    def any_id(self) -> str:
        return self.chance.choice(self.ids[self.chance.choice(SCOPES)])

    def any_word(self) -> str:
        return self.words[self.chance.choice(SCOPES)]

    def call(self, scope: str, name: str, done: Calls) -> None:
        """Make one call and look at what came back."""
        self.clock.at += timedelta(seconds=1)
        memory, given = self.memories[scope], self._given()
        try:
            told = seen(VERBS[name](memory, given, self))
        except LaminaError as error:
            told = str(error)
        done.made[name] = done.made.get(name, 0) + 1
        # What the caller said themselves may be repeated to them.
        for value in given.values():
            told = told.replace(value, "")
        for other in self.foreign(scope):
            if self.words[other] in told and self.words[other] not in "".join(given.values()):
                done.failures.append(f"{scope} {name}: the word of {other}")
            done.failures += [f"{scope} {name}: {atom_id} of {other}" for atom_id in self.ids[other] if atom_id in told]

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


def seen(result: object) -> str:
    """Everything in what a verb gave back."""
    if isinstance(result, Recall):
        told = [repr(result), result.context(100_000), *(json.dumps(hit.explain(), default=str) for hit in result.hits)]
        return "\n".join(told)
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
    vault, done = Vault(root, seed), Calls()
    try:
        for n in range(calls):
            for scope in SCOPES:
                names = [*VERBS]
                vault.call(scope, names[n] if n < len(names) else vault.chance.choice(names), done)
            if n % 50 == 0:
                for scope in SCOPES:
                    vault.learn(scope)
        return done
    finally:
        vault.close()


Given: TypeAlias = Mapping[str, str]
Verb: TypeAlias = Callable[[Memory, Given, Vault], object]


def _recall(memory: Memory, given: Given, vault: Vault) -> object:
    how: dict[str, Any] = vault.chance.choice([{}, {"fast": True}, {"ranking": "plain"}, {"scopes": [given["scope"]]}])
    past: dict[str, Any] = vault.chance.choice([{}, {"include": "history"}, {"include": ("constrained", "challenged")}])
    asked = vault.chance.choice(["What is the pass word?", f"What about {given['word']}?", "Where do I live?"])
    found = memory.recall(asked, k=20, **how, **past)
    vault.recalls[memory.scope].append(found.id)
    return found


def _export(memory: Memory, given: Given, vault: Vault) -> object:
    place = vault.root / f"out-{vault.chance.randrange(10**12)}"
    form = vault.chance.choice(("json", "markdown"))
    return memory.export(place.with_suffix(".json") if form == "json" else place, format=form)


def _import(memory: Memory, given: Given, vault: Vault) -> object:
    file = vault.root / f"in-{vault.chance.randrange(10**12)}.md"
    file.write_text(f"---\nscope: {given['scope']}\norigin: human\n---\nA letter about tea.\n")
    return memory.import_(file)


def _erase(memory: Memory, given: Given, vault: Vault) -> object:
    with memory.trial():
        return memory.erase(given["id"])


def _quarantine(memory: Memory, given: Given, vault: Vault) -> object:
    with memory.trial():
        return memory.quarantine(source=f"page:{given['word']}", yes=True)


def _dream(memory: Memory, given: Given, vault: Vault) -> object:
    """For good now and then, so that what dreams make is there to be told of."""
    return memory.dream(dry_run=vault.chance.random() < 0.7, yes=True)


def _codebase(memory: Memory, given: Given, vault: Vault) -> object:
    folder = vault.root / "tea" / str(memory.scope).replace(":", "-")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pot.py").write_text(f"def pour(cups: int = {vault.chance.randrange(9)}) -> None: ...\n")
    return memory.capture_codebase(folder)


def _search(memory: Memory, given: Given, vault: Vault) -> object:
    from lamina.atom.kinds import MemoryType
    from lamina.atom.status import Status

    return memory.search_text(
        TextQuery(
            scopes=(Scope(given["scope"]),),
            tokens=("pass", "word"),
            statuses=frozenset(Status),
            limit=50,
            memory_types=frozenset(MemoryType),
            valid_at=memory.now(),
        )
    )


def _tried(work: Callable[[Memory, Given], object]) -> Verb:
    """A change that is made on trial, so that the vault stays as it is."""

    def call(memory: Memory, given: Given, vault: Vault) -> object:
        with memory.trial():
            return seen(work(memory, given))

    return call


VERBS: dict[str, Verb] = {
    "recall": _recall,
    "export": _export,
    "import_": _import,
    "erase": _erase,
    "quarantine": _quarantine,
    "search_text": _search,
    "capture": lambda memory, given, _: memory.capture(f"Tea is nice, {memory.scope} says.", session_id="tea"),
    "remember": lambda memory, given, _: memory.remember("Tea is nice.", subject="tea"),
    "remember_many": lambda memory, given, _: memory.remember_many([{"content": "Tea is hot."}]),
    "propose": lambda memory, given, _: memory.propose("Tea is wet.", subject="tea"),
    "rollback": _tried(lambda memory, given: memory.rollback(given["id"])),
    "run": lambda memory, given, _: memory.run(f"run {given['word']}", private=True),
    "block": lambda memory, given, _: memory.block(f"stream {given['word']}", private=True),
    "revise": _tried(lambda memory, given: memory.revise(given["id"], "Tea.", reason="r")),
    "update_status": _tried(lambda memory, given: memory.update_status(given["id"], "archived", "r")),
    "forget": _tried(lambda memory, given: memory.forget(given["id"], "r")),
    "pin": _tried(lambda memory, given: memory.pin(given["id"])),
    "unpin": _tried(lambda memory, given: memory.unpin(given["id"])),
    "promote": _tried(lambda memory, given: memory.promote(given["id"])),
    "demote": _tried(lambda memory, given: memory.demote(given["id"])),
    "resolve": _tried(lambda memory, given: memory.resolve(given["id"])),
    "relate": _tried(lambda memory, given: memory.relate(given["id"], "supports", given["b"])),
    "undo": _tried(lambda memory, given: memory.undo(given["commit"])),
    "dream": _dream,
    "dream_is_due": lambda memory, given, _: memory.dream_is_due(),
    "capture_codebase": _codebase,
    "trial": _tried(lambda memory, given: None),
    "answer": lambda memory, given, _: memory.answer("What is the pass word?"),
    "feedback": lambda memory, given, _: memory.feedback(given["recall"], [given["id"]]),
    "cite": lambda memory, given, _: memory.cite([given["id"]]),
    "top": lambda memory, given, _: memory.top(100),
    "plan_context": lambda memory, given, _: memory.plan_context("greet with the pass word"),
    "beginning": lambda memory, given, _: memory.beginning("greet with the pass word"),
    "embed": lambda memory, given, _: memory.embed(),
    "get": lambda memory, given, vault: memory.get(vault.chance.choice((given["id"], given["id"][-8:]))),
    "list": lambda memory, given, vault: memory.list(
        status=None,
        limit=None,
        subject=vault.chance.choice((None, "pass word")),
        run_id=vault.chance.choice((None, f"run {given['word']}")),
        session_id=vault.chance.choice((None, f"s {given['word']}")),
    ),
    "history": lambda memory, given, _: memory.history(given["id"]),
    "status_history": lambda memory, given, _: memory.status_history(given["id"]),
    "neighbours": lambda memory, given, _: memory.neighbours(given["id"]),
    "journal": lambda memory, given, _: memory.journal(limit=200),
    "now": lambda memory, given, _: memory.now(),
    "signals": lambda memory, given, _: memory.signals(given["id"]),
    "confirmations": lambda memory, given, _: memory.confirmations(given["id"]),
    "path_of": lambda memory, given, _: memory.path_of(given["id"]),
    "sync": lambda memory, given, _: memory.sync(),
    "read_waiting": lambda memory, given, _: memory.read_waiting(),
    "tend": lambda memory, given, _: memory.tend(),
    "waiting": lambda memory, given, _: memory.waiting(),
    "jobs": lambda memory, given, _: memory.jobs(),
    "rebuild": lambda memory, given, vault: memory.rebuild() if vault.chance.random() < 0.05 else 0,
    "reread": lambda memory, given, vault: memory.reread(),
    "doctor": lambda memory, given, vault: memory.doctor(deep=vault.chance.random() < 0.05),
    "stats": lambda memory, given, _: memory.stats(),
    "topics": lambda memory, given, _: memory.topics(),
    "plot": lambda memory, given, vault: memory.plot(vault.root / f"{vault.chance.randrange(10**12)}.svg"),
    "scopes": lambda memory, given, _: memory.scopes,
    "models": lambda memory, given, _: memory.models,
    "review.list": lambda memory, given, _: memory.review.list(),
    "review.count": lambda memory, given, _: memory.review.count(),
    "review.held": lambda memory, given, vault: memory.review.held(
        vault.chance.choice((None, f"page:{given['word']}"))
    ),
    "review.confirm": _tried(lambda memory, given: memory.review.confirm(given["id"])),
    "review.edit": _tried(lambda memory, given: memory.review.edit(given["id"], "Tea.")),
    "review.reject": _tried(lambda memory, given: memory.review.reject(given["id"])),
    "review.approve_source": _tried(lambda memory, given: memory.review.approve_source(f"page:{given['word']}")),
    "review.reject_source": _tried(lambda memory, given: memory.review.reject_source(f"page:{given['word']}")),
    "review.compact": _tried(lambda memory, given: memory.review.compact(create_proposals=True)),
    "review.dedup": _tried(lambda memory, given: memory.review.dedup(create_proposals=True)),
    "review.pairs": lambda memory, given, _: memory.review.pairs(later=True),
    "review.keep_a": _tried(lambda memory, given: memory.review.keep_a(given["id"], given["b"])),
    "review.keep_b": _tried(lambda memory, given: memory.review.keep_b(given["id"], given["b"])),
    "review.both_valid": _tried(lambda memory, given: memory.review.both_valid(given["id"], given["b"])),
    "review.merge": _tried(lambda memory, given: memory.review.merge(given["id"], given["b"], "Tea.")),
    "review.need_more": _tried(lambda memory, given: memory.review.need_more(given["id"], given["b"])),
}
"""How each public verb is called. One that is missing here fails the build: see `public_verbs`."""
NOT_CALLED = frozenset({"close", "delegate_recall", "for_caller", "review"})
"""What tells nothing, or is for whoever runs the process: seats have a test of their own."""


def public_verbs() -> set[str]:
    """The names of everything a memory and its review can be asked."""
    own = {name for name, _ in inspect.getmembers(Memory) if not name.startswith("_")}
    return own - NOT_CALLED | {f"review.{name}" for name, _ in inspect.getmembers(Review) if not name.startswith("_")}
