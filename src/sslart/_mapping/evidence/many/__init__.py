"""Where labels or classes are too many for a matrix over all labels: samples of them, and regression in the primal."""
