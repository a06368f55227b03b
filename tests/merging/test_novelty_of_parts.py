"""Novelty after merging: parts of one table are as sensitive as one model; models by themselves are more careful."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sslart
from sslart import SSLART, WESSLART, FuzzyART
from sslart.merging._novelty import numbers_taken
from sslart.merging.partitions import Summary, finish, fit_part, join_parts, start_of, summary_of, wanted_of

CENTRES = np.random.default_rng(1).normal(size=(6, 4)) * 3


def samples(seed: int, n: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    return CENTRES[random.integers(0, 6, n)] + random.normal(size=(n, 4))


def of_parts(model: Any, X: np.ndarray, n_parts: int) -> Any:
    """Fit a model to parts of a table as a cluster does, and merge them by twos."""
    wanted, pieces = wanted_of(model), [X[part::n_parts] for part in range(n_parts)]
    labels = [None if isinstance(model, FuzzyART) else np.arange(len(piece)) % 2 for piece in pieces]
    summary = Summary.joined(
        [summary_of(model, X, y, number=n, wanted=wanted) for n, (X, y) in enumerate(zip(pieces, labels, strict=True))]
    )
    start = start_of(model, summary)
    parts = [fit_part(model, X, y, start, number=n) for n, (X, y) in enumerate(zip(pieces, labels, strict=True))]
    while len(parts) > 1:
        parts = [join_parts(model, parts[first : first + 2]) for first in range(0, len(parts), 2)]
    assert parts[0] is not None
    return finish(model, parts[0])


@pytest.mark.parametrize(
    "model",
    [
        FuzzyART(random_state=0),
        FuzzyART(0.9, max_nodes=150, random_state=0),
        pytest.param(WESSLART(2, vigilance=0.8, random_state=0), marks=pytest.mark.slow),
    ],
    ids=repr,
)
def test_parts_flag_as_many_samples_as_one_model(model: Any) -> None:
    X, new = samples(0, 1600), samples(2, 1000)
    whole = type(model)(**{**model.get_params(deep=False), "max_nodes": None})
    whole = whole.fit(X) if isinstance(model, FuzzyART) else whole.fit(X, np.arange(1600) % 2)
    merged = of_parts(model, X, 4)
    assert 0.02 < merged.is_novel(new).mean() < 0.09
    odd = new + np.random.default_rng(3).choice([-2.5, 0.0, 2.5], new.shape)
    assert merged.is_novel(odd).mean() > 0.6 * whole.is_novel(odd).mean()


def test_copies_in_other_parts_do_not_make_samples_seem_to_fit() -> None:
    X = samples(0, 200)
    doubled = np.repeat(X, 4, axis=0)  # every part has a copy of every sample
    merged = of_parts(FuzzyART(0.9, random_state=0), doubled, 4)
    assert merged.is_novel(samples(2, 1000)).mean() < 0.09


def test_models_of_which_no_sample_is_at_hand_flag_rather_too_few() -> None:
    parts = [FuzzyART(0.9).fit(samples(seed, 400)) for seed in range(4)]
    merged = sslart.merge(parts)
    assert merged.is_novel(samples(9, 2000)).mean() < 0.05
    assert merged.is_novel(samples(9, 2000) * 4).mean() > 0.5


def test_each_model_has_a_part_in_the_fits_by_its_samples() -> None:
    assert numbers_taken([500, 500], [1000, 1000]).tolist() == [500, 500]
    assert numbers_taken([500, 100], [100_000, 100]).tolist() == [500, 1 // 2]
    assert numbers_taken([400, 400], [3000, 1000]).tolist() == [400, 133]
    assert numbers_taken([0, 50], [1000, 1000]).tolist() == [0, 50]
    assert numbers_taken([1, 300], [1_000_000, 300]).sum() >= 1
    assert numbers_taken([0, 0], [0, 0]).tolist() == [0, 0]


def test_a_part_that_is_merged_alone_keeps_its_fits() -> None:
    X = samples(0, 200)
    model = SSLART(0.8, random_state=0).fit(X, np.arange(200) % 3)
    again = sslart.merge([model], vigilance=0.8)
    np.testing.assert_allclose(again.novelty_pvalues(X).mean(), model.novelty_pvalues(X).mean(), atol=0.1)
