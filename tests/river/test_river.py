"""In river: its own checks, features that come and go, and streams of real data."""

from __future__ import annotations

import copy
import importlib
import pickle
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
import pytest
import river.checks
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from test_stream import fingerprint

import sslart
from conftest import EVIDENCE
from river import anomaly, compose, datasets, evaluate, metrics, preprocessing, stream
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP
from sslart._mapping.model_view import view_of
from sslart.river import NoveltyDetector, StreamClassifier

MODELS = [FuzzyARTMAP(), SSLART(), EVIDENCE[0], WESSLART(2, random_state=0)]


def phishing(n: int) -> list[tuple[dict[str, Any], Any]]:
    return list(datasets.Phishing().take(n))


def learnt(model: Any, samples: Any) -> Any:
    for x, y in samples:
        model.learn_one(x, y)
    return model


def encoder_of(model: Any) -> Any:
    return view_of(model.to_sklearn()).members[0].encoder


def checks_of(model: Any, samples: Callable[[], Any] | None = None) -> Iterator[Any]:
    """The checks that river makes of a model, on its own data, of which it takes much for one check, or on others."""
    usual = river.checks._yield_datasets
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            river.checks,
            "_yield_datasets",
            lambda model, **much: [samples()] if samples else usual(model, **dict.fromkeys(much, 2)),
        )
        for check in river.checks.yield_checks(model):
            yield pytest.param(model, check, id=f"{type(model.estimator).__name__}-{check.__name__}")


@pytest.mark.parametrize(
    ("model", "check"),
    [
        *checks_of(StreamClassifier()),
        # river's own data for detectors are a download; these come with it
        *checks_of(NoveltyDetector(), lambda: datasets.Shuttle().take(300)),
    ],
)
def test_passes_the_checks_of_river(model: Any, check: Any) -> None:
    assert not model._unit_test_skips()
    check(model.clone())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "check"), list(checks_of(StreamClassifier(EVIDENCE[0]), lambda: datasets.Phishing().take(26)))
)
def test_evidence_passes_the_checks_of_river(model: Any, check: Any) -> None:
    check(model.clone())


@pytest.mark.slow
def test_passes_the_checks_of_river_on_all_their_data() -> None:
    river.checks.check_estimator(StreamClassifier())


def test_without_river_the_error_names_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "river"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "sslart.river")
    with pytest.raises(ImportError, match=r'pip install "river>='):
        importlib.import_module("sslart.river")


def test_learns_what_partial_fit_learns() -> None:
    samples = phishing(200)
    names = sorted(samples[0][0])
    frame = pd.DataFrame([x for x, _ in samples])[names].astype(float)
    y = [y for _, y in samples]
    plain = SSLART(mapping="one-to-one").partial_fit(frame[:1], y[:1]).partial_fit(frame[1:], y[1:])
    model = learnt(StreamClassifier(), samples)
    assert fingerprint(model.to_sklearn()) == fingerprint(plain)
    assert model.to_sklearn().feature_names_in_.tolist() == names
    assert model.predict_many(frame).tolist() == plain.predict(frame).tolist()
    np.testing.assert_array_equal(model.predict_proba_many(frame), plain.predict_proba(frame))
    assert model.predict_proba_one(samples[3][0]) == dict(
        zip(plain.classes_.tolist(), plain.predict_proba(frame[3:4])[0], strict=True)
    )


@pytest.mark.parametrize("estimator", MODELS, ids=lambda estimator: type(estimator).__name__)
def test_new_feature_is_one_that_was_missing_before(estimator: Any) -> None:
    late = ["https", "anchor_from_other_domain"]
    samples = [
        ({key: value for key, value in x.items() if number >= 40 or key not in late}, y)
        for number, (x, y) in enumerate(phishing(80))
    ]
    model = learnt(StreamClassifier(estimator), samples)
    named = model.to_sklearn()
    assert named.feature_names_in_.tolist()[-2:] == sorted(late)
    frame = pd.DataFrame([x for x, _ in samples])[named.feature_names_in_.tolist()].astype(float)
    y = [y for _, y in samples]
    plain = clone(estimator).partial_fit(frame[:1], y[:1]).partial_fit(frame[1:], y[1:])
    assert np.isnan(plain.lower_[0, -2:]).all()
    assert fingerprint(named) == fingerprint(plain)
    np.testing.assert_array_equal(model.predict_proba_many(frame), plain.predict_proba(frame))


