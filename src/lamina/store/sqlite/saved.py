"""Arrays on disk that many processes map at once: a folder is written whole, then never again.

What is read from it is a copy-on-write map with room to spare at the end of each array, so that a reader adds rows and
strikes others out for itself; the files stay as they are. Nothing here is the truth: a folder in doubt counts as none.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]

_TOLD = "told"
_BEGUN = "begun-"
_SPARE = 4
"""One row in so many, beyond those that are there, can be added before an array has to be copied."""
_READ_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True)
class Saved:
    """What stood in a folder: arrays with room to spare, how long each of them is, and what was told besides."""

    arrays: Arrays
    lengths: dict[str, int]
    told: dict[str, Any]


def save(folder: Path, name: str, arrays: Mapping[str, NDArray[Any]], told: Mapping[str, Any]) -> None:
    """Write a folder of this name inside another, in place of whatever stands there."""
    folder.mkdir(mode=0o700, exist_ok=True)
    begun = folder / f"{_BEGUN}{secrets.token_hex(8)}"
    begun.mkdir(mode=0o700)
    try:
        shapes = {key: _write(begun / key, array) for key, array in arrays.items()}
        noted = json.dumps({"arrays": shapes, "told": told}).encode()
        _write_bytes(begun / _TOLD, b"%08x%s" % (zlib.crc32(noted), noted))
        _sync(begun)
        others = [path for path in folder.iterdir() if path != begun]
        for other in others:
            shutil.rmtree(other, ignore_errors=True)
        begun.rename(folder / name)
    except BaseException:
        shutil.rmtree(begun, ignore_errors=True)
        raise
    _sync(folder)


def load(folder: Path, name: str) -> Saved | None:
    """What a folder holds, if it is there and every byte of it is as it was written."""
    try:
        written = (folder / name / _TOLD).read_bytes()
        if written[:8] != b"%08x" % zlib.crc32(written[8:]):
            return None
        noted = json.loads(written[8:])
        shapes, told = noted["arrays"], noted["told"]
        arrays = {key: _mapped(folder / name / key, *shape) for key, shape in shapes.items()}
        lengths = {key: int(shape[1][0]) for key, shape in shapes.items()}
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None
    return Saved(arrays, lengths, told)


def names(folder: Path) -> list[str]:
    """The folders that were written to their end."""
    try:
        return sorted(path.name for path in folder.iterdir() if not path.name.startswith(_BEGUN))
    except OSError:
        return []


def remove_all(folder: Path) -> None:
    """Leave nothing; whoever has mapped it keeps what it has until it looks again."""
    shutil.rmtree(folder, ignore_errors=True)


def _write(path: Path, array: NDArray[Any]) -> tuple[str, tuple[int, ...], int]:
    data = np.ascontiguousarray(array)
    spare = len(data) // _SPARE + 64
    checksum = zlib.crc32(data.tobytes())
    with path.open("wb") as file:
        os.fchmod(file.fileno(), 0o600)
        data.tofile(file)
        # The room to spare is a hole: it takes no place on the disk.
        file.truncate((len(data) + spare) * data.dtype.itemsize * _width(data.shape))
        file.flush()
        os.fsync(file.fileno())
    return data.dtype.str, data.shape, checksum


def _mapped(path: Path, kind: str, shape: list[int], checksum: int) -> NDArray[Any]:
    dtype, each = np.dtype(kind), _width(tuple(shape))
    used, size = shape[0] * each * dtype.itemsize, path.stat().st_size
    rows = size // max(1, each * dtype.itemsize)
    if rows < shape[0] or _checksum(path, used) != checksum:
        raise ValueError(f"{path.name} is not as it was written")
    # A plain array over the map: NumPy's own kind of map costs as much as the reading where few rows are read.
    return np.memmap(path, dtype=dtype, mode="c", shape=(rows, *shape[1:])).view(np.ndarray)


def _checksum(path: Path, length: int) -> int:
    found = 0
    with path.open("rb", buffering=0) as file:
        while length > 0 and (data := file.read(min(length, _READ_AT_ONCE))):
            found, length = zlib.crc32(data, found), length - len(data)
    return found


def _width(shape: tuple[int, ...]) -> int:
    width = 1
    for each in shape[1:]:
        width *= each
    return width


def _write_bytes(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
