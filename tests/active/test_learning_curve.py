"""The learning curve: what it measures, how it goes on, and where it gives no estimate."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from sslart import SSLART, WESSLART, AutoSSLART
from sslart.active import LearningCurve, learning_curve
from sslart.active import _learning_curve as sub_samples
from sslart.active._learning_curve import FURTHEST, MIN_LABELS, SHARES, PowerLaw, _fitted

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
    law = PowerLaw(np.full(9, 0.02), np.full(9, 0.8), np.full(9, 0.5))
    falling = LearningCurve(np.array([20.0]), np.array([0.8]), 40, 0.85, "", np.linspace(0.14, 0.16, 9), law)
    wanted = falling.at(100).value
    assert wanted is not None
    needed = falling.labels_for(wanted)
    assert needed.more == 60
    assert needed.low is not None
    assert needed.high is not None
    assert needed.low < 60 < needed.high
    assert str(needed).startswith(f"an accuracy of {100 * wanted:g} % needs about 60 more labels (80 % interval ")


def test_it_reads_as_a_sentence(curve: LearningCurve) -> None:
    n = curve.n_now
    assert str(curve).startswith(f"with {2 * n} labels ")
    assert f"; with {4 * n} labels " in str(curve)
    assert str(curve.labels_for(0.5)) == "an accuracy of 50 % is reached"
    assert str(curve.labels_for(1)) == f"an accuracy of 100 % needs more than {9 * n} more labels, or better features"


def test_few_labels_give_a_reason_instead_of_an_estimate() -> None:
    few = np.where(np.arange(len(Y)) < MIN_LABELS - 1, [*Y[:100:10], *Y[10:]], -1)
    found = learning_curve(AutoSSLART(random_state=0).fit(X, few))
    assert str(found) == "cannot be estimated: it takes at least 20 labels, and there are 19"
    with pytest.raises(ValueError, match="it takes at least 20 labels, and there are 19"):
        found.at(40)
    with pytest.raises(ValueError, match="at least 20 labels"):
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


def test_a_law_is_found_again_from_its_own_errors() -> None:
    sizes, c = np.array([5.0, 10.0, 20.0, 40.0]), np.array([0.5, 1.0])
    powers = sizes ** -c[:, None]
    law = _fitted(0.1 + 0.8 * powers, np.ones((2, 4)), powers, c)
    assert law.a == pytest.approx(0.1)
    assert law.b == pytest.approx(0.8)
    n = law.labels_for(40, law.remaining(40, 100))
    assert n == pytest.approx(100)
    assert np.isinf(law.labels_for(40, np.array([0.01, 0.01]))).all()


def test_a_law_has_no_negative_part() -> None:
    powers = np.array([[0.4, 0.2, 0.1]])
    rising = _fitted(np.array([[0.1, 0.2, 0.3]]), np.ones((1, 3)), powers, np.ones(1))
    assert rising == PowerLaw(pytest.approx([0.2]), pytest.approx([0.0]), pytest.approx([1.0]))
    steep = _fitted(np.array([[0.4, 0.1, 0.0]]), np.ones((1, 3)), powers, np.ones(1))
    assert steep.a == pytest.approx([0.0])
    assert steep.b > 0


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
