"""The choice of settings as docs/evidence.md describes it, computed again by plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled_sets import basis_of, labelled_set

from sslart import SSLART
from sslart._mapping.evidence import mapping, selection
from sslart._mapping.evidence.design import DesignMatrices, LabelledSet
from sslart._mapping.evidence.selection import choose, losses_of
from sslart._mapping.evidence.settings import FixedSettings, Mixture
from sslart._mapping.model_view import view_of


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(2, 5))
def test_the_loss_of_a_label_is_one_if_wrong_and_half_the_squared_error(seed: int, n: int, n_classes: int) -> None:
    random = np.random.RandomState(seed)
    left_out, classes = random.uniform(-0.5, 1.5, (n, n_classes)), random.randint(n_classes, size=n)
    for row, own, found in zip(left_out, classes, losses_of(left_out, classes), strict=True):
        squared = sum((value - (number == own)) ** 2 for number, value in enumerate(row))
        assert found == pytest.approx((np.argmax(row) != own) + 0.5 * squared)


def left_out_by_hand(labelled: LabelledSet, mixture: Mixture) -> np.ndarray:
    """Return the prediction of ridge regression on all labels but one for that one, for each label."""
    design = DesignMatrices(labelled)
    gram = sum(basis_of(spec, design).gram for spec in mixture.specs) / len(mixture.specs) + 1.0
    n = len(gram)
    found = np.empty_like(labelled.targets)
    for one in range(n):
        rest = np.arange(n) != one
        system = gram[np.ix_(rest, rest)] + mixture.ridge * np.eye(n - 1)
        found[one] = gram[one, rest] @ np.linalg.solve(system, labelled.targets[rest])
    return found


@pytest.mark.parametrize("seed", range(3))
def test_candidates_count_by_the_exponential_of_half_their_loss(seed: int) -> None:
    labelled = labelled_set(seed, n_labels=24, n_classes=2)
    mixtures = [one for one in choose(labelled, FixedSettings(("linear",)), np.arange(40)).mixtures if one.weight]
    assert len(mixtures) > 3
    losses = [losses_of(left_out_by_hand(labelled, one), labelled.classes).sum() for one in mixtures]
    for one, loss in zip(mixtures[1:], losses[1:], strict=True):
        assert one.weight / mixtures[0].weight == pytest.approx(np.exp(-(loss - losses[0]) / 2.0), rel=1e-5)


def test_trees_count_as_sixty_of_the_many_similar_candidates_of_other_families(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(selection, "MAX_DROPPED", -1.0)  # nothing: of either family some are in the average
    labelled = labelled_set(0, n_labels=24, n_classes=2)
    mixtures = [
        one for one in choose(labelled, FixedSettings(("linear", "trees")), np.arange(40)).mixtures if one.weight
    ]
    trial = selection.LooFits(labelled)
    found = {}
    for one in mixtures:
        (fit,) = trial.fits(one.specs, [one.ridge])
        loss = losses_of(fit.left_out, labelled.classes).sum()
        prior = 60.0 if one.specs[0].kind == "tree" else 1.0
        found.setdefault(one.specs[0].kind, []).append(one.weight / (prior * np.exp(-loss / 2.0)))
    assert set(found) == {"linear", "tree"}
    np.testing.assert_allclose(np.concatenate([*found.values()]), found["tree"][0], rtol=1e-5)


def test_candidates_with_groups_of_functions_that_weigh_a_quarter_together_are_dropped() -> None:
    # one group of functions to a candidate: those of 10 and 15 per cent go, since together they have a quarter
    shares, weights = np.eye(4), np.array([0.45, 0.10, 0.30, 0.15])
    every = np.arange(4)
    assert selection._without_minor(shares, weights, every).tolist() == [0, 2]
    assert selection._without_minor(shares, np.array([0.44, 0.10, 0.30, 0.16]), every).tolist() == [0, 2, 3]
    assert selection._without_minor(np.ones((4, 1)), weights, every).tolist() == [0, 1, 2, 3]


def test_the_regression_is_on_boxes_with_labels_and_then_on_those_of_most_samples(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mapping, "MAX_BOXES", 25)
    random = np.random.RandomState(0)
    X = random.rand(60, 2)[random.randint(60, size=400)]  # places that come once, and others that come often
    y = np.where(np.arange(400) < 12, np.arange(400) % 2, -1)
    model = SSLART(0.98, mapping="evidence", families=["box"], random_state=0).fit(X, y)
    boxes = np.sort(view_of(model).members[0].readout.nodes)
    assert model.n_nodes_ > 40
    labelled = np.flatnonzero(model.counts_.sum(axis=1) > 0)
    support = np.where(model.counts_.sum(axis=1) > 0, np.inf, model.support_)
    assert set(labelled) < set(boxes)
    left = np.setdiff1d(np.arange(model.n_nodes_), boxes)
    assert len(boxes) == 25
    assert support[boxes].min() >= support[left].max()


def test_a_sample_is_learnt_by_boxes_as_often_as_its_rounded_weight() -> None:
    X, y = np.array([[0.1], [0.5], [0.9], [0.3]]), np.array([0, 1, 0, 1])
    model = SSLART(1.0, mapping="evidence", bounds=(0, 1), shuffle=False).fit(X, y, sample_weight=[0.2, 1.4, 1.6, 2.5])
    assert dict(zip(model.lower_[:, 0].round(3), model.support_, strict=True)) == {0.1: 1, 0.5: 1, 0.9: 2, 0.3: 2}
