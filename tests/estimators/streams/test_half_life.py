"""With a half-life older samples count less, boxes that have faded are dropped, and nothing else changes."""

from __future__ import annotations

import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from test_stream import fingerprint, streamed

import sslart
from conftest import name_of
from reproduction.tests import DATA, needs_data
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP
from sslart._art.boxes import Fading, pieces

BOUNDS = ([0.0, 0.0], [2.0, 1.0])
EVIDENCE = {"mapping": "evidence", "families": ["box"], "bandwidth": 0.25, "ridge": 0.01}
FORGETFUL: list[Any] = [
    FuzzyART(0.9, half_life=12, bounds=BOUNDS),
    FuzzyARTMAP(0.7, half_life=40.5, bounds=BOUNDS),
    SSLART(0.8, half_life=30, bounds=BOUNDS, random_state=0),
    SSLART(0.8, mapping="one-to-one", half_life=1, bounds=BOUNDS, random_state=0),
    SSLART(0.8, half_life=20, bounds=BOUNDS, random_state=0, **EVIDENCE),
    WESSLART(2, vigilance=0.8, half_life=17, bounds=BOUNDS, random_state=0),
]


def drifting(n_samples: int = 240) -> tuple[np.ndarray, np.ndarray]:
    """Samples that move to the right, of two classes whose border moves too."""
    random = np.random.RandomState(0)
    X = random.rand(n_samples, 2)
    X[:, 0] += np.linspace(0, 1, n_samples)
    return X, (X[:, 1] > np.linspace(0.2, 0.8, n_samples)).astype(int)


def learnt(model: Any, X: np.ndarray, y: np.ndarray, cuts: list[int] | None = None) -> Any:
    if not isinstance(model, FuzzyARTMAP):
        y = np.where(np.arange(len(y)) % 3, -1, y)
    return streamed(model, X, y, cuts or [])


def everything(model: Any, X: np.ndarray) -> list[bytes]:
    arrays = [model.novelty_pvalues(X), model.score_samples(X)]
    if not isinstance(model, FuzzyART):
        arrays.append(model.predict_proba(X))
    return [*fingerprint(model), *(array.tobytes() for array in arrays)]


def test_a_sample_counts_half_after_a_half_life() -> None:
    model = FuzzyART(0.9, half_life=32, bounds=(0, 1)).partial_fit([[0.0]] * 8)
    model.partial_fit([[1.0]] * 32)
    np.testing.assert_allclose(model.support_[0], 8 * 0.5 * 2 ** (-8 / 32), rtol=0.15)
    before = model.support_[0]
    model.partial_fit([[1.0]] * 32)
    np.testing.assert_allclose(model.support_[0], before / 2)
    np.testing.assert_allclose(model.support_.sum(), sum(2 ** (-age / 32) for age in range(72)), rtol=0.05)


def test_a_box_that_no_sample_reaches_is_dropped_after_four_half_lives() -> None:
    model = FuzzyART(0.9, half_life=16, bounds=(0, 1)).partial_fit([[0.0], *[[1.0]] * 62])
    assert model.n_nodes_ == 2
    model.partial_fit([[1.0], [1.0], [0.5]])
    assert model.lower_.ravel().tolist() == [1.0, 0.5]
    assert model.labels_.tolist() == [0, 0, 1]
    assert model.predict([[0.0], [1.0]]).tolist() == [1, 0]


def test_the_labels_of_a_call_are_minus_one_where_the_box_is_gone() -> None:
    model = FuzzyART(0.9, half_life=1, bounds=(0, 1)).partial_fit([[0.0], [0.5], [1.0], [0.5], [0.5], [0.5], [0.5]])
    assert model.n_nodes_ == 1
    assert model.labels_.tolist() == [-1, 0, -1, 0, 0, 0, 0]


@pytest.mark.parametrize("model", FORGETFUL, ids=name_of)
def test_the_cut_does_not_matter_and_a_saved_model_goes_on_as_if_never_saved(model: Any, tmp_path: Path) -> None:
    X, y = drifting()
    whole = everything(learnt(model, X, y), X)
    assert everything(learnt(model, X, y, [1, 2, 3, 70, 71, 200]), X) == whole
    assert everything(learnt(model, X, y, list(range(1, len(X)))), X) == whole
    half = learnt(model, X[:120], y[:120])
    sslart.save(half, tmp_path / "model.sslart")
    labels = y if isinstance(model, FuzzyARTMAP) else np.where(np.arange(len(y)) % 3, -1, y)
    for copy in (sslart.load(tmp_path / "model.sslart"), pickle.loads(pickle.dumps(half))):
        assert everything(copy, X) == everything(half, X)
        assert everything(copy.partial_fit(X[120:], labels[120:]), X) == whole


