"""Write path: store text verbatim as segments, and turn its statements into atoms."""
