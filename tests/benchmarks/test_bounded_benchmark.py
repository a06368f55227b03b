"""The benchmark of a limit on the number of boxes: its page is computed from what was measured."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from bounded import report, run, tables
from bounded.report import Fit


def test_a_fit_with_a_limit_keeps_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "N_TEST", 100)
    table = tables.table("clusters", 400)
    assert table is not None
    assert table.n_training == 400
    fit = run.measured("clusters", table, 50, 0)
    assert fit.n_nodes <= 50
    assert fit.vigilance < 0.9
    assert fit.n_samples == 400


def test_labels_are_those_of_the_samples_and_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "N_TEST", 10)
    table = tables.Table(*tables.uniform(110))
    labels = table.labels(20, seed=0)
    known = np.flatnonzero(labels >= 0)
    assert len(labels) == 100
    assert len(known) == 20
    assert (labels[known] == table.y[known]).all()


def test_a_table_that_is_not_there_is_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSLART_DATA", str(tmp_path))
    assert tables.table("elec", 100) is None


def test_times_and_means_are_those_of_the_fits() -> None:
    without = Fit("t", 1000, 3, None, 0, 40.0, 900, 0.9, 80.0)
    limited = Fit("t", 1000, 3, 100, 0, 2.0, 88, 0.7, 79.0)
    assert "| t | 1,000 × 3 | 900 | 40.0 | 100 | 88 | 0.70 | 2.0 | 20.0 | 80.0, 79.0 |" in report.times(
        [without, limited]
    )
    again = Fit("t", 1000, 3, None, 1, 20.0, 902, 0.9, 82.0)
    assert "| t | 1,000 × 3 | 901 | 81.0 (30.0 s) | 79.0 (2.0 s) |" in report.accuracies([without, again, limited])
