"""How many independent sources bear a statement out: saying the same thing twice in one conversation is one source."""

from __future__ import annotations

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.store.base import Filter, Store


def confirmations_of(atom: Atom, store: Store) -> int:
    """The sessions its evidence comes from, beyond the first."""
    ids = tuple({each.segment for each in atom.evidence})
    found = store.read(Filter(scopes=(atom.scope,), ids=tuple(AtomId(each) for each in ids))) if ids else []
    return max(0, len({(each.session_id, each.source_id) for each in found}) - 1)
