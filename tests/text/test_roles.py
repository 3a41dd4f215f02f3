"""Which words are roles and not names."""

from __future__ import annotations

from lamina.text.roles import ROLES, is_role


def test_a_role_is_no_name() -> None:
    assert all(is_role(role) and is_role(f" {role.upper()}: ") for role in ROLES)
    assert not is_role("Caroline")
    assert not is_role("")
