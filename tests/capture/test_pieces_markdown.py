"""Markdown is split at headings, which are context for what follows; code blocks stay whole.

Covers `lamina.capture.pieces.piece`.
"""

from __future__ import annotations

from lamina.capture.pieces import PARAGRAPH_LIMIT, TURN_LIMIT, TextFormat, split_text


def split(text: str) -> list[tuple[str, str]]:
    return [(piece.text, piece.context) for piece in split_text(text, TextFormat.MARKDOWN)]


def test_a_heading_stays_with_its_first_paragraph_and_is_context_for_the_rest() -> None:
    text = "# Setup\n\nFirst.\n\nSecond.\n\n## Install\nRun it.\n\nTwice.\n\n# Use\n\nDone."
    assert split(text) == [
        ("# Setup\n\nFirst.", ""),
        ("Second.", "Setup"),
        ("## Install\nRun it.", "Setup"),
        ("Twice.", "Setup > Install"),
        ("# Use\n\nDone.", ""),
    ]


def test_consecutive_headings_stay_together() -> None:
    assert split("# A\n\n## B\n\nWords.\n\nMore.") == [("# A\n\n## B\n\nWords.", ""), ("More.", "A > B")]


def test_underlined_headings_count_and_closing_hashes_are_removed() -> None:
    text = "Title\n=====\n\nOne.\n\nPart\n----\n\nTwo.\n\nThree.\n\n### Deep ###\n\nFour.\n\nFive."
    assert [context for _, context in split(text)] == [
        "",
        "Title",
        "Title > Part",
        "Title > Part",
        "Title > Part > Deep",
    ]


def test_a_heading_at_the_end_is_kept() -> None:
    assert split("Words.\n\n# Empty\n\n## Too\n") == [("Words.", ""), ("# Empty\n\n## Too", "")]


def test_a_fenced_block_is_one_piece_whatever_it_contains() -> None:
    code = "```python\n# not a heading\n\nx = 1\n\n\n## nor this\n```"
    assert split(f"# Real\n\nSee:\n\n{code}\n\nAfter.") == [("# Real\n\nSee:", ""), (code, "Real"), ("After.", "Real")]


def test_a_fence_closes_only_with_its_own_character_and_length() -> None:
    code = "````\n```\n\ninner\n\n```\n~~~\n\n````"
    assert split(f"{code}\n\nAfter.") == [(code, ""), ("After.", "")]


def test_a_long_code_block_stays_whole_up_to_the_segment_limit() -> None:
    code = "```\n" + "x = 1\n\n" * 1_000 + "```"
    assert PARAGRAPH_LIMIT < len(code) <= TURN_LIMIT
    assert split(f"Before.\n\n{code}\n\nAfter.") == [("Before.", ""), (code, ""), ("After.", "")]
    huge = "```\n" + "x = 1\n" * 5_000 + "```"
    assert [line for text, _ in split(huge) for line in text.split("\n")] == huge.split("\n")


def test_long_text_around_a_fence_is_split_outside_of_it() -> None:
    prose = "A sentence about tea. " * 300
    code = "```\nA line. Another. " + "y = 2. " * 200 + "\n```"
    result = [text for text, _ in split(f"{prose}\n{code}\n{prose}")]
    assert code in result
    assert all(len(text) <= PARAGRAPH_LIMIT for text in result)


def test_frontmatter_is_one_piece_and_no_heading() -> None:
    assert split("---\ntitle: x\n\ntags: [a]\n---\n\nWords.\n\nMore.") == [
        ("---\ntitle: x\n\ntags: [a]\n---", ""),
        ("Words.", ""),
        ("More.", ""),
    ]


def test_a_table_and_a_rule_are_no_headings() -> None:
    assert [context for _, context in split("| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n\nWords.")] == ["", "", ""]


def test_later_parts_of_a_long_section_keep_its_heading_as_context() -> None:
    first, *later = split("## Long\n" + "A sentence about tea. " * 400)
    assert first[0].startswith("## Long\n")
    assert first[1] == ""
    assert later
    assert {context for _, context in later} == {"Long"}
