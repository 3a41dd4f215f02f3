"""The list reader with its shipped weights: what answers, what is outdated, what is meant."""

from __future__ import annotations

import numpy as np
import pytest
from local_models import STORE, needs_minilm

from lamina.models.list_reader import MAX_CANDIDATES, ListReader, build_inputs, encode_pieces
from lamina.models.state_model import MiniLmTrunk

pytestmark = needs_minilm


@pytest.fixture(scope="module")
def reader() -> ListReader:
    return ListReader(MiniLmTrunk(STORE.folder))


def test_the_newest_value_answers_and_the_earlier_one_is_outdated(reader: ListReader) -> None:
    texts = ["I live in Berlin.", "My dog is called Rex.", "I moved to Lisbon."]
    old, dog, new = reader.answers("Where do I live?", texts)
    assert new.answers > 0.5 > max(old.answers, dog.answers)
    assert old.outdated > max(dog.outdated, new.outdated)


def test_the_order_of_the_candidates_decides_which_value_is_outdated(reader: ListReader) -> None:
    earlier, later = "I use VS Code for everything.", "I use Neovim for everything."
    forth = reader.answers("Which editor do I use?", [earlier, later])
    back = reader.answers("Which editor do I use?", [later, earlier])
    assert forth[1].answers > forth[0].answers
    assert back[1].answers > back[0].answers


def test_a_forget_request_selects_what_it_names(reader: ListReader) -> None:
    statements = ["My salary is 52000 a year.", "I walk the dog at seven."]
    salary, dog = reader.forgets("please forget what I said about my pay", statements)
    assert salary > 0.5 > dog


def test_many_candidates_are_read_in_several_runs(reader: ListReader) -> None:
    texts = [f"Note number {n} about nothing." for n in range(MAX_CANDIDATES)] + [
        "The door code hotline is closed on Sundays."
    ]
    several = reader.forgets("forget the thing about the hotline", texts)
    assert len(several) == len(texts)
    assert several[-1:] == reader.forgets("forget the thing about the hotline", texts[-1:])


def test_no_candidates_give_no_result(reader: ListReader) -> None:
    assert reader.answers("Where do I live?", []) == []


def test_equal_words_and_ages_are_among_the_inputs() -> None:
    trunk = MiniLmTrunk(STORE.folder)
    first, one, other = (encode_pieces(text, trunk) for text in ("my rent", "the rent is 5", "tea"))
    inputs = build_inputs("question", first, [one, other])
    assert inputs["ages"].tolist() == [1, 0]
    assert inputs["kinds"].tolist()[: len(first.ids)] == [0] * len(first.ids)
    assert np.array_equal(inputs["inside"].sum(axis=1), [len(one.ids), len(other.ids)])
    overlap = inputs["matches"][:, 2]
    assert overlap[0] > overlap[1]


@pytest.mark.parametrize("first", ["", "?!…", "word " * 3000, "同じ", "a half \ud800 pair"])
def test_any_text_is_accepted(reader: ListReader, first: str) -> None:
    texts = ["", " \n", "\x00", "👩‍👩‍👧", "word " * 3000, "a half \ud800 pair"]
    assert np.isfinite(np.array(reader.answers(first, texts))).all()
    assert np.isfinite(reader.forgets(first, texts)).all()
