"""Updates by labels of a stream: the kernel has the bits of its NumPy twin on every instruction set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sslart._reference as reference
from conftest import kernel
from sslart._utils.resources import stop_flag

N_FEATURES, N_CLASSES, N_BOXES = 5, 3, 37
N_FUNCTIONS = N_CLASSES + N_BOXES + 1 + N_FEATURES


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


def test_weighted_functions_have_the_bits_of_the_twin(instruction_set: str) -> None:
    samples, scores = some_samples()
    weights = np.random.RandomState(2).normal(size=(N_FUNCTIONS, N_CLASSES))
    sums = {}
    for module in (kernel(), reference):
        sums[module] = scores.copy()
        module.StreamFunctions(**of_some_boxes()).weigh(samples, sums[module], weights, stop_flag())
        with pytest.raises(ValueError, match="shapes do not fit"):
            module.StreamFunctions(**of_some_boxes()).weigh(samples, scores.copy(), weights[1:], stop_flag())
    assert sums[kernel()].tobytes() == sums[reference].tobytes()
    assert sums[reference] == pytest.approx(values_by(reference, samples, scores) @ weights, abs=1e-12)


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


PARTS = {"": np.arange(N_FUNCTIONS), "other_": np.array([0, 2, 40, 5])}


def labels_of(seed: int, n_labels: int = 30, half_lives: tuple[float, ...] = (3.0, 80.0, np.inf)) -> dict[str, Any]:
    """The arguments of `learn_labels`: of two of the half-lives something is forgotten with every label."""
    random, n_candidates = np.random.RandomState(seed), 2 * len(half_lives)
    given: dict[str, Any] = {}
    for name, columns in PARTS.items():
        half = random.normal(size=(len(half_lives), len(columns), len(columns)))
        given |= {
            f"{name}inverses": half @ half.swapaxes(1, 2) / len(columns) + 0.1 * np.eye(len(columns)),
            f"{name}next": np.full(half.shape, np.nan),
            f"{name}weights": random.normal(size=(*half.shape[:2], N_CLASSES)),
            f"{name}columns": columns,
        }
    return {
        **given,
        "values": random.uniform(size=(n_labels, N_FUNCTIONS)),
        "targets": random.randint(N_CLASSES, size=n_labels),
        "importances": random.uniform(0.5, 2.0, size=n_labels),
        "times": 7 + np.cumsum(random.randint(1, 9, size=n_labels)),
        "time": 7,
        "turns": 3,
        "half_lives": np.array(half_lives),
        "max_forgotten": 8.0,
        "ridges": random.uniform(0.1, 1.0, size=N_FUNCTIONS),
        "first": np.eye(N_FUNCTIONS, N_CLASSES),
        "sharpness": 2.0,
        "kept": 0.99,
        "losses": np.arange(float(n_candidates)),
        "errors": np.zeros(n_candidates),
        "predicted": np.full(n_labels, -1),
    }


def learned_by(module: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments after the labels."""
    after = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in given.items()}
    module.learn_labels(*after.values(), stop_flag())
    return after


def bits_of(given: dict[str, Any]) -> dict[str, bytes]:
    return {name: value.tobytes() for name, value in given.items() if isinstance(value, np.ndarray)}


def test_labels_are_learnt_with_the_bits_of_the_twin(instruction_set: str) -> None:
    given = labels_of(0)
    given["values"][7, :N_CLASSES] = 0.5
    found = learned_by(kernel(), given)
    assert bits_of(found) == bits_of(learned_by(reference, given))
    for name in ("inverses", "other_inverses"):  # what was learnt before stays as it was
        assert (found[name] == given[name]).all()
    out = [np.empty((N_FUNCTIONS, N_CLASSES)) for _ in range(2)]
    for module, own in zip((reference, kernel()), out, strict=True):
        names = ("weights", "columns", "other_weights", "other_columns", "losses")
        module.shared_weights(*(found[name] for name in names), 2.0, own)
    assert out[0].tobytes() == out[1].tobytes()


@pytest.mark.parametrize("cut", [0, 1, 13, 30])
def test_labels_in_two_calls_are_learnt_as_in_one(cut: int) -> None:
    given = labels_of(1)
    per_label = ("values", "targets", "importances", "times", "predicted")
    first = learned_by(kernel(), {**given, **{name: given[name][:cut] for name in per_label}})
    later = learned_by(
        kernel(),
        {
            **first,
            **{name: given[name][cut:] for name in per_label},
            "inverses": first["next"],
            "other_inverses": first["other_next"],
            "time": int(given["times"][cut - 1]) if cut else given["time"],
            "turns": given["turns"] + cut,
        },
    )
    whole = learned_by(kernel(), given)
    for name in ("next", "weights", "other_next", "other_weights", "losses", "errors"):
        assert later[name].tobytes() == whole[name].tobytes()
    assert np.append(first["predicted"], later["predicted"]).tolist() == whole["predicted"].tolist()


def test_labels_that_are_never_forgotten_give_the_ridge_regression_on_all_of_them() -> None:
    given = labels_of(2, 60, (np.inf,))
    found = learned_by(kernel(), given)
    for name, columns in PARTS.items():
        values, inverse, before = given["values"][:, columns], given[f"{name}inverses"][0], given[f"{name}weights"][0]
        weighted = values.T * given["importances"]
        system = np.linalg.inv(inverse) + weighted @ values
        errors = np.eye(N_CLASSES)[given["targets"]] - values @ before
        np.testing.assert_allclose(found[f"{name}next"][0], np.linalg.inv(system), rtol=1e-6, atol=1e-9)
        expected = before + np.linalg.solve(system, weighted @ errors)
        np.testing.assert_allclose(found[f"{name}weights"][0], expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("module", [reference, kernel()])
def test_the_candidate_with_fewer_errors_counts_more(module: Any) -> None:
    given = labels_of(3, 1, (50.0, np.inf))
    given["weights"][:] = given["other_weights"][:] = 0.0
    given["weights"][0, 0, 1] = 1.0  # this one alone predicts class 1
    given |= {"values": np.eye(1, N_FUNCTIONS), "targets": np.array([1]), "losses": np.zeros(4)}
    found = learned_by(module, given)
    assert found["predicted"].tolist() == [1]
    assert found["losses"].tolist() == [0.0, 1.0, 1.0, 1.0]
    assert found["errors"].tolist() == [0.0, 1.0, 1.0, 1.0]


@pytest.mark.parametrize("name", [name for name, value in labels_of(0).items() if isinstance(value, np.ndarray)])
@pytest.mark.parametrize("module", [reference, kernel()])
def test_labels_whose_shapes_do_not_fit_are_refused(name: str, module: Any) -> None:
    given = labels_of(0)
    with pytest.raises(ValueError):
        learned_by(module, {**given, name: given[name][:-1].copy()})


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
