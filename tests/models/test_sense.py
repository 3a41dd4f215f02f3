"""How near words are in meaning."""

from __future__ import annotations

from lamina.models.sense import alike


def test_a_word_is_like_itself_and_nothing_is_more_alike() -> None:
    assert alike("harbour", "harbour") == 1.0
    assert 0.0 <= alike("harbour", "saucepan") < alike("harbour", "port") < 1.0


def test_it_is_the_same_both_ways() -> None:
    assert alike("rehearse", "rehearsals") == alike("rehearsals", "rehearse") > 0.4
