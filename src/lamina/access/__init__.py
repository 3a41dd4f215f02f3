"""Authentication and authorisation for every network surface: access tokens, callers, rights and rate limits."""

from lamina.access.caller import Caller, Right
from lamina.access.rate_limit import RateLimiter
from lamina.access.served_memory import ServedMemory
from lamina.access.tokens import AccessToken, AccessTokenStore

__all__ = ["AccessToken", "AccessTokenStore", "Caller", "RateLimiter", "Right", "ServedMemory"]
