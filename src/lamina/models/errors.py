"""The errors of models.

LaminaError
└── ModelError              a model cannot be used
    ├── ModelMissing            its files or its package are not installed
    ├── ModelUnreachable        the hub or the endpoint does not answer
    │   └── ModelPaused             … and after several failures in a row it is not called for a while
    └── BudgetSpent             a chat model has used its calls, tokens or money of the day
"""

from __future__ import annotations

from lamina.errors import LaminaError


class ModelError(LaminaError):
    """A model cannot be used; `calls` is how many calls were made in vain."""

    calls = 1


class ModelMissing(ModelError):
    """A model's files or its package are not on this machine."""


class ModelUnreachable(ModelError):
    """The hub or the endpoint does not answer."""


class ModelPaused(ModelUnreachable):
    """The endpoint failed several times in a row and is not called for a while."""

    calls = 0


class BudgetSpent(ModelError):
    """A chat model has used its calls, tokens or money of the day."""

    calls = 0
