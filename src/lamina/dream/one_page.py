"""Merges several pages of one name: nothing that a person wrote is lost, and no page of theirs is ended."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.atom.atom import Atom
from lamina.atom.page import own_words, with_own_words
from lamina.atom.status import Status
from lamina.atom.trust import TRUST, Origin
from lamina.store.base import Store


def as_one(pages: Sequence[Atom], store: Store) -> tuple[Atom, list[Atom]]:
    """Return the page that remains, with everything people wrote on any, and the other pages in their new state.

    A page that returned from the archive and is still in that folder gives way; otherwise the page that a person edited
    remains, or the oldest. Other pages that people edited are archived: only a person ends those.
    """
    archived_ids = {
        atom_id for atom_id, path in store.ledger.paths_of([page.id for page in pages]).items() if _is_aside(path)
    }
    first, *others = sorted(pages, key=lambda page: (page.id in archived_ids, not _is_touched(page, store), page.id))
    ended: list[Atom] = []
    for other in others:
        words = own_words(other.content)
        first = first.with_(content=with_own_words(first.content, words)) if words else first
        if _is_touched(other, store):
            ended.append(other.with_(status=Status.ARCHIVED))
        else:
            first = first.with_(supersedes=(*first.supersedes, other.id))
            ended.append(other.with_(status=Status.SUPERSEDED, superseded_by=(*other.superseded_by, first.id)))
    return first, ended


def _is_aside(path: str) -> bool:
    return "/archive/" in f"/{path}"


def _is_touched(page: Atom, store: Store) -> bool:
    return store.guard(page) > TRUST[Origin.DREAM]
