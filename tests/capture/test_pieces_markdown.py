"""Markdown in pieces: headings stay with what follows, are context for what comes after, and code is not cut."""

from __future__ import annotations

from lamina.capture.pieces import PARAGRAPH_LIMIT, TURN_LIMIT, TextFormat, split_text


def cut(text: str) -> list[tuple[str, str]]:
    return [(piece.text, piece.context) for piece in split_text(text, TextFormat.MARKDOWN)]


def test_a_heading_stays_with_its_first_paragraph_and_is_context_for_the_rest() -> None:
    text = "# Setup\n\nFirst.\n\nSecond.\n\n## Install\nRun it.\n\nTwice.\n\n# Use\n\nDone."
    assert cut(text) == [
        ("# Setup\n\nFirst.", ""),
        ("Second.", "Setup"),
        ("## Install\nRun it.", "Setup"),
        ("Twice.", "Setup > Install"),
        ("# Use\n\nDone.", ""),
    ]


def test_headings_that_follow_each_other_stay_together() -> None:
    assert cut("# A\n\n## B\n\nWords.\n\nMore.") == [("# A\n\n## B\n\nWords.", ""), ("More.", "A > B")]


def test_underlined_headings_count_and_closing_signs_do_not() -> None:
    text = "Title\n=====\n\nOne.\n\nPart\n----\n\nTwo.\n\nThree.\n\n### Deep ###\n\nFour.\n\nFive."
    assert [context for _, context in cut(text)] == ["", "Title", "Title > Part", "Title > Part", "Title > Part > Deep"]


def test_a_heading_at_the_end_is_kept() -> None:
    assert cut("Words.\n\n# Empty\n\n## Too\n") == [("Words.", ""), ("# Empty\n\n## Too", "")]


def test_a_fenced_block_is_one_piece_whatever_it_holds() -> None:
    code = "```python\n# not a heading\n\nx = 1\n\n\n## nor this\n```"
    assert cut(f"# Real\n\nSee:\n\n{code}\n\nAfter.") == [("# Real\n\nSee:", ""), (code, "Real"), ("After.", "Real")]


def test_fences_close_only_with_their_own_sign_and_length() -> None:
    code = "````\n```\n\ninner\n\n```\n~~~\n\n````"
    assert cut(f"{code}\n\nAfter.") == [(code, ""), ("After.", "")]


def test_a_long_block_of_code_is_whole_as_long_as_a_segment_can_hold_it() -> None:
    code = "```\n" + "x = 1\n\n" * 1_000 + "```"
    assert PARAGRAPH_LIMIT < len(code) <= TURN_LIMIT
    assert cut(f"Before.\n\n{code}\n\nAfter.") == [("Before.", ""), (code, ""), ("After.", "")]
    huge = "```\n" + "x = 1\n" * 5_000 + "```"
    assert [line for text, _ in cut(huge) for line in text.split("\n")] == huge.split("\n")


def test_long_words_around_a_fence_are_cut_outside_of_it() -> None:
    prose = "A sentence about tea. " * 300
    code = "```\nA line. Another. " + "y = 2. " * 200 + "\n```"
    found = [text for text, _ in cut(f"{prose}\n{code}\n{prose}")]
    assert code in found
    assert all(len(text) <= PARAGRAPH_LIMIT for text in found)


def test_frontmatter_is_one_piece_and_no_heading() -> None:
    assert cut("---\ntitle: x\n\ntags: [a]\n---\n\nWords.\n\nMore.") == [
        ("---\ntitle: x\n\ntags: [a]\n---", ""),
        ("Words.", ""),
        ("More.", ""),
    ]


def test_a_table_and_a_rule_are_no_headings() -> None:
    assert [context for _, context in cut("| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n\nWords.")] == ["", "", ""]


def test_a_long_section_keeps_its_heading_as_context_of_its_later_parts() -> None:
    first, *later = cut("## Long\n" + "A sentence about tea. " * 400)
    assert first[0].startswith("## Long\n")
    assert first[1] == ""
    assert later
    assert {context for _, context in later} == {"Long"}
