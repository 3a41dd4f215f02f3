"""The answer model gives the same result from stored token states as from the text."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from lamina.models.answer_model import LONGEST, AnswerModel, word_pieces
from lamina.models.embedder import Piece
from lamina.models.files import ModelStore, models_folder
from lamina.models.minilm import MiniLM
from lamina.models.minilm_network import open_network
from lamina.models.pair_text import PairText

FOLDER = models_folder(os.environ, Path.home(), sys.platform)
TEXT = "Room 4 is mine since Monday, with a view. The printer moved to room 2!"


@pytest.fixture(scope="module")
def model() -> AnswerModel:
    return AnswerModel(open_network(FOLDER))


def test_stored_states_are_those_of_the_text() -> None:
    network = open_network(FOLDER)
    [encoded] = MiniLM(ModelStore(FOLDER)).passages([Piece(TEXT, 32)])
    assert word_pieces(PairText(TEXT), network).signs == encoded.states
    stored, computed = (AnswerModel(network).answers("Which room is mine?", [each]) for each in
                        (PairText(TEXT, signs=encoded.states), TEXT))  # fmt: skip
    assert stored == computed


def test_a_part_of_a_text_holds_only_its_own_words() -> None:
    network = open_network(FOLDER)
    pieces = word_pieces(PairText(TEXT), network)
    start = TEXT.index("The printer")
    part = pieces.part(PairText(TEXT, start, len(TEXT)))
    assert len(part.ids) == len(network.tokeniser.encode("The printer moved to room 2").ids)
    assert len(pieces.part(PairText(TEXT)).ids) == len(pieces.ids)


def test_a_passage_that_answers_is_told_from_one_that_does_not(model: AnswerModel) -> None:
    right, wrong = model.answers("What car do I drive?", ["I drive a blue Skoda.", "My sister loves blue cheese."])
    assert right > 0.5 > wrong


@pytest.mark.parametrize("text", ["", "?!", "word " * 500, "💥" * 300])
def test_odd_texts_are_read_without_error(model: AnswerModel, text: str) -> None:
    [chance] = model.answers("Where do I live?", [text])
    assert 0 <= chance <= 1
    assert model.answers(text, ["I live in Leeds."])


def test_a_long_passage_is_read_around_its_nearest_words() -> None:
    network = open_network(FOLDER)
    text = PairText("lorem ipsum dolor " * 60 + "my locker code is kept by Ines")
    rows = word_pieces(text, network).part(text)
    near = rows.around(rows.states[-1])
    assert len(near.ids) == LONGEST
    assert near.ids[-1] == rows.ids[-1]
