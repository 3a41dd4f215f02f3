"""What goes wrong with models.

LaminaError
└── ModelError              a model cannot be used
    ├── ModelMissing            its files or its package are not here
    ├── ModelUnreachable        the hub or the endpoint does not answer
    └── BudgetSpent             a chat model has had its calls, tokens or money of the day
"""

from __future__ import annotations

from lamina.errors import LaminaError


class ModelError(LaminaError):
    """A model cannot be used."""


class ModelMissing(ModelError):
    """A model's files or its package are not on this machine."""


class ModelUnreachable(ModelError):
    """The hub or the endpoint does not answer."""


class BudgetSpent(ModelError):
    """A chat model has had its calls, tokens or money of the day."""
