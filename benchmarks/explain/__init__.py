"""Quality and cost of explanations: `make explain-bench`."""
