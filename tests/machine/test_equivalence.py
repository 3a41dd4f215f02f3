"""A rebuilt index equals the incremental one through edits, agents, crashes and lost files.

Covers `lamina.store.sqlite.index_dump`, `lamina.sync.edit_commit` and `lamina.sync.sync`.

A Hypothesis machine works on a real vault with real SQLite files. It keeps a simple model of what every atom should be,
and at the end of each run compares the index with one made anew, the state with one read from nothing but the files,
and the journal with what it led to. LAMINA_MACHINE_RUNS raises the number of runs, LAMINA_MACHINE_SEED chooses
them (`random` for new ones), LAMINA_MACHINE_SHRINK makes a failure short. `make torture` runs them as a suite.
"""

from __future__ import annotations

import errno
import logging
import os
import random
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import prod
from pathlib import Path
from typing import Any

import file_edits
import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

import lamina
from lamina import Atom, AtomId, FixedClock, Memory, Receipt, RelationName, Settings, Status
from lamina.atom.json_record import to_record
from lamina.atom.provenance import Scope
from lamina.atom.status import ENDED, TRANSITIONS, TransitionCause, check_transition
from lamina.errors import NotFound, Refused, TransitionRefused, UndoRefused
from lamina.review.undo import last_undoable
from lamina.store.base import AtomFilter, JournalEntry
from lamina.vault import layout
from lamina.vault.disk import Disk, SwapResult
from lamina.vault.file_access import Stamp

RUNS = int(os.environ.get("LAMINA_MACHINE_RUNS", "20"))
SEED = os.environ.get("LAMINA_MACHINE_SEED", "20261114")
PHASES = (Phase.generate, Phase.shrink) if "LAMINA_MACHINE_SHRINK" in os.environ else (Phase.generate,)
STEPS = int(os.environ.get("LAMINA_MACHINE_STEPS", "50"))
WITHHELD = re.compile(r"\[[^\]]*\]")
"""What stands in a hit for a sentence that is over or was taken back."""
OPEN = frozenset({Status.CONSTRAINED, Status.CHALLENGED})
WITHOUT_EFFECT = frozenset({Status.SUPERSEDED, Status.INVALIDATED, Status.TOMBSTONED})
RESTS_ON = frozenset({"depends_on", "implements"})

Probe = tuple[AtomId, int, str, float, str | None, dict[str, Any]]

SETTINGS = Settings(embedder="light", background=False)
LOCAL, AGENT, ACME = "org:local", "org:local:agent:cto", "org:acme"
SCOPES = (LOCAL, AGENT, ACME)
WORDS = ("tea", "coffee", "bicycle", "Lisbon", "train", "garden", "piano", "Ann", "Bob", "budget", "Monday", "blue")
SUBJECTS = ("coffee", "travel", "music")
TAGS = ("home", "work", "café")
SESSIONS = ("standup", "phone call")
PROBES: tuple[tuple[str, str, str, str], ...] = (
    *((LOCAL, word, "", "full_context") for word in ("tea", "coffee", "Lisbon train", "Ann Bob", "blue Monday")),
    *((LOCAL, question, "history", "full_context") for question in ("garden piano", "tea coffee budget")),
    (LOCAL, "bicycle tea", "challenged", "full_context"),
    (LOCAL, "Does Ann drink coffee in Lisbon?", "", "facts_only"),
    (LOCAL, "piano", "", "facts_plus_rules"),
    *((AGENT, word, "", "full_context") for word in ("tea", "coffee blue", "budget")),
    (AGENT, "garden train", "history", "full_context"),
    (AGENT, "Monday", "", "facts_only"),
    *((ACME, word, "", "full_context") for word in ("tea", "coffee", "Bob piano")),
    (ACME, "Lisbon budget", "history", "full_context"),
    (ACME, "train", "", "facts_only"),
)
CONFLICT_NAMES = ("{}.sync-conflict-20261114-091200-ABCDEFG.md", "{} (Ann's conflicted copy 2026-11-14).md", "{}~.md")

pick = st.integers(0, 10_000)
words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
tags = st.lists(st.sampled_from(TAGS), max_size=2, unique=True).map(tuple)
scopes = st.sampled_from(SCOPES)


class FailingDisk(Disk):
    """A disk that can be told to refuse writes, so that files stay in the outbox."""

    refuses = False

    def create(self, path: str, data: bytes) -> Stamp:
        self._complain()
        return super().create(path, data)

    def exchange(self, path: str, data: bytes) -> SwapResult:
        self._complain()
        return super().exchange(path, data)

    def move(self, old: str, new: str) -> Stamp:
        self._complain()
        return super().move(old, new)

    def _complain(self) -> None:
        if self.refuses:
            raise OSError(errno.ENOSPC, "no space left")


@dataclass(slots=True)
class Expected:
    """What the model knows of an atom."""

    scope: str
    content: str
    status: Status
    subject: str
    tags: tuple[str, ...]
    pinned: bool
    links: frozenset[tuple[str, str]]
    traits: tuple[object, ...]


