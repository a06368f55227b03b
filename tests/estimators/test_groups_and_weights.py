"""Groups, weights of samples and weights of classes: what fit and partial_fit take beside X and y."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.utils.class_weight import compute_sample_weight

import sslart
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyARTMAP
from sslart._mapping.model_view import view_of

EVIDENCE = SSLART(mapping="evidence", shuffle=False, random_state=0)
IN_ORDER = [EVIDENCE, SSLART(shuffle=False), SSLART(shuffle=False, mapping="one-to-one")]
X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:240], Y[:240]
RANDOM = np.random.RandomState(0)
FEW = np.where(RANDOM.rand(len(Y)) < 0.2, Y, -1)
WEIGHTS = RANDOM.randint(0, 4, len(Y))
AGAIN = np.repeat(np.arange(len(Y)), WEIGHTS)


@pytest.mark.parametrize("model", IN_ORDER, ids=str)
def test_a_weight_is_the_sample_so_many_times(model: Any) -> None:
    weighted = clone(model).fit(X, FEW, sample_weight=WEIGHTS)
    repeated = clone(model).fit(X[AGAIN], FEW[AGAIN])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(weighted.support_, repeated.support_)
    if model.mapping == "evidence":
        assert weighted.quality_.accuracy.value == pytest.approx(repeated.quality_.accuracy.value)


@pytest.mark.parametrize("model", IN_ORDER[1:], ids=str)  # evidence mapping chooses settings by the number of labels
def test_so_it_is_in_a_stream(model: Any) -> None:
    weighted, repeated = clone(model).set_params(bounds=(0, 5000)), clone(model).set_params(bounds=(0, 5000))
    for rows in np.array_split(np.arange(len(X)), 3):
        again = np.repeat(rows, WEIGHTS[rows])
        weighted.partial_fit(X[rows], FEW[rows], classes=[0, 1], sample_weight=WEIGHTS[rows])
        repeated.partial_fit(X[again], FEW[again], classes=[0, 1])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


@pytest.mark.slow
def test_weights_of_an_ensemble_are_those_of_its_members() -> None:
    model = WESSLART(2, mapping="evidence", shuffle=False, random_state=0)
    weighted = clone(model).fit(X, FEW, sample_weight=WEIGHTS)
    repeated = clone(model).fit(X[AGAIN], FEW[AGAIN])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-9)


def test_equal_weights_change_only_the_ridge() -> None:
    once = clone(EVIDENCE).fit(X, FEW)
    same = clone(EVIDENCE).fit(X, FEW, sample_weight=np.ones(len(Y)))
    np.testing.assert_array_equal(once.predict_proba(X), same.predict_proba(X))


def test_a_sample_of_little_weight_counts_for_little() -> None:
    data, target = load_iris(return_X_y=True)
    wrong = np.arange(150) % 10 == 0
    noisy = np.where(wrong, (target + 1) % 3, target)
    few = np.where(np.arange(150) % 2 == 0, noisy, -1)
    doubtful = np.where(wrong, 0.01, 1.0)
    plain = AutoSSLART(random_state=0).fit(data, few)
    weighted = AutoSSLART(random_state=0).fit(data, few, sample_weight=doubtful)
    assert weighted.predict_proba(data)[np.arange(150), target].mean() > (
        plain.predict_proba(data)[np.arange(150), target].mean() + 0.03
    )


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), "inconsistent"),
        (np.ones((len(Y), 1)), "one dimension"),
        (np.full(len(Y), -1.0), "from 0 up"),
        (np.full(len(Y), np.nan), "from 0 up"),
        (np.full(len(Y), np.inf), "finite"),
        (["a"] * len(Y), "numbers"),
        (np.where(FEW >= 0, 0, 1), "zero for every labelled sample"),
    ],
)
def test_weights_that_cannot_be_are_refused(weights: Any, message: str) -> None:
    model = clone(EVIDENCE).fit(X, FEW)
    before = model.predict_proba(X)
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=message):
            learn(X, FEW, sample_weight=weights)
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_boxes_count_samples_so_other_mappings_take_whole_weights_only() -> None:
    for model in (SSLART(), WESSLART(2), SSLART(mapping="one-to-one")):
        for learn in (model.fit, model.partial_fit):
            with pytest.raises(ValueError, match="must be whole numbers unless mapping='evidence'"):
                learn(X, FEW, sample_weight=np.full(len(Y), 0.5))


def readings(seed: int, n_items: int = 40, n_readings: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Several readings of each item, with so much noise that they are not found by themselves; classes are chance."""
    random = np.random.RandomState(seed)
    items = np.repeat(np.arange(n_items), n_readings)
    return (
        random.rand(n_items, 3)[items] + 0.03 * random.normal(size=(len(items), 3)),
        random.randint(2, size=n_items)[items],
        items,
    )