@pytest.mark.parametrize(
    "estimator", [SSLART(), EVIDENCE[0], WESSLART(2, random_state=0)], ids=lambda e: type(e).__name__
)
def test_categories_may_be_new_in_a_new_feature(estimator: Any) -> None:
    samples = [
        ({"size": 1.0}, "no"),
        ({"size": 2.0, "colour": "red"}, "yes"),
        ({"on": True, "colour": "blue", "size": None}, "yes"),
        ({"on": np.bool_(False), "size": float("nan"), "colour": "red"}, "no"),
        ({"colour": None, "size": 4}, None),
    ]
    model = learnt(StreamClassifier(clone(estimator).set_params(vigilance=1.0)), samples)
    named = model.to_sklearn()
    assert named.coded_feature_names_ == ["size", "colour=red", "colour=blue", "on=True", "on=False"]

    frame = pd.DataFrame([x for x, _ in samples])
    typed = frame.astype({"colour": "category", "on": "category"})
    y = [y for _, y in samples]
    plain = clone(model.estimator).partial_fit(typed[:1], y[:1]).partial_fit(typed[1:], y[1:])
    assert fingerprint(named) == fingerprint(plain)
    assert [model.predict_one(x) for x, _ in samples] == plain.predict(typed).tolist()

    many = model.clone()
    many.learn_many(frame, pd.Series(y))
    assert fingerprint(many.to_sklearn()) == fingerprint(named)
    assert many.predict_many(frame).tolist() == plain.predict(typed).tolist()


@pytest.mark.parametrize(
    "model", [StreamClassifier(SSLART(0.8, half_life=30)), NoveltyDetector(FuzzyART(half_life=30))]
)
def test_a_half_life_of_the_estimator_holds_in_river(model: Any) -> None:
    for x, y in phishing(400):
        model.learn_one(*((x,) if isinstance(model, NoveltyDetector) else (x, y)))
    learner = model.to_sklearn()
    assert learner.support_.sum() == pytest.approx(30 / np.log(2), rel=0.1)
    assert learner.n_nodes_ <= 4 * 30 + 2
    if isinstance(model, NoveltyDetector):
        assert 0 <= model.score_one(x) <= 1


def test_new_feature_has_the_bounds_of_all() -> None:
    model = StreamClassifier(SSLART(bounds=(0, 8)))
    learnt(model, [({"a": 1.0}, 0), ({"a": 2.0, "b": 3.0, "c": "x"}, 1)])
    encoder = encoder_of(model)
    assert encoder.lower.tolist() == [0, 0]
    assert encoder.upper.tolist() == [8, 8]
    assert list(encoder.constant) == [(2, "x")]
    unknown = learnt(StreamClassifier(SSLART(bounds=(np.nan, np.nan))), [({"a": 1.0}, 0), ({"b": 3.0}, 1)])
    assert encoder_of(unknown).lower.tolist() == [1, 3]
    with pytest.raises(ValueError, match="two numbers"):
        StreamClassifier(SSLART(bounds=([0, 1], [2, 3])))


def test_order_of_new_features_does_not_matter_whatever_they_are_called() -> None:
    one = learnt(StreamClassifier(), [({"b": 1.0, 3: 2.0, ("c", 1): 0.5}, "x"), ({3: 2.0}, "y")])
    other = learnt(StreamClassifier(), [({("c", 1): 0.5, 3: 2.0, "b": 1.0}, "x"), ({3: 2.0}, "y")])
    assert fingerprint(one.to_sklearn()) == fingerprint(other.to_sklearn())
    assert sorted(one.to_sklearn().feature_names_in_) == ["('c', 1)", "3", "b"]


