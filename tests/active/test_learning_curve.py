"""The learning curve: what it measures, how it goes on, and where it gives no estimate."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris

from sslart import SSLART, WESSLART, AutoSSLART
from sslart._mapping.model_view import view_of
from sslart.active import LearningCurve, learning_curve
from sslart.active import _learning_curve as sub_samples
from sslart.active._learning_curve import (
    FURTHEST,
    MIN_LABELS,
    SHARES,
    Observed,
    Paths,
    observed_of,
    shipped_prior,
)

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:240, :3], Y[:240]
FEW = np.where(np.arange(len(Y)) % 5 == 0, Y, -1)


@pytest.fixture(scope="module")
def model() -> AutoSSLART:
    return AutoSSLART(random_state=0).fit(X, FEW)


@pytest.fixture(scope="module")
def curve(model: AutoSSLART) -> LearningCurve:
    return learning_curve(model)


def test_it_is_measured_on_sub_samples_and_starts_from_the_leave_one_out_accuracy(
    model: AutoSSLART, curve: LearningCurve
) -> None:
    n = int((FEW != -1).sum())
    assert curve.n_now == n
    assert curve.n_labels.tolist() == [round(share * n) for share in SHARES]
    assert curve.accuracy_now == pytest.approx(model.quality_.accuracy.value)
    assert curve.at(n).value == pytest.approx(curve.accuracy_now)
    assert ((curve.accuracy > 0.5) & (curve.accuracy <= 1)).all()


def test_more_labels_are_never_expected_to_harm_and_never_to_be_perfect(curve: LearningCurve) -> None:
    expected = [curve.at(times * curve.n_now) for times in (1, 2, 4, FURTHEST)]
    for fewer, more in pairwise(expected):
        assert fewer.value <= more.value < 1
    for one in expected:
        assert 0 <= one.low <= one.value <= one.high < 1


def test_the_labels_needed_lead_to_the_accuracy_wanted(curve: LearningCurve) -> None:
    assert curve.labels_for(0.5).more == 0
    assert curve.labels_for(1.0).more is None
    levels = np.array([*np.linspace(1.1, 1.9, 9), 3.0, 3.0])  # two of the curves have reached the accuracy
    rising = LearningCurve(
        np.array([20.0]), np.array([0.8]), 40, 0.85, "", np.zeros(0), Paths(levels, np.full(11, 0.5))
    )
    wanted = 1 / (1 + np.exp(-1.5 - 0.5 * np.log(100 / 40)))
    needed = rising.labels_for(wanted)
    assert needed.more == 60
    assert needed.low == 0
    assert needed.high is not None
    assert needed.high > 60
    assert needed.reached == pytest.approx(2 / 11)
    assert str(needed) == (
        f"an accuracy of {100 * wanted:g} % needs about {needed.more} more labels (80 % interval 0 to {needed.high}; "
        "probability that it is reached: 18 %)"
    )


def test_it_reads_as_a_sentence(curve: LearningCurve) -> None:
    n = curve.n_now
    assert str(curve).startswith(f"with {2 * n} labels ")
    assert f"; with {4 * n} labels " in str(curve)
    assert str(curve.labels_for(0.5)) == "an accuracy of 50 % is reached (probability 100 %)"
    assert str(curve.labels_for(1)) == f"an accuracy of 100 % needs more than {9 * n} more labels, or better features"


def test_few_labels_give_a_reason_instead_of_an_estimate() -> None:
    few = np.where(np.arange(len(Y)) < MIN_LABELS - 1, [*Y[:100:10], *Y[10:]], -1)
    found = learning_curve(AutoSSLART(random_state=0).fit(X, few))
    assert str(found) == "cannot be estimated: it takes at least 10 labels, and there are 9"
    with pytest.raises(ValueError, match="it takes at least 10 labels, and there are 9"):
        found.at(40)
    with pytest.raises(ValueError, match="at least 10 labels"):
        found.labels_for(0.9)


def test_models_that_keep_no_labels_give_a_reason() -> None:
    assert "keeps no labelled samples" in str(learning_curve(SSLART(random_state=0).fit(X, FEW)))
    assert "no label" in str(learning_curve(AutoSSLART().partial_fit(X)))


def test_copies_of_labelled_samples_count_once(curve: LearningCurve) -> None:
    known = np.flatnonzero(FEW != -1)
    twice = learning_curve(AutoSSLART(random_state=0).fit(np.vstack([X, X[known]]), [*FEW, *FEW[known]]))
    assert twice.n_now == curve.n_now
    assert twice.n_labels.tolist() == curve.n_labels.tolist()


@pytest.mark.slow
def test_an_ensemble_with_evidence_has_one() -> None:
    flowers, classes = load_iris(return_X_y=True)
    few = np.where(np.arange(150) % 5 == 0, classes, -1)
    found = learning_curve(WESSLART(2, mapping="evidence", random_state=0).fit(flowers, few))
    assert found.n_now == 30
    assert found.at(60).value is not None


def test_numbers_of_labels_beyond_the_curve_are_refused(curve: LearningCurve) -> None:
    for n in (1, curve.n_now - 1, FURTHEST * curve.n_now + 1):
        with pytest.raises(ValueError, match="not continued further"):
            curve.at(n)
    with pytest.raises(ValueError, match="accuracy of labels_for"):
        curve.labels_for(95)


def test_the_same_model_gives_the_same_curve(model: AutoSSLART, curve: LearningCurve) -> None:
    assert str(learning_curve(model)) == str(curve)


ACCURACIES = st.floats(0.0, 1.0)


def observed(n: int, share: float, *, sizes: tuple[float, ...] = SHARES, before: float | None = None) -> Observed:
    """Return the accuracies of a table; `before`: that of the subsamples, the same by default."""
    accuracy = np.array([*(share if before is None else before for _ in sizes), share])
    return Observed(n, 2, n, np.array([*(n * size for size in sizes), n]), accuracy)


@given(st.integers(MIN_LABELS, 100_000), ACCURACIES, ACCURACIES)
def test_the_posterior_is_narrower_than_the_prior_for_any_accuracies(n: int, share: float, before: float) -> None:
    prior = shipped_prior()
    mean, covariance = prior.posterior(observed(n, share, before=before))
    assert np.isfinite(mean).all()
    assert np.linalg.eigvalsh(covariance).min() > 0
    assert np.linalg.eigvalsh(prior.covariance - covariance).min() > -1e-9


@given(st.integers(MIN_LABELS, 2_000), ACCURACIES, ACCURACIES)
def test_a_higher_accuracy_never_needs_fewer_labels(n: int, first: float, second: float) -> None:
    low, high = sorted((max(first, 0.01), max(second, 0.01)))
    paths = Paths.drawn(*shipped_prior().posterior(observed(n, 0.8)))
    assert (paths.times_for(low) <= paths.times_for(high)).all()
    curve = LearningCurve(np.zeros(0), np.zeros(0), n, 0.8, "", np.zeros(0), paths)
    for needed in (curve.labels_for(low), curve.labels_for(high)):
        ends = [np.inf if one is None else one for one in (needed.low, needed.more, needed.high)]
        assert ends == sorted(ends)


def test_subsamples_far_below_the_present_accuracy_promise_more_of_further_labels() -> None:
    prior = shipped_prior()
    flat, steep = (prior.posterior(observed(100, 0.85, before=before))[0][1] for before in (0.85, 0.6))
    assert steep > flat + 0.1


def test_many_labels_outweigh_the_prior() -> None:
    prior = shipped_prior()
    few, many = (1 / (1 + np.exp(-prior.posterior(observed(n, 0.98))[0][0])) for n in (10, 2_000))
    assert few < 0.95  # tables with ten labels rarely have so high an accuracy
    assert many == pytest.approx(0.98, abs=0.005)


def test_accuracies_that_could_not_be_measured_are_left_out() -> None:
    prior = shipped_prior()
    some = observed(40, 0.8)
    some.accuracy[0] = np.nan
    fewer = observed(40, 0.8, sizes=SHARES[1:])
    for found, wanted in zip(prior.posterior(some), prior.posterior(fewer), strict=True):
        assert found == pytest.approx(wanted)


def test_accuracies_are_measured_on_labels_drawn_at_random() -> None:
    known = np.flatnonzero(FEW != -1)
    is_random = np.zeros(len(Y), dtype=bool)
    is_random[known[::2]] = True
    view = view_of(AutoSSLART(random_state=0).fit(X, FEW, at_random=is_random))
    assert view.left_out is not None
    found = observed_of(view, view.left_out, 0.9)
    assert found.n_labels == len(known)
    assert found.n_measured == len(known) // 2
    everywhere = observed_of(view, replace(view.left_out, at_random=None), 0.9)
    assert everywhere.n_measured == len(known)
    assert everywhere.accuracy.tolist() != found.accuracy.tolist()


def test_of_many_labels_a_bounded_number_takes_part(model: AutoSSLART, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sub_samples, "MAX_USED", 24)
    found = learning_curve(model)
    assert found.n_labels.tolist() == [6, 12, 18]
    assert found.n_now == 48


@pytest.mark.slow
def test_of_many_labels_the_curve_goes_on_from_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sslart._mapping.evidence.selection.MAX_LABELS", 100)  # of more, some are held out to measure
    X, y = load_breast_cancer(return_X_y=True)
    model = AutoSSLART(random_state=0).fit(X[:300], y[:300])
    curve = learning_curve(model)
    assert abs(curve.n_now - 300) <= 3
    assert curve.n_labels.max() < 100
