"""A whole Remnic vault comes in without loss: fields, counters, links, boxes, archive and the agent's identity.

Covers `lamina.importers.remnic_vault` and `lamina.importers.imported_links_and_boxes`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from remnic_folder import COUNT, content_of, memory_id, status_of, write_remnic_vault

import lamina
from lamina import Atom, Memory, Settings
from lamina.atom.status import Status
from lamina.importers.import_plan import plan_import
from lamina.importers.import_writer import ImportReport

FIELD_KEYS = frozenset(
    {
        "id",
        "category",
        "created",
        "tags",
        "entityRef",
        "structuredAttributes",
        "confidence",
        "importanceScore",
        "expiresAt",
        "supersedes",
        "supersededBy",
        "supersededAt",
        "validAt",
        "invalidAt",
        "accessCount",
        "lastAccessed",
        "mw_success",
        "mw_fail",
        "source",
        "links",
        "status",
    }
)
"""Keys that become fields, links or counters; the test compares them one by one."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_remnic_vault(tmp_path_factory.mktemp("remnic"))


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory, folder: Path) -> Iterator[tuple[Memory, ImportReport]]:
    settings = Settings(embedder="none", state_model="off")
    with lamina.open(tmp_path_factory.mktemp("vault"), watch=False, settings=settings) as memory:
        yield memory, memory.import_(folder)


def atoms_by_ref(memory: Memory) -> dict[str, Atom]:
    atoms = [*memory.list(status=None, limit=None), *memory.list(status=None, kind="box", limit=None)]
    return {atom.source_ref: atom for atom in atoms if atom.source_ref}


def test_every_field_of_every_memory_is_kept(imported: tuple[Memory, ImportReport], folder: Path) -> None:
    memory, _ = imported
    atoms = atoms_by_ref(memory)
    for n in range(COUNT):
        atom, (file,) = atoms[memory_id(n)], folder.rglob(f"{memory_id(n)}.md")
        front = yaml.safe_load(file.read_text(encoding="utf-8").split("---\n")[1])
        assert (atom.content, atom.kind, atom.subject) == (content_of(n), front["category"], f"heron {n}")
        assert set(atom.tags) == set(front["tags"])
        assert (atom.confidence, atom.importance) == (front["confidence"], front["importanceScore"])
        assert (atom.observed_at, atom.expires_at) == (front["created"], front["expiresAt"])
        assert (atom.valid_from, atom.valid_until) == (front["validAt"], front["invalidAt"])
        assert atom.durability.value == {"ephemeral": "ephemeral", "protected": "core"}.get(
            front["policyClass"], atom.durability.value
        )
        signals = memory.signals(atom.id)
        assert (signals.recall_count, signals.successes, signals.failures) == (
            front["accessCount"],
            front["mw_success"],
            front["mw_fail"],
        )
        assert signals.last_recalled_at == (front["lastAccessed"] if n else None)
        assert atom.metadata["channel"] == front["source"]
        assert json.loads(str(atom.metadata["links"]))[0]["reason"] == f"reason {n}"
        assert {"room": str(n + 100), "shelf": "top"}.items() <= dict(atom.metadata).items()
        for key in front.keys() - FIELD_KEYS:
            assert atom.metadata[key], key
        assert atom.metadata["verificationState"] == front["verificationState"]
        assert atom.metadata["lineage"] == front["lineage"][0]


def test_what_had_ended_there_has_ended_here_with_links_both_ways(imported: tuple[Memory, ImportReport]) -> None:
    memory, _ = imported
    atoms = atoms_by_ref(memory)
    for n in range(10):
        newer, older = atoms[memory_id(n)], atoms[memory_id(n + 30)]
        assert older.status is Status.SUPERSEDED
        assert older.superseded_by == (newer.id,)
        assert older.id in newer.supersedes


def test_links_become_relations_with_their_strength(imported: tuple[Memory, ImportReport]) -> None:
    memory, report = imported
    atoms = atoms_by_ref(memory)
    names = {(relation.name.value, relation.target): relation for relation in atoms[memory_id(3)].relations}
    assert names["supports", atoms[memory_id(5)].id].confidence == 0.4
    follows = {(relation.name.value, relation.target) for relation in atoms[memory_id(7)].relations}
    assert ("leads_to", atoms[memory_id(5)].id) in follows
    cause = next(relation for relation in atoms[memory_id(1)].relations if relation.name == "caused_by")
    assert (cause.target, cause.confidence) == (atoms[memory_id(0)].id, 0.6)
    assert cause.last_reinforced_at == datetime(2025, 2, 1, tzinfo=UTC)
    artifact = atoms["artifact-1735788000000-ef00"]
    assert {(relation.name.value, relation.target) for relation in artifact.relations} == {
        ("supports", atoms[memory_id(0)].id)
    }
    assert (artifact.metadata["artifactType"], artifact.metadata["sourceTurnId"]) == ("definition", "turn-0")
    assert report.links == COUNT + 2 + 1


