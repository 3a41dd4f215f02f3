"""Read Lattice vaults: one atom per file, with flat or nested provenance, and `atom_id` or `id`."""

from __future__ import annotations

from lamina.atom.status import Status
from lamina.importers.front import Front
from lamina.importers.vault import Dialect, Told, kind_of

_USUAL_CONFIDENCE = 0.8
_TRUE = frozenset({"true", "yes", "1"})
_MARKS = ("provenance", "observed_at", "is_superseded", "episode_id")


def _claims(front: Front) -> bool:
    return bool(front.text("atom_id", "id") and front.text("kind")) and any(key in front.values for key in _MARKS)


def _read(front: Front) -> Told | str:
    """Return the fact; one that was superseded there stays superseded, because it was true until then."""
    foreign_id = front.text("atom_id", "id") or ""
    is_superseded = (front.text("is_superseded") or "").lower() in _TRUE or front.text("status") == "superseded"
    provenance = {
        "channel": front.text("provenance.source_id", "source_id"),
        "source_title": front.text("provenance.source_title"),
    }
    fields: dict[str, object] = {
        "content": front.body.strip() or front.text("content"),
        "kind": kind_of(front.text("kind")),
        "subject": front.text("subject"),
        "tags": front.names("tags"),
        "metadata": {**front.pairs("metadata"), **{key: value for key, value in provenance.items() if value}},
        "observed_at": front.moment("provenance.observed_at", "observed_at"),
        "session_id": front.text("provenance.session_id", "session_id"),
        "valid_from": front.text("valid_from"),
        "valid_until": front.text("valid_until"),
        "confidence": front.share("confidence") or _USUAL_CONFIDENCE,
    }
    return Told(
        foreign_id, fields, Status.SUPERSEDED if is_superseded else Status.CONSTRAINED, front.text("superseded_by")
    )


LATTICE = Dialect("lattice", "Lattice vault", _claims, _read)
