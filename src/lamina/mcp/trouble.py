"""Errors as an agent reads them: what is wrong and what to do next, in the words of its tools; never a traceback."""

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
from lamina.logs import wordless
from lamina.models.errors import ModelError
from lamina.text.hidden import escaped

logger = logging.getLogger("lamina.mcp")

UNKNOWN = "something went wrong inside lamina; nothing acknowledged is lost. The server's log tells where"


class Closed(Refused):
    """The vault cannot be opened, so no tool works until a person has seen to it."""


def trouble(error: LaminaError) -> str:
    """An error of lamina's tree, and the next step."""
    if isinstance(error, StoreError) and not isinstance(error, StoreBusy | StoreTooNew):
        logger.error("the store failed: %s", wordless(error))
        return (
            "StoreError: the disk or database failed; nothing acknowledged is lost. Try again, or run `lamina doctor`"
        )
    return f"{type(error).__name__}: {_said(error)}. {_next(error)}"


def _said(error: LaminaError) -> str:
    """The message on one line; of those that quote what is stored, what they are about."""
    match error:
        case Erased(atom_id=erased):
            return f"{erased} was erased for good"
        case ClaimTaken(holder=holder):
            return f"{holder} holds that claim at that time; supersede it or give the new one other valid times"
        case _:
            return " ".join(escaped(str(error)).split())


def _next(error: LaminaError) -> str:
    match error:
        case InvalidScope():
            return "Leave scopes out to search everything you may read."
        case InvalidInput():
            return "Mend that argument and call again; its description says what it takes."
        case Erased():
            return "Do not try to bring it back."
        case NotFound():
            return "Ids come from recall, get and review; recall again for one that is there."
        case StaleRevision():
            return "Read it with get and try again."
        case TransitionRefused():
            return "Nothing was changed; get with history tells how it came to stand there."
        case Closed():
            return "No tool works until that is mended; tell the person."
        case Refused():
            return "Nothing was changed; tell the person if it matters."
        case StoreBusy():
            return "Another program is writing; try again in a moment."
        case StoreTooNew():
            return "The person has to upgrade lamina."
        case ModelError():
            return "Go on without a model; `lamina models` tells the person what is missing."
        case _:
            return "`lamina doctor` tells the person what is wrong."
