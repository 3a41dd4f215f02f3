from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lamina.models.errors import ModelError, ModelMissing
from lamina.models.model_files import ALL_FILES, MINILM, MODEL_FILES, ModelFile, ModelStore, models_folder

CONTENT = b"weights " * 1000
FILE = ModelFile("weights.bin", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT), "someone/model", "deep/weights.bin")


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path / "store" / "models")


def files_in(store: ModelStore) -> list[str]:
    return sorted(path.name for path in store.folder.iterdir())


def test_the_table_names_two_files_by_hash() -> None:
    assert [file.name for file in MODEL_FILES[MINILM]] == ["tokenizer.json", "model_quantized.onnx"]
    assert all(len(file.sha256) == 64 and file.size for file in ALL_FILES)


def test_the_store_is_in_the_users_cache_by_default() -> None:
    home = Path("/home/ann")
    assert models_folder({}, home, "linux") == home / ".cache/lamina/models"
    assert models_folder({"XDG_CACHE_HOME": "/caches"}, home, "linux") == Path("/caches/lamina/models")
    assert models_folder({"XDG_CACHE_HOME": "relative"}, home, "linux") == home / ".cache/lamina/models"
    assert models_folder({}, home, "darwin") == home / "Library/Caches/lamina/models"
    assert models_folder({"LAMINA_MODELS_DIR": "/big"}, home, "darwin") == Path("/big")


def test_files_are_found_below_a_folder_by_their_content(store: ModelStore, tmp_path: Path) -> None:
    deep = tmp_path / "downloads" / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "whatever it is called").write_bytes(CONTENT)
    (deep / "of the same size").write_bytes(CONTENT[::-1])
    (deep / "another").write_bytes(b"short")
    assert store.add_folder(tmp_path / "downloads", [FILE]) == [FILE]
    assert store.is_intact(FILE)
    assert files_in(store) == [FILE.sha256]
    assert store.require(FILE).read_bytes() == CONTENT
    assert store.add_folder(tmp_path / "downloads", [FILE]) == []


def test_two_entries_with_the_same_content_are_both_satisfied(store: ModelStore, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(CONTENT)
    twin = ModelFile("other name", FILE.sha256, FILE.size, "someone/else", "x")
    assert store.add_folder(tmp_path, [FILE, twin]) == [FILE, twin]


def test_content_with_another_hash_is_not_stored(store: ModelStore) -> None:
    for wrong in (CONTENT[:-1], CONTENT + b"!", CONTENT[::-1], b""):
        assert not store.add_stream(io.BytesIO(wrong), FILE)
    assert files_in(store) == []
    with pytest.raises(ModelMissing, match="lamina models add FOLDER"):
        store.require(FILE)


def test_a_damaged_file_is_detected_and_replaced(store: ModelStore, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "f").write_bytes(CONTENT)
    store.add_folder(source, [FILE])
    store.path_of(FILE).write_bytes(CONTENT[::-1])
    assert store.has(FILE)
    assert not store.is_intact(FILE)
    assert store.add_folder(source, [FILE]) == [FILE]
    assert store.is_intact(FILE)
    store.path_of(FILE).write_bytes(b"cut")
    with pytest.raises(ModelMissing):
        store.require(FILE)


def test_a_folder_in_place_of_a_file_is_not_the_file(store: ModelStore) -> None:
    store.path_of(FILE).mkdir(parents=True)
    assert not store.has(FILE)


def test_a_path_that_is_no_folder_is_an_error_that_says_so(store: ModelStore, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not a folder"):
        store.add_folder(tmp_path / "nowhere")


def test_old_leftovers_are_deleted_and_recent_ones_kept(store: ModelStore) -> None:
    store.folder.mkdir(parents=True)
    old, fresh = store.folder / "old.tmp", store.folder / "fresh.tmp"
    old.touch()
    fresh.touch()
    os.utime(old, (time.time() - 10**6,) * 2)
    store.add_stream(io.BytesIO(CONTENT), FILE)
    assert files_in(store) == sorted([FILE.sha256, "fresh.tmp"])


def test_concurrent_additions_all_succeed(store: ModelStore, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "f").write_bytes(CONTENT)
    code = (
        "import sys; from pathlib import Path; from lamina.models.model_files import *\n"
        f"file = ModelFile('w', {FILE.sha256!r}, {FILE.size}, 'r', 'p')\n"
        "store = ModelStore(Path(sys.argv[2]))\n"
        "for _ in range(50): assert store.add_file(Path(sys.argv[1]), file) and store.is_intact(file)"
    )
    command = [sys.executable, "-c", code, str(source / "f"), str(store.folder)]
    running = [subprocess.Popen(command) for _ in range(3)]
    assert [item.wait() for item in running] == [0, 0, 0]
    assert files_in(store) == [FILE.sha256]
