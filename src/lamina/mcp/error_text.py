"""Errors as an agent reads them: what is wrong and what to do next, in terms of the tools; never a traceback."""

from __future__ import annotations

import logging

from lamina.errors import (
    ClaimTaken,
    Erased,
    InvalidInput,
    InvalidScope,
    LaminaError,
    NotFound,
    Refused,
    StaleRevision,
    StoreBusy,
    StoreError,
    StoreTooNew,
    TransitionRefused,
)
from lamina.logs import summarise_error
from lamina.models.errors import ModelError
from lamina.text.normal_form import escape_hidden

logger = logging.getLogger("lamina.mcp")

UNEXPECTED_ERROR = "internal error of lamina; acknowledged writes are safe. See the server's log"


class Closed(Refused):
    """The vault cannot be opened, so no tool works until a person has fixed it."""


def describe_error(error: LaminaError) -> str:
    """Return an error of lamina as text, with the next step."""
    if isinstance(error, StoreError) and not isinstance(error, StoreBusy | StoreTooNew):
        logger.error("the store failed: %s", summarise_error(error))
        return (
            "StoreError: the disk or database failed; acknowledged writes are safe. Try again, or run `lamina doctor`"
        )
    return f"{type(error).__name__}: {_error_message(error)}. {_next_step(error)}"


def _error_message(error: LaminaError) -> str:
    """Return the message on one line; for errors whose message quotes stored text, only what they are about."""
    match error:
        case Erased(atom_id=erased):
            return f"{erased} was erased for good"
        case ClaimTaken(holder=holder):
            return f"{holder} fills that claim at that time; supersede it or give the new one other valid times"
        case _:
            return " ".join(escape_hidden(str(error)).split())


def _next_step(error: LaminaError) -> str:
    match error:
        case InvalidScope():
            return "Leave scopes out to search everything you may read."
        case InvalidInput():
            return "Correct that argument and call again; see its description."
        case Erased():
            return "Do not try to restore it."
        case NotFound():
            return "Ids come from recall, get and review; recall again to get a valid one."
        case StaleRevision():
            return "Read it with get and try again."
        case TransitionRefused():
            return "Nothing was changed; get with history shows how it got its status."
        case Closed():
            return "No tool works until that is fixed; tell the person."
        case Refused():
            return "Nothing was changed; tell the person if it matters."
        case StoreBusy():
            return "Another program is writing; try again in a moment."
        case StoreTooNew():
            return "The person has to upgrade lamina."
        case ModelError():
            return "Continue without a model; `lamina models` shows the person what is missing."
        case _:
            return "`lamina doctor` shows the person what is wrong."
