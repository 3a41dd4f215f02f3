from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from local_models import EMPTY, TEXTS

from lamina.models.embedder import Embedder, TextToEncode, TokenStates
from lamina.models.light_embedder import DIMENSIONS, MAX_DISTINCT, MAX_PIECES, WordLlama, find_light_files

pytestmark = pytest.mark.skipif(not find_light_files(), reason="the package wordllama is not installed")

PACKAGE_VECTORS = """
import sys, wordllama
from pathlib import Path
loaded = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
sys.stdout.write(loaded.embed(sys.argv[1:], norm=True).tobytes().hex())
"""


@pytest.fixture(scope="module")
def embedder() -> WordLlama:
    return WordLlama()


def ids(states: bytes) -> list[int]:
    return [int(item) for item in np.frombuffer(states, "<u2")]


def test_it_is_an_embedder_and_loads_no_slow_library() -> None:
    code = (
        "import sys; from lamina.models.light_embedder import *; WordLlama().encode_question('hello')\n"
        "sys.exit(bool({'wordllama', 'onnxruntime', 'safetensors', 'requests'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    embedder: Embedder = WordLlama()
    assert embedder.model.states is TokenStates.PIECES


def test_vectors_equal_those_of_the_package(embedder: WordLlama) -> None:
    texts = [text for text in TEXTS if "\ud800" not in text and "\x00" not in text]
    result = subprocess.run([sys.executable, "-c", PACKAGE_VECTORS, *texts], capture_output=True, text=True, check=True)
    theirs = np.frombuffer(bytes.fromhex(result.stdout), np.float32).reshape(len(texts), DIMENSIONS)
    ours = np.vstack(
        [passage.vectors for passage in embedder.encode_passages([TextToEncode(text, 8) for text in texts])]
    )
    assert ((ours * theirs).sum(axis=1) > 0.999).all()


def test_a_question_is_encoded_like_a_passage_of_the_same_words(embedder: WordLlama) -> None:
    for text in TEXTS:
        assert (
            embedder.encode_question(text).vector.tobytes()
            == embedder.encode_passages([TextToEncode(text, 1)])[0].vectors.tobytes()
        )


def test_the_same_text_gives_the_same_bytes_in_any_batch(embedder: WordLlama) -> None:
    pieces = [TextToEncode(text, 8) for text in TEXTS]
    backwards = embedder.encode_passages(pieces[::-1])[::-1]
    for one, two in zip(embedder.encode_passages(pieces), backwards, strict=True):
        assert (one.vectors.tobytes(), one.states) == (two.vectors.tobytes(), two.states)


def test_states_are_distinct_ids_in_order_of_first_occurrence(embedder: WordLlama) -> None:
    one = embedder.encode_passages([TextToEncode("red lamp, red lamp! blue", 8)])[0]
    two = embedder.encode_passages([TextToEncode("red lamp blue", 8)])[0]
    assert one.states == two.states
    assert len(ids(one.states)) == len(set(ids(one.states))) == 3


def test_a_state_maps_to_the_vector_of_a_question_token(embedder: WordLlama) -> None:
    table, text = embedder.table, "Ann's lamp is blue"
    assert table.levels.shape == (32_000, DIMENSIONS)
    counts = ids(embedder.encode_passages([TextToEncode(text, 8)])[0].states)
    rows = table.levels[counts].astype(np.float32) * table.scale[counts][:, None]
    question = embedder.encode_question(text)
    assert len(question.tokens) == len(counts)
    assert np.allclose(rows, question.tokens, atol=2e-3)
    assert embedder.table is table
    assert question.rows is not None
    some = question.rows(np.array(counts))
    assert (some.levels == table.levels[counts]).all()
    assert (some.scale == table.scale[counts]).all()


def test_punctuation_is_left_out_and_spans_map_to_the_text(embedder: WordLlama) -> None:
    text = "Wo, bitte — ist das Café «Zürich»?! naïve\n你好"
    result = [text[start:end] for start, end in embedder.encode_question(text).spans]
    assert "".join(result) == "WobitteistdasCaféZürichnaïve你好"


def test_the_space_before_the_first_word_is_no_state(embedder: WordLlama) -> None:
    assert (
        len(embedder.encode_question("你好").spans)
        == len(ids(embedder.encode_passages([TextToEncode("你好", 8)])[0].states))
        == 2
    )


def test_a_literal_special_token_is_no_state(embedder: WordLlama) -> None:
    assert not {0, 1, 2} & set(ids(embedder.encode_passages([TextToEncode("a <s> b </s> c <unk>", 8)])[0].states))


def test_a_very_long_text_is_truncated(embedder: WordLlama) -> None:
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
    got, question = embedder.encode_passages([TextToEncode(text, 8)])[0], embedder.encode_question(text)
    assert np.isfinite(got.vectors).all()
    assert got.vectors.shape == (1, DIMENSIONS)
    assert got.states == b""
    assert question.tokens.shape == (0, DIMENSIONS)


def test_an_empty_text_has_a_vector_similar_to_nothing(embedder: WordLlama) -> None:
    assert not embedder.encode_question("").vector.any()
