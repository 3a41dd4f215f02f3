"""Working memory: notes of one run or one workstream, and the procedures learned from successful runs."""
