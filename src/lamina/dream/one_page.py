"""Several pages of one name as one page: nothing a person wrote on any is lost, and none of theirs is ended."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.atom.atom import Atom
from lamina.atom.page import own_words, with_own_words
from lamina.atom.status import Status
from lamina.atom.trust import TRUST, Origin
from lamina.store.base import Store


def as_one(pages: Sequence[Atom], store: Store) -> tuple[Atom, list[Atom]]:
    """Pages of one name: the page that lives on with everything people wrote on any, and the others laid aside.

    A page that came back from the archive and still lies there gives way; else the page somebody wrote on lives on, or
    the oldest. Where people had a hand in several, the others are archived: only a person ends those.
    """
    aside = {each for each, path in store.ledger.paths_of([page.id for page in pages]).items() if _is_aside(path)}
    first, *others = sorted(pages, key=lambda each: (each.id in aside, not _is_touched(each, store), each.id))
    over: list[Atom] = []
    for other in others:
        words = own_words(other.content)
        first = first.with_(content=with_own_words(first.content, words)) if words else first
        if _is_touched(other, store):
            over.append(other.with_(status=Status.ARCHIVED))
        else:
            first = first.with_(supersedes=(*first.supersedes, other.id))
            over.append(other.with_(status=Status.SUPERSEDED, superseded_by=(*other.superseded_by, first.id)))
    return first, over


def _is_aside(path: str) -> bool:
    return "/archive/" in f"/{path}"


def _is_touched(page: Atom, store: Store) -> bool:
    return store.guard(page) > TRUST[Origin.DREAM]
