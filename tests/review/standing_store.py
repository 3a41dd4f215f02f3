"""What a test compares: a vault's files, byte for byte, and everything its index holds of what stands."""

from __future__ import annotations

from collections.abc import Collection

from lamina import Memory

Stands = tuple[dict[str, bytes], list[str]]


def stands(memory: Memory, without: Collection[str] = ()) -> Stands:
    """Files and index, but for the atoms named; texts that atoms had once are kept on purpose and not compared."""
    files = {
        path.relative_to(memory.root).as_posix(): path.read_bytes()
        for path in sorted(memory.root.rglob("*.md"))
        if ".lamina" not in path.parts and not any(each in path.name for each in without)
    }
    rows = [row for row in memory._store.dump() if not row.startswith(("former", "scope:", "text org:local former"))]
    return files, [row for row in rows if not any(each in row for each in without)]
