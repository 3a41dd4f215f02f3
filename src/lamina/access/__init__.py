"""Authentication and authorisation for every network surface: access tokens, callers, rights and rate limits."""

from lamina.access.budget import Budgets
from lamina.access.caller import Caller, Right
from lamina.access.house import House
from lamina.access.tokens import Token, Tokens

__all__ = ["Budgets", "Caller", "House", "Right", "Token", "Tokens"]
