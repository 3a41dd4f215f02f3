"""Which vault is meant: `--vault`, else `LAMINA_VAULT`, else the nearest one upwards, else `~/lamina`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lamina.errors import NotFound
from lamina.vault import home

VARIABLE = "LAMINA_VAULT"
DEFAULT = "lamina"
"""In the user's home, in plain sight: the files are theirs to open."""


class Way(StrEnum):
    """By what a vault was chosen."""

    OPTION = "--vault"
    ENVIRONMENT = VARIABLE
    NEAREST = "nearest folder upwards"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Choice:
    """A folder, and by what it was chosen."""

    folder: Path
    way: Way

    @property
    def exists(self) -> bool:
        return home.is_vault(self.folder)

    def needed(self) -> Path:
        """The folder, or NotFound where it is no vault: reading never makes one."""
        if not self.exists:
            raise NoVault(self)
        return self.folder

    def as_option(self) -> tuple[str, ...]:
        """What to add to a command so that it chooses the same vault."""
        return ("--vault", str(self.folder)) if self.way is Way.OPTION else ()


class NoVault(NotFound):
    """The chosen folder is no vault."""

    def __init__(self, choice: Choice) -> None:
        self.choice = choice
        super().__init__(f"there is no vault in {choice.folder} (chosen by: {choice.way})")


def choose(given: Path | None, environ: Mapping[str, str], here: Path, user: Path, *, upwards: bool = True) -> Choice:
    """The vault a command is about."""
    if given is not None:
        return Choice(_whole(given, here), Way.OPTION)
    if environ.get(VARIABLE):
        return Choice(_whole(Path(environ[VARIABLE]), here), Way.ENVIRONMENT)
    nearest = next((each for each in (here, *here.parents) if home.is_vault(each)), None) if upwards else None
    if nearest is not None:
        return Choice(nearest, Way.NEAREST)
    return Choice(user / DEFAULT, Way.DEFAULT)


def _whole(path: Path, here: Path) -> Path:
    return here / path.expanduser()
