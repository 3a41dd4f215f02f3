"""Fingerprints and stubs in history.db, under a key that the store generated."""

from __future__ import annotations

import hmac
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime

from lamina.atom.atom import AtomId
from lamina.atom.provenance import Scope
from lamina.store.erasure_fingerprints import ErasureStub, FingerprintText
from lamina.store.sqlite.database import Database
from lamina.store.sqlite.millis import from_millis, to_millis

BATCH = 500


class SqliteFingerprints:
    """One row per fingerprint: its HMAC and when it was last erased."""

    def __init__(self, db: Database, key: bytes) -> None:
        self._db, self._key = db, key

    def has_any(self) -> bool:
        """Return whether anything was ever erased."""
        return self._db.one("SELECT 1 FROM fingerprints LIMIT 1") is not None

    def find_erased(self, texts: Collection[FingerprintText]) -> dict[FingerprintText, datetime]:
        """Return those of the texts that were erased, and when."""
        if not texts or not self.has_any():
            return {}
        digests = {self.digest(text): text for text in texts}
        return {
            digests[digest]: from_millis(at)
            for batch in _batches(list(digests))
            for digest, at in self._db.rows(
                f"SELECT mark, at FROM fingerprints WHERE mark IN ({','.join('?' * len(batch))})", batch
            )
        }

    def add(self, texts: Iterable[FingerprintText], at: datetime) -> None:
        """Store these texts as erased; the caller has the write transaction open."""
        rows = [(self.digest(mark), to_millis(at)) for mark in texts]
        self._db.run_many("INSERT INTO fingerprints VALUES(?,?) ON CONFLICT(mark) DO UPDATE SET at=excluded.at", rows)

    def digest(self, text: FingerprintText) -> bytes:
        """Return the keyed hash of a text."""
        content = json.dumps([text.organisation, text.kind.value, text.form], ensure_ascii=False)
        return hmac.digest(self._key, content.encode(), "sha256")

    def find_stub(self, atom_id: str, scopes: Sequence[Scope]) -> ErasureStub | None:
        """Return the stub of the erased atom with this id or id suffix; None if there is none or several."""
        stubs = self._stubs(scopes, "AND substr(atom_id, ?)=?", (-len(atom_id), atom_id))
        return stubs[0] if len(stubs) == 1 else None

    def list_stubs(self, scopes: Sequence[Scope]) -> list[ErasureStub]:
        """Return the stubs of all erased atoms, oldest erasure first."""
        return self._stubs(scopes, "", ())

    def _stubs(self, scopes: Sequence[Scope], where: str, values: tuple[object, ...]) -> list[ErasureStub]:
        return [
            ErasureStub(AtomId(atom_id), Scope(scope), from_millis(at), actor, reason, fingerprint.hex())
            for atom_id, scope, at, actor, reason, fingerprint in self._db.rows(
                "SELECT atom_id, scope, at, actor, reason, fingerprint FROM erased "
                f"WHERE scope IN ({','.join('?' * len(scopes))}) {where} ORDER BY at, atom_id",
                (*scopes, *values),
            )
        ]


def _batches(values: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    for start in range(0, len(values), BATCH):
        yield values[start : start + BATCH]
