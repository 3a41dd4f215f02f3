"""Who may come in from outside, whose memory they see, and how much they may ask of it."""

from lamina.access.budget import Budgets
from lamina.access.caller import Caller, Right
from lamina.access.house import House
from lamina.access.tokens import Token, Tokens

__all__ = ["Budgets", "Caller", "House", "Right", "Token", "Tokens"]
