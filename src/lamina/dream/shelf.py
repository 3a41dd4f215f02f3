"""The syntheses there are: which still say what their sources say, which a dream may touch, which nobody wants."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.sources import SOURCES, sources_form
from lamina.atom.status import ENDED, RECALL_WEIGHT, Status
from lamina.atom.trust import Origin
from lamina.dream.dream import VERB
from lamina.dream.scene import Scene
from lamina.dream.synthesis import KIND, MadeOf, Theme, at_count, made_of
from lamina.store.base import Filter
from lamina.text.normal import name_form

_NOBODY = frozenset({VERB, "entity"})
"""Verbs by which nobody said of a synthesis that they do not want it."""
_UNDO = "undo"


class Shelf:
    """The syntheses of one scope as they stand when a step begins."""

    def __init__(self, scene: Scene) -> None:
        self._store, self._now = scene.store, scene.now
        found = scene.store.read(Filter(scopes=(scene.scope,), kinds=frozenset({KIND})))
        known = sorted((each for each in found if made_of(each)), key=_order)
        self._live = [each for each in known if each.status not in ENDED]
        sources = tuple(sorted({source for each in self._live for source in each.derived_from}))
        read = scene.store.read(Filter(scopes=(scene.scope,), ids=sources)) if sources else []
        self._sources = {each.id: each for each in read if self._counts(each)}
        self._by_subject: dict[str, list[Atom]] = defaultdict(list)
        self._by_source: dict[AtomId, list[Atom]] = defaultdict(list)
        for each in known:
            if made_of(each) is MadeOf.SUBJECT:
                self._by_subject[name_form(each.subject)].append(each)
            else:
                for source in each.derived_from:
                    self._by_source[source].append(each)

    def tells(self, theme: Theme) -> bool:
        """Whether the theme need not be told: something tells it and it has not outgrown that, or nobody wants it."""
        told = sources_form(theme.members)
        return any(self._settles(each, theme.at_count, told) for each in self._alike(theme) if _is_about(each, theme))

    def tells_subject(self, subject: str, count: int) -> bool:
        """The same for a subject, so that nobody need work out what its synthesis would say."""
        return any(self._settles(each, count) for each in self._by_subject.get(name_form(subject), ()))

    def replaced_by(self, theme: Theme) -> list[Atom]:
        """The syntheses that the theme's takes the place of."""
        live = (each for each in self._alike(theme) if each.status not in ENDED)
        return [each for each in live if _is_covered(each, theme) and self._may_change(each)]

    def stale(self) -> list[Atom]:
        """Those whose sources have changed, as far as they are a dream's to let go."""
        return [each for each in self._live if not self.is_current(each) and self._may_change(each)]

    def is_current(self, synthesis: Atom) -> bool:
        """Whether every source still counts and says what it said."""
        sources = [self._sources[each] for each in synthesis.derived_from if each in self._sources]
        whole = 0 < len(sources) == len(synthesis.derived_from)
        return whole and sources_form(sources) == synthesis.metadata.get(SOURCES)

    def _counts(self, source: Atom) -> bool:
        return source.status in RECALL_WEIGHT and source.validity.covers(self._now)

    def _may_change(self, synthesis: Atom) -> bool:
        """Whether only dreams have had a hand in it."""
        if synthesis.pinned:
            return False
        return self._store.objection(synthesis.with_(status=Status.TOMBSTONED), Origin.DREAM) is None

    def _settles(self, synthesis: Atom, count: int, sources: str | None = None) -> bool:
        """Whether there is nothing to do for what a synthesis is about, being so many statements.

        One that was undone settles the same statements and no others.
        """
        if synthesis.status in ENDED:
            last = self._store.versions(synthesis.id)[-1].verb
            return synthesis.metadata.get(SOURCES) == sources if last == _UNDO else last not in _NOBODY
        return (at_count(synthesis) >= count and self.is_current(synthesis)) or not self._may_change(synthesis)

    def _alike(self, theme: Theme) -> list[Atom]:
        """Whatever shares the subject or a source, over or not."""
        if theme.made_of is MadeOf.SUBJECT:
            return self._by_subject.get(name_form(theme.subject), [])
        found = {each.id: each for member in theme.members for each in self._by_source.get(member.id, ())}
        return sorted(found.values(), key=_order)


def _order(synthesis: Atom) -> tuple[bool, AtomId]:
    """What stands comes first: mostly it settles the matter, and nobody need ask how the others ended."""
    return synthesis.status in ENDED, synthesis.id


def _is_about(synthesis: Atom, theme: Theme) -> bool:
    return theme.made_of is MadeOf.SUBJECT or _most(theme.ids, synthesis.derived_from)


def _is_covered(synthesis: Atom, theme: Theme) -> bool:
    return theme.made_of is MadeOf.SUBJECT or _most(synthesis.derived_from, theme.ids)


def _most(these: Collection[AtomId], those: Collection[AtomId]) -> bool:
    """Whether more than half of these are among those."""
    return 2 * len(set(these) & set(those)) > len(these)
