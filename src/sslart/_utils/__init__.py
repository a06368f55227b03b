"""Utilities: validation, array types, caches, threads and memory, files, text."""
