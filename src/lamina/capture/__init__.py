"""Text in, atoms out: words are kept as they were said, statements become atoms."""