def test_before_the_first_label_nothing_is_predicted() -> None:
    model = StreamClassifier()
    frame = pd.DataFrame({"a": [1.0, 2.0]}, index=[5, 6])
    for _ in range(2):
        assert model.predict_one({"a": 1.0}) is None
        assert model.predict_proba_one({"a": 1.0}) == {}
        assert model.predict_many(frame).tolist() == [None, None]
        assert model.predict_proba_many(frame).shape == (2, 0)
        model.learn_one({"a": 1.0}, None)
    assert model.to_sklearn().n_nodes_ == 1
    model.learn_many(frame)
    assert model.to_sklearn().support_.sum() == 4
    model.learn_one({"a": 1.0}, "x")
    assert model.predict_many(frame).index.tolist() == [5, 6]
    assert model.predict_proba_many(frame).loc[5].to_dict() == {"x": 1.0} == model.predict_proba_one({"a": 7})


def test_sample_without_a_value_gets_the_shares_of_the_classes() -> None:
    model = learnt(StreamClassifier(), [({"a": 1.0}, "x"), ({"a": 5.0}, "y"), ({"a": 1.0}, "x"), ({"a": 9.0}, "x")])
    before = fingerprint(model.to_sklearn())
    learnt(model, [({}, "y"), ({"a": None, "b": float("nan")}, "y")])
    assert fingerprint(model.to_sklearn()) == before
    for x in ({}, {"a": None}, {"unknown": 3.0}):
        assert model.predict_proba_one(x) == {"x": 0.75, "y": 0.25}
        assert model.predict_one(x) == "x"
    frame = pd.DataFrame({"a": [5.0, None], "c": [1, 2]})
    assert model.predict_many(frame).tolist() == ["y", "x"]
    assert model.predict_proba_many(frame)["y"].tolist() == [1.0, 0.25]


def test_minus_one_is_a_class_and_none_is_no_label() -> None:
    model = learnt(StreamClassifier(), [({"a": 0.0}, 1), ({"a": 1.0}, -1), ({"a": 2.0}, None), ({"a": 1.0}, np.nan)])
    assert model.predict_one({"a": 1.0}) == -1
    assert model.predict_proba_one({"a": 0.0}) == {-1: 0.0, 1: 1.0}
    assert model.to_sklearn().counts_.sum() == 2


@pytest.mark.parametrize("classes", [[0, 1], ["a", "b"], [False, True]])
def test_abstaining_is_none(classes: list[Any]) -> None:
    model = StreamClassifier(SSLART(1.0, search_depth=1))
    learnt(model, [({"a": 0.0}, classes[0]), ({"a": 9.0}, classes[1]), ({"a": 5.0}, None)])
    assert model.predict_one({"a": 5.0}) is None
    assert model.predict_one({"a": 0.0}) == classes[0]
    assert type(model.predict_one({"a": 0.0})) is type(classes[0])
    assert model.predict_many(pd.DataFrame({"a": [0.0, 5.0, 9.0]})).tolist() == [classes[0], None, classes[1]]


@pytest.mark.parametrize(
    ("x", "y", "cause"),
    [
        ({"a": "one"}, 0, "'a' is numeric.*'one'"),
        ({"a": np.inf}, 0, "'a' is numeric.*finite"),
        ({"a": [1, 2]}, 0, "'a' is numeric"),
        ({"c": {1}}, 0, "'c' is categorical"),
        ({"new": object()}, 0, "'new' is numeric"),
        ({"a": 1.0, "new": 2.0}, "text", "several kinds"),
    ],
)
@pytest.mark.parametrize("estimator", [SSLART(), WESSLART(2, random_state=0)], ids=lambda e: type(e).__name__)
def test_a_sample_that_cannot_be_learnt_changes_nothing(estimator: Any, x: dict[str, Any], y: Any, cause: str) -> None:
    model = learnt(StreamClassifier(estimator), [({"a": 0.0, "c": "u"}, 0), ({"a": 1.0, "c": "v"}, 1)])
    before = fingerprint(model.to_sklearn())
    with pytest.raises(ValueError, match=cause):
        model.learn_one(x, y)
    assert fingerprint(model.to_sklearn()) == before
    assert model.predict_one({"new": 2.0}) == 0
    model.learn_one({"a": 1.0, "new": 3.0}, 1)
    assert model.to_sklearn().n_features_in_ == 3


