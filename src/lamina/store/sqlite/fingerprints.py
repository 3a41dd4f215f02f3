"""Fingerprints and stubs in history.db, under a key that the store generated."""

from __future__ import annotations

import hmac
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime

from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope
from lamina.store.fingerprints import Mark, Stub
from lamina.store.sqlite.database import Database
from lamina.store.sqlite.history import millis, moment

AT_ONCE = 500


class SqliteFingerprints:
    """One row per fingerprint: its HMAC and when it was last erased."""

    def __init__(self, db: Database, key: bytes) -> None:
        self._db, self._key = db, key

    def any(self) -> bool:
        """Return whether anything was ever erased."""
        return self._db.one("SELECT 1 FROM fingerprints LIMIT 1") is not None

    def known(self, marks: Collection[Mark]) -> dict[Mark, datetime]:
        """Return those of the texts that were erased, and when."""
        if not marks or not self.any():
            return {}
        digests = {self.digest(text): text for text in marks}
        return {
            digests[digest]: moment(at)
            for batch in _batches(list(digests))
            for digest, at in self._db.rows(
                f"SELECT mark, at FROM fingerprints WHERE mark IN ({','.join('?' * len(batch))})", batch
            )
        }

    def add(self, marks: Iterable[Mark], at: datetime) -> None:
        """Store these texts as erased; the caller has the write transaction open."""
        rows = [(self.digest(mark), millis(at)) for mark in marks]
        self._db.run_many("INSERT INTO fingerprints VALUES(?,?) ON CONFLICT(mark) DO UPDATE SET at=excluded.at", rows)

    def digest(self, mark: Mark) -> bytes:
        """Return the keyed hash of a text."""
        content = json.dumps([mark.organisation, mark.kind.value, mark.form], ensure_ascii=False)
        return hmac.digest(self._key, content.encode(), "sha256")

    def stub(self, atom_id: str, scopes: Sequence[Scope]) -> Stub | None:
        """Return the stub of the erased atom with this id or id suffix; None if there is none or several."""
        stubs = self._stubs(scopes, "AND substr(atom_id, ?)=?", (-len(atom_id), atom_id))
        return stubs[0] if len(stubs) == 1 else None

    def stubs(self, scopes: Sequence[Scope]) -> list[Stub]:
        """Return the stubs of all erased atoms, oldest erasure first."""
        return self._stubs(scopes, "", ())

    def _stubs(self, scopes: Sequence[Scope], where: str, values: tuple[object, ...]) -> list[Stub]:
        return [
            Stub(AtomId(atom_id), Scope(scope), moment(at), actor, reason, fingerprint.hex())
            for atom_id, scope, at, actor, reason, fingerprint in self._db.rows(
                "SELECT atom_id, scope, at, actor, reason, fingerprint FROM erased "
                f"WHERE scope IN ({','.join('?' * len(scopes))}) {where} ORDER BY at, atom_id",
                (*scopes, *values),
            )
        ]


def _batches(values: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    for start in range(0, len(values), AT_ONCE):
        yield values[start : start + AT_ONCE]
