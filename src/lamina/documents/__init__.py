"""The JSON documents that lamina returns and the arguments it accepts, with the same keys on every surface."""
