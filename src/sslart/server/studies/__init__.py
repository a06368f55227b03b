"""Studies of a model for people: its columns, how far to trust it, what has changed, and what to take away."""
