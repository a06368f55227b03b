"""Merging of encoders, scales, and column plans of several models; the order of models is irrelevant."""
