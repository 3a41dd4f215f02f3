"""Write the fixture of the present format, before a change of the schema gives it the next number.

python tests/torture/format_fixture.py
"""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
from pathlib import Path

import lamina
from lamina.settings import Settings

FOLDER = Path(__file__).with_name("formats")


def write_fixture(folder: Path) -> Path:
    """Write a small vault with every kind of change, and store its files and its journal; return the fixture."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "vault"
        _write_vault(root)
        database = sqlite3.connect(root / ".lamina/history.db")
        number = int(database.execute("PRAGMA user_version").fetchone()[0])
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        statements = "\n".join(database.iterdump()).replace(boot, "an-earlier-boot").splitlines()
        database.close()
        files = {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*")) if path.is_file()}
        texts = {name: path.read_text() for name, path in files.items() if not _is_left_out(name)}
    fixture = folder / f"format-{number}.json"
    fields = {"format": number, "files": texts, "sql": statements}
    fixture.write_text(json.dumps(fields, indent=0, ensure_ascii=False) + "\n")
    return fixture


def _is_left_out(name: str) -> bool:
    return ".db" in name or name.endswith(".lock") or name.startswith((".lamina/swapped/", ".lamina/tmp/"))


def _write_vault(root: Path) -> None:
    settings = Settings(embedder="none", background=False, watch=False, state_model="off", extractor="none")
    with lamina.open(root, settings=settings, watch=False, background=False) as memory:
        ann = memory.remember("Ann grows tomatoes.", subject="ann", tags=["garden"]).atom
        bob = memory.remember("Bob mends nets.", subject="bob").atom
        for drink in ("Green tea is preferred.", "Now coffee is preferred."):
            memory.remember(drink, kind="preference", subject="drink", attribute="favourite")
        memory.remember("The habit of walking.", kind="habit", subject="walk")
        turns = [{"speaker": "Ann", "content": "It began like this.", "at": "2026-03-01T12:00:00Z"}]
        memory.capture([*turns, {"speaker": "Bob", "content": "And then it rained."}], session_id="talk")
        memory.revise(bob.id, "Bob mends nets and sails.", reason="more")
        memory.forget(memory.remember("A thing to forget.").atom.id, "wrong")
        memory.pin(ann.id)
        memory.relate(ann.id, "supports", bob.id)
        memory.update_status(memory.remember("Kept in the archive.").atom.id, "archived", "old")
        memory.remember("Written once.", key="the key")
        memory.undo()
        memory.recall("who grows tomatoes")


if __name__ == "__main__":
    sys.stdout.write(f"{write_fixture(FOLDER)}\n")
