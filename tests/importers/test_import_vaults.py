"""Vaults of other memories: active facts are pending, changes are history, retracted facts stay away.

Covers `lamina.importers.foreign_vault` and `lamina.importers.imported_facts`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from exports import note

from lamina.atom.provenance import Origin
from lamina.atom.status import Status
from lamina.importers import (
    ImportedDocument,
    ImportedFact,
    ImportProblem,
    ImportStep,
    SkippedItem,
    detect_importer,
    plan_import,
)

NESTED = """---
atom_id: 3f0c2a51-1f5e-4f0a-9a55-0d8f3b6f1c11
kind: preference
source: user
subject: coffee
provenance:
  observed_at: 2025-11-14T09:12:00+00:00
  source_id: telegram
  session_id: sess_1
  segment_id: seg_0
  ingested_at: 2025-11-14T09:13:00+00:00
  source_span:
    start: 0
    end: 10
valid_from: 2025-11-01
valid_until: null
is_superseded: false
superseded_by: null
dedup:
  content_hash: abc
metadata: {}
---
Prefers Ethiopian dark roast.
"""
FLAT = """---
id: a1b2c3d4e5f6
kind: preference
subject: coffee
content: Prefers light roast.
observed_at: 2024-11-14T09:12:00Z
source_id: web
tier: semantic
is_superseded: true
superseded_by: 3f0c2a51-1f5e-4f0a-9a55-0d8f3b6f1c11
supersedes: []
---
"""
MEMORY = """---
id: {id}
category: decision
created: 2025-01-02T03:04:05.000Z
updated: 2025-01-02T03:04:05.000Z
source: extraction
confidence: 0.92
confidenceTier: implied
tags: ["db", "infra"]
entityRef: project-blue-heron
importanceScore: 0.71
importanceLevel: high
{more}---

