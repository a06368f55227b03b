"""Drift detection in NumPy (block sums, ADWIN windows, means of features): the specification of the kernel."""

from __future__ import annotations

import math

import numpy as np

from sslart._data.labels import UNLABELLED
from sslart._data.stream_sums import (
    BLOCK,
    COUNT,
    DELTA,
    END,
    FIRST_CHECK,
    FIRST_FEATURE,
    GRID,
    LONG,
    MAX_CLASSES,
    MAX_VALUE,
    MIN_AFTER,
    MIN_BEFORE,
    MIN_BEYOND,
    MIN_OF_RANGE,
    MIN_PART,
    MIN_SHIFT,
    MIN_VALUES,
    MISSING,
    N_LABELLED,
    N_OF_LEVEL,
    N_PREDICTED,
    NOVEL,
    RARER,
    ROOTS,
    ROUNDING,
    TINY,
    WRONG,
    WRONG_SQUARES,
)
from sslart._utils.arrays import FloatArray, IntArray


def drift_sums(
    values: FloatArray,
    places: IntArray | None,
    first: FloatArray,
    gaps: FloatArray,
    room: float,
    codes: IntArray | None,
    predicted: IntArray | None,
    wrong: FloatArray | None,
    n_categories: int,
    n_filled: int,
    before: FloatArray,
    after: FloatArray,
) -> bool:
    """Add further samples to the block sums `before` of a stream, in order, and write the result into `after`.

    Returns False if a class has no column, or a column has no origin yet: `after` is invalid then.

    Parameters
    ----------
    values : array of shape (n_samples, n_columns)
        NaN where missing.
    places : array of shape (n_samples, n_columns), or None
        Index of each value among the counted categories; -1 if it is missing, -2 for another category.
    first : array of length n_columns
        Origin from which the numbers of each column are measured; NaN if not known yet.
    gaps, room, codes, predicted, wrong
        See `sslart._drift.monitor.Measurements`.
    n_categories, n_filled : int
        Number of counted categories, and number of samples in the sums.
    """
    n_samples, n_columns = values.shape
    n_classes = after.shape[1] - FIRST_FEATURE - 3 * n_columns - n_categories
    missing = np.isnan(values)
    own_codes = np.full(n_samples, UNLABELLED) if codes is None else np.minimum(codes, MAX_CLASSES - 1)
    if (~missing & np.isnan(first)).any() or own_codes.max(initial=UNLABELLED) >= n_classes:
        return False
    rows = np.zeros((n_samples, after.shape[1]))
    novelty = np.fmin(gaps / room, 1.0)
    rows[:, COUNT], rows[:, ROOTS], rows[:, NOVEL] = 1.0, _on_grid(np.sqrt(novelty)), _on_grid(novelty)
    with np.errstate(over="ignore"):
        own = np.where(missing, 0.0, np.clip(values - first, -MAX_VALUE, MAX_VALUE))
    features = rows[:, FIRST_FEATURE:]
    features[:, : 3 * n_columns] = np.concatenate([~missing, own, own * own], axis=1)
    if places is not None:
        features[:, :n_columns] += places != MISSING
        sample, column = np.nonzero(places >= 0)
        np.add.at(features, (sample, 3 * n_columns + places[sample, column]), 1.0)
    known = np.flatnonzero(own_codes != UNLABELLED)
    rows[known, N_LABELLED] = 1.0
    features[known, 3 * n_columns + n_categories + own_codes[known]] = 1.0
    if predicted is not None and codes is not None:
        wrong = np.where(predicted == UNLABELLED, np.nan, predicted != codes)
    if wrong is not None:
        known = known[~np.isnan(wrong[known])]
        errors = _on_grid(wrong[known])
        rows[known, N_PREDICTED], rows[known, WRONG], rows[known, WRONG_SQUARES] = 1.0, errors, _on_grid(errors**2)
    after[:] = 0.0
    after[: len(before)] = before
    for block in range(n_filled // BLOCK, len(after)):
        of_block = rows[max(0, block * BLOCK - n_filled) : (block + 1) * BLOCK - n_filled]
        after[block] = np.concatenate([after[[block]], of_block]).cumsum(axis=0)[-1]
    return True


def drift_push(rows: FloatArray, sizes: IntArray, added: FloatArray) -> None:
    """Add rows to an exponential histogram: if a level has too many rows, two are merged into one of the next level.

    Changes `rows` (oldest first, with room for more) and `sizes` (number of rows per level, newest level first).
    """
    n_rows = int(sizes.sum())
    for row in added:
        rows[n_rows] = row
        n_rows += 1
        sizes[0] += 1
        level = 0
        while sizes[level] > N_OF_LEVEL:
            place = n_rows - int(sizes[: level + 1].sum())
            joined = rows[place] + rows[place + 1]
            joined[END] = rows[place + 1, END]
            rows[place] = joined
            rows[place + 1 : n_rows - 1] = rows[place + 2 : n_rows].copy()
            n_rows -= 1
            sizes[level] -= 2
            sizes[level + 1] += 1
            level += 1


def drift_window(
    rows: FloatArray,
    sizes: IntArray,
    added: FloatArray,
    stops: IntArray,
    next: int,
    start: IntArray,
    cut: IntArray,
    parts: FloatArray,
) -> int:
    """Add rows to an ADWIN window, and drop old ones while the means of two parts differ; stop after the first cut.

    Columns are last sample, number of values, and the sums and sums of squares of every series. Rows without values are
    skipped.

    Parameters
    ----------
    rows, sizes, added : arrays
        As in `drift_push`.
    stops, next : array of int, int
        Numbers of added rows after which the window is checked, and the index of the next check, which is returned.
    start : array of length 1
        The number of the last sample before the window; changed in place.
    cut : array of length 4
        Filled with the first cut: the series (-1 for no cut), and the last samples before the window, before the
        change, and of all.
    parts : array of shape (2, n_columns - 1)
        Filled with the sums before and after the change.
    """
    cut[0] = -1
    taken = int(stops[next - 1]) if next else 0
    while next < len(stops) and cut[0] == -1:
        new = added[taken : stops[next]]
        new = new[new[:, COUNT] > 0]
        drift_push(rows, sizes, new)
        taken = int(stops[next])
        next += 1
        while len(new) and (found := _cut(rows[: sizes.sum()])) is not None:
            place, series, sums = found
            n_rows = int(sizes.sum())
            if cut[0] == -1:
                cut[:] = series, start[0], rows[place, END], rows[n_rows - 1, END]
                parts[:] = sums[place], sums[-1] - sums[place]
            start[0] = rows[0, END]
            rows[: n_rows - 1] = rows[1:n_rows].copy()
            sizes[np.flatnonzero(sizes)[-1]] -= 1
    return next


def _cut(rows: FloatArray) -> tuple[int, int, FloatArray] | None:
    """Return the last row before the most significant difference of means, the series, and the cumulative sums."""
    sums = rows[:, COUNT:].cumsum(axis=0)
    if len(rows) < 2 or sums[-1, 0] <= MIN_VALUES:
        return None
    n, n_series = sums.item(-1, 0), (sums.shape[1] - 1) // 2
    totals, squares = sums[-1, 1 : 1 + n_series], sums[-1, 1 + n_series :]
    variance = np.maximum(0.0, squares / n - (totals / n) ** 2)
    certainty = math.log(2.0 * math.log(n) * max(1, int(np.count_nonzero(totals))) / DELTA)
    older, before = sums[:-1, :1], sums[:-1, 1 : 1 + n_series]
    newer = n - older
    either = 1.0 / np.maximum(older - (MIN_PART - 1), TINY) + 1.0 / np.maximum(newer - (MIN_PART - 1), TINY)
    limits = np.sqrt(either * (2.0 * certainty * variance)) + either * (2.0 / 3.0 * certainty)
    excess = np.abs(before / older - (totals - before) / newer) / limits
    place, series = divmod(int(excess.argmax()), n_series)
    return (place, series, sums) if excess[place, series] > 1.0 else None


def drift_features(
    rows: FloatArray,
    sizes: IntArray,
    added: FloatArray,
    columns: IntArray,
    starts: IntArray,
    changes: IntArray,
    excess: FloatArray,
) -> int:
    """Add rows to the histogram of the features, one by one, until the mean of a feature changes.

    Returns the number of rows that have been added.

    Parameters
    ----------
    rows, sizes, added : arrays
        As in `drift_push`. Columns are last sample, number of samples, number of values of each column, their sums,
        their sums of squares, number of samples of each category.
    columns : array of length n_categories
        The column of each category.
    starts : array of length n_columns + n_categories
        The last sample before the window of each feature, changed in place where the window is cut.
    changes, excess : arrays of length n_columns + n_categories
        Filled with the last sample before the change of each feature, -1 for none, and with the difference of the means
        divided by its limit.
    """
    for place, row in enumerate(added):
        drift_push(rows, sizes, row[np.newaxis])
        if features_are_checked(int(row[END])):
            _cut_features(rows[: sizes.sum()], columns, starts, changes, excess)
            if (changes >= 0).any():
                return place + 1
    changes[:] = -1
    return len(added)


def features_are_checked(end: int) -> bool:
    """Return True if features are checked after `end` samples."""
    return end >= FIRST_CHECK and end % (BLOCK * (1 if end <= LONG else RARER)) == 0


def _cut_features(rows: FloatArray, columns: IntArray, starts: IntArray, changes: IntArray, excess: FloatArray) -> None:
    n, begins = len(starts) - len(columns), np.concatenate([[0.0], rows[:-1, END]])
    categories = np.arange(2 + 3 * n, rows.shape[1])
    counts = rows[:, np.concatenate([2 + np.arange(n), 2 + columns])]
    totals, squares = (rows[:, np.concatenate([2 + part * n + np.arange(n), categories])] for part in (1, 2))
    with np.errstate(all="ignore"):
        means = totals / counts
        in_range = counts >= MIN_OF_RANGE
        highest = np.maximum.accumulate(np.where(in_range, means, -np.inf), axis=0)[:-1]
        lowest = np.minimum.accumulate(np.where(in_range, means, np.inf), axis=0)[:-1]
        own = begins[:, np.newaxis] >= starts
        sums = [np.where(own, part, 0.0).cumsum(axis=0) for part in (counts, totals, squares)]
        n_all, total_all, squares_all = (part[-1] for part in sums)
        n_before, total_before, squares_before = (part[:-1] for part in sums)
        variance = np.where(n_all >= MIN_BEFORE + MIN_AFTER, _variance(n_all, total_all, squares_all), 0.0)
        n_tested = np.count_nonzero(variance)
        certainty = np.array([math.log(2.0 * math.log(one) * n_tested / DELTA) if one > 1 else 0.0 for one in n_all])
        n_after, total_after = n_all - n_before, total_all - total_before
        mean, after = total_before / n_before, total_after / n_after
        difference, beyond = np.abs(after - mean), np.maximum(after - highest, lowest - after)
        found = (n_before >= MIN_BEFORE) & (n_after >= MIN_AFTER) & (variance > 0)
        found &= (difference**2 >= MIN_SHIFT**2 * variance) & (beyond > MIN_BEYOND * (highest - lowest))
        variance_before = _variance(n_before, total_before, squares_before)
        variance_after = _variance(n_after, total_after, squares_all - squares_before)
        both = np.maximum(variance_before, variance) / n_before + np.maximum(variance_after, variance) / n_after
        error = 2.0 * certainty * both
        rest = 2.0 / 3.0 * certainty * np.sqrt(variance) * (1.0 / n_before + 1.0 / n_after)
        limits = np.sqrt(error) + rest
        is_filled = own & (counts > 0)
        between = np.where(is_filled, totals * means, 0.0).cumsum(axis=0)[-1]
        within = (n_before * variance_before + n_after * variance_after) / n_all
        n_free = is_filled.sum(axis=0) - 2.0
        spread = (between - total_before * mean - total_after * after) / (within * n_free)
        sure = (n_after >= MIN_OF_RANGE) & (beyond**2 > variance_before)
        is_spread = (n_free > 0) & (within > ROUNDING * variance) & (spread > 1.0)
        sure |= ~is_spread | (difference > np.sqrt(error * spread) + rest)
        ratios = np.where(found & (difference > limits) & sure, difference / limits, 0.0)
    excess[:] = ratios.max(axis=0, initial=0.0)
    changes[:] = np.where(excess > 0, rows[ratios.argmax(axis=0), END], -1) if len(ratios) else -1
    starts[:] = np.where(changes >= 0, changes, starts)


def _variance(n: FloatArray, totals: FloatArray, squares: FloatArray) -> FloatArray:
    variance = squares / n - (totals / n) ** 2
    return np.where(variance > ROUNDING * (squares / n), variance, 0.0)


def _on_grid(values: FloatArray) -> FloatArray:
    return np.asarray(np.rint(values * GRID) / GRID)
