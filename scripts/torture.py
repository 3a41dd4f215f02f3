"""The long version of the torture tests: `python scripts/torture.py [kills|faults|processes|people|power|full|all]`."""
