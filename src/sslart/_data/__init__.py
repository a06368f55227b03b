"""Conversion of user input to coded arrays: samples, labels, classes, and the encoder."""
