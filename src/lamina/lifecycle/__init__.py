"""Compute how memories age, as pure functions of an atom, its signals and the time: no store, no disk, no clock.

Importance, retention and heat are computed when they are read and never stored. Decisions say what should happen and
why; other packages carry them out.
"""
