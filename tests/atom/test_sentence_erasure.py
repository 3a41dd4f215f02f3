"""Sentences are struck out of words, and everything else stays where it can be found."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lamina.atom.atom import Evidence
from lamina.atom.passage import parse_segment, render_passage
from lamina.atom.sentence_erasure import (
    ERASED_MARK,
    RemovalTarget,
    TargetValue,
    anchor_words,
    erase_in_segment,
    erase_spans,
    is_distinctive,
    merge_spans,
    overlapping_sentences,
    remove_linked_lines,
    shift_evidence,
)
from lamina.text.normal_form import normal_form
from lamina.text.sentences import find_sentences

PIN = RemovalTarget.of(["the pin is 4711", "yes"], [TargetValue("4711", frozenset({"pin", "ann"}))])


def test_a_sentence_is_recognised_in_any_case_and_punctuation() -> None:
    assert PIN.matches("The PIN is 4711!")
    assert PIN.matches("So, the pin is: 4711, she said.")
    assert not PIN.matches("The pin is 4712.")
    assert not PIN.matches("")


def test_a_sentence_everyone_uses_identifies_no_one() -> None:
    assert not is_distinctive("yes")
    assert not PIN.matches("Yes.")
    assert is_distinctive("the pin is 4711") and is_distinctive("密码是一二三四五六七八九")


def test_a_repetition_names_the_value_and_its_subject() -> None:
    assert PIN.matches("Ann's number, 4711, is noted.", match_values=True)
    assert not PIN.matches("Ann's number, 4711, is noted.")
    assert not PIN.matches("The train 4711 is late.", match_values=True)
    assert not PIN.matches("Ann lives at 47110 Main Street.", match_values=True)


def test_words_of_scripts_without_spaces_are_found_inside_others() -> None:
    sought = RemovalTarget.of([normal_form("我的银行密码是一二三四五六七")], [])
    assert sought.matches("顺便说一句我的银行密码是一二三四五六七")


def test_a_target_is_stored_without_its_text_and_still_recognises_it() -> None:
    stored = PIN.to_json()
    assert "4711" not in stored and "pin" not in stored
    again = RemovalTarget.from_json(stored)
    assert again.to_json() == stored
    assert again.matches("The PIN is 4711!") and again.matches("Ann's number, 4711, is noted.", match_values=True)
    assert again.is_in("a file\nthat says: the pin is 4711\nand more") and not again.is_in("the pin is 4712")


def test_the_longest_word_of_each_target_finds_texts_that_may_contain_it() -> None:
    assert anchor_words(["my bicycle is red", "yes"], [TargetValue("4711", frozenset({"pin"}))]) == {"bicycle", "4711"}


def test_removed_sentences_become_marks_and_other_text_stays() -> None:
    assert PIN.remove_from("It rains. The pin is 4711. Bye.") == f"It rains. {ERASED_MARK} Bye."
    assert erase_spans("abcdef", [(4, 5), (1, 3), (2, 4)]) == f"a{ERASED_MARK}{ERASED_MARK}f"
    assert merge_spans([(4, 5), (1, 3), (2, 4)]) == [(1, 4), (4, 5)]


def test_only_list_lines_that_link_to_removed_atoms_are_removed() -> None:
    text = "# Ann\n\n- [[fact-0abc]] one\n- [[fact-0abd]] two\n- [[ann-note]] three 0abc"
    assert remove_linked_lines(text, {"0abc"}) == "# Ann\n\n- [[fact-0abd]] two\n- [[ann-note]] three 0abc"


def test_a_segment_with_removed_sentences_keeps_headings_marks_and_escapes() -> None:
    turns = ["It rains. The pin is 4711.", "**Bob**\nThe pin is 4711. A mark ^p7", "- the pin is 4711"]
    content = "\n\n".join(render_passage(n, text, "Ann") for n, text in enumerate(turns, 1))
    clean, struck = erase_in_segment(content, lambda passage: PIN.find_spans(passage.text))
    assert [passage.text for passage in parse_segment(clean)] == [
        f"It rains. {ERASED_MARK}",
        f"**Bob**\n{ERASED_MARK} A mark ^p7",
        ERASED_MARK,
    ]
    assert [passage.n for passage in parse_segment(clean)] == [1, 2, 3]
    assert {passage.speaker for passage in parse_segment(clean)} == {"Ann"}
    assert set(struck) == {1, 2, 3}


WORDS = st.text(st.sampled_from("ab .!?\n*^p1-é密"), min_size=1, max_size=60)


@given(st.lists(WORDS.filter(lambda text: bool(text.strip())), min_size=1, max_size=4), st.data())
def test_other_passages_stay_byte_identical_and_other_sentences_are_found_again(
    turns: list[str], data: st.DataObject
) -> None:
    content = "\n\n".join(render_passage(n, text, "Ann") for n, text in enumerate(turns, 1))
    before = {passage.n: passage for passage in parse_segment(content)}
    chosen = {
        n: [span for span in find_sentences(item.text) if data.draw(st.booleans())]
        for n, item in before.items()
        if data.draw(st.booleans())
    }
    clean, struck = erase_in_segment(content, lambda passage: chosen.get(passage.n, []))
    after = {passage.n: passage for passage in parse_segment(clean)}
    assert after.keys() == before.keys()
    for n, passage in before.items():
        assert after[n].text == erase_spans(passage.text, chosen.get(n, []))
        for start, end in find_sentences(passage.text):
            there = shift_evidence(Evidence("s", n, start, end), struck.get(n, []))
            expected = ERASED_MARK if (start, end) in chosen.get(n, []) else passage.text[start:end]
            assert after[n].text[there.start : there.end] == expected


def test_a_span_expands_to_the_whole_sentences_it_touches() -> None:
    text = "One. Two three. Four."
    assert [text[start:end] for start, end in overlapping_sentences(text, 7, 9)] == ["Two three."]
    assert [text[start:end] for start, end in overlapping_sentences(text, 0, 9)] == ["One.", "Two three."]
    assert overlapping_sentences(text, 30, 40) == []
