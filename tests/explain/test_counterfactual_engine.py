"""One engine: the same first change from every surface, values that occur, relations that hold, plausible samples."""

from __future__ import annotations

import time
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification

from conftest import name_of
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyARTMAP
from sslart._mapping.model_view import view_of
from sslart.explain._options import STAY, ChangeSpace, options_of
from sslart.explain._search import Search

MODELS = [
    AutoSSLART(random_state=0),
    AutoSSLART(abstain_below=0.8, random_state=0),
    SSLART(0.85, random_state=0),
    SSLART(0.9, search_depth=2, random_state=0),
    FuzzyARTMAP(0.7),
    WESSLART(3, vigilance=0.85, random_state=0),
]


def few(y: Any, step: int = 5) -> np.ndarray:
    return np.where(np.arange(len(y)) % step == 0, y, -1)


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_the_first_change_is_the_same_wherever_it_is_asked_for(model: Any) -> None:
    X, y = load_wine(return_X_y=True)
    model.fit(X, y if isinstance(model, FuzzyARTMAP) else few(y))
    explained = [one.counterfactual for one in model.explain(X[::11])]
    assert sum(one is not None for one in explained) > 0.8 * len(explained)
    for x, one in zip(X[::11], explained, strict=True):
        for n in (1, 3):
            found = model.counterfactual(x, n=n)
            assert (one.changes if one else None) == (found[0].changes if found else None)
        numbers = [len(one.changes) for one in found]
        assert numbers == sorted(numbers)
        assert all(one.distance >= found[0].distance for one in found if len(one.changes) == numbers[0])


def test_a_column_of_two_values_takes_the_other_one_exactly() -> None:
    random = np.random.default_rng(0)
    for low, high in ((36.0, 60.0), (0.0, 1.0), (1.0, 2.0), (0.1, 0.7), (-1e6, 1e-3)):
        term, noise = random.choice([low, high], 200, p=[0.8, 0.2]), random.normal(size=200)
        X, y = np.c_[term, noise], (term == high).astype(int)
        for model in (AutoSSLART(random_state=0), SSLART(0.9, random_state=0)):
            model.fit(X, few(y))
            for x in X[:5]:
                first = model.counterfactual(x, fixed=["x1"])[0].changes
                assert first == (("x0", x[0], low + high - x[0] if low in (36.0, 0.0, 1.0) else first[0].after),)
                assert first[0].after in (low, high)


def test_coded_columns_take_the_values_that_occur() -> None:
    random = np.random.default_rng(1)
    codes = random.choice([1.0, 2.0, 4.0, 8.0, 99.0], 300)
    X = np.c_[codes, random.normal(size=300)]
    model = AutoSSLART(random_state=0).fit(X, few(codes >= 8))
    seen = {
        change.after for x in X[:40] for one in model.counterfactual(x) for change in one.changes if change[0] == "x0"
    }
    assert seen <= {1.0, 2.0, 4.0, 8.0, 99.0}
    assert {4.0, 8.0} <= seen


def related() -> tuple[pd.DataFrame, np.ndarray]:
    """A table in which a square, a sum, a copy in another unit, a product and a code follow from other columns."""
    random = np.random.default_rng(0)
    income, spent = random.gamma(5, 5, 300).round(1), random.gamma(2, 5, 300).round(1)
    kind = random.choice(["car", "boat", "bicycle"], 300)
    frame = pd.DataFrame({"income": income, "income squared": income**2, "income in cents": 100 * income})
    frame["spent"], frame["left"], frame["together"] = spent, income - spent, income + spent
    frame["months"] = random.integers(1, 30, 300)
    frame["paid"] = frame["months"] * spent
    frame["kind"], frame["code"] = kind, np.select([kind == "car", kind == "boat"], [7.0, 3.0], 5.0)
    y = (income > 25 + spent) ^ (kind == "boat")
    return frame, np.where(np.arange(300) % 3 == 0, np.where(y, "yes", "no"), None)


