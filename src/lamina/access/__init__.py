"""Authentication and authorisation for every network surface: access tokens, principals, rights and rate limits."""

from lamina.access.principal import Principal, Right
from lamina.access.rate_limit import RateLimiter, RateLimits
from lamina.access.served_memory import ServedMemory
from lamina.access.tokens import AccessTokenStore
from lamina.store.access import AccessToken

__all__ = ["AccessToken", "AccessTokenStore", "Principal", "RateLimiter", "RateLimits", "Right", "ServedMemory"]
