"""Where bodies touch: candidate pairs, one file per shape pair, and the buffer that contacts are written to."""
