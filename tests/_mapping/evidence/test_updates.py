"""A label is a rank-one update: the result is that of the whole regression, solved by other means."""

import numpy as np
import pytest

from sslart._mapping.evidence.boxes import BoxGroup
from sslart._mapping.evidence.design import RankScaler
from sslart._mapping.evidence.streams import SHARPNESS, Competition, UpdateBasis, Updates

N_CLASSES = 3


def a_basis(n_boxes: int = 5, n_features: int = 2) -> UpdateBasis:
    lower = np.random.RandomState(0).uniform(0, 0.8, (n_boxes, n_features))
    group = BoxGroup(0.5, np.arange(n_features), np.ones(n_features), np.arange(n_boxes), lower, lower + 0.1)
    return UpdateBasis(RankScaler((None,) * n_features), group, N_CLASSES)


def some_labels(basis: UpdateBasis, n: int = 40) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.RandomState(1)
    return basis.values(random.uniform(size=(n, 2)), random.uniform(size=(n, N_CLASSES))), random.randint(3, size=n)


def begun(basis: UpdateBasis, half_life: float) -> Updates:
    nothing = np.empty((0, basis.n_functions))
    labels = nothing, np.empty((0, N_CLASSES)), np.empty(0), np.empty(0, dtype=np.int64)
    return Updates.begun(basis, Competition.begun((half_life,)), half_life, *labels, 0)


def of_all_functions(updates: Updates) -> np.ndarray:
    """The weights of the regression on all functions, with the only half-life."""
    weights: np.ndarray = updates.recursions[0].weights[0]
    return weights


@pytest.mark.parametrize("part", [0, 1])
def test_without_forgetting_updates_give_the_whole_regression(part: int) -> None:
    basis = a_basis()
    values, targets = some_labels(basis)
    weights = np.random.RandomState(2).uniform(0.5, 2.0, len(targets))
    updates = begun(basis, np.inf)
    updates = updates.after(values, targets, weights, 1 + np.arange(len(targets)))
    columns = basis.parts[part]
    values, first = values[:, columns], basis.first_weights[columns]
    errors = np.eye(N_CLASSES)[targets] - values @ first
    system = values.T @ (weights[:, None] * values) + np.diag(basis.ridges[columns])
    expected = first + np.linalg.solve(system, values.T @ (weights[:, None] * errors))
    np.testing.assert_allclose(updates.recursions[part].weights[0], expected, rtol=1e-8, atol=1e-10)


def test_the_weights_are_those_of_all_candidates_by_what_each_counts() -> None:
    basis = a_basis()
    values, targets = some_labels(basis)
    updates = begun(basis, np.inf).after(values, targets, np.ones(len(targets)), 1 + np.arange(len(targets)))
    weights = np.exp(-SHARPNESS * updates.competition.losses)
    with_boxes, without = weights / weights.sum()
    assert 0.0 < without < 1.0
    expected = with_boxes * updates.recursions[0].weights[0]
    expected[basis.parts[1]] += without * updates.recursions[1].weights[0]
    np.testing.assert_allclose(updates.shared_weights, expected, rtol=1e-12)


def test_labels_kept_at_a_choice_make_later_labels_count_less_and_correct_nothing() -> None:
    basis = a_basis()
    values, targets = some_labels(basis)
    one_hot, ones, ages = np.eye(N_CLASSES)[targets], np.ones(len(targets)), np.zeros(len(targets), dtype=np.int64)
    known = Updates.begun(basis, Competition.begun((np.inf,)), np.inf, values, one_hot, ones, ages, 0)
    assert (known.shared_weights == basis.first_weights).all()
    fresh = begun(basis, np.inf)
    changed = [
        one.after(values[:1], np.array([1]), np.ones(1), np.array([1])).shared_weights - basis.first_weights
        for one in (known, fresh)
    ]
    of_known, of_fresh = (np.abs(values[0] @ weights).max() for weights in changed)
    assert of_known < of_fresh / 2


@pytest.mark.parametrize("half_life", [30.0, 300.0])
def test_with_a_half_life_old_labels_count_less(half_life: float) -> None:
    basis = a_basis()
    values, targets = some_labels(basis, 400)
    updates = begun(basis, half_life)
    updates = updates.after(values, targets, np.ones(400), 1 + np.arange(400))
    shares = 2.0 ** (-(400 - 1 - np.arange(400)) / half_life)
    errors = np.eye(N_CLASSES)[targets] - values @ basis.first_weights
    system = values.T @ (shares[:, None] * values) + np.diag(basis.ridges)
    expected = basis.first_weights + np.linalg.solve(system, values.T @ (shares[:, None] * errors))
    # the ridge is given back to one function at a time, so that the two agree but for a part of it
    found = values[-20:] @ of_all_functions(updates)
    assert np.abs(found - values[-20:] @ expected).max() < 0.15 * np.abs(found).max()


def test_a_half_life_shorter_than_labels_are_apart_stays_finite() -> None:
    basis = a_basis()
    values, targets = some_labels(basis, 300)
    updates = begun(basis, 2.0)
    updates = updates.after(values, targets, np.ones(300), 100 * np.arange(300) + 1)
    for recursion in updates.recursions:
        assert np.isfinite(recursion.inverses).all()
        assert (recursion.inverses == recursion.inverses.transpose(0, 2, 1)).all()
    assert np.abs(updates.shared_weights).max() < 100


def test_the_half_life_with_clearly_fewer_errors_is_the_longest() -> None:
    competition = Competition.begun((10.0, np.inf))
    assert competition.half_lives.tolist() == [10.0, np.inf, 10.0, np.inf]  # with boxes and without
    assert competition.losses[1] < competition.losses[0]
    assert competition.longest == np.inf
    for errors, longest in (([1.0, 30.0, 30.0, 30.0], 10.0), ([29.0, 30.0, 40.0, 40.0], np.inf)):
        assert Competition(competition.half_lives, competition.losses, np.array(errors)).longest == longest
