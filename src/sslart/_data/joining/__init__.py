"""What several models know of their data, joined: encoders, scales, columns. The order of models is irrelevant."""
