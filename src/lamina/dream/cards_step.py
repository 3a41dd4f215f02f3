"""Step cards: a page for each name with enough statements, one for the scope's profile, one for its
agent.

A page is generated from current statements and written if it differs. What people wrote outside the generated part
stays unchanged, and pages that they pinned or undid are left alone. Every page is checked once a month, otherwise only
names with changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lamina.atom.atom import Atom, AtomId
from lamina.atom.status import Status
from lamina.dream.entity_page_text import (
    MIN_CARD_STATEMENTS,
    SUMMARY_DAY,
    SUMMARY_OF,
    digest_lines,
    has_card,
    lines_to_summarise,
)
from lamina.dream.entity_pages import (
    MAX_SUMMARISED_LINES,
    EntityPages,
    blank_page,
    load_pages,
    merge_pages,
    refresh_page,
    repeats_undone_page,
    statements_about,
    with_summary,
)
from lamina.dream.identity_page import IDENTITY_KINDS, plan_identity
from lamina.dream.name_groups import StatementsByName, alias_of, group_by_name, group_names
from lamina.dream.page_summary import summarise_page
from lamina.dream.profile_page import PROFILE_KINDS, plan_profile
from lamina.dream.step import LIVE, Move, PlanBuilder, StepContext, StepPlan

MAX_CHANGES = 5000
"""With more changes than this, checking everything is faster."""
_DREAM = "dream"


@dataclass(frozen=True, slots=True)
class RecentChanges:
    """The normalised names and the kinds of atoms that were written, changed or expired."""

    forms: frozenset[str]
    kinds: frozenset[str]


def changes_since(context: StepContext, position: int) -> RecentChanges | None:
    """Return what changed after a journal position; None if that is too much to list."""
    entries = context.store.journal.read((context.scope,), position)
    entry_by_atom = {change.atom_id: entry for entry in entries for change in entry.changes}
    if len(entry_by_atom) > MAX_CHANGES:
        return None
    ids = tuple(entry_by_atom)
    heads, before = context.read(ids=ids), context.store.atoms.read_at(ids, position, (context.scope,)).values()
    dream_pages = {head.id for head in heads if head.kind == "entity" and entry_by_atom[head.id].verb == _DREAM}
    changed = [
        atom
        for atom in (*heads, *before, *_expired(context, position))
        if atom.id not in dream_pages and not atom.is_segment
    ]
    forms = frozenset({*group_by_name(changed), *filter(None, map(alias_of, changed))})
    return RecentChanges(forms, frozenset(atom.kind for atom in changed))


def _expired(context: StepContext, position: int) -> list[Atom]:
    """Return atoms that expired since that position without a commit."""
    last = context.store.journal.read((context.scope,), max(0, position - 1), until=position)[-1:]
    expired = context.read(statuses=LIVE, include_run_notes=False, expired_by=context.now)
    return [atom for atom in expired if not last or (atom.valid_until is not None and atom.valid_until > last[0].at)]


SUMMARIES_A_DAY = 50
"""The most pages that a chat model summarises in one day, over all dreams of that day."""
_PAGE_KINDS = frozenset({"entity"})


@dataclass(frozen=True, slots=True)
class _PageUpdate:
    """A page before and after, its names, the statements about them, and the pages it replaces."""

    before: Atom | None
    page: Atom
    forms: frozenset[str]
    statements: tuple[Atom, ...]
    replaced: tuple[Atom, ...]


def cards(context: StepContext) -> StepPlan:
    """Update the pages of names, the profile, and the identity page from what changed."""
    store, month = context.store, f"cards {context.now:%Y-%m}"
    position = store.journal.position()
    plan = plan_cards_since(context, store.queue.get_position(context.scope, month))
    return plan.then_mark_read(context, month, position)


def plan_cards_since(context: StepContext, position: int | None) -> StepPlan:
    """Plan the updates from a journal position on; None checks every page."""
    changes = changes_since(context, position) if position is not None else None
    pages = load_pages(context.store, context.scope)
    if changes is None:
        by_name = group_by_name(context.statements())
        names = StatementsByName(by_name)
        forms = frozenset({*by_name, *(form for page in pages.live for form in pages.names_of(page))})
    else:
        forms = changes.forms | _names_without_summary(pages, context)
        names = _load_names(forms, pages, context)
    updates = [
        update
        for update in _page_updates(names, forms, pages, context)
        if not _repeats_undone_page(update, pages, context)
    ]
    summarised = _summarise_pages(updates, pages, context)
    checked = "every page was checked" if changes is None else "names with changes since the last dream"
    plan = PlanBuilder(examined=f"{len(forms):,} names ({checked}); a card needs {MIN_CARD_STATEMENTS} statements")
    for update in updates:
        plan.add(_page_plan(update, summarised.get(update.page.id, update.page)))
    if changes is None or changes.kinds & (PROFILE_KINDS | _PAGE_KINDS):
        plan.add(plan_profile(context))
    if changes is None or changes.kinds & (IDENTITY_KINDS | _PAGE_KINDS):
        plan.add(plan_identity(context))
    return plan.build()


def _load_names(name_forms: frozenset[str], pages: EntityPages, context: StepContext) -> StatementsByName:
    """Load the statements of these names and of the other names on their pages, and more on demand."""
    shared = (pages.names_of(page) for page in pages.live)
    forms = name_forms.union(*(page_forms for page_forms in shared if not page_forms.isdisjoint(name_forms)))
    by_name = group_by_name(statements_about(context.store, context.scope, forms, context.now))
    return StatementsByName(
        {form: by_name.get(form, ()) for form in forms},
        lambda form: statements_about(context.store, context.scope, {form}, context.now),
    )


def _page_updates(
    names: StatementsByName, candidates: Iterable[str], pages: EntityPages, context: StepContext
) -> Iterator[_PageUpdate]:
    pages_by_form: dict[str, dict[AtomId, Atom]] = {}
    for page in pages.live:
        for form in pages.names_of(page):
            pages_by_form.setdefault(form, {})[page.id] = page
    for forms in group_names(names, candidates, pages, context.store):
        statements = names.statements_under(forms)
        own_pages = {page.id: page for form in sorted(forms) for page in pages_by_form.get(form, {}).values()}
        if not own_pages and (len(statements) < MIN_CARD_STATEMENTS or not forms.isdisjoint(pages.dismissed)):
            continue
        unpinned = [page for page in own_pages.values() if not page.pinned]
        if own_pages and not unpinned:
            continue
        if own_pages:
            base, replaced = merge_pages(unpinned, context.store)
            known_forms = pages.dismissed | {form for page in own_pages.values() for form in pages.names_of(page)}
        else:
            main_form = names.most_used(forms)
            name = names.usual_spelling(main_form)
            base, replaced = blank_page(context.scope, name, statements, next(context.ids)), []
            known_forms = pages.dismissed | {main_form}
        alias_pages = [
            _alias_page(form, names, base, context) for form in sorted(forms - known_forms) if names.statements(form)
        ]
        base = base.with_(supersedes=(*base.supersedes, *(alias_page.id for alias_page in alias_pages)))
        page = refresh_page(base, forms, statements)
        yield _PageUpdate(own_pages.get(base.id), page, forms, tuple(statements), (*replaced, *alias_pages))


def _repeats_undone_page(update: _PageUpdate, pages: EntityPages, context: StepContext) -> bool:
    """Return whether a person undid this very page; not checked if there is nothing to write or summarise."""
    if update.page == update.before and not update.replaced and context.available_chat is None:
        return False
    earlier = [update.before] if update.before is not None else pages.undone_pages(update.forms)
    return repeats_undone_page(update.page, earlier, context.store)


def _alias_page(form: str, names: StatementsByName, successor: Atom, context: StepContext) -> Atom:
    """Build the page of a name that another page replaces immediately: it records where the name belongs."""
    statements = names.statements(form)
    page = blank_page(context.scope, names.usual_spelling(form), statements, next(context.ids))
    return refresh_page(page, {form}, statements).with_(status=Status.SUPERSEDED, superseded_by=(successor.id,))


def _names_without_summary(pages: EntityPages, context: StepContext) -> frozenset[str]:
    """Return the names of pages without a summary, at most as many as one day allows, the oldest first."""
    if context.chat is None:
        return frozenset()
    without_summary = [page for page in pages.live if SUMMARY_OF not in page.metadata and has_card(page.content)]
    return frozenset(form for page in without_summary[:SUMMARIES_A_DAY] for form in pages.names_of(page))


def _summarise_pages(updates: Iterable[_PageUpdate], pages: EntityPages, context: StepContext) -> dict[AtomId, Atom]:
    """Return pages with a new summary of lines that changed, the longest waiting first."""
    done: dict[AtomId, Atom] = {}
    today = f"{context.now:%Y-%m-%d}"
    remaining = SUMMARIES_A_DAY - sum(page.metadata.get(SUMMARY_DAY) == today for page in pages.live)
    for update in sorted(updates, key=lambda update: (update.page.metadata.get(SUMMARY_DAY, ""), sorted(update.forms))):
        chat = context.available_chat
        if chat is None or len(done) >= remaining or context.should_stop():
            break
        lines = lines_to_summarise(update.forms, update.statements, MAX_SUMMARISED_LINES)
        digest = digest_lines(lines)
        if len(update.statements) < MIN_CARD_STATEMENTS or update.page.metadata.get(SUMMARY_OF) == digest:
            continue
        summary = summarise_page(chat, update.page.subject, lines)
        page = with_summary(update.page, update.forms, update.statements, summary)
        done[page.id] = page.with_(metadata={**page.metadata, SUMMARY_OF: digest, SUMMARY_DAY: today})
    return done


def _page_plan(update: _PageUpdate, page: Atom) -> StepPlan:
    if page == update.before and not update.replaced:
        return StepPlan()
    moves = [Move("card", page.id, page.subject, f"{len(update.statements)} statements")]
    moves += [Move("merge page", atom.id, atom.subject, f"is the same as {page.subject}") for atom in update.replaced]
    return StepPlan((page, *update.replaced), tuple(moves))
