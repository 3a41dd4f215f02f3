"""Define where an atom comes from: its scope, its origin, what it is derived from, and the trust that follows.

The origin is set by the transport, never by the text. Summarising or copying text never raises its trust.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, NewType, TypeAlias

from lamina.atom.kinds import Layer
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.errors import InvalidScope

if TYPE_CHECKING:
    from lamina.atom.atom import Atom, AtomId

Scope = NewType("Scope", str)

_SCOPE_NAME = r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?"
_SCOPE_SHAPE = re.compile(rf"org:({_SCOPE_NAME})(?::agent:({_SCOPE_NAME}))?", re.ASCII)


def parse_scope(text: object) -> Scope:
    """Return the scope that a text names; InvalidScope if it is malformed, nothing is guessed or completed."""
    if not isinstance(text, str) or not _SCOPE_SHAPE.fullmatch(text):
        raise InvalidScope(
            f"{text!r} is not a scope; write org:NAME or org:NAME:agent:NAME in lower-case letters, digits, - and _"
        )
    return Scope(text)


def organisation_name(scope: Scope) -> str:
    """Return the name of the organisation in a scope."""
    return scope.split(":")[1]


def agent_name(scope: Scope) -> str | None:
    """Return the name of the agent in a scope; None for an organisation's scope."""
    parts = scope.split(":")
    return parts[3] if len(parts) == 4 else None


def is_of_agent(agent: str, scope: Scope, agents: Iterable[str]) -> bool:
    """Return whether an atom of a scope, with the agents it names, is what an agent learnt.

    Everything in the agent's own scope is; in the scope of the organisation, what names the agent.
    """
    owner = agent_name(scope)
    return owner == agent if owner is not None else agent in map(str.casefold, agents)


def readable_scopes(scope: Scope) -> tuple[Scope, ...]:
    """Return the scopes that a caller in this scope may read: its own and its organisation's, never another agent's."""
    organisation_scope = Scope(f"org:{organisation_name(scope)}")
    return (scope,) if scope == organisation_scope else (scope, organisation_scope)


class Origin(StrEnum):
    """A type of origin: who is responsible for an atom."""

    HUMAN = "human"
    AGENT = "agent"
    RADAR = "radar"
    IMPORT = "import"
    DOCUMENT = "document"
    TOOL = "tool"
    DREAM = "dream"
    WEB = "web"


TRUST: dict[Origin, float] = {
    Origin.HUMAN: 1.0,
    Origin.AGENT: 0.7,
    Origin.RADAR: 0.6,
    Origin.IMPORT: 0.5,
    Origin.DOCUMENT: 0.5,
    Origin.TOOL: 0.5,
    Origin.DREAM: 0.4,
    Origin.WEB: 0.3,
}
LEAST_TRUST = min(TRUST.values())
"""The trust in text from anywhere, and in ancestors that do not exist."""

_REVIEWED_WORDS = frozenset({Origin.TOOL, Origin.WEB})
_REVIEWED_STATEMENTS = _REVIEWED_WORDS | {Origin.RADAR, Origin.IMPORT, Origin.DOCUMENT}


def words_need_review(origin: Origin, submitter: Origin = Origin.HUMAN) -> bool:
    """Return whether text of this origin needs review, depending on who submits it.

    Output of a tool or a web page always needs review. A file or an export is trusted as evidence if a person submits
    it; if an agent does, no one has confirmed it.
    """
    return origin in (_REVIEWED_WORDS if submitter is Origin.HUMAN else _REVIEWED_STATEMENTS)


def statements_need_review(origin: Origin) -> bool:
    """Return whether statements extracted from text of this origin need review, even if the text itself is searched."""
    return origin in _REVIEWED_STATEMENTS


def trust_of(origin: Origin, ancestors: Iterable[Origin] = ()) -> float:
    """Return the trust in an origin, never above that of anything it is derived from."""
    return min([TRUST[origin], *(TRUST[ancestor] for ancestor in ancestors)])


def limit_origin(ceiling: Origin, declared: Origin | None) -> Origin:
    """Return the origin that a caller may have: the declared one, but never more trusted than the ceiling."""
    if declared is None or TRUST[declared] > TRUST[ceiling]:
        return ceiling
    return declared


_UNSETTLED = frozenset({Status.CONSTRAINED, Status.CHALLENGED, Status.TOMBSTONED})

AtomLookup: TypeAlias = "Callable[[Iterable[AtomId]], Mapping[AtomId, Atom]]"
"""Returns the atoms of these ids, as far as they exist."""


def lineage_trust(atom: Atom, lookup: AtomLookup) -> float:
    """Return the trust in an atom: the lowest trust of its origin and of everything it is derived from.

    An ancestor that does not exist counts as the least trusted.
    """
    return min(
        [
            TRUST[atom.origin],
            *(
                LEAST_TRUST if ancestor is None else TRUST[ancestor.origin]
                for ancestor in _iterate_ancestors(atom, lookup)
            ),
        ]
    )


def needs_review(atom: Atom, lookup: AtomLookup) -> bool:
    """Return whether a new atom needs review: because of its origin, or of something it is derived from."""
    return statements_need_review(atom.origin) or any(
        ancestor is None or _needs_review(ancestor)
        for ancestor in _iterate_ancestors(atom, lookup, _is_confirmed_statement)
    )


def has_trusted_lineage(atom: Atom, lookup: AtomLookup) -> bool:
    """Return whether neither an atom nor anything it is derived from has an origin that needs review."""
    return not statements_need_review(atom.origin) and all(
        ancestor is not None and not statements_need_review(ancestor.origin)
        for ancestor in _iterate_ancestors(atom, lookup)
    )


def _needs_review(ancestor: Atom) -> bool:
    """Return whether an ancestor is unconfirmed, disputed or withdrawn; notes of a closed run are none of these."""
    is_note = ancestor.layer is Layer.WORKING and ancestor.run_id is not None
    return statements_need_review(ancestor.origin) or (ancestor.status in _UNSETTLED and not is_note)


def _is_confirmed_statement(ancestor: Atom) -> bool:
    """Return whether an ancestor is a recallable statement: it was confirmed, whatever it is derived from."""
    return ancestor.status in RECALL_WEIGHT and not ancestor.is_segment


def _iterate_ancestors(
    atom: Atom, lookup: AtomLookup, stops_at: Callable[[Atom], bool] = lambda _: False
) -> Iterator[Atom | None]:
    """Yield everything an atom is derived from, once each; None for what does not exist.

    Atoms for which `stops_at` is true are left out, and so is what they are derived from.
    """
    visited, next_ids = {atom.id}, set(atom.derived_from) - {atom.id}
    while next_ids:
        parents = lookup(sorted(next_ids))
        followed = {parent_id: parent for parent_id, parent in parents.items() if not stops_at(parent)}
        yield from (
            parents.get(parent_id)
            for parent_id in sorted(next_ids)
            if parent_id in followed or parent_id not in parents
        )
        visited |= next_ids
        next_ids = {parent_id for parent in followed.values() for parent_id in parent.derived_from} - visited


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
