"""Learning from streams, measured: test, then train, with few labels and with all."""
