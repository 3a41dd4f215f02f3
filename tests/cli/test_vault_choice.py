"""Which vault a command uses: the option, the environment, the nearest one upwards, or the default.

Covers `lamina.cli.command` and `lamina.cli.command_session`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from lamina.cli.vault_choice import ChoiceReason, VaultNotFound, choose_vault
from lamina.vault.vault_setup import ensure_vault


@pytest.fixture
def nested(tmp_path: Path) -> Path:
    ensure_vault(tmp_path / "vault")
    place = tmp_path / "vault" / "atoms" / "deep"
    place.mkdir()
    return place


def test_the_option_precedes_everything(nested: Path, tmp_path: Path) -> None:
    choice = choose_vault(tmp_path / "x", {"LAMINA_VAULT": "/y"}, nested, tmp_path)
    assert (choice.folder, choice.reason) == (tmp_path / "x", ChoiceReason.OPTION)


def test_the_environment_precedes_the_nearest_vault(nested: Path, tmp_path: Path) -> None:
    choice = choose_vault(None, {"LAMINA_VAULT": "other"}, nested, tmp_path)
    assert (choice.folder, choice.reason) == (nested / "other", ChoiceReason.ENVIRONMENT)


def test_the_nearest_vault_upwards_precedes_the_default(nested: Path, tmp_path: Path) -> None:
    assert choose_vault(None, {}, nested, tmp_path).folder == tmp_path / "vault"
    assert choose_vault(None, {}, nested, tmp_path, search_upwards=False).reason is ChoiceReason.DEFAULT


def test_the_default_is_a_visible_folder_in_the_users_home(tmp_path: Path) -> None:
    assert choose_vault(None, {"LAMINA_VAULT": ""}, tmp_path, tmp_path / "user").folder == tmp_path / "user" / "lamina"


def test_a_folder_that_is_no_vault_is_ignored(tmp_path: Path) -> None:
    with pytest.raises(VaultNotFound, match="no vault"):
        choose_vault(tmp_path, {}, tmp_path, tmp_path).require_folder()


def test_only_a_vault_named_by_the_option_is_repeated_in_suggestions(nested: Path, tmp_path: Path) -> None:
    assert choose_vault(tmp_path, {}, nested, tmp_path).as_option() == ("--vault", str(tmp_path))
    assert choose_vault(None, {}, nested, tmp_path).as_option() == ()
