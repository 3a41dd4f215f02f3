"""Erasures that a person asks for: which atoms, and what removes them."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.atom.atom import Atom
from lamina.atom.kinds import kind_traits
from lamina.engine.caller_access import CallerAccess
from lamina.errors import NotFound
from lamina.review.erase import Eraser, ErasureReceipt
from lamina.store.base import AtomFilter


def erase(
    access: CallerAccess, ids: Sequence[str], session: str | None, reason: str, *, everywhere: bool
) -> ErasureReceipt:
    """Erase atoms and everything captured in a session; NotFound if there is nothing to erase.

    With `everywhere`, the same words are erased from all other memories too.
    """
    with access.engine.effects.room_to_erase():
        access.sync_files()
        targets = [*(access.find_atom(atom_id) for atom_id in ids), *_session_atoms(access, session)]
        if not targets:
            raise NotFound(
                f"there is nothing of session {session!r}" if session else "give the ids or the session to erase"
            )
        return access.engine.effects.erase(_make_eraser(access, everywhere), targets, reason)


def _session_atoms(access: CallerAccess, session: str | None) -> list[Atom]:
    """Return what was captured in a session, without what was derived from it."""
    query = AtomFilter(scopes=access.caller.scopes, session_id=session)
    atoms = access.engine.store.atoms.read(query) if session else []
    return [atom for atom in atoms if not (atom.evidence or kind_traits(atom.kind).is_listing)]


def _make_eraser(access: CallerAccess, everywhere: bool) -> Eraser:
    engine, caller = access.engine, access.caller
    outside_copies = (
        f"{name}: text may have been sent to this service; ask its provider what it stores"
        for name in (engine.settings.chat, engine.settings.embedder)
        if ":" in name
    )
    return Eraser(
        store=engine.store,
        disk=engine.disk,
        sync=engine.sync,
        actor=caller.actor,
        scope=caller.scope,
        scopes=caller.scopes,
        everywhere=everywhere,
        external_copies=tuple(outside_copies),
    )
