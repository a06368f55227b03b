"""Walking and running: a phone's accelerometer, cut into windows of 27 statistics each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from reproduction.datasets.bunch import to_bunch
from reproduction.datasets.catalogue import source_of
from reproduction.datasets.content import check_content, check_counts, reading
from reproduction.datasets.files import obtain
from reproduction.datasets.read import read_cells, read_text, to_numbers
from sslart._utils.arrays import FloatArray
from sslart._utils.validation import check_whole

STATISTICS = (
    "mean",
    "standard_deviation",
    "minimum",
    "maximum",
    "median",
    "interquartile_range",
    "skewness",
    "kurtosis",
    "root_mean_square",
)
_RATE = 20  # samples per second: that of the slower phone
_WINDOW = 20  # samples, one second
_WINDOWS_PER_STRETCH = 5
_GRAVITY = 9.80665


@dataclass(frozen=True)
class _Recording:
    """One file: who did what, from when to when in seconds, in how many stretches, and the unit in m/s²."""

    who: str
    what: str
    start: float
    end: float
    n_stretches: int
    unit: float


# Before and after, the phone is put away. Both persons give as many windows of walking as of running.
_RECORDINGS = (
    _Recording("aimeexlin", "walking", 14, 154, 20, 1.0),
    _Recording("aimeexlin", "running", 21, 140, 20, 1.0),
    _Recording("gizemkulekcii", "walking", 4, 296, 19, _GRAVITY),
    _Recording("gizemkulekcii", "running", 2, 118, 19, _GRAVITY),
)


def window_statistics(signal: Any, window: int) -> FloatArray:
    """Cut a signal into windows and describe each by nine statistics per axis.

    They are the mean, standard deviation, minimum, maximum, median, interquartile range, skewness, kurtosis (0 for a
    normal distribution) and root mean square. Skewness and kurtosis of an axis that does not move are 0.

    Parameters
    ----------
    signal : array of shape (n_moments, n_axes)
        A row per moment, at equal distances in time.
    window : int
        Moments per window. Windows follow each other without overlap; what is left at the end is not used.

    Returns
    -------
    array of shape (n_moments // window, 9 * n_axes)
        The nine statistics of the first axis, then those of the next.

    Examples
    --------
    >>> from reproduction.datasets import window_statistics
    >>> window_statistics([[1.0], [2.0], [3.0], [6.0], [0.0]], window=4).round(2)
    array([[ 3.  ,  1.87,  1.  ,  6.  ,  2.5 ,  2.  ,  0.69, -1.  ,  3.54]])
    """
    values = np.asarray(signal, dtype=np.float64)
    length = check_whole("window_statistics", "window", window) or 1
    if values.ndim != 2 or not np.isfinite(values).all():
        raise ValueError("signal of window_statistics must be an array with a row per moment and no gaps.")
    n_windows, n_axes = len(values) // length, values.shape[1]
    windows = values[: n_windows * length].reshape(n_windows, length, n_axes)
    if n_windows == 0:
        return np.empty((0, len(STATISTICS) * n_axes))
    quarter, half, three_quarters = np.percentile(windows, [25, 50, 75], axis=1)
    moving = np.ptp(windows, axis=1) > 0
    steady = np.where(moving[:, None, :], windows, np.linspace(-1, 1, length)[None, :, None])
    per_axis = [
        windows.mean(axis=1),
        windows.std(axis=1),
        windows.min(axis=1),
        windows.max(axis=1),
        half,
        three_quarters - quarter,
        np.where(moving, stats.skew(steady, axis=1), 0.0) if length > 1 else np.zeros_like(half),
        np.where(moving, stats.kurtosis(steady, axis=1), 0.0) if length > 1 else np.zeros_like(half),
        np.sqrt((windows**2).mean(axis=1)),
    ]
    return np.stack(per_axis, axis=2).reshape(n_windows, -1)


def load_human_motion(*, as_frame: bool = False, return_X_y: bool = False) -> Any:
    """Load walking and running: 390 windows of a phone's accelerometer, 27 features, 2 classes.

    This has the form of the paper's experiment, not its data, which are private. Two persons' public recordings are
    brought to m/s² and 20 samples per second (means of what falls into each twentieth of a second). From each, the time
    while the phone is put away is left out, and stretches of 5 seconds are taken evenly along the rest, with at least
    0.8 seconds between them. A stretch is centred, as one phone records gravity and the other does not, and cut into 5
    windows of one second that do not overlap. There are 195 windows of walking and 195 of running, and for each person
    as many of one as of the other.

    `groups` is the stretch that each window came from: keep a stretch together when you split, for example with
    scikit-learn's GroupKFold. `person` is who moved.
    """
    source = source_of("human_motion")
    place = obtain(source)
    with reading(source, place):
        tracks = [read_recording(path) for path in place.files]
    what = np.repeat([recording.what for recording in _RECORDINGS], [len(track) for track in tracks])
    check_content(source, np.concatenate(tracks), what, place)
    pieces = [_describe(recording, track) for recording, track in zip(_RECORDINGS, tracks, strict=True)]
    data = np.concatenate([features for features, _ in pieces])
    sizes = [len(features) for features, _ in pieces]
    target = np.repeat([recording.what for recording in _RECORDINGS], sizes)
    check_counts(source, data, target, place)
    return to_bunch(
        source,
        data,
        target,
        [f"{axis}_{statistic}" for axis in "xyz" for statistic in STATISTICS],
        place,
        as_frame=as_frame,
        return_X_y=return_X_y,
        extra={
            "groups": np.concatenate([groups for _, groups in pieces]),
            "person": np.repeat([recording.who for recording in _RECORDINGS], sizes),
        },
    )


def read_recording(path: Path) -> FloatArray:
    """Return a row per sample: seconds since the first, and three axes in the unit of the file."""
    header, *rows = read_cells(read_text(path))
    wanted = ("time", "ax", "ay", "az") if "ax" in header else ("Timestamp", *(f"Acceleration{axis}" for axis in "XYZ"))
    lacking = [name for name in wanted if name not in header]
    if lacking:
        raise ValueError(f"{path.name} has no column {lacking[0]}")
    columns = [header.index(name) for name in wanted]
    cells = [[row[column] for column in columns] for row in rows]
    if wanted[0] == "time":
        moments = np.array([row[0] for row in cells], dtype="datetime64[us]").astype(np.int64)
        seconds = (moments - moments[0]) / 1e6
    else:
        stamps = to_numbers([row[:1] for row in cells], 1)[:, 0]
        seconds = stamps - stamps[0]
    return np.column_stack([seconds, to_numbers([row[1:] for row in cells], 3)])


def _describe(recording: _Recording, track: FloatArray) -> tuple[FloatArray, Any]:
    signal = recording.unit * resample(track[:, 0], track[:, 1:], recording.start, recording.end)
    length = _WINDOWS_PER_STRETCH * _WINDOW
    starts = np.linspace(0, len(signal) - length, recording.n_stretches).astype(int)
    stretches = [signal[start : start + length] for start in starts]
    features = [window_statistics(stretch - stretch.mean(axis=0), _WINDOW) for stretch in stretches]
    names = [f"{recording.who}_{recording.what}_{number:02}" for number in range(recording.n_stretches)]
    return np.concatenate(features), np.repeat(names, _WINDOWS_PER_STRETCH)


def resample(seconds: FloatArray, values: FloatArray, start: float, end: float) -> FloatArray:
    """Return the mean of the samples in each twentieth of a second; where there is none, go straight to the next."""
    n_slots = round((end - start) * _RATE)
    slot = np.floor((seconds - start) * _RATE).astype(int)
    inside = (slot >= 0) & (slot < n_slots)
    count = np.bincount(slot[inside], minlength=n_slots)
    known = np.flatnonzero(count)
    columns = []
    for axis in range(values.shape[1]):
        total = np.bincount(slot[inside], weights=values[inside, axis], minlength=n_slots)
        columns.append(np.interp(np.arange(n_slots), known, total[known] / count[known]))
    return np.column_stack(columns)
