"""The engine of a vault, and what it does in the name of one caller."""

from lamina.engine.engine import Engine

__all__ = ["Engine"]
