"""The grid of candidates: which bases are tried, alone and in pairs, and how many of them screening keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from labelled_sets import labelled_set

from sslart._mapping.evidence import selection
from sslart._mapping.evidence.design import DesignMatrices
from sslart._mapping.evidence.families import FAMILIES
from sslart._mapping.evidence.large_scale import MAX_LABELS, MixtureLimits
from sslart._mapping.evidence.selection import (
    Candidate,
    LooFits,
    TakingPart,
    candidates,
    choose_by_some,
    is_chosen_by_some,
    screened,
)
from sslart._mapping.evidence.settings import (
    MANY_CLASSES,
    N_BLOCKS,
    NO_BLOCK,
    RIDGES,
    BasisSpec,
    FixedSettings,
    Mixture,
)


def grid_of(kind: str, fixed: FixedSettings) -> list[BasisSpec]:
    return next(family.grid(fixed) for family in FAMILIES if family.kind == kind)


def test_pairs_are_boxes_with_trends_with_subspaces_and_with_the_graph_on_the_middle_scale() -> None:
    fixed = FixedSettings()
    pairs = [one for one in candidates(DesignMatrices(labelled_set(0)), fixed) if len(one) == 2]
    trends = [spec for spec in grid_of("linear", fixed) if spec.rank_weight == 0.5]
    trends.append(BasisSpec("feature", 0.5, 0.25))
    subspace = BasisSpec("subspace", 0.5, 0.25)
    partners = [subspace, grid_of("carried", fixed)[0]]
    assert pairs == [
        *((BasisSpec("box", 0.5, bandwidth), trend) for bandwidth in (1.0, 0.25, 0.0625) for trend in trends),
        *((subspace, trend) for trend in trends),
        *((BasisSpec("box", 0.5, 0.25), partner) for partner in partners),
    ]


def test_on_the_coarse_grid_there_are_no_pairs() -> None:
    tried = candidates(DesignMatrices(labelled_set(0)), FixedSettings(is_coarse=True))
    assert {len(one) for one in tried} == {1}


def every_candidate(specs: Sequence[BasisSpec], ridges: Sequence[float] = RIDGES) -> TakingPart:
    every = np.ones(1 + N_BLOCKS, dtype=bool)
    return {((spec,), ridge): every for spec in specs for ridge in ridges}


def test_every_second_basis_of_a_line_and_every_third_ridge_screen() -> None:
    boxes = [BasisSpec("box", 0.5, bandwidth) for bandwidth in (1.0, 0.5, 0.25, 0.125, 0.0625)]
    line, alone = [(box,) for box in boxes], (BasisSpec("linear", 0.0, 0.0),)
    grid = selection._Grid(every_candidate([*boxes, *alone]))
    coarse_ridges = RIDGES[1::3]
    assert grid.coarse == [(specs, ridge) for specs in (line[1], line[3], alone) for ridge in coarse_ridges]
    # the first is followed by its neighbours on both lines, the second is not
    best: list[Candidate] = [(line[1], RIDGES[4]), (line[3], RIDGES[0])]
    neighbours = [(line[1], RIDGES[3]), (line[1], RIDGES[5]), (line[0], RIDGES[4]), (line[2], RIDGES[4])]
    assert grid.fine(best, 1) == [*best, *neighbours]
    first: Candidate = (line[0], RIDGES[0])  # at the end of both lines
    assert grid.fine([first], 1) == [first, (line[0], RIDGES[1]), (line[1], RIDGES[0])]
    assert selection._Grid(every_candidate(boxes, [0.1, 1.0])).coarse == [(one, 1.0) for one in (line[1], line[3])]
    assert selection._Grid(every_candidate(boxes, [0.1])).coarse == [(one, 0.1) for one in (line[1], line[3])]


def kept_of_noise(monkeypatch: pytest.MonkeyPatch, n_labels: int, *, is_coarse: bool = False) -> set[tuple[int, int]]:
    """Return how many bases remain and how many of them bring their neighbours, where labels are noise."""
    labelled = labelled_set(0, n_labels=n_labels)
    found, fine = [], selection._Grid.fine

    def recorded(grid: selection._Grid, best: Sequence[Candidate], n_centres: int) -> list[Candidate]:
        found.append((len(best), n_centres))
        return fine(grid, best, n_centres)

    monkeypatch.setattr(selection._Grid, "fine", recorded)
    monkeypatch.setattr(selection, "CLEARLY", 1e9)  # nothing is far behind: the best remain by their number
    specs = [BasisSpec("box", weight, 2.0**-level) for weight in (0.0, 0.5, 1.0) for level in range(30)]
    screened(LooFits(labelled), every_candidate(specs, [0.1]), is_coarse=is_coarse)
    assert len(found) == 3  # for all views, and for those without a block of either half
    return set(found)


@pytest.mark.parametrize(("n_labels", "n_bases"), [(160, 38), (200, 24), (300, 11), (400, 6), (600, 6)])
def test_the_fewer_labels_the_more_bases_remain(monkeypatch: pytest.MonkeyPatch, n_labels: int, n_bases: int) -> None:
    assert kept_of_noise(monkeypatch, n_labels) == {(n_bases, n_bases // 2)}
    assert kept_of_noise(monkeypatch, n_labels, is_coarse=True) == {(6, 3)}


def test_too_few_labels_in_a_half_screen_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    labelled = labelled_set(0, n_labels=180)
    trial, every = LooFits(labelled), every_candidate(grid_of("box", FixedSettings()))
    smaller = int(np.bincount(labelled.blocks % 2).min())
    monkeypatch.setattr(selection, "MIN_SCREENING", smaller)
    assert len(screened(trial, every)) < len(every)
    monkeypatch.setattr(selection, "MIN_SCREENING", smaller + 1)
    assert screened(trial, every) is every


def test_some_labels_choose_for_all_where_labels_or_classes_are_many() -> None:
    few = labelled_set(0, n_labels=10)
    many = labelled_set(0, n_labels=MAX_LABELS + 1)
    assert is_chosen_by_some(many)
    assert not is_chosen_by_some(labelled_set(0, n_labels=MAX_LABELS))
    assert is_chosen_by_some(replace(few, n_classes=MANY_CLASSES + 1))
    assert not is_chosen_by_some(replace(few, n_classes=MANY_CLASSES))


@pytest.mark.parametrize(
    ("fixed", "expected"),
    [
        (FixedSettings(), Mixture((BasisSpec("box", 0.5, 0.25),), 0.01)),
        (FixedSettings(bandwidth=0.3, ridge=0.2), Mixture((BasisSpec("box", 0.5, 0.3),), 0.2)),
        (FixedSettings(rank_weight=1.0), Mixture((BasisSpec("box", 1.0, 0.25),), 0.01)),
        (FixedSettings(("linear",)), Mixture((grid_of("linear", FixedSettings())[3],), 0.01)),
    ],
)
def test_where_no_class_has_two_labels_the_usual_settings_are_taken(fixed: FixedSettings, expected: Mixture) -> None:
    labelled = labelled_set(0, n_labels=150, n_classes=150)
    choice = choose_by_some(labelled, fixed)
    assert choice.mixtures == (expected,)
    assert not choice.by_labels
    assert (choice.blocks == NO_BLOCK).all()
    assert len(choice.blocks) == 150


def test_of_candidates_that_many_labels_cannot_fit_the_best_remains() -> None:
    tried = [Mixture((BasisSpec("carried", 0.0, reach),), 0.1) for reach in (0.5, 0.9, 0.99)]
    tried += [Mixture((BasisSpec("box", 0.5, bandwidth),), 0.1) for bandwidth in (1.0, 0.5, 0.25)]
    scores = np.array([1.0, 0.0, 2.0, 3.0, 3.5, 2.5])
    able, shares = MixtureLimits(), np.ones((6, 1))
    assert np.flatnonzero(selection._chosen(tried, shares, scores, able)).tolist() == [3, 5]
    assert selection._chosen(tried[:3], shares[:3], scores[:3], able).tolist() == [0.0, 1.0, 0.0]