def test_estimators_that_do_not_fit_are_refused() -> None:
    with pytest.raises(TypeError, match=r"FuzzyARTMAP, SSLART, WESSLART, got FuzzyART\b"):
        StreamClassifier(FuzzyART())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"river\.compat"):
        NoveltyDetector(SSLART())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="FuzzyARTMAP needs a label"):
        StreamClassifier(FuzzyARTMAP()).learn_one({"a": 1.0}, None)
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        StreamClassifier().learn_many(pd.DataFrame({"a": [1.0, 2.0]}), [0])


def test_what_the_estimator_learnt_before_is_not_taken_over() -> None:
    fitted = SSLART(0.8).fit([[0.0], [1.0]], [0, 1])
    model = StreamClassifier(fitted)
    assert model.predict_one({"a": 1.0}) is None
    learnt(model, [({"a": 1.0}, 5)])
    assert fitted.classes_.tolist() == [0, 1]
    assert model.clone().predict_one({"a": 1.0}) is None


def test_copies_go_on_alike_and_alone() -> None:
    samples = phishing(120)
    model = learnt(StreamClassifier(), samples[:60])
    twins = [copy.deepcopy(model), pickle.loads(pickle.dumps(model)), model.clone(include_attributes=True)]
    before = fingerprint(model.to_sklearn())
    after = [fingerprint(learnt(twin, samples[60:]).to_sklearn()) for twin in twins]
    assert fingerprint(model.to_sklearn()) == before != after[0]
    assert fingerprint(learnt(model, samples[60:]).to_sklearn()) == after[0] == after[1] == after[2]


def test_what_was_learnt_can_be_explained_and_saved(tmp_path: Any) -> None:
    model = learnt(StreamClassifier(), phishing(100))
    named = model.to_sklearn()
    assert "request_from_other_domain" in named.rules(kind="boxes").to_text()
    sslart.save(named, tmp_path / "model.sslart")
    assert fingerprint(sslart.load(tmp_path / "model.sslart")) == fingerprint(named)
    named.partial_fit(pd.DataFrame([dict.fromkeys(named.feature_names_in_, 9.0)]), [True])
    assert fingerprint(model.to_sklearn()) != fingerprint(named)
    ensemble = learnt(StreamClassifier(WESSLART(2, random_state=0)), phishing(40)).to_sklearn()
    assert "https" in ensemble.rules(kind="boxes").to_text()


@pytest.mark.parametrize(
    ("data", "n", "floor"),
    [(datasets.Phishing, 600, 0.83), (datasets.ImageSegments, 400, 0.75), (datasets.Bananas, 400, 0.75)],
)
def test_learns_the_streams_of_river(data: Any, n: int, floor: float) -> None:
    accuracy = evaluate.progressive_val_score(data().take(n), StreamClassifier(), metrics.Accuracy())
    assert accuracy.get() > floor


def test_lives_in_pipelines() -> None:
    samples = list(islice(stream.iter_sklearn_dataset(load_breast_cancer(), shuffle=True, seed=0), 300))
    pipeline = compose.Pipeline(preprocessing.StandardScaler(), StreamClassifier())
    assert evaluate.progressive_val_score(samples, pipeline, metrics.Accuracy()).get() > 0.9

    scaler, alone = preprocessing.StandardScaler(), StreamClassifier()
    for x, y in samples:
        scaler.learn_one(x)
        alone.learn_one(scaler.transform_one(x), y)
    assert fingerprint(pipeline["StreamClassifier"].to_sklearn()) == fingerprint(alone.to_sklearn())

    frame, y = pd.DataFrame([x for x, _ in samples]), pd.Series([y for _, y in samples])
    batches = pipeline.clone()
    for start in range(0, 200, 50):
        batches.learn_many(frame[start : start + 50], y[start : start + 50])
    assert (batches.predict_many(frame[200:]) == y[200:]).mean() > 0.9


def test_mini_batch_with_few_labels() -> None:
    samples = list(islice(stream.iter_sklearn_dataset(load_breast_cancer(), shuffle=True, seed=1), 250))
    frame, truth = pd.DataFrame([x for x, _ in samples]), np.array([y for _, y in samples])
    model = StreamClassifier(AutoSSLART(random_state=0))
    model.learn_many(frame, [y if number % 10 == 0 else None for number, y in enumerate(truth)])
    assert (model.predict_many(frame) == truth).mean() > 0.9
    assert model.to_sklearn().counts_.sum() == 25
    assert model.to_sklearn().support_.sum() == 250


