"""Step 3, cards: a page for whoever and whatever much is stated of, one for the scope's profile, one for its agent.

A page is made anew from what stands, and written where it differs; what people wrote beside the generated part stays to
the letter, and what they pinned or undid stays as it is. Once a month everything is looked at, else only names about
which something changed.
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
from lamina.dream.identity import KINDS as REFLECTIONS
from lamina.dream.identity import identity
from lamina.dream.in_short import in_short
from lamina.dream.one_page import as_one
from lamina.dream.plan import Move, Plan
from lamina.dream.profile import KINDS as TASTES
from lamina.dream.profile import profile
from lamina.dream.scene import Scene
from lamina.dream.touched import touched_since

SUMMARIES_A_DAY = 50
"""So many pages are summed up by a chat model in one day, however often somebody dreams."""
_PAGES = frozenset({"entity"})


@dataclass(frozen=True, slots=True)
class _Kept:
    """A page before and as it shall be, its names, what is stated under them, and pages it takes the place of."""

    before: Atom | None
    page: Atom
    forms: frozenset[str]
    stated: tuple[Atom, ...]
    aside: tuple[Atom, ...]


def cards(scene: Scene) -> Plan:
    """Bring the pages of names, the profile and the identity up to date with what changed."""
    store, month = scene.store, f"cards {scene.now:%Y-%m}"
    position = store.position()
    plan = cards_since(scene, store.dreams.marked(scene.scope, month))
    return replace(plan, after=lambda: store.dreams.mark(scene.scope, month, position))


def cards_since(scene: Scene, seq: int | None) -> Plan:
    """The same from a journal position on; None looks at everything."""
    touched = touched_since(scene, seq) if seq is not None else None
    pages = pages_of(scene.store, scene.scope)
    if touched is None:
        known = names_in(scene.stated())
        names = Names(known)
        looked_at = frozenset({*known, *(form for atom in pages.live for form in pages.forms(atom))})
    else:
        looked_at = touched.forms | _unasked(pages, scene)
        names = _names(looked_at, pages, scene)
    kept = [each for each in _kept(names, looked_at, pages, scene) if not _is_unwanted(each, pages, scene)]
    asked = _summed_up(kept, pages, scene)
    parts = [_plan(each, asked.get(each.page.id, each.page)) for each in kept]
    if touched is None or touched.kinds & (TASTES | _PAGES):
        parts.append(profile(scene))
    if touched is None or touched.kinds & (REFLECTIONS | _PAGES):
        parts.append(identity(scene))
    return _together(parts)


def _names(looked_at: frozenset[str], pages: Pages, scene: Scene) -> Names:
    """The statements of these names and of the others on their pages, found together; more where it is asked for."""
    shared = (pages.forms(atom) for atom in pages.live)
    forms = looked_at.union(*(own for own in shared if not own.isdisjoint(looked_at)))
    found = names_in(stated_of(scene.store, scene.scope, forms, scene.now) if forms else ())
    return Names(
        {form: found.get(form, ()) for form in forms},
        lambda form: stated_of(scene.store, scene.scope, {form}, scene.now),
    )


def _kept(names: Names, looked_at: Iterable[str], pages: Pages, scene: Scene) -> Iterator[_Kept]:
    owned: dict[str, dict[AtomId, Atom]] = {}
    for atom in pages.live:
        for form in pages.forms(atom):
            owned.setdefault(form, {})[atom.id] = atom
    for forms in grouped(names, looked_at, pages, scene.store):
        stated = names.all_of(forms)
        own = {each.id: each for form in sorted(forms) for each in owned.get(form, {}).values()}
        if not own and (len(stated) < CARD or not forms.isdisjoint(pages.left)):
            continue
        loose = [each for each in own.values() if not each.pinned]
        if own and not loose:
            continue
        if own:
            first, aside = as_one(loose, scene.store)
            known = pages.left | {form for each in own.values() for form in pages.forms(each)}
        else:
            called = names.commonest(forms)
            first, aside = blank_page(scene.scope, names.spelt(called), stated, next(scene.ids)), []
            known = pages.left | {called}
        stubs = [_stub(form, names, first, scene) for form in sorted(forms - known) if names.stated(form)]
        first = first.with_(supersedes=(*first.supersedes, *(stub.id for stub in stubs)))
        page = kept_up(first, forms, stated)
        yield _Kept(own.get(first.id), page, forms, tuple(stated), (*aside, *stubs))


def _is_unwanted(kept: _Kept, pages: Pages, scene: Scene) -> bool:
    """Whether somebody undid the very page; nobody need look where there is nothing to write or to ask."""
    if kept.page == kept.before and not kept.aside and scene.writer is None:
        return False
    known = [kept.before] if kept.before is not None else pages.forerunners(kept.forms)
    return is_unwanted(kept.page, known, scene.store)


def _stub(form: str, names: Names, heir: Atom, scene: Scene) -> Atom:
    """The page of a name that goes to another page at once: by it everybody knows where the name belongs."""
    stated = names.stated(form)
    page = blank_page(scene.scope, names.spelt(form), stated, next(scene.ids))
    return kept_up(page, {form}, stated).with_(status=Status.SUPERSEDED, superseded_by=(heir.id,))


def _unasked(pages: Pages, scene: Scene) -> frozenset[str]:
    """Names of pages that no model was shown yet, as many as may be shown at once, the oldest first."""
    if scene.chat is None:
        return frozenset()
    waiting = [atom for atom in pages.live if SUMMARY_OF not in atom.metadata and has_card(atom.content)]
    return frozenset(form for each in waiting[:SUMMARIES_A_DAY] for form in pages.forms(each))


def _summed_up(kept: Iterable[_Kept], pages: Pages, scene: Scene) -> dict[AtomId, Atom]:
    """Pages with a summary of lines that were not summed up before, those that waited longest first."""
    done: dict[AtomId, Atom] = {}
    today = f"{scene.now:%Y-%m-%d}"
    left = SUMMARIES_A_DAY - sum(atom.metadata.get(SUMMARY_DAY) == today for atom in pages.live)
    for each in sorted(kept, key=lambda each: (each.page.metadata.get(SUMMARY_DAY, ""), sorted(each.forms))):
        writer = scene.writer
        if writer is None or len(done) >= left or scene.stop():
            break
        rows = shown_rows(each.forms, each.stated, SUMMED_UP)
        digest = digest_of(rows)
        if len(each.stated) < CARD or each.page.metadata.get(SUMMARY_OF) == digest:
            continue
        told = in_short(writer, each.page.subject, rows)
        page = with_summary(each.page, each.forms, each.stated, told)
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
