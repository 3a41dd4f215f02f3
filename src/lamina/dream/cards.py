"""Step 3, cards: a page for each name with enough statements, one for the scope's profile, one for its agent.

A page is generated from current statements and written if it differs. What people wrote outside the generated part
stays unchanged, and pages that they pinned or undid are left alone. Every page is checked once a month, otherwise only
names with changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.status import Status
from lamina.dream.entity_card import CARD, SUMMARY_DAY, SUMMARY_OF, digest_of, has_card, shown_rows
from lamina.dream.entity_pages import (
    SUMMED_UP,
    Pages,
    blank_page,
    is_unwanted,
    kept_up,
    pages_of,
    stated_of,
    with_summary,
)
from lamina.dream.fragments import Names, grouped, names_in
from lamina.dream.identity import KINDS as IDENTITY_KINDS
from lamina.dream.identity import identity
from lamina.dream.in_short import in_short
from lamina.dream.one_page import as_one
from lamina.dream.plan import Move, Plan
from lamina.dream.profile import KINDS as PROFILE_KINDS
from lamina.dream.profile import profile
from lamina.dream.scene import Scene
from lamina.dream.touched import touched_since

SUMMARIES_A_DAY = 50
"""The most pages that a chat model summarises in one day, over all dreams of that day."""
_PAGES = frozenset({"entity"})


@dataclass(frozen=True, slots=True)
class _Kept:
    """A page before and after, its names, the statements about them, and the pages it replaces."""

    before: Atom | None
    page: Atom
    forms: frozenset[str]
    stated: tuple[Atom, ...]
    aside: tuple[Atom, ...]


def cards(scene: Scene) -> Plan:
    """Update the pages of names, the profile and the identity page from what changed."""
    store, month = scene.store, f"cards {scene.now:%Y-%m}"
    position = store.position()
    plan = cards_since(scene, store.dreams.marked(scene.scope, month))
    return replace(plan, after=lambda: store.dreams.mark(scene.scope, month, position))


def cards_since(scene: Scene, seq: int | None) -> Plan:
    """Plan the updates from a journal position on; None checks every page."""
    changes = touched_since(scene, seq) if seq is not None else None
    pages = pages_of(scene.store, scene.scope)
    if changes is None:
        by_name = names_in(scene.stated())
        names = Names(by_name)
        forms = frozenset({*by_name, *(form for page in pages.live for form in pages.forms(page))})
    else:
        forms = changes.forms | _unasked(pages, scene)
        names = _names(forms, pages, scene)
    updates = [update for update in _kept(names, forms, pages, scene) if not _is_unwanted(update, pages, scene)]
    summarised = _summed_up(updates, pages, scene)
    parts = [_plan(update, summarised.get(update.page.id, update.page)) for update in updates]
    if changes is None or changes.kinds & (PROFILE_KINDS | _PAGES):
        parts.append(profile(scene))
    if changes is None or changes.kinds & (IDENTITY_KINDS | _PAGES):
        parts.append(identity(scene))
    return _together(parts)


def _names(looked_at: frozenset[str], pages: Pages, scene: Scene) -> Names:
    """Load the statements of these names and of the other names on their pages, and more on demand."""
    shared = (pages.forms(page) for page in pages.live)
    forms = looked_at.union(*(page_forms for page_forms in shared if not page_forms.isdisjoint(looked_at)))
    by_name = names_in(stated_of(scene.store, scene.scope, forms, scene.now) if forms else ())
    return Names(
        {form: by_name.get(form, ()) for form in forms},
        lambda form: stated_of(scene.store, scene.scope, {form}, scene.now),
    )


def _kept(names: Names, looked_at: Iterable[str], pages: Pages, scene: Scene) -> Iterator[_Kept]:
    pages_by_form: dict[str, dict[AtomId, Atom]] = {}
    for page in pages.live:
        for form in pages.forms(page):
            pages_by_form.setdefault(form, {})[page.id] = page
    for forms in grouped(names, looked_at, pages, scene.store):
        statements = names.all_of(forms)
        own_pages = {page.id: page for form in sorted(forms) for page in pages_by_form.get(form, {}).values()}
        if not own_pages and (len(statements) < CARD or not forms.isdisjoint(pages.left)):
            continue
        unpinned = [page for page in own_pages.values() if not page.pinned]
        if own_pages and not unpinned:
            continue
        if own_pages:
            base, replaced = as_one(unpinned, scene.store)
            known_forms = pages.left | {form for page in own_pages.values() for form in pages.forms(page)}
        else:
            main_form = names.commonest(forms)
            base, replaced = blank_page(scene.scope, names.spelt(main_form), statements, next(scene.ids)), []
            known_forms = pages.left | {main_form}
        alias_pages = [_stub(form, names, base, scene) for form in sorted(forms - known_forms) if names.stated(form)]
        base = base.with_(supersedes=(*base.supersedes, *(alias_page.id for alias_page in alias_pages)))
        page = kept_up(base, forms, statements)
        yield _Kept(own_pages.get(base.id), page, forms, tuple(statements), (*replaced, *alias_pages))


def _is_unwanted(kept: _Kept, pages: Pages, scene: Scene) -> bool:
    """Return whether a person undid this very page; not checked if there is nothing to write or summarise."""
    if kept.page == kept.before and not kept.aside and scene.writer is None:
        return False
    earlier = [kept.before] if kept.before is not None else pages.forerunners(kept.forms)
    return is_unwanted(kept.page, earlier, scene.store)


def _stub(form: str, names: Names, heir: Atom, scene: Scene) -> Atom:
    """Build the page of a name that another page replaces immediately: it records where the name belongs."""
    statements = names.stated(form)
    page = blank_page(scene.scope, names.spelt(form), statements, next(scene.ids))
    return kept_up(page, {form}, statements).with_(status=Status.SUPERSEDED, superseded_by=(heir.id,))


def _unasked(pages: Pages, scene: Scene) -> frozenset[str]:
    """Return the names of pages without a summary, at most as many as one day allows, the oldest first."""
    if scene.chat is None:
        return frozenset()
    without_summary = [page for page in pages.live if SUMMARY_OF not in page.metadata and has_card(page.content)]
    return frozenset(form for page in without_summary[:SUMMARIES_A_DAY] for form in pages.forms(page))


def _summed_up(kept: Iterable[_Kept], pages: Pages, scene: Scene) -> dict[AtomId, Atom]:
    """Return pages with a new summary of lines that changed, the longest waiting first."""
    done: dict[AtomId, Atom] = {}
    today = f"{scene.now:%Y-%m-%d}"
    remaining = SUMMARIES_A_DAY - sum(page.metadata.get(SUMMARY_DAY) == today for page in pages.live)
    for update in sorted(kept, key=lambda update: (update.page.metadata.get(SUMMARY_DAY, ""), sorted(update.forms))):
        chat = scene.writer
        if chat is None or len(done) >= remaining or scene.stop():
            break
        lines = shown_rows(update.forms, update.stated, SUMMED_UP)
        digest = digest_of(lines)
        if len(update.stated) < CARD or update.page.metadata.get(SUMMARY_OF) == digest:
            continue
        summary = in_short(chat, update.page.subject, lines)
        page = with_summary(update.page, update.forms, update.stated, summary)
        done[page.id] = page.with_(metadata={**page.metadata, SUMMARY_OF: digest, SUMMARY_DAY: today})
    return done


def _plan(kept: _Kept, page: Atom) -> Plan:
    if page == kept.before and not kept.aside:
        return Plan()
    moves = [Move("card", page.id, page.subject, f"{len(kept.stated)} statements")]
    moves += [Move("merge page", atom.id, atom.subject, f"is the same as {page.subject}") for atom in kept.aside]
    return Plan((page, *kept.aside), tuple(moves))


def _together(plans: Iterable[Plan]) -> Plan:
    parts = list(plans)
    return Plan(
        tuple(change for part in parts for change in part.changes),
        tuple(move for part in parts for move in part.moves),
        tuple(note for part in parts for note in part.notes),
    )
