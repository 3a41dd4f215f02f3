"""Outside models behind small Protocols."""
