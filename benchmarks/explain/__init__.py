"""How good explanations are, and what they cost: `make explain-bench`."""
