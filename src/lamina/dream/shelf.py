"""The existing syntheses of a scope: which are current, which a dream may change, which a person rejected."""

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
"""Verbs that end a synthesis without a person's decision."""
_UNDO = "undo"


class Shelf:
    """The syntheses of one scope as they are when a step begins."""

    def __init__(self, scene: Scene) -> None:
        self._store, self._now = scene.store, scene.now
        atoms = scene.store.read(Filter(scopes=(scene.scope,), kinds=frozenset({KIND})))
        syntheses = sorted((synthesis for synthesis in atoms if made_of(synthesis)), key=_order)
        self._live = [synthesis for synthesis in syntheses if synthesis.status not in ENDED]
        sources = tuple(sorted({source for synthesis in self._live for source in synthesis.derived_from}))
        read = scene.store.read(Filter(scopes=(scene.scope,), ids=sources)) if sources else []
        self._sources = {atom.id: atom for atom in read if self._counts(atom)}
        self._by_subject: dict[str, list[Atom]] = defaultdict(list)
        self._by_source: dict[AtomId, list[Atom]] = defaultdict(list)
        for synthesis in syntheses:
            if made_of(synthesis) is MadeOf.SUBJECT:
                self._by_subject[name_form(synthesis.subject)].append(synthesis)
            else:
                for source in synthesis.derived_from:
                    self._by_source[source].append(synthesis)

    def tells(self, theme: Theme) -> bool:
        """Return whether a theme needs no synthesis: a current one covers it, or a person rejected it."""
        sources = sources_form(theme.members)
        return any(
            self._settles(synthesis, theme.at_count, sources)
            for synthesis in self._alike(theme)
            if _is_about(synthesis, theme)
        )

    def tells_subject(self, subject: str, count: int) -> bool:
        """Return the same for a subject, before its synthesis is built."""
        return any(self._settles(synthesis, count) for synthesis in self._by_subject.get(name_form(subject), ()))

    def replaced_by(self, theme: Theme) -> list[Atom]:
        """Return the syntheses that the theme's synthesis would supersede."""
        live = (synthesis for synthesis in self._alike(theme) if synthesis.status not in ENDED)
        return [synthesis for synthesis in live if _is_covered(synthesis, theme) and self._may_change(synthesis)]

    def stale(self) -> list[Atom]:
        """Return the syntheses whose sources changed and that a dream may end."""
        return [synthesis for synthesis in self._live if not self.is_current(synthesis) and self._may_change(synthesis)]

    def is_current(self, synthesis: Atom) -> bool:
        """Return whether every source still counts and has the same content."""
        sources = [self._sources[source_id] for source_id in synthesis.derived_from if source_id in self._sources]
        is_complete = 0 < len(sources) == len(synthesis.derived_from)
        return is_complete and sources_form(sources) == synthesis.metadata.get(SOURCES)

    def _counts(self, source: Atom) -> bool:
        return source.status in RECALL_WEIGHT and source.validity.covers(self._now)

    def _may_change(self, synthesis: Atom) -> bool:
        """Return whether no origin other than a dream has edited it."""
        if synthesis.pinned:
            return False
        return self._store.objection(synthesis.with_(status=Status.TOMBSTONED), Origin.DREAM) is None

    def _settles(self, synthesis: Atom, count: int, sources: str | None = None) -> bool:
        """Return whether a synthesis leaves nothing to do for its theme at this threshold.

        One that was undone only settles the same statements.
        """
        if synthesis.status in ENDED:
            last = self._store.versions(synthesis.id)[-1].verb
            return synthesis.metadata.get(SOURCES) == sources if last == _UNDO else last not in _NOBODY
        return (at_count(synthesis) >= count and self.is_current(synthesis)) or not self._may_change(synthesis)

    def _alike(self, theme: Theme) -> list[Atom]:
        """Return the syntheses with the same subject or a common source, ended ones included."""
        if theme.made_of is MadeOf.SUBJECT:
            return self._by_subject.get(name_form(theme.subject), [])
        by_id = {
            synthesis.id: synthesis for member in theme.members for synthesis in self._by_source.get(member.id, ())
        }
        return sorted(by_id.values(), key=_order)


def _order(synthesis: Atom) -> tuple[bool, AtomId]:
    """Return a sort key with live ones first: they usually decide, and then no history is read."""
    return synthesis.status in ENDED, synthesis.id


def _is_about(synthesis: Atom, theme: Theme) -> bool:
    return theme.made_of is MadeOf.SUBJECT or _most(theme.ids, synthesis.derived_from)


def _is_covered(synthesis: Atom, theme: Theme) -> bool:
    return theme.made_of is MadeOf.SUBJECT or _most(synthesis.derived_from, theme.ids)


def _most(these: Collection[AtomId], those: Collection[AtomId]) -> bool:
    """Return whether more than half of the first are in the second."""
    return 2 * len(set(these) & set(those)) > len(these)
