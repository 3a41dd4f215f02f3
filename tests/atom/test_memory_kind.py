"""Whether a statement is an episode or a note."""

from __future__ import annotations

import pytest

from lamina.atom.kinds import KINDS, MemoryKind, memory_kind_of


@pytest.mark.parametrize(
    ("content", "kind", "tags", "expected"),
    [
        ("Ann preferred tea yesterday", "preference", (), "episode"),
        ("We met last Friday", "fact", ("goal",), "episode"),
        ("They left two weeks ago", "decision", (), "episode"),
        ("Ann drinks tea", "preference", ("bug",), "note"),
        ("We shipped it", "decision", (), "note"),
        ("Ann drinks tea", "event", ("goal",), "episode"),
        ("The build is red", "bug", (), "episode"),
        ("Two reviewers a change", "policy", (), "note"),
        ("Ann drinks tea", "fact", ("Goal", "bug"), "note"),
        ("Ann drinks tea", "fact", ("deploy",), "episode"),
        ("Ann merged it and will always do so", "fact", (), "episode"),
        ("Ann always drinks tea", "fact", (), "note"),
        ("Ann drinks tea", "fact", (), "episode"),
        ("Ann requires two reviewers", "some_kind_of_mine", (), "note"),
    ],
)
def test_the_first_matching_rule_decides(content: str, kind: str, tags: tuple[str, ...], expected: MemoryKind) -> None:
    assert memory_kind_of(content, kind, tags) == expected


def test_a_declared_kind_other_than_fact_decides_where_no_time_is_given() -> None:
    for kind, fields in KINDS.items():
        if kind != "fact":
            assert memory_kind_of("plain words", kind) == ("episode" if fields.is_episode else "note")
