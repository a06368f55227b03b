"""Costs and savings of a limit on the number of boxes."""