def expected_of(atom: Atom) -> Expected:
    links = frozenset((str(relation.name), str(relation.target)) for relation in atom.relations)
    traits = atom.kind, atom.layer, atom.memory_type, atom.origin, atom.principal, atom.observed_at, atom.session_id
    return Expected(atom.scope, atom.content, atom.status, atom.subject, atom.tags, atom.pinned, links, traits)


class VaultMachine(RuleBasedStateMachine):
    """People, agents and accidents at one vault."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="lamina-machine-"))
        self.clock = FixedClock(datetime(2026, 11, 14, 9, 0, tzinfo=UTC))
        self.handles: dict[str, Memory] = {}
        self.abandoned: list[Memory] = []
        self.disks: list[FailingDisk] = []
        self.model: dict[str, Expected] = {}
        self.trash: dict[str, tuple[str, bytes]] = {}
        self.broken: dict[str, bytes] = {}
        self.keys: set[tuple[str, str]] = set()
        self.names = 0
        self.memory(LOCAL)

    # The memory and its handles

    def memory(self, scope: str) -> Memory:
        if scope not in self.handles:
            self.root.mkdir(exist_ok=True)
            disk = FailingDisk(self.root)
            self.disks.append(disk)
            self.handles[scope] = lamina.open(
                self.root, scope, watch=False, clock=self.clock, disk=disk, settings=SETTINGS
            )
        return self.handles[scope]

    @property
    def main(self) -> Memory:
        return self.memory(LOCAL)

    def handle_for(self, atom_id: str) -> Memory:
        """A memory that may see the atom; for the organisation's atoms, the agent's if it happens to be open."""
        scope = self.model[atom_id].scope
        return self.handles.get(AGENT, self.main) if scope == LOCAL else self.memory(scope)

    def reporting_memory(self, path: str) -> Memory:
        """A memory whose reports tell of a file: each tells of its own scopes' folders."""
        return self.memory(layout.scope_of_path(path) or LOCAL)

    def close_all(self) -> None:
        for memory in self.handles.values():
            memory.close()
        self.handles.clear()

    def chosen(self, n: int, *, with_file: bool = False) -> str | None:
        ids = [item for item in self.model if not with_file or (item not in self.broken and self.where(item))]
        return ids[n % len(ids)] if ids else None

    def where(self, atom_id: str) -> str | None:
        """The atom's file, as a person would find it."""
        atom = self.main.engine.store.projection.paths_of([AtomId(atom_id)]).get(AtomId(atom_id))
        if atom is not None and self._contains_id(atom, atom_id):
            return atom
        return next((path for path in self.files() if self._contains_id(path, atom_id)), None)

    def _contains_id(self, path: str, atom_id: str) -> bool:
        file = self.root / path
        return file.is_file() and not layout.is_conflict_copy(path) and f"id: {atom_id}".encode() in file.read_bytes()

    def files(self) -> Iterator[str]:
        for file in sorted(self.root.rglob("*.md")):
            path = file.relative_to(self.root)
            if not any(part.startswith(".") for part in path.parts):
                yield path.as_posix()

    def fresh_name(self) -> str:
        self.names += 1
        return f"note-{self.names}"

    def tick(self) -> None:
        self.clock.at += timedelta(milliseconds=1)

    # What a write is expected to do

    def wrote(self, receipt: Receipt) -> None:
        written = [outcome for outcome in receipt.outcomes if outcome.result != "duplicate"]
        for atom in (outcome.atom for outcome in written):
            known_value = self.model.get(atom.id)
            # A session that grew: what a person did to its file and nobody has looked at yet still counts.
            self.model[atom.id] = replace(known_value, content=atom.content) if known_value else expected_of(atom)
        for atom in (outcome.atom for outcome in written if outcome.result == "supersedes"):
            if atom.valid_from is not None and atom.valid_from <= self.clock.at:
                for supersede in atom.supersedes:
                    self.set_status(supersede, Status.SUPERSEDED)

    def set_status(self, atom_id: str, status: Status) -> None:
        """An atom's new status; a statement that rests on one that ends is doubted, unless it is pinned."""
        expected = self.model[atom_id]
        before, expected.status = expected.status, status
        if status in WITHOUT_EFFECT and before not in WITHOUT_EFFECT and expected.traits[0] != "narrative":
            for value in self.model.values():
                rests = any(name in RESTS_ON and target == atom_id for name, target in value.links)
                statement = value.traits[0] != "narrative" and not value.pinned and value.scope == expected.scope
                if rests and statement and value.status is Status.ACTIVE:
                    value.status = Status.CHALLENGED

    def everything_is_as_expected(self) -> None:
        fields: dict[str, Atom] = {}
        for scope in SCOPES:
            fields |= {atom.id: atom for atom in self.memory(scope).list(status=None, limit=None)}
        assert fields.keys() == self.model.keys()
        for atom_id, expected in self.model.items():
            assert expected_of(fields[atom_id]) == expected, f"{expected_of(fields[atom_id])}\n{expected}"

    def heads(self) -> dict[str, Atom]:
        store = self.main.engine.store
        return {atom.id: atom for atom in store.atoms.read(AtomFilter(scopes=tuple(Scope(scope) for scope in SCOPES)))}

    def entries(self) -> list[JournalEntry]:
        return self.main.engine.store.journal.read([Scope(scope) for scope in SCOPES])

    # Rules: what agents and programs do

    @rule(scope=scopes, text=words, subject=st.sampled_from(("", *SUBJECTS)), tags=tags, private=st.booleans())
    def remember(self, scope: str, text: str, subject: str, tags: tuple[str, ...], private: bool) -> None:
        self.tick()
        self.wrote(self.memory(scope).remember(text, subject=subject, tags=tags, private=private))

    @rule(
        scope=scopes,
        text=words,
        subject=st.sampled_from(SUBJECTS),
        days_ago=st.sampled_from((0, 0, 0, 2)),
        moment=st.booleans(),
    )
    def remember_a_claim(self, scope: str, text: str, subject: str, days_ago: int, moment: bool) -> None:
        if moment:
            self.tick()
        at = self.clock.at - timedelta(days=days_ago)
        self.wrote(self.memory(scope).remember(f"Prefers {text}", kind="preference", subject=subject, observed_at=at))

    @rule(scope=scopes, texts=st.lists(words, min_size=2, max_size=4), claim=st.booleans())
    def remember_many(self, scope: str, texts: list[str], claim: bool) -> None:
        self.tick()
        kind: dict[str, str] = {"kind": "habit", "subject": "music"} if claim else {}
        statements: list[dict[str, Any]] = [
            {"content": text, "observed_at": self.clock.at + timedelta(milliseconds=n), **kind}
            for n, text in enumerate(texts)
        ]
        self.clock.at += timedelta(milliseconds=len(texts))
        self.wrote(self.memory(scope).remember_many(statements))

    @rule(
        scope=scopes,
        session=st.sampled_from(SESSIONS),
        texts=st.lists(words, min_size=1, max_size=3),
        asks=st.booleans(),
    )
    def capture(self, scope: str, session: str, texts: list[str], asks: bool) -> None:
        self.tick()
        turns: list[dict[str, Any]] = [
            {"speaker": "Ann" if n % 2 else "Bob", "content": text} for n, text in enumerate(texts)
        ]
        if asks:
            turns.append({"speaker": "Ann", "content": f"Remember that {texts[0]} matters."})
        memory, before = self.memory(scope), self.heads()
        edited = {item: known_value.content for item, known_value in self.model.items()}
        self.wrote(memory.capture(turns, session_id=session))
        for atom_id, atom in before.items():
            if self.model[atom_id].content != edited[atom_id] != atom.content:
                # A person's edit that nobody had looked at yet and the new turns are both kept.
                self.model[atom_id].content = memory.get(atom_id).content
                assert self.model[atom_id].content.startswith(edited[atom_id])
                assert all(text in self.model[atom_id].content for text in texts)

    @rule(scope=scopes, key=st.sampled_from(("a", "b")), text=words)
    def write_with_a_key(self, scope: str, key: str, text: str) -> None:
        self.tick()
        memory = self.memory(scope)
        before = memory.engine.store.journal.position()
        receipt = memory.remember(text, key=key)
        used = (ACME if scope == ACME else LOCAL, key)
        if used in self.keys and receipt.commit is not None:
            assert receipt.repeated
            assert memory.engine.store.journal.position() == before
        elif receipt.commit is not None:
            self.keys.add(used)
            self.wrote(receipt)

    @precondition(lambda self: self.model)
    @rule(n=pick, text=words)
    def revise(self, n: int, text: str) -> None:
        self.tick()
        atom_id = self._some(n)
        self.handle_for(atom_id).revise(atom_id, text, reason="said so")
        self.model[atom_id].content = text

    @precondition(lambda self: self.model)
    @rule(n=pick, tags=tags, confidence=st.sampled_from((0.5, 1.0)))
    def revise_fields(self, n: int, tags: tuple[str, ...], confidence: float) -> None:
        self.tick()
        atom_id = self._some(n)
        handle = self.handle_for(atom_id)
        if not handle.get(atom_id).is_segment:
            handle.revise(atom_id, reason="said so", tags=tags, confidence=confidence)
            self.model[atom_id].tags = tags

    @precondition(lambda self: self.model)
    @rule(n=pick, status=st.sampled_from(Status))
    def change_status(self, n: int, status: Status) -> None:
        self.tick()
        atom_id = self._some(n)
        expected = self.model[atom_id]
        restores = expected.status in ENDED and status is Status.ACTIVE
        if restores or status in (expected.status, *TRANSITIONS[expected.status]):
            self._try_status(atom_id, status)
        else:
            self._refused(lambda: self.handle_for(atom_id).update_status(atom_id, status, "because"))

    @precondition(lambda self: self.model)
    @rule(n=pick)
    def restore(self, n: int) -> None:
        self.tick()
        ended = [item for item, known_value in self.model.items() if known_value.status in ENDED]
        if ended:
            self._try_status(ended[n % len(ended)], Status.ACTIVE)

    @precondition(lambda self: self.model)
    @rule(n=pick)
    def forget(self, n: int) -> None:
        self.tick()
        atom_id = self._some(n)
        status = self.model[atom_id].status
        if status is not Status.TOMBSTONED and Status.TOMBSTONED not in TRANSITIONS[status]:
            self._refused(lambda: self.handle_for(atom_id).forget(atom_id, "enough"))
        else:
            self.handle_for(atom_id).forget(atom_id, "enough")
            self.set_status(atom_id, Status.TOMBSTONED)

    def _try_status(self, atom_id: str, status: Status) -> None:
        try:
            self.handle_for(atom_id).update_status(atom_id, status, "because")
        except TransitionRefused:
            raise
        except Refused:
            return  # an episode is never superseded; a claim may be taken by now
        if status is Status.ACTIVE and self.model[atom_id].status in OPEN:
            self._confirmed()
        else:
            self.set_status(atom_id, status)

    def _confirmed(self) -> None:
        """What is confirmed is compared with what stands; what came of it is as the last commit says."""
        heads = self.heads()
        for change in self.entries()[-1].changes:
            expected = expected_of(heads[change.atom_id])
            self.model[change.atom_id] = replace(
                self.model[change.atom_id], status=expected.status, links=expected.links
            )

    def _refused(self, work: Callable[[], object]) -> None:
        try:
            work()
        except Refused:
            return
        raise AssertionError("the status table has no such arrow")

    @precondition(lambda self: self.model)
    @rule(n=pick, pinned=st.booleans())
    def pin(self, n: int, pinned: bool) -> None:
        atom_id = self._some(n)
        handle = self.handle_for(atom_id)
        (handle.pin if pinned else handle.unpin)(atom_id)
        self.model[atom_id].pinned = pinned

    @precondition(lambda self: len(self.model) > 1)
    @rule(n=pick, m=pick, name=st.sampled_from(RelationName), confidence=st.sampled_from((0.25, 1.0)))
    def relate(self, n: int, m: int, name: RelationName, confidence: float) -> None:
        self.tick()
        one, other = self._some(n), self._some(m)
        if one != other and self.model[one].scope == self.model[other].scope:
            self.handle_for(one).relate(one, name, other, confidence)
            self.model[one].links |= {(str(name), other)}

    @precondition(lambda self: self.model)
    @rule(n=pick, text=words, what=st.sampled_from(("revise", "forget", "archive", "remember", "capture")))
    def write_while_the_disk_refuses(self, n: int, text: str, what: str) -> None:
        """What is acknowledged stands in the journal; the files follow later, or after a crash."""
        atom_id = self._some(n)
        self.handle_for(atom_id).get(atom_id)
        self.main.upkeep.sync()
        for disk in self.disks:
            disk.refuses = True
        try:
            match what:
                case "revise":
                    self.revise(n, text)
                case "forget":
                    self.forget(n)
                case "archive":
                    self.change_status(n, Status.ARCHIVED)
                case "remember":
                    self.remember_a_claim(LOCAL, text, SUBJECTS[n % 3], 0, True)
                case _:
                    self.capture(LOCAL, SESSIONS[n % 2], [text], False)
        finally:
            for disk in self.disks:
                disk.refuses = False

    def _some(self, n: int) -> str:
        atom_id = self.chosen(n)
        assert atom_id is not None
        return atom_id

    # Rules: what people do to files

    def person_saves(self, atom_id: str, change: Callable[[bytes], bytes], *, looked_at: bool, **expected: Any) -> bool:
        """An edit counts, at once or when somebody looks; one that breaks a rule is reported, and taken back."""
        if looked_at:
            self.main.upkeep.sync()
        path = self.where(atom_id)
        assert path is not None
        file, teller = self.root / path, self.reporting_memory(path)
        before = file.read_bytes()
        after = change(before)
        file.write_bytes(after)
        if looked_at and path in teller.upkeep.sync().unreadable:
            file.write_bytes(before)
            assert path not in teller.upkeep.sync().unreadable
            return False
        self.model[atom_id] = replace(self.model[atom_id], **expected)
        return True

    @precondition(lambda self: self.model)
    @rule(n=pick, text=words, looked_at=st.booleans())
    def person_edits_the_words(self, n: int, text: str, looked_at: bool) -> None:
        atom_id = self.chosen(n, with_file=True)
        if atom_id:
            self.person_saves(atom_id, lambda data: file_edits.with_body(data, text), looked_at=looked_at, content=text)

    @precondition(lambda self: self.model)
    @rule(n=pick, text=words, turn=words)
    def person_edits_a_session_that_goes_on(self, n: int, text: str, turn: str) -> None:
        values = [atom for atom in self.heads().values() if atom.is_segment and atom.id not in self.broken]
        segment = values[n % len(values)] if values else None
        if segment and segment.session_id and self.where(segment.id):
            edit = f"{text} ^p1"
            self.person_saves(segment.id, lambda data: file_edits.with_body(data, edit), looked_at=False, content=edit)
            self.capture(segment.scope, segment.session_id, [turn], False)

    @precondition(lambda self: self.model)
    @rule(n=pick, subject=st.sampled_from(SUBJECTS))
    def person_edits_the_subject(self, n: int, subject: str) -> None:
        atom_id = self.chosen(n, with_file=True)
        if atom_id:
            self.person_saves(
                atom_id, lambda data: file_edits.with_entry(data, "subject", subject), looked_at=True, subject=subject
            )

    @precondition(lambda self: self.model)
    @rule(n=pick, tags=tags, looked_at=st.booleans())
    def person_edits_the_tags(self, n: int, tags: tuple[str, ...], looked_at: bool) -> None:
        atom_id = self.chosen(n, with_file=True)
        if atom_id:
            listed = f"[{', '.join(tags)}]" if tags else None
            self.person_saves(
                atom_id, lambda data: file_edits.with_entry(data, "tags", listed), looked_at=looked_at, tags=tags
            )

    @precondition(lambda self: len(self.model) > 1)
    @rule(n=pick, m=pick, looked_at=st.booleans())
    def person_edits_a_relation(self, n: int, m: int, looked_at: bool) -> None:
        atom_id, other = self.chosen(n, with_file=True), self._some(m)
        if atom_id and atom_id != other:
            place = self.where(other)
            name = layout.file_stem(place) if place else other
            alias = "" if name.endswith(other) else f"|{other}"
            self.person_saves(
                atom_id,
                lambda data: file_edits.with_entry(data, "relations", f'["supports [[{name}{alias}]]"]'),
                looked_at=looked_at,
                links=frozenset({("supports", other)}),
            )

    @precondition(lambda self: self.model)
    @rule(n=pick, status=st.sampled_from(Status))
    def person_edits_the_status(self, n: int, status: Status) -> None:
        atom_id = self.chosen(n, with_file=True)
        if atom_id:
            old = self.model[atom_id].status
            try:
                check_transition(old, status, TransitionCause.RESTORE if old in ENDED else TransitionCause.ORDINARY)
            except TransitionRefused:
                new = old
            else:
                new = status
            if self.person_saves(
                atom_id, lambda data: file_edits.with_entry(data, "status", status.value), looked_at=True
            ):
                self.set_status(atom_id, new)
            if old in OPEN and new is Status.ACTIVE:
                self._confirmed()
            written = self.where(atom_id)
            assert written is not None
            text = file_edits.entry((self.root / written).read_bytes(), "status") or "active"
            assert text == self.model[atom_id].status.value

    @precondition(lambda self: self.model)
    @rule(n=pick, key=st.sampled_from(("origin", "principal", "recorded_at")))
    def person_edits_what_never_changes(self, n: int, key: str) -> None:
        atom_id = self.chosen(n, with_file=True)
        if atom_id:
            value = {"origin": "web", "principal": "eve", "recorded_at": "2020-01-01T00:00:00Z"}[key]
            self.person_saves(atom_id, lambda data: file_edits.with_entry(data, key, value), looked_at=True)

    @precondition(lambda self: self.model)
    @rule(n=pick, how=st.sampled_from(("note", "crlf", "touch", "id")), looked_at=st.booleans())
    def person_saves_without_changing_a_fact(self, n: int, how: str, looked_at: bool) -> None:
        atom_id = self.chosen(n, with_file=True)
        if atom_id is None:
            return
        self.names += 1
        match how:
            case "note":
                note = f"seen {self.names} times"
                self.person_saves(
                    atom_id, lambda data: file_edits.with_entry(data, "my_note", note), looked_at=looked_at
                )
            case "crlf":
                self.person_saves(atom_id, file_edits.with_crlf, looked_at=looked_at)
            case "touch":
                self.person_saves(atom_id, lambda data: data, looked_at=looked_at)
            case _:
                self.person_saves(atom_id, lambda data: file_edits.with_entry(data, "id", None), looked_at=True)
                assert self.where(atom_id), "the id is written in again"

    @precondition(lambda self: self.model)
    @rule(n=pick, folder=st.sampled_from((None, "atoms/mine/", "notes/", "archive/")), looked_at=st.booleans())
    def person_renames_or_moves(self, n: int, folder: str | None, looked_at: bool) -> None:
        atom_id = self.chosen(n, with_file=True)
        if atom_id is None:
            return
        old = self.where(atom_id)
        assert old is not None
        parent = layout.scope_folder(Scope(self.model[atom_id].scope)) + folder if folder else f"{Path(old).parent}/"
        name = self.fresh_name() if folder is None else layout.file_stem(old)
        self._move(old, f"{parent}{name}.md")
        if looked_at:
            self.main.upkeep.sync()
            assert self.handle_for(atom_id).path_of(atom_id) == f"{parent}{name}.md"

    def _move(self, old: str, new: str) -> None:
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        (self.root / old).replace(self.root / new)

    @precondition(lambda self: len(self.model) > 1)
    @rule(n=pick, m=pick)
    def person_swaps_two_names(self, n: int, m: int) -> None:
        pair = self._two_files(n, m)
        if pair:
            self._move(pair[0], "atoms/between.md")
            self._move(pair[1], pair[0])
            self._move("atoms/between.md", pair[1])
            self.main.upkeep.sync()

    @precondition(lambda self: len(self.model) > 1)
    @rule(n=pick, m=pick)
    def person_moves_one_file_over_another(self, n: int, m: int) -> None:
        pair = self._two_files(n, m)
        if pair:
            text = self.chosen(m, with_file=True)
            assert text is not None
            self._move(pair[0], pair[1])
            self.main.upkeep.sync()
            self._deleted(text)

    def _two_files(self, n: int, m: int) -> tuple[str, str] | None:
        self.main.upkeep.sync()
        one, other = self.chosen(n, with_file=True), self.chosen(m, with_file=True)
        if one is None or other is None or one == other or self.model[one].scope != self.model[other].scope:
            return None
        paths = self.where(one), self.where(other)
        assert paths[0] and paths[1]
        return paths[0], paths[1]

    @precondition(lambda self: self.model)
    @rule(n=pick)
    def person_deletes(self, n: int) -> None:
        self.main.upkeep.sync()
        atom_id = self.chosen(n, with_file=True)
        if atom_id:
            path = self.where(atom_id)
            assert path is not None
            self.trash[atom_id] = path, (self.root / path).read_bytes()
            (self.root / path).unlink()
            self.main.upkeep.sync()
            self._deleted(atom_id)

    def _deleted(self, atom_id: str) -> None:
        if Status.TOMBSTONED in TRANSITIONS[self.model[atom_id].status]:
            self.set_status(atom_id, Status.TOMBSTONED)

    @precondition(lambda self: self.trash)
    @rule(n=pick, elsewhere=st.booleans())
    def person_brings_a_file_back(self, n: int, elsewhere: bool) -> None:
        atom_id = list(self.trash)[n % len(self.trash)]
        path, data = self.trash.pop(atom_id)
        self.main.upkeep.sync()
        if self.where(atom_id) or (self.root / path).exists():
            return
        if elsewhere:
            path = f"{Path(path).parent}/{self.fresh_name()}.md"
        teller = self.reporting_memory(path)
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(data)
        if path in teller.upkeep.sync().unreadable:
            (self.root / path).unlink()
            self.main.upkeep.sync()
        elif self.model[atom_id].status is Status.TOMBSTONED:
            status = Status(file_edits.entry(data.replace(b"\r\n", b"\n"), "status") or "active")
            self.model[atom_id].status = status if Status.TOMBSTONED in TRANSITIONS[status] else Status.TOMBSTONED

    @rule(scope=scopes, text=words, shape=st.sampled_from(("bare", "fields", "claim", "foreign", "crlf")))
    def person_drops_a_file(self, scope: str, text: str, shape: str) -> None:
        self.main.upkeep.sync()
        path = f"{layout.scope_folder(Scope(scope))}atoms/{self.fresh_name()}.md"
        head = {
            "fields": "---\nsubject: music # mine\ntags: [home]\n---\n",
            "claim": "---\nkind: preference\nsubject: coffee\n---\n",
            "foreign": f"---\natom_id: {self.names:012x}\ntier: semantic\nprovenance:\n  session_id: s1\n---\n",
        }.get(shape, "")
        data = f"{head}{text}\n".encode()
        data = data.replace(b"\n", b"\r\n") if shape == "crlf" else data
        teller = self.reporting_memory(path)
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(data)
        assert teller.upkeep.sync().adopted == [path]
        assert (self.root / path).read_bytes().endswith(data.rpartition(b"---\n")[2])
        row = self.main.engine.store.projection.read(paths=[path]).at(path)
        assert row is not None and row.entry.atom_id is not None
        atom = self.memory(scope).get(row.entry.atom_id)
        assert atom.content == text
        assert atom.status is Status.ACTIVE or (shape == "claim" and atom.status is Status.CHALLENGED)
        self.model[atom.id] = expected_of(atom)

    @precondition(lambda self: self.model)
    @rule(n=pick)
    def person_breaks_a_file(self, n: int) -> None:
        self.main.upkeep.sync()
        atom_id = self.chosen(n, with_file=True)
        if atom_id:
            path = self.where(atom_id)
            assert path is not None
            self.broken[atom_id] = (self.root / path).read_bytes()
            teller = self.reporting_memory(path)
            (self.root / path).write_bytes(file_edits.with_entry(self.broken[atom_id], "tags", "[never closed"))
            assert path in teller.upkeep.sync().unreadable

    @precondition(lambda self: self.broken)
    @rule(n=pick, text=st.none() | words)
    def person_repairs_a_file(self, n: int, text: str | None) -> None:
        atom_id = list(self.broken)[n % len(self.broken)]
        data = self.broken.pop(atom_id)
        self.main.upkeep.sync()
        path = self.where(atom_id)
        if path is None:
            return
        teller = self.reporting_memory(path)
        (self.root / path).write_bytes(file_edits.with_body(data, text) if text else data)
        assert path not in teller.upkeep.sync().unreadable
        if text:
            atom = self.handle_for(atom_id).get(atom_id)
            # Turns that came in while the file could not be read follow what the person wrote.
            stored = atom.is_segment and atom.content.startswith(f"{text}\n\n")
            self.model[atom_id].content = atom.content if stored else text

    @precondition(lambda self: self.model)
    @rule(n=pick, name=st.sampled_from(CONFLICT_NAMES))
    def a_sync_tool_leaves_a_conflict_copy(self, n: int, name: str) -> None:
        atom_id = self.chosen(n, with_file=True)
        path = self.where(atom_id) if atom_id else None
        if path:
            copy = self.root / Path(path).parent / name.format(layout.file_stem(path))
            copy.write_bytes((self.root / path).read_bytes() + b"the other side\n")
            self.main.upkeep.sync()

    # Rules: undo

    @rule()
    def undo_the_last(self) -> None:
        self.tick()
        self.main.upkeep.sync()
        if self.main.journal():
            self._undo(None, cascade=False)

    @precondition(lambda self: self.model)
    @rule(n=pick, cascade=st.booleans())
    def undo_some_commit(self, n: int, cascade: bool) -> None:
        self.tick()
        self.main.upkeep.sync()
        entries = self.main.journal()
        if entries:
            self._undo(entries[-1 - n % min(len(entries), 12)].id, cascade=cascade)

    def _undo(self, commit: str | None, *, cascade: bool) -> None:
        before = self.main.engine.store.journal.position()
        last = last_undoable(self.main.engine.store, self.main.scopes)
        target = commit or (last.id if last else None)
        try:
            receipt = self.main.undo(commit, cascade=cascade)
        except UndoRefused as error:
            assert error.later
            assert not cascade
            target = None
        except NotFound:
            assert target is None, "all of it is undone"
        except Refused:
            target = None  # a claim was taken meanwhile
        else:
            assert cascade or len(receipt) == 1
        for entry in self.entries():
            if entry.seq > before:
                assert entry.undoes is not None
                self._expect_undone(entry.undoes)
        if target is not None:
            self._expect_undone(target)

    def _expect_undone(self, commit: str) -> None:
        (undone,) = self.main.engine.store.journal.read([Scope(scope) for scope in SCOPES], commit=commit)
        for change in undone.changes:
            expected = self.model[change.atom_id]
            if change.old_status is None:
                expected.status = Status.TOMBSTONED
                continue
            versions = self.main.engine.store.journal.versions(change.atom_id)
            earlier = expected_of(next(version.atom for version in versions if version.revision == change.revision - 1))
            for name in ("content", "status", "subject", "tags", "pinned"):
                if name in change.fields:
                    setattr(expected, name, getattr(earlier, name))
            if "relations" in change.fields:
                expected.links = earlier.links

    # Rules: time, crashes and lost files

    @rule(minutes=st.sampled_from((1, 40, 60 * 24)))
    def time_passes(self, minutes: int) -> None:
        self.clock.at += timedelta(minutes=minutes)

    @rule()
    def check_everything(self) -> None:
        self.everything_is_as_expected()

    @rule(scope=scopes, question=words)
    def recall(self, scope: str, question: str) -> None:
        for hit in self.memory(scope).recall(question).hits:
            expected = self.model[hit.atom.id]
            assert expected_of(hit.atom) == expected, f"{expected_of(hit.atom)}\n{expected}"
            for words in WITHHELD.split(hit.text):
                assert any(
                    words.strip() in value.content for value in self.model.values() if value.scope == expected.scope
                )
            assert hit.score == hit.relevance * prod(value for _, value in hit.weights)

    @rule()
    def sync(self) -> None:
        self.main.upkeep.sync()
        assert self.main.upkeep.sync().written == 0

    @rule()
    def reopen_cleanly(self) -> None:
        self.close_all()
        self.tick()

    @rule()
    def reopen_after_a_crash(self) -> None:
        """The old handles are never closed, as those of a killed process are not."""
        self.abandoned += self.handles.values()
        self.handles.clear()
        self.tick()

    @rule(whole=st.booleans(), open_meanwhile=st.booleans())
    def lose_the_index(self, whole: bool, open_meanwhile: bool) -> None:
        if not open_meanwhile:
            self.close_all()
        for name in ("index.db", "index.db-wal", "index.db-shm") if whole else ("index.db",):
            (self.root / ".lamina" / name).unlink(missing_ok=True)
        self.tick()

    @rule(how=st.sampled_from(("truncate", "zeros", "garbage", "empty")), seed=st.integers(0, 999))
    def damage_the_index(self, how: str, seed: int) -> None:
        self.close_all()
        for memory in self.abandoned:
            memory.close()
        self.abandoned.clear()
        self.tick()
        damage(self.root / ".lamina" / "index.db", how, random.Random(seed))

    @rule()
    def rebuild(self) -> None:
        self.main.upkeep.rebuild()

    # The end of a run

    def teardown(self) -> None:
        try:
            self._mend()
            self.everything_is_as_expected()
            self._index_equals_one_made_anew()
            self._journal_leads_to_the_state()
            self._files_alone_bring_the_state_back()
        finally:
            self.close_all()
            for memory in self.abandoned:
                memory.close()
            shutil.rmtree(self.root, ignore_errors=True)

    def _mend(self) -> None:
        while self.broken:
            self.person_repairs_a_file(0, None)
        self.main.upkeep.sync()

    def probes(self, *, history: bool = True) -> list[list[Probe]]:
        answers: list[list[Probe]] = []
        for scope, question, include, mode in PROBES:
            if include == "history" and not history:
                continue
            hits = self.memory(scope).recall(question, include=include or (), mode=mode).hits
            answers.append([(hit.atom.id, hit.passage.n, hit.text, hit.score, hit.path, hit.explain()) for hit in hits])
        return answers

    def _index_equals_one_made_anew(self) -> None:
        answers, texts = self.probes(), self.main.engine.store.dump()
        self.main.upkeep.rebuild()
        assert self.main.engine.store.dump() == texts
        assert self.probes() == answers
        assert self.main.upkeep.doctor(deep=True).faults == ()
        self.close_all()
        for name in ("index.db", "index.db-wal", "index.db-shm"):
            (self.root / ".lamina" / name).unlink(missing_ok=True)
        assert self.main.engine.store.dump() == texts
        assert self.probes() == answers

    def _journal_leads_to_the_state(self) -> None:
        status: dict[str, Status] = {}
        for entry in self.entries():
            touched = [change.atom_id for change in entry.changes]
            assert len(touched) == len(set(touched))
            for change in entry.changes:
                assert status.get(change.atom_id) == change.old_status
                status[change.atom_id] = change.new_status
        heads = self.heads()
        assert status == {atom_id: atom.status for atom_id, atom in heads.items()}
        for atom in heads.values():
            assert self.main.engine.store.journal.versions(atom.id)[-1].atom == atom
            self._never_returns(atom, heads)

    def _never_returns(self, atom: Atom, heads: dict[str, Atom]) -> None:
        ahead, result = set(atom.superseded_by), set[str]()
        while ahead:
            assert atom.id not in ahead
            result |= ahead
            ahead = {
                item for known_value in ahead if known_value in heads for item in heads[known_value].superseded_by
            } - result

    def _heirs(self, atom_id: str) -> set[str]:
        """Whatever took an atom's place, one after the other."""
        heads = {str(item): atom for item, atom in self.heads().items()}
        result, ahead = set[str](), {atom_id}
        while ahead:
            ahead = {
                str(item) for known_value in ahead if known_value in heads for item in heads[known_value].superseded_by
            } - result
            result |= ahead
        return result

    def _files_alone_bring_the_state_back(self) -> None:
        placed = {item for item in self.model if self.where(item)}
        # Several commits in a millisecond are dated ahead of the clock; a new journal believes no time that is to come.
        self.clock.at = max(self.clock.at, self.main.now())
        before = {atom_id: to_record(atom) for atom_id, atom in self.heads().items() if atom_id in placed}
        # A statement whose file a person took away is known to the journal alone, and with it what became of its words.
        segments = {
            evidence.segment for atom in self.heads().values() if atom.id not in placed for evidence in atom.evidence
        }
        heirs = {atom_id: self._heirs(atom_id) for atom_id in self.heads()}
        answers, files = self.probes(history=False), {path: (self.root / path).read_bytes() for path in self.files()}
        self.close_all()
        shutil.rmtree(self.root / ".lamina")
        self.tick()
        self.main.upkeep.sync()
        after = {atom_id: to_record(atom) for atom_id, atom in self.heads().items()}
        assert after == before
        self.clock.at -= timedelta(milliseconds=1)
        for then, now in zip(answers, self.probes(history=False), strict=True):
            result = (*then, *now)
            led = {item[5]["instead_of"][0] for item in result if item[5]["instead_of"]}
            led |= {heir for item in led for heir in heirs[item]}
            assert then == now or segments & {hit[0] for hit in result} or led - placed
        assert {path: (self.root / path).read_bytes() for path in self.files()} == files


