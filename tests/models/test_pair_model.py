"""The pair model tells a replaced value from one that stands."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from lamina.models.files import models_folder
from lamina.models.minilm_network import open_network
from lamina.models.pair_model import PairModel
from lamina.models.pair_text import PairText

FOLDER = models_folder(os.environ, Path.home(), sys.platform)


@pytest.fixture(scope="module")
def model() -> PairModel:
    return PairModel(open_network(FOLDER))


def test_a_later_value_replaces_an_earlier_one(model: PairModel) -> None:
    replaced = model.read("The standup is at 9:15.", "The standup is at 10 now.")
    unrelated = model.read("The standup is at 9:15.", "The canteen closes at 2.")
    assert replaced.outdates > 0.5 > unrelated.outdates


def test_a_part_of_a_text_is_read_like_the_words_it_holds(model: PairModel) -> None:
    text = "What a day. The standup is at 10 now. Bye!"
    part = PairText(text, text.index("The"), text.index(" Bye"))
    assert model.read("The standup is at 9:15.", part) == model.read("The standup is at 9:15.", part.words)


@pytest.mark.parametrize("text", ["", "?!", "word " * 500, "💥" * 300])
def test_odd_texts_are_read_without_error(model: PairModel, text: str) -> None:
    assert 0 <= model.read("I live in Leeds.", text).outdates <= 1
    assert 0 <= model.read(text, "I live in Leeds.").forgets <= 1
