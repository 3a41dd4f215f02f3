"""Which turns ask to be remembered, and how loudly."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.capture.signals import DEFAULT, SCANNED, SLICE, Level, Signal, scan
from lamina.errors import InvalidInput


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("Actually, I live in Porto", "correction"),
        ("No, that's not it", "correction"),
        ("That is not right at all", "correction"),
        ("why did you say that", "correction"),
        ("Correction: it was Tuesday", "correction"),
        ("I prefer tea", "preference"),
        ("i hate mondays", "preference"),
        ("Don’t use tabs", "preference"),
        ("Please never call before nine", "preference"),
        ("Important: the door sticks", "salience"),
        ("FYI we are closed", "salience"),
        ("For the record, Ann agreed", "salience"),
        ("Remember to water the plants", "salience"),
        ("My name is Ann", "identity"),
        ("my work email is ann@host.dev", "identity"),
        ("I'm from Norway", "identity"),
        ("I work at a bakery", "identity"),
        ("We decided to wait", "decision"),
        ("The decision was final", "decision"),
        ("From now on use spaces", "decision"),
        ("going forward, no meetings", "decision"),
    ],
)
def test_one_loud_pattern_makes_a_turn_loud(text: str, family: str) -> None:
    assert scan(text).level is Level.HIGH
    assert family in scan(text).families


@pytest.mark.parametrize(
    ("text", "signal"),
    [
        ("I think so", Signal(Level.LOW, ("opinion",))),
        ("We usually eat late", Signal(Level.LOW, ("routine",))),
        ("I think we usually eat late", Signal(Level.MEDIUM, ("opinion", "routine"))),
        ("I like my team", Signal(Level.MEDIUM, ("taste", "mine"))),
        ("What time is it?", Signal(Level.NONE)),
        ("Do you remember me?", Signal(Level.NONE)),
        ("The actual cost is unclear", Signal(Level.NONE)),
        ("", Signal(Level.NONE)),
    ],
)
def test_medium_patterns_count_together(text: str, signal: Signal) -> None:
    assert scan(text) == signal


def test_a_turn_is_read_up_to_four_thousand_characters() -> None:
    assert scan("x " * (SCANNED // 2 - 10) + "I prefer tea").level is Level.HIGH
    assert scan("x " * SCANNED + "I prefer tea").level is Level.NONE


def test_a_users_pattern_makes_a_turn_loud_under_its_own_name() -> None:
    patterns = DEFAULT.with_own({"ticket": r"\bshop-\d+\b", "launch": "go(?: no-go)? for launch"})
    assert scan("See SHOP-41", patterns) == Signal(Level.HIGH, ("ticket",))
    assert scan("We are go for launch", patterns).families == ("launch",)
    assert scan("See SHOP-41") == Signal(Level.NONE)


def test_a_users_pattern_sees_a_match_across_two_pieces() -> None:
    patterns = DEFAULT.with_own({"ticket": "shop-[0-9]{4}"})
    for at in range(SLICE - 12, SLICE + 12):
        assert scan("x" * at + " shop-1234 " + "y" * 50, patterns).families == ("ticket",)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("[", "not a regular expression"),
        ("(a+)+b", "may not be repeated"),
        ("(?:a|aa)*b", "may not be repeated"),
        ("(a){20}", "may not be repeated"),
        (r"(a)\1", "referred to again"),
        ("(?=a)b", "only plain groups"),
        ("(?i)b", "only plain groups"),
        (".*a.*b", "one open repeat"),
        ("a?a?a?a?a?a?a?a?a?aaa", "one open repeat"),
        ("[a-z]{0,30}[a-z]{0,30}z", "one open repeat"),
        ("(?:a|a)(?:b|b)(?:c|c).*d", "one open repeat"),
        ("x*", "matches nothing"),
        ("", "1 to 200 characters"),
        ("a" * 201, "1 to 200 characters"),
    ],
)
def test_a_users_pattern_that_could_take_long_is_refused_by_name(pattern: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=f"'mine'.*{why}"):
        DEFAULT.with_own({"fine": "fine", "mine": pattern})


@pytest.mark.parametrize(
    "pattern",
    [
        "deploy (?:failed|stalled|broke)",
        r"I (always|never) use .+ for",
        r"\b[A-Z]{2,4}-\d+",
        "(?P<who>ann|bob) said",
        "a{3}b?",
        "[]x]y",
    ],
)
def test_ordinary_patterns_are_taken(pattern: str) -> None:
    assert DEFAULT.with_own({"mine": pattern}).own


def test_too_many_patterns_are_refused() -> None:
    with pytest.raises(InvalidInput, match="too many"):
        DEFAULT.with_own({f"p{at}": "word" for at in range(51)})


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_can_be_scanned(text: str) -> None:
    signal = scan(text, DEFAULT.with_own({"mine": "x.*y"}))
    assert (signal.level is Level.NONE) == (not signal.families)


@settings(deadline=None)
@given(st.text("ab()[]{}?*+|\\.,0123^$-", max_size=20))
def test_any_pattern_is_taken_or_refused(pattern: str) -> None:
    try:
        patterns = DEFAULT.with_own({"mine": pattern})
    except InvalidInput:
        return
    scan("ab" * 300, patterns)
