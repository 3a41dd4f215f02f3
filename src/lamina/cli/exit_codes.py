"""Exit codes and hints for errors.

0 ok · 1 error · 2 usage or invalid input · 3 not found · 4 refused by a rule · 130 interrupted · 141 broken pipe
"""

from __future__ import annotations

from lamina.cli.repository_checkout import CheckoutNotFound, introduction_command
from lamina.cli.text_input import InputFileNotFound
from lamina.cli.vault_choice import VaultNotFound
from lamina.errors import InvalidInput, InvalidScope, NotFound, Refused, StoreBusy, StoreTooNew, UndoRefused
from lamina.models.errors import ModelError

OK, ERROR, USAGE, NOT_FOUND, REFUSED, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 3, 4, 130, 141


def exit_code_for(error: Exception) -> int:
    """Return the exit code of an error."""
    match error:
        case InvalidInput():
            return USAGE
        case NotFound():
            return NOT_FOUND
        case Refused():
            return REFUSED
        case _:
            return ERROR


def hint_for(error: Exception, command: str) -> str:
    """Return what to do next after an error of a command."""
    match error:
        case VaultNotFound(choice=choice):
            create, introduce = f"lamina init {choice.folder}", f"lamina {introduction_command()}"
            return f"create one with `{create}`, or see what lamina does with `{introduce}`"
        case InputFileNotFound():
            return "check the name; if this is the text itself, pipe it in: echo … | lamina capture -"
        case InvalidScope():
            return "leave --scope out for your own memory, or give a scope you may use"
        case InvalidInput():
            return f"`lamina {command} --help` shows the arguments and options"
        case CheckoutNotFound():
            return f"run `lamina {command}` in the folder of a checkout, or install one with `pip install -e .`"
        case NotFound():
            return "`lamina list --all` lists the atoms, `lamina journal` the commits"
        case UndoRefused(commit=commit):
            return f"`lamina undo {commit} --cascade` undoes them too; add --dry-run to check first"
        case Refused():
            return "`lamina history ID` shows the changes of the atom"
        case StoreBusy():
            return "another program is writing; try again in a moment"
        case StoreTooNew():
            return "upgrade lamina"
        case ModelError():
            return "`lamina models` shows which model files are installed"
        case _:
            return "`lamina doctor` checks the vault"
