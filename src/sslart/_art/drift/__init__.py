"""Sums and adaptive windows by which a stream is watched."""
