"""Evidence mapping of a network: promises to users who predict, stream, save, and change parameters."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from test_stream import Interrupting, fingerprint
from threadpoolctl import threadpool_info, threadpool_limits

import sslart
from conftest import EVIDENCE, name_of
from sslart import SSLART, AutoSSLART, FuzzyARTMAP
from sslart._art.backend import use_backend
from sslart._mapping.evidence.families import FAMILY_NAMES
from sslart._mapping.evidence.selection import choose, learn_many_labels
from sslart._mapping.model_view import view_of
from test_persistence import at, forged

PLAIN = {"families": ["box"], "bandwidth": 0.25, "ridge": 0.01, "rank_weight": 0.5}
each_model = pytest.mark.parametrize("model", EVIDENCE, ids=name_of)


def plain(**changes: Any) -> SSLART:
    """A model whose settings are fixed, and so quick to learn."""
    return SSLART(mapping="evidence", **{"random_state": 0, **PLAIN, **changes})


def mapping_of(model: Any) -> Any:
    """The evidence mapping of a model."""
    return view_of(model).members[0].mapping


def everything(model: Any, X: Any) -> list[bytes]:
    """All that a model has learnt and predicts, bit for bit."""
    return [*fingerprint(model), model.predict_proba(X).tobytes(), repr(mapping_of(model).mixtures).encode()]


@pytest.fixture
def mixed() -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers and categories with gaps, and a label for some."""
    random = np.random.RandomState(0)
    colour = random.choice(["red", "green", "blue", None], 60)
    frame = pd.DataFrame({"size": random.rand(60), "colour": colour, "on": random.rand(60) < 0.5, "none": np.nan})
    frame.loc[frame.index % 7 == 0, "size"] = np.nan
    return frame, np.where(random.rand(60) < 0.6, (colour == "red").astype(int), -1)


@each_model
def test_the_prediction_is_the_class_of_highest_probability(model: Any, few_labels: Any) -> None:
    X, y = few_labels
    model = clone(model).fit(X, y * 10)
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares > 0).all()
    np.testing.assert_array_equal(model.predict(X), model.classes_[shares.argmax(axis=1)])


@each_model
def test_few_labels_suffice(model: Any, blobs: Any, few_labels: Any) -> None:
    assert clone(model).fit(*few_labels).score(*blobs) > 0.95


def test_probabilities_are_in_the_order_of_the_classes() -> None:
    X = np.array([[0.0], [1.0], [0.5]])
    model = plain(shuffle=False).fit(X, ["c", "a", "b"])  # learnt other order than sorted
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.predict_proba(X).argmax(axis=1).tolist() == [2, 0, 1]
    assert model.predict(X).tolist() == ["c", "a", "b"]


def test_announced_classes_have_a_column_from_the_start() -> None:
    model = plain(bounds=(0, 9)).partial_fit([[1.0], [8.0]], [2, 4], classes=[3, 1, 2, 4])
    shares = model.predict_proba([[1.0], [8.0]])
    assert shares.argmax(axis=1).tolist() == [1, 3]
    assert (shares[:, [0, 2]] == 0.0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


@each_model
@pytest.mark.parametrize("nothing", [None, np.nan], ids=str)
def test_every_way_to_mark_unlabelled_samples_is_the_same(model: Any, nothing: Any, few_labels: Any) -> None:
    X, y = few_labels
    gaps = [nothing if label == -1 else label for label in y.tolist()]
    assert everything(clone(model).fit(X, gaps), X) == everything(clone(model).fit(X, y), X)


@each_model
def test_mixed_columns_and_missing_values(model: Any, mixed: Any) -> None:
    frame, y = mixed
    model = clone(model).fit(frame, y)
    np.testing.assert_allclose(model.predict_proba(frame).sum(axis=1), 1.0)
    assert model.score(frame, y) > 0.9  # the class follows from the colour alone
    assert model.predict(frame.assign(colour="violet")).shape == (60,)


def test_a_stretch_without_categories_may_come_at_any_time(mixed: Any) -> None:
    frame, y = mixed
    gap = pd.DataFrame({"size": [0.3], "colour": [np.nan], "on": [np.nan], "none": [np.nan]})
    model = plain().partial_fit(frame, y).partial_fit(gap, [1])
    later = plain().partial_fit(frame).partial_fit(gap, [1]).partial_fit(frame, y)
    for one in (model, later):
        assert len(mapping_of(one).all_labels()) == (y != -1).sum() + 1
        assert one.score(frame, y) > 0.8


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0]], [7]),
        ([[1.0], [1.0], [1.0]], [7, 7, -1]),
        ([[1.0], [1.0], [1.0]], [0, 1, 1]),
        ([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]], [0, 1, -1]),
        ([[1.0, np.nan], [2.0, np.nan], [3.0, np.nan]], [0, 1, 1]),
        ([[1.0, np.nan], [np.nan, 2.0], [3.0, 1.0]], [0, 1, 1]),
    ],
    ids=["one sample", "one class", "one point", "constant feature", "unknown feature", "gaps"],
)
@each_model
def test_the_smallest_data_can_be_learnt(model: Any, X: Any, y: Any) -> None:
    for learn in (clone(model).fit, clone(model).partial_fit):
        learnt = learn(X, y)
        np.testing.assert_allclose(learnt.predict_proba(X).sum(axis=1), 1.0)
        assert set(learnt.predict(X)) <= set(y)


