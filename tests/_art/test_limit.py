"""A limit on the number of nodes: it holds after every sample, and the model does not depend on how calls are cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sslart._reference as reference
from conftest import lattices
from sslart._art.backend import backend, use_backend
from sslart._art.boxes import LearningParams
from sslart._art.network import Network
from sslart._data.encoder import Encoder
from sslart._data.samples import Table

few = settings(max_examples=20)


@st.composite
def streams(draw: Any) -> tuple[np.ndarray, np.ndarray, LearningParams]:
    samples = draw(lattices(min_samples=5, max_samples=40, max_features=3))
    targets = draw(st.lists(st.integers(-1, 1), min_size=len(samples), max_size=len(samples)))
    params = LearningParams(
        vigilance=draw(st.sampled_from([0.5, 0.9, 1.0])),
        choice=1e-3,
        learning_rate=draw(st.sampled_from([1.0, 0.5])),
        match_tracking=1e-6,
        one_to_one=draw(st.booleans()),
        half_life=draw(st.sampled_from([None, None, 20.0])),
        max_nodes=draw(st.integers(3, 12)),
    )
    return samples, np.array(targets), params


def unit_network(n_features: int) -> Network:
    columns = Encoder.of_columns(Table(np.empty((0, n_features))))
    return Network(columns._with_range(np.zeros(n_features), np.ones(n_features)))


def state(network: Network) -> list[Any]:
    nodes = network.nodes
    rows = [nodes.weights, nodes.norms, nodes.support, nodes.counts, nodes.met, nodes.labels]
    numbers = [nodes.n_nodes, nodes.n_nodes_stage1, nodes.vigilance, nodes.n_learnt]
    return [*numbers, *(one.tolist() for one in rows)]


def learn_in_calls(network: Network, samples: np.ndarray, targets: np.ndarray, params: LearningParams, cut: int) -> Any:
    """Learn a stream in calls of so many samples."""
    winners: list[int] = []
    for start in range(0, len(samples), cut):
        rows = slice(start, start + cut)
        network, learnt = network.learned(Table(samples[rows]), targets[rows], 2, params)
        if learnt.into is not None:
            winners = [int(learnt.into[node]) if node >= 0 else node for node in winners]
        winners += learnt.nodes.tolist()
        yield network, winners, network.nodes.n_nodes


@few
@given(streams())
def test_the_limit_holds_after_every_sample_and_cuts_do_not_matter(
    stream: tuple[np.ndarray, np.ndarray, LearningParams],
) -> None:
    samples, targets, params = stream
    assert params.max_nodes is not None
    whole = unit_network(samples.shape[1])
    whole, learnt = whole.learned(Table(samples), targets, 2, params)
    for cut in (1, 3):
        steps = list(learn_in_calls(unit_network(samples.shape[1]), samples, targets, params, cut))
        assert max(n_nodes for _, _, n_nodes in steps) <= params.max_nodes
        network, winners, _ = steps[-1]
        assert state(network) == state(whole)
        assert winners == learnt.nodes.tolist()


@few
@given(streams())
def test_boxes_hold_what_they_have_learnt_and_keep_to_the_vigilance_in_use(
    stream: tuple[np.ndarray, np.ndarray, LearningParams],
) -> None:
    samples, targets, params = stream
    samples = np.rint(np.nan_to_num(samples, nan=0.5) * 8) / 8
    params = LearningParams(params.vigilance, 1e-3, 1.0, 1e-6, params.one_to_one, None, params.max_nodes)
    network = unit_network(samples.shape[1])
    network, learnt = network.learned(Table(samples), targets, 2, params)
    nodes = network.nodes
    lower, upper = nodes.boxes()
    assert (lower[learnt.nodes] <= samples).all()
    assert (samples <= upper[learnt.nodes]).all()
    assert nodes.support.tolist() == np.bincount(learnt.nodes).tolist()
    for label in (0, 1):
        of_label = np.bincount(learnt.nodes[targets == label], minlength=nodes.n_nodes).tolist()
        if nodes.n_classes > label:
            assert nodes.counts[:, label].tolist() == of_label
    vigilance = min(params.vigilance, nodes.vigilance)
    assert ((1 - (upper - lower).mean(axis=1)) >= vigilance - 1e-12).all()
    assert nodes.n_nodes_stage1 <= nodes.n_nodes
    if params.one_to_one:
        assert ((nodes.counts > 0).sum(axis=1) <= 1).all()


@few
@given(streams())
def test_the_kernel_has_the_bits_of_the_reference(stream: tuple[np.ndarray, np.ndarray, LearningParams]) -> None:
    samples, targets, params = stream
    states = []
    for module in (backend(), reference):
        with use_backend(module):
            network, _ = unit_network(samples.shape[1]).learned(Table(samples), targets, 2, params)
        states.append(state(network))
    assert states[0] == states[1]


def test_more_classes_than_nodes_cannot_be_kept_apart() -> None:
    samples = np.linspace(0, 1, 6)[:, None]
    params = LearningParams(0.99, 1e-3, 1.0, 1e-6, one_to_one=True, max_nodes=3)
    with pytest.raises(ValueError, match=r"each of the 3 classes needs a box of its own.*at least 4"):
        unit_network(1).learned(Table(samples), np.arange(6), 6, params)


def test_a_limit_that_is_lowered_later_is_reached_with_the_next_sample() -> None:
    random = np.random.RandomState(0)
    network = unit_network(2)
    samples = Table(random.uniform(size=(200, 2)))
    network, _ = network.learned(samples, np.full(200, -1), 0, LearningParams(0.95, 1e-3, 1.0))
    assert network.nodes.n_nodes > 20
    later = LearningParams(0.95, 1e-3, 1.0, max_nodes=10)
    network, _ = network.learned(Table(np.array([[0.5, 0.5]])), np.array([-1]), 0, later)
    assert network.nodes.n_nodes <= 10
    assert network.nodes.vigilance < 0.95
    assert network.nodes.support.sum() == 201
