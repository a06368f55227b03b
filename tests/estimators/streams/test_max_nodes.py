"""`max_nodes`: a limit that holds after every sample, at the price of a lower vigilance."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from test_stream import fingerprint, streamed

import sslart
from conftest import name_of
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP

LIMIT = 16
STEP = 2.0**-32  # of the grid that samples are rounded to
EVIDENCE: dict[str, Any] = {"mapping": "evidence", "families": ["box"], "bandwidth": 0.25, "ridge": 0.01}
MODELS = [
    FuzzyART(0.95, max_nodes=LIMIT, bounds=(0, 1)),
    FuzzyARTMAP(0.9, max_nodes=LIMIT, bounds=(0, 1)),
    SSLART(0.95, max_nodes=LIMIT, bounds=(0, 1), random_state=0),
    SSLART(0.9, max_nodes=LIMIT, mapping="one-to-one", bounds=(0, 1), random_state=0),
    SSLART(0.95, max_nodes=LIMIT, half_life=30, bounds=(0, 1), random_state=0),
    SSLART(0.95, max_nodes=LIMIT, bounds=(0, 1), random_state=0, **EVIDENCE),
    WESSLART(2, vigilance=0.95, max_nodes=LIMIT, bounds=(0, 1), random_state=0),
]


def members_of(model: Any) -> list[Any]:
    return model.estimators_ if isinstance(model, WESSLART) else [model]


@pytest.fixture
def stream() -> tuple[np.ndarray, np.ndarray]:
    """Two classes in the unit square."""
    random = np.random.RandomState(0)
    X = random.uniform(size=(150, 2))
    return X, (X.sum(axis=1) > 1).astype(int)


def learnt(model: Any, X: np.ndarray, y: np.ndarray) -> Any:
    """Return the model after it has learnt a stream of one sample at a time, with a label for one in three."""
    return streamed(model, X, labels_for(model, y), list(range(len(X))))


def labels_for(model: Any, y: np.ndarray) -> np.ndarray:
    return y if isinstance(model, FuzzyARTMAP) else np.where(np.arange(len(y)) % 3 == 0, y, -1)


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_the_limit_holds_after_every_sample(model: Any, stream: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = stream
    model, labels = clone(model), labels_for(model, y)
    most = 0
    for row in range(60):
        model.partial_fit(X[row : row + 1], labels[row : row + 1])
        most = max(most, *(member.n_nodes_ for member in members_of(model)))
    assert most == LIMIT
    assert 0 <= model.vigilance_ < model.vigilance


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_the_model_does_not_depend_on_the_cut(model: Any, stream: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = stream
    labels = labels_for(model, y)
    whole = streamed(model, X, labels, [])
    for cuts in ([1, 20, 21, 90], list(range(1, 150, 7))):
        other = streamed(model, X, labels, cuts)
        assert fingerprint(other) == fingerprint(whole)
        assert other.vigilance_ == whole.vigilance_
        assert other.novelty_pvalues(X).tolist() == whole.novelty_pvalues(X).tolist()


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_a_model_that_was_saved_goes_on_as_it_would_have(
    model: Any, stream: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    X, y = stream
    labels = labels_for(model, y)
    model = clone(model).partial_fit(X[:100], labels[:100])
    sslart.save(model, tmp_path / "model.sslart")
    twins = [sslart.load(tmp_path / "model.sslart"), copy.deepcopy(model)]
    model.partial_fit(X[100:], labels[100:])
    for twin in twins:
        twin.partial_fit(X[100:], labels[100:])
        assert fingerprint(twin) == fingerprint(model)
        assert twin.vigilance_ == model.vigilance_ < model.vigilance


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_fit_keeps_to_the_limit_and_loses_no_sample(model: Any, stream: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = stream
    model = clone(model).fit(X, labels_for(model, y))
    for member in members_of(model):
        assert member.n_nodes_ <= LIMIT
        assert member.support_.sum() == len(X)
        is_inside = (member.lower_ <= X[:, None] + STEP) & (X[:, None] - STEP <= member.upper_)
        assert is_inside.all(axis=2).any(axis=1).all()
    if isinstance(model, FuzzyART):
        assert (model.lower_[model.labels_] <= X + STEP).all()
        assert (model.upper_[model.labels_] >= X - STEP).all()


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_a_limit_that_is_not_reached_changes_nothing(model: Any, stream: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = stream
    labels = labels_for(model, y)
    far, none = (clone(model).set_params(max_nodes=limit).fit(X, labels) for limit in (10_000, None))
    assert fingerprint(far) == fingerprint(none)
    assert far.vigilance_ == none.vigilance_ == model.vigilance


def test_too_many_classes_for_the_limit_are_an_error_that_names_the_cure_and_loses_nothing() -> None:
    X = np.linspace(0, 1, 6)[:, None]
    model = FuzzyARTMAP(0.99, max_nodes=3, bounds=(0, 1)).partial_fit(X[:3], [0, 1, 2])
    before = fingerprint(model)
    with pytest.raises(ValueError, match=r"max_nodes=3 is too low.*each of the 3 classes.*at least 4"):
        model.partial_fit(X[3:], [3, 4, 5])
    assert fingerprint(model) == before
    model.set_params(max_nodes=7).partial_fit(X[3:], [3, 4, 5])
    assert model.predict(X).tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("limit", [0, 1, -3, 2.5, "many", True])
def test_a_limit_is_a_whole_number_from_two_up(limit: Any) -> None:
    with pytest.raises(ValueError, match="max_nodes of SSLART must be a whole number from 2 up"):
        SSLART(max_nodes=limit).fit([[0.0], [1.0]], [0, 1])


def test_a_limit_can_be_set_later() -> None:
    random = np.random.RandomState(0)
    model = FuzzyART(0.95, bounds=(0, 1)).fit(random.uniform(size=(300, 2)))
    assert model.n_nodes_ > 20
    model.set_params(max_nodes=10).partial_fit([[0.5, 0.5]])
    assert model.n_nodes_ <= 10
    assert model.support_.sum() == 301


def test_the_limit_of_auto_sslart_is_high_by_default() -> None:
    assert AutoSSLART().max_nodes == 10_000
    assert SSLART().max_nodes is None


@pytest.mark.parametrize("seed", [3, 13])
def test_the_cut_does_not_matter_where_the_range_widens(seed: int, tmp_path: Path) -> None:
    steps = np.random.RandomState(seed).choice([-1, -0.25, 0.5, 1.25, 2], size=(24, 2))
    X = steps * np.linspace(0.2, 1, 24)[:, None]
    files = []
    for cut in (0, 4, 6, 7, 8, 10):
        model = streamed(FuzzyART(0.9, max_nodes=4, bounds=(0, 1)), X, np.zeros(len(X)), [cut])
        sslart.save(model, tmp_path / "model.sslart")
        files.append((tmp_path / "model.sslart").read_bytes())
    assert len(set(files)) == 1
