"""Conformal p-values, sets of classes and limits of confidence: what is promised holds by counting, for all scores."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from sslart._mapping.conformal import (
    NEVER,
    certain_error_curve,
    class_sets,
    conformal_p_values,
    error_curve,
    first_tested,
    labels_needed,
    percent_up,
    upper_bound,
)
from sslart._mapping.decision_rules import error_levels
from sslart._utils.validation import check_certainty

LEVELS = st.sampled_from([0.01, 0.05, 0.1, 0.2, 1 / 3, 0.5, 0.9])
CERTAINTIES = st.sampled_from([0.5, 0.8, 0.9, 0.99])
SCORES = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0]) | st.floats(0, 1), min_size=1, max_size=30)


def groups_of(n: int) -> Any:
    return st.lists(st.integers(0, 6), min_size=n, max_size=n)


def weights_of(groups: np.ndarray) -> np.ndarray:
    return 1.0 / np.bincount(groups)[groups]


@given(scores=SCORES, left_out=SCORES)
def test_a_p_value_is_the_share_of_scores_as_high_with_the_new_one_among_them(
    scores: list[float], left_out: list[float]
) -> None:
    found = conformal_p_values(np.array(scores), np.array(left_out), np.ones(len(left_out)))
    expected = [(1 + sum(other >= score for other in left_out)) / (1 + len(left_out)) for score in scores]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@given(data=st.data(), level=LEVELS)
def test_among_any_samples_few_have_a_low_p_value_by_the_others(data: Any, level: float) -> None:
    """The guarantee itself, as a count: each sample in turn is the new one; samples of a group count one together."""
    scores = np.array(data.draw(SCORES))
    groups = np.array(data.draw(groups_of(len(scores))))
    weights, n_groups = weights_of(groups), len(set(groups.tolist()))
    missed = 0.0
    for new in range(len(scores)):
        others = groups != groups[new]
        p_value = conformal_p_values(scores[new : new + 1], scores[others], weights[others])[0]
        missed += weights[new] * (p_value <= level)
    assert missed <= level * n_groups + 1e-9


@given(data=st.data(), level=LEVELS)
def test_among_any_samples_few_of_the_answered_are_wrong_by_the_others(data: Any, level: float) -> None:
    """The guarantee of `max_error`, as a count: wrong answers are at most this share of what all samples allow."""
    confidence = np.array(data.draw(SCORES))
    n = len(confidence)
    wrong = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    groups = np.array(data.draw(groups_of(n)))
    weights = weights_of(groups)
    n_wrong = 0.0
    for new in range(n):
        others = groups != groups[new]
        limit = error_curve(confidence[others], wrong[others], weights[others]).least_confidence(level)
        n_wrong += weights[new] * (wrong[new] and confidence[new] >= limit)
    allowed = [0.0]
    for limit in confidence:
        answered = confidence >= limit
        if weights[wrong & answered].sum() <= level * weights[answered].sum() + 1e-9:
            allowed.append(weights[answered].sum())
    assert n_wrong <= level * max(allowed) + 1e-8


@given(data=st.data(), level=LEVELS)
def test_the_limit_is_the_lowest_confidence_that_keeps_the_error(data: Any, level: float) -> None:
    confidence = np.array(data.draw(SCORES))
    n = len(confidence)
    wrong = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    weights = weights_of(np.array(data.draw(groups_of(n))))
    limit = error_curve(confidence, wrong, weights).least_confidence(level)
    suffices = [
        one
        for one in confidence
        if 1 + weights[wrong & (confidence >= one)].sum() <= level * (1 + weights[confidence >= one].sum()) + 1e-9
    ]
    lowest = min(suffices, default=NEVER)
    assert limit == (0.0 if lowest == confidence.min() else lowest)


@given(n=st.integers(1, 400), share=st.floats(0, 1), certainty=CERTAINTIES)
def test_the_bound_is_the_exact_one_of_scipy(n: int, share: float, certainty: float) -> None:
    wrong = round(share * n)
    exact = binomtest(wrong, n, alternative="less").proportion_ci(certainty, method="exact").high
    assert upper_bound(np.array([float(wrong)]), np.array([float(n)]), certainty)[0] == pytest.approx(exact, abs=1e-9)


@given(data=st.data(), level=LEVELS, certainty=CERTAINTIES)
def test_certain_limits_are_where_the_tests_in_their_order_end(data: Any, level: float, certainty: float) -> None:
    """By the p-values of binomial tests, one threshold after the other, each sequence until the first that fails."""
    n, step = data.draw(st.integers(1, 150)), data.draw(st.sampled_from([0.001, 0.05, 0.3]))
    random = np.random.RandomState(data.draw(st.integers(0, 10_000)))
    confidence = np.round(random.uniform(size=n) / step) * step
    wrong = random.uniform(size=n) > confidence ** data.draw(st.sampled_from([0.01, 0.1, 0.5]))
    limits, starts = [np.inf], first_tested(n)
    for start in starts:
        for one in sorted(set(confidence.tolist()), reverse=True):
            answered = confidence >= one
            if answered.sum() < start or (1 - level) ** answered.sum() > (1 - certainty) / len(starts) + 1e-9:
                continue  # nothing can be shown with so few
            p_value = binom.cdf((wrong & answered).sum(), answered.sum(), level)
            if p_value > (1 - certainty) / len(starts) + 1e-9:
                break
            limits.append(one)
    found = certain_error_curve(confidence, wrong, certainty).least_confidence(level)
    assert found == (0.0 if min(limits) == confidence.min() else min(limits))


@pytest.mark.parametrize("n", [30, pytest.param(100, marks=pytest.mark.slow), 400])
@pytest.mark.parametrize("level", [0.1, 0.3])
@pytest.mark.parametrize("shape", ["rises", "steep", "flat", "falls back"])
def test_few_of_many_models_exceed_a_certain_limit(n: int, level: float, shape: str) -> None:
    """The promise itself: of 1,000 draws of labels at most a tenth, but for chance, lead to more wrong answers."""
    random, grid = np.random.RandomState(0), (np.arange(20_000) + 0.5) / 20_000
    chance = {
        "rises": lambda c: 0.6 * (1 - c),
        "steep": lambda c: np.where(c > 0.5, 0.0, 2 * level),
        "flat": lambda c: np.full_like(c, 1.05 * level),
        "falls back": lambda c: np.where((c > 0.4) & (c < 0.7), 3 * level, level / 2),
    }[shape]
    shares = np.append(np.cumsum(chance(grid)[::-1])[::-1] / np.arange(len(grid), 0, -1), 0.0)
    n_exceeding = 0
    for _ in range(1000):
        confidence = random.uniform(size=n)
        wrong = random.uniform(size=n) < chance(confidence)
        limit = certain_error_curve(confidence, wrong, 0.9).least_confidence(level)
        n_exceeding += bool(shares[np.searchsorted(grid, limit)] > level)
    assert n_exceeding <= 100 + 3 * np.sqrt(90)


@pytest.mark.parametrize("certainty", [None, 0.9])
@given(data=st.data())
def test_a_higher_error_answers_no_less(certainty: float | None, data: Any) -> None:
    confidence = np.array(data.draw(SCORES))
    n = len(confidence)
    wrong = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    on_average = error_curve(confidence, wrong, np.ones(n))
    curve = on_average if certainty is None else certain_error_curve(confidence, wrong, certainty)
    limits = [curve.least_confidence(level) for level in np.linspace(0.01, 1, 34)]
    assert limits == sorted(limits, reverse=True)
    levels, answered = curve.steps()
    assert (np.diff(levels) >= 0).all()
    assert (np.diff(answered) > 0).all()
    for level, n_answered in zip(levels, answered, strict=True):
        place = curve.place(level)
        assert place is not None
        assert curve.answered[place] >= n_answered


@given(st.data())
def test_the_steps_are_the_levels_from_which_on_more_is_answered(data: Any) -> None:
    scores = data.draw(SCORES)
    wrong = data.draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores)))
    curve = error_curve(np.array(scores), np.array(wrong), np.ones(len(scores)))
    expected: dict[float, float] = {}
    for level in np.unique(curve.error).tolist():
        n_answered = float(curve.answered[curve.error <= level].max())
        if n_answered > max(expected.values(), default=0.0):
            expected[level] = n_answered
    levels, answered = curve.steps()
    assert dict(zip(levels.tolist(), answered.tolist(), strict=True)) == expected
    assert (np.diff(answered, prepend=0.0) > 0).all()


def test_without_left_out_labels_nothing_is_promised() -> None:
    none = np.empty(0), np.empty(0, dtype=bool)
    for curve in (error_curve(*none, np.empty(0)), certain_error_curve(*none, 0.9)):
        assert curve.least_confidence(0.5) == NEVER
        assert curve.smallest_error == 1.0
        assert [len(one) for one in curve.steps()] == [0, 0]
        assert (curve.n_answered, curve.share_answered(0.5)) == (0.0, 0.0)


@st.composite
def probabilities(draw: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities of new samples and of left-out labels, the classes of the latter, and their weights."""
    random = np.random.RandomState(draw(st.integers(0, 10_000)))
    n_classes, n_labels = draw(st.integers(2, 4)), draw(st.integers(1, 25))
    proba, left_out = (random.dirichlet(np.ones(n_classes), size=n).round(1) for n in (6, n_labels))
    groups = random.randint(5, size=n_labels)
    return proba, left_out, random.randint(n_classes, size=n_labels), weights_of(groups)


