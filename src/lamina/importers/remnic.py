"""Read Remnic and Engram vaults: one memory per file, with its category, confidence and status."""

from __future__ import annotations

import re
from datetime import datetime

from lamina.atom.status import Status
from lamina.importers.front import Front
from lamina.importers.vault import Dialect, Told, kind_of

_USUAL_CONFIDENCE = 0.8
_MARKS = ("confidence", "confidenceTier", "created")
_REFUSED = {
    "rejected": "rejected in the other memory",
    "quarantined": "quarantined in the other memory",
    "forgotten": "forgotten in the other memory",
}
_REF = re.compile(r"(?:person|project|company|organization|tool|place|topic|product|entity|other)-(?=.)")


def _claims(front: Front) -> bool:
    return bool(front.text("id") and front.text("category")) and any(key in front.values for key in _MARKS)


def _read(front: Front) -> Told | str:
    """Return the fact or why it is skipped: what a person refused there is not imported, what changed
    there has ended.
    """
    status = (front.text("status") or "active").lower()
    if status in _REFUSED:
        return _REFUSED[status]
    if front.text("parentId"):
        return "part of a memory that is imported as a whole"
    is_superseded = status == "superseded" or front.text("supersededBy") is not None
    begins = front.moment("valid_at")
    entity = front.text("entityRef")
    fields: dict[str, object] = {
        "content": front.body.strip(),
        "kind": kind_of(front.text("category")),
        "subject": _REF.sub("", entity).replace("-", " ") if entity else None,
        "tags": front.names("tags"),
        "metadata": {**front.pairs("structuredAttributes"), **_channel(front)},
        "observed_at": front.moment("created"),
        "valid_from": begins,
        "valid_until": _ended(front, begins, is_superseded),
        "expires_at": front.moment("expiresAt"),
        "confidence": front.share("confidence") or _USUAL_CONFIDENCE,
        "importance": front.share("importanceScore", "importance.score"),
    }
    foreign_id = front.text("id") or ""
    return Told(
        foreign_id, fields, Status.SUPERSEDED if is_superseded else Status.CONSTRAINED, front.text("supersededBy")
    )


def _channel(front: Front) -> dict[str, str]:
    source = front.text("source")
    return {"channel": source} if source else {}


def _ended(front: Front, begins: datetime | None, over: bool) -> datetime | None:
    end = front.moment("invalid_at") or (front.moment("supersededAt") if over else None)
    return None if end is None or (begins is not None and end <= begins) else end


REMNIC = Dialect("remnic", "Remnic or Engram vault", _claims, _read, left_out=("state", "artifacts", "boxes"))
