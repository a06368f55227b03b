"""The experiments of the paper, one file each: run on the real data, measured beside printed."""
