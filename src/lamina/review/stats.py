"""Counts and sizes of a memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lamina.atom.scope import Scope
from lamina.review.diagnosis import is_in_scopes
from lamina.store.base import Store

CHAT_DAYS = 14


def collect_stats(store: Store, scopes: Sequence[Scope], state_folder: Path, pending_count: int) -> dict[str, Any]:
    """Return the number of atoms by type, the usage of models, and the disk space."""
    by_status = store.count_by(scopes, "status")
    return {
        "atoms": sum(by_status.values()),
        "by_status": by_status,
        "by_kind": store.count_by(scopes, "kind"),
        "by_layer": store.count_by(scopes, "layer"),
        "at_hand": store.ageing_states.count_tiers(scopes),
        "commits": store.count_commits(scopes),
        "files": store.ledger.summary(lambda path: is_in_scopes(path, scopes)),
        "models": store.encodings.count_by_model(),
        "vector_bytes": _vector_bytes(store),
        "waiting": pending_count,
        "chat": _chat_usage(store),
        "bytes": {file.name: file.stat().st_size for file in sorted(state_folder.glob("*.db"))},
    }


def _vector_bytes(store: Store) -> dict[str, int]:
    """Return the bytes of vectors by precision, and of token states."""
    room = store.encodings.sizes()
    return {f"{bits} bits": size for bits, (_, size) in room.vectors.items()} | {"token states": room.states[1]}


def _chat_usage(store: Store) -> dict[str, Any]:
    """Return the usage of chat models by day and model, the latest days first."""
    return {
        f"{day.day.isoformat()} {day.model}": {
            "calls": day.usage.calls,
            "tokens_in": day.usage.tokens_in,
            "tokens_out": day.usage.tokens_out,
            "money": round(day.usage.money, 6),
        }
        for day in store.usage.days()[:CHAT_DAYS]
    }
