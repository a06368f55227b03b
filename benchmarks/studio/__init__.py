"""Benchmarks of the studio."""
