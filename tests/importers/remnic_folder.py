"""A vault as Remnic writes it: forty memories with every field, artifacts, boxes, links, state and identity files."""

from __future__ import annotations

import json
from pathlib import Path

from exports import note

CATEGORIES = (
    "fact",
    "preference",
    "correction",
    "entity",
    "decision",
    "relationship",
    "principle",
    "commitment",
    "moment",
    "skill",
)
THINGS = ("kiln", "glaze", "wheel", "clay", "studio", "apron", "shelf", "bucket", "sieve", "tile")
STATUSES = ("active", "active", "archived", "superseded")
COUNT = 40
IDENTITY = """# Identity

## Reflection — 2025-03-01

I answer too quickly when somebody is upset.

I ask before I delete anything.

## Reflection — 2025-04-02

I keep my summaries short.
"""


def memory_id(n: int) -> str:
    return f"{CATEGORIES[n % 10]}-17357870{n:02}000-ab{n:02}"


def status_of(n: int) -> str:
    return STATUSES[n // 10]


def content_of(n: int) -> str:
    return f"The {THINGS[n % 10]} number {n} stands in room {n + 100} of the pottery."


def write_remnic_vault(root: Path) -> Path:
    """Write the vault: ten memories of each status, the superseded ones followed by the active ones of their kind."""
    for n in range(COUNT):
        folder = "archive" if status_of(n) == "archived" else "facts"
        note(root / folder / "2025-01-02" / f"{memory_id(n)}.md", _memory_text(n))
    for n in range(2):
        note(root / "artifacts" / "2025-01-02" / f"artifact-{n}.md", _artifact_text(n))
        note(root / "boxes" / "2025-01-02" / f"box-17357871{n:02}000-cd{n:02}.md", _box_text(n))
    note(root / "entities" / "project-blue-heron.md", "# Blue heron\n\nThe heron project fires pots.\n")
    note(root / "profile.md", "# Profile\n\nLikes early mornings.\n")
    note(root / "IDENTITY.md", IDENTITY)
    note(root / "state" / "topics.json", '{"topics": ["pottery"]}')
    note(root / "state" / "fact-hashes.txt", "abc\n")
    edge = {"type": "causal", "weight": 1.0, "label": "because", "ts": "2025-01-03T00:00:00.000Z", "confidence": 0.6}
    ends = {"from": _place(0), "to": _place(1), "lastReinforcedAt": "2025-02-01T00:00:00.000Z"}
    note(root / "state" / "graphs" / "causal.jsonl", json.dumps(edge | ends) + "\nnot json\n")
    note(root / "facts" / "2025-01-02" / "rejected.md", _memory_text(50, "rejected"))
    note(root / "facts" / "2025-01-02" / "chunk.md", _memory_text(51, "active", "parentId: x\nchunkIndex: 1\n"))
    return root


def _place(n: int) -> str:
    return f"facts/2025-01-02/{memory_id(n)}.md"


def _memory_text(n: int, status: str | None = None, more: str = "") -> str:
    state = status or status_of(n)
    policy = ("ephemeral", "durable", "protected")[n % 3]
    ended = f"supersededBy: {memory_id(n - 30)}\nsupersededAt: 2025-03-01T00:00:00.000Z\n" if n in range(30, 40) else ""
    predecessor = f"supersedes: {memory_id(n + 30)}\n" if n < 10 else ""
    archived = "archivedAt: 2025-05-01T00:00:00.000Z\n" if state == "archived" else ""
    return f"""---
id: {memory_id(n)}
category: {CATEGORIES[n % 10]}
created: 2025-01-02T03:04:{n:02}.000Z
updated: 2025-02-02T03:04:{n:02}.000Z
source: extraction
confidence: {0.4 + n / 100:.2f}
confidenceTier: inferred
tags: ["pottery", "room-{n}"]
entityRef: project-heron-{n}
{predecessor}expiresAt: 2027-01-0{n % 9 + 1}T00:00:00.000Z
lineage: ["{memory_id((n + 1) % COUNT)}"]
status: {state}
{ended}{archived}validAt: 2025-01-01T00:00:{n:02}.000Z
invalidAt: 2029-01-01T00:00:00.000Z
lifecycleState: {("validated", "active", "candidate", "stale")[n % 4]}
verificationState: {("user_confirmed", "system_inferred", "unverified", "disputed")[n % 4]}
policyClass: {policy}
lastValidatedAt: 2025-02-03T00:00:00.000Z
decayScore: 0.{n + 10}
heatScore: 0.{n + 20}
accessCount: {n}
lastAccessed: 2025-04-01T10:00:{n:02}.000Z
mw_success: {n % 5}
mw_fail: {n % 3}
importanceScore: 0.{n + 30}
importanceLevel: normal
importanceReasons: ["names a room", "has a \\"number\\""]
importanceKeywords: ["{THINGS[n % 10]}", "room"]
links:
  - targetId: {memory_id((n + 2) % 30)}
    linkType: {("follows", "references", "contradicts", "supports", "related")[n % 5]}
    strength: 0.{n % 9 + 1}
    reason: "reason {n}"
intentGoal: store
intentActionType: record
intentEntityTypes: ["room", "thing"]
memoryKind: {("note", "episode")[n % 2]}
structuredAttributes: {{"room": "{n + 100}", "shelf": "top"}}
contentHash: {n:064x}
derived_from: ["facts/x.md:3"]
derived_via: merge
reinforcement_count: {n}
last_reinforced_at: 2025-04-02T00:00:00.000Z
{more}---

{content_of(n)}
"""


def _artifact_text(n: int) -> str:
    return f"""---
id: artifact-1735788{n}00000-ef{n:02}
category: fact
created: 2025-01-02T05:00:00.000Z
updated: 2025-01-02T05:00:00.000Z
source: artifact
confidence: 0.9
confidenceTier: implied
tags: ["quote"]
artifactType: definition
sourceMemoryId: {memory_id(n)}
sourceTurnId: turn-{n}
intentGoal: quote
---

"Room {n} is where we {("glaze", "fire")[n]} the pots," she said.
"""


def _box_text(n: int) -> str:
    members = [memory_id(5 * n + offset) for offset in range(5)]
    listed = ", ".join(f'"{member}"' for member in [*members, *(["fact-0-gone"] if n else [])])
    return f"""---
id: box-17357871{n:02}000-cd{n:02}
memoryKind: box
createdAt: 2025-01-02T03:00:00.000Z
sealedAt: 2025-01-02T04:00:00.000Z
sealReason: topic_shift
sessionKey: session-{n}
topics: ["pottery", "room {n}"]
memoryIds: [{listed}]
traceId: trace-0000000{n}
goal: furnish the pottery
toolsUsed: ["search", "notes"]
outcome: success
---

<!-- Topics: pottery | Memories: 5 -->
"""
