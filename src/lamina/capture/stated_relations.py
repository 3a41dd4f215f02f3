"""Relations that a language model sees: which stored statements it is shown, and what becomes of those it names.

A relation is a guess. It leads to related memories and ends nothing: that a statement contradicts or supersedes another
is nominated as a likely change, as every change that only a model found.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lamina.atom.atom import Atom, AtomId, Evidence, Relation, RelationName
from lamina.capture.change.change_nomination import Nomination
from lamina.capture.change.working_set import CURRENT_STATUSES, WorkingSet
from lamina.capture.extractor import CapturedTurn, ExtractedStatement, StatedRelation, StoredStatement
from lamina.capture.store_reads import WriteContext
from lamina.text.analyser import content_tokens

MAX_STORED = 6
"""How many stored statements a language model is shown; they have to fit into its context window."""
STATED_CONFIDENCE = 0.5
"""The confidence of a relation that a language model names."""
MAX_CHANGE_COUNT, MAX_CHANGE_SHARE = 2, 0.5
"""A model that calls more and a larger share of its statements changes is not believed: most change nothing."""
_CHANGES = frozenset({RelationName.CONTRADICTS, RelationName.SUPERSEDES})

StatementPair = tuple[ExtractedStatement, Atom]
"""An extracted statement, and the atom made of it."""


def find_stored_statements(turns: Sequence[CapturedTurn], context: WriteContext) -> list[StoredStatement]:
    """Return the stored statements that share most words with the turns."""
    words = [word for turn in turns for word in content_tokens(turn.text)]
    if not words:
        return []
    working_set = WorkingSet(context.reads, context.scope, context.now)
    matches = working_set.search(words, CURRENT_STATUSES, MAX_STORED, lambda atom, passage: not atom.is_segment)
    return [
        StoredStatement(
            atom.id, atom.content, atom.evidence[0] if atom.evidence else Evidence(atom.id, 1, 0, len(atom.content))
        )
        for atom, _ in matches
    ]


def link_stated_relations(pairs: Sequence[StatementPair], now: datetime) -> list[Atom]:
    """Return the atoms with the relations that their statements name, without those that are likely changes."""
    linked: list[Atom] = []
    for statement, atom in pairs:
        targets = [
            (relation.name, relation.stored_id or _find_extracted(relation, pairs))
            for relation in statement.relations
            if relation.name not in _CHANGES
        ]
        relations = [
            Relation(name, target, STATED_CONFIDENCE, now) for name, target in targets if target and target != atom.id
        ]
        linked.append(atom.with_(relations=(*atom.relations, *relations)) if relations else atom)
    return linked


def nominate_stated_changes(pairs: Sequence[StatementPair]) -> tuple[Nomination, ...]:
    """Return the likely changes among the relations that statements name; none if it calls most of them changes."""
    changes = [
        Nomination(statement.evidence, relation.evidence, relation.content, statement.content)
        for statement, _ in pairs
        for relation in statement.relations
        if relation.name in _CHANGES and relation.evidence != statement.evidence
    ]
    is_believed = len(changes) <= max(MAX_CHANGE_COUNT, MAX_CHANGE_SHARE * len(pairs))
    return tuple(changes) if is_believed else ()


def _find_extracted(relation: StatedRelation, pairs: Sequence[StatementPair]) -> AtomId | None:
    """Return the atom of the extracted statement that a relation leads to; None if it was left out."""
    on_sentence = [(statement, atom) for statement, atom in pairs if statement.evidence == relation.evidence]
    same_words = [atom.id for statement, atom in on_sentence if statement.content == relation.content]
    return next(iter(same_words or [atom.id for _, atom in on_sentence]), None)
