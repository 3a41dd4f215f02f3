"""Where a running server listens for programs of the vault's own user. Found without importing anything of lamina."""

from __future__ import annotations

import os
from pathlib import Path

NAME = "serve.sock"
_LONGEST = 100
"""Bytes of a path that every system lets a socket have."""


def socket_path(state: Path) -> Path:
    """The socket of the vault whose state folder this is; in a folder of the user's own where that path is too long."""
    near = state / NAME
    if len(os.fsencode(near)) <= _LONGEST:
        return near
    import hashlib  # a hook waits for every module, and hardly any needs these
    import tempfile

    told = hashlib.sha256(os.fsencode(state.absolute())).hexdigest()[:24]
    return Path(tempfile.gettempdir()) / f"lamina-{os.getuid()}" / f"{told}.sock"
