"""Chooses the vault: `--vault`, else `LAMINA_VAULT`, else the nearest vault in a parent folder, else `~/lamina`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lamina.errors import NotFound
from lamina.vault import home

VARIABLE = "LAMINA_VAULT"
DEFAULT = "lamina"
"""A visible folder in the user's home, because the user owns the files."""


class Way(StrEnum):
    """Why a vault was chosen."""

    OPTION = "--vault"
    ENVIRONMENT = VARIABLE
    NEAREST = "nearest folder upwards"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Choice:
    """A folder and why it was chosen."""

    folder: Path
    way: Way

    @property
    def exists(self) -> bool:
        """Whether the folder is a vault."""
        return home.is_vault(self.folder)

    def needed(self) -> Path:
        """Return the folder; VaultNotFound if it is not a vault, because reading never creates one."""
        if not self.exists:
            raise NoVault(self)
        return self.folder

    def as_option(self) -> tuple[str, ...]:
        """Return the option that makes another command choose the same vault."""
        return ("--vault", str(self.folder)) if self.way is Way.OPTION else ()


class NoVault(NotFound):
    """The chosen folder is not a vault."""

    def __init__(self, choice: Choice) -> None:
        self.choice = choice
        super().__init__(f"there is no vault in {choice.folder} (chosen by: {choice.way})")


def choose(given: Path | None, environ: Mapping[str, str], here: Path, user: Path, *, upwards: bool = True) -> Choice:
    """Return the vault of a command, and why it was chosen."""
    if given is not None:
        return Choice(_whole(given, here), Way.OPTION)
    if environ.get(VARIABLE):
        return Choice(_whole(Path(environ[VARIABLE]), here), Way.ENVIRONMENT)
    nearest = next((folder for folder in (here, *here.parents) if home.is_vault(folder)), None) if upwards else None
    if nearest is not None:
        return Choice(nearest, Way.NEAREST)
    return Choice(user / DEFAULT, Way.DEFAULT)


def _whole(path: Path, here: Path) -> Path:
    return here / path.expanduser()
