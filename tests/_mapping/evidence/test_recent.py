"""Labels and settings that take part in a selection during a stream."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_moons

import sslart
from sslart import SSLART, AutoSSLART
from sslart._data.samples import Table
from sslart._mapping.base import Effort
from sslart._mapping.evidence import streams as recent
from sslart._mapping.evidence.label_reservoir import LabelReservoir
from sslart._mapping.evidence.streams import MIN_OF_CLASS, StreamState
from sslart._mapping.model_view import view_of

MAX_USED = 500


def mapping_of(model: Any) -> Any:
    return view_of(model).members[0].mapping


def labels_of(codes: np.ndarray) -> LabelReservoir:
    table = Table(np.arange(float(len(codes)))[:, None])
    return LabelReservoir().adding(table, codes, 10**6, seed=0)


def test_a_table_is_learnt_with_all_its_labels() -> None:
    assert StreamState().used(labels_of(np.zeros(3 * MAX_USED, dtype=int))) is None


def test_in_a_stream_a_fair_sample_of_the_labels_takes_part_with_some_of_each_class() -> None:
    codes = np.random.RandomState(0).randint(3, size=5 * MAX_USED)
    codes[:2], codes[100 : 100 + 2 * MIN_OF_CLASS] = 3, 4
    used = StreamState(max_used=MAX_USED).used(labels_of(codes))
    assert used is not None
    assert len(used) == MAX_USED
    assert (np.diff(used) > 0).all()
    counts = np.bincount(codes[used])
    assert counts[3] == 2
    assert counts[4] >= MIN_OF_CLASS
    assert abs(counts[:3] - MAX_USED / 3).max() < 5 * np.sqrt(MAX_USED / 3)
    assert abs(used.mean() - 2.5 * MAX_USED) < 5 * 5 * MAX_USED / np.sqrt(12 * MAX_USED)


def test_after_a_fit_a_stream_uses_as_many_labels_as_the_fit() -> None:
    used = StreamState(max_used=MAX_USED, n_fit_labels=2 * MAX_USED).used(labels_of(np.zeros(5 * MAX_USED, dtype=int)))
    assert used is not None
    assert len(used) == 2 * MAX_USED


@pytest.fixture(scope="module")
def two_moons() -> Any:
    return make_moons(400, noise=0.15, random_state=0)


def test_settings_of_a_fit_are_tried_again_in_the_stream_that_follows(two_moons: Any) -> None:
    X, y = two_moons
    y = np.where(np.arange(400) % 3 == 0, y, -1)
    fitted = SSLART(mapping="evidence", families=["box", "propagated"], random_state=0).fit(X[:300], y[:300])
    known = {(one.specs, one.ridge) for one in mapping_of(fitted).recent.fit_mixtures}
    assert known <= {(one.specs, one.ridge) for one in mapping_of(fitted).mixtures}
    fine = {one for one in known if one[1] not in (0.0, 3e-3, 3e-2, 0.3, 3.0)}
    assert fine, "nothing that only a fit tries"
    fitted.partial_fit(X[300:], y[300:])
    chosen = {(one.specs, one.ridge) for one in mapping_of(fitted).mixtures}
    assert mapping_of(fitted).recent.max_used
    assert chosen & fine
    streamed = SSLART(mapping="evidence", families=["box", "propagated"], random_state=0).partial_fit(X, y)
    assert not {one.ridge for one in mapping_of(streamed).mixtures} & {ridge for _, ridge in fine}


def test_what_a_fit_has_chosen_is_saved(two_moons: Any, tmp_path: Any) -> None:
    X, y = two_moons
    y = np.where(np.arange(400) % 10 == 0, y, -1)
    fitted = AutoSSLART(random_state=0).fit(X[:250], y[:250])
    sslart.save(fitted, tmp_path / "model.sslart")
    loaded = sslart.load(tmp_path / "model.sslart")
    assert mapping_of(loaded).recent.fit_mixtures == mapping_of(fitted).recent.fit_mixtures
    for model in (fitted, loaded):
        model.partial_fit(X[250:], y[250:])
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))


@pytest.mark.parametrize(
    ("half_life", "new_class", "choice"),
    [
        (None, False, Effort.CAREFUL),
        (500, False, Effort.QUICK),
        (None, True, Effort.QUICK),
    ],
)
def test_a_long_stream_chooses_with_care_however_it_is_cut(
    half_life: int | None, new_class: bool, choice: Effort
) -> None:
    X = np.random.RandomState(0).uniform(size=(25_000, 2))
    y = np.where(np.arange(25_000) % 95 == 0, X.sum(axis=1) > 1, -1)  # the 256th label is that of row 24,225
    if new_class:
        y[24_300] = 2
    settings = {"families": ["box", "linear"], "half_life": half_life, "random_state": 0, "bounds": (0, 1)}
    models = [SSLART(mapping="evidence", **settings) for _ in range(2)]
    for model, cuts in zip(models, ([0, 25_000], [0, 12_900, 25_000]), strict=True):
        for start, stop in pairwise(cuts):
            model.partial_fit(X[start:stop], y[start:stop])
            made = Effort.QUICK if stop == 12_900 else choice
            assert mapping_of(model).recent.max_used == recent.MAX_USED[made]
    np.testing.assert_array_equal(*(model.predict_proba(X[:50]) for model in models))