@settings(max_examples=25)
@given(half_life=st.floats(1, 60), seed=st.integers(0, 99), data=st.data())
def test_votes_decay_alike_however_the_stream_is_cut(half_life: float, seed: int, data: st.DataObject) -> None:
    random = np.random.RandomState(seed)
    X, y = random.randint(0, 8, (60, 2)) / 7, random.randint(-1, 3, 60)
    model = WESSLART(2, vigilance=0.7, half_life=half_life, bounds=(0, 1), random_state=0)
    cuts = sorted(data.draw(st.lists(st.integers(1, 60), max_size=4)))
    assert fingerprint(streamed(model, X, y, cuts)) == fingerprint(streamed(model, X, y, []))


@given(start=st.integers(0, 50), length=st.integers(1, 80), half_life=st.floats(1, 200), before=st.integers(0, 500))
def test_pieces_end_where_the_number_of_samples_is_a_multiple_of_the_period(
    start: int, length: int, half_life: float, before: int
) -> None:
    fading, rows = Fading(half_life), slice(start, start + length)
    found = list(pieces(rows, fading, before))
    assert [row for piece, _ in found for row in range(piece.start, piece.stop)] == list(range(start, start + length))
    for piece, fades in found:
        assert fades == ((before + piece.stop - start) % fading.period == 0)
    assert any(fades for _, fades in found) == fading.is_due(before, length)


@pytest.mark.parametrize("model", FORGETFUL, ids=name_of)
def test_fit_forgets_nothing(model: Any) -> None:
    X, y = drifting()
    fitted, usual = clone(model).fit(X, y), clone(model).set_params(half_life=None).fit(X, y)
    assert fingerprint(fitted) == fingerprint(usual)
    assert fitted.support_.dtype == np.int64
    fitted.partial_fit(X[:50], y[:50])
    assert fitted.support_.dtype == np.float64
    assert fitted.support_.sum() < usual.partial_fit(X[:50], y[:50]).support_.sum()
    assert usual.support_.dtype == np.int64


def test_without_a_half_life_a_model_goes_on_and_forgets_no_more() -> None:
    X, y = drifting()
    model = SSLART(0.8, half_life=20, bounds=BOUNDS).partial_fit(X, y)
    support = model.support_.sum()
    model.set_params(half_life=None).partial_fit(X, y)
    np.testing.assert_allclose(model.support_.sum(), support + len(X))


@pytest.mark.parametrize("model", [SSLART(0.8), SSLART(0.8, mapping="one-to-one"), FuzzyARTMAP(0.7)], ids=name_of)
def test_a_class_whose_region_moves_is_followed(model: Any) -> None:
    random = np.random.RandomState(0)
    X = random.rand(2500, 2)
    y = (X[:, 0] > 0.5).astype(int)
    y[1000:] = 1 - y[1000:]
    model = clone(model).set_params(bounds=(0, 1))
    scores = {
        half_life: clone(model)
        .set_params(half_life=half_life)
        .partial_fit(X[:2000], y[:2000])
        .score(X[2000:], y[2000:])
        for half_life in (None, 100)
    }
    assert scores[100] > 0.93
    assert scores[100] > scores[None] + 0.08


def test_the_votes_of_an_ensemble_follow_who_is_right_now() -> None:
    X, y = drifting(600)
    y[300:] = 1 - y[300:]
    weights = [
        WESSLART(3, vigilance=0.8, half_life=half_life, random_state=0)
        .fit(X[:100], y[:100])
        .partial_fit(X[100:], y[100:])
        .class_weights_.mean()
        for half_life in (None, 40)
    ]
    assert weights[1] > weights[0] + 0.1


def test_a_sample_of_weight_two_is_two_samples_for_fading_too() -> None:
    X, y = drifting(60)
    weights = 1 + np.arange(60) % 2
    model = WESSLART(2, vigilance=0.8, half_life=9, bounds=BOUNDS, random_state=0)
    for mapping in ("one-to-many", "one-to-one"):
        weighted = clone(model).set_params(mapping=mapping).partial_fit(X, y, sample_weight=weights)
        repeated = clone(model).set_params(mapping=mapping).partial_fit(X.repeat(weights, 0), y.repeat(weights))
        assert weighted.support_.tobytes() == repeated.support_.tobytes()
        assert weighted.counts_.tobytes() == repeated.counts_.tobytes()