@pytest.mark.parametrize(
    "model", [AutoSSLART(random_state=0), SSLART(0.9, mapping="evidence", random_state=0)], ids=name_of
)
def test_columns_that_follow_from_others_change_with_them(model: Any) -> None:
    frame, y = related()
    model.fit(frame, y)
    changed = set()
    for row in range(0, 60, 6):
        explained = model.explain(frame[row : row + 1])[0].counterfactual
        for one in [*model.counterfactual(frame[row : row + 1]), *([explained] if explained else [])]:
            new = dict(zip(frame.columns, one.sample, strict=True))
            changed |= {change.feature for change in one.changes}
            assert new["income squared"] == pytest.approx(new["income"] ** 2)
            assert new["income in cents"] == pytest.approx(100 * new["income"])
            assert new["left"] == pytest.approx(new["income"] - new["spent"], abs=1e-6)
            assert new["together"] == pytest.approx(new["income"] + new["spent"])
            assert new["paid"] == pytest.approx(new["months"] * new["spent"])
            assert new["code"] == {"car": 7, "boat": 3, "bicycle": 5}[new["kind"]]
            assert all(frame[name].min() <= new[name] <= frame[name].max() for name in frame.select_dtypes("number"))
    assert {"income", "income in cents", "kind", "code"} <= changed


def test_copies_are_found_without_labelled_samples_as_well() -> None:
    X, y = load_iris(return_X_y=True)
    X = np.c_[X, 10 - 3 * X[:, 2], np.log(X[:, 3])]
    model = SSLART(0.8, random_state=0).fit(X, y)  # boxes, most of them wide
    for x in X[::15]:
        for one in model.counterfactual(x):
            assert one.sample[4] == pytest.approx(10 - 3 * one.sample[2], abs=1e-6)
            assert one.sample[5] == pytest.approx(np.log(one.sample[3]), abs=0.02)


def test_where_what_follows_is_fixed_so_is_what_it_follows_from() -> None:
    frame, y = related()
    model = AutoSSLART(random_state=0).fit(frame, y)
    for row in range(0, 30, 6):
        for one in model.counterfactual(frame[row : row + 1], fixed=["income squared", "code"]):
            assert not {"income", "income squared", "kind", "code"} & {change.feature for change in one.changes}
        cents = 100 * frame.loc[row, "income"]
        for one in model.counterfactual(frame[row : row + 1], ranges={"income in cents": (cents, None)}):
            assert dict(zip(frame.columns, one.sample, strict=True))["income"] >= frame.loc[row, "income"]


