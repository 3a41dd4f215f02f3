"""Two statements at odds: which links say that one never held, and which are only guesses."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lamina.atom import Atom, AtomId, Scope
from lamina.atom.atom import Relation, RelationName
from lamina.atom.proposals_and_pairs import SURE_CONFIDENCE, has_sure_contradiction, is_uncertain_contradiction

TEA = Atom(
    id=AtomId("0" * 26),
    scope=Scope("org:local"),
    kind="fact",
    content="Tea is green.",
    observed_at=datetime(2026, 1, 1, tzinfo=UTC),
)
OTHER = AtomId("1" * 26)


@pytest.mark.parametrize(
    ("name", "confidence", "guess", "rival"),
    [
        (RelationName.CONTRADICTS, SURE_CONFIDENCE, False, True),
        (RelationName.CONTRADICTS, SURE_CONFIDENCE - 0.01, True, False),
        (RelationName.DEPENDS_ON, 0.5, False, False),
        (RelationName.DEPENDS_ON, 1.0, False, False),
    ],
)
def test_only_a_sure_contradiction_makes_a_rival(
    name: RelationName, confidence: float, guess: bool, rival: bool
) -> None:
    link = Relation(name, OTHER, confidence)
    assert (is_uncertain_contradiction(link), has_sure_contradiction(TEA.with_(relations=(link,)))) == (guess, rival)


def test_a_statement_without_contradictions_has_no_rival() -> None:
    assert not has_sure_contradiction(TEA)
