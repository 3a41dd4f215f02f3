"""Chooses the vault: `--vault`, else `LAMINA_VAULT`, else the nearest vault in a parent folder, else `~/lamina`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lamina.errors import NotFound
from lamina.vault import vault_setup

VAULT_VARIABLE = "LAMINA_VAULT"
DEFAULT_FOLDER_NAME = "lamina"
"""A visible folder in the user's home, because the user owns the files."""


class ChoiceReason(StrEnum):
    """Why a vault was chosen."""

    OPTION = "--vault"
    ENVIRONMENT = VAULT_VARIABLE
    NEAREST = "nearest folder upwards"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class VaultChoice:
    """A folder and why it was chosen."""

    folder: Path
    reason: ChoiceReason

    @property
    def exists(self) -> bool:
        """Return whether the folder is a vault."""
        return vault_setup.is_vault(self.folder)

    def require_folder(self) -> Path:
        """Return the folder; VaultNotFound if it is not a vault, because reading never creates one."""
        if not self.exists:
            raise VaultNotFound(self)
        return self.folder

    def as_option(self) -> tuple[str, ...]:
        """Return the option that makes another command choose the same vault."""
        return ("--vault", str(self.folder)) if self.reason is ChoiceReason.OPTION else ()


class VaultNotFound(NotFound):
    """The chosen folder is not a vault."""

    def __init__(self, choice: VaultChoice) -> None:
        self.choice = choice
        super().__init__(f"there is no vault in {choice.folder} (chosen by: {choice.reason})")


def choose_vault(
    option: Path | None,
    environ: Mapping[str, str],
    current_folder: Path,
    user_home: Path,
    *,
    search_upwards: bool = True,
) -> VaultChoice:
    """Return the vault of a command, and why it was chosen."""
    if option is not None:
        return VaultChoice(_absolute_path(option, current_folder), ChoiceReason.OPTION)
    if environ.get(VAULT_VARIABLE):
        return VaultChoice(_absolute_path(Path(environ[VAULT_VARIABLE]), current_folder), ChoiceReason.ENVIRONMENT)
    nearest = (
        next((folder for folder in (current_folder, *current_folder.parents) if vault_setup.is_vault(folder)), None)
        if search_upwards
        else None
    )
    if nearest is not None:
        return VaultChoice(nearest, ChoiceReason.NEAREST)
    return VaultChoice(user_home / DEFAULT_FOLDER_NAME, ChoiceReason.DEFAULT)


def _absolute_path(path: Path, current_folder: Path) -> Path:
    return current_folder / path.expanduser()
