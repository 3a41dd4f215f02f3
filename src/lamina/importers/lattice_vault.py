"""Read Lattice vaults: one atom per file, with flat or nested provenance, and `atom_id` or `id`."""

from __future__ import annotations

from lamina.atom.status import Status
from lamina.importers.foreign_frontmatter import ForeignFrontmatter
from lamina.importers.foreign_vault import ForeignFact, VaultFormat, parse_kind

_DEFAULT_CONFIDENCE = 0.8
_TRUE = frozenset({"true", "yes", "1"})
_TYPICAL_KEYS = ("provenance", "observed_at", "is_superseded", "episode_id")


def _is_lattice_note(frontmatter: ForeignFrontmatter) -> bool:
    return bool(frontmatter.text("atom_id", "id") and frontmatter.text("kind")) and any(
        key in frontmatter.values for key in _TYPICAL_KEYS
    )


def _read_fact(frontmatter: ForeignFrontmatter) -> ForeignFact | str:
    """Return the fact; one that was superseded there stays superseded, because it was true until then."""
    foreign_id = frontmatter.text("atom_id", "id") or ""
    is_superseded = (frontmatter.text("is_superseded") or "").lower() in _TRUE or frontmatter.text(
        "status"
    ) == "superseded"
    provenance = {
        "channel": frontmatter.text("provenance.source_id", "source_id"),
        "source_title": frontmatter.text("provenance.source_title"),
    }
    fields: dict[str, object] = {
        "content": frontmatter.body.strip() or frontmatter.text("content"),
        "kind": parse_kind(frontmatter.text("kind")),
        "subject": frontmatter.text("subject"),
        "tags": frontmatter.list_of("tags"),
        "metadata": {**frontmatter.text_map("metadata"), **{key: value for key, value in provenance.items() if value}},
        "observed_at": frontmatter.moment("provenance.observed_at", "observed_at"),
        "session_id": frontmatter.text("provenance.session_id", "session_id"),
        "valid_from": frontmatter.text("valid_from"),
        "valid_until": frontmatter.text("valid_until"),
        "confidence": frontmatter.fraction("confidence") or _DEFAULT_CONFIDENCE,
    }
    return ForeignFact(
        foreign_id,
        fields,
        Status.SUPERSEDED if is_superseded else Status.CONSTRAINED,
        frontmatter.text("superseded_by"),
    )


LATTICE = VaultFormat("lattice", "Lattice vault", _is_lattice_note, _read_fact)