def test_hundred_classes() -> None:
    X = np.repeat(np.arange(100.0)[:, None], 2, axis=0)
    y = np.repeat(np.arange(100), 2)
    model = plain(vigilance=1.0, bandwidth=0.01).fit(X, y)
    assert model.score(X, y) == 1.0


def test_the_weights_of_the_families_are_known(few_labels: Any) -> None:
    model = AutoSSLART(random_state=0).fit(*few_labels)
    assert set(model.family_weights_) <= set(FAMILY_NAMES)
    assert sum(model.family_weights_.values()) == pytest.approx(1.0)
    assert 0.9 < model.quality_.accuracy.value <= 1.0
    assert plain().fit(*few_labels).family_weights_ == {"box": 1.0}


# --- abstention


@pytest.mark.parametrize("mapping", ["one-to-many", "one-to-one", "evidence"])
def test_samples_of_low_confidence_are_left_without_a_class(mapping: str, blobs: Any) -> None:
    X, y = blobs
    noisy = np.where(np.random.RandomState(0).rand(len(y)) < 0.4, 0, y)
    model = SSLART(0.5, mapping=mapping, random_state=0, **PLAIN).fit(X, noisy)
    free, best = model.predict(X), model.predict_proba(X).max(axis=1)
    limit = float(np.median(best))
    held_back = model.set_params(abstain_below=limit).predict(X)
    np.testing.assert_array_equal(held_back, np.where(best < limit, -1, free))
    np.testing.assert_array_equal(model.set_params(abstain_below=0).predict(X), free)
    assert (model.set_params(abstain_below=1.0).predict(X) == -1).sum() == (best < 1).sum()
    np.testing.assert_array_equal(model.predict_proba(X).max(axis=1), best)


def test_abstention_for_low_confidence_is_none_for_strings() -> None:
    model = plain(abstain_below=1.0).fit([[0.0], [1.0]], ["a", "b"])
    assert model.predict([[0.0]]).tolist() == [None]


def test_evidence_abstains_where_no_label_is_within_the_depth(few_labels: Any) -> None:
    X, y = few_labels
    model = plain(vigilance=0.95).fit(X, y)
    free = model.predict(X)
    shallow = model.set_params(search_depth=1).predict(X)
    abstains = model.apply(X) == -1
    assert 0 < abstains.sum() < len(X)
    np.testing.assert_array_equal(shallow, np.where(abstains, -1, free))


@pytest.mark.parametrize("model", [SSLART(), plain(), AutoSSLART()], ids=name_of)
@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan, "sure", True])
def test_an_impossible_limit_is_refused_before_learning(model: Any, value: Any, blobs: Any) -> None:
    model = clone(model).set_params(abstain_below=value)
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=r"abstain_below of \w+ must be a number in \[0, 1\]"):
            learn(*blobs)
        assert not hasattr(model, "n_features_in_")


# --- streams


@each_model
def test_unlabelled_samples_may_come_before_any_label(model: Any, blobs: Any) -> None:
    X, y = blobs
    model = clone(model).partial_fit(X[:50])
    for method in (model.predict, model.predict_proba):
        with pytest.raises(NotFittedError, match="partial_fit"):
            method(X)
    model.partial_fit(X[50:80], y[50:80])
    assert model.score(X, y) > 0.9


