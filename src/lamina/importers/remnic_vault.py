"""Read Remnic and Engram vaults: one memory per file, with its category, confidence and status."""

from __future__ import annotations

import re
from datetime import datetime

from lamina.atom.status import Status
from lamina.importers.foreign_frontmatter import ForeignFrontmatter
from lamina.importers.foreign_vault import ForeignFact, VaultFormat, parse_kind

_DEFAULT_CONFIDENCE = 0.8
_TYPICAL_KEYS = ("confidence", "confidenceTier", "created")
_SKIP_REASONS = {
    "rejected": "rejected in the other memory",
    "quarantined": "quarantined in the other memory",
    "forgotten": "forgotten in the other memory",
}
_ENTITY_TYPE_PREFIX = re.compile(r"(?:person|project|company|organization|tool|place|topic|product|entity|other)-(?=.)")


def _is_remnic_note(frontmatter: ForeignFrontmatter) -> bool:
    return bool(frontmatter.text("id") and frontmatter.text("category")) and any(
        key in frontmatter.values for key in _TYPICAL_KEYS
    )


def _read_fact(frontmatter: ForeignFrontmatter) -> ForeignFact | str:
    """Return the fact or why it is skipped: what a person refused there is not imported, what changed
    there has ended.
    """
    status = (frontmatter.text("status") or "active").lower()
    if status in _SKIP_REASONS:
        return _SKIP_REASONS[status]
    if frontmatter.text("parentId"):
        return "part of a memory that is imported as a whole"
    is_superseded = status == "superseded" or frontmatter.text("supersededBy") is not None
    begins = frontmatter.moment("valid_at")
    entity = frontmatter.text("entityRef")
    fields: dict[str, object] = {
        "content": frontmatter.body.strip(),
        "kind": parse_kind(frontmatter.text("category")),
        "subject": _ENTITY_TYPE_PREFIX.sub("", entity).replace("-", " ") if entity else None,
        "tags": frontmatter.list_of("tags"),
        "metadata": {**frontmatter.text_map("structuredAttributes"), **_channel_metadata(frontmatter)},
        "observed_at": frontmatter.moment("created"),
        "valid_from": begins,
        "valid_until": _valid_until(frontmatter, begins, is_superseded),
        "expires_at": frontmatter.moment("expiresAt"),
        "confidence": frontmatter.fraction("confidence") or _DEFAULT_CONFIDENCE,
        "importance": frontmatter.fraction("importanceScore", "importance.score"),
    }
    foreign_id = frontmatter.text("id") or ""
    return ForeignFact(
        foreign_id, fields, Status.SUPERSEDED if is_superseded else Status.CONSTRAINED, frontmatter.text("supersededBy")
    )


def _channel_metadata(frontmatter: ForeignFrontmatter) -> dict[str, str]:
    source = frontmatter.text("source")
    return {"channel": source} if source else {}


def _valid_until(frontmatter: ForeignFrontmatter, begins: datetime | None, is_superseded: bool) -> datetime | None:
    end = frontmatter.moment("invalid_at") or (frontmatter.moment("supersededAt") if is_superseded else None)
    return None if end is None or (begins is not None and end <= begins) else end


REMNIC = VaultFormat(
    "remnic", "Remnic or Engram vault", _is_remnic_note, _read_fact, skipped_folders=("state", "artifacts", "boxes")
)
