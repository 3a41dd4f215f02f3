"""Memories of engram with every field, as its SQLite file and as its JSON export."""

from __future__ import annotations

import base64
import json
import sqlite3
from pathlib import Path
from typing import Any

START = 1713094800.0
"""2024-04-14 11:40 UTC."""
DAY = 86_400.0
COUNT = 48
LAYERS = ("working", "episodic", "semantic", "procedural", "codebase")
TYPES = ("narrative", "fact", "procedure")
STATUSES = ("active", "active", "active", "challenged", "superseded", "merged", "invalidated", "active")
SOURCES = ("remember:human", "remember:ai", "ingest", "interaction", "dream", "code_scan")

SCHEMA = """
CREATE TABLE memories(
  id TEXT PRIMARY KEY, content TEXT NOT NULL, source_file TEXT, source_type TEXT, layer TEXT, memory_type TEXT,
  status TEXT, embedding BLOB, importance REAL, access_count INTEGER, created_at REAL, last_accessed REAL,
  fact_date TEXT, fact_date_end TEXT, emotional_valence REAL, chunk_hash TEXT, metadata TEXT, forgotten INTEGER,
  previous_memory_id TEXT);
CREATE TABLE hypothetical_queries(id INTEGER PRIMARY KEY, memory_id TEXT, query_text TEXT);
CREATE TABLE entities(
  id TEXT PRIMARY KEY, canonical_name TEXT, aliases TEXT, entity_type TEXT, first_seen REAL, last_seen REAL,
  metadata TEXT);
CREATE TABLE entity_mentions(entity_id TEXT, memory_id TEXT);
CREATE TABLE relationships(
  source_entity_id TEXT, target_entity_id TEXT, relation_type TEXT, strength REAL, evidence_count INTEGER,
  created_at REAL, last_seen REAL, valid_from REAL, valid_to REAL);
CREATE TABLE access_log(id INTEGER PRIMARY KEY, memory_id TEXT, accessed_at REAL, query_text TEXT);
CREATE TABLE status_history(
  id INTEGER PRIMARY KEY, memory_id TEXT, old_status TEXT, new_status TEXT, reason TEXT, changed_at REAL);
CREATE TABLE importance_history(id INTEGER PRIMARY KEY, memory_id TEXT, score REAL, recorded_at REAL);
CREATE TABLE diary_entries(id INTEGER PRIMARY KEY, text TEXT, session_id TEXT, created_at REAL);
CREATE TABLE events(id INTEGER PRIMARY KEY, event_type TEXT, memory_id TEXT, detail TEXT, created_at REAL);
"""


def memory_rows() -> list[dict[str, Any]]:
    """Memories of every layer, type, status and source."""
    return [_memory(n) for n in range(COUNT)]


def _memory(n: int) -> dict[str, Any]:
    metadata = {"tags": [f"topic {n % 4}"], "keywords": [f"word {n}"], "surprise": 0.25, "evolution_count": n % 3}
    metadata |= {"pinned": True} if n == 8 else {}
    metadata |= {"superseded_by": "memory-012"} if n == 4 else {}
    return {
        "id": f"memory-{n:03}",
        "content": f"Service number {n} listens on port {7000 + n} in rack {n * 3}.",
        "source_file": f"notes/{n}.md",
        "source_type": SOURCES[n % len(SOURCES)],
        "layer": LAYERS[n % len(LAYERS)],
        "memory_type": TYPES[n % len(TYPES)],
        "status": STATUSES[n % len(STATUSES)],
        "embedding": bytes(16),
        "importance": round(0.05 + 0.9 * n / COUNT, 3),
        "access_count": n % 7,
        "created_at": START + n * DAY,
        "last_accessed": START + (n + 100) * DAY,
        "fact_date": f"2024-03-{1 + n % 28:02}",
        "fact_date_end": f"2024-04-{1 + n % 28:02}",
        "emotional_valence": round(-1 + 2 * n / COUNT, 3),
        "chunk_hash": f"{n:064x}",
        "metadata": metadata,
        "forgotten": int(n == 47),
        "previous_memory_id": f"memory-{n - 1:03}" if n else None,
    }


def other_tables() -> dict[str, list[dict[str, Any]]]:
    """What surrounds the memories."""
    memories = memory_rows()
    return {
        "entities": [
            {
                "id": f"entity-{n}",
                "canonical_name": name,
                "aliases": aliases,
                "entity_type": "tool",
                "first_seen": START,
                "last_seen": START + DAY,
                "metadata": {},
            }
            for n, (name, aliases) in enumerate((("Postgres", ["PG"]), ("Redis", []), ("Billing", ["Invoicing"])))
        ],
        "entity_mentions": [
            {"entity_id": f"entity-{n % 3}", "memory_id": memory["id"]} for n, memory in enumerate(memories)
        ],
        "relationships": [
            {
                "source_entity_id": "entity-2",
                "target_entity_id": "entity-0",
                "relation_type": "DEPENDS_ON",
                "strength": 0.9,
                "evidence_count": 4,
                "created_at": START,
                "last_seen": START + DAY,
                "valid_from": START,
                "valid_to": None,
            }
        ],
        "access_log": [
            {"memory_id": memory["id"], "accessed_at": START + (n + 50 + use) * DAY, "query_text": "ports"}
            for n, memory in enumerate(memories)
            for use in range(memory["access_count"])
        ],
        "status_history": [
            {
                "memory_id": memory["id"],
                "old_status": "active",
                "new_status": memory["status"],
                "reason": "conflicting info from new source",
                "changed_at": START + 60 * DAY,
            }
            for memory in memories
            if memory["status"] != "active"
        ],
        "importance_history": [
            {"memory_id": memory["id"], "score": 0.5, "recorded_at": START + 30 * DAY} for memory in memories
        ],
        "diary_entries": [{"text": "Moved the racks today.", "session_id": "s1", "created_at": START + 3 * DAY}],
        "hypothetical_queries": [{"memory_id": "memory-000", "query_text": "which port?"}],
        "events": [{"event_type": "recall", "memory_id": "memory-000", "detail": "", "created_at": START}],
    }


def write_database(path: Path) -> Path:
    """Write all of it as engram's SQLite file."""
    db = sqlite3.connect(path)
    db.executescript(SCHEMA)
    for table, rows in {"memories": memory_rows(), **other_tables()}.items():
        for row in rows:
            cells = [json.dumps(value) if isinstance(value, dict | list) else value for value in row.values()]
            marks = ",".join("?" * len(row))
            db.execute(f"INSERT INTO {table}({','.join(row)}) VALUES({marks})", cells)
    db.commit()
    db.close()
    return path


def write_export(path: Path) -> Path:
    """Write all of it as engram's JSON export, with vectors in base 64."""
    tables = other_tables()
    memories = [
        {**row, "embedding": None, "embedding_b64": base64.b64encode(row["embedding"]).decode()}
        for row in memory_rows()
    ]
    export = {
        "version": "1.0",
        "embedding_model": "bge-small",
        "memories": memories,
        "relations": tables.pop("relationships"),
        "mentions": tables.pop("entity_mentions"),
        **tables,
    }
    path.write_text(json.dumps(export), encoding="utf-8")
    return path