@pytest.mark.parametrize(
    "model",
    [
        AutoSSLART(random_state=0),
        pytest.param(WESSLART(2, mapping="evidence", random_state=0), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_groups_are_left_out_as_a_whole(model: Any) -> None:
    samples, classes, items = readings(0)
    without = view_of(clone(model).fit(samples, classes)).left_out
    grouped = view_of(clone(model).fit(samples, classes, groups=[f"item {item}" for item in items])).left_out
    assert without is not None
    assert grouped is not None
    assert grouped.kind == "given"
    assert grouped.n_labels == 40
    shares = [one.share(one.right).value for one in (grouped, without)]
    assert shares[0] < 0.7 < shares[1] + 0.2  # type: ignore[operator]
    assert len(np.unique(grouped.groups)) == 40


def test_a_group_may_come_in_several_calls() -> None:
    samples, classes, items = readings(1)
    names = pd.Series(items).map("patient {}".format)
    model = AutoSSLART(random_state=0, bounds=(-1, 2))
    for part in (slice(0, None, 2), slice(1, None, 2)):
        model.partial_fit(samples[part], classes[part], groups=names[part])
    left_out = view_of(model).left_out
    assert left_out is not None
    assert left_out.n_labels == 40
    assert model.quality_.accuracy.value < 0.7


def test_groups_and_weights_are_saved_but_not_the_names_of_groups(tmp_path: Any) -> None:
    samples, classes, items = readings(2)
    names = [f"patient {item}" for item in items]
    weights = np.random.RandomState(0).uniform(0.5, 2.0, len(items))
    model = AutoSSLART(random_state=0, class_weight={1: 3.0}).fit(samples, classes, groups=names, sample_weight=weights)
    sslart.save(model, tmp_path / "model.sslart")
    again = sslart.load(tmp_path / "model.sslart")
    np.testing.assert_allclose(again.predict_proba(samples), model.predict_proba(samples), atol=1e-12)
    assert again.quality_.accuracy.value == model.quality_.accuracy.value
    assert b"patient" not in (tmp_path / "model.sslart").read_bytes()
    again.partial_fit(samples[:1], classes[:1], groups=names[:1])
    assert view_of(again).left_out.n_labels == 40  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("groups", "message"), [(["a"], "inconsistent"), ([None] * len(Y), r"missing \(None or NaN\) for \d+ labelled")]
)
def test_groups_that_cannot_be_are_refused(groups: Any, message: str) -> None:
    for model in (AutoSSLART(), SSLART(), WESSLART(2)):
        for learn in (model.fit, model.partial_fit):
            with pytest.raises(ValueError, match=message):
                learn(X, FEW, groups=groups)


def test_held_out_groups_of_an_ensemble_are_held_out_as_a_whole() -> None:
    samples, classes, items = readings(3)
    model = WESSLART(3, validation=0.3, random_state=0).fit(samples, classes, groups=items)
    plain = WESSLART(3, validation=0.3, random_state=0).fit(samples, classes)
    assert model.class_weights_.mean() < plain.class_weights_.mean() - 0.1


def rare(seed: int) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(
        400, 5, n_informative=3, n_redundant=0, weights=[0.92], class_sep=0.7, flip_y=0.02, random_state=seed
    )


@pytest.mark.slow
def test_balanced_classes_are_found_more_often() -> None:
    recalls = []
    for seed in range(3):
        samples, classes = rare(seed)
        few = np.where(np.arange(400) < 100, classes, -1)
        models = [AutoSSLART(random_state=0, class_weight=one).fit(samples, few) for one in (None, "balanced")]
        recalls.append([np.mean(model.predict(samples[100:])[classes[100:] == 1] == 1) for model in models])
    plain, balanced = np.mean(recalls, axis=0)
    assert balanced > plain + 0.1


def test_a_class_weight_is_a_sample_weight_that_counts_in_the_choice_too() -> None:
    samples, classes = rare(0)
    fixed = {"families": ["box"], "bandwidth": 0.25, "ridge": 0.1, "rank_weight": 0.5}
    model = SSLART(mapping="evidence", shuffle=False, random_state=0, **fixed)
    by_sample = clone(model).fit(samples, classes, sample_weight=compute_sample_weight("balanced", classes))
    by_class = clone(model)
    by_class.class_weight = "balanced"
    by_class.fit(samples, classes)
    found = view_of(by_class).members[0].scores(view_of(by_class).members[0].encode(view_of(by_class).read(samples)))
    expected = (
        view_of(by_sample).members[0].scores(view_of(by_sample).members[0].encode(view_of(by_sample).read(samples)))
    )
    assert np.corrcoef(found[:, 1], expected[:, 1])[0, 1] > 0.99


@pytest.mark.parametrize("weight", ["Balanced", {0: 0}, {0: -1}, {0: "much"}, [1, 2]])
def test_class_weights_that_cannot_be_are_refused(weight: Any) -> None:
    with pytest.raises(ValueError, match="class_weight of"):
        AutoSSLART(class_weight=weight).fit(X, FEW)


def test_a_class_that_the_labels_do_not_have_is_named() -> None:
    with pytest.raises(ValueError, match="class_weight names 7"):
        AutoSSLART(class_weight={7: 2}).fit(X, FEW)


def test_fuzzy_artmap_takes_neither() -> None:
    with pytest.raises(TypeError):
        FuzzyARTMAP().fit(X, Y, sample_weight=WEIGHTS)  # type: ignore[call-arg]