def test_the_number_of_boxes_and_the_size_of_a_model_are_bounded_on_an_endless_stream() -> None:
    random = np.random.RandomState(0)
    model = SSLART(0.97, half_life=50, bounds=(0, 1))
    boxes, sizes = [], []
    for _ in range(24):
        model.partial_fit(random.rand(500, 3), random.randint(-1, 2, 500))
        boxes.append(model.n_nodes_)
        sizes.append(len(pickle.dumps(model)))
    assert max(boxes) <= 4 * 50 + 4  # a sample makes one box at most, which lasts four half-lives by itself
    assert max(sizes[12:]) < 1.1 * max(sizes[6:12])
    forgetting_nothing = SSLART(0.97, bounds=(0, 1)).partial_fit(random.rand(6000, 3), random.randint(-1, 2, 6000))
    assert forgetting_nothing.n_nodes_ > 4 * max(boxes)


def test_what_has_not_come_for_long_is_novel_again() -> None:
    random = np.random.RandomState(0)
    model = FuzzyART(0.9, half_life=100, bounds=(0, 1)).partial_fit(random.rand(3000, 3))
    assert model.is_novel(random.rand(200, 3)).mean() < 0.1
    narrow = 0.4 + 0.02 * random.rand(1100, 3)
    model.partial_fit(narrow[:600])
    assert model.is_novel(random.rand(200, 3)).mean() > 0.9
    assert model.is_novel(narrow[600:]).mean() <= 0.1


@pytest.mark.parametrize("half_life", [0, 0.5, -3, np.nan, np.inf, True, "often", [3]])
def test_what_is_no_half_life_is_refused_with_the_range(half_life: Any) -> None:
    for model in (FuzzyART(), SSLART(), AutoSSLART(), WESSLART(2)):
        with pytest.raises(ValueError, match=r"half_life of \w+ must be a number of samples from 1 up.* or None"):
            clone(model).set_params(half_life=half_life).partial_fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("model", [FuzzyART(), FuzzyARTMAP(), SSLART(), WESSLART(2, mapping="one-to-one")], ids=name_of)
def test_auto_needs_evidence_mapping(model: Any) -> None:
    with pytest.raises(ValueError, match=r"'auto' of .* needs evidence mapping.*AutoSSLART"):
        model.set_params(half_life="auto").partial_fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("model", [SSLART(0.8), WESSLART(2, vigilance=0.8, random_state=0), SSLART(0.8, **EVIDENCE)])
def test_texts_show_numbers_of_samples_that_are_no_whole_numbers_in_one_decimal(model: Any) -> None:
    X, y = drifting()
    model = learnt(clone(model).set_params(half_life=25, bounds=BOUNDS), X, y)
    summary = model.summary()
    assert summary.n_samples == len(X)
    assert "240, which by their age count 35 now" in str(summary)
    assert summary.present == pytest.approx(sum(2 ** (-age / 25) for age in range(240)), rel=0.05)
    rules = [model.rules(kind="boxes").to_text(), model.rules().to_text()]
    words = (
        " ".join([str(summary), *map(str, model.explain(X[-5:])), *rules]).replace("(", " ").replace(",", " ").split()
    )
    samples = {number for number, word in pairwise(words) if word in ("sample", "samples", "labelled")}
    assert any("." in word for word in samples)
    assert all(len(word.partition(".")[2]) <= 1 for word in samples)


def test_probabilities_of_a_box_with_faded_labels_sum_to_one() -> None:
    model = SSLART(0.9, half_life=4, bounds=(0, 1)).partial_fit([[0.5], [0.5], [0.5]], [0, 1, 1])
    model.partial_fit([[0.5]] * 30)
    assert model.counts_.sum() < 0.05
    proba = model.predict_proba([[0.5]])
    np.testing.assert_allclose(proba.sum(), 1)
    assert proba[0, 1] > 0.6
    assert model.partial_fit([[0.5]], [0]).predict([[0.5]]) == [0]


@pytest.mark.slow
@needs_data
def test_prequential_accuracy_on_elec_rises_with_a_half_life() -> None:
    table = pd.read_csv(Path(DATA) / "elec" / "elec.csv.gz", nrows=20_000)
    X, y = table.iloc[:, :-1].to_numpy(float), pd.factorize(table.iloc[:, -1])[0]

    def accuracy(half_life: float | None, **parameters: Any) -> float:
        model = SSLART(half_life=half_life, **parameters).partial_fit(X[:100], y[:100])
        right = []
        for start in range(100, len(X), 100):
            rows = slice(start, start + 100)
            right.append(model.predict(X[rows]) == y[rows])
            model.partial_fit(X[rows], y[rows])
        return float(np.concatenate(right).mean())

    for half_life, parameters in ((1000, {"vigilance": 0.8}), (100, {"mapping": "one-to-one"})):
        assert accuracy(half_life, **parameters) > accuracy(None, **parameters) + 0.01
