"""Evidence scores: the kernel equals the reference, whatever the batch, the threads and the instruction set."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

import sslart._reference
from conftest import HAS_KERNEL, needs_kernel
from sslart import SSLART, AutoSSLART
from sslart._art.backend import use_backend
from sslart._mapping.evidence.boxes import WIDTH, BoxTerm, PackedBoxes, padded
from sslart._mapping.model_view import view_of

TOLERANCE = 2e-6  # of a score, relative to the sum of all weights: float32 adds up some hundred terms
KINDS = ["boxes", "graph", "linear", "splines"]


def kernel() -> Any:
    import sslart._kernel

    return sslart._kernel


def no_stop() -> np.ndarray:
    return np.zeros(1, dtype=np.uint8)


def every_instruction_set() -> list[str]:
    return kernel().instruction_sets() if HAS_KERNEL else []


@contextmanager
def using(instruction_set: str) -> Iterator[None]:
    usual = kernel().instruction_set()
    kernel().use_instruction_set(instruction_set)
    try:
        yield
    finally:
        kernel().use_instruction_set(usual)


def scores_of(scorer: Any, coded: np.ndarray, n_classes: int, n_threads: int = 1) -> np.ndarray:
    scores = np.full((len(coded), n_classes), np.nan)
    scorer.scores(np.ascontiguousarray(coded), scores, n_threads, no_stop())
    return scores


class Case:
    """Arrays of a scorer with some terms, and samples for it."""

    def __init__(
        self, seed: int, n_features: int, n_classes: int, kinds: list[str], n_samples: int = 9, n_boxes: int = 40
    ) -> None:
        random = np.random.RandomState(seed)
        self.n_classes = n_classes
        self.bias = random.normal(size=n_classes)
        self.scale = float(np.abs(self.bias).sum())
        self.ranks = self._ranks(random, n_features)
        self.terms: list[tuple[str, tuple[Any, ...]]] = []
        for kind in kinds:
            arguments = getattr(self, f"_{kind}")(random, n_features, n_boxes)
            self.terms.append((f"add_{kind}", (float(random.choice([0.0, 0.5, 1.0, 0.3])), *arguments)))
        self.samples = random.rand(n_samples, n_features)
        self.samples[random.rand(n_samples, n_features) < 0.15] = np.nan
        self.samples[random.rand(n_samples, n_features) < 0.1] = random.choice([-0.5, 0.0, 1.0, 1.5])

    @staticmethod
    def _ranks(random: np.random.RandomState, n_features: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        sizes = random.choice([0, 2, 3, 30, 200], size=n_features)  # 0: a category, or a feature without spread
        values = [np.sort(random.rand(size)) for size in sizes]
        shares = [np.linspace(0, 1, size) ** 2 for size in sizes]
        joined = [np.concatenate([np.empty(0), *tables]) for tables in (values, shares)]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), joined[0], joined[1]

    def _boxes(self, random: np.random.RandomState, n_features: int, n_boxes: int) -> tuple[Any, ...]:
        features = np.sort(random.choice(n_features, random.randint(1, n_features + 1), replace=False))
        n_boxes = random.randint(0, n_boxes + 1)
        ends = random.rand(2, n_boxes, len(features))
        unreached = random.rand(n_boxes, len(features)) < 0.2
        lower, upper = np.where(unreached, [[[1.0]], [[0.0]]], np.sort(ends, axis=0))
        boxes = PackedBoxes.of(lower, upper)
        weights = random.normal(size=(random.randint(1, 4), self.n_classes, n_boxes))
        self.scale += float(np.abs(weights).sum())
        rate = float(random.choice([1e-2, 1.0, 50.0]))
        return features, random.rand(len(features)) * 2, boxes.lower, boxes.upper, rate, padded(weights)

    def _graph(self, random: np.random.RandomState, n_features: int, n_boxes: int) -> tuple[Any, ...]:
        centres = random.rand(random.randint(1, n_boxes + 1), n_features)
        return centres, centres.mean(axis=0), random.normal(size=(len(centres), self.n_classes))

    def _linear(self, random: np.random.RandomState, n_features: int, n_boxes: int) -> tuple[Any, ...]:
        return random.rand(n_features), random.normal(size=(n_features, self.n_classes))

    def _splines(self, random: np.random.RandomState, n_features: int, n_boxes: int) -> tuple[Any, ...]:
        return (random.normal(size=(n_features, random.choice([2, 3, 17]), self.n_classes)),)

    def scorer(self, module: Any) -> Any:
        scorer = module.Scorer(self.bias)
        scorer.set_ranks(*self.ranks)
        for name, arguments in self.terms:
            getattr(scorer, name)(*arguments)
        return scorer


cases = st.builds(
    Case,
    seed=st.integers(0, 2**16),
    n_features=st.sampled_from([1, 2, 5, 16, 31]),
    n_classes=st.integers(1, 5),
    kinds=st.lists(st.sampled_from(KINDS), max_size=6),
    n_samples=st.sampled_from([0, 1, 2, 7, 70]),
)


@needs_kernel
@given(case=cases)
def test_kernel_scores_as_the_reference_and_alike_on_every_instruction_set(case: Case) -> None:
    expected = scores_of(case.scorer(sslart._reference), case.samples, case.n_classes)
    scorer = case.scorer(kernel())
    found = []
    for name in every_instruction_set():
        with using(name):
            found.append(scores_of(scorer, case.samples, case.n_classes))
    np.testing.assert_allclose(found[0], expected, rtol=1e-12, atol=TOLERANCE * case.scale)
    assert len({scores.tobytes() for scores in found}) == 1


@needs_kernel
@given(case=cases, rank_weight=st.sampled_from([0.0, 0.25, 1.0]))
def test_values_are_blended_with_their_ranks_as_numpy_interpolates(case: Case, rank_weight: float) -> None:
    n_features = case.samples.shape[1]
    offsets, values, shares = case.ranks
    samples = case.samples.copy()
    for feature in range(n_features):  # also at the entries themselves
        entries = values[offsets[feature] : offsets[feature + 1]][: len(samples)]
        samples[: len(entries), feature] = entries
    blended = samples.copy()
    for feature in range(n_features):
        table = slice(offsets[feature], offsets[feature + 1])
        if len(values[table]):
            x = samples[:, feature]
            ranks = np.interp(x, values[table], shares[table])
            blended[:, feature] = (1.0 - rank_weight) * x + rank_weight * ranks if rank_weight else x
    for feature in range(n_features):
        scorer = kernel().Scorer(np.zeros(1))
        scorer.set_ranks(*case.ranks)
        slopes = np.zeros((n_features, 1))
        slopes[feature] = 1.0
        scorer.add_linear(rank_weight, np.zeros(n_features), slopes)
        expected = np.nan_to_num(blended[:, feature])
        np.testing.assert_array_equal(scores_of(scorer, samples, 1)[:, 0], expected)


@needs_kernel
@pytest.mark.parametrize("kinds", [KINDS * 3, *([kind] for kind in KINDS)], ids=str)
def test_a_sample_has_the_same_score_in_any_batch_and_on_any_number_of_threads(kinds: list[str]) -> None:
    case = Case(3, 12, 3, kinds, n_samples=3001, n_boxes=300)
    scorer = case.scorer(kernel())
    expected = scores_of(scorer, case.samples, 3)
    for n_threads in (2, 3, 8):
        for _ in range(5):
            assert scores_of(scorer, case.samples, 3, n_threads).tobytes() == expected.tobytes()
    for n in (1, 2, 3, 5, 64, 65):
        for start in (0, 1, 7, 1000, 3001 - n):
            rows = slice(start, start + n)
            assert scores_of(scorer, case.samples[rows], 3).tobytes() == expected[rows].tobytes()


@needs_kernel
def test_scoring_from_several_python_threads_at_once() -> None:
    case = Case(5, 8, 2, KINDS, n_samples=2000, n_boxes=200)
    scorer = case.scorer(kernel())
    expected = scores_of(scorer, case.samples, 2).tobytes()
    found: list[bytes] = []

    def score() -> None:
        found.extend(scores_of(scorer, case.samples, 2, 2).tobytes() for _ in range(10))

    threads = [threading.Thread(target=score) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 40


@needs_kernel
def test_scorer_keeps_copies_of_its_arrays() -> None:
    case = Case(1, 5, 2, KINDS)
    scorer = case.scorer(kernel())
    expected = scores_of(scorer, case.samples, 2)
    for arrays in (case.ranks, *(arguments for _, arguments in case.terms)):
        for array in arrays:
            if isinstance(array, np.ndarray):
                array[:] = 0
    assert scores_of(scorer, case.samples, 2).tobytes() == expected.tobytes()


@pytest.mark.parametrize("module", [sslart._reference, pytest.param("kernel", marks=needs_kernel)], ids=str)
def test_nearest_centre_is_the_nearest_and_the_first_on_ties(module: Any) -> None:
    module = kernel() if module == "kernel" else module
    random = np.random.RandomState(0)
    centres = random.rand(100, 7)
    centres[50:] = centres[:50]
    samples = random.rand(301, 7)
    samples[::3, 2] = np.nan
    missing = random.rand(7)
    nearest = np.empty(len(samples), dtype=np.int64)
    module.nearest_centres(samples, centres, missing, nearest, no_stop())
    full = np.where(np.isnan(samples), missing, samples)
    distances = ((full[:, None] - centres[:50]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(nearest, distances.argmin(axis=1))
    with pytest.raises(ValueError, match="nearest"):
        module.nearest_centres(samples, centres, missing, nearest[1:], no_stop())
    with pytest.raises(ValueError, match="centres"):
        module.nearest_centres(samples, centres[:0], missing, nearest, no_stop())
    with pytest.raises(ValueError, match="centres"):
        module.nearest_centres(samples, centres, missing[1:], nearest, no_stop())


@needs_kernel
@settings(max_examples=30)
@given(
    seed=st.integers(0, 999), n_centres=st.sampled_from([1, 15, 16, 17, 100]), n_features=st.sampled_from([1, 4, 65])
)
def test_nearest_centre_is_that_of_the_reference_alone_and_on_every_instruction_set(
    seed: int, n_centres: int, n_features: int
) -> None:
    random = np.random.RandomState(seed)
    centres, samples = random.rand(n_centres, n_features), random.rand(37, n_features)
    samples[random.rand(*samples.shape) < 0.1] = np.nan
    nearest = np.empty(len(samples), dtype=np.int64)
    sslart._reference.nearest_centres(samples, centres, centres.mean(axis=0), nearest, no_stop())
    found = {nearest.tobytes()}
    for name in every_instruction_set():
        with using(name):
            nearest, alone = np.empty((2, len(samples)), dtype=np.int64)
            kernel().nearest_centres(samples, centres, centres.mean(axis=0), nearest, no_stop())
            for i in range(len(samples)):
                row = slice(i, i + 1)
                kernel().nearest_centres(samples[row], centres, centres.mean(axis=0), alone[row], no_stop())
            found |= {nearest.tobytes(), alone.tobytes()}
    assert len(found) == 1


@needs_kernel
@pytest.mark.parametrize(
    "load",
    [load_iris, load_wine, load_breast_cancer, pytest.param(load_digits, marks=pytest.mark.slow)],
    ids=lambda load: load.__name__,
)
def test_fitted_models_score_alike_by_the_kernel_and_by_the_reference(load: Any) -> None:
    X, y = load(return_X_y=True)
    random = np.random.RandomState(0)
    rows = random.permutation(len(X))[:400]
    X, y = X[rows], np.where(random.rand(len(rows)) < 0.3, y[rows], -1)
    X[random.rand(*X.shape) < 0.05] = np.nan
    every = SSLART(0.9, mapping="evidence", bandwidth=0.25, ridge=0.01, rank_weight=0.5, random_state=0)
    for model in (AutoSSLART(random_state=0), every):
        view = view_of(model.fit(X, y))
        member = view.members[0]
        coded = member.encode(view.read(X))
        found = []
        for module in (kernel(), sslart._reference):
            with use_backend(module):
                found.append(member.scores(coded))
        scale = sum(np.abs(term.weights).sum() for term in member.readout.terms if isinstance(term, BoxTerm))
        np.testing.assert_allclose(found[0], found[1], rtol=1e-9, atol=1e-9 + TOLERANCE * scale)


@pytest.mark.parametrize("module", [sslart._reference, pytest.param("kernel", marks=needs_kernel)], ids=str)
def test_scorer_without_terms_gives_the_bias(module: Any) -> None:
    module = kernel() if module == "kernel" else module
    scorer = module.Scorer(np.array([1.0, -2.0]))
    assert scores_of(scorer, np.zeros((3, 4)), 2).tolist() == [[1.0, -2.0]] * 3
    assert scores_of(scorer, np.zeros((0, 4)), 2).shape == (0, 2)


BOXES = (0.5, np.array([0, 2]), np.ones(2), *np.zeros((2, 1, 2, WIDTH), dtype=np.float32))
WEIGHTS = np.zeros((1, 2, WIDTH), dtype=np.float32)
WRONG: list[tuple[str, tuple[Any, ...]]] = [
    ("set_ranks", (np.array([0, 1, 1]), np.zeros(1), np.zeros(1))),
    ("set_ranks", (np.array([0, 1, 1, 1]), np.zeros(2), np.zeros(2))),
    ("set_ranks", (np.array([0, 1, 1, 1]), np.zeros(1), np.zeros(2))),
    ("set_ranks", (np.array([0, 2, 1, 2]), np.array([0.0, 1.0]), np.zeros(2))),
    ("set_ranks", (np.array([0, 2, 2, 2]), np.zeros(2), np.zeros(2))),
    ("set_ranks", (np.array([0, 2, 2, 2]), np.array([0.0, np.nan]), np.zeros(2))),
    ("add_boxes", (-0.1, *BOXES[1:], 1.0, WEIGHTS)),
    ("add_boxes", (np.nan, *BOXES[1:], 1.0, WEIGHTS)),
    ("add_boxes", (*BOXES, 0.0, WEIGHTS)),
    ("add_boxes", (*BOXES, np.nan, WEIGHTS)),
    ("add_boxes", (*BOXES, np.inf, WEIGHTS)),
    ("add_boxes", (*BOXES, 1.0, WEIGHTS[:, :1])),
    ("add_boxes", (*BOXES, 1.0, WEIGHTS[:, :, :8].copy())),
    ("add_boxes", (0.5, np.array([0, 3]), *BOXES[2:], 1.0, WEIGHTS)),
    ("add_boxes", (0.5, np.array([0, -1]), *BOXES[2:], 1.0, WEIGHTS)),
    ("add_boxes", (0.5, np.array([0]), *BOXES[2:], 1.0, WEIGHTS)),
    ("add_boxes", (0.5, BOXES[1], np.ones(3), *BOXES[3:], 1.0, WEIGHTS)),
    ("add_graph", (0.0, np.zeros((0, 3)), np.zeros(3), np.zeros((0, 2)))),
    ("add_graph", (0.0, np.zeros((4, 3)), np.zeros(2), np.zeros((4, 2)))),
    ("add_graph", (0.0, np.zeros((4, 3)), np.zeros(3), np.zeros((3, 2)))),
    ("add_graph", (0.0, np.zeros((4, 2)), np.zeros(2), np.zeros((4, 2)))),
    ("add_linear", (0.0, np.zeros(3), np.zeros((3, 1)))),
    ("add_linear", (0.0, np.zeros(2), np.zeros((3, 2)))),
    ("add_linear", (2.0, np.zeros(3), np.zeros((3, 2)))),
    ("add_splines", (0.0, np.zeros((3, 1, 2)))),
    ("add_splines", (0.0, np.zeros((3, 5, 3)))),
    ("add_splines", (0.0, np.zeros((4, 5, 2)))),
    ("scores", (np.zeros((2, 4)), np.zeros((2, 2)), 1, np.zeros(1, dtype=np.uint8))),
    ("scores", (np.zeros((2, 3)), np.zeros((3, 2)), 1, np.zeros(1, dtype=np.uint8))),
    ("scores", (np.zeros((2, 3)), np.zeros((2, 1)), 1, np.zeros(1, dtype=np.uint8))),
]


@pytest.mark.parametrize("module", [sslart._reference, pytest.param("kernel", marks=needs_kernel)], ids=str)
@pytest.mark.parametrize(("method", "arguments"), WRONG, ids=lambda value: value if isinstance(value, str) else "")
def test_arrays_that_do_not_fit_are_refused_and_change_nothing(module: Any, method: str, arguments: Any) -> None:
    scorer = (kernel() if module == "kernel" else module).Scorer(np.zeros(2))
    scorer.add_linear(0.0, np.zeros(3), np.ones((3, 2)))
    scorer.add_boxes(*BOXES, 1.0, WEIGHTS)
    with pytest.raises(ValueError, match=r"must|features"):
        getattr(scorer, method)(*arguments)
    assert scores_of(scorer, np.ones((1, 3)), 2).tolist() == [[3.0, 3.0]]


@needs_kernel
def test_arrays_of_another_type_and_no_stop_flag_are_refused() -> None:
    with pytest.raises(TypeError):
        kernel().Scorer(np.zeros(2, dtype=np.float32))
    with pytest.raises(TypeError):
        kernel().Scorer(np.zeros(2)).add_linear(0.0, np.zeros(3), np.zeros((2, 3)).T)
    with pytest.raises(ValueError, match="stop"):
        kernel().Scorer(np.zeros(2)).scores(np.zeros((1, 3)), np.zeros((1, 2)), 1, np.zeros(0, dtype=np.uint8))


def long_work() -> tuple[Any, np.ndarray]:
    case = Case(0, 31, 3, ["boxes", "graph"] * 8, n_samples=1000, n_boxes=4000)
    return case.scorer(kernel()), np.tile(case.samples, (400, 1))


@needs_kernel
@pytest.mark.parametrize("n_threads", [1, 2])
def test_stop_flag_ends_long_scoring(n_threads: int) -> None:
    scorer, samples = long_work()
    scores, stop = np.zeros((len(samples), 3)), np.zeros(1, dtype=np.uint8)
    threading.Timer(0.3, lambda: stop.fill(1)).start()
    start = time.perf_counter()
    scorer.scores(samples, scores, n_threads, stop)
    assert time.perf_counter() - start < 3.0
    assert (scores[-1] == 0.0).all()


@needs_kernel
@pytest.mark.parametrize("n_threads", [1, 2])
def test_ctrl_c_ends_long_scoring(n_threads: int) -> None:
    scorer, samples = long_work()
    scores = np.zeros((len(samples), 3))
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        start = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            scorer.scores(samples, scores, n_threads, no_stop())
        assert time.perf_counter() - start < 3.0
    finally:
        signal.signal(signal.SIGINT, usual)
    assert (scores[-1] == 0.0).all()


@needs_kernel
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_threads_work_in_a_forked_process() -> None:
    case = Case(3, 12, 2, KINDS, n_samples=3000, n_boxes=300)
    scorer = case.scorer(kernel())
    expected = scores_of(scorer, case.samples, 2, 2).tobytes()
    child = os.fork()
    if child == 0:
        os._exit(0 if scores_of(scorer, case.samples, 2, 2).tobytes() == expected else 1)
    assert os.waitpid(child, 0)[1] == 0
