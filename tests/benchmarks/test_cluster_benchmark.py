"""The benchmark on clusters: its table, and what its cost model predicts."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import pyarrow.parquet as pq

from cluster.costs import LEARN, MERGE, SCAN, Costs
from cluster.data import FEATURES, HELD_OUT, LABEL, Table


def read(path: Path) -> tuple[np.ndarray, list[str | None]]:
    table = pq.read_table(path)
    return np.column_stack([table[name].to_numpy() for name in FEATURES]), table[LABEL].to_pylist()


def test_a_part_follows_from_the_seed_and_its_number_alone(tmp_path: Path) -> None:
    long, short = Table(tmp_path / "long", 2500, 1000, 250), Table(tmp_path / "short", 2000, 1000, 200)
    for table in (long, short):
        table.write()
    assert long.sizes == [1000, 1000, 500]
    for one, other in zip(long.parts, short.parts, strict=False):
        assert np.array_equal(read(one)[0], read(other)[0])
        assert read(one)[1] == read(other)[1]


def test_the_first_parts_have_as_many_rows_as_they_claim(tmp_path: Path) -> None:
    table = Table(tmp_path, 2500, 1000, 250)
    table.write()
    for n_parts in (1, 2, 3):
        some = table.first(n_parts)
        assert some.parts == table.parts[:n_parts]
        assert some.n_rows == sum(len(read(part)[0]) for part in some.parts)


def test_few_rows_have_a_label_and_it_is_the_class_of_the_row(tmp_path: Path) -> None:
    table = Table(tmp_path, 20_000, 20_000, 1000)
    table.write()
    labels, classes = read(table.parts[0])[1], pq.read_table(table.classes[0])[LABEL].to_pylist()
    known = [(label, true) for label, true in zip(labels, classes, strict=True) if label is not None]
    assert 850 < len(known) < 1150
    assert all(label == true for label, true in known)


def test_the_rows_held_out_are_in_no_part(tmp_path: Path) -> None:
    table = Table(tmp_path, 3000, 1000, 100)
    table.write()
    X, y = table.held_out()
    assert X.shape == (HELD_OUT, len(FEATURES))
    assert len(y) == HELD_OUT
    learnt = {row.tobytes() for part in table.parts for row in read(part)[0]}
    assert not learnt & {row.tobytes() for row in X.to_numpy()}


def run(n_rows: int, n_parts: int, n_workers: int) -> dict[str, object]:
    """A run by the formula: 1 s, 2 s and 8 s per million rows, 3 s for a merge of four, and 5 s at the end."""
    costs = Costs(1e-6, 2e-6, 8e-6, 3.0, 4, 5.0)
    n_merges = sum(costs.merges(n_parts))
    return {
        "rows": n_rows,
        "workers": n_workers,
        "seconds": (11e-6 * n_rows + 3.0 * n_merges) / n_workers + 5.0,
        "tasks": {
            SCAN: {"tasks": n_parts, "seconds": 2e-6 * n_rows},
            LEARN: {"tasks": n_parts, "seconds": 8e-6 * n_rows},
            "read_parquet": {"tasks": 2 * n_parts, "seconds": 1e-6 * n_rows},
            MERGE: {"tasks": n_merges, "seconds": 3.0 * n_merges},
        },
    }


def test_the_constants_of_a_run_are_found_again() -> None:
    costs = Costs.of(run(8_000_000, 16, 2), fan_in=4)
    assert (costs.read, costs.scan, costs.learn, costs.merge, costs.rest) == pytest.approx((1e-6, 2e-6, 8e-6, 3.0, 5.0))
    assert costs.merges(16) == [4, 1]
    assert costs.merges(17) == [5, 2, 1]
    assert costs.merges(1) == []


def test_more_workers_are_never_slower_and_never_faster_than_the_serial_part() -> None:
    costs = Costs(1e-6, 2e-6, 8e-6, 3.0, 4, 5.0)
    seconds = [costs.seconds(50_000_000, 200, n_workers) for n_workers in range(1, 400)]
    assert all(a >= b for a, b in pairwise(seconds))
    assert seconds[-1] > costs.serial(200)
    assert costs.serial(200) == pytest.approx(4 * 3.0 + 5.0)
    n_workers = costs.workers_at_half(50_000_000, 200)
    assert 11e-6 * 50_000_000 / n_workers >= costs.serial(200) > 11e-6 * 50_000_000 / (n_workers + 1)
