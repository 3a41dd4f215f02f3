"""The dream: consolidation that runs by itself, one file a step. It adds, moves and asks; it destroys nothing."""
