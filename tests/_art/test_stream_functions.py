"""What labels change in a stream: the compiled kernel has the bits of the NumPy twin on every instruction set."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import sslart._reference as reference
from sslart._art.backend import INSTRUCTION_SETS
from sslart._utils.parallel import stop_flag

N_FEATURES, N_CLASSES, N_BOXES = 5, 3, 37
N_FUNCTIONS = N_CLASSES + N_BOXES + 1 + N_FEATURES


def kernel() -> Any:
    return importlib.import_module("sslart._kernel")


@pytest.fixture(params=INSTRUCTION_SETS)
def instruction_set(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param not in kernel().instruction_sets():
        pytest.skip("this machine has no such instructions")
    usual = kernel().instruction_set()
    kernel().use_instruction_set(request.param)
    yield request.param
    kernel().use_instruction_set(usual)


def of_some_boxes() -> dict[str, Any]:
    """Rank tables, the third feature without one, and boxes, of which some have no side in a feature."""
    random = np.random.RandomState(0)
    lower = random.uniform(0, 0.8, (3, N_FEATURES, 16))
    upper = lower + random.uniform(0, 0.2, lower.shape)
    open_side = random.uniform(size=lower.shape) < 0.1
    sizes = [4, 7, 0, 2, 30]
    return {
        "offsets": np.cumsum([0, *sizes]),
        "values": np.concatenate([np.sort(random.uniform(size=size)) for size in sizes]),
        "shares": np.concatenate([np.linspace(0, 1, size) for size in sizes]),
        "rank_weight": 0.5,
        "lower": np.where(open_side, -np.inf, lower).astype(np.float32),
        "upper": np.where(open_side, np.inf, upper).astype(np.float32),
        "n_boxes": N_BOXES,
        "width": 0.6,
        "middle": 0.5,
        "n_trends": N_FEATURES,
    }


def some_samples() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.RandomState(1)
    samples = random.uniform(size=(20, N_FEATURES))
    samples[random.uniform(size=samples.shape) < 0.2] = np.nan
    return samples, random.normal(size=(20, N_CLASSES))


def values_by(module: Any, samples: np.ndarray, scores: np.ndarray) -> np.ndarray:
    out = np.full((len(samples), N_FUNCTIONS), np.nan)
    module.StreamFunctions(**of_some_boxes()).values(samples, scores, out, stop_flag())
    return out


def test_functions_have_the_bits_of_the_twin(instruction_set: str) -> None:
    samples, scores = some_samples()
    found = values_by(kernel(), samples, scores)
    assert found.tobytes() == values_by(reference, samples, scores).tobytes()
    alone = [values_by(kernel(), samples[[row]], scores[[row]])[0] for row in range(len(samples))]
    assert found.tobytes() == np.array(alone).tobytes()


@pytest.mark.parametrize("module", [reference, kernel()])
def test_functions_are_scores_boxes_a_constant_and_trends(module: Any) -> None:
    samples, scores = some_samples()
    found = values_by(module, samples, scores)
    own_scores, boxes, constant, trends = np.split(found, np.cumsum([N_CLASSES, N_BOXES, 1]), axis=1)
    assert (own_scores == scores).all()
    assert ((boxes > 0) & (boxes <= 1)).all()
    assert (constant == 1).all()
    assert (trends[np.isnan(samples)] == 0).all()
    np.testing.assert_array_equal(trends[:, 2], np.nan_to_num(samples[:, 2] - 0.5))  # without ranks


def test_a_competition_has_the_bits_of_the_twin() -> None:
    random = np.random.RandomState(2)
    scores, targets = random.normal(size=(50, 8, N_CLASSES)), random.randint(N_CLASSES, size=50)
    scores[7, :, 1] = scores[7, :, 0]  # of equal scores the first one counts
    found = []
    for module in (reference, kernel()):
        losses, errors, predicted = np.arange(8.0), np.zeros(8), np.empty(50, dtype=np.int64)
        module.compete(scores, targets, 2.0, 0.99, losses, errors, predicted)
        found.append([one.tobytes() for one in (losses, errors, predicted)])
    assert found[0] == found[1]


@pytest.mark.parametrize("module", [reference, kernel()])
def test_arrays_whose_shapes_do_not_fit_are_refused(module: Any) -> None:
    samples, scores = some_samples()
    functions = module.StreamFunctions(**of_some_boxes())
    out = np.empty((len(samples), N_FUNCTIONS))
    for given in (
        (samples[:-1], scores, out),
        (samples, scores, out[:, :-1].copy()),
        (samples[:, :-1].copy(), scores, out),
    ):
        with pytest.raises(ValueError, match="shapes do not fit"):
            functions.values(*given, stop_flag())
    for change in ({"n_boxes": 49}, {"n_trends": 6}, {"offsets": np.array([0, 43])}, {"width": 0.0}):
        with pytest.raises(ValueError):
            module.StreamFunctions(**{**of_some_boxes(), **change})
    three, one_more = np.zeros(3), np.zeros(4)
    targets, predicted = np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64)
    with pytest.raises(ValueError, match="length n_candidates"):
        module.compete(np.zeros((2, 3, 2)), targets, 2.0, 0.99, three, one_more, predicted)
    with pytest.raises(ValueError, match="shapes do not fit"):
        module.compete(np.zeros((3, 3, 2)), targets, 2.0, 0.99, three, three.copy(), predicted)
