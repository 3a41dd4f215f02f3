"""How a command ends: errors become one line, a hint and an exit code.

0 ok · 1 error · 2 usage or unusable input · 3 not found · 4 refused by a rule · 130 interrupted · 141 reader gone
"""

from __future__ import annotations

from lamina.cli.vault_choice import NoVault
from lamina.cli.words import NoFile
from lamina.errors import InvalidInput, InvalidScope, NotFound, Refused, StoreBusy, StoreTooNew, UndoRefused
from lamina.models.errors import ModelError

OK, ERROR, USAGE, NOT_FOUND, REFUSED, INTERRUPTED, READER_GONE = 0, 1, 2, 3, 4, 130, 141


def code_of(error: Exception) -> int:
    """The exit code an error stands for."""
    match error:
        case InvalidInput():
            return USAGE
        case NotFound():
            return NOT_FOUND
        case Refused():
            return REFUSED
        case _:
            return ERROR


def hint_of(error: Exception, command: str) -> str:
    """What to do next."""
    match error:
        case NoVault(choice=choice):
            return f"make one with `lamina init {choice.folder}`, or see what lamina does with `lamina tour`"
        case NoFile():
            return "check the name; if these are the words themselves, pipe them in: echo … | lamina capture -"
        case InvalidScope():
            return "leave --scope out for your own memory, or name one that is yours"
        case InvalidInput():
            return f"`lamina {command} --help` shows what it takes"
        case NotFound():
            return "`lamina list --all` shows the atoms, `lamina journal` the commits"
        case UndoRefused(commit=commit):
            return f"`lamina undo {commit} --cascade` undoes them too; add --dry-run to look first"
        case Refused():
            return "`lamina history ID` shows how the atom came to be what it is"
        case StoreBusy():
            return "another program is writing; try again in a moment"
        case StoreTooNew():
            return "upgrade lamina"
        case ModelError():
            return "`lamina models` shows which model files are here"
        case _:
            return "`lamina doctor` looks for what is wrong"