def test_detector_finds_the_anomalies_of_real_data() -> None:
    samples = list(datasets.Shuttle().take(1000))
    model = NoveltyDetector()
    scores = []
    for x, _ in samples:
        scores.append(model.score_one(x))
        model.learn_one(x)
    assert 0 <= min(scores) <= max(scores) <= 1
    assert roc_auc_score([y for _, y in samples], scores) > 0.8
    assert model.to_sklearn().support_.sum() == 1000


def test_detector_scores_what_is_unlike_and_what_is_rare() -> None:
    model = NoveltyDetector(FuzzyART(bounds=(0, 10)))
    assert model.score_one({"a": 1.0}) == 0.0
    for a in [1.0] * 50 + [9.0]:
        model.learn_one({"a": a, "kind": "usual"})
    usual, rare, unlike = (model.score_one({"a": a, "kind": "usual"}) for a in (1.0, 9.0, 5.0))
    assert usual < 0.01 < unlike < rare
    assert model.score_one({"a": 1.0, "kind": "odd"}) > 0.3
    assert model.score_one({"other": 3.0}) == 0.0
    assert model.score_one({"a": 1.0}) == usual


def test_detector_serves_a_filter() -> None:
    keeps_out = anomaly.ThresholdFilter(NoveltyDetector(FuzzyART(bounds=(0, 10))), threshold=0.9)
    for a in [1.0, 1.1, 1.2, 9.9, 1.0]:
        keeps_out.learn_one({"a": a})
    assert keeps_out.anomaly_detector.to_sklearn().support_.sum() >= 4


def test_rows_are_learnt_together_or_not_at_all() -> None:
    model = StreamClassifier()
    model.learn_one({"a": 0.0}, "x")
    before = fingerprint(model.to_sklearn())
    frame = pd.DataFrame({"a": [1.0, 2.0, np.inf, 4.0], "b": [1.0, None, 2.0, 3.0]})
    with pytest.raises(ValueError, match="finite"):
        model.learn_many(frame, ["y", "y", "x", "x"])
    assert fingerprint(model.to_sklearn()) == before
    assert model.predict_proba_one({"a": 1.0}) == {"x": 1.0}


@pytest.mark.slow
def test_drifts_name_the_keys_of_the_features_that_moved() -> None:
    random = np.random.default_rng(0)
    detector, classifier = NoveltyDetector(), StreamClassifier()
    assert detector.drift_events == classifier.drift_events == []
    for number in range(2048):
        heat, flow = random.normal(), random.normal() + 20 * (number >= 1024)
        sample = {"heat": heat, "flow": flow, "mode": "auto" if number < 1024 else random.choice(["auto", "hand"])}
        detector.learn_one(sample)
        classifier.learn_one(sample, bool(heat > 0))
    names = {feature.name for event in detector.drift_events for feature in event.features}
    assert {"flow", "mode=hand"} <= names <= {"flow", "mode=auto", "mode=hand"}
    assert [event.kind for event in classifier.drift_events] == ["features"]


def test_an_interrupt_leaves_a_model_that_predicts(monkeypatch: pytest.MonkeyPatch) -> None:
    model, samples = StreamClassifier(), np.random.RandomState(0).rand(20, 2)
    for row, label in zip(samples.tolist(), ["a", "b"] * 10, strict=True):
        model.learn_one(dict(enumerate(row)), label)
    learn = SSLART.partial_fit

    def interrupted(self: Any, *args: Any, **kwargs: Any) -> Any:
        learn(self, *args, **kwargs)
        raise KeyboardInterrupt  # after the model has learnt, before the label is counted

    with monkeypatch.context() as changed:
        changed.setattr(SSLART, "partial_fit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.learn_one({0: 0.5, 1: 0.1}, "c")
    assert set(model.predict_proba_one({0: 0.5, 1: 0.1})) == {"a", "b"}
