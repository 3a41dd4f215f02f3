"""WordLlama: a fixed vector for each word piece. It needs no network, no download and about a tenth of a
millisecond."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lamina.models.embedder import EmbeddingModel, EncodedQuestion, EncodedText, TextToEncode, TokenStates
from lamina.models.errors import ModelError, ModelMissing
from lamina.models.tokeniser import Tokeniser, WordPieces
from lamina.vectors.integer_vectors import Floats, LevelRows, concatenate_rows, normalise_rows, to_level_rows

DIMENSIONS = 256
MODEL = EmbeddingModel("wordllama-l2-supercat-256", DIMENSIONS, TokenStates.PIECES)
MAX_PIECES = 2_000
"""The most word pieces that count."""
MAX_DISTINCT = 400
_MAX_CHARACTERS = 8 * MAX_PIECES
_SPECIAL_IDS = 3
"""<unk>, <s> and </s> are the first ids."""
_SPACE = "▁"
"""Put before every text; if it becomes a token of its own, it has the position of the first character."""
_ROWS_AT_ONCE = 1_000
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"


def find_wordllama_folder() -> Path | None:
    """Return the folder of the package. It is not imported: that takes half a second, and its own loader needs a
    network."""
    spec = find_spec("wordllama")
    return Path(spec.origin).parent if spec and spec.origin else None


def find_light_files() -> tuple[Path, ...]:
    """Return the model's files inside the package; none if it is not installed."""
    folder = find_wordllama_folder()
    files = (folder / _TOKENIZER, folder / _WEIGHTS) if folder else ()
    return files if all(file.is_file() for file in files) else ()


@cache
def load_light_tokeniser() -> Tokeniser | None:
    """Return the tokenizer of the package, without its vectors; None if it is not installed."""
    files = find_light_files()
    return Tokeniser(files[0]) if files else None


class WordLlama:
    """An embedder made of a table; it is loaded at first use, and threads may share it."""

    model = MODEL

    def encode_passages(self, texts: Sequence[TextToEncode]) -> list[EncodedText]:
        return [self._encode_passage(piece.text) for piece in texts]

    def encode_question(self, text: str) -> EncodedQuestion:
        words = self._words
        tokens = words.encode(text)
        spans = tuple(span for span, word in zip(tokens.spans, tokens.is_word, strict=True) if word)
        return EncodedQuestion(
            words.mean(tokens), normalise_rows(words.vectors(tokens.ids[tokens.is_word])), spans, words.rows
        )

    @cached_property
    def table(self) -> LevelRows:
        """The unit vector of every word piece, one row for each id, for late interaction."""
        return self._words.table()

    def tokens(self, text: str) -> WordPieces:
        """Return the word pieces of a text."""
        return self._words.encode(text)

    def piece_vectors(self, ids: NDArray[np.int64]) -> Floats:
        """Return the vectors of word pieces, one row for each id."""
        return self._words.vectors(ids)

    def _encode_passage(self, text: str) -> EncodedText:
        words = self._words
        tokens = words.encode(text)
        return EncodedText(words.mean(tokens)[None, :], _pack_ids(tokens))

    @cached_property
    def _words(self) -> _WordTable:
        files = find_light_files()
        if not files:
            raise ModelMissing("the package wordllama is not installed; `pip install wordllama`")
        return _WordTable(*files)


@cache
def load_word_llama() -> WordLlama | None:
    """Return the light model, one for the whole process; None if it is not installed."""
    return WordLlama() if find_light_files() else None


class _WordTable:
    """The tokenizer and the table of vectors."""

    def __init__(self, tokenizer: Path, weights: Path) -> None:
        self._tokeniser = Tokeniser(tokenizer)
        self._space = self._tokeniser.id_of(_SPACE)
        self._rows = _map_table(weights)

    def encode(self, text: str) -> WordPieces:
        """Return the word pieces of a text, up to the limit."""
        tokens = self._tokeniser.encode(text[:_MAX_CHARACTERS]).first(MAX_PIECES)
        words = tokens.is_word & (tokens.ids >= _SPECIAL_IDS) & (tokens.ids != self._space)
        return WordPieces(tokens.ids, tokens.spans, words)

    def vectors(self, ids: NDArray[np.int64]) -> Floats:
        """Return the vectors of word pieces."""
        return self._rows[ids].astype(np.float32)

    def mean(self, tokens: WordPieces) -> Floats:
        """Return the unit vector of the mean of all tokens; zeros if there are none."""
        if not len(tokens.ids):
            return np.zeros(DIMENSIONS, np.float32)
        return normalise_rows(self.vectors(tokens.ids).mean(axis=0))

    def rows(self, ids: NDArray[np.int64]) -> LevelRows:
        """Return the unit vectors of some word pieces as levels; each row equals the one in the whole table."""
        return to_level_rows(normalise_rows(self.vectors(ids)))

    def table(self) -> LevelRows:
        """Return the whole table as levels, computed a few rows at a time so that the float copy stays small."""
        ids = np.arange(len(self._rows))
        parts = [self.rows(ids[start : start + _ROWS_AT_ONCE]) for start in ids[::_ROWS_AT_ONCE]]
        return concatenate_rows(parts)


def _pack_ids(tokens: WordPieces) -> bytes:
    distinct = list(dict.fromkeys(tokens.ids[tokens.is_word].tolist()))[:MAX_DISTINCT]
    return np.array(distinct, "<u2").tobytes()


def _map_table(weights: Path) -> NDArray[np.float16]:
    """Return the table, memory-mapped: a short run touches few of its pages."""
    with weights.open("rb") as source:
        length = int.from_bytes(source.read(8), "little")
        entry = json.loads(source.read(length))["embedding.weight"]
    if entry["dtype"] != "F16" or entry["shape"][1] != DIMENSIONS:
        raise ModelError(f"{weights.name} has an unexpected shape; `pip install --force-reinstall wordllama`")
    offset = 8 + length + entry["data_offsets"][0]
    return np.asarray(np.memmap(weights, "<f2", "r", offset, tuple(entry["shape"])))
