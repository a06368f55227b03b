"""WESSLART: members, weights and votes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from test_stream import fingerprint

import sslart
from sslart import SSLART, WESSLART
from sslart._mapping.ensemble_votes import VotingRecord
from sslart._mapping.model_view import view_of


def test_members_differ_by_their_sequence_only(few_labels: Any) -> None:
    X, y = few_labels
    ensemble = WESSLART(4, vigilance=0.8, random_state=0).fit(X, y)
    parameters = [member.get_params() for member in ensemble.estimators_]
    assert len({p.pop("random_state") for p in parameters}) == 4
    assert all(p == parameters[0] for p in parameters)
    assert len({member.lower_.tobytes() for member in ensemble.estimators_}) == 4
    for member in ensemble.estimators_:
        alone = clone(member).fit(X, y)
        np.testing.assert_array_equal(alone.lower_, member.lower_)
        np.testing.assert_array_equal(alone.predict(X), member.predict(X))
    assert len({member.lower_.tobytes() for member in WESSLART(3, shuffle=False).fit(X, y).estimators_}) == 1


def test_weights_are_the_success_on_each_class(few_labels: Any) -> None:
    X, y = few_labels
    ensemble = WESSLART(3, vigilance=0.3, random_state=0).fit(X, y)
    for member, weights in zip(ensemble.estimators_, ensemble.class_weights_, strict=True):
        for index, label in enumerate(ensemble.classes_):
            rows = y == label
            assert weights[index] == (member.predict(X[rows]) == label).mean()


def test_weights_may_come_from_a_validation_set(few_labels: Any, blobs: Any) -> None:
    X, y = few_labels
    X_val, y_val = blobs
    ensemble = WESSLART(3, vigilance=0.3, random_state=0).fit(X, y, validation_set=(X_val[:30], y_val[:30]))
    rows = y_val[:30] == 1
    expected = [(member.predict(X_val[:30][rows]) == 1).mean() for member in ensemble.estimators_]
    assert ensemble.class_weights_[:, 1].tolist() == expected
    # unlabelled samples and classes that no member knows do not count
    odd = y_val[:30].copy()
    odd[odd == 2] = -1
    odd[0] = 99
    ensemble.fit(X, y, validation_set=(X_val[:30], odd))
    assert ensemble.class_weights_.shape == (3, 3)
    np.testing.assert_allclose(
        ensemble.class_weights_[:, 2],
        ensemble._model.record.successes.sum(axis=1) / ensemble._model.record.trials.sum(),
    )


@pytest.mark.parametrize("bad", [5, ([[1.0]],), ([[1.0, 2.0, 3.0]], [-1]), ([[1.0]], [0])])
def test_bad_validation_set_is_refused(bad: Any, few_labels: Any) -> None:
    model = WESSLART(2)
    with pytest.raises(ValueError, match=r"validation_set|features"):
        model.fit(*few_labels, validation_set=bad)
    assert not hasattr(model, "estimators_")


def test_held_out_share_is_stratified_and_learnt_by_no_member(blobs: Any) -> None:
    X, y = blobs
    ensemble = WESSLART(3, validation=0.25, random_state=0).fit(X, y)
    assert ensemble._model.record.trials.tolist() == [10, 10, 10]
    assert [member.counts_.sum() for member in ensemble.estimators_] == [90, 90, 90]
    with pytest.raises(ValueError, match="to spare one"):
        WESSLART(validation=0.1).fit(X, np.where(np.arange(120) < 6, y, -1))


def test_majority_counts_heads(few_labels: Any) -> None:
    X, y = few_labels
    ensemble = WESSLART(5, voting="majority", vigilance=0.3, random_state=0).fit(X, y)
    votes = np.array([member.predict(X) for member in ensemble.estimators_])
    expected = [np.bincount(column, minlength=3).argmax() for column in votes.T]
    np.testing.assert_array_equal(ensemble.predict(X), expected)
    np.testing.assert_allclose(ensemble.predict_proba(X)[:, 1], (votes == 1).mean(axis=0))


def test_members_that_abstain_cast_no_vote(few_labels: Any) -> None:
    X, y = few_labels
    ensemble = WESSLART(3, vigilance=0.95, search_depth=1, random_state=0).fit(X, y)
    nodes = ensemble.apply(X)
    assert nodes.shape == (len(X), 3)
    predicted = ensemble.predict(X)
    np.testing.assert_array_equal(predicted == -1, (nodes == -1).all(axis=1))
    assert 0 < (predicted == -1).sum() < len(X)
    lone = (nodes >= 0).sum(axis=1) == 1
    assert lone.any()
    for i in np.flatnonzero(lone):
        (voter,) = np.flatnonzero(nodes[i] >= 0)
        assert predicted[i] == ensemble.estimators_[voter].predict(X[i : i + 1])[0]
    np.testing.assert_allclose(ensemble.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("mapping", ["one-to-many", "one-to-one", pytest.param("evidence", marks=pytest.mark.slow)])
def test_an_ensemble_abstains_where_fewer_members_vote_than_the_quorum(
    mapping: str, few_labels: Any, tmp_path: Path
) -> None:
    X, y = few_labels
    model = WESSLART(5, vigilance=0.95, mapping=mapping, search_depth=1, random_state=0).fit(X, y)
    one_suffices, n_votes = model.predict(X), (model.apply(X) >= 0).sum(axis=1)
    proba = model.predict_proba(X)
    assert len(set(n_votes.tolist())) > 3
    for quorum in range(1, 6):
        model.set_params(quorum=quorum)
        np.testing.assert_array_equal(model.predict(X), np.where(n_votes >= quorum, one_suffices, -1))
        np.testing.assert_array_equal(model.predict_proba(X), proba)
    sslart.save(model, tmp_path / "model.sslart")
    np.testing.assert_array_equal(sslart.load(tmp_path / "model.sslart").predict(X), model.predict(X))


@pytest.mark.parametrize("quorum", [0, 4, 1.5, None])
def test_a_quorum_that_makes_no_sense_is_refused(quorum: Any, few_labels: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="quorum"):
        WESSLART(3, quorum=quorum).fit(*few_labels)


def test_the_prediction_is_the_class_of_highest_probability(few_labels: Any) -> None:
    X, y = few_labels
    for voting in ("weighted", "majority"):
        ensemble = WESSLART(7, voting=voting, vigilance=0.3, random_state=0).fit(X, y)
        np.testing.assert_array_equal(ensemble.predict_proba(X).argmax(axis=1), ensemble.predict(X))


def test_stream_weights_come_from_predictions_made_before_learning() -> None:
    X = np.array([[0.0], [1.0], [0.0], [1.0], [0.9]])
    y = np.array(["a", "b", "a", "b", "a"])
    ensemble = WESSLART(2, vigilance=0.9, bounds=(0, 1)).partial_fit(X, y)
    # a: unknown at first, right at the third, taken for b at the fifth; b: taken for a at first, then right
    np.testing.assert_allclose(ensemble.class_weights_, [[1 / 3, 1 / 2]] * 2)


def test_streams_from_the_first_call_have_members_that_differ(blobs: Any) -> None:
    X, y = blobs
    ensemble = WESSLART(3, vigilance=0.8, random_state=0).partial_fit(X[:60], y[:60])
    assert len({member.lower_.tobytes() for member in ensemble.estimators_}) == 3
    with_bounds = WESSLART(3, vigilance=0.8, bounds=(-5, 15)).partial_fit(X[:60], y[:60])
    alone = SSLART(0.8, bounds=(-5, 15)).partial_fit(X[:60], y[:60])
    np.testing.assert_array_equal(with_bounds.estimators_[2].lower_, alone.lower_)


def test_pooled_attributes_are_those_of_the_members(few_labels: Any) -> None:
    ensemble = WESSLART(3, random_state=0).fit(*few_labels)
    assert ensemble.n_nodes_ == sum(member.n_nodes_ for member in ensemble.estimators_) == len(ensemble.lower_)
    assert ensemble.n_nodes_stage1_ == sum(member.n_nodes_stage1_ for member in ensemble.estimators_)
    assert ensemble.n_labelled_nodes_ == (ensemble.node_labels_ != -1).sum()
    assert ensemble.counts_.sum() == ensemble.support_.sum() - 3 * (few_labels[1] == -1).sum()


def test_members_follow_the_parameters_of_the_ensemble(few_labels: Any, tmp_path: Any) -> None:
    X, y = few_labels
    ensemble = WESSLART(3, vigilance=0.95, random_state=0).fit(X, y).set_params(vigilance=0.2, choice=10.0)
    sslart.save(ensemble, tmp_path / "model")
    loaded = sslart.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), ensemble.predict(X))
    for model in (ensemble, loaded):
        model.partial_fit(X * 2)
    assert loaded.n_nodes_ == ensemble.n_nodes_
    assert loaded.estimators_[0].vigilance == 0.2


def test_validation_set_of_another_kind_is_refused(few_labels: Any) -> None:
    X, y = few_labels
    with pytest.raises(ValueError, match="several kinds"):
        WESSLART(2).fit(X, y, validation_set=(X, ["a"] * len(X)))
    with pytest.raises(ValueError, match="class that y has"):
        WESSLART(2).fit(X, y, validation_set=(X, [77] * len(X)))


def test_validation_set_may_have_minus_one_as_a_class() -> None:
    X, y = np.array([[0.0], [0.1], [1.0], [0.9]]), [-1, -1, 1, 1]
    with pytest.warns(UserWarning, match="two classes"):
        ensemble = WESSLART(2, random_state=0).fit(X, y, validation_set=(X[:2], [-1, -1]))
    assert ensemble.class_weights_.tolist() == [[1.0, 1.0]] * 2


def test_interrupt_after_learning_takes_the_members_back(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.RandomState(0)
    X, y = random.rand(60, 2), random.choice(["b", "c", "d"], 60)
    ensemble = WESSLART(2, vigilance=0.9, random_state=0).fit(X, y)
    before = fingerprint(ensemble), ensemble.predict(X).tolist()

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(VotingRecord, "of_right", interrupt)
    with pytest.raises(KeyboardInterrupt):
        ensemble.partial_fit(random.rand(40, 2) * 3, ["alpha"] * 40)
    assert (fingerprint(ensemble), ensemble.predict(X).tolist()) == before


EVIDENCE = {"mapping": "evidence", "families": ["box"], "bandwidth": 0.25, "ridge": 0.01, "random_state": 0}


def test_with_evidence_members_add_up_their_probabilities_with_their_weights(few_labels: Any) -> None:
    X, y = few_labels
    model = WESSLART(3, **EVIDENCE).fit(X, y)
    probas = np.array([member.predict_proba(X) for member in model.estimators_])
    expected = np.einsum("mnc,mc->nc", probas, model.class_weights_)
    np.testing.assert_allclose(model.predict_proba(X), expected / expected.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(model.predict(X), model.classes_[expected.argmax(axis=1)])
    model.voting = "majority"
    np.testing.assert_allclose(model.predict_proba(X), probas.mean(axis=0))


def test_with_evidence_weights_are_the_leave_one_out_success_per_class(few_labels: Any) -> None:
    X, y = few_labels
    noisy = np.where((np.arange(len(y)) % 3 == 0) & (y >= 0), 1 - np.minimum(y, 1), y)
    model = WESSLART(2, **EVIDENCE).fit(X, noisy)
    for member, weights in zip(model.estimators_, model.class_weights_, strict=True):
        view = view_of(member)
        solution = view.members[0].mapping.solution
        right = solution.left_out.argmax(axis=1) == solution.classes
        assert view.classes.tolist() == model.classes_.tolist()
        expected = [right[solution.classes == index].mean() for index in range(len(model.classes_))]
        np.testing.assert_allclose(weights, expected)
    assert model.class_weights_.min() < 1


def test_an_ensemble_with_evidence_streams_saves_and_abstains(few_labels: Any, tmp_path: Path) -> None:
    X, y = few_labels
    model = WESSLART(2, **EVIDENCE).fit(X[::2], y[::2]).partial_fit(X[1::2], y[1::2])
    sslart.save(model, tmp_path / "model")
    again = sslart.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    best = model.predict_proba(X).max(axis=1)
    limit = float(np.median(best))
    np.testing.assert_array_equal(model.set_params(abstain_below=limit).predict(X) == -1, best < limit)
    strict = model.set_params(abstain_below=None, search_depth=1).predict(X) == -1
    votes = np.array([member.set_params(search_depth=1).predict(X) for member in model.estimators_])
    np.testing.assert_array_equal(strict, (votes == -1).all(axis=0))


@pytest.mark.parametrize("wrong", [{"validation": 0.3}, {"abstain_below": 2}, {"families": ["boxes"]}])
def test_an_ensemble_with_evidence_refuses_what_makes_no_sense(wrong: dict[str, Any], few_labels: Any) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        WESSLART(2, **{**EVIDENCE, **wrong}).fit(*few_labels)
