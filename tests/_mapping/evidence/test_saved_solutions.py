"""Saved regressions: what a solution can hold comes back, and what none can hold is refused."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from labelled_sets import labelled_set, one_of_each, readout_of

from sslart._data.labels import ClassTable
from sslart._data.ranks import GRID
from sslart._mapping.evidence.basis import MAX_COEFFICIENT, saved_places
from sslart._mapping.evidence.design import DesignMatrices
from sslart._mapping.evidence.label_reservoir import AbsentLabels, LabelReservoir
from sslart._mapping.evidence.readout import Readout, SavedContext, Solution, SolutionBuilder
from sslart._mapping.evidence.settings import BasisSpec, Mixture

MIXTURES = (Mixture((BasisSpec("box", 0.5, 0.25),), 0.1),)
N_LABELS, N_FEATURES, N_BOXES, N_CLASSES = 20, 5, 40, 3
State = dict[str, Any]


def on_grid(values: np.ndarray) -> np.ndarray:
    """Return coded values as the encoder gives them."""
    return np.round(values * GRID) / GRID


def terms_of() -> tuple[DesignMatrices, Readout]:
    labelled = labelled_set(0)
    boxes = replace(labelled.boxes, lower=on_grid(labelled.boxes.lower), upper=on_grid(labelled.boxes.upper))
    design = DesignMatrices(replace(labelled, samples=on_grid(labelled.samples), boxes=boxes))
    random = np.random.RandomState(0)
    return design, readout_of(design, [(spec, 10 * random.normal(size=(N_LABELS, 3))) for spec in one_of_each(design)])


def solution_of() -> Solution:
    design, readout = terms_of()
    builder = SolutionBuilder(design.labelled, design.scaler, np.arange(N_BOXES))
    builder.add(readout.terms, readout.bias)
    return builder.solution(MIXTURES, design.labelled.targets - 0.1)


def context(labels: LabelReservoir | None = None) -> SavedContext:
    labels = AbsentLabels(N_LABELS, np.ones(N_LABELS, dtype=bool)) if labels is None else labels
    return SavedContext(N_FEATURES, N_BOXES, ClassTable(("a", "b", "c")), labels, MIXTURES)


@pytest.fixture(scope="module")
def solution() -> Solution:
    return solution_of()


@pytest.fixture
def state(solution: Solution) -> State:
    return copy.deepcopy(solution.to_state(MIXTURES))


def term(state: State, kind: str) -> State:
    return next(one for one in state["readout"]["terms"] if one["kind"] == kind)


def test_a_solution_comes_back(solution: Solution, state: State) -> None:
    again = Solution.from_state(state, context())
    samples = np.random.RandomState(1).rand(9, N_FEATURES)
    np.testing.assert_array_equal(again.readout.scores(samples), solution.readout.scores(samples))
    assert (again.readout.inverse_temperature, again.readout.smoothing) == (
        solution.readout.inverse_temperature,
        solution.readout.smoothing,
    )
    for name in ("left_out", "classes", "rows", "class_factors"):
        np.testing.assert_array_equal(getattr(again, name), getattr(solution, name))
    assert again.mixtures == MIXTURES
    others = (Mixture((BasisSpec("linear", 0.0, 1.0),), 0.3, 0.25), Mixture((BasisSpec("spread", 0.0, 0.9),), 0.0))
    assert Solution.from_state(solution.to_state(others), context()).mixtures == MIXTURES
    given = {**state, "mixtures": [one.to_state() for one in others]}
    assert Solution.from_state(given, context()).mixtures == others


def put(*path: str, value: Any) -> Callable[[State], None]:
    """Return a change of one value, or of the first value of an array."""

    def change(state: State) -> None:
        for name in path[:-1]:
            state = term(state, name) if name == "linear" else state[name]
        if isinstance(value, np.ndarray) or not isinstance(state[path[-1]], np.ndarray):
            state[path[-1]] = value
        else:
            state[path[-1]].flat[0] = value

    return change


AT_THE_LIMIT = {
    "the lowest inverse temperature": put("readout", "inverse_temperature", value=float(np.exp(-1))),
    "the highest inverse temperature": put("readout", "inverse_temperature", value=float(np.exp(4))),
    "no smoothing": put("readout", "smoothing", value=0.0),
    "smoothing only": put("readout", "smoothing", value=1.0),
    "the largest bias": put("readout", "bias", value=MAX_COEFFICIENT),
    "the smallest bias": put("readout", "bias", value=-MAX_COEFFICIENT),
    "the largest score": put("left_out", value=MAX_COEFFICIENT),
    "a class that does not count": put("class_factors", value=0.0),
    "a class that counts most": put("class_factors", value=MAX_COEFFICIENT),
    "a trend by range": put("linear", "rank_weight", value=0.0),
    "a trend by ranks": put("linear", "rank_weight", value=1.0),
}
IMPOSSIBLE = {
    "a lower inverse temperature": put("readout", "inverse_temperature", value=0.29),
    "a higher inverse temperature": put("readout", "inverse_temperature", value=60.1),
    "less than no smoothing": put("readout", "smoothing", value=-0.01),
    "more than smoothing": put("readout", "smoothing", value=1.01),
    "a larger bias": put("readout", "bias", value=1.01 * MAX_COEFFICIENT),
    "a smaller bias": put("readout", "bias", value=-1.01 * MAX_COEFFICIENT),
    "no boxes": put("readout", "nodes", value=np.arange(0)),
    "a box of another number": put("readout", "nodes", value=np.append(np.arange(N_BOXES - 1), N_BOXES)),
    "a box below the first": put("readout", "nodes", value=-1),
    "a box twice": put("readout", "nodes", value=1),
    "a larger score": put("left_out", value=1.01 * MAX_COEFFICIENT),
    "scores of fewer labels": put("left_out", value=np.zeros((N_LABELS - 1, N_CLASSES))),
    "a class below the first": put("classes", value=-1),
    "a class beyond the last": put("classes", value=N_CLASSES),
    "a class that counts less than nothing": put("class_factors", value=-0.01),
    "factors of fewer classes": put("class_factors", value=np.ones(N_CLASSES - 1)),
    "no labels": put("rows", value=np.arange(0)),
    "labels other order": put("rows", value=np.arange(N_LABELS)[::-1]),
    "a label twice": put("rows", value=np.append(np.arange(N_LABELS - 1), N_LABELS - 2)),
    "a label below the first": put("rows", value=-1),
    "a label beyond the last": put("rows", value=np.arange(1, N_LABELS + 1)),
    "a group of another number": put("groups", value=1),
    "groups of an unknown kind": put("kind", value="twins"),
    "no mixtures": put("mixtures", value=[]),
    "a trend by less than range": put("linear", "rank_weight", value=-0.01),
    "a trend by more than ranks": put("linear", "rank_weight", value=1.01),
    "a slope without bound": put("linear", "slopes", value=np.inf),
}


@pytest.mark.parametrize("change", AT_THE_LIMIT)
def test_values_at_their_limits_come_back(change: str, state: State) -> None:
    AT_THE_LIMIT[change](state)
    Solution.from_state(state, context())


@pytest.mark.parametrize("change", IMPOSSIBLE)
def test_values_that_no_solution_can_hold_are_refused(change: str, state: State) -> None:
    IMPOSSIBLE[change](state)
    with pytest.raises((ValueError, KeyError)):
        Solution.from_state(state, context())


def test_places_are_ascending_and_in_their_range() -> None:
    for good in ([0], [4], [0, 2, 4]):
        np.testing.assert_array_equal(saved_places({"rows": np.array(good)}, "rows", None, 5), good)
    for bad in ([-1], [5], [0, 0], [1, 0], np.zeros(0, dtype=np.int64)):
        with pytest.raises(ValueError):
            saved_places({"rows": np.array(bad)}, "rows", None, 5)


def test_scores_times_a_matrix_are_the_scores_of_terms_times_it() -> None:
    _, readout = terms_of()
    matrix = np.random.RandomState(2).normal(size=(N_CLASSES, N_CLASSES))
    samples = np.random.RandomState(1).rand(9, N_FEATURES)
    mixed = Readout(
        readout.scaler,
        tuple(one.mixed(matrix) for one in readout.terms),
        readout.bias @ matrix,
        readout.inverse_temperature,
        readout.smoothing,
        readout.nodes,
    )
    for before, after in zip(readout.terms, mixed.terms, strict=True):
        assert after._weights.shape == before._weights.shape
    expected = readout.scores(samples) @ matrix
    np.testing.assert_allclose(mixed.scores(samples), expected, rtol=0, atol=1e-4 * np.abs(expected).max())
