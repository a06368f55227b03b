"""Novelty: samples that fit worse than samples like the learnt ones, at a stated rate of false alarms."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestNeighbors
from test_stream import Interrupting

import sslart
import sslart._reference
from conftest import name_of
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP
from sslart._art.backend import use_backend
from sslart._art.geometry import SIZE_SHARE
from sslart._art.novelty import MAX_IN_BLOCK, N_BLOCKS

SETS = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}
ESTIMATORS = [
    FuzzyART(0.9),
    FuzzyART(0.6),
    FuzzyARTMAP(),
    SSLART(0.9, random_state=0),
    SSLART(0.6, random_state=0),
    WESSLART(2, vigilance=0.8, random_state=0),
]


def learnt(model: Any, X: Any, y: Any, *, in_pieces: int = 0, bounds: Any = None) -> Any:
    """Return a copy of a model that has learnt samples, by fit or as a stream in pieces."""
    labels = () if isinstance(model, FuzzyART) else (y,)
    if not in_pieces:
        return clone(model).fit(X, *labels)
    model = clone(model).set_params(bounds=bounds)
    for start in range(0, len(X), in_pieces):
        rows = slice(start, start + in_pieces)
        model.partial_fit(X[rows], *(one[rows] for one in labels))
    return model


def scores_known(model: Any) -> int:
    """Return the number of calibration samples, from the lowest possible p-value."""
    far = np.full((1, model.n_features_in_), 1e9)
    return round(1 / model.novelty_pvalues(far).item()) - 1


# ------------------------------------------------------------------------------------------------- false alarms


@pytest.mark.parametrize("in_pieces", [0, 25], ids=["fit", "stream"])
@pytest.mark.parametrize("model", [*ESTIMATORS[:4], ESTIMATORS[5]], ids=name_of)
def test_at_most_the_stated_share_of_new_samples_is_flagged(model: Any, in_pieces: int) -> None:
    alarms = {0.05: [], 0.2: []}
    for load in SETS.values():
        X, y = load(return_X_y=True)
        for seed in range(4):
            learn, new, labels, _ = train_test_split(X, y, test_size=0.5, random_state=seed)
            bounds = (X.min(axis=0), X.max(axis=0))
            fitted = learnt(model, learn[:400], labels[:400], in_pieces=in_pieces, bounds=bounds)
            for share, found in alarms.items():
                found.append(fitted.is_novel(new, share).mean())
    for share, found in alarms.items():
        error = np.std(found) / np.sqrt(len(found))
        assert 0 < np.mean(found) < share + 2 * error
        if not in_pieces:
            assert np.mean(found) > share / 2


@pytest.mark.parametrize("model", ESTIMATORS, ids=name_of)
@pytest.mark.parametrize("in_pieces", [0, 40], ids=["fit", "stream"])
def test_what_lies_far_away_is_flagged(model: Any, in_pieces: int) -> None:
    X, y = load_wine(return_X_y=True)
    fitted = learnt(model, X, y, in_pieces=in_pieces, bounds=(X.min(axis=0), X.max(axis=0)))
    far = X[::10] + 3 * np.ptp(X, axis=0)
    assert fitted.is_novel(far).all()
    assert fitted.is_novel(far, false_alarms=0.02).all() or scores_known(fitted) < 49


@pytest.mark.parametrize("load", SETS.values(), ids=SETS)
def test_many_samples_of_a_class_never_met_are_flagged(load: Any) -> None:
    X, y = load(return_X_y=True)
    alarms, found = [], []
    for seed in range(3):
        learn, test, labels, truth = train_test_split(X, y, test_size=0.4, random_state=seed)
        never = seed % len(np.unique(y))
        known = labels != never
        model = SSLART(random_state=seed).fit(learn[known], labels[known])
        novel = model.is_novel(test)
        alarms.append(novel[truth != never].mean())
        found.append(novel[truth == never].mean())
    assert np.mean(found) > 2 * np.mean(alarms)


def test_copies_do_not_make_samples_look_familiar() -> None:
    once, twice = [], []
    for seed in range(8):
        X, new = train_test_split(load_wine().data, test_size=0.5, random_state=seed)
        once.append(FuzzyART(0.8).fit(X).is_novel(new).mean())
        twice.append(FuzzyART(0.8).fit(np.repeat(X, 2, axis=0)).is_novel(new).mean())
    assert np.mean(twice) < 0.05 + 2 * np.std(twice) / np.sqrt(len(twice))
    assert np.mean(twice) == pytest.approx(np.mean(once), abs=0.03)


def test_groups_are_left_out_together() -> None:
    random = np.random.RandomState(0)
    people = random.rand(60, 4)
    X = np.repeat(people, 5, axis=0) + 0.01 * random.randn(300, 4)
    person, y = np.repeat(np.arange(60), 5), random.randint(0, 2, 300)
    new = random.rand(200, 4)
    alone = SSLART(0.9, random_state=0).fit(X, y)
    together = SSLART(0.9, random_state=0).fit(X, y, groups=person)
    assert (alone.counts_ == together.counts_).all()
    assert together.is_novel(new).mean() < 0.1 < alone.is_novel(new).mean()


# ---------------------------------------------------------------------------------------------------- the score


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.3, 0.75, 0.9]))
@settings(max_examples=20, deadline=None)
def test_the_score_is_the_distance_and_an_eighth_of_the_size_of_the_best_box(seed: int, vigilance: float) -> None:
    random = np.random.RandomState(seed)
    X, new = random.rand(60, 3), random.rand(20, 3) * 1.2
    new[random.rand(20) < 0.5, 1] = np.nan
    model = FuzzyART(vigilance, bounds=(0, 1)).fit(X)
    best = model.predict(new)
    lower, upper = model.lower_[best], model.upper_[best]
    outside = np.nan_to_num(np.maximum(np.maximum(lower - new, new - upper), 0))
    size = (upper - lower).sum(axis=1) / 3
    expected = 1 - outside.sum(axis=1) / (~np.isnan(new)).sum(axis=1) - SIZE_SHARE * size
    assert model.score_samples(new) == pytest.approx(np.clip(expected, 0, 1), abs=1e-8)


def test_an_unseen_class_is_ranked_as_well_as_by_its_nearest_neighbours() -> None:
    ours, neighbours = [], []
    for load in SETS.values():
        X, y = load(return_X_y=True)
        X = (X - X.min(axis=0)) / np.where(np.ptp(X, axis=0) > 0, np.ptp(X, axis=0), 1)
        for never in np.unique(y)[:3]:
            known = np.random.RandomState(0).permutation(np.flatnonzero(y != never))
            learn, test = X[known[::2]], np.concatenate([X[known[1::2]], X[y == never]])
            is_new = np.arange(len(test)) >= len(known[1::2])
            ours.append(roc_auc_score(is_new, -FuzzyART(0.9).fit(learn).score_samples(test)))
            near = NearestNeighbors(n_neighbors=5).fit(learn)
            neighbours.append(roc_auc_score(is_new, near.kneighbors(test)[0].mean(axis=1)))
    assert np.mean(ours) > np.mean(neighbours) - 0.01


# -------------------------------------------------------------------------------------------------- the p-values


@pytest.mark.parametrize("model", [*ESTIMATORS, AutoSSLART(random_state=0)], ids=name_of)
def test_a_sample_is_novel_where_its_p_value_is_at_most_the_share(model: Any) -> None:
    X, y = load_iris(return_X_y=True)
    fitted = learnt(model, X[::2], y[::2])
    new = np.concatenate([X[1::2], X[1::2] * 1.3])
    pvalues, scores = fitted.novelty_pvalues(new), fitted.score_samples(new)
    for share in (0.01, 0.05, 0.1, 0.5, 1.0):
        assert (fitted.is_novel(new, false_alarms=share) == (pvalues <= share + 1e-12)).all()
    assert (fitted.is_novel(new) == (scores < fitted.novelty_threshold_)).all()
    order = np.argsort(scores)
    assert (np.diff(pvalues[order]) >= 0).all()
    assert 0 < pvalues.min() <= pvalues.max() <= 1


@pytest.mark.parametrize("n", [1, 10, 18, 19])
def test_few_samples_cannot_flag_any_at_a_low_share(n: int) -> None:
    model = FuzzyART(0.9).fit(np.arange(float(n))[:, None])
    flagged = model.is_novel([[1e6]])
    assert flagged.item() == (n >= 19)
    assert (model.novelty_threshold_ > 0) == (n >= 19)
    if 1 < n < 19:
        assert model.is_novel([[1e6]], false_alarms=1 / n).item()


@pytest.mark.parametrize("share", [0, -0.1, 1.1, "0.05", True, None])
def test_a_share_that_is_none_is_refused(share: Any) -> None:
    with pytest.raises(ValueError, match="false_alarms"):
        FuzzyART().fit([[0.0], [1.0]]).is_novel([[0.0]], false_alarms=share)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 0.75, 0.9]), st.sampled_from([1.0, 0.5]))
@settings(max_examples=20, deadline=None)
def test_left_out_fits_agree_with_boxes_made_again_by_hand(seed: int, vigilance: float, rate: float) -> None:
    random = np.random.RandomState(seed % 2**32)
    X = random.randint(0, 5, (40, 2)) / 4.0
    X = np.concatenate([X, [[0, 0], [0, 1], [1, 0], [1, 1]]])  # no sample is alone at a limit of the range
    model = FuzzyART(vigilance, learning_rate=rate).fit(X)
    by_hand = np.sort([fit for fit in (without(model, X, row) for row in np.unique(X, axis=0)) if fit is not None])
    lowest = np.array([model.novelty_pvalues(x[None]).item() for x in X])
    n = scores_known(model)
    assert n == len(by_hand)
    expected = (1 + np.searchsorted(by_hand, model.score_samples(X) + 1e-9)) / (n + 1)
    assert np.abs(lowest - expected).max() < 1e-9


def without(model: FuzzyART, X: Any, row: Any) -> float | None:
    """Return the fit of a row to boxes that are the hulls of all other rows, as the model has divided them."""
    coded = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    x, copies = ((row - X.min(axis=0)) / np.ptp(X, axis=0)), (row == X).all(axis=1)
    best: tuple[float, int, float] | None = None
    for box in range(model.n_nodes_):
        members, others = coded[model.labels_ == box], coded[(model.labels_ == box) & ~copies]
        if not len(others):
            continue
        lower, upper = model._model.network.nodes.boxes()[0][box], model._model.network.nodes.boxes()[1][box]
        present_size, further = (upper - lower).sum(), 0.0
        if len(others) < len(members):
            lower_then, upper_then = np.maximum(lower, others.min(axis=0)), np.minimum(upper, others.max(axis=0))
            if model.learning_rate < 1:
                way = (np.maximum(upper, x) - np.minimum(lower, x)).sum() - (upper - lower).sum()
                further = model.learning_rate / (1 - model.learning_rate) * way
            lower, upper = lower_then, upper_then
        size = (upper - lower).sum()
        joint = (np.maximum(upper, x) - np.minimum(lower, x)).sum()
        choice = (2 - joint) / (model.choice + 2 - size)
        if best is None or choice > best[0] + 1e-9:
            best = choice, box, 1 - (joint - size + further + SIZE_SHARE * present_size) / 2
    return None if best is None else float(np.clip(best[2], 0, 1))


# -------------------------------------------------------------------------------------------------------- streams


@pytest.mark.parametrize("model", [*ESTIMATORS[:4], ESTIMATORS[5]], ids=name_of)
@given(st.lists(st.integers(1, 299), min_size=1, max_size=6))
@settings(max_examples=6, deadline=None)
def test_p_values_do_not_depend_on_how_a_stream_is_cut(model: Any, cuts: list[int]) -> None:
    random = np.random.RandomState(1)
    X, y = random.rand(300, 3) * [1, 2, 9], random.randint(0, 3, 300)
    X[150] *= 2  # beyond the bounds
    new = random.rand(50, 3) * [1, 2, 9]
    whole = learnt(model, X, y, in_pieces=300, bounds=(0, 9))
    parts = clone(model).set_params(bounds=(0, 9))
    for start, end in zip([0, *sorted(set(cuts))], [*sorted(set(cuts)), 300], strict=True):
        parts.partial_fit(X[start:end], *(() if isinstance(model, FuzzyART) else (y[start:end],)))
    assert scores_known(whole) > 19
    assert (whole.novelty_pvalues(new) == parts.novelty_pvalues(new)).all()
    assert whole.novelty_threshold_ == parts.novelty_threshold_


@pytest.mark.parametrize("model", [FuzzyART(0.8), FuzzyARTMAP(), SSLART(0.8, random_state=0)], ids=name_of)
@pytest.mark.parametrize("in_pieces", [0, 60], ids=["fit", "stream"])
def test_kernel_and_reference_agree(model: Any, in_pieces: int) -> None:
    random = np.random.RandomState(0)
    X, y = random.rand(240, 4), random.randint(0, 2, 240)
    X[random.rand(240, 4) < 0.1] = np.nan
    X[:, 0] = random.randint(0, 3, 240)
    X[100] *= 2
    fast = learnt(model, X, y, in_pieces=in_pieces, bounds=(0, 2))
    with use_backend(sslart._reference):
        plain = learnt(model, X, y, in_pieces=in_pieces, bounds=(0, 2))
        expected = plain.novelty_pvalues(X * 1.2)
    assert (fast.novelty_pvalues(X * 1.2) == expected).all()


def test_the_fits_that_are_kept_of_a_stream_are_few_and_recent() -> None:
    random = np.random.RandomState(0)
    model = FuzzyART(0.9, bounds=(0, 1))
    known = []
    for _ in range(30):
        model.partial_fit(random.rand(400, 2))
        known.append(scores_known(model))
    assert 100 < min(known[1:]) <= max(known) < 1.5 * MAX_IN_BLOCK * N_BLOCKS
    before = model.novelty_threshold_
    model.partial_fit(10 * random.rand(40_000, 2))
    assert model.is_novel(10 * random.rand(1000, 2)).mean() < 0.1
    assert model.novelty_threshold_ != before


def test_samples_held_back_do_not_raise_the_threshold() -> None:
    random = np.random.RandomState(0)

    def samples(n: int) -> Any:
        return random.standard_t(5, (n, 3))

    model = FuzzyART(0.9).fit(samples(1000))
    for _ in range(60):
        X = samples(500)
        model.partial_fit(X[~model.is_novel(X)])
    assert model.is_novel(samples(5000)).mean() < 0.08


@pytest.mark.parametrize(
    "model", [FuzzyART(0.9), SSLART(0.9, random_state=0), WESSLART(2, random_state=0)], ids=name_of
)
def test_the_threshold_follows_what_is_learnt(model: Any, blobs: Any) -> None:
    X, y = blobs
    labels = None if isinstance(model, FuzzyART) else y
    model = clone(model).partial_fit(X[:60], labels if labels is None else labels[:60])
    first = model.novelty_threshold_
    copied = pickle.loads(pickle.dumps(model))
    assert (model.novelty_threshold_, copied.novelty_threshold_) == (first, first)
    with use_backend(Interrupting(5)), pytest.raises(KeyboardInterrupt):
        model.partial_fit(X * 1.5, labels)
    assert model.novelty_threshold_ == first
    for one in (model, copied):
        one.partial_fit(X * 1.5, labels)
    assert model.novelty_threshold_ == pickle.loads(pickle.dumps(model)).novelty_threshold_ != first
    assert copied.novelty_threshold_ == model.novelty_threshold_


def test_fits_are_those_of_the_samples_as_they_were_learnt() -> None:
    X = load_iris().data.copy()
    expected = FuzzyART(0.9).fit(X).novelty_threshold_
    model = FuzzyART(0.9).fit(X)
    X *= 2
    assert model.novelty_threshold_ == expected


@pytest.mark.parametrize("n", [50_000, pytest.param(150_000, marks=pytest.mark.slow)])
def test_large_tables_are_measured_by_a_part_of_them(n: int) -> None:
    random = np.random.RandomState(0)
    X = random.rand(n, 8)
    model = FuzzyART(0.7).fit(X)
    assert scores_known(model) == 500
    assert model.is_novel(random.rand(4000, 8)).mean() == pytest.approx(0.05, abs=0.03)


# --------------------------------------------------------------------------------------------------- kept in files


@pytest.mark.parametrize("model", ESTIMATORS, ids=name_of)
@pytest.mark.parametrize("in_pieces", [0, 40], ids=["fit", "stream"])
def test_p_values_are_saved(model: Any, in_pieces: int, tmp_path: Any) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.assign(colour=np.where(np.arange(150) % 2, "red", "blue"))
    X.iloc[::7, 0] = None
    order = np.random.RandomState(0).permutation(150)
    X, y = X.iloc[order], y.iloc[order]
    fitted = clone(model)
    for rows in [slice(0, 150)] if not in_pieces else [slice(start, start + in_pieces) for start in range(0, 150, 40)]:
        learn = fitted.partial_fit if in_pieces else fitted.fit
        learn(X[rows], *(() if isinstance(model, FuzzyART) else (y[rows],)))
    sslart.save(fitted, tmp_path / "model.sslart")
    loaded = sslart.load(tmp_path / "model.sslart")
    assert (loaded.novelty_pvalues(X) == fitted.novelty_pvalues(X)).all()
    more = () if isinstance(model, FuzzyART) else (y[::2],)
    for one in (fitted, loaded):
        one.partial_fit(X[::2].assign(colour="green"), *more)
    assert (loaded.novelty_pvalues(X) == fitted.novelty_pvalues(X)).all()


@pytest.mark.parametrize(
    "change", [{"n_learnt": -1}, {"end": 0}, {"familiarity": 2.0}, {"boxes": 10**6}, {"extents": -1.0}, {"keys": None}]
)
def test_a_file_with_fits_that_cannot_be_is_refused(change: dict[str, Any]) -> None:
    model = FuzzyART(0.9).fit(load_iris().data)
    state = model.__sslart_state__()
    for name, value in change.items():
        before = state["novelty"][name]
        changed = value if isinstance(before, int) or value is None else before * 0 + value
        state["novelty"][name] = before[:-1] if changed is None else changed
    with pytest.raises(ValueError, match="calibration"):
        clone(model).__sslart_restore__(state)
