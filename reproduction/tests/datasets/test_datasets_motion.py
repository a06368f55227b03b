"""Walking and running: 390 windows that do not overlap, and stretches that a split can keep together."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from reproduction import datasets
from reproduction.datasets.loaders import motion as _motion
from reproduction.datasets.loaders.motion import STATISTICS, read_recording, resample, window_statistics
from reproduction.tests import DATA, needs_data


def test_statistics_are_those_of_each_window_and_axis() -> None:
    signal = np.random.RandomState(0).normal(size=(65, 3))
    features = window_statistics(signal, 20)
    assert features.shape == (3, 27)
    piece = signal[20:40, 1]
    expected = {
        "mean": piece.mean(),
        "standard_deviation": piece.std(),
        "minimum": piece.min(),
        "maximum": piece.max(),
        "median": np.median(piece),
        "interquartile_range": stats.iqr(piece),
        "skewness": stats.skew(piece),
        "kurtosis": stats.kurtosis(piece),
        "root_mean_square": np.sqrt(np.mean(piece**2)),
    }
    assert tuple(expected) == STATISTICS
    assert features[1, 9:18] == pytest.approx(list(expected.values()))


def test_an_axis_that_does_not_move_has_no_shape() -> None:
    features = window_statistics(np.full((8, 1), 9.81), 4)
    assert features[0] == pytest.approx([9.81, 0, 9.81, 9.81, 9.81, 0, 0, 0, 9.81])
    assert window_statistics([[5.0]], 1)[0].tolist() == [5, 0, 5, 5, 5, 0, 0, 0, 5]


def test_a_signal_shorter_than_a_window_has_none() -> None:
    assert window_statistics(np.zeros((3, 2)), 4).shape == (0, 18)


@pytest.mark.parametrize(
    ("signal", "window"), [([1.0, 2.0], 1), ([[np.nan]], 1), ([[1.0]], 0), ([[1.0]], 1.5)], ids=str
)
def test_what_is_no_signal_is_refused(signal: object, window: object) -> None:
    with pytest.raises(ValueError, match="window_statistics"):
        window_statistics(signal, window)  # type: ignore[arg-type]


def test_samples_are_averaged_and_gaps_bridged() -> None:
    seconds = np.array([0.0, 0.01, 0.02, 0.06, 0.16, 9.0])
    values = np.array([[1.0], [2.0], [6.0], [5.0], [9.0], [0.0]])
    assert resample(seconds, values, 0, 0.2).tolist() == [[3], [5], [7], [9]]


def test_both_kinds_of_recording_are_read(tmp_path: Path) -> None:
    first = "time,ax,ay,az,atotal\n2022-08-11 17:53:54.2820,0.16,0.21,-0.34,9\n2022-08-11 17:53:54.2920,1,2,3,9\n"
    path = tmp_path / "first.csv.gz"
    path.write_bytes(gzip.compress(first.encode()))
    assert read_recording(path).tolist() == [[0, 0.16, 0.21, -0.34], [0.01, 1, 2, 3]]
    second = (
        "Date;Timestamp;DeviceOrientation;AccelerationX;AccelerationY;AccelerationZ;Label\n"
        "2022-10-11 18:51:48;100.5;portrait;1;2;3;walk\n2022-10-11 18:51:48;100.75;portrait;4;5;6;\n"
    )
    path = tmp_path / "second.csv"
    path.write_text(second)
    assert read_recording(path).tolist() == [[0, 1, 2, 3], [0.25, 4, 5, 6]]
    path.write_text("a;b\n1;2\n")
    with pytest.raises(ValueError, match=r"second\.csv has no column Timestamp"):
        read_recording(path)


@pytest.fixture(scope="module")
def motion() -> Any:
    return datasets.load_human_motion()


@needs_data
def test_there_are_390_windows_balanced_in_classes_and_persons(motion: Any) -> None:
    assert motion.data.shape == (390, 27)
    assert np.isfinite(motion.data).all()
    for person, n_windows in (("aimeexlin", 100), ("gizemkulekcii", 95)):
        for what in ("walking", "running"):
            assert ((motion.person == person) & (motion.target == what)).sum() == n_windows
    assert motion.feature_names[9] == "y_mean"


@needs_data
def test_a_stretch_is_of_one_recording_and_its_windows_follow_each_other(motion: Any) -> None:
    groups, sizes = np.unique(motion.groups, return_counts=True)
    assert len(groups) == 78
    assert (sizes == 5).all()
    for group in groups:
        rows = np.flatnonzero(motion.groups == group)
        assert (np.diff(rows) == 1).all()
        assert len(set(motion.target[rows])) == len(set(motion.person[rows])) == 1
        assert np.allclose(motion.data[rows][:, ::9].mean(axis=0), 0, atol=1e-9)  # centred: no gravity left


def test_stretches_do_not_touch_and_lie_inside_the_recording() -> None:
    for recording in _motion._RECORDINGS:
        moments = np.arange(recording.start - 5, recording.end + 5, 0.01)
        track = np.column_stack([moments, moments, moments**0, moments**0])
        features, groups = _motion._describe(recording, track)
        assert len(features) == len(groups) == 5 * recording.n_stretches
        n_slots = round((recording.end - recording.start) * 20)
        starts = np.linspace(0, n_slots - 100, recording.n_stretches).astype(int)
        assert np.diff(starts).min() >= 100 + 16  # 0.8 seconds between two of them
        assert starts[-1] + 100 <= n_slots


@needs_data
def test_walking_and_running_can_be_told_apart_across_stretches(motion: Any) -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    scores = cross_val_score(model, motion.data, motion.target, groups=motion.groups, cv=GroupKFold(5))
    assert scores.mean() > 0.85


@needs_data
def test_a_changed_recording_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "walk_run").mkdir()
    for path in Path(DATA, "walk_run").glob("phone_*.csv.gz"):
        text = gzip.decompress(path.read_bytes())
        (tmp_path / "walk_run" / path.name).write_bytes(text.replace(b",0.26,", b",0.27,", 1))
    monkeypatch.setenv("SSLART_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=r"human_motion.*damaged or another version: its content"):
        datasets.load_human_motion()
