"""Counts and sizes of a memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lamina.atom.scope import Scope
from lamina.review.diagnosis import is_theirs
from lamina.store.base import Store

CHAT_DAYS = 14


def stats_of(store: Store, scopes: Sequence[Scope], state: Path, waiting: int) -> dict[str, Any]:
    """Return the number of atoms by type, the usage of models, and the disk space."""
    by_status = store.counts(scopes, "status")
    return {
        "atoms": sum(by_status.values()),
        "by_status": by_status,
        "by_kind": store.counts(scopes, "kind"),
        "by_layer": store.counts(scopes, "layer"),
        "at_hand": store.lives.tiers(scopes),
        "commits": store.commits(scopes),
        "files": store.ledger.summary(lambda path: is_theirs(path, scopes)),
        "models": store.encodings.models(),
        "vector_bytes": _vector_bytes(store),
        "waiting": waiting,
        "chat": _chat_used(store),
        "bytes": {file.name: file.stat().st_size for file in sorted(state.glob("*.db"))},
    }


def _vector_bytes(store: Store) -> dict[str, int]:
    """Return the bytes of vectors by precision, and of token states."""
    room = store.encodings.room()
    return {f"{bits} bits": size for bits, (_, size) in room.vectors.items()} | {"token states": room.states[1]}


def _chat_used(store: Store) -> dict[str, Any]:
    """Return the usage of chat models by day and model, the latest days first."""
    return {
        f"{day.day.isoformat()} {day.model}": {
            "calls": day.used.calls,
            "tokens_in": day.used.tokens_in,
            "tokens_out": day.used.tokens_out,
            "money": round(day.used.money, 6),
        }
        for day in store.usage.days()[:CHAT_DAYS]
    }