def test_a_new_label_changes_the_prediction_at_that_place_at_once(blobs: Any) -> None:
    X, y = blobs
    model = AutoSSLART(random_state=0).partial_fit(X, y)
    corner = np.array([[0.0, 12.0, 0.0]])  # far from all that was learnt
    other = (int(model.predict(corner)[0]) + 1) % 3
    before = model.predict_proba(corner)[0]
    model.partial_fit(corner, [other])
    assert model.predict_proba(corner)[0, other] > before[other] + 0.3
    assert model.predict(corner)[0] == other
    assert model.score(X, y) > 0.9


def test_a_new_class_is_predicted_as_soon_as_it_is_learnt(blobs: Any) -> None:
    X, y = blobs
    model = plain().partial_fit(X, y)
    model.partial_fit([[30.0, 30.0, 30.0]], [9])
    assert model.predict([[30.0, 30.0, 30.0]]).tolist() == [9]
    assert model.predict_proba(X).shape == (120, 4)
    assert model.score(X, y) > 0.9


def test_unlabelled_samples_change_the_boxes_that_contribute(blobs: Any) -> None:
    X, y = blobs
    model = plain(bounds=(-3, 12)).partial_fit(X[:30], y[:30])
    middle = (X[1:] + X[:-1]) / 2
    before = model.predict_proba(middle)
    mixtures = mapping_of(model).mixtures
    model.partial_fit(X[30:])
    assert mapping_of(model).mixtures == mixtures
    assert np.abs(model.predict_proba(middle) - before).max() > 1e-3
    fresh = plain(bounds=(-3, 12)).partial_fit(X, np.append(y[:30], np.full(90, -1)))
    np.testing.assert_allclose(model.predict_proba(X), fresh.predict_proba(X), atol=1e-9)


def test_with_settings_fixed_and_bounds_the_cut_does_not_matter(few_labels: Any) -> None:
    X, y = few_labels
    whole = plain(bounds=(-3, 12)).partial_fit(X, y)
    for length in (1, 7, 50):
        model = plain(bounds=(-3, 12))
        for start in range(0, len(X), length):
            model.partial_fit(X[start : start + length], y[start : start + length])
        np.testing.assert_array_equal(model.predict_proba(X), whole.predict_proba(X))


