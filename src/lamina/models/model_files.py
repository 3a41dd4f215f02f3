"""The model files on this machine, named by their SHA-256: their content matters, not where they came from."""

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

DownloadProgress = Callable[[str, int, int], None]
"""Is called with what is being done, how far it is, and how much there is."""

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


_MINILM_REPO = "Xenova/all-MiniLM-L6-v2"
MINILM = "all-MiniLM-L6-v2-int8"
MINILM_WEIGHTS = ModelFile(
    name="model_quantized.onnx",
    sha256="afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
    size=22_972_370,
    repo=_MINILM_REPO,
    path="onnx/model_quantized.onnx",
)
MINILM_TOKENIZER = ModelFile(
    name="tokenizer.json",
    sha256="da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
    size=711_661,
    repo=_MINILM_REPO,
    path="tokenizer.json",
)
MODEL_FILES: Mapping[str, tuple[ModelFile, ...]] = {MINILM: (MINILM_TOKENIZER, MINILM_WEIGHTS)}
"""Every model whose files are stored."""
ALL_FILES = tuple(file for files in MODEL_FILES.values() for file in files)


def models_folder(environ: Mapping[str, str], home: Path, platform: str) -> Path:
    """Return the folder of the model files: LAMINA_MODELS_DIR, else in the user's cache folder."""
    if chosen := environ.get("LAMINA_MODELS_DIR"):
        return Path(chosen).expanduser()
    if platform == "darwin":
        return home / "Library" / "Caches" / "lamina" / "models"
    cache = Path(environ.get("XDG_CACHE_HOME") or home / ".cache")
    # The base directory specification says to ignore a relative path there.
    return (cache if cache.is_absolute() else home / ".cache") / "lamina" / "models"


class ModelStore:
    """Model files in a folder; each was complete and verified when it was added."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path_of(self, file: ModelFile) -> Path:
        """Return the path of a file, whether it exists or not."""
        return self.folder / file.sha256

    def has(self, file: ModelFile) -> bool:
        """Return whether the file exists, by its size alone."""
        return _file_size(self.path_of(file)) == file.size

    def is_intact(self, file: ModelFile) -> bool:
        """Return whether the file exists and its hash is right."""
        return self.has(file) and sha256_of(self.path_of(file)) == file.sha256

    def require(self, file: ModelFile) -> Path:
        """Return the path of a file. Raises ModelMissing if it does not exist."""
        if not self.has(file):
            raise ModelMissing(
                f"{file.name} of {file.repo} is not in {self.folder}; get it with `lamina models download`, "
                "or from a folder with `lamina models add FOLDER`"
            )
        return self.path_of(file)

    def add_folder(self, folder: Path, files: Sequence[ModelFile] = ALL_FILES) -> list[ModelFile]:
        """Add the missing files that are anywhere below a folder, under any name; return those added. Raises ModelError
        if there is no such folder."""
        if not folder.is_dir():
            raise ModelError(f"{folder} is not a folder; name the one that contains the model files")
        missing = [file for file in files if not self.is_intact(file)]
        added: list[ModelFile] = []
        for path, size in _files_below(folder) if missing else ():
            for file in [
                candidate for candidate in missing if candidate.size == size and self.add_file(path, candidate)
            ]:
                missing.remove(file)
                added.append(file)
        return added

    def add_file(self, path: Path, file: ModelFile) -> bool:
        """Add a file from a path if its bytes are right; return whether they are."""
        with path.open("rb") as source:
            return self.add_stream(source, file)

    def add_stream(self, source: IO[bytes], file: ModelFile) -> bool:
        """Add a file from a stream if its bytes are right; return whether they are. Nothing is kept otherwise."""
        self.prepare()
        handle, name = tempfile.mkstemp(prefix=f"{file.sha256[:8]}-", suffix=".tmp", dir=self.folder)
        try:
            with os.fdopen(handle, "wb") as target:
                is_right = _copy_bounded(source, target, file.size) == file.sha256
            if is_right:
                self.move_into_place(Path(name), file)
            return is_right
        finally:
            Path(name).unlink(missing_ok=True)

    def move_into_place(self, path: Path, file: ModelFile) -> None:
        """Move a complete and verified file of this folder to its final path."""
        path.chmod(0o644)
        with path.open("rb") as handle:
            os.fsync(handle.fileno())
        path.replace(self.path_of(file))
        _sync_folder(self.folder)

    def prepare(self) -> None:
        """Create the folder, and remove temporary files that interrupted runs left long ago."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for leftover in self.folder.glob("*.tmp"):
            with suppress(FileNotFoundError):
                if time.time() - leftover.stat().st_mtime > _LEFTOVER_SECONDS:
                    leftover.unlink()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold a lock across processes; others wait."""
        import fcntl

        self.prepare()
        with (self.folder / "download.lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def sha256_of(path: Path) -> str:
    """Return the hash of a file's content."""
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def _file_size(path: Path) -> int | None:
    """Return the size of a regular file, or None."""
    try:
        info = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return info.st_size if stat.S_ISREG(info.st_mode) else None


def _files_below(folder: Path) -> Iterable[tuple[Path, int]]:
    for home, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(home, name)
            size = _file_size(path)
            if size is not None:
                yield path, size


def _copy_bounded(source: IO[bytes], target: IO[bytes], size: int) -> str:
    """Copy at most one byte more than expected, enough to notice that there is too much; return the hash of what was
    copied."""
    digest, remaining = hashlib.sha256(), size + 1
    while remaining > 0 and (block := source.read(min(_BLOCK, remaining))):
        digest.update(block)
        target.write(block)
        remaining -= len(block)
    return digest.hexdigest()


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
