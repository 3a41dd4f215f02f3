"""The real model on the real runtime."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from local_models import EMPTY, STORE, TEXTS, needs_minilm

from lamina.models.embedder import Embedder, EncodedText, TextToEncode, TokenStates
from lamina.models.errors import ModelMissing
from lamina.models.minilm import DIMENSIONS, MODEL, MiniLM
from lamina.models.model_files import MINILM_TOKENIZER, ModelStore
from lamina.models.tokeniser import Tokeniser
from lamina.vectors.stored_vectors import nibbles_to_signs

WIDTH = DIMENSIONS // 8
LONG = " ".join(f"In {1900 + n} Ann went to town number {n} and bought a rather lovely lamp there." for n in range(40))


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return MiniLM(STORE)


def encoded(embedder: Embedder, text: str, chunks: int = 8) -> EncodedText:
    return embedder.encode_passages([TextToEncode(text, chunks)])[0]


def test_nothing_is_loaded_before_use(tmp_path: Path) -> None:
    embedder = MiniLM(ModelStore(tmp_path))
    assert embedder.model == MODEL
    assert MODEL.id == "all-MiniLM-L6-v2-int8@afdb6f1a"
    assert MODEL.states is TokenStates.SIGNS
    with pytest.raises(ModelMissing, match="lamina models"):
        embedder.encode_question("x")


@needs_minilm
def test_vectors_have_length_one_and_are_close_for_close_meanings(embedder: Embedder) -> None:
    near, far = embedder.encode_passages(
        [TextToEncode("She lives in Portugal's capital.", 8), TextToEncode("Bake at 180 degrees.", 8)]
    )
    question = embedder.encode_question("Who has a flat in Lisbon?")
    assert near.vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(np.vstack([near.vectors, far.vectors, question.vector]), axis=1), 1, atol=1e-5)
    assert float(near.vectors[0] @ question.vector) > float(far.vectors[0] @ question.vector) + 0.2


@needs_minilm
def test_the_same_text_gives_the_same_bytes_in_any_batch_and_order(embedder: Embedder) -> None:
    pieces = [TextToEncode(text, 8) for text in (*TEXTS, LONG)]
    together = embedder.encode_passages(pieces)
    backwards = embedder.encode_passages(pieces[::-1])[::-1]
    alone = [embedder.encode_passages([piece])[0] for piece in pieces]
    for one, two, three in zip(together, backwards, alone, strict=True):
        assert one.vectors.tobytes() == two.vectors.tobytes() == three.vectors.tobytes()
        assert one.states == two.states == three.states


@needs_minilm
@pytest.mark.parametrize("bits", [1, 4])
def test_another_process_gives_the_same_bytes(bits: int) -> None:
    code = (
        "import sys; from pathlib import Path; from lamina.models.minilm import *\n"
        "model = MiniLM(ModelStore(Path(sys.argv[1])), int(sys.argv[3]))\n"
        "got = model.encode_passages([TextToEncode(sys.argv[2], 8)])[0]\n"
        "print((got.vectors.tobytes() + got.states).hex())"
    )
    command = [sys.executable, "-c", code, str(STORE.folder), LONG, str(bits)]
    there = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    here = encoded(MiniLM(STORE, bits), LONG)
    assert there == (here.vectors.tobytes() + here.states).hex()


@needs_minilm
def test_threads_share_the_model(embedder: Embedder) -> None:
    fresh, got = MiniLM(STORE), dict[int, bytes]()
    work = [
        threading.Thread(target=lambda n=n: got.update({n: fresh.encode_question(TEXTS[n]).vector.tobytes()}))
        for n in range(len(TEXTS))
    ]
    for job in work:
        job.start()
    for job in work:
        job.join()
    assert got == {n: embedder.encode_question(text).vector.tobytes() for n, text in enumerate(TEXTS)}


@needs_minilm
@pytest.mark.parametrize("text", TEXTS)
def test_every_word_token_has_a_state(embedder: Embedder, text: str) -> None:
    words = int(Tokeniser(STORE.require(MINILM_TOKENIZER)).encode(text).is_word.sum())
    assert len(encoded(embedder, text).states) == words * WIDTH
    question = embedder.encode_question(text)
    assert question.tokens.shape == (words, DIMENSIONS)
    assert len(question.spans) == words


@needs_minilm
def test_the_states_of_a_short_text_are_the_signs_of_the_same_question(embedder: Embedder) -> None:
    text = "Köln, where Ann lives, is lovely!"
    signs = np.frombuffer(encoded(embedder, text).states, np.uint8).reshape(-1, WIDTH)
    question = embedder.encode_question(text)
    assert (np.unpackbits(signs, axis=1) == (question.tokens > 0)).all()
    assert np.allclose(np.linalg.norm(question.tokens, axis=1), 1, atol=1e-5)


@needs_minilm
@pytest.mark.parametrize("text", [*TEXTS, LONG, *EMPTY])
def test_with_four_bits_vectors_are_unchanged_and_states_contain_the_signs(embedder: Embedder, text: str) -> None:
    fine = MiniLM(STORE, token_bits=4)
    assert (fine.model.id, fine.model.states) == (embedder.model.id, TokenStates.NIBBLES)
    coarse, got = encoded(embedder, text), encoded(fine, text)
    assert got.vectors.tobytes() == coarse.vectors.tobytes()
    assert len(got.states) == 4 * len(coarse.states)
    assert nibbles_to_signs(got.states, DIMENSIONS) == coarse.states


@needs_minilm
def test_punctuation_has_no_state_and_spans_map_to_the_text(embedder: Embedder) -> None:
    text = "Wo, bitte — ist das Café «Zürich»?! 😀 naïve"
    result = [text[start:end] for start, end in embedder.encode_question(text).spans]
    assert "".join(result) == "WobitteistdasCaféZürich😀naïve"


@needs_minilm
def test_a_long_text_has_one_vector_per_chunk_up_to_the_limit(embedder: Embedder) -> None:
    everything, two = encoded(embedder, LONG, 1000), encoded(embedder, LONG, 2)
    assert len(everything.vectors) > 8
    assert two.vectors.tobytes() == everything.vectors[:2].tobytes()
    assert everything.states.startswith(two.states)
    assert len(two.states) <= 2 * 64 * WIDTH
    assert len(encoded(embedder, LONG, 0).vectors) == 1


@needs_minilm
@pytest.mark.parametrize("text", EMPTY)
def test_a_text_without_words_has_one_vector_and_no_states(embedder: Embedder, text: str) -> None:
    got, question = encoded(embedder, text), embedder.encode_question(text)
    assert got.vectors.shape == (1, DIMENSIONS)
    assert np.isclose(np.linalg.norm(got.vectors[0]), 1, atol=1e-5)
    assert got.states == b""
    assert question.tokens.shape == (0, DIMENSIONS)
    assert question.spans == ()


@needs_minilm
def test_a_question_of_any_length_is_encoded(embedder: Embedder) -> None:
    question = embedder.encode_question("why " * 100_000)
    assert len(question.spans) == 254
