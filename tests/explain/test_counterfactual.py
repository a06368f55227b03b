"""Counterfactuals: each one is predicted as promised, within limits, needed, as small as brute force finds."""

from __future__ import annotations

import functools
import json
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from conftest import EVIDENCE, lattices, name_of
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP
from sslart.explain import Counterfactuals, counterfactuals_of

HIGHEST = 15
MODELS = [
    FuzzyARTMAP(0.5),
    SSLART(0.85, random_state=0),
    SSLART(0.8, mapping="one-to-one", random_state=0),
    SSLART(0.8, learning_rate=0.5, random_state=0),
    SSLART(0.9, search_depth=2, random_state=0),
    WESSLART(3, vigilance=0.85, random_state=0),
    WESSLART(3, vigilance=0.9, quorum=2, search_depth=1, random_state=0),
    AutoSSLART(abstain_below=0.8, random_state=0),
    WESSLART(3, mapping="evidence", vigilance=0.85, random_state=0),
    *EVIDENCE,
]
LONG = MODELS[8]  # its members choose their settings
EACH = [pytest.param(one, marks=pytest.mark.slow if one is LONG else ()) for one in MODELS]


def whole_numbers(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three features of whole numbers from 0 to 15, and three classes that depend on two of them."""
    random = np.random.default_rng(seed)
    X = random.integers(0, HIGHEST + 1, (150, 3)).astype(float)
    X[:2] = [[0] * 3, [HIGHEST] * 3]
    y = (X[:, 0] > 6).astype(int) + (X[:, 0] + X[:, 1] > 20)
    return X, y


@functools.cache
def fitted(model: Any) -> tuple[Any, np.ndarray]:
    """Return a model that has learnt, and its samples; tests only read them."""
    X, y = whole_numbers()
    few = y if isinstance(model, FuzzyARTMAP) else np.where(np.arange(len(y)) % 3 == 0, y, -1)
    return clone(model).fit(X, few), X


def mixed() -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers and categories with gaps; the colour and the size decide."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": random.normal(5, 2, 150).round(1),
            "colour": random.choice(["red", "green", "blue"], 150),
            "age": random.integers(1, 90, 150),
            "old": random.choice([True, False], 150),
        }
    )
    y = np.where((frame["colour"] == "red") | (frame["size"] > 7), "yes", "no")
    frame["size"] = frame["size"].mask(frame.index % 7 == 3)
    frame["colour"] = frame["colour"].astype(object).where(frame.index % 11 != 5, None)
    return frame, np.where(frame.index % 2 == 0, y, None)


def frame_of(samples: Any, frame: pd.DataFrame) -> pd.DataFrame:
    made = pd.DataFrame(list(samples), columns=frame.columns)
    return made.astype(dict.fromkeys(frame.select_dtypes("number"), float))


def others(model: Any, samples: np.ndarray, present: Any, target: Any) -> np.ndarray:
    """Mask of samples predicted as another class than the present one, or as the target."""
    predicted = model.predict(samples)
    return predicted == target if target is not None else (predicted != present) & np.isin(predicted, model.classes_)


def nearest_alone(model: Any, x: np.ndarray, target: Any) -> dict[tuple[int, int], float]:
    """By feature and direction, the nearest whole number that changes the prediction by itself: brute force."""
    tried = [(feature, float(value)) for feature in range(len(x)) for value in range(HIGHEST + 1)]
    changed = np.array([[value if one == feature else x[one] for one in range(len(x))] for feature, value in tried])
    reached = others(model, changed, model.predict(x[None])[0], target)
    nearest: dict[tuple[int, int], float] = {}
    hits = [one for one, hit in zip(tried, reached, strict=True) if hit]
    for feature, value in sorted(hits, key=lambda one: abs(one[1] - x[one[0]])):
        nearest.setdefault((feature, int(np.sign(value - x[feature]))), value)
    return nearest


def singles(found: Counterfactuals) -> dict[tuple[int, int], float]:
    alone = [one.changes[0] for one in found if len(one.changes) == 1]
    names = found.feature_names
    return {(names.index(c.feature), int(np.sign(c.after - c.before))): c.after for c in alone}


@pytest.mark.parametrize("model", EACH, ids=name_of)
def test_all_changes_of_one_feature_are_those_that_brute_force_finds(model: Any) -> None:
    model, X = fitted(model)
    n_with = 0
    for x in X[:8]:
        nearest = nearest_alone(model, x, None)
        found = model.counterfactual(x, n=20)
        assert singles(found) == nearest
        n_with += bool(nearest)
        if nearest:
            assert len(found[0].changes) == 1
            assert model.counterfactual(x, n=1)[0].changes == found[0].changes
    assert n_with > 2


@pytest.mark.parametrize("model", EACH, ids=name_of)
def test_a_target_is_found_wherever_one_or_two_features_are_enough(model: Any) -> None:
    model, X = fitted(model)
    for x in X[12:18]:
        present = model.predict(x[None])[0]
        for target in set(model.classes_.tolist()) - {present}:
            found = model.counterfactual(x, target)
            assert all(one.prediction == target for one in found)
            if nearest_alone(model, x, target):
                assert len(found[0].changes) == 1
                continue
            pairs = np.array(
                [
                    [one if place == first else other if place == second else x[place] for place in range(3)]
                    for first, second in combinations(range(3), 2)
                    for one, other in product(range(HIGHEST + 1), repeat=2)
                ]
            )
            if others(model, pairs, present, target).mean() > 0.02:
                assert len(found[0].changes) == 2


def check(model: Any, found: Counterfactuals, x: np.ndarray) -> None:
    """Every counterfactual is predicted as promised, is needed as a whole, and unlike the others."""
    lists = []
    for one in found:
        sample = np.array([np.nan if value is None else value for value in one.sample], dtype=float)
        assert model.predict(sample[None]).tolist() == [one.prediction]
        assert one.prediction != found.prediction
        index = model.classes_.tolist().index(one.prediction)
        assert one.confidence == pytest.approx(model.predict_proba(sample[None])[0, index])
        assert (np.isnan(sample) == np.isnan(x)).all()
        changed = [found.feature_names.index(change.feature) for change in one.changes]
        assert changed == np.flatnonzero((sample != x) & ~np.isnan(x)).tolist()
        assert [(c.before, c.after) for c in one.changes] == [(x[f], sample[f]) for f in changed]
        if len(changed) > 1:
            for feature in changed:
                without = np.where(np.arange(len(x)) == feature, x, sample)
                assert model.predict(without[None])[0] in (found.prediction, -1, None) or found.target is not None
        lists.append(tuple((f, np.sign(sample[f] - x[f])) for f in changed))
    assert len(set(lists)) == len(lists)
    assert [len(one) for one in lists] == sorted(len(one) for one in lists)


@settings(max_examples=40)
@given(lattices(min_samples=6), st.integers(0, 2**32 - 1), st.integers(0, len(MODELS) - 1), st.booleans())
def test_whatever_is_offered_holds(X: np.ndarray, seed: int, which: int, plausible: bool) -> None:
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, len(X))
    model = clone(MODELS[which]).fit(X, y)
    x = X[random.integers(len(X))]
    fixed = [feature for feature in range(X.shape[1]) if random.random() < 0.3]
    ranges = {0: (0.25, None)}
    if not np.isfinite(X[:, 0]).any() or np.nanmax(X[:, 0]) < 0.25:
        ranges = {}
    found = model.counterfactual(x, fixed=fixed, ranges=ranges, n=4, plausible=plausible)
    check(model, found, x)
    assert len(found) == 4 or found.note
    lowest, highest = np.fmin.reduce(X), np.fmax.reduce(X)  # NaN for a column without values
    for one in found:
        for change in one.changes:
            feature = found.feature_names.index(change.feature)
            assert feature not in fixed
            assert lowest[feature] <= change.after <= highest[feature]
            assert feature != 0 or not ranges or change.after >= 0.25
    if plausible:
        for one in found:
            sample = np.array([np.nan if value is None else value for value in one.sample], dtype=float)
            assert model.score_samples(sample[None])[0] >= model.novelty_threshold_
    again = model.counterfactual(x, fixed=fixed, ranges=ranges, n=4, plausible=plausible)
    assert again.to_dict() == found.to_dict()


def test_categories_change_to_categories_that_were_learnt() -> None:
    frame, y = mixed()
    model = AutoSSLART(random_state=0).fit(frame, y)
    n_of_colour = 0
    for row in range(12):
        found = model.counterfactual(frame.iloc[row])
        if not found:
            continue
        again = frame_of([one.sample for one in found], frame)
        assert model.predict(again).tolist() == [one.prediction for one in found]
        for one in found:
            for change in one.changes:
                assert change.before == frame.loc[row, change.feature]
                n_of_colour += change.feature == "colour"
                assert change.after in set(frame[change.feature].dropna()) or change.feature in ("size", "age")
    assert n_of_colour


def test_all_ways_to_give_a_sample_give_the_same() -> None:
    frame, y = mixed()
    model = AutoSSLART(random_state=0).fit(frame, y)
    wanted = model.counterfactual(frame[:1]).to_dict()
    for x in (frame.iloc[0], frame.iloc[0].to_dict(), frame.iloc[0].tolist(), tuple(frame.iloc[0])):
        assert model.counterfactual(x).to_dict() == wanted
    X, y = load_iris(return_X_y=True)
    model = SSLART(random_state=0).fit(X, y)
    wanted = model.counterfactual(X[:1]).to_dict()
    assert model.counterfactual(X[0]).to_dict() == model.counterfactual(X[0].tolist()).to_dict() == wanted


def test_limits_of_categories_and_numbers_hold() -> None:
    frame, y = mixed()
    model = AutoSSLART(random_state=0).fit(frame, y)
    no = next(
        row
        for row in range(150)
        if model.predict(frame[row : row + 1])[0] == "no" and frame.isna().sum(axis=1)[row] == 0
    )
    x = frame[no : no + 1]
    assert any(c.feature == "colour" for one in model.counterfactual(x) for c in one.changes)
    other = "green" if frame.loc[no, "colour"] == "blue" else "blue"
    found = model.counterfactual(x, "yes", fixed=["old"], ranges={"colour": [other], "age": (20, 30)}, n=5)
    assert found
    for one in found:
        for change in one.changes:
            assert change.feature != "old"
            assert change.feature != "colour" or change.after == other
            assert change.feature != "age" or 20 <= change.after <= 30


def test_numbers_have_the_step_of_the_data() -> None:
    random = np.random.default_rng(0)
    mass = random.integers(100, 250, 200) * 25.0
    cylinders = random.choice([3.0, 4.0, 6.0, 8.0], 200)
    price = random.normal(100, 20, 200)
    y = np.where(mass + 400 * cylinders + 10 * price > 8000, 1, 0)
    X = np.c_[mass, cylinders, price]
    model = AutoSSLART(random_state=0).fit(X, np.where(np.arange(200) % 4 == 0, y, -1))
    seen = set()
    for x in X[:30]:
        for one in model.counterfactual(x, n=4):
            for change in one.changes:
                seen.add(change.feature)
                assert change.feature != "x0" or change.after % 25 == 0
                assert change.feature != "x1" or change.after in (3, 4, 6, 8)
                assert change.feature != "x2" or round(change.after, 1) == change.after
    assert seen == {"x0", "x1", "x2"}


def test_narrow_limits_allow_finer_values_though_no_finer_than_the_data() -> None:
    X = np.arange(3000.0)[:, None]
    model = SSLART(0.99, random_state=0).fit(X, np.where(X[:, 0] >= 1004, 1, 0))
    first = next(value for value in range(900, 3000) if model.predict([[value]])[0] == 1)
    assert model.counterfactual([900.0])[0].changes[0].after == 5 * np.ceil(first / 5)
    limits = (first - 4, first + 4)
    assert model.counterfactual([900.0], ranges={0: limits})[0].changes[0].after == first


def test_a_missing_value_is_never_made_up() -> None:
    frame, y = mixed()
    model = SSLART(random_state=0).fit(frame, y)
    gaps = frame[frame["size"].isna() & frame["colour"].notna()]
    for row in range(5):
        for one in model.counterfactual(gaps.iloc[row]):
            assert one.sample[0] is None
            assert all(change.feature != "size" for change in one.changes)


def test_a_sample_without_a_prediction_may_become_any_class() -> None:
    X, y = load_iris(return_X_y=True)
    model = AutoSSLART(abstain_below=0.9, random_state=0).fit(X, np.where(np.arange(150) % 5 == 0, y, -1))
    x = X[model.predict(X) == -1][0]
    found = model.counterfactual(x)
    assert found.abstained
    assert found.prediction is None
    assert str(found).startswith("No prediction. ")
    assert all(one.confidence >= 0.9 for one in found)
    check(model, found, x)
    assert model.counterfactual(x, target=found[0].prediction)[0].changes == found[0].changes


def test_changes_of_many_features_have_no_change_that_is_not_needed() -> None:
    X, y = load_wine(return_X_y=True)
    model = AutoSSLART(random_state=0).fit(X, np.where(np.arange(len(y)) % 5 == 0, y, -1))
    for x in X[::30]:
        found = model.counterfactual(x)
        assert len(found) == 3
        check(model, found, x)


def test_ways_into_boxes_have_no_change_that_is_not_needed() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = SSLART(0.8, random_state=0).fit(X, np.where(np.arange(len(y)) % 10 == 0, y, -1))
    n_changed = []
    for x in X[::60]:
        found = model.counterfactual(x)
        check(model, found, x)
        n_changed += [len(one.changes) for one in found]
    assert max(n_changed) >= 6  # boxes of many features


def test_the_reason_is_given_where_fewer_are_found() -> None:
    X, _ = whole_numbers()
    model, _ = fitted(EVIDENCE[1])
    found = model.counterfactual(X[0], fixed=[0, 1, 2])
    assert len(found) == 0
    assert found.note == "No feature can change: fixed: x0, x1, x2."
    assert not model.counterfactual(X[0], n=500).note.startswith("No ")
    found = model.counterfactual([0.0, 0.0, 0.0], fixed=[0, 1])
    assert len(found) == 0
    assert found.note.startswith(
        "No change of x2 to values that occur was found to lead to another class (fixed: x0, x1)"
    )
    assert "fix fewer features" in str(found)
    one_class = SSLART(random_state=0).fit(X, np.zeros(len(X), dtype=int))
    assert "one class only" in one_class.counterfactual(X[0]).note
    declared = SSLART(random_state=0).partial_fit(X, np.zeros(len(X), dtype=int), classes=[0, 7])
    assert "no label of 7" in declared.counterfactual(X[0], target=7).note


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"target": 9}, "target 9 is not a class of this SSLART, which has 0, 1, 2"),
        ({"target": "1"}, "not a class"),
        ({"target": "present"}, r"already: give another class \(.*\), or target=None"),
        ({"fixed": ["petal"]}, "fixed names the feature 'petal', which the model has not learnt: give one of 'x0'"),
        ({"fixed": [4]}, "column number from 0 to 2"),
        ({"ranges": {"x1": (5, 2)}}, "Give the lower limit first"),
        ({"ranges": {"x1": (50, 60)}}, "learnt values are 0 to 15"),
        ({"ranges": {"x1": 5}}, r"must be \(low, high\)"),
        ({"ranges": {"y": (0, 1)}}, "ranges names the feature 'y'"),
        ({"n": 0}, "n of counterfactual must be a whole number"),
        ({"plausible": "yes"}, "plausible of counterfactual must be True or False"),
    ],
    ids=str,
)
def test_a_wrong_wish_is_refused_with_the_cure(wrong: dict[str, Any], message: str) -> None:
    model, X = fitted(SSLART(0.85, random_state=0))
    if wrong.get("target") == "present":
        wrong = {"target": model.predict(X[:1])[0]}
    with pytest.raises(ValueError, match=message):
        model.counterfactual(X[0], **wrong)


def test_a_wrong_category_or_sample_is_refused_with_the_cure() -> None:
    frame, y = mixed()
    model = SSLART(random_state=0).fit(frame, y)
    for ranges, message in (({"colour": ["pink"]}, "never learnt: give categories of"), ({"colour": "red"}, "a list")):
        with pytest.raises(ValueError, match=message):
            model.counterfactual(frame[:1], ranges=ranges)
    for x, message in ((frame[:2], "one sample, got 2"), ([1, 2], "has 2 value"), ({"size": 1}, "no value for colour")):
        with pytest.raises(ValueError, match=message):
            model.counterfactual(x)
    for wrong in ({"fixed": 1.5}, {"ranges": ["colour"]}):
        with pytest.raises(TypeError, match="must be"):
            model.counterfactual(frame[:1], **wrong)
    with pytest.raises(TypeError, match="takes a fitted AutoSSLART"):
        counterfactuals_of(FuzzyART().fit([[0.0], [1.0]]), [0.0])


def test_counterfactuals_can_be_read_by_people_programs_and_notebooks() -> None:
    data = load_iris(as_frame=True)
    X, names = data.data, data.target_names
    y = pd.Series(names[data.target]).where(X.index % 10 == 0, None)
    model = AutoSSLART(random_state=0).fit(X, y)
    found = model.counterfactual(X.iloc[0], "versicolor", n=2)
    lines = str(found).split("\n")
    assert lines[0].startswith("Prediction: setosa (confidence 0.")
    assert lines[0].endswith("Each of these changes alone leads to versicolor:")
    assert lines[1].startswith("  1. petal ")
    assert " instead of " in lines[1]
    assert "implausible" in lines[1]
    assert lines[-1].startswith("implausible: ")
    assert repr(found).startswith("<Counterfactuals: 2; Prediction: setosa")
    values = json.loads(json.dumps(found.to_dict()))
    assert values["target"] == "versicolor"
    assert [len(one["changes"]) for one in values["counterfactuals"]] == [len(one.changes) for one in found]
    frame = found.to_frame()
    assert frame.index.tolist() == ["given", "change 1", "change 2"]
    assert model.predict(frame[found.feature_names]).tolist() == frame["prediction"].tolist()
    assert frame["distance"].tolist()[1:] == [one.distance for one in found]
    page = found._repr_html_()
    assert page.count("<tr>") == 2 + len({change.feature for one in found for change in one.changes})
    assert found[-1] is found[1]
    assert len(found[:1]) == 1


def test_names_are_escaped_and_do_not_collide() -> None:
    X, y = whole_numbers()
    frame = pd.DataFrame(X, columns=["<b>", "prediction", "c"])
    found = SSLART(0.85, random_state=0).fit(frame, y).counterfactual(frame.iloc[5], n=6)
    assert "<b>" not in found._repr_html_()
    assert "prediction (model)" in found.to_frame()


def test_categories_with_commas_are_quoted_so_that_changes_are_not_read_as_more() -> None:
    colours = np.array(["grey", "brown, white"], dtype=object)[np.arange(80) % 2]
    frame = pd.DataFrame({"colour": colours, "size": np.arange(80) // 2 % 5})
    y = np.where(colours == "grey", "plain", "mixed").astype(object)
    y[40:] = None
    model = AutoSSLART(random_state=0).fit(frame, y)
    assert "colour 'brown, white' instead of grey" in str(model.counterfactual(frame.iloc[0]))
    assert "with colour grey instead of 'brown, white'." in str(model.explain(frame.iloc[[1]])[0])


@pytest.mark.parametrize("model", [AutoSSLART(random_state=0), SSLART(0.85, random_state=0)], ids=name_of)
def test_changes_hold_for_the_cells_of_a_row_with_dates(model: Any) -> None:
    random = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 300, 120), unit="D")
    frame = pd.DataFrame({"ordered": days, "price": random.normal(size=120).round(2)})
    frame["kind"] = random.choice(["a", "b"], 120)
    y = np.where((frame["ordered"].dt.day_of_week > 3) | (frame["price"] > 0.5), "private", "firm")
    model = clone(model).fit(frame, y)
    changed = set()
    for row in range(8):
        cells = frame.iloc[row].to_dict()
        explained = model.explain(frame[row : row + 1])[0].counterfactual
        for one in [*model.counterfactual(cells, n=4), *([] if explained is None else [explained])]:
            after = {change.feature: change.after for change in one.changes}
            changed |= set(after)
            if "ordered" in after:
                after["ordered"] = pd.Timestamp("1970-01-01") + pd.Timedelta(days=after["ordered"])
            assert model.predict(pd.DataFrame([cells | after])) == [one.prediction]
    assert {"ordered", "price" if isinstance(model, AutoSSLART) else "kind"} <= changed <= set(frame.columns)


def test_limits_of_the_parts_of_a_date_hold() -> None:
    days = pd.date_range("2024-01-01", periods=120)
    frame = pd.DataFrame({"ordered": days, "price": np.arange(120) % 7})
    model = SSLART(0.9, random_state=0).fit(frame, np.where(np.arange(120) < 60, "old", "new"))
    weekday = frame["ordered"].dt.day_name()
    for limits in ({"fixed": ["weekday of ordered"]}, {"ranges": {"weekday of ordered": ["Sunday", "Friday"]}}):
        found = model.counterfactual(frame.iloc[10], n=1, **limits)
        allowed = {weekday[10]} if "fixed" in limits else {"Sunday", "Friday"}
        assert [one.changes[0].feature for one in found] == ["ordered"]
        day = pd.Timestamp("1970-01-01") + pd.Timedelta(days=found[0].changes[0].after)
        assert day.day_name() in allowed
