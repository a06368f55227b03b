"""Scaling of numeric features by rank: rank tables, choice of features, and distances on scales."""
