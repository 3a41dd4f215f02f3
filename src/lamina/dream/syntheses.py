"""The existing syntheses of a scope: which are current, which a dream may change, which a person rejected."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.status import ENDED, RECALL_WEIGHT, Status
from lamina.atom.summary_sources import SOURCES_KEY, sources_digest
from lamina.atom.trust import Origin
from lamina.dream.dream import VERB
from lamina.dream.step_context import StepContext
from lamina.dream.synthesis import KIND, Theme, ThemeBasis, basis_of, threshold_of
from lamina.store.base import AtomFilter
from lamina.text.normal_form import name_form

_MACHINE_VERBS = frozenset({VERB, "entity"})
"""Verbs that end a synthesis without a person's decision."""
_UNDO = "undo"


class ExistingSyntheses:
    """The syntheses of one scope as they are when a step begins."""

    def __init__(self, context: StepContext) -> None:
        self._store, self._now = context.store, context.now
        atoms = context.store.read(AtomFilter(scopes=(context.scope,), kinds=frozenset({KIND})))
        syntheses = sorted((synthesis for synthesis in atoms if basis_of(synthesis)), key=_live_first)
        self._live = [synthesis for synthesis in syntheses if synthesis.status not in ENDED]
        sources = tuple(sorted({source for synthesis in self._live for source in synthesis.derived_from}))
        read = context.store.read(AtomFilter(scopes=(context.scope,), ids=sources)) if sources else []
        self._sources = {atom.id: atom for atom in read if self._is_countable(atom)}
        self._by_subject: dict[str, list[Atom]] = defaultdict(list)
        self._by_source: dict[AtomId, list[Atom]] = defaultdict(list)
        for synthesis in syntheses:
            if basis_of(synthesis) is ThemeBasis.SUBJECT:
                self._by_subject[name_form(synthesis.subject)].append(synthesis)
            else:
                for source in synthesis.derived_from:
                    self._by_source[source].append(synthesis)

    def covers(self, theme: Theme) -> bool:
        """Return whether a theme needs no synthesis: a current one covers it, or a person rejected it."""
        sources = sources_digest(theme.members)
        return any(
            self._settles(synthesis, theme.threshold, sources)
            for synthesis in self._related(theme)
            if _is_about(synthesis, theme)
        )

    def covers_subject(self, subject: str, count: int) -> bool:
        """Return the same for a subject, before its synthesis is built."""
        return any(self._settles(synthesis, count) for synthesis in self._by_subject.get(name_form(subject), ()))

    def replaced_by(self, theme: Theme) -> list[Atom]:
        """Return the syntheses that the theme's synthesis would supersede."""
        live = (synthesis for synthesis in self._related(theme) if synthesis.status not in ENDED)
        return [synthesis for synthesis in live if _is_covered(synthesis, theme) and self._may_change(synthesis)]

    def stale(self) -> list[Atom]:
        """Return the syntheses whose sources changed and that a dream may end."""
        return [synthesis for synthesis in self._live if not self.is_current(synthesis) and self._may_change(synthesis)]

    def is_current(self, synthesis: Atom) -> bool:
        """Return whether every source still counts and has the same content."""
        sources = [self._sources[source_id] for source_id in synthesis.derived_from if source_id in self._sources]
        is_complete = 0 < len(sources) == len(synthesis.derived_from)
        return is_complete and sources_digest(sources) == synthesis.metadata.get(SOURCES_KEY)

    def _is_countable(self, source: Atom) -> bool:
        return source.status in RECALL_WEIGHT and source.validity.covers(self._now)

    def _may_change(self, synthesis: Atom) -> bool:
        """Return whether no origin other than a dream has edited it."""
        if synthesis.pinned:
            return False
        return self._store.find_refusal_reason(synthesis.with_(status=Status.TOMBSTONED), Origin.DREAM) is None

    def _settles(self, synthesis: Atom, count: int, sources: str | None = None) -> bool:
        """Return whether a synthesis leaves nothing to do for its theme at this threshold.

        One that was undone only settles the same statements.
        """
        if synthesis.status in ENDED:
            last = self._store.versions(synthesis.id)[-1].verb
            return synthesis.metadata.get(SOURCES_KEY) == sources if last == _UNDO else last not in _MACHINE_VERBS
        return (threshold_of(synthesis) >= count and self.is_current(synthesis)) or not self._may_change(synthesis)

    def _related(self, theme: Theme) -> list[Atom]:
        """Return the syntheses with the same subject or a common source, ended ones included."""
        if theme.basis is ThemeBasis.SUBJECT:
            return self._by_subject.get(name_form(theme.subject), [])
        by_id = {
            synthesis.id: synthesis for member in theme.members for synthesis in self._by_source.get(member.id, ())
        }
        return sorted(by_id.values(), key=_live_first)


def _live_first(synthesis: Atom) -> tuple[bool, AtomId]:
    """Return a sort key with live ones first: they usually decide, and then no history is read."""
    return synthesis.status in ENDED, synthesis.id


def _is_about(synthesis: Atom, theme: Theme) -> bool:
    return theme.basis is ThemeBasis.SUBJECT or _is_majority(theme.ids, synthesis.derived_from)


def _is_covered(synthesis: Atom, theme: Theme) -> bool:
    return theme.basis is ThemeBasis.SUBJECT or _is_majority(synthesis.derived_from, theme.ids)


def _is_majority(part: Collection[AtomId], whole: Collection[AtomId]) -> bool:
    """Return whether more than half of the first are in the second."""
    return 2 * len(set(part) & set(whole)) > len(part)
