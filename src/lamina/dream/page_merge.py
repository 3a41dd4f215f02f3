"""Merges several pages of one name: nothing that a person wrote is lost, and no page of theirs is ended."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.atom.atom import Atom
from lamina.atom.generated_section import append_user_text, extract_user_text
from lamina.atom.status import Status
from lamina.atom.trust import TRUST, Origin
from lamina.store.base import Store


def merge_pages(pages: Sequence[Atom], store: Store) -> tuple[Atom, list[Atom]]:
    """Return the page that remains, with everything people wrote on any, and the other pages in their new state.

    A page that returned from the archive and is still in that folder gives way; otherwise the page that a person edited
    remains, or the oldest. Other pages that people edited are archived: only a person ends those.
    """
    archived_ids = {
        atom_id for atom_id, path in store.ledger.paths_of([page.id for page in pages]).items() if _is_in_archive(path)
    }
    first, *others = sorted(pages, key=lambda page: (page.id in archived_ids, not _is_edited(page, store), page.id))
    ended: list[Atom] = []
    for other in others:
        words = extract_user_text(other.content)
        first = first.with_(content=append_user_text(first.content, words)) if words else first
        if _is_edited(other, store):
            ended.append(other.with_(status=Status.ARCHIVED))
        else:
            first = first.with_(supersedes=(*first.supersedes, other.id))
            ended.append(other.with_(status=Status.SUPERSEDED, superseded_by=(*other.superseded_by, first.id)))
    return first, ended


def _is_in_archive(path: str) -> bool:
    return "/archive/" in f"/{path}"


def _is_edited(page: Atom, store: Store) -> bool:
    return store.required_trust(page) > TRUST[Origin.DREAM]
