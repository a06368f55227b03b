"""Many classes: how settings are chosen, what is left out, and what it costs."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from labelled_sets import basis_of, labelled_set
from numpy.typing import NDArray

import sslart
from sslart import SSLART, WESSLART, AutoSSLART
from sslart._mapping.evidence.basis import PrimalRidge
from sslart._mapping.evidence.design import DesignMatrices, LabelledSet
from sslart._mapping.evidence.large_scale import left_out_rows, sample_of_classes
from sslart._mapping.evidence.selection import choose_by_some
from sslart._mapping.evidence.settings import NO_BLOCK, BasisSpec, FixedSettings
from sslart._mapping.model_view import view_of

QUICK: dict[str, Any] = {
    "mapping": "evidence",
    "families": ["box"],
    "rank_weight": 0.5,
    "bandwidth": 0.25,
    "random_state": 0,
}
FIXED: dict[str, Any] = {**QUICK, "ridge": 0.01}
MEGABYTE = 2**20


def compact_classes(n_classes: int, n_labels: int, n_features: int = 12) -> tuple[NDArray[Any], ...]:
    """So many samples of each class around its centre, and one more of each to predict."""
    random = np.random.RandomState(0)
    centres = random.rand(n_classes, n_features)
    y = random.permutation(np.repeat(np.arange(n_classes), n_labels))
    X = centres[y] + 0.05 * random.randn(len(y), n_features)
    return X, y, centres + 0.05 * random.randn(*centres.shape), np.arange(n_classes)


def of_many(n_labels: int, n_classes: int) -> LabelledSet:
    return labelled_set(0, n_labels=n_labels, n_classes=n_classes)


def test_memory_does_not_grow_with_labels_times_classes_times_candidates() -> None:
    X, y, new, expected = compact_classes(210, 5)
    tracemalloc.start()
    model = SSLART(**QUICK).fit(X, y)
    right = (model.predict(new) == expected).mean()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert right >= 0.95
    assert peak < 100 * MEGABYTE
    assert model.quality_.accuracy.value >= 0.9


@pytest.mark.stress
@pytest.mark.parametrize("n_classes", [300, 1000])
def test_a_thousand_classes_of_five_labels_are_learnt_in_at_most_three_gigabytes(n_classes: int) -> None:
    program = (
        "import resource, sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_many_classes import compact_classes\n"
        "from sslart import AutoSSLART\n"
        "X, y, new, expected = compact_classes(int(sys.argv[2]), 5, 16)\n"
        "right = (AutoSSLART(random_state=0).fit(X, y).predict(new) == expected).mean()\n"
        "print(right, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)\n"
    )
    folders = f"import sys; sys.path += {sys.path!r}\n"
    command = [sys.executable, "-c", folders + program, str(Path(__file__).parent), str(n_classes)]
    right, gigabytes = map(float, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert right >= 0.95
    assert gigabytes <= 3


def test_the_classes_that_settings_are_chosen_on_have_several_labels_each() -> None:
    labelled = of_many(3000, 1000)
    sample = sample_of_classes(labelled)
    assert sample is not None
    assert np.bincount(sample.classes, minlength=sample.n_classes).min() >= 2
    assert sample.n_classes <= 100
    assert len(sample.classes) <= 500
    assert sample.rows is not None
    np.testing.assert_array_equal(labelled.samples[sample.rows], sample.samples)


def test_what_is_left_out_had_no_part_in_the_choice() -> None:
    labelled = of_many(1500, 150)
    fixed = FixedSettings(families=("box",), bandwidth=0.25, ridge=0.01, rank_weight=0.5)
    choice = choose_by_some(labelled, fixed)
    chosen_on = np.flatnonzero(choice.blocks != NO_BLOCK)
    assert choice.by_labels
    assert 20 <= len(chosen_on) <= 500
    measured = left_out_rows(replace(labelled, block_of=choice.blocks), 1000, in_proportion=True)
    assert len(measured) + len(chosen_on) >= 1000
    assert not set(measured) & set(chosen_on)


def test_left_out_predictions_are_those_of_a_model_that_never_had_the_labels() -> None:
    labelled = labelled_set(1, n_labels=60, n_classes=8)
    groups = np.zeros(60, dtype=np.int64)
    groups[10:14], groups[20:22] = 1, 2
    weights = np.random.RandomState(0).rand(60) + 0.5
    labelled = replace(labelled, group_keys=groups, weights=weights)
    design = DesignMatrices(labelled)
    bases = [basis_of(BasisSpec("box", 0.0, 0.5), design), basis_of(BasisSpec("subspace", 0.5, 0.5), design)]
    rows = np.array([3, 10, 11, 12, 13, 20, 21, 50])
    found = PrimalRidge(bases, labelled, 0.1).left_out(rows, labelled.groups.of_rows(rows))
    matrix = np.hstack([np.ones((60, 1)), *(basis.matrix for basis in bases)])
    penalties = np.append(1.0, np.repeat([2 * one.scale for one in bases], [one.matrix.shape[1] for one in bases]))
    for number, row in enumerate(rows):
        own = labelled.groups.of_label != labelled.groups.of_label[row]
        left = matrix[own] * weights[own, None]
        system = left.T @ matrix[own] + 0.1 * np.diag(penalties)
        expected = matrix[row] @ np.linalg.solve(system, left.T @ np.eye(8)[labelled.classes[own]])
        np.testing.assert_allclose(found[number], expected, atol=1e-8)


def test_with_one_label_each_the_usual_settings_are_taken_and_a_warning_has_the_reason() -> None:
    X, y, new, expected = compact_classes(120, 1)
    with pytest.warns(UserWarning, match="Of 120 classes fewer than 10 have two labels.*Label a second sample"):
        model = AutoSSLART(random_state=0).fit(X, y)
    assert (model.predict(new) == expected).mean() >= 0.95
    assert "the usual ones, not chosen by the labels" in str(model.summary())
    assert model.quality_.accuracy is None


def test_a_model_of_many_classes_is_the_same_after_saving(tmp_path: Path) -> None:
    X, y, new, _ = compact_classes(120, 9)
    names = np.array([f"product {index}" for index in range(120)], dtype=object)
    model = SSLART(**FIXED).fit(X, names[y])
    sslart.save(model, tmp_path / "model")
    again: Any = sslart.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))
    assert again.quality_.accuracy.value == model.quality_.accuracy.value
    assert str(again.summary()) == str(model.summary())


def test_few_labels_of_many_classes_are_learnt_too_and_no_warning_comes() -> None:
    X, y, new, expected = compact_classes(110, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SSLART(**QUICK).fit(X, y)
    assert (model.predict(new) == expected).mean() >= 0.95


def test_families_that_need_a_matrix_over_labels_give_way_to_boxes() -> None:
    X, y, new, expected = compact_classes(120, 9)
    model = SSLART(**{**FIXED, "families": ["propagated"]}).fit(X, y)
    assert (model.predict(new) == expected).mean() >= 0.95
    assert model.family_weights_ == {"box": 1.0}


def test_members_of_an_ensemble_leave_out_the_same_labels() -> None:
    X, y, *_ = compact_classes(110, 10)
    model = WESSLART(n_members=3, **FIXED).fit(X, y)
    left_out = view_of(model).left_out
    assert left_out is not None
    assert len(left_out.truth) >= 500


@pytest.mark.parametrize("length", [300, 770])
def test_a_stream_of_many_classes_may_be_cut_anywhere(length: int) -> None:
    X, y, new, expected = compact_classes(130, 8)
    whole = SSLART(bounds=(-1, 2), **FIXED).partial_fit(X, y)
    model = SSLART(bounds=(-1, 2), **FIXED)
    for start in range(0, len(X), length):
        model.partial_fit(X[start : start + length], y[start : start + length])
    np.testing.assert_array_equal(model.predict_proba(new), whole.predict_proba(new))
    assert model.quality_.accuracy.value == whole.quality_.accuracy.value
    assert (model.predict(new) == expected).mean() >= 0.95


def test_groups_and_weights_hold_for_many_classes_too() -> None:
    X, y, new, expected = compact_classes(110, 10)
    twice, groups = np.vstack([X, X]), np.tile(np.arange(len(X)) // 2, 2)
    weights = np.random.RandomState(0).rand(len(twice)) + 0.1
    model = SSLART(**FIXED).fit(twice, np.append(y, y), groups=groups, sample_weight=weights)
    left_out = view_of(model).left_out
    assert left_out is not None
    assert np.bincount(left_out.groups).min() == 4  # whole groups: two samples, each of them twice
    assert (model.predict(new) == expected).mean() >= 0.95
