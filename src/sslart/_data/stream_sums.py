"""Column layout and limits of the block sums that drift detection uses."""

from __future__ import annotations

BLOCK = 32  # samples that are summed
MAX_CLASSES = 100  # whose labels are counted; further ones count as one
GRID = 2.0**20  # multiples of 1 / GRID add up exactly, in any order
MAX_VALUE = 1e140  # its square, summed over any stream, is finite
MISSING = -1  # in place of a category

# columns of every row: the number of its last sample, and how many samples or values it sums
END, COUNT = 0, 1
# further columns of the sums over a block; those of features, categories and classes follow
ROOTS, NOVEL, N_PREDICTED, WRONG, WRONG_SQUARES, N_LABELLED, FIRST_FEATURE = range(2, 9)

N_OF_LEVEL = 5  # rows, at most
MAX_LEVELS = 64

DELTA = 0.002  # bounds the probability of a false alarm, over all series together
MIN_PART = 5  # values on each side of a cut
MIN_VALUES = 10
TINY = 1e-9  # in place of too few values, so that the limit is far away

MARGIN = 1.0  # standard deviations that the mean of a feature lies beyond the means of all earlier parts
MIN_OF_MEAN = 16  # values
MIN_EARLIER = 256
