"""The experiments of the paper, one file each, on real data: measured and published results."""
