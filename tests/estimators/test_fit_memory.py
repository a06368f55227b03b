"""Memory: an estimate before each fit, and hard tables within a limit of 2 GB."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hard_table import LIMIT, table
from sklearn.base import clone

from conftest import ALL, name_of
from sslart import SSLART, AutoSSLART
from sslart._utils.resources import VARIABLE, usable_memory

HARD = {
    # rows, categories, labels, columns of numbers and of categories
    "2,000 categories": (5000, 2000, 1100, 1),
    "a category for each row": (30_000, 30_000, 1500, 3),
    "several columns of categories": (20_000, 500, 900, 3),
}


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are those of Linux")
def test_hard_tables_fit_into_two_gigabytes() -> None:
    sizes = [",".join(map(str, one)) for one in HARD.values()]
    command = [sys.executable, str(Path(__file__).with_name("hard_table.py")), *sizes]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    peaks = [int(one) for one in re.findall(r"peak (\d+) MB", done.stdout)]
    assert len(peaks) == len(HARD)
    assert max(peaks) < LIMIT / 2**20


def test_too_little_memory_is_said_before_the_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, y = table(3000, 300, 200, 2)
    monkeypatch.setenv(VARIABLE, "2MB")
    with pytest.raises(
        ValueError, match=r"needs about .* MB .*3000 rows.* features, and 2 MB .*Column 'c0' alone makes"
    ):
        AutoSSLART().fit(frame, y)


def test_where_boxes_take_too_much_there_are_fewer_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.RandomState(0).rand(2000, 300)
    monkeypatch.setenv(VARIABLE, "16MB")
    with pytest.warns(UserWarning, match=r"at most \d+ boxes are learnt\. Set max_nodes"):
        model = SSLART(0.95, random_state=0).fit(X, (X[:, 0] > 0.5).astype(int))
    assert model.n_nodes_ <= 500
    monkeypatch.delenv(VARIABLE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SSLART(0.95, random_state=0).fit(X, (X[:, 0] > 0.5).astype(int)).n_nodes_ > 500


@pytest.mark.parametrize("text", ["2GB", "2048 MB", "2g", "2147483648"])
def test_the_limit_is_read_in_any_unit(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, text)
    usable = usable_memory()
    assert usable is not None
    assert usable <= 2**31


def test_a_limit_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "much")
    with pytest.raises(ValueError, match="number of bytes such as 2GB"):
        AutoSSLART().fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("model", ALL, ids=name_of)
@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.csc_matrix, scipy.sparse.coo_array])
def test_sparse_samples_are_read_as_dense_ones(model: Any, kind: Any) -> None:
    random = np.random.RandomState(0)
    X = random.rand(60, 8) * (random.rand(60, 8) < 0.3)
    X[:, 0] += 0.1  # no row is empty
    y = (X[:, 1] > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sparse, dense = clone(model).fit(kind(X), y), clone(model).fit(X, y)
        np.testing.assert_array_equal(sparse.predict(kind(X)), dense.predict(X))
        np.testing.assert_array_equal(sparse.score_samples(kind(X)), dense.score_samples(X))


def test_sparse_samples_too_large_for_memory_are_refused_with_the_figure() -> None:
    X = scipy.sparse.csr_array((np.ones(3), ([0, 1, 2], [0, 1, 2])), shape=(2_000_000, 2_000_000))
    with pytest.raises(ValueError, match=r"takes 29,8\d\d\.\d GB.*TruncatedSVD"):
        AutoSSLART().fit(X, np.zeros(2_000_000))
