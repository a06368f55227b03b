"""Fewer boxes: faded ones are dropped, close ones joined where there is no room, and what refers to boxes follows."""
