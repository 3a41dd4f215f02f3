"""What a test compares: a vault's files, byte for byte, and everything its index holds of what stands."""

from __future__ import annotations

from collections.abc import Collection

from lamina import Memory

StoreSnapshot = tuple[dict[str, bytes], list[str]]


def store_snapshot(memory: Memory, without: Collection[str] = ()) -> StoreSnapshot:
    """Files and index, but for the atoms named; texts that atoms had once are kept on purpose and not compared."""
    files = {
        path.relative_to(memory.root).as_posix(): path.read_bytes()
        for path in sorted(memory.root.rglob("*.md"))
        if ".lamina" not in path.parts and not any(text in path.name for text in without)
    }
    rows = [
        row for row in memory.engine.store.dump() if not row.startswith(("former", "scope:", "text org:local former"))
    ]
    return files, [row for row in rows if not any(text in row for text in without)]
