"""The hash chain of the journal: how entries are sealed, and where the chain is broken."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

from lamina.store.sqlite.database import CorruptDatabase, Database

REWRITE_PREFIX = "retold:"
"""Prefix of the batch of an erasure that rewrote versions; the digest of the rewritten rows follows."""


def find_broken_links(db: Database) -> list[str]:
    """Return where the hash chain is broken: an entry edited, removed, reordered or cut off."""
    faults: list[str] = []
    previous, expected = b"", 1
    with db.read_transaction():
        rewritten = _rewritten_digests(db, faults)
        for row in db.rows("SELECT * FROM commits ORDER BY seq"):
            *header, digest = row
            seq = header[0]
            if seq != expected:
                faults.append(f"journal: commits {expected} to {seq - 1} are missing")
            if digest != chain_hash(previous, tuple(header)):
                faults.append(f"journal: commit {seq} does not match the previous commit")
            if not _is_entry_intact(db, seq, header[10], rewritten):
                faults.append(f"journal: the content of commit {seq} was changed afterwards")
            previous, expected = digest, seq + 1
        for (seq,) in db.rows(
            "SELECT seq FROM reasons UNION SELECT seq FROM versions EXCEPT SELECT seq FROM commits ORDER BY 1"
        ):
            faults.append(f"journal: commit {seq} is missing, but its content exists")
    return faults


def count_intact(db: Database) -> int:
    """Return how many commits from the first one on are intact and chained, as far as they can be read."""
    previous, count = b"", 0
    with suppress(CorruptDatabase):
        rewritten = _rewritten_digests(db, [])
        last = db.one("SELECT max(seq) FROM commits")
        for seq in range(1, (int(last[0] or 0) if last else 0) + 1):
            row = db.one("SELECT * FROM commits WHERE seq=?", (seq,))
            if row is None or row[-1] != chain_hash(previous, row[:-1]):
                break
            if not _is_entry_intact(db, seq, row[-2], rewritten):
                break
            previous, count = row[-1], seq
    return count


def _rewritten_digests(db: Database, faults: list[str]) -> dict[tuple[int, int], bytes]:
    """Return the digests that rewritten versions must have, as their erasures recorded them."""
    expected = dict(db.rows("SELECT seq, batch FROM commits WHERE batch LIKE ? || '%'", (REWRITE_PREFIX,)))
    rows = db.rows("SELECT by_seq, seq, n, digest FROM retold ORDER BY by_seq, seq, n")
    recorded = {seq: [row[1:] for row in group] for seq, group in groupby(rows, key=lambda row: row[0])}
    for seq in sorted(expected.keys() | recorded.keys()):
        if expected.get(seq) != rewrite_digest(recorded.get(seq, [])):
            faults.append(f"journal: what the erasure {seq} rewrote was changed afterwards")
    return {(seq, n): digest for _, seq, n, digest in rows}


def _is_entry_intact(db: Database, seq: int, root: bytes, rewritten: Mapping[tuple[int, int], bytes]) -> bool:
    """Return whether the payloads of a commit match its header, or were erased or rewritten."""
    reasons = db.rows("SELECT commitment, salt, body FROM reasons WHERE seq=?", (seq,))
    versions = db.rows(
        "SELECT n, atom_id, revision, scope, old_status, status, commitment, salt, body FROM versions "
        "WHERE seq=? ORDER BY n",
        (seq,),
    )
    if len(reasons) != 1 or not isinstance(reasons[0][0], bytes):
        return False
    headers = b"".join(canonical(row[:7]) for row in versions)
    is_intact = all(_is_intact(*row[-3:]) for row in reasons) and all(
        _is_intact(*row[-3:]) or (row[-2] is None and digest_of_body(row[-1]) == rewritten.get((seq, row[0]), b""))
        for row in versions
    )
    return is_intact and hashlib.sha256(reasons[0][0] + headers).digest() == root


def seal(body: str) -> tuple[bytes, bytes]:
    """Return a random salt and the commitment to a payload."""
    salt = os.urandom(16)
    return salt, _commitment(salt, body)


def _commitment(salt: bytes, body: str) -> bytes:
    return hashlib.sha256(salt + body.encode()).digest()


def _is_intact(commitment: object, salt: object, body: object) -> bool:
    """Return whether a payload is the one that was sealed, or was erased together with its salt."""
    if body is None or salt is None:
        return body is salt
    return isinstance(salt, bytes) and isinstance(body, str) and _commitment(salt, body) == commitment


def digest_of_body(body: object) -> bytes:
    """Return the SHA-256 of a payload."""
    return hashlib.sha256(str(body).encode()).digest()


def rewrite_digest(rows: Iterable[Sequence[Any]]) -> str:
    """Return what an erasure records of the versions it rewrote: the digest of their positions and digests."""
    return REWRITE_PREFIX + hashlib.sha256(b"".join(canonical(row) for row in rows)).hexdigest()


def chain_hash(previous: object, header: Sequence[Any]) -> bytes:
    """Return the hash of a header, chained to the previous one."""
    return hashlib.sha256((previous if isinstance(previous, bytes) else b"") + canonical(header)).digest()


def canonical(fields: Sequence[Any]) -> bytes:
    return dump_json([field.hex() if isinstance(field, bytes) else field for field in fields]).encode()


def dump_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
