"""Boxes of one network: search, learning, and the backend that does the numerical work."""
