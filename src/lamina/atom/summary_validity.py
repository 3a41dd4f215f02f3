"""Check summaries against their sources: a summary is valid while every source is current and unchanged."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.status import RECALL_WEIGHT
from lamina.atom.trust import Origin

SOURCES_KEY = "sources"
"""The metadata key of the digest of the sources at the time of the summary."""


def sources_digest(atoms: Iterable[Atom]) -> str:
    """Return a digest of the texts of the sources, by which an edit of one is noticed."""
    lines = sorted(f"{member.id} {member.subject} {member.content}" for member in atoms)
    return hashlib.blake2b("\0".join(lines).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def is_summary(atom: Atom) -> bool:
    """Return whether a dream derived the atom from other statements."""
    return atom.origin is Origin.DREAM and bool(atom.derived_from)


def is_summary_outdated(atom: Atom, atoms: Mapping[AtomId, Atom]) -> bool:
    """Return whether a source of a summary is missing, no longer recalled or changed since, by the given atoms."""
    sources = [atoms[source_id] for source_id in atom.derived_from if source_id in atoms]
    if len(sources) < len(atom.derived_from) or any(source.status not in RECALL_WEIGHT for source in sources):
        return True
    digest = atom.metadata.get(SOURCES_KEY)
    return digest is not None and digest != sources_digest(sources)