@pytest.mark.parametrize("model", [AutoSSLART(random_state=0), SSLART(0.85, random_state=0)], ids=name_of)
def test_plausible_samples_are_as_near_to_the_data_as_most_that_were_learnt(model: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model.fit(X, few(y))
    assert np.mean(model.score_samples(X) >= model.novelty_threshold_) >= 0.95
    flags = []
    for x in X[::90]:
        for one in model.counterfactual(x):
            flags.append(one.plausible)
            assert one.plausible == (model.score_samples([one.sample])[0] >= model.novelty_threshold_)
        assert all(one.plausible for one in model.counterfactual(x, plausible=True))
    assert set(flags) == {True, False}


def test_one_row_takes_little_time() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = AutoSSLART(random_state=0).fit(X, few(y, 10))
    model.counterfactual(X[0])
    taken = []
    for x in X[::80]:
        start = time.process_time()
        model.counterfactual(x)
        taken.append(time.process_time() - start)
    assert np.median(taken) < 0.06


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_few_features_change_on_real_tables(load: Any) -> None:
    X, y = load(return_X_y=True)
    model = AutoSSLART(random_state=0).fit(X, few(y, 5))
    step = len(X) // 50  # fifty samples or a few more
    found = [one.counterfactual for one in model.explain(X[::step])]
    assert all(found)
    samples = np.array([one.sample for one in found])
    assert model.predict(samples).tolist() == [one.prediction for one in found]
    assert (samples >= X.min(axis=0)).all()
    assert (samples <= X.max(axis=0)).all()
    assert np.mean([len(one.changes) for one in found]) < {4: 1.4, 13: 1.9, 30: 2.2}[X.shape[1]]
    held = [one for x in X[:: 8 * step] for one in model.counterfactual(x, fixed=[0, 1])]
    assert held
    assert not any(change.feature in ("x0", "x1") for one in held for change in one.changes)


def test_points_in_boxes_become_the_nearest_values_that_are_offered() -> None:
    X, y = load_iris(return_X_y=True)
    model = SSLART(0.9, random_state=0).fit(X, few(y))
    view, rows = view_of(model), np.arange(0, 150, 3)
    options, table = options_of(view), view.read(X)
    search = Search(ChangeSpace(view, options, table), np.ones((150, 3), dtype=bool))
    points = np.random.RandomState(0).rand(len(rows), 4)
    found = search._at_points(0, rows, points, points, points)
    wanted = view.members[0].encoder.decode(points)
    for place, row in enumerate(rows):
        for column in range(4):
            apart = np.abs(options.values[column] - wanted[place, column])
            stays = np.abs(X[row, column] - wanted[place, column]) <= apart.min() + 1e-9
            assert found[place, column] == STAY if stays else apart[found[place, column]] == pytest.approx(apart.min())
    assert (found == STAY).mean() < 0.5
    # a side that no sample has reached leaves the value as it is
    assert (search._at_points(0, rows, points, np.ones((len(rows), 4)), np.zeros((len(rows), 4))) == STAY).all()


def test_one_feature_is_found_wherever_it_is_enough() -> None:
    X, y = load_digits(return_X_y=True)
    model = AutoSSLART(random_state=0).fit(X[:350], few(y[:350]))
    n_enough = 0
    for x in X[400:412]:
        single = np.repeat(x[None], 64 * 17, axis=0)
        single[np.arange(len(single)), np.repeat(np.arange(64), 17)] = np.tile(np.arange(17), 64)
        single = single[((single >= X[:350].min(axis=0)) & (single <= X[:350].max(axis=0))).all(axis=1)]
        enough = (model.predict(single) != model.predict(x[None])).any()
        n_enough += enough
        assert not enough or len(model.counterfactual(x, n=1)[0].changes) == 1
    assert n_enough > 2


def test_two_free_features_come_before_one_that_others_follow() -> None:
    X, y = make_classification(600, 12, n_informative=4, flip_y=0.2, random_state=0)  # 6 columns of rank 4, and noise
    model = AutoSSLART(random_state=0).fit(X[:350], few(y[:350]))
    numbers = []
    for x in X[350:370]:
        first = model.counterfactual(x, n=1)[0].changes
        numbers.append(len(first))
        assert len(first) <= 2 or not _is_pair_enough(model, x, X[:350])
    assert 2 in numbers


def _is_pair_enough(model: Any, x: np.ndarray, X: np.ndarray) -> bool:
    """Return True if two columns of noise lead to another prediction at one of eight levels each."""
    noise = [column for column in range(12) if column not in (2, 3, 4, 6, 10, 11)]
    levels = np.quantile(X, np.linspace(0, 1, 8), axis=0)
    pairs = np.repeat(x[None], 15 * 64, axis=0)
    for place, (one, other) in enumerate(combinations(noise, 2)):
        pairs[64 * place : 64 * place + 64, one] = np.repeat(levels[:, one], 8)
        pairs[64 * place : 64 * place + 64, other] = np.tile(levels[:, other], 8)
    return bool((model.predict(pairs) != model.predict(x[None])).any())


def test_numbers_in_thousands_are_changed_to_thousands() -> None:
    random = np.random.RandomState(0)
    X = np.column_stack([1000.0 * random.randint(10, 5000, 600), random.rand(600)])
    model = AutoSSLART(random_state=0).fit(X, (X[:, 0] > 2_500_000).astype(int))
    found = [model.counterfactual(X[row : row + 1])[0] for row in range(6)]
    income = [change.after for one in found for change in one.changes if change.feature == "x0"]
    assert len(income) == 6
    assert all(value % 1000 == 0 and 10_000 <= value <= 5_000_000 for value in income)
