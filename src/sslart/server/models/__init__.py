"""Hosted models: they learn from a journal in the background, while requests read the last published state."""
