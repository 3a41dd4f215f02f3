"""One typed settings object: defaults < TOML file < environment < argument."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

import lamina
from lamina import InvalidInput, InvalidScope, Settings
from lamina.settings import load_settings


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def test_the_defaults_apply_without_configuration(file: Path) -> None:
    settings = load_settings(file)
    assert settings == Settings()
    assert (settings.scope, settings.watch, settings.segment_chars, settings.idle_minutes, settings.state_dir) == (
        "org:local",
        True,
        12_000,
        30,
        None,
    )


def test_the_environment_overrides_the_file_and_an_argument_overrides_both(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text('scope = "org:file"\nidle_minutes = 1\nsegment_chars = 1000\n')
    assert load_settings(file).scope == "org:file"
    monkeypatch.setenv("LAMINA_SCOPE", "org:environment")
    monkeypatch.setenv("LAMINA_IDLE_MINUTES", "2")
    settings = load_settings(file)
    assert (settings.scope, settings.idle_minutes, settings.segment_chars) == ("org:environment", 2, 1000)
    settings = load_settings(file, scope="org:argument", watch=None)
    assert (settings.scope, settings.idle_minutes, settings.watch) == ("org:argument", 2, True)
    assert load_settings(file, watch=False).watch is False


def test_a_value_equal_to_the_default_still_overrides(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("idle_minutes = 1\nwatch = false\n")
    monkeypatch.setenv("LAMINA_IDLE_MINUTES", "30")
    assert load_settings(file).idle_minutes == 30
    assert load_settings(file, watch=True).watch is True


def test_unrelated_variables_are_ignored(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_VAULT", "/somewhere")
    monkeypatch.setenv("SCOPE", "org:wrong")
    assert load_settings(file) == Settings()


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("colour = 1", "colour"),
        ("segment_chars = 7", "segment_chars"),
        ("segment_chars = 99999999", "segment_chars"),
        ('idle_minutes = "often"', "idle_minutes"),
        ("idle_minutes = 0", "idle_minutes"),
        ('watch = "perhaps"', "watch"),
        ("token_bits = 2", "token_bits"),
        ("scope = ", "settings.toml"),
        ("= 1", "settings.toml"),
    ],
)
def test_invalid_settings_are_refused_with_their_name(file: Path, text: str, result: str) -> None:
    file.write_text(text)
    with pytest.raises(InvalidInput, match=result):
        load_settings(file)


def test_an_unreadable_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match=r"bytes\.toml"):
        load_settings(tmp_path / "bytes.toml")
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(InvalidInput, match=r"folder\.toml"):
        load_settings(tmp_path / "folder.toml")


def test_an_invalid_variable_is_refused_with_its_name(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_IDLE_MINUTES", "soon")
    with pytest.raises(InvalidInput, match=r"(?s)LAMINA_\* environment.*idle_minutes"):
        load_settings(file)


def test_settings_are_immutable() -> None:
    with pytest.raises(ValidationError):
        Settings().scope = "org:other"


def test_every_setting_is_described() -> None:
    assert all(field.description for field in Settings.model_fields.values())


def test_a_memory_reads_the_settings_of_its_vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = tmp_path / "vault"
    lamina.open(vault, watch=False).close()
    (vault / ".lamina/settings.toml").write_text(
        f'scope = "org:mine"\nwatch = false\nstate_dir = "{tmp_path / "state"}"\n'
    )
    with lamina.open(vault) as memory:
        assert (memory.scope, memory.settings.watch, memory.engine.state) == ("org:mine", False, tmp_path / "state")
        assert (tmp_path / "state/history.db").is_file()
    monkeypatch.setenv("LAMINA_SCOPE", "org:environment")
    with lamina.open(vault) as memory:
        assert memory.scope == "org:environment"
    with lamina.open(vault, "org:argument") as memory:
        assert memory.scope == "org:argument"


@pytest.mark.parametrize("scope", ["", "*", "local", "org:", "org:A", "org:a/b", "org:..", "org:a:agent:", "org:ａ"])
def test_an_invalid_scope_is_refused(tmp_path: Path, scope: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidScope):
        lamina.open(tmp_path / "vault", scope, watch=False)
    monkeypatch.setenv("LAMINA_SCOPE", scope)
    with pytest.raises(InvalidScope):
        lamina.open(tmp_path / "vault", watch=False)