We use PostgreSQL for the blue heron project.
"""


def steps(path: Path) -> list[ImportStep]:
    plan = plan_import(path)
    result = list(plan.steps())
    assert len(result) == plan.total
    return result


def remnic_memory(path: Path, own_id: str, more: str = "") -> Path:
    return note(path / "facts" / "2025-01-02" / f"{own_id}.md", MEMORY.format(id=own_id, more=more))


def fact(step: ImportStep) -> ImportedFact:
    assert isinstance(step, ImportedFact)
    return step


def test_a_lattice_atom_becomes_a_pending_draft(tmp_path: Path) -> None:
    note(tmp_path / "atoms" / "3f0c2a51.md", NESTED)
    assert detect_importer(tmp_path).name == "Lattice vault"
    imported_fact = fact(steps(tmp_path)[0])
    draft = imported_fact.draft
    assert (draft.content, draft.kind, draft.subject) == ("Prefers Ethiopian dark roast.", "preference", "coffee")
    assert draft.observed_at == datetime(2025, 11, 14, 9, 12, tzinfo=UTC)
    assert (draft.valid_from, draft.valid_until) == (datetime(2025, 11, 1, tzinfo=UTC), None)
    assert (draft.session_id, draft.source_id) == ("sess_1", "telegram")
    assert draft.metadata == {
        "source": "user",
        "ingested_at": "2025-11-14T09:13:00+00:00",
        "source_span.start": "0",
        "source_span.end": "10",
        "imported_from": f"lattice:{imported_fact.foreign_id}",
    }
    assert (imported_fact.labels, imported_fact.left_out) == ({"segment_id": "seg_0"}, ("dedup",))
    assert (imported_fact.status, imported_fact.origin) == (Status.CONSTRAINED, Origin.IMPORT)
    assert imported_fact.source_id == f"lattice:{imported_fact.foreign_id}"


def test_a_superseded_lattice_atom_is_history_and_names_its_successor(tmp_path: Path) -> None:
    note(tmp_path / "old.md", FLAT)
    imported_fact = fact(steps(tmp_path)[0])
    assert (imported_fact.draft.content, imported_fact.status) == ("Prefers light roast.", Status.SUPERSEDED)
    assert imported_fact.replaced_by == "3f0c2a51-1f5e-4f0a-9a55-0d8f3b6f1c11"


def test_a_remnic_memory_becomes_a_pending_draft(tmp_path: Path) -> None:
    remnic_memory(tmp_path, "decision-1735787045000-ab12")
    assert detect_importer(tmp_path).name == "Remnic or Engram vault"
    imported_fact = fact(steps(tmp_path)[0])
    draft = imported_fact.draft
    assert (draft.kind, draft.subject, draft.tags) == ("decision", "blue heron", ("db", "infra"))
    assert (draft.confidence, draft.importance) == (0.92, 0.71)
    assert draft.observed_at == datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert draft.content == "We use PostgreSQL for the blue heron project."
    assert (imported_fact.status, imported_fact.source_id) == (Status.CONSTRAINED, "remnic:decision-1735787045000-ab12")


def test_the_status_of_a_remnic_memory_is_respected(tmp_path: Path) -> None:
    remnic_memory(tmp_path, "a-1", "status: pending_review\n")
    remnic_memory(tmp_path, "b-2", "status: superseded\nsupersededBy: a-1\nsupersededAt: 2025-03-01T00:00:00.000Z\n")
    remnic_memory(tmp_path, "c-3", "status: rejected\n")
    remnic_memory(tmp_path, "d-4", "status: forgotten\n")
    remnic_memory(tmp_path, "e-5", "parentId: a-1\nchunkIndex: 0\n")
    remnic_memory(tmp_path, "f-6", "status: archived\n")
    result = steps(tmp_path)
    assert [type(step) for step in result] == [
        ImportedFact,
        ImportedFact,
        SkippedItem,
        SkippedItem,
        SkippedItem,
        ImportedFact,
    ]
    assert [fact(result[n]).status for n in (0, 1, 5)] == [Status.CONSTRAINED, Status.SUPERSEDED, Status.CONSTRAINED]
    assert fact(result[1]).replaced_by == "a-1"
    assert fact(result[1]).draft.valid_until == datetime(2025, 3, 1, tzinfo=UTC)


def test_other_notes_of_a_vault_are_documents_and_its_state_is_left_out(tmp_path: Path) -> None:
    remnic_memory(tmp_path, "a-1")
    note(tmp_path / "profile.md", "# Profile\n\nLikes birds.")
    note(tmp_path / "state" / "meta.md", "not words")
    note(tmp_path / "artifacts" / "x.md", "Words without fields.")
    assert [type(step) for step in steps(tmp_path)] == [SkippedItem, ImportedDocument, ImportedFact, ImportedDocument]


def test_lenient_frontmatter_is_read(tmp_path: Path) -> None:
    note(
        tmp_path / "facts" / "a.md",
        "---\nid: a-1\ncategory: fact\ncreated: 2025-01-02T03:04:05.000Z\nsource: chat: with: colons\n"
        'confidence: 0.5\ntags: ["one", "two"]\n---\n\nWords.\n',
    )
    draft = fact(steps(tmp_path)[0]).draft
    assert (draft.content, draft.tags, draft.confidence) == ("Words.", ("one", "two"), 0.5)


def test_an_invalid_fact_is_reported(tmp_path: Path) -> None:
    remnic_memory(tmp_path, "a-1")
    note(tmp_path / "facts" / "b.md", MEMORY.format(id="b-2", more="").split("We use")[0])
    note(tmp_path / "facts" / "c.md", MEMORY.format(id="c-3", more="").replace("PostgreSQL", "x" * 70_000))
    result = steps(tmp_path)
    assert [type(step) for step in result] == [ImportedFact, ImportProblem, ImportProblem]
    assert "content" in str(result[1])


def test_the_same_memory_at_another_path_has_the_same_key(tmp_path: Path) -> None:
    remnic_memory(tmp_path / "one", "a-1")
    remnic_memory(tmp_path / "other" / "deep", "a-1", "accessCount: 7\n")
    assert fact(steps(tmp_path / "one")[0]).key == fact(steps(tmp_path / "other")[0]).key


def test_a_few_foreign_notes_do_not_make_a_folder_a_vault(tmp_path: Path) -> None:
    remnic_memory(tmp_path, "a-1")
    for n in range(9):
        note(tmp_path / f"{n}.md", f"---\ntags: [x]\n---\nNote {n}.")
    assert detect_importer(tmp_path).name == "folder"
