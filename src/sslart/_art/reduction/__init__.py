"""Reduction of boxes: dropping faded ones, joining close ones, and updating references to them."""
