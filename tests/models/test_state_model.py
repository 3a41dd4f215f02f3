"""The state model gives the same result for the same text and its packed states come back.

Covers `lamina.models.onnx_models`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from lamina.models.light_embedder import WordLlama
from lamina.models.minilm import MiniLM, open_network
from lamina.models.model_files import ModelStore, models_folder
from lamina.models.sentence_state_encoder import pack_states, unpack_states
from lamina.models.state_model import LightTrunk, MiniLmTrunk, QuestionTarget, StateModel

FOLDER = models_folder(os.environ, Path.home(), sys.platform)


@pytest.fixture(scope="module", params=["transformer", "light"])
def model(request: pytest.FixtureRequest) -> StateModel:
    if request.param == "light":
        return StateModel(LightTrunk(WordLlama()))
    return StateModel(MiniLmTrunk(FOLDER))


def test_a_text_gives_the_same_states_whatever_was_read_before(model: StateModel) -> None:
    text = "I live in Leeds. The cat is asleep, what a day!"
    first = model.read(text)
    model.read("Something else entirely, with other words and another length.")
    again = model.read(text)
    assert [atom.asserts for atom in first] == [atom.asserts for atom in again]
    assert all((one.slot == two.slot).all() for one, two in zip(first, again, strict=True))


def test_packed_states_round_trip(model: StateModel) -> None:
    states = model.read("My phone is a Pixel 8a, and the car is an old Mazda. Is it raining?")
    assert states
    for one, two in zip(states, unpack_states(pack_states(states), model.dimensions), strict=True):
        assert (one.start, one.end, one.value, one.mood) == (two.start, two.end, two.value, two.mood)
        assert abs(one.asserts - two.asserts) < 0.003
        assert float(one.slot @ two.slot) > 0.999


def test_every_sentence_has_one_state_within_its_bounds(model: StateModel) -> None:
    text = "We use Postgres 17 in staging, production is on 16. Nothing else changed.\nok thanks"
    states = model.read(text)
    assert [text[state.start : state.end] for state in states] == [
        "We use Postgres 17 in staging, production is on 16.",
        "Nothing else changed.",
        "ok thanks",
    ]
    assert all(state.value is None or state.start <= state.value[0] < state.value[1] <= state.end for state in states)


@pytest.mark.parametrize("text", ["", " ", "?!", "\ud800", "a" * 50_000, "💥" * 300, "x, " * 9_000])
def test_odd_texts_are_read_without_error(model: StateModel, text: str) -> None:
    model.read(text)
    response = model.ask(text[:4_000])
    assert abs(sum(response.asks.values()) - 1) < 1e-4


def test_a_statement_asserts_and_a_question_does_not(model: StateModel) -> None:
    [statement] = model.read("I work at Globex as a nurse.")
    [question] = model.read("Can you recommend a good pasta recipe for tonight?")
    assert statement.asserts > 0.5 > question.asserts


def test_a_question_for_a_value_is_distinguished_from_one_about_an_event(model: StateModel) -> None:
    assert model.ask("What phone do I have now?").asks_current > 0.5
    assert model.ask("Why did the trip to Norway get cancelled?").asks[QuestionTarget.NO_STATE] > 0.5


def test_sentences_and_questions_of_a_slot_are_nearer_than_those_of_another(model: StateModel) -> None:
    question = model.ask("where do I live?").slot
    [home] = model.read("I moved to Lisbon.")
    [tea] = model.read("I drink green tea in the morning.")
    assert float(question @ home.slot) > float(question @ tea.slot)


def test_the_state_model_reuses_the_middle_layer_of_the_embedder() -> None:
    network = open_network(FOLDER)
    tokens = MiniLmTrunk(FOLDER).tokens("I live in Leeds")
    middle, last = network.states(tokens.ids)
    assert middle.shape == last.shape == (len(tokens.ids) + 2, 384)
    assert MiniLmTrunk(FOLDER).states(tokens.ids) is middle
    mean = last.mean(0) / np.linalg.norm(last.mean(0))
    assert np.allclose(mean, MiniLM(ModelStore(FOLDER)).encode_question("I live in Leeds").vector, atol=1e-6)
    assert not np.allclose(middle, last, atol=0.5)


def test_states_of_long_texts_are_not_cached_so_memory_stays_bounded() -> None:
    network = open_network(FOLDER)
    short, long = (MiniLmTrunk(FOLDER).tokens("word " * count).ids for count in (60, 200))
    assert network.states(short) is network.states(short)
    assert network.states(long) is not network.states(long)
