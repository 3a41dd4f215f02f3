"""Nobody is told anything by default: no library is loaded for it, and no connection is made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

USED = """
import sys

def refuse(event, given):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        raise SystemExit(f"{event} {given}")

sys.addaudithook(refuse)
import lamina

with lamina.open(sys.argv[1], watch=False, background=False) as memory:
    atom = memory.remember("The kettle is red.").atom
    memory.recall("What colour is the kettle?")
    memory.review.list()
    memory.upkeep.dream()
    memory.erase(atom.id)
print([name for name in sys.modules if name.startswith("opentelemetry")])
"""


def test_without_opentelemetry_nothing_is_loaded_or_sent(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", USED, str(tmp_path / "vault")],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "LAMINA_EMBEDDER": "none"},
    )
    assert (result.returncode, result.stdout.strip(), result.stderr) == (0, "[]", "")