def test_settings_are_chosen_anew_at_certain_numbers_of_labels(blobs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = blobs
    chosen: list[int] = []

    def noted(labelled: Any, fixed: Any, nodes: Any) -> Any:
        chosen.append(len(labelled.classes))
        return choose(labelled, fixed, nodes)

    monkeypatch.setattr("sslart._mapping.evidence.mapping.choose", noted)
    model = AutoSSLART(random_state=0).fit(X[:30], y[:30])
    for start in range(30, 100):
        model.partial_fit(X[start : start + 1], y[start : start + 1])
    assert chosen == [30, 32, 48, 64]
    chosen.clear()
    AutoSSLART(random_state=0).partial_fit(X[:50], y[:50]).partial_fit(X[50:100], y[50:100])
    assert chosen == [48, 64]  # the last of each call: nobody could predict with the others


@pytest.mark.parametrize("length", [1, pytest.param(7, marks=pytest.mark.slow), 30])
def test_a_model_that_chooses_all_does_not_depend_on_how_its_stream_is_cut(length: int, few_labels: Any) -> None:
    X, y = few_labels
    y = np.where(np.cumsum(y >= 0) <= 5, np.minimum(y, 0), y)  # one class at first
    whole = AutoSSLART(bounds=(-3, 12), random_state=0).partial_fit(X, y)
    model = AutoSSLART(bounds=(-3, 12), random_state=0)
    for start in range(0, len(X), length):
        model.partial_fit(X[start : start + length], y[start : start + length])
    assert everything(model, X) == everything(whole, X)


@pytest.mark.parametrize("length", [1, 60, 120])
def test_many_labels_are_learnt_once_however_often_settings_are_chosen(
    length: int, blobs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = blobs
    monkeypatch.setattr("sslart._mapping.evidence.selection.MAX_LABELS", 20)
    whole = AutoSSLART(bounds=(-3, 12), random_state=0).partial_fit(X, y)
    model, n_learnt = AutoSSLART(bounds=(-3, 12), random_state=0), []

    def counted(labelled: Any, mixtures: Any, nodes: Any) -> Any:
        n_learnt.append(len(labelled.classes))
        return learn_many_labels(labelled, mixtures, nodes)

    monkeypatch.setattr("sslart._mapping.evidence.selection.learn_many_labels", counted)
    for start in range(0, len(X), length):
        model.partial_fit(X[start : start + length], y[start : start + length])
    assert n_learnt == ([24, 32, 48, 64] if length == 1 else [])  # where a call ends with a choice
    assert everything(model, X) == everything(whole, X)
    assert n_learnt[-1] == 64


def test_the_users_settings_hold_as_soon_as_there_is_a_second_class() -> None:
    X = np.arange(20.0)[:, None]
    model = plain(bandwidth=0.4).partial_fit(X, ["a"] * 20).partial_fit([[30.0]], ["b"])
    assert [spec.bandwidth for one in mapping_of(model).mixtures for spec in one.specs] == [0.4]
    assert model.predict([[0.0], [30.0]]).tolist() == ["a", "b"]


def test_the_number_of_labels_kept_is_bounded(blobs: Any) -> None:
    X, y = blobs
    model = plain(max_labels=25, vigilance=0.8)
    for _ in range(5):
        model.partial_fit(X, y)
        assert len(mapping_of(model).reservoir) <= 25
        assert len(mapping_of(model).recent.labels) <= 12
    assert mapping_of(model).recent.n_labels == 600
    assert model.score(X, y) > 0.9
    size, n_nodes = len(pickle.dumps(model)), model.n_nodes_
    for _ in range(5):
        model.partial_fit(X, y)
    assert model.n_nodes_ == n_nodes
    assert len(pickle.dumps(model)) < 1.5 * size


@each_model
@pytest.mark.parametrize(
    ("X", "y"),
    [([[0.0, np.inf, 0.0]], [0]), ([[0.0, 0.0]], [0]), ([[0.0, 0.0, 0.0]], ["other kind"]), ([[np.nan] * 3], [0])],
)
def test_refused_call_leaves_the_evidence_as_it_was(model: Any, X: Any, y: Any, few_labels: Any) -> None:
    model = clone(model).fit(*few_labels)
    before, names = everything(model, few_labels[0]), sorted(vars(model))
    with pytest.raises(ValueError):
        model.partial_fit(X, y)
    assert everything(model, few_labels[0]) == before
    assert sorted(vars(model)) == names


@pytest.mark.parametrize("after", [0, 5])
def test_interrupted_call_leaves_the_evidence_as_it_was(after: int, few_labels: Any) -> None:
    X, y = few_labels
    model = plain().fit(X, y)
    before = everything(model, X)
    for learn in (model.partial_fit, model.fit):
        with use_backend(Interrupting(after)), pytest.raises(KeyboardInterrupt):
            learn(X * 1.5, np.where(y == 0, 3, y))
        assert everything(model, X) == before


def test_a_choice_that_fails_takes_the_boxes_back_too(few_labels: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = few_labels
    model = plain().fit(X, y)
    before = everything(model, X)

    def out_of_memory(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("sslart._mapping.evidence.mapping.choose", out_of_memory)
    for learn in (model.partial_fit, model.fit):
        with pytest.raises(MemoryError):
            learn(np.vstack([X, X * 1.5]), np.append(y, y))
        assert everything(model, X) == before


# --- changes of parameters


def test_a_model_fitted_with_another_mapping_cannot_turn_to_evidence(few_labels: Any) -> None:
    X, y = few_labels
    model = SSLART(random_state=0).fit(X, y).set_params(mapping="evidence")
    before = fingerprint(model)
    with pytest.raises(ValueError, match=r"another mapping.*fit it again with mapping='evidence'"):
        model.partial_fit(X, y)
    assert fingerprint(model) == before
    assert model.fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_labels_kept_before_another_mapping_learnt_do_not_come_back(method: str, few_labels: Any) -> None:
    X, y = few_labels
    model = plain().fit(X, y).set_params(mapping="one-to-many")
    getattr(model, method)(X[::-1].copy(), y)
    assert "evidence" not in model.__sslart_state__()
    with pytest.raises(ValueError, match="another mapping"):
        model.set_params(mapping="evidence").partial_fit(X, y)


BAD: dict[str, list[Any]] = {
    "families": [[], "boxes", ["box", "tree"], 5, [None], [["box", "linear"]]],
    "bandwidth": [0, -1, np.nan, np.inf, "wide", True, 1e300, 1e-300],
    "ridge": [0, -1, np.nan, np.inf, "high", True, 1e300, 1e-300],
    "rank_weight": [-0.1, 1.1, np.nan, "half", True],
    "max_labels": [0, -1, 1.5, None, "all", True],
}


@pytest.mark.parametrize("mapping", ["evidence", "one-to-many"])
@pytest.mark.parametrize(("name", "value"), [(name, value) for name in BAD for value in BAD[name]], ids=str)
def test_bad_parameters_are_refused_with_the_cure(name: str, value: Any, mapping: str, blobs: Any) -> None:
    model = SSLART(mapping=mapping).set_params(**{name: value})
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=rf"{name} of SSLART must be"):
            learn(*blobs)
        assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize(
    "families", ["box", ("box", "linear"), np.array(["box", "linear"]), ["linear", "box"]], ids=str
)
def test_families_may_be_given_as_one_likes(families: Any, few_labels: Any) -> None:
    assert set(plain(families=families).fit(*few_labels).family_weights_) <= {"box", "linear"}


@pytest.mark.parametrize("bandwidth", [1e-6, 1e6])
@pytest.mark.parametrize("ridge", [1e-6, 1e6])
def test_extreme_settings_do_not_break(bandwidth: float, ridge: float, few_labels: Any) -> None:
    X, y = few_labels
    for families in (["box"], None):
        model = plain(bandwidth=bandwidth, ridge=ridge, families=families).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


# --- copies, files, threads


@each_model
def test_loaded_model_predicts_and_learns_on_as_if_never_saved(model: Any, few_labels: Any, tmp_path: Path) -> None:
    X, y = few_labels
    model = clone(model).fit(X[:60], y[:60])
    sslart.save(model, tmp_path / "model")
    loaded = sslart.load(tmp_path / "model")
    assert type(loaded) is type(model)
    assert everything(loaded, X) == everything(model, X)
    assert loaded.quality_.accuracy.value == model.quality_.accuracy.value
    assert loaded.family_weights_ == model.family_weights_
    for rows in (slice(60, 63), slice(63, None)):  # without and with a new choice of settings
        for one in (model, loaded):
            one.partial_fit(X[rows] * 1.5, y[rows])
        assert everything(loaded, X) == everything(model, X)


def test_everything_a_model_may_hold_comes_back(mixed: Any, tmp_path: Path) -> None:
    frame, y = mixed
    model = plain(max_labels=20, families=("box", "linear"), random_state=np.random.RandomState(4)).fit(frame, y)
    sslart.save(model, tmp_path / "model")
    loaded = sslart.load(tmp_path / "model")
    assert everything(loaded, frame) == everything(model, frame)
    for one in (model, loaded):
        one.partial_fit(frame.iloc[::-1], y[::-1])
    assert everything(loaded, frame) == everything(model, frame)


def test_a_model_without_labels_comes_back(blobs: Any, tmp_path: Path) -> None:
    X, y = blobs
    model = plain().partial_fit(X[:50])
    sslart.save(model, tmp_path / "model")
    loaded = sslart.load(tmp_path / "model")
    assert everything(loaded.partial_fit(X, y), X) == everything(model.partial_fit(X, y), X)


HOSTILE = {
    "no reservoir": at("state", "evidence", "reservoir")(None),
    "no evidence": at("state", "evidence")(None),
    "no mixtures": at("state", "evidence", "mixtures")([]),
    "mixtures of no kind": at("state", "evidence", "mixtures")("box"),
    "unknown family": at("state", "evidence", "mixtures", 0, "specs")([["os.system", 0.5, 0.25]]),
    "family of users": at("state", "evidence", "mixtures", 0, "specs")([["propagated", 0.5, 0.25]]),
    "spec too short": at("state", "evidence", "mixtures", 0, "specs")([["box", 0.5]]),
    "no specs": at("state", "evidence", "mixtures", 0, "specs")([]),
    "spread in a pair": at("state", "evidence", "mixtures", 0, "specs")([["box", 0.5, 0.25], ["spread", 0.0, 0.9]]),
    "bandwidth of nothing": at("state", "evidence", "mixtures", 0, "specs")([["box", 0.5, 0.0]]),
    "bandwidth a string": at("state", "evidence", "mixtures", 0, "specs")([["box", 0.5, "wide"]]),
    "reach without end": at("state", "evidence", "mixtures", 0, "specs")([["carried", 0.0, 1.0]]),
    "rank beyond": at("state", "evidence", "mixtures", 0, "specs")([["box", 7.0, 0.25]]),
    "ridge below zero": at("state", "evidence", "mixtures", 0, "ridge")(-1.0),
    "weight not a number": at("state", "evidence", "mixtures", 0, "weight")({"$float": "nan"}),
    "seed below zero": at("state", "evidence", "settings", "seed")(-1),
    "seed of no kind": at("state", "evidence", "settings", "seed")("0"),
    "families of nowhere": at("state", "evidence", "settings", "families")(["os.system"]),
    "a class weight below zero": at("state", "evidence", "settings", "class_weight")({"$dict": [[0, -1]]}),
    "swapped arrays": at("state", "evidence", "reservoir", "values")({"$array": 0}),
    "codes that are no array": at("state", "evidence", "reservoir", "codes")("..."),
    "count of labels too low": at("state", "evidence", "reservoir", "n_seen")(1),
    "numeric column with categories": at("state", "evidence", "reservoir", "categories")({"0": ["x"] * 30}),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: Any) -> bytes:
    path = tmp_path_factory.mktemp("saved") / "model"
    random = np.random.RandomState(0)
    sslart.save(plain().fit(random.rand(30, 3), np.arange(30) % 3), path)
    return path.read_bytes()


@pytest.mark.parametrize("trick", HOSTILE)
def test_hostile_file_is_refused(trick: str, saved: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(saved)
    assert sslart.load(path).predict([[0.1, 0.2, 0.3]]).shape == (1,)
    with pytest.raises(ValueError, match="model"):
        sslart.load(forged(path, HOSTILE[trick]))


@each_model
def test_results_do_not_depend_on_the_number_of_threads(model: Any, few_labels: Any) -> None:
    X, y = few_labels
    many = np.vstack([X] * 5) + np.arange(600)[:, None] / 1e4
    model = clone(model).fit(X, y)
    alone = [model.predict_proba(many).tobytes(), model.predict(many).tobytes()]
    for n_jobs in (1, 2, 4, -1):
        model.set_params(n_jobs=n_jobs)
        assert [model.predict_proba(many).tobytes(), model.predict(many).tobytes()] == alone


def test_one_sample_gets_the_prediction_it_gets_among_many(few_labels: Any) -> None:
    X, y = few_labels
    X = np.rint(X)  # on a lattice, where samples lie equally far from boxes
    model = AutoSSLART(random_state=0).fit(X, y)
    alone = np.vstack([model.predict_proba(sample[None]) for sample in X])
    np.testing.assert_array_equal(alone, model.predict_proba(X))


def test_results_do_not_depend_on_the_threads_of_linear_algebra() -> None:
    random = np.random.RandomState(0)
    X = random.rand(400, 6)
    y = (X[:, :2].sum(axis=1) * 2).astype(int)
    found, threads = [], []
    for limit in (1, 2):
        with threadpool_limits(limit, user_api="blas"):
            threads.append(max(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"))
            model = AutoSSLART(random_state=0).fit(X, np.where(np.arange(400) % 2, y, -1))
            found.append(everything(model, X))
            assert max(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas") == threads[-1]
    assert found[0] == found[1]
    assert threads == [1, 2]


@each_model
def test_copies_are_equal_and_independent(model: Any, few_labels: Any) -> None:
    X, y = few_labels
    model = clone(model).fit(X, y)
    before = everything(model, X)
    twin = pickle.loads(pickle.dumps(model))
    assert everything(twin, X) == before
    twin.partial_fit(X + 3, y)
    assert everything(model, X) == before
    fresh = clone(model)
    assert sorted(vars(fresh)) == sorted(fresh.get_params())
    assert everything(fresh.fit(X, y), X) == before


def test_refit_forgets_the_labels_of_before(few_labels: Any) -> None:
    X, y = few_labels
    model = plain().fit(X * 100, y + 5).partial_fit(X * 300, y)
    assert everything(model.fit(X[:, :2], y), X[:, :2]) == everything(plain().fit(X[:, :2], y), X[:, :2])


def test_the_seed_settles_everything(few_labels: Any) -> None:
    X, y = few_labels
    found = [everything(AutoSSLART(random_state=seed).fit(X, y), X) for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]


def test_other_mappings_predict_by_the_best_box(few_labels: Any) -> None:
    X, y = few_labels
    model = SSLART(0.8, random_state=0).fit(X, y)
    assert not view_of(model).uses_evidence
    assert "evidence" not in model.__sslart_state__()
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))
    assert FuzzyARTMAP().fit(X[y >= 0], y[y >= 0]).predict(X).shape == y.shape
