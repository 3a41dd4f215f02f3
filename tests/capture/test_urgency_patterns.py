"""Which turns sound important, and which patterns of a user are safe to try."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus import read_corpus, share_right
from lamina.capture.urgency_patterns import SCANNED_CHARS, SLICE_CHARS, compile_patterns, sounds_important
from lamina.errors import InvalidInput


@pytest.mark.parametrize(("corpus", "threshold"), [("urgent_turns", 1.0), ("urgent_turns_held_out", 0.85)])
def test_corrections_preferences_requests_identity_and_decisions_are_urgent(corpus: str, threshold: float) -> None:
    rows = read_corpus(Path(__file__).parent / "data" / f"{corpus}.jsonl")
    assert share_right(rows, lambda row: sounds_important(row["text"]) is row["urgent"]) >= threshold


def test_a_turn_is_read_up_to_four_thousand_characters() -> None:
    assert sounds_important("x " * (SCANNED_CHARS // 2 - 10) + "I prefer tea")
    assert not sounds_important("x " * SCANNED_CHARS + "I prefer tea")


def test_a_turn_that_matches_a_user_pattern_is_urgent() -> None:
    patterns = compile_patterns({"ticket": r"\bshop-\d+\b", "launch": "go(?: no-go)? for launch"})
    assert sounds_important("See SHOP-41", patterns)
    assert sounds_important("We are go for launch", patterns)
    assert not sounds_important("See SHOP-41")


def test_a_user_pattern_matches_across_two_pieces() -> None:
    patterns = compile_patterns({"ticket": "shop-[0-9]{4}"})
    for at in range(SLICE_CHARS - 12, SLICE_CHARS + 12):
        assert sounds_important("x" * at + " shop-1234 " + "y" * 50, patterns)


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
        ("x*", "matches the empty text"),
        ("", "1 to 200 characters"),
        ("a" * 201, "1 to 200 characters"),
    ],
)
def test_a_user_pattern_that_could_take_long_is_refused_by_name(pattern: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=f"'mine'.*{why}"):
        compile_patterns({"fine": "fine", "mine": pattern})


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
def test_ordinary_patterns_are_accepted(pattern: str) -> None:
    assert compile_patterns({"mine": pattern})


def test_too_many_patterns_are_refused() -> None:
    with pytest.raises(InvalidInput, match="too many"):
        compile_patterns({f"p{at}": "word" for at in range(51)})


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_can_be_scanned(text: str) -> None:
    assert sounds_important(f"{text}xy{text}", compile_patterns({"mine": "x.*y"}))


@settings(deadline=None)
@given(st.text("ab()[]{}?*+|\\.,0123^$-", max_size=20))
def test_any_pattern_is_accepted_or_refused(pattern: str) -> None:
    try:
        patterns = compile_patterns({"mine": pattern})
    except InvalidInput as refusal:
        assert "mine" in str(refusal)
    else:
        assert sounds_important("ab" * 300, patterns) in (False, True)
