"""Selection: labels choose the bases by leave-one-out, and the result does not depend on how it is computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled_sets import basis_of, labelled_set

from sslart._mapping.evidence import selection
from sslart._mapping.evidence.boxes import N_SUBSPACES, NEGLIGIBLE, BoxTerm
from sslart._mapping.evidence.design import BoxSet, DesignMatrices, LabelledSet
from sslart._mapping.evidence.families import FAMILY_NAMES, family_of
from sslart._mapping.evidence.large_scale import MAX_CHOOSING
from sslart._mapping.evidence.readout import Solution, calibration
from sslart._mapping.evidence.selection import MAX_MIXTURES, candidates, choose_by_some
from sslart._mapping.evidence.settings import NO_BLOCK, RANK_WEIGHTS, RIDGES, BasisSpec, FixedSettings, Mixture


def noisy_set(
    seed: int = 0, n_labels: int = 40, n_boxes: int = 60, n_features: int = 4, n_classes: int = 3
) -> LabelledSet:
    """Labelled samples whose class follows from the first feature, but for some noise; boxes are points."""
    random = np.random.RandomState(seed)
    samples, points = random.rand(n_labels, n_features), random.rand(n_boxes, n_features)
    noisy = np.clip(samples[:, 0] + 0.1 * random.normal(size=n_labels), 0, 0.999)
    boxes = BoxSet(points, points, np.ones(n_boxes, dtype=np.int64))
    return LabelledSet(
        samples, (noisy * n_classes).astype(np.int64), n_classes, boxes, np.zeros(n_features, bool), seed
    )


def choose(labelled: LabelledSet, fixed: FixedSettings) -> Solution:
    return selection.choose(labelled, fixed, np.arange(len(labelled.boxes.lower)))


def learn(labelled: LabelledSet, mixtures: Sequence[Mixture]) -> Solution:
    return selection.learn(labelled, mixtures, np.arange(len(labelled.boxes.lower)))


def families_of(mixtures: Sequence[Mixture]) -> set[str]:
    return {family_of(spec).name for mixture in mixtures for spec in mixture.specs}


@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_only_the_families_asked_for_are_used(family: str) -> None:
    assert families_of(choose(noisy_set(), FixedSettings((family,))).mixtures) == {family}


def test_what_the_user_fixes_is_fixed() -> None:
    fixed = FixedSettings(bandwidth=0.37, ridge=0.05, rank_weight=0.2)
    specs = {spec for one in candidates(DesignMatrices(noisy_set()), fixed) for spec in one}
    assert {family_of(spec).name for spec in specs} == set(FAMILY_NAMES)
    assert {spec.rank_weight for spec in specs} == {0.2}
    assert {spec.bandwidth for spec in specs if spec.kind in ("box", "relevant", "feature", "subspace")} == {0.37}
    solution = choose(noisy_set(), fixed)
    assert {one.ridge for one in solution.mixtures} <= {0.05, 0.0}  # propagation over the graph has no ridge
    assert {one.ridge for one in choose(noisy_set(), FixedSettings(("box",), ridge=0.05)).mixtures} == {0.05}
    mixtures = choose(noisy_set(), FixedSettings(("box",), 0.37, 0.05, 0.2)).mixtures
    assert mixtures == (Mixture((BasisSpec("box", 0.2, 0.37),), 0.05, 1.0),)


def test_where_nothing_is_fixed_all_is_tried() -> None:
    tried = candidates(DesignMatrices(noisy_set()), FixedSettings())
    assert {spec.rank_weight for specs in tried for spec in specs} == set(RANK_WEIGHTS)
    assert len(tried) == len(set(tried))
    assert {len(specs) for specs in tried} == {1, 2}


def test_choice_follows_the_labels() -> None:
    random = np.random.RandomState(0)
    samples = random.rand(80, 4)
    points = random.rand(60, 4)
    boxes = BoxSet(points, points, np.ones(60, dtype=np.int64))
    straight = LabelledSet(samples, (samples.sum(axis=1) > 2).astype(np.int64), 2, boxes, np.zeros(4, bool), 0)
    bent = replace(straight, classes=(np.abs(samples[:, 0] - 0.5) > 0.25).astype(np.int64))
    fixed = FixedSettings(("linear", "feature"))
    assert choose(straight, fixed).mixtures[0].specs[0].kind == "linear"
    assert choose(bent, fixed).mixtures[0].specs[0].kind == "feature"


def test_weights_of_the_chosen_sum_to_one_and_fall() -> None:
    mixtures = choose(noisy_set(), FixedSettings()).mixtures
    weights = [one.weight for one in mixtures]
    assert sum(weights) == pytest.approx(1.0)
    assert weights == sorted(weights, reverse=True)
    assert np.count_nonzero(weights) <= MAX_MIXTURES
    np.testing.assert_allclose(np.sum([one.weights_without() for one in mixtures], axis=0), 1.0)
    assert {one.ridge for one in mixtures} <= {0.0, *RIDGES}


def test_learning_with_what_was_chosen_is_what_choosing_learns() -> None:
    labelled = noisy_set()
    samples = np.random.RandomState(1).rand(30, 4)
    chosen = choose(labelled, FixedSettings())
    again = learn(labelled, chosen.mixtures)
    np.testing.assert_allclose(again.readout.scores(samples), chosen.readout.scores(samples), atol=1e-9)
    np.testing.assert_allclose(again.left_out, chosen.left_out, atol=1e-9)
    assert again.mixtures == chosen.mixtures


@settings(max_examples=8)
@given(seed=st.integers(0, 99))
def test_the_order_of_labels_does_not_matter(seed: int) -> None:
    labelled = noisy_set(seed, 24)
    order = np.random.RandomState(seed).permutation(24)
    other = replace(labelled, samples=labelled.samples[order], classes=labelled.classes[order])
    samples = np.random.RandomState(1).rand(30, 4)
    fixed = FixedSettings(("box", "linear", "feature"))
    one, two = choose(labelled, fixed), choose(other, fixed)
    # what is pruned may differ by a rounding
    np.testing.assert_allclose(one.readout.scores(samples), two.readout.scores(samples), rtol=0, atol=3 * NEGLIGIBLE)
    np.testing.assert_allclose(one.left_out[order], two.left_out, rtol=0, atol=1e-6)


def test_left_out_is_what_the_others_alone_predict() -> None:
    labelled = noisy_set(n_labels=15)
    mixtures = (
        Mixture((BasisSpec("box", 0.5, 0.25), BasisSpec("linear", 0.0, 0.0)), 0.1, 0.75),
        Mixture((BasisSpec("spread", 0.0, 0.2),), 0.0, 0.25),
    )
    solution = learn(labelled, mixtures)
    # bases are scaled by the activations of all labels; propagation over the graph has its own test
    design = DesignMatrices(labelled)
    gram = sum(basis_of(spec, design).gram for spec in mixtures[0].specs) / 2 + 1.0
    propagated = basis_of(mixtures[1].specs[0], design).own_fit(labelled.targets, labelled.groups)
    assert propagated is not None
    for one in range(15):
        others = np.arange(15) != one
        system = gram[np.ix_(others, others)] + 0.1 * np.eye(14)
        alone = gram[one, others] @ np.linalg.solve(system, labelled.targets[others])
        expected = 0.75 * alone + 0.25 * propagated.left_out[one]
        np.testing.assert_allclose(solution.left_out[one], expected, atol=1e-8)


def test_scores_of_labelled_samples_are_those_of_the_dual() -> None:
    labelled = noisy_set()
    specs, ridge = (BasisSpec("box", 0.5, 0.25), BasisSpec("linear", 0.5, 1.0)), 0.1
    design = DesignMatrices(labelled)
    gram = sum(basis_of(spec, design).gram for spec in specs) / 2 + 1.0
    expected = gram @ np.linalg.solve(gram + ridge * np.eye(len(gram)), labelled.targets)
    found = learn(labelled, [Mixture(specs, ridge)]).readout.scores(labelled.samples)
    np.testing.assert_allclose(found, expected, rtol=0, atol=NEGLIGIBLE + 1e-4)


def test_confidence_is_low_on_noise_and_high_on_order() -> None:
    labelled = noisy_set(n_labels=100)
    noise = replace(labelled, classes=np.random.RandomState(0).randint(3, size=100))
    samples = np.random.RandomState(1).rand(50, 4)

    def confidence(labelled: LabelledSet) -> float:
        readout = choose(labelled, FixedSettings(("box", "linear"))).readout
        return float(readout.probabilities(readout.scores(samples)).max(axis=1).mean())

    assert confidence(noise) < 0.55 < 0.7 < confidence(labelled)


@given(seed=st.integers(0, 99), n=st.integers(1, 20), n_classes=st.integers(1, 5))
def test_calibration_is_finite_and_smooths_more_with_fewer_labels(seed: int, n: int, n_classes: int) -> None:
    random = np.random.RandomState(seed)
    left_out, classes = random.normal(size=(n, n_classes)), random.randint(n_classes, size=n)
    inverse_temperature, smoothing = calibration(left_out, classes, np.ones(n))
    assert np.exp(-1) <= inverse_temperature <= np.exp(4)
    assert smoothing == 1 / (n + 2)


EDGES: dict[str, Any] = {
    "one label": lambda: labelled_set(0, n_labels=1, n_classes=1),
    "one label of two classes": lambda: labelled_set(0, n_labels=1, n_classes=2),
    "two labels": lambda: labelled_set(0, n_labels=2, n_classes=2),
    "one class": lambda: labelled_set(0, n_classes=1),
    "a class without a label": lambda: replace(labelled_set(0, n_classes=2), n_classes=3),
    "one box": lambda: labelled_set(0, n_boxes=1),
    "two boxes": lambda: labelled_set(0, n_boxes=2),
    "four boxes": lambda: labelled_set(0, n_boxes=4),
    "one feature": lambda: labelled_set(0, n_features=1),
    "missing values": lambda: labelled_set(0, missing=0.4),
    "indicators": lambda: labelled_set(0, indicators=5),
    "indicators and missing values": lambda: labelled_set(0, indicators=3, missing=0.3),
    "hundred classes": lambda: labelled_set(0, n_labels=150, n_classes=100),
    "constant features": lambda: constant(labelled_set(0)),
    "a feature missing everywhere": lambda: unknown(labelled_set(0)),
    "one sample many times": lambda: repeated(labelled_set(0)),
    "boxes that are one": lambda: same_boxes(labelled_set(0)),
}


def constant(labelled: LabelledSet) -> LabelledSet:
    sides = np.full(labelled.boxes.lower.shape, 0.0)
    boxes = replace(labelled.boxes, lower=sides, upper=sides)
    return replace(labelled, samples=np.zeros_like(labelled.samples), boxes=boxes)


def unknown(labelled: LabelledSet) -> LabelledSet:
    for array, value in ((labelled.samples, np.nan), (labelled.boxes.lower, 1.0), (labelled.boxes.upper, 0.0)):
        array[:, 1] = value
    return labelled


def repeated(labelled: LabelledSet) -> LabelledSet:
    labelled.samples[:] = labelled.samples[0]
    return labelled


def same_boxes(labelled: LabelledSet) -> LabelledSet:
    labelled.boxes.lower[:], labelled.boxes.upper[:] = 0.3, 0.4
    return labelled


@pytest.mark.parametrize(
    "edge", [pytest.param(edge, marks=pytest.mark.slow if edge == "hundred classes" else ()) for edge in EDGES]
)
def test_labelled_sets_of_every_kind_can_be_learnt(edge: str) -> None:
    labelled = EDGES[edge]()
    solution = choose(labelled, FixedSettings())
    random = np.random.RandomState(0)
    samples = np.vstack([labelled.samples, random.rand(9, labelled.samples.shape[1])])
    probabilities = solution.readout.probabilities(solution.readout.scores(samples))
    assert probabilities.shape == (len(samples), labelled.n_classes)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert np.isfinite(solution.left_out).all()


@pytest.mark.parametrize("family", FAMILY_NAMES)
@pytest.mark.parametrize("edge", ["two boxes", "one feature"])
def test_boxes_replace_a_family_that_does_not_apply(family: str, edge: str) -> None:
    solution = choose(EDGES[edge](), FixedSettings((family,)))
    does_not_apply = (family, edge) in {("propagated", "two boxes"), ("subspace", "one feature")}
    assert families_of(solution.mixtures) == {"box" if does_not_apply else family}


def test_a_sample_given_twice_counts_twice() -> None:
    labelled = noisy_set(n_labels=20)
    mixtures = (Mixture((BasisSpec("box", 0.5, 0.25),), 0.1),)
    other = (labelled.classes[0] + 1) % 3
    samples = labelled.samples[:1]

    def with_copies(n: int) -> float:
        copies = replace(
            labelled,
            samples=np.vstack([labelled.samples, np.repeat(samples, n, axis=0)]),
            classes=np.append(labelled.classes, np.full(n, other)),
        )
        return float(learn(copies, mixtures).readout.scores(samples)[0, other])

    assert with_copies(0) < with_copies(1) < with_copies(5)


MIXTURES = {
    "box": Mixture((BasisSpec("box", 0.5, 0.25),), 0.1),
    "box of ranks": Mixture((BasisSpec("box", 1.0, 0.5),), 1e-3),
    "box and linear": Mixture((BasisSpec("box", 0.5, 0.25), BasisSpec("linear", 0.5, 1.0)), 0.03),
    "feature": Mixture((BasisSpec("feature", 0.5, 0.5),), 0.1),
    "subspace": Mixture((BasisSpec("subspace", 0.5, 0.25),), 0.1),
    "spread": Mixture((BasisSpec("spread", 0.0, 0.9),), 0.0),
}


@pytest.mark.parametrize("name", MIXTURES)
def test_many_labels_learnt_in_the_primal_give_the_scores_of_the_dual(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    labelled = noisy_set(n_labels=300, n_boxes=30)
    samples = np.random.RandomState(1).rand(50, 4)
    dual = learn(labelled, [MIXTURES[name]]).readout.scores(samples)
    monkeypatch.setattr(selection, "MAX_LABELS", 100)
    solution = learn(labelled, [MIXTURES[name]])
    assert 60 <= len(solution.classes) < 70  # one in five is held out
    n_groups = N_SUBSPACES if name == "subspace" else 1
    # the same weights but for rounding, and so the same scores but for a box at the edge of being pruned
    np.testing.assert_allclose(solution.readout.scores(samples), dual, rtol=0, atol=1e-4 + n_groups * NEGLIGIBLE)


def test_two_thousand_five_hundred_labels_take_the_primal(monkeypatch: pytest.MonkeyPatch) -> None:
    labelled = noisy_set(n_labels=2500, n_boxes=30)
    fixed = FixedSettings(("box",), 0.25, 0.1, 0.5)
    samples = np.random.RandomState(1).rand(50, 4)
    choice = choose_by_some(labelled, fixed)
    assert (choice.blocks != NO_BLOCK).sum() == MAX_CHOOSING
    primal = learn(replace(labelled, block_of=choice.blocks), choice.mixtures)
    assert (choice.blocks[primal.rows] == NO_BLOCK).all()  # labels that had part in the choice measure nothing
    monkeypatch.setattr(selection, "MAX_LABELS", 3000)
    dual = choose(labelled, fixed)
    assert primal.mixtures == dual.mixtures
    found, expected = primal.readout.scores(samples), dual.readout.scores(samples)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 + NEGLIGIBLE)
    assert (found.argmax(axis=1) == expected.argmax(axis=1)).mean() > 0.95


def test_boxes_replace_the_ridge_regression_over_the_graph_when_labels_are_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(selection, "MAX_LABELS", 50)
    solution = learn(noisy_set(n_labels=120), [Mixture((BasisSpec("carried", 0.0, 0.9),), 0.1)])
    assert [type(term) for term in solution.readout.terms] == [BoxTerm]
    assert np.isfinite(solution.readout.scores(np.random.RandomState(0).rand(9, 4))).all()


@given(size=st.integers(1, 60), seed=st.integers(0, 99))
@settings(max_examples=30)
def test_a_subset_of_labels_has_every_class_in_its_share(size: int, seed: int) -> None:
    classes = np.random.RandomState(seed).permutation(np.repeat([0, 1, 2], [70, 25, 5]))
    labelled = LabelledSet(np.arange(100.0)[:, None], classes, 3, labelled_set(0).boxes, np.zeros(1, bool), seed)
    subset = labelled.subset(size)
    assert len(subset.classes) == size
    np.testing.assert_array_equal(classes[subset.samples[:, 0].astype(int)], subset.classes)
    assert len(np.unique(subset.samples)) == size
    counts = np.bincount(subset.classes, minlength=3)
    if size >= 3:
        assert (counts >= 1).all()
    assert np.abs(counts - size * np.array([0.7, 0.25, 0.05])).max() <= 2
    assert labelled.subset(100) is labelled


@pytest.mark.slow
def test_fifty_thousand_labels() -> None:
    labelled = noisy_set(n_labels=50_000, n_boxes=4000, n_features=10)
    samples = np.random.RandomState(1).rand(2000, 10)
    choice = choose_by_some(labelled, FixedSettings())
    readout = learn(replace(labelled, block_of=choice.blocks), choice.mixtures).readout
    right = readout.scores(samples).argmax(axis=1) == (samples[:, 0] * 3).astype(int)
    assert right.mean() > 0.9
