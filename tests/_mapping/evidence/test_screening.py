"""Screening: candidates that some of the labels show to be behind are not tried, and no label has part in its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from labelled_sets import labelled_set
from sklearn.datasets import load_digits

import sslart
from sslart import SSLART
from sslart._mapping.evidence.design import BoxSet, DesignMatrices, LabelledSet
from sslart._mapping.evidence.selection import (
    MAX_TRIED,
    MAX_UNSCREENED,
    LooFits,
    TakingPart,
    candidates,
    choose,
    screened,
)
from sslart._mapping.evidence.settings import N_BLOCKS, RIDGES, BasisSpec, FixedSettings


def bent(n_labels: int, n_features: int = 3, noise: float = 0.05) -> LabelledSet:
    """Labelled samples whose class is a bent function of the first feature; boxes are points."""
    random = np.random.RandomState(0)
    samples, points = random.rand(n_labels, n_features), random.rand(80, n_features)
    inside = np.abs(samples[:, 0] - 0.5) < 0.25
    classes = np.where(random.rand(n_labels) < noise, ~inside, inside).astype(np.int64)
    boxes = BoxSet(points, points, np.ones(80, dtype=np.int64))
    return LabelledSet(samples, classes, 2, boxes, np.zeros(n_features, bool), 0)


def all_of(trial: LooFits, fixed: FixedSettings) -> TakingPart:
    every = np.ones(1 + N_BLOCKS, dtype=bool)
    return {(specs, ridge): every for specs in candidates(trial.design, fixed) for ridge in RIDGES}


def with_other_classes(labelled: LabelledSet, rows: np.ndarray) -> LabelledSet:
    classes = labelled.classes.copy()
    classes[rows] = 1 - classes[rows]
    return replace(labelled, classes=classes)


def test_of_few_labels_all_candidates_are_tried() -> None:
    trial = LooFits(bent(MAX_UNSCREENED))
    every = all_of(trial, FixedSettings(("box", "linear")))
    assert screened(trial, every) is every


def test_what_is_clearly_behind_is_not_tried_and_what_is_best_is() -> None:
    trial = LooFits(bent(300))
    every = all_of(trial, FixedSettings(("feature", "linear")))
    found = screened(trial, every)
    assert {spec.kind for specs, _ in found for spec in specs} == {"feature"}  # a trend cannot be bent
    assert len(found) < len(every) / 3
    assert np.any(list(found.values()), axis=0).all()  # something remains in every view


def test_a_label_has_no_part_in_what_is_tried_without_its_block() -> None:
    labelled = bent(200, noise=0.3)
    trial = LooFits(labelled)
    fixed = FixedSettings(("feature", "linear", "box"))
    before = screened(trial, all_of(trial, fixed))
    changed = 0
    for block in (0, 1, 6):
        rows = np.flatnonzero(labelled.blocks == block)
        other = LooFits(with_other_classes(labelled, rows))
        after = screened(other, all_of(other, fixed))
        of_view = [{one for one, views in found.items() if views[1 + block]} for found in (before, after)]
        assert of_view[0] == of_view[1]
        changed += any(not np.array_equal(before[one], after.get(one)) for one in before)
    assert changed  # other views do change


@pytest.mark.parametrize(("n_labels", "family"), [(160, "relevant"), (MAX_TRIED + 20, "linear")])
def test_a_label_has_no_part_in_its_own_left_out_prediction(n_labels: int, family: str) -> None:
    labelled = bent(n_labels, noise=0.2)
    fixed, nodes = FixedSettings(("feature", family)), np.arange(80)
    before = choose(labelled, fixed, nodes).left_out
    for one in (0, n_labels - 1):
        after = choose(with_other_classes(labelled, np.array([one])), fixed, nodes).left_out
        np.testing.assert_allclose(after[one], before[one], atol=1e-6)
        assert np.abs(after - before).max() > 1e-4


def test_families_that_gain_from_labels_remain() -> None:
    trial = LooFits(bent(300))
    every = all_of(trial, FixedSettings(("feature", "relevant", "trees")))
    every = {(specs, ridge): views for (specs, ridge), views in every.items() if specs[0].kind != "tree"} | {
        ((BasisSpec("tree", 0.0, 0.5),), 0.0): np.ones(1 + N_BLOCKS, dtype=bool)
    }
    found = screened(trial, every)
    assert {"relevant", "tree"} <= {specs[0].kind for specs, _ in found}
    assert found[(BasisSpec("tree", 0.0, 0.5),), 0.0].all()


@pytest.mark.parametrize("n_groups", [2, 5])
def test_few_groups_of_many_labels_are_learnt_too(n_groups: int) -> None:
    labelled = replace(bent(MAX_TRIED + 50), group_keys=1 + np.arange(MAX_TRIED + 50) % n_groups)
    solution = choose(labelled, FixedSettings(("feature",), 0.5), np.arange(80))
    assert len(solution.left_out) == MAX_TRIED + 50
    assert np.isfinite(solution.left_out).all()


def test_labels_are_drawn_in_whole_groups_without_regard_to_classes() -> None:
    labelled = replace(labelled_set(0, n_labels=120), group_keys=1 + np.arange(120) // 4)
    drawn = labelled.drawn(50)
    other = replace(labelled, classes=(labelled.classes + 1) % 3).drawn(50)
    assert drawn.rows is not None
    assert len(drawn.rows) == 48
    np.testing.assert_array_equal(drawn.rows, other.rows)
    np.testing.assert_array_equal(drawn.groups.of_label, labelled.groups.of_label[drawn.rows])
    np.testing.assert_array_equal(drawn.blocks, labelled.blocks[drawn.rows])
    assert labelled.drawn(120) is labelled


def test_a_part_with_fewer_boxes_leaves_no_trace_in_what_is_shared() -> None:
    labelled = labelled_set(0, n_labels=30, n_boxes=40)
    design = DesignMatrices(labelled)
    part = design.of_part(labelled.with_boxes(labelled.boxes.first(10)))
    assert [len(side) for side in part.boxes_on(0.5, 25)] == [10, 10]
    assert [len(side) for side in design.boxes_on(0.5, 25)] == [25, 25]


def test_a_loaded_model_of_screened_candidates_predicts_the_same(tmp_path: Path) -> None:
    X, y = load_digits(return_X_y=True)
    few = np.where(np.arange(len(y)) < 300, y, -1)
    model = SSLART(mapping="evidence", families="propagated", random_state=0).fit(X, few)
    assert model.n_nodes_ > 600  # more than take part in screening
    sslart.save(model, tmp_path / "model.sslart")
    np.testing.assert_array_equal(sslart.load(tmp_path / "model.sslart").predict_proba(X), model.predict_proba(X))
