"""Explanations, evidence and boxes as words, plain values and small tables."""
