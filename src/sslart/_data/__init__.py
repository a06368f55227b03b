"""What the user hands over becomes coded arrays: samples, labels, classes, and the encoder."""
