from __future__ import annotations

from pathlib import Path

import pytest

from lamina.cli.vault_choice import NoVault, Way, choose
from lamina.vault.home import establish


@pytest.fixture
def nested(tmp_path: Path) -> Path:
    establish(tmp_path / "vault")
    place = tmp_path / "vault" / "atoms" / "deep"
    place.mkdir()
    return place


def test_the_option_comes_before_everything(nested: Path, tmp_path: Path) -> None:
    choice = choose(tmp_path / "x", {"LAMINA_VAULT": "/y"}, nested, tmp_path)
    assert (choice.folder, choice.way) == (tmp_path / "x", Way.OPTION)


def test_the_environment_comes_before_the_nearest(nested: Path, tmp_path: Path) -> None:
    choice = choose(None, {"LAMINA_VAULT": "other"}, nested, tmp_path)
    assert (choice.folder, choice.way) == (nested / "other", Way.ENVIRONMENT)


def test_the_nearest_vault_upwards_comes_before_the_default(nested: Path, tmp_path: Path) -> None:
    assert choose(None, {}, nested, tmp_path).folder == tmp_path / "vault"
    assert choose(None, {}, nested, tmp_path, upwards=False).way is Way.DEFAULT


def test_without_anything_it_is_a_folder_in_plain_sight_of_the_users_home(tmp_path: Path) -> None:
    assert choose(None, {"LAMINA_VAULT": ""}, tmp_path, tmp_path / "user").folder == tmp_path / "user" / "lamina"


def test_a_folder_that_is_no_vault_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NoVault, match="no vault"):
        choose(tmp_path, {}, tmp_path, tmp_path).needed()


def test_only_a_vault_named_by_the_option_is_named_again(nested: Path, tmp_path: Path) -> None:
    assert choose(tmp_path, {}, nested, tmp_path).as_option() == ("--vault", str(tmp_path))
    assert choose(None, {}, nested, tmp_path).as_option() == ()