@given(drawn=probabilities(), coverage=st.sampled_from([0.5, 0.8, 0.9, 0.95]), per_class=st.booleans())
def test_a_set_has_the_classes_of_high_p_value_and_the_most_probable_one(
    drawn: Any, coverage: float, per_class: bool
) -> None:
    proba, left_out, truth, weights = drawn
    found = class_sets(proba, left_out, truth, weights, coverage, per_class=per_class)
    for row, column in np.ndindex(proba.shape):
        compared = truth == column if per_class else np.ones(len(truth), dtype=bool)
        own = left_out[np.arange(len(truth)), truth]
        as_strange = weights[compared & (1 - own >= 1 - proba[row, column])].sum()
        p_value = (1 + as_strange) / (1 + weights[compared].sum())
        assert found[row, column] == (p_value > 1 - coverage + 1e-9 or column == proba[row].argmax())


@given(drawn=probabilities(), per_class=st.booleans())
def test_sets_grow_with_the_coverage(drawn: Any, per_class: bool) -> None:
    proba, left_out, truth, weights = drawn
    sets = [class_sets(proba, left_out, truth, weights, c, per_class=per_class) for c in (0.3, 0.6, 0.9, 0.99)]
    for smaller, larger in itertools.pairwise(sets):
        assert (smaller <= larger).all()


