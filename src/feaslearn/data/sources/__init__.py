"""What data can be read from, piece by piece: one kind of source per file."""
