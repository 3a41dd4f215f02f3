"""Every file has one place, and every place at most one scope."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.atom import Atom, AtomId, Scope, Status
from lamina.vault.layout import (
    file_stem,
    is_conflict_copy,
    is_new_atom_path,
    is_visible_name,
    make_slug,
    path_for,
    scope_folder,
    scope_of_path,
)

ID = AtomId("01jc9x2k7m3f5r8t0v2w4y6z8a")
NAME = f"preference-{ID}"


def an_atom(**fields: Any) -> Atom:
    initial = {
        "id": ID,
        "scope": Scope("org:local"),
        "kind": "preference",
        "content": "Words.",
        "observed_at": datetime(2026, 11, 14, 23, 30, tzinfo=UTC),
    }
    return Atom(**{**initial, **fields})


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({}, f"atoms/2026-11-14/{NAME}.md"),
        ({"scope": "org:acme"}, f"scopes/acme/atoms/2026-11-14/{NAME}.md"),
        ({"scope": "org:acme:agent:cto"}, f"scopes/acme/agents/cto/atoms/2026-11-14/{NAME}.md"),
        ({"scope": "org:local:agent:x"}, f"scopes/local/agents/x/atoms/2026-11-14/{NAME}.md"),
        ({"status": Status.ARCHIVED}, f"archive/atoms/2026-11-14/{NAME}.md"),
        ({"status": Status.TOMBSTONED, "scope": "org:acme"}, f"scopes/acme/archive/atoms/2026-11-14/{NAME}.md"),
        ({"status": Status.SUPERSEDED}, f"atoms/2026-11-14/{NAME}.md"),
        ({"kind": "user_request"}, f"atoms/2026-11-14/user-request-{ID}.md"),
        ({"kind": "идея"}, f"atoms/2026-11-14/atom-{ID}.md"),
        ({"kind": "../Évil"}, f"atoms/2026-11-14/evil-{ID}.md"),
        ({"kind": "narrative", "segment_id": "Sess 0912#1"}, f"sessions/2026-11-14/sess-0912-1-{ID}.md"),
        ({"kind": "narrative", "segment_id": "日"}, f"sessions/2026-11-14/segment-{ID}.md"),
        ({"kind": "narrative"}, f"atoms/2026-11-14/narrative-{ID}.md"),
        (
            {"observed_at": datetime(2026, 11, 15, 0, 30, tzinfo=timezone(timedelta(hours=2)))},
            f"atoms/2026-11-14/{NAME}.md",
        ),
    ],
)
def test_an_atom_has_a_path(fields: dict[str, Any], path: str) -> None:
    assert path_for(an_atom(**fields)) == path


@pytest.mark.parametrize(
    ("path", "scope"),
    [
        ("atoms/2026-11-14/x.md", "org:local"),
        ("note.md", "org:local"),
        ("scopes/acme/atoms/x.md", "org:acme"),
        ("scopes/acme/x.md", "org:acme"),
        ("scopes/acme/agents/cto/atoms/x.md", "org:acme:agent:cto"),
        ("scopes/local/agents/x/y.md", "org:local:agent:x"),
        ("scopes/Acme/atoms/x.md", None),
        ("scopes/acme/agents/x.md", None),
        ("scopes/acme/agents/CTO/x.md", None),
        ("scopes/acme/Agents/cto/x.md", None),
        ("scopes/x.md", None),
        ("scopes/local/atoms/x.md", None),
        ("Scopes/acme/x.md", None),
        ("ｓcopes/acme/x.md", None),
        ("scopes/*/x.md", None),
        ("../x.md", None),
        ("scopes/acme/../beta/x.md", None),
        ("/atoms/x.md", None),
        ("", None),
    ],
)
def test_a_path_belongs_to_one_scope_or_to_none(path: str, scope: str | None) -> None:
    assert scope_of_path(path) == scope


names = st.from_regex(r"[a-z0-9]([a-z0-9_-]{0,10}[a-z0-9])?", fullmatch=True)


@given(names, st.none() | names, st.text(min_size=1), st.sampled_from(Status))
def test_the_path_of_an_atom_is_in_its_own_scope(org: str, name: str | None, kind: str, status: Status) -> None:
    scope = Scope(f"org:{org}" + (f":agent:{name}" if name else ""))
    path = path_for(an_atom(scope=scope, kind=kind, status=status))
    assert scope_of_path(path) == scope
    assert path.startswith(scope_folder(scope))
    assert file_stem(path).endswith(ID)
    assert not is_conflict_copy(path)
    assert set(file_stem(path)) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


@given(st.text())
def test_a_slug_is_short_and_plain(text: str) -> None:
    result = make_slug(text, "atom")
    assert result
    assert len(result) <= 60
    assert set(result) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert result == result.strip("-")


@pytest.mark.parametrize(
    ("path", "home"),
    [
        ("atoms/x.md", True),
        ("atoms/any/depth/x.md", True),
        ("scopes/acme/atoms/x.md", True),
        ("scopes/acme/agents/cto/atoms/x.md", True),
        ("x.md", False),
        ("notes/atoms/x.md", False),
        ("archive/atoms/x.md", False),
        ("sessions/2026-11-14/x.md", False),
        ("scopes/Acme/atoms/x.md", False),
        ("atoms/.trash/x.md", False),
        ("atoms/.x.md", False),
        ("atoms/x.txt", False),
        ("atoms", False),
    ],
)
def test_only_the_atoms_folder_of_a_scope_has_atoms(path: str, home: bool) -> None:
    assert is_new_atom_path(path) is home


def test_hidden_folders_are_never_read() -> None:
    assert not is_visible_name(".obsidian")
    assert not is_visible_name(".lamina")
    assert is_visible_name("atoms")


@pytest.mark.parametrize(
    "name",
    [
        "x.sync-conflict-20261114-091200-ABCDEFG",
        f"{NAME}.sync-conflict-20261114-091200",
        "x (conflicted copy 2026-11-14)",
        "x (Ann's conflicted copy 2026-11-14)",
        "x (Ann's conflicted copy 2026-11-14 (1))",
        "x (ANN-PC's conflicted copy 2026-11-14)",
        "x (conflicted copy 2026-11-14 091200)",
        "x (Conflicted copy MacBook 202611140912)",
        "x (case conflict)",
        "x (Case Conflict 1)",
        "x (Unicode Encoding Conflict)",
        "x_conflict-20261114-091200",
        "x (SFConflict ann@example.org 2026-11-14-09-12-00)",
        "x (conflict on 2026-11-14)",
        "x (laptop conflict #2 on 2026-11-14)",
        "x (conflict 2026-11-14-09-12-00)",
        "x.sync.Conflict",
        "x.Conflict",
        "x [conflicted]",
        "x.conflict1",
        "x.orig",
        "x~",
        "x_BASE_4711",
        "x_LOCAL_4711",
        "x_REMOTE_4711",
        "x_BACKUP_4711",
        f"{NAME} 2",
        f"{ID} 3",
        f"{NAME} (1)",
        f"{NAME}(2)",
        f"{NAME} copy",
        f"{NAME} copy 2",
        f"{NAME} - Copy",
        f"{NAME} - Copy (2)",
        f"{NAME}-LAPTOP",
        f"{NAME}-Anns-MacBook-Pro",
        f"{NAME}-DESKTOP-4F7K2",
    ],
)
def test_a_sync_conflict_copy_is_recognised_by_its_name(name: str) -> None:
    assert is_conflict_copy(f"atoms/2026-11-14/{name}.md")


@pytest.mark.parametrize(
    "name",
    [
        NAME,
        ID,
        "notes (draft)",
        "chapter 2",
        "report (1)",
        "my copy",
        "ticket-LAPTOP",
        "meeting (conflict with Bob)",
        "conflict",
        "the conflicted copy",
        f"{NAME}-my-own-words",
        f"about {ID} and more",
        "original",
        "2026-11-14",
        "v1.2",
    ],
)
def test_ordinary_names_are_not_copies(name: str) -> None:
    assert not is_conflict_copy(f"atoms/2026-11-14/{name}.md")