def damage(index: Path, how: str, chance: random.Random) -> None:
    """What a failing disk or a careless program makes of a file."""
    if not index.exists():
        return
    data = bytearray(index.read_bytes())
    pages = max(1, len(data) // 4096)
    page = chance.randrange(pages) * 4096
    match how:
        case "truncate":
            data = data[: chance.randrange(len(data) + 1)]
        case "zeros":
            data[page : page + 4096] = bytes(len(data[page : page + 4096]))
        case "garbage":
            data[page : page + 4096] = chance.randbytes(len(data[page : page + 4096]))
        case _:
            data = bytearray()
    index.write_bytes(bytes(data))


def run_histories(seed: int, runs: int) -> None:
    """Run so many random histories of a vault, each to its end; the first failure raises."""
    profile = settings(
        max_examples=runs,
        stateful_step_count=STEPS,
        deadline=None,
        print_blob=True,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=PHASES,
    )
    run_state_machine_as_test(hypothesis.seed(seed)(VaultMachine), settings=profile)


@pytest.mark.timeout(3600)
def test_a_rebuilt_index_equals_the_incremental_one(caplog: pytest.LogCaptureFixture) -> None:
    seed = random.SystemRandom().randrange(2**32) if SEED == "random" else int(SEED)
    print(f"LAMINA_MACHINE_SEED={seed}")
    caplog.set_level(logging.ERROR, logger="lamina")  # the tired disk is complained about at every turn
    run_histories(seed, RUNS)