def test_boxes_keep_their_members_topics_and_traces(imported: tuple[Memory, ImportReport]) -> None:
    memory, report = imported
    atoms = atoms_by_ref(memory)
    assert (report.boxes, dict(report.left_out)["member of a box that was not imported"]) == (2, 1)
    for n in range(2):
        box = atoms[f"box-17357871{n:02}000-cd{n:02}"]
        members = [atoms[memory_id(5 * n + offset)] for offset in range(5)]
        assert box.derived_from == tuple(member.id for member in members)
        assert {(member.box_id, member.trace_id) for member in members} == {(box.id, f"trace-0000000{n}")}
        assert (box.kind, box.tags, box.session_id) == ("box", ("pottery", f"room {n}"), f"session-{n}")
        assert box.metadata["sealReason"] == "topic_shift"
        assert (box.metadata["goal"], box.metadata["outcome"]) == ("furnish the pottery", "success")
        assert all(member.content in box.content for member in members)


def test_an_agents_identity_stays_the_agents(imported: tuple[Memory, ImportReport]) -> None:
    memory, _ = imported
    reflections = memory.list(status=None, kind="insight", limit=None)
    assert sorted(atom.content for atom in reflections) == [
        "I answer too quickly when somebody is upset.",
        "I ask before I delete anything.",
        "I keep my summaries short.",
    ]
    assert {atom.subject for atom in reflections} == {"agent"}
    assert reflections[0].observed_at.date().isoformat() in ("2025-03-01", "2025-04-02")
    assert not [atom for atom in memory.list(status=None, subject="user", limit=None) if "I " in atom.content]


def test_the_summary_names_everything_and_its_counts_agree_with_the_list(
    imported: tuple[Memory, ImportReport], folder: Path
) -> None:
    memory, report = imported
    listed = Counter(atom.status for atom in atoms_by_ref(memory).values() if atom.kind != "box")
    assert report.facts == COUNT + 2 + 3 == sum(listed.values())
    assert dict(report.results) == {"held": listed[Status.CONSTRAINED], "superseded": listed[Status.SUPERSEDED]}
    assert (listed[Status.SUPERSEDED], report.documents) == (10, 2)
    assert dict(report.skipped) == {
        "part of a memory that is imported as a whole": 1,
        "rejected in the other memory": 1,
        "state of the other memory, which this vault computes itself": 2,
    }
    assert report.problem_count == 0
    plan = plan_import(folder)
    assert plan.total == len(list(plan.steps()))
    files = sum(file.is_file() for file in folder.rglob("*"))
    steps = report.facts + report.documents + report.boxes + sum(dict(report.skipped).values())
    assert files == steps - 2 + 1  # three reflections in one file; the causal links are a file and no memory


def test_importing_again_changes_nothing(imported: tuple[Memory, ImportReport], folder: Path) -> None:
    memory, _ = imported
    before = {atom.id: atom.revision for atom in atoms_by_ref(memory).values()}
    again = memory.import_(folder)
    assert (again.facts, again.boxes, again.links) == (0, 0, 0)
    assert {atom.id: atom.revision for atom in atoms_by_ref(memory).values()} == before


def test_what_was_archived_is_archived_when_it_is_confirmed(tmp_path: Path, folder: Path) -> None:
    with lamina.open(tmp_path / "vault", watch=False, settings=Settings(embedder="none", state_model="off")) as memory:
        memory.import_(folder)
        memory.review.approve_source("remnic")
        atoms = atoms_by_ref(memory)
        for n in range(COUNT):
            wanted = {"active": Status.ACTIVE, "archived": Status.ARCHIVED, "superseded": Status.SUPERSEDED}
            assert atoms[memory_id(n)].status is wanted[status_of(n)], n
        assert len(memory.list(status="archived", limit=None)) == 10
        memory.upkeep.dream()
        assert len(memory.list(status="archived", limit=None)) == 10
        (first,) = (atom for atom in memory.list(status="archived", limit=None) if atom.source_ref == memory_id(20))
        assert "/archive/" in f"/{memory.path_of(first.id)}"
        assert memory.undo()
