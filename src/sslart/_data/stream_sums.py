"""Column layout and limits of the block sums that drift detection uses."""

from __future__ import annotations

BLOCK = 32  # samples that are summed to one entry, so that a window costs little per sample
MAX_CLASSES = 100  # classes that are counted separately; further ones count as one
GRID = 2.0**20  # multiples of 1 / GRID add up exactly, in any order
MAX_VALUE = 1e140  # its square, summed over any stream, is finite
MISSING = -1  # code of a missing category

# columns of every row: the number of its last sample, and the number of samples or values in the sum
END, COUNT = 0, 1
# further columns of the sums over a block; those of features, categories and classes follow
ROOTS, NOVEL, N_PREDICTED, WRONG, WRONG_SQUARES, N_LABELLED, FIRST_FEATURE = range(2, 9)

N_OF_LEVEL = 5  # buckets per level at most, as in ADWIN
MAX_LEVELS = 64  # enough for 2⁶⁴ blocks

DELTA = 0.002  # ADWIN's δ, the default of river: bounds the probability of a false alarm over all series together
MIN_PART = 5  # minimum number of values on each side of a cut
MIN_VALUES = 10  # minimum number of values in a window
TINY = 1e-9  # replaces a count of zero, so that the threshold is out of reach

MIN_BEFORE, MIN_AFTER = 256, 16  # minimum numbers of values of a feature on each side of a change of its mean
MIN_OF_RANGE = 128  # minimum number of values of a mean that belongs to the range of earlier means
MIN_BEYOND = 0.25  # shares of that range that the mean after a change must lie beyond it
MIN_SHIFT = 0.25  # minimum shift in standard deviations, so that small changes are not reported
ROUNDING = 1e-12  # a variance below this share of the mean square is a rounding
FIRST_CHECK = 1024  # number of samples at the first check of the features
LONG, RARER = 16_384, 4  # number of samples from which features are checked every fourth block, to save time
