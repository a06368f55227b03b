"""Fewer boxes: those that have faded are dropped, and what refers to boxes follows."""
