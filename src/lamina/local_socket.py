"""Find the socket on which a running server listens for programs of the same user, without importing the rest of
lamina."""

from __future__ import annotations

import os
from pathlib import Path

SOCKET_NAME = "serve.sock"
_MAX_PATH_BYTES = 100
"""The number of bytes in a socket path that every system allows."""


def socket_path(state_folder: Path) -> Path:
    """Return the socket of the vault with this state folder; in a private temporary folder if that path is too long."""
    path = state_folder / SOCKET_NAME
    if len(os.fsencode(path)) <= _MAX_PATH_BYTES:
        return path
    import hashlib  # a hook must start fast, and few paths are that long
    import tempfile

    digest = hashlib.sha256(os.fsencode(state_folder.absolute())).hexdigest()[:24]
    return Path(tempfile.gettempdir()) / f"lamina-{os.getuid()}" / f"{digest}.sock"
