"""What a summary was made of: it holds as long as every source stands and says what it said."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.status import RECALL_WEIGHT
from lamina.atom.trust import Origin

SOURCES = "sources"
"""The metadata that tells what the sources said when the summary was made."""


def sources_form(members: Iterable[Atom]) -> str:
    """By what the words of the sources are known again, so that an edit of one is noticed."""
    told = sorted(f"{member.id} {member.subject} {member.content}" for member in members)
    return hashlib.blake2b("\0".join(told).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def is_summary(atom: Atom) -> bool:
    """Whether a dream made it out of other statements."""
    return atom.origin is Origin.DREAM and bool(atom.derived_from)


def is_outdated(atom: Atom, known: Mapping[AtomId, Atom]) -> bool:
    """Whether a summary tells of something that is over or was said otherwise since, by atoms as they stand."""
    sources = [known[each] for each in atom.derived_from if each in known]
    if len(sources) < len(atom.derived_from) or any(source.status not in RECALL_WEIGHT for source in sources):
        return True
    told = atom.metadata.get(SOURCES)
    return told is not None and told != sources_form(sources)
