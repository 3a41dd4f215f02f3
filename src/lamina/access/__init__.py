"""Authentication and authorisation for every network surface: access tokens, principals, rights and rate limits."""

from lamina.access.principal import Principal, Right
from lamina.access.rate_limit import RateLimiter
from lamina.access.served_memory import ServedMemory
from lamina.access.tokens import AccessToken, AccessTokenStore

__all__ = ["AccessToken", "AccessTokenStore", "Principal", "RateLimiter", "Right", "ServedMemory"]
