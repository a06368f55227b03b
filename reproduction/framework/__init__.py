"""What the experiments share: protocol, tasks, records, comparison with the paper, plots."""
