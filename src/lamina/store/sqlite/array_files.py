"""Arrays on disk that several processes memory-map: a folder is written completely, then never changed.

A reader maps them copy-on-write, with spare room at the end of each array, so that it can add and delete rows for
itself; the files stay as they are. They are a cache: a folder in doubt counts as missing.
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

_METADATA_FILE = "told"
_TEMPORARY = "begun-"
_SPARE_SHARE = 4
"""One row in so many, beyond the existing ones, can be added before an array has to be copied."""
_READ_BYTES = 1 << 22


@dataclass(frozen=True, slots=True)
class SavedArrays:
    """The content of a folder: arrays with spare room, the length of each, and metadata."""

    arrays: Arrays
    lengths: dict[str, int]
    metadata: dict[str, Any]


def save(folder: Path, name: str, arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, Any]) -> None:
    """Write a folder of this name inside another, and delete all other folders there."""
    folder.mkdir(mode=0o700, exist_ok=True)
    temporary = folder / f"{_TEMPORARY}{secrets.token_hex(8)}"
    temporary.mkdir(mode=0o700)
    try:
        shapes = {key: _write_array(temporary / key, array) for key, array in arrays.items()}
        header = json.dumps({"arrays": shapes, "told": metadata}).encode()
        _write_bytes(temporary / _METADATA_FILE, b"%08x%s" % (zlib.crc32(header), header))
        _sync_folder(temporary)
        others = [path for path in folder.iterdir() if path != temporary]
        for other in others:
            shutil.rmtree(other, ignore_errors=True)
        temporary.rename(folder / name)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    _sync_folder(folder)


def load(folder: Path, name: str) -> SavedArrays | None:
    """Return the content of a folder; None if it is missing or any byte of it is wrong."""
    try:
        written = (folder / name / _METADATA_FILE).read_bytes()
        if written[:8] != b"%08x" % zlib.crc32(written[8:]):
            return None
        header = json.loads(written[8:])
        shapes, metadata = header["arrays"], header["told"]
        arrays = {key: _map_array(folder / name / key, *shape) for key, shape in shapes.items()}
        lengths = {key: int(shape[1][0]) for key, shape in shapes.items()}
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None
    return SavedArrays(arrays, lengths, metadata)


def list_saved(folder: Path) -> list[str]:
    """Return the names of the folders that were written completely."""
    try:
        return sorted(path.name for path in folder.iterdir() if not path.name.startswith(_TEMPORARY))
    except OSError:
        return []


def remove_all(folder: Path) -> None:
    """Delete everything; a process that has mapped the arrays keeps its copy until it checks again."""
    shutil.rmtree(folder, ignore_errors=True)


def _write_array(path: Path, array: NDArray[Any]) -> tuple[str, tuple[int, ...], int]:
    data = np.ascontiguousarray(array)
    spare = len(data) // _SPARE_SHARE + 64
    checksum = zlib.crc32(data.tobytes())
    with path.open("wb") as file:
        os.fchmod(file.fileno(), 0o600)
        data.tofile(file)
        # The spare room is a hole in a sparse file: it takes no space on the disk.
        file.truncate((len(data) + spare) * data.dtype.itemsize * _row_items(data.shape))
        file.flush()
        os.fsync(file.fileno())
    return data.dtype.str, data.shape, checksum


def _map_array(path: Path, type_name: str, shape: list[int], checksum: int) -> NDArray[Any]:
    dtype, row_items = np.dtype(type_name), _row_items(tuple(shape))
    used, size = shape[0] * row_items * dtype.itemsize, path.stat().st_size
    rows = size // max(1, row_items * dtype.itemsize)
    if rows < shape[0] or _checksum(path, used) != checksum:
        raise ValueError(f"the checksum of {path.name} is wrong")
    # A plain array over the map: for few rows, NumPy's memmap type costs as much as reading them.
    return np.memmap(path, dtype=dtype, mode="c", shape=(rows, *shape[1:])).view(np.ndarray)


def _checksum(path: Path, length: int) -> int:
    checksum = 0
    with path.open("rb", buffering=0) as file:
        while length > 0 and (data := file.read(min(length, _READ_BYTES))):
            checksum, length = zlib.crc32(data, checksum), length - len(data)
    return checksum


def _row_items(shape: tuple[int, ...]) -> int:
    width = 1
    for size in shape[1:]:
        width *= size
    return width


def _write_bytes(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
