"""`quality_` is the one statement of quality: figures are those of scikit-learn, and it holds for dependent rows."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import balanced_accuracy_score, log_loss, roc_auc_score

import sslart
from sslart import SSLART, WESSLART, AutoSSLART
from sslart._mapping.model_view import view_of
from sslart.metrics import ModelQuality

N_PATIENTS, N_VISITS = 40, 6


def visits(random: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Return visits of patients whose features are nearly constant and tell nothing of the label, which is constant."""
    patient = np.repeat(np.arange(N_PATIENTS), N_VISITS)
    own = random.normal(size=(N_PATIENTS, 4))[patient]
    X = pd.DataFrame(own + 0.15 * random.normal(size=own.shape), columns=["pressure", "weight", "iron", "sugar"])
    return X.assign(patient=patient), random.integers(0, 2, N_PATIENTS)[patient].astype(str)


def few(y: Any, n: int, random: np.random.Generator) -> np.ndarray:
    labels = np.full(len(y), None, dtype=object)
    chosen = random.choice(len(y), n, replace=False)
    labels[chosen] = np.asarray(y)[chosen]
    return labels


@pytest.fixture(scope="module")
def iris_model() -> Any:
    X, y = load_iris(return_X_y=True)
    return AutoSSLART(random_state=0).fit(X, few(load_iris().target_names[y], 60, np.random.default_rng(1)))


def test_figures_are_those_of_scikit_learn_on_left_out_predictions(iris_model: Any) -> None:
    quality, left_out = iris_model.quality_, view_of(iris_model).left_out
    assert left_out is not None
    assert quality.accuracy.value == pytest.approx(left_out.right.mean())
    assert quality.balanced_accuracy.value == pytest.approx(balanced_accuracy_score(left_out.truth, left_out.predicted))
    assert quality.log_loss == pytest.approx(log_loss(left_out.truth, left_out.proba, labels=[0, 1, 2]))
    one_by_one = [roc_auc_score(left_out.truth == index, left_out.proba[:, index]) for index in range(3)]
    assert quality.auc == pytest.approx(np.mean(one_by_one))
    assert quality.baseline == pytest.approx(np.bincount(left_out.truth).max() / 60)
    assert np.sum(quality.confusion) == 60
    assert [one.label for one in quality.classes] == iris_model.classes_.tolist()


@pytest.mark.usefixtures("plain_pictures")
def test_every_surface_prints_this_statement(iris_model: Any, tmp_path: Path) -> None:
    quality = iris_model.quality_
    assert iris_model.summary().quality == quality
    printed = " ".join(str(iris_model.summary()).split())
    for topic, text in quality.lines().items():
        assert f"{topic} {' '.join(text.split())}" in printed
    X, _ = load_iris(return_X_y=True)
    page = sslart.report(iris_model, X[:10], None, tmp_path / "a.html", max_samples=1).read_text(encoding="utf-8")
    assert all(text in page for text in quality.lines().values())


def test_a_loaded_model_states_the_same(iris_model: Any, tmp_path: Path) -> None:
    sslart.save(iris_model, tmp_path / "model.sslart")
    assert sslart.load(tmp_path / "model.sslart").quality_ == iris_model.quality_


def test_without_skill_it_says_so() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(120, 4)), random.choice(["a", "b"], 120)
    quality = AutoSSLART(random_state=0).fit(X, y).quality_
    assert quality.skill == "no evidence yet"
    assert not quality.shows_skill
    assert "no evidence yet" in str(quality)


def test_chance_is_taken_for_skill_about_as_rarely_as_the_test_says() -> None:
    shown = 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        model = SSLART(mapping="evidence", families=["linear"], ridge=0.01, random_state=0)
        shown += model.fit(random.normal(size=(60, 3)), random.choice(["a", "b"], 60)).quality_.skill == "shown"
    assert shown <= 4  # of 20, at a level of 5 %: more in 0.3 % of such runs


@pytest.fixture(scope="module")
def visited() -> tuple[pd.DataFrame, np.ndarray, Any]:
    """Return visits of patients, half of the labels, and a model that has learnt them with the patients' numbers."""
    random = np.random.default_rng(2)
    X, y = visits(random)
    labels = few(y, 120, random)
    return X, labels, AutoSSLART(random_state=0).fit(X, labels)


