from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from models_here import EMPTY, TEXTS

from lamina.models.embedder import Embedder, TextToEncode, TokenStates
from lamina.models.light_embedder import DIMENSIONS, MAX_DISTINCT, MAX_PIECES, WordLlama, find_light_files

pytestmark = pytest.mark.skipif(not find_light_files(), reason="the package wordllama is not installed")

THEIRS = """
import sys, wordllama
from pathlib import Path
loaded = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
sys.stdout.write(loaded.embed(sys.argv[1:], norm=True).tobytes().hex())
"""


@pytest.fixture(scope="module")
def embedder() -> WordLlama:
    return WordLlama()


def ids(states: bytes) -> list[int]:
    return [int(each) for each in np.frombuffer(states, "<u2")]


def test_it_is_an_embedder_and_loads_nothing_that_takes_long() -> None:
    code = (
        "import sys; from lamina.models.light_embedder import *; WordLlama().encode_question('hello')\n"
        "sys.exit(bool({'wordllama', 'onnxruntime', 'safetensors', 'requests'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    embedder: Embedder = WordLlama()
    assert embedder.model.states is TokenStates.PIECES


def test_vectors_are_those_of_the_package_itself(embedder: WordLlama) -> None:
    texts = [text for text in TEXTS if "\ud800" not in text and "\x00" not in text]
    ran = subprocess.run([sys.executable, "-c", THEIRS, *texts], capture_output=True, text=True, check=True)
    theirs = np.frombuffer(bytes.fromhex(ran.stdout), np.float32).reshape(len(texts), DIMENSIONS)
    ours = np.vstack(
        [passage.vectors for passage in embedder.encode_passages([TextToEncode(text, 8) for text in texts])]
    )
    assert ((ours * theirs).sum(axis=1) > 0.999).all()


def test_a_question_is_the_passage_of_the_same_words(embedder: WordLlama) -> None:
    for text in TEXTS:
        assert (
            embedder.encode_question(text).vector.tobytes()
            == embedder.encode_passages([TextToEncode(text, 1)])[0].vectors.tobytes()
        )


def test_the_same_text_gives_the_same_bytes_whatever_is_beside_it(embedder: WordLlama) -> None:
    pieces = [TextToEncode(text, 8) for text in TEXTS]
    backwards = embedder.encode_passages(pieces[::-1])[::-1]
    for one, two in zip(embedder.encode_passages(pieces), backwards, strict=True):
        assert (one.vectors.tobytes(), one.states) == (two.vectors.tobytes(), two.states)


def test_states_are_distinct_ids_in_the_order_they_are_first_seen(embedder: WordLlama) -> None:
    one = embedder.encode_passages([TextToEncode("red lamp, red lamp! blue", 8)])[0]
    two = embedder.encode_passages([TextToEncode("red lamp blue", 8)])[0]
    assert one.states == two.states
    assert len(ids(one.states)) == len(set(ids(one.states))) == 3


def test_a_state_leads_to_the_vector_of_a_questions_token(embedder: WordLlama) -> None:
    table, text = embedder.table(), "Ann's lamp is blue"
    assert table.levels.shape == (32_000, DIMENSIONS)
    found = ids(embedder.encode_passages([TextToEncode(text, 8)])[0].states)
    rows = table.levels[found].astype(np.float32) * table.scale[found][:, None]
    asked = embedder.encode_question(text)
    assert len(asked.tokens) == len(found)
    assert np.allclose(rows, asked.tokens, atol=2e-3)
    assert embedder.table() is table
    assert asked.rows is not None
    some = asked.rows(np.array(found))
    assert (some.levels == table.levels[found]).all()
    assert (some.scale == table.scale[found]).all()


def test_punctuation_is_left_out_and_spans_lead_back_to_the_text(embedder: WordLlama) -> None:
    text = "Wo, bitte — ist das Café «Zürich»?! naïve\n你好"
    told = [text[start:end] for start, end in embedder.encode_question(text).spans]
    assert "".join(told) == "WobitteistdasCaféZürichnaïve你好"


def test_the_space_before_the_first_word_is_no_state(embedder: WordLlama) -> None:
    assert (
        len(embedder.encode_question("你好").spans)
        == len(ids(embedder.encode_passages([TextToEncode("你好", 8)])[0].states))
        == 2
    )


def test_a_literal_special_token_is_no_state(embedder: WordLlama) -> None:
    assert not {0, 1, 2} & set(ids(embedder.encode_passages([TextToEncode("a <s> b </s> c <unk>", 8)])[0].states))


def test_what_is_very_long_is_cut(embedder: WordLlama) -> None:
    text = " ".join(f"word{n}" for n in range(100_000))
    got = embedder.encode_passages([TextToEncode(text, 8)])[0]
    assert got.vectors.shape == (1, DIMENSIONS)
    assert len(ids(got.states)) <= MAX_DISTINCT
    assert len(embedder.encode_question(text).spans) <= MAX_PIECES
    vocabulary = json.loads(find_light_files()[0].read_text(encoding="utf-8"))["model"]["vocab"]
    many = " ".join([token[1:] for token in vocabulary if token[1:].isalpha() and token[0] == "▁"][:1000])
    assert len(ids(embedder.encode_passages([TextToEncode(many, 8)])[0].states)) == MAX_DISTINCT


@pytest.mark.parametrize("text", EMPTY)
def test_a_text_without_words_has_a_vector_and_no_states(embedder: WordLlama, text: str) -> None:
    got, asked = embedder.encode_passages([TextToEncode(text, 8)])[0], embedder.encode_question(text)
    assert np.isfinite(got.vectors).all()
    assert got.vectors.shape == (1, DIMENSIONS)
    assert got.states == b""
    assert asked.tokens.shape == (0, DIMENSIONS)


def test_nothing_at_all_has_the_vector_that_is_like_no_other(embedder: WordLlama) -> None:
    assert not embedder.encode_question("").vector.any()
