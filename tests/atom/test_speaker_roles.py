"""Which words are roles and not names."""

from __future__ import annotations

from lamina.atom.passage import ROLE_NAMES, is_role


def test_a_role_is_no_name() -> None:
    assert all(is_role(role) and is_role(f" {role.upper()}: ") for role in ROLE_NAMES)
    assert not is_role("Caroline")
    assert not is_role("")