@pytest.mark.parametrize("with_column", [True, False])
def test_dependence_between_rows_is_found_and_named(
    with_column: bool, visited: tuple[pd.DataFrame, np.ndarray, Any]
) -> None:
    X, labels, model = visited
    quality = (model if with_column else AutoSSLART(random_state=0).fit(X.drop(columns="patient"), labels)).quality_
    assert quality.dependence is not None
    assert quality.dependence.column == ("patient" if with_column else None)
    assert quality.dependence.accuracy_alone > quality.accuracy.value  # what leave-one-out claims
    assert quality.accuracy.low < 0.5 < quality.accuracy.high  # nothing can be told of a new patient
    assert quality.skill == "no evidence yet"
    assert quality.accuracy.total < N_PATIENTS + 1
    assert ("values of 'patient'" in str(quality)) == with_column
    assert "--group" in str(quality)


def test_found_dependence_is_saved_and_stated_again(
    tmp_path: Path, visited: tuple[pd.DataFrame, np.ndarray, Any]
) -> None:
    X, _, model = visited
    sslart.save(model, tmp_path / "model.sslart")
    loaded = sslart.load(tmp_path / "model.sslart")
    assert loaded.quality_ == model.quality_
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_an_ensemble_finds_it_too(visited: tuple[pd.DataFrame, np.ndarray, Any]) -> None:
    X, labels, _ = visited
    model = WESSLART(2, mapping="evidence", families=["box", "linear"], random_state=0).fit(X, labels)
    assert model.quality_.dependence is not None
    assert model.quality_.skill == "no evidence yet"


def test_named_groups_are_not_doubted(visited: tuple[pd.DataFrame, np.ndarray, Any]) -> None:
    X, labels, _ = visited
    given = AutoSSLART(random_state=0).fit(X.drop(columns="patient"), labels, groups=X["patient"])
    assert given.quality_.dependence is None
    assert given.quality_.how == "leave-one-group-out"
    alone = AutoSSLART(random_state=0).fit(X.drop(columns="patient"), labels, groups=np.arange(len(X)))
    assert alone.quality_.dependence is None
    assert alone.quality_.accuracy.value > 0.85


def test_independent_rows_are_left_alone() -> None:
    for seed in range(6):
        random = np.random.default_rng(seed)
        X = pd.DataFrame(random.normal(size=(200, 4)), columns=list("abcd")).assign(
            grade=random.integers(0, 12, 200), site=random.choice(list("klmnopqrst"), 200)
        )
        y = np.where(X["a"] + 0.5 * X["grade"] / 6 + 0.3 * random.normal(size=200) > 0.5, "high", "low")
        model = SSLART(mapping="evidence", families=["box", "linear"], random_state=0)
        assert model.fit(X, few(y, 100, random)).quality_.dependence is None


def test_labelled_rows_that_differ_are_named_in_the_statement() -> None:
    random = np.random.default_rng(0)
    X = pd.DataFrame({"age": random.normal(50, 10, 600), "ward": random.choice(["north", "south"], 600)})
    y = np.where(X["age"] + 5 * random.normal(size=600) > 50, "ill", "well")
    by_chance = AutoSSLART(random_state=0).fit(X, few(y, 80, random)).quality_
    assert by_chance.warnings == ()
    old = np.full(600, None, dtype=object)
    oldest = np.argsort(X["age"])[-160::2]
    old[oldest] = y[oldest]
    old[np.argsort(X["age"])[:3]] = "well"
    (warning,) = AutoSSLART(random_state=0).fit(X, old).quality_.warnings
    assert "age (median" in warning
    assert "ward" not in warning


@pytest.mark.usefixtures("plain_pictures")
def test_a_report_on_learnt_rows_shows_left_out_figures(tmp_path: Path) -> None:
    X, y = load_iris(as_frame=True, return_X_y=True)
    y = load_iris().target_names[y].astype(object)
    learnt = np.where(np.arange(150) % 3, None, y)
    model = AutoSSLART(random_state=0).fit(X[:120], learnt[:120])
    model.partial_fit(X[120:], learnt[120:])

    def page_of(rows: Any, truth: Any) -> str:
        return sslart.report(model, X.iloc[rows], truth, tmp_path / "a.html", max_samples=1).read_text(encoding="utf-8")

    of_learnt = page_of(np.arange(0, 150, 3), y[::3])
    assert "has learnt the samples of this report" in of_learnt
    assert "of left-out labels right" in of_learnt
    mixed = page_of(np.arange(0, 150), y)
    assert "Measured on the 100 samples" in mixed
    assert "50 further samples of known class are not counted" in mixed
    new = page_of(np.arange(1, 150, 3), y[1::3])
    assert "None of those counted here is among the labelled samples" in new
    assert "not counted" not in new


def test_models_that_keep_no_labels_state_the_reason() -> None:
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quality = SSLART(random_state=0).fit(X, y).quality_
    assert isinstance(quality, ModelQuality)
    assert quality.accuracy is None
    assert quality.skill is None
    assert "cross_val_score" in str(quality)
