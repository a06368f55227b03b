"""Boxes: the nodes of a network, its search and learning, and the backend that does the work."""
