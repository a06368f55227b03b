"""The compiled kernel is the reference's twin: node for node, count for count, bit for bit."""

from __future__ import annotations

import functools
import itertools
import os
import signal
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import sslart._reference
from conftest import lattices, needs_kernel
from sslart import SSLART, WESSLART
from sslart._art.backend import use_backend
from sslart._art.boxes import LearningParams
from sslart._art.network import Network
from sslart._data.encoder import Encoder
from sslart._data.ranks import GRID
from sslart._data.samples import Table

pytestmark = needs_kernel

rules = st.builds(
    LearningParams,
    vigilance=st.sampled_from([0.0, 0.3, 0.5, 0.75, 0.8, 0.9, 0.95, 1.0]),
    choice=st.sampled_from([1e-3, 1e-9, 0.1, 10.0]),
    learning_rate=st.sampled_from([1.0, 0.5, 0.3, 0.1]),
    match_tracking=st.sampled_from([1e-6, 0.0, 0.01]),
    one_to_one=st.booleans(),
    half_life=st.sampled_from([None, 1.0, 7.5, 40.0]),  # supports and counts are floats where it is given
)


def kernel() -> Any:
    import sslart._kernel

    return sslart._kernel


@pytest.fixture(params=["avx512", "avx2", "portable"], autouse=True)
def instruction_set(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run every test on every instruction set that this machine has."""
    usual = kernel().instruction_set()
    if request.param != "each":
        if request.param not in kernel().instruction_sets():
            pytest.skip(f"this machine has no {request.param}")
        kernel().use_instruction_set(request.param)
    yield request.param
    kernel().use_instruction_set(usual)


# for a test that takes the sets in turn by itself, and what it compares them with only once
on_each_set = pytest.mark.parametrize("instruction_set", ["each"], indirect=True)


def searching(filter_from: int, tree_from: int) -> Any:
    """Return the kernel with a cache that filters, and builds a tree, from so many nodes on."""
    thresholds = {"filter_from": filter_from, "tree_from": tree_from}

    def new(*sizes: int) -> Any:
        return kernel().Boxes(*sizes, **thresholds)

    new.of = lambda *arrays: kernel().Boxes.of(*arrays, **thresholds)  # type: ignore[attr-defined]
    return SimpleNamespace(__name__=kernel().__name__, encode=kernel().encode, Boxes=new)


NEVER = 2**62
ARRAYS = ("weights", "norms", "support", "counts", "labels", "met")


CACHES = {"tree": (1, 8), "filter": (1, NEVER), "plain": (NEVER, NEVER)}  # with filter and tree even for few nodes


def unit_network(n_features: int) -> Network:
    columns = Encoder.of_columns(Table(np.empty((0, n_features))))
    return Network(columns._with_range(np.zeros(n_features), np.ones(n_features)))


def arrays_of(network: Network) -> list[bytes]:
    return [getattr(network.nodes, name).tobytes() for name in ARRAYS]


def grown(
    engine: Any, samples: np.ndarray, targets: np.ndarray, params: LearningParams, cut: int, depth: int | None
) -> tuple[Network, list[np.ndarray]]:
    seen = []
    with use_backend(engine):
        network = unit_network(samples.shape[1])
        for rows in (slice(0, cut), slice(cut, None)):
            if len(samples[rows]):
                by_first = len(samples) % 2 == 0
                before, state = network, arrays_of(network)
                network, learnt = network.learned(
                    Table(samples[rows]), targets[rows], 3, params, predict_depth=depth, predict_by_first=by_first
                )
                seen += [learnt.nodes, learnt.predicted, learnt.gaps]
                assert arrays_of(before) == state
        for top in (1, 2, 5):
            seen += network.rank(Table(samples), params.choice, depth=top)
        if (targets >= 0).any():
            seen += network.rank(Table(samples), params.choice, depth=2, labelled_only=True)
    return network, seen


@on_each_set
@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    samples=lattices(max_features=40),
    params=rules,
    seed=st.integers(0, 2**16),
    cut=st.integers(0, 40),
    depth=st.sampled_from([None, 0, 1, 2, 3]),
)
def test_kernel_and_reference_make_the_same_nodes(
    samples: np.ndarray, params: LearningParams, seed: int, cut: int, depth: int | None
) -> None:
    targets = np.random.RandomState(seed).randint(-1, 3, size=len(samples))
    plain, plain_seen = grown(sslart._reference, samples, targets, params, cut, depth)
    n = plain.nodes.n_nodes
    for instructions, cache in itertools.product(kernel().instruction_sets(), CACHES):
        kernel().use_instruction_set(instructions)
        fast, fast_seen = grown(searching(*CACHES[cache]), samples, targets, params, cut, depth)
        assert n == fast.nodes.n_nodes, (instructions, cache)
        assert fast.nodes.n_nodes_stage1 == plain.nodes.n_nodes_stage1, (instructions, cache)
        assert arrays_of(fast) == arrays_of(plain), (instructions, cache)
        for one, other in zip(fast_seen, plain_seen, strict=True):
            assert one.tobytes() == other.tobytes(), (instructions, cache)


@on_each_set
@pytest.mark.parametrize("n_features", [1, 7, 9, 33, *(pytest.param(n, marks=pytest.mark.slow) for n in (8, 31, 70))])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("one_to_one", [False, True])
def test_many_nodes_are_the_same(n_features: int, missing: float, one_to_one: bool) -> None:
    random = np.random.RandomState(n_features)
    samples = random.randint(0, 6, size=(400, n_features)) / 5
    samples[random.rand(400, n_features) < missing] = np.nan
    samples[np.isnan(samples).all(axis=1)] = 0.2
    targets = random.randint(-1, 3, size=400)
    params = LearningParams(0.8, 1e-3, 1.0, 1e-6, one_to_one)
    plain, plain_seen = grown(sslart._reference, samples, targets, params, 300, 2)
    for instructions in kernel().instruction_sets():
        kernel().use_instruction_set(instructions)
        fast, fast_seen = grown(kernel(), samples, targets, params, 300, 2)
        assert arrays_of(fast) == arrays_of(plain), instructions
        for one, other in zip(fast_seen, plain_seen, strict=True):
            assert one.tobytes() == other.tobytes(), instructions


@on_each_set
@pytest.mark.parametrize("n_features", [2, 12])
@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("one_to_one", [False, True])
def test_a_tree_of_several_levels_finds_what_the_filter_finds(
    n_features: int, missing: float, one_to_one: bool
) -> None:
    random = np.random.RandomState(n_features)
    samples = np.round(random.rand(30, n_features)[random.randint(30, size=10000)] * 2**20) / 2**20
    samples = np.clip(samples + random.randint(-(2**16), 2**16, samples.shape) / 2**20, 0, 1)
    samples[random.rand(*samples.shape) < missing] = np.nan
    samples[np.isnan(samples).all(axis=1)] = 0.2
    targets = random.randint(-1, 3, size=len(samples))
    params = LearningParams(0.9995, 1e-3, 1.0, 1e-6, one_to_one)

    def made(engine: Any) -> list[bytes]:
        seen = []
        with use_backend(engine):
            network = unit_network(n_features)
            for rows in (slice(0, 9000), slice(9000, None)):
                network, learnt = network.learned(Table(samples[rows]), targets[rows], 3, params)
                seen.append(learnt.nodes)
            seen += network.rank(Table(samples[:200]), params.choice, depth=5)
        assert network.nodes.n_nodes > 8192
        return [array.tobytes() for array in [*seen, network.nodes.weights]]

    by_the_filter = made(searching(96, NEVER))
    for instructions in kernel().instruction_sets():
        kernel().use_instruction_set(instructions)
        assert made(searching(96, 1024)) == by_the_filter, instructions


@given(
    values=hnp.arrays(np.float64, (5, 3), elements=st.one_of(st.floats(-3, 3), st.just(np.nan))),
    lower=st.floats(-2, 1),
    width=st.floats(0, 4),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_kernel_and_reference_code_alike(values: np.ndarray, lower: float, width: float) -> None:
    low = np.array([lower, lower, np.inf])
    high = np.array([lower + width, lower, -np.inf])
    fast, plain = np.empty_like(values), np.empty_like(values)
    assert kernel().encode(values, low, high, fast) == sslart._reference.encode(values, low, high, plain)
    np.testing.assert_array_equal(fast, plain)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(samples=lattices(missing=False), params=rules)
def test_weights_stay_on_the_grid_and_norms_are_their_sums(samples: np.ndarray, params: LearningParams) -> None:
    targets = np.arange(len(samples)) % 3
    nodes = grown(kernel(), samples, targets, params, 0, None)[0].nodes
    np.testing.assert_array_equal(nodes.weights * GRID, np.rint(nodes.weights * GRID))
    np.testing.assert_array_equal(nodes.weights.sum(axis=1), nodes.norms)


@pytest.mark.parametrize("filter_from", [1, NEVER])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_ranks_are_the_same_bits_on_any_number_of_threads(filter_from: int, missing: float) -> None:
    random = np.random.RandomState(0)
    samples = np.round(random.rand(4000, 6), 3)
    samples[random.rand(*samples.shape) < missing] = np.nan
    samples[np.isnan(samples).all(axis=1)] = 0.5
    with use_backend(searching(filter_from, 64)):
        network = unit_network(6)
        network, _ = network.learned(
            Table(samples[:800]), random.randint(-1, 3, 800), 3, LearningParams(0.95, 1e-3, 1.0)
        )
        alone = network.rank_coded(samples, 1e-3, depth=3, n_jobs=1)
        for n_jobs in (2, 3, 8):
            for found, expected in zip(network.rank_coded(samples, 1e-3, depth=3, n_jobs=n_jobs), alone, strict=True):
                assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("n_threads", [1, 2])
def test_stop_flag_and_ctrl_c_end_long_ranking(n_threads: int) -> None:
    samples = np.random.RandomState(0).rand(100_000, 16)
    with use_backend(kernel()):
        network = unit_network(16)
        network, _ = network.learned(Table(samples[:6000]), np.full(6000, -1), 1, LearningParams(1.0, 1e-3, 1.0))
    nodes, matches = np.full((len(samples), 5), -9), np.zeros((len(samples), 5))

    def rank(stop: np.ndarray) -> None:
        network.nodes.backend_boxes.rank(
            choice=1e-3,
            labelled_only=False,
            samples=samples,
            nodes=nodes,
            matches=matches,
            n_threads=n_threads,
            stop=stop,
        )

    stop = np.zeros(1, dtype=np.uint8)
    threading.Timer(0.2, lambda: stop.fill(1)).start()
    rank(stop)
    assert (nodes[-1] == -9).all()
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            rank(np.zeros(1, dtype=np.uint8))
    finally:
        signal.signal(signal.SIGINT, usual)
    assert (nodes[-1] == -9).all()


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_predictions_are_the_same_in_any_number_of_threads(n_jobs: int) -> None:
    random = np.random.RandomState(1)
    X = random.rand(1500, 4)
    model = SSLART(0.9, n_jobs=n_jobs, random_state=0).fit(X[:600], random.randint(-1, 3, 600))
    alone = [[model.apply(x[None])[0], model.score_samples(x[None])[0]] for x in X]
    np.testing.assert_array_equal(np.column_stack([model.apply(X), model.score_samples(X)]), alone)


def trained_ensemble(engine: Any, mapping: str, n_jobs: int) -> list[bytes]:
    random = np.random.RandomState(1)
    X = np.round(random.rand(300, 5), 1)
    X[random.rand(300, 5) < 0.1] = np.nan
    X[np.isnan(X).all(axis=1)] = 0.0
    y = np.where(random.rand(300) < 0.3, random.randint(0, 3, 300), -1)
    with use_backend(engine):
        model = WESSLART(4, vigilance=0.8, mapping=mapping, n_jobs=n_jobs, random_state=3).fit(X, y)
        model.partial_fit(X[:50], y[50:100])
        arrays = [model.lower_, model.upper_, model.counts_, model.class_weights_, model.predict_proba(X)]
        return [array.tobytes() for array in [*arrays, model.predict(X), model.apply(X), model.score_samples(X)]]


@functools.cache
def ensemble_of_the_reference(mapping: str) -> list[bytes]:
    return trained_ensemble(sslart._reference, mapping, 1)


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
@pytest.mark.parametrize("mapping", ["one-to-many", "one-to-one"])
def test_ensemble_is_the_same_in_any_number_of_threads(n_jobs: int, mapping: str) -> None:
    assert trained_ensemble(kernel(), mapping, n_jobs) == ensemble_of_the_reference(mapping)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"targets": np.array([5, 0])}, "no class"),
        ({"winners": np.empty(1, dtype=np.int64)}, "unlike lengths"),
        ({"next": 3}, "progress"),
        ({"next": -1}, "progress"),
        ({"fit_wanted": np.ones(2, dtype=np.uint8)}, "fits"),
        ({"samples": np.zeros((2, 2))}, "unlike lengths"),
        ({"gaps": np.ones(1)}, "unlike lengths"),
    ],
)
def test_kernel_refuses_arrays_that_do_not_fit(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {
        "next": 0,
        "vigilance": 0.5,
        "choice": 1e-3,
        "learning_rate": 1.0,
        "match_tracking": 0.0,
        "one_to_one": False,
        "samples": np.array([[0.0], [1.0]]),
        "targets": np.array([0, 0]),
        "winners": np.empty(2, dtype=np.int64),
        "predicted": None,
        "search_depth": 0,
        "predict_by_first": False,
        "gaps": np.empty(2),
        "stop": np.zeros(1, dtype=np.uint8),
    }
    boxes = kernel().Boxes(1, 1)
    with pytest.raises(ValueError, match=message):
        boxes.learn(**{**arguments, **change})
    boxes.publish()
    with pytest.raises(ValueError, match="published boxes"):
        boxes.learn(**arguments)
