"""How many independent sources bear a statement out: saying the same thing twice in one conversation is one source.

Whoever writes names the session, so only the sessions of people tell sources apart: a program that says a thing under a
hundred names says it once, and bears out nobody's word.
"""

from __future__ import annotations

from collections.abc import Iterable

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.lineage import trust
from lamina.atom.scope import visible_from
from lamina.atom.status import RECALL_WEIGHT
from lamina.atom.trust import TRUST, Origin
from lamina.store.base import Filter, Store


def confirmations_of(atom: Atom, store: Store) -> int:
    """The sessions of people its evidence comes from, but for the one in which it was said first."""

    def look(ids: Iterable[AtomId]) -> dict[AtomId, Atom]:
        found = store.read(Filter(scopes=visible_from(atom.scope), ids=tuple(ids)))
        return {each.id: each for each in found}

    known = look(dict.fromkeys(AtomId(each.segment) for each in atom.evidence)) if atom.evidence else {}
    words = [known[AtomId(each.segment)] for each in atom.evidence if each.segment in known]
    vouched = {
        _source(each)
        for each in {word.id: word for word in words}.values()
        if each.status in RECALL_WEIGHT and trust(each, look) >= TRUST[Origin.HUMAN]
    }
    return len(vouched - {_source(word) for word in words[:1]})


def _source(words: Atom) -> tuple[str | None, str | None]:
    return words.session_id, words.source_id
