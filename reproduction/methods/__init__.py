"""The methods that take part in the experiments."""
