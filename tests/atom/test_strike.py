"""Sentences are struck out of words, and everything else stays where it can be found."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lamina.atom.atom import Evidence
from lamina.atom.passage import parse_segment, render_passage
from lamina.atom.strike import (
    ERASED,
    Sought,
    Told,
    from_json,
    is_telling,
    lines_without,
    merged,
    moved,
    overlapping,
    struck_segment,
    without,
)
from lamina.text.normal import normal_form
from lamina.text.sentences import sentences

PIN = Sought(["the pin is 4711", "yes"], [Told("4711", frozenset({"pin", "ann"}))])


def test_a_sentence_is_known_in_any_case_and_with_other_signs() -> None:
    assert PIN.holds("The PIN is 4711!")
    assert PIN.holds("So, the pin is: 4711, she said.")
    assert not PIN.holds("The pin is 4712.")
    assert not PIN.holds("")


def test_what_everybody_says_is_nobodys() -> None:
    assert not is_telling("yes")
    assert not PIN.holds("Yes.")
    assert is_telling("the pin is 4711") and is_telling("密码是一二三四五六七八九")


def test_an_echo_names_the_value_and_what_it_is_the_value_of() -> None:
    assert PIN.holds("Ann's number, 4711, is noted.", echo=True)
    assert not PIN.holds("Ann's number, 4711, is noted.")
    assert not PIN.holds("The train 4711 is late.", echo=True)
    assert not PIN.holds("Ann lives at 47110 Main Street.", echo=True)


def test_words_without_spaces_are_found_inside_others() -> None:
    sought = Sought([normal_form("我的银行密码是一二三四五六七")], [])
    assert sought.holds("顺便说一句我的银行密码是一二三四五六七")


def test_what_is_sought_can_be_written_down_and_read_again() -> None:
    again = from_json(PIN.to_json())
    assert (again.forms, again.told, again.words) == (PIN.forms, PIN.told, PIN.words)


def test_sentences_become_marks_and_the_rest_stays() -> None:
    assert PIN.struck("It rains. The pin is 4711. Bye.") == f"It rains. {ERASED} Bye."
    assert without("abcdef", [(4, 5), (1, 3), (2, 4)]) == f"a{ERASED}{ERASED}f"
    assert merged([(4, 5), (1, 3), (2, 4)]) == [(1, 4), (4, 5)]


def test_only_lines_that_link_to_what_is_gone_leave_a_list() -> None:
    text = "# Ann\n\n- [[fact-0abc]] one\n- [[fact-0abd]] two\n- [[ann-note]] three 0abc"
    assert lines_without(text, {"0abc"}) == "# Ann\n\n- [[fact-0abd]] two\n- [[ann-note]] three 0abc"


def test_a_struck_segment_keeps_headings_marks_and_escapes() -> None:
    turns = ["It rains. The pin is 4711.", "**Bob**\nThe pin is 4711. A mark ^p7", "- the pin is 4711"]
    content = "\n\n".join(render_passage(n, text, "Ann") for n, text in enumerate(turns, 1))
    clean, struck = struck_segment(content, lambda passage: PIN.spans(passage.text))
    assert [each.text for each in parse_segment(clean)] == [
        f"It rains. {ERASED}",
        f"**Bob**\n{ERASED} A mark ^p7",
        ERASED,
    ]
    assert [each.n for each in parse_segment(clean)] == [1, 2, 3]
    assert {each.speaker for each in parse_segment(clean)} == {"Ann"}
    assert set(struck) == {1, 2, 3}


WORDS = st.text(st.sampled_from("ab .!?\n*^p1-é密"), min_size=1, max_size=60)


@given(st.lists(WORDS.filter(lambda text: bool(text.strip())), min_size=1, max_size=4), st.data())
def test_other_passages_stay_to_the_byte_and_other_sentences_are_found_again(
    turns: list[str], data: st.DataObject
) -> None:
    content = "\n\n".join(render_passage(n, text, "Ann") for n, text in enumerate(turns, 1))
    before = {each.n: each for each in parse_segment(content)}
    chosen = {
        n: [span for span in sentences(each.text) if data.draw(st.booleans())]
        for n, each in before.items()
        if data.draw(st.booleans())
    }
    clean, struck = struck_segment(content, lambda passage: chosen.get(passage.n, []))
    after = {each.n: each for each in parse_segment(clean)}
    assert after.keys() == before.keys()
    for n, passage in before.items():
        assert after[n].text == without(passage.text, chosen.get(n, []))
        for start, end in sentences(passage.text):
            there = moved(Evidence("s", n, start, end), struck.get(n, []))
            expected = ERASED if (start, end) in chosen.get(n, []) else passage.text[start:end]
            assert after[n].text[there.start : there.end] == expected


def test_a_stretch_stands_for_the_whole_sentences_it_touches() -> None:
    text = "One. Two three. Four."
    assert [text[start:end] for start, end in overlapping(text, 7, 9)] == ["Two three."]
    assert [text[start:end] for start, end in overlapping(text, 0, 9)] == ["One.", "Two three."]
    assert overlapping(text, 30, 40) == []
