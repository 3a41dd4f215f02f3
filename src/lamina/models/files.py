"""The model files on this machine, named by their SHA-256: where they came from never matters, only what they are."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from lamina.models.errors import ModelError, ModelMissing

Progress = Callable[[str, int, int], None]
"""Told what is being done, how far it is, and how much there is."""

_BLOCK = 1 << 20
_LEFTOVER_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file by its content, and where on the hub it is published."""

    name: str
    sha256: str
    size: int
    repo: str
    path: str
    revision: str = "main"


_HUB = "Xenova/all-MiniLM-L6-v2"
MINILM = "all-MiniLM-L6-v2-int8"
MINILM_WEIGHTS = ModelFile(
    name="model_quantized.onnx",
    sha256="afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
    size=22_972_370,
    repo=_HUB,
    path="onnx/model_quantized.onnx",
)
MINILM_TOKENIZER = ModelFile(
    name="tokenizer.json",
    sha256="da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
    size=711_661,
    repo=_HUB,
    path="tokenizer.json",
)
MODEL_FILES: Mapping[str, tuple[ModelFile, ...]] = {MINILM: (MINILM_TOKENIZER, MINILM_WEIGHTS)}
"""Every model whose files the store keeps."""
ALL_FILES = tuple(file for files in MODEL_FILES.values() for file in files)


def models_folder(environ: Mapping[str, str], home: Path, platform: str) -> Path:
    """Where the store is: LAMINA_MODELS_DIR, else the user's cache folder."""
    if chosen := environ.get("LAMINA_MODELS_DIR"):
        return Path(chosen).expanduser()
    if platform == "darwin":
        return home / "Library" / "Caches" / "lamina" / "models"
    cache = Path(environ.get("XDG_CACHE_HOME") or home / ".cache")
    # The base directory specification says to ignore a relative path there.
    return (cache if cache.is_absolute() else home / ".cache") / "lamina" / "models"


class ModelStore:
    """Model files in a folder; each is complete and was what its name says when it came in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def place(self, file: ModelFile) -> Path:
        """Where the file is or would be."""
        return self.folder / file.sha256

    def has(self, file: ModelFile) -> bool:
        """Whether the file is there, by its size alone."""
        return _size(self.place(file)) == file.size

    def verified(self, file: ModelFile) -> bool:
        """Whether the file is there and every byte is right."""
        return self.has(file) and sha256_of(self.place(file)) == file.sha256

    def find(self, file: ModelFile) -> Path:
        """The file, to be used."""
        if not self.has(file):
            raise ModelMissing(
                f"{file.name} of {file.repo} is not in {self.folder}; get it with `lamina models download`, "
                "or from a folder with `lamina models add FOLDER`"
            )
        return self.place(file)

    def add_folder(self, folder: Path, files: Sequence[ModelFile] = ALL_FILES) -> list[ModelFile]:
        """Take what is wanted and not yet here from anywhere below a folder, whatever it is called there."""
        if not folder.is_dir():
            raise ModelError(f"{folder} is no folder; name the one that holds the model files")
        wanted = [file for file in files if not self.verified(file)]
        taken: list[ModelFile] = []
        for path, size in _files_below(folder) if wanted else ():
            for file in [each for each in wanted if each.size == size and self.add_file(path, each)]:
                wanted.remove(file)
                taken.append(file)
        return taken

    def add_file(self, path: Path, file: ModelFile) -> bool:
        """Take the file from a path if the bytes there are the right ones."""
        with path.open("rb") as source:
            return self.add_stream(source, file)

    def add_stream(self, source: IO[bytes], file: ModelFile) -> bool:
        """Take the file from a stream if its bytes are the right ones; nothing is kept of others."""
        self.prepare()
        handle, name = tempfile.mkstemp(prefix=f"{file.sha256[:8]}-", suffix=".tmp", dir=self.folder)
        try:
            with os.fdopen(handle, "wb") as target:
                right = _copy(source, target, file.size) == file.sha256
            if right:
                self.settle(Path(name), file)
            return right
        finally:
            Path(name).unlink(missing_ok=True)

    def settle(self, path: Path, file: ModelFile) -> None:
        """Give a file of this folder, complete and checked, its place for good."""
        path.chmod(0o644)
        with path.open("rb") as handle:
            os.fsync(handle.fileno())
        path.replace(self.place(file))
        _sync_folder(self.folder)

    def prepare(self) -> None:
        """Make the folder, and clear away what interrupted runs left long ago."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for leftover in self.folder.glob("*.tmp"):
            with suppress(FileNotFoundError):
                if time.time() - leftover.stat().st_mtime > _LEFTOVER_SECONDS:
                    leftover.unlink()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Held by one process at a time; the others wait."""
        import fcntl

        self.prepare()
        with (self.folder / "download.lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def sha256_of(path: Path) -> str:
    """The hash of a file's content."""
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def _size(path: Path) -> int | None:
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _files_below(folder: Path) -> Iterable[tuple[Path, int]]:
    for home, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(home, name)
            size = _size(path)
            if size is not None:
                yield path, size


def _copy(source: IO[bytes], target: IO[bytes], most: int) -> str:
    """Copy one byte more than wanted at most, which is enough to know that it is too much; the hash of what was."""
    digest, left = hashlib.sha256(), most + 1
    while left > 0 and (block := source.read(min(_BLOCK, left))):
        digest.update(block)
        target.write(block)
        left -= len(block)
    return digest.hexdigest()


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
