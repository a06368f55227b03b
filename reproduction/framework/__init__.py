"""Framework of the experiments: protocol, tasks, records, comparison with the paper, and plots."""