@given(level=st.floats(2e-3, 0.999), certainty=st.none() | CERTAINTIES)
def test_the_labels_needed_are_the_fewest_that_suffice(level: float, certainty: float | None) -> None:
    def suffices(n: int) -> bool:
        confidence, wrong = np.linspace(0.5, 1, n), np.zeros(n, dtype=bool)
        if certainty is None:
            return error_curve(confidence, wrong, np.ones(n)).smallest_error <= level
        return certain_error_curve(confidence, wrong, certainty).smallest_error <= level

    n = labels_needed(level - 1e-8, certainty)
    assert n == 0 or suffices(n)
    n = labels_needed(level + 1e-8, certainty)
    assert n <= 1 or not suffices(n - 1)


@pytest.mark.parametrize(("error", "n"), [(0.05, 19), (0.1, 9), (0.01, 99), (0.2, 4), (1.0, 0), (1 / 3, 2)])
def test_labels_needed_for_usual_errors(error: float, n: int) -> None:
    assert labels_needed(error, None) == n


@pytest.mark.parametrize(("error", "n"), [(0.05, 45), (0.1, 22), (0.2, 11), (1.0, 0), (1e-300, 2**53)])
def test_labels_needed_for_certainty(error: float, n: int) -> None:
    assert labels_needed(error, 0.9) == n


@pytest.mark.parametrize("given", [0, -0.1, 1.5, "5 %", True, np.nan, {}, {1: 0}, {1: None}, [0.1]])
def test_errors_that_are_none_are_refused(given: Any) -> None:
    with pytest.raises(ValueError, match="max_error"):
        error_levels("M", given, 0.9, np.array([0, 1]))


@pytest.mark.parametrize("given", [0, 1, -0.1, 1.5, "90 %", True, np.nan])
def test_certainties_that_are_none_are_refused(given: Any) -> None:
    with pytest.raises(ValueError, match="confidence of M"):
        check_certainty("M", "confidence", given)


def test_errors_by_class_are_found_by_the_class_as_it_is() -> None:
    assert error_levels("M", {np.int64(3): 0.1, 1: 1}, 0.9, np.array([1, 3])).by_class == ((1, 0.1), (0, 1.0))  # type: ignore[union-attr]
    assert error_levels("M", {True: 0.1}, 0.9, np.array([False, True])).by_class == ((1, 0.1),)  # type: ignore[union-attr]
    for wrong in ({True: 0.1}, {"1": 0.1}, {2: 0.1}):
        with pytest.raises(ValueError, match=r"names the class .*, which the model does not have"):
            error_levels("M", wrong, 0.9, np.array([1, 3]))


def test_errors_are_rounded_up_to_a_tenth_of_a_percent() -> None:
    for share, text in ((0.05, "5 %"), (0.0501, "5.1 %"), (1 / 15, "6.7 %"), (0.0, "0 %"), (1.0, "100 %")):
        assert percent_up(share) == text
