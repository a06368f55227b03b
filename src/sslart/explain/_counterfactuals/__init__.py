"""The smallest change of a sample that leads to another prediction: where to move, how far, and what was found."""
