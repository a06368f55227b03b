"""Features scaled by rank, in every estimator: learnt, streamed, saved, explained and chosen."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.utils.estimator_checks import parametrize_with_checks
from test_stream import fingerprint, streamed

import sslart
import sslart._reference
from conftest import lattices, name_of, needs_kernel
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP
from sslart._art.backend import use_backend
from sslart.cli import main

MODELS = [
    FuzzyART(scaling="rank"),
    FuzzyARTMAP(scaling="rank"),
    SSLART(0.8, scaling="rank", random_state=0),
    SSLART(0.8, mapping="one-to-one", scaling="rank", random_state=0),
    WESSLART(2, vigilance=0.8, scaling="rank", random_state=0),
]
EVIDENCE = SSLART(
    mapping="evidence",
    families=["box", "linear"],
    bandwidth=0.25,
    ridge=0.01,
    rank_weight=0.5,
    scaling="rank",
    random_state=0,
)
STREAMED = [SSLART(0.7, scaling="rank"), SSLART(0.7, mapping="one-to-one", scaling="rank")]
EVERY = [*MODELS, EVIDENCE]


@pytest.fixture
def skewed() -> tuple[np.ndarray, np.ndarray]:
    """Three clusters of 40 samples in 3 features, of which the logarithm is normal: most values crowd near zero."""
    random = np.random.RandomState(0)
    y = random.permutation(np.repeat([0, 1, 2], 40))
    return np.exp(random.normal(scale=0.6, size=(120, 3)) + 4 * y[:, None]), y


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([FuzzyART(scaling="rank"), SSLART(scaling="rank")])
def test_passes_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([FuzzyARTMAP(scaling="rank"), EVIDENCE, AutoSSLART(scaling="rank"), WESSLART(scaling="rank")])
def test_all_others_pass_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("model", EVERY, ids=name_of)
def test_any_rising_function_of_the_features_makes_the_same_boxes(model: Any, blobs: Any) -> None:
    X, y = blobs
    plain, bent = clone(model).fit(X, y), clone(model).fit(np.exp(X), y)
    np.testing.assert_array_equal(bent.support_, plain.support_)
    np.testing.assert_allclose(np.log(bent.lower_), plain.lower_, rtol=1e-12)
    np.testing.assert_array_equal(bent.predict(np.exp(X)), plain.predict(X))


@pytest.mark.parametrize("model", EVERY, ids=name_of)
def test_sides_of_boxes_are_values_of_samples(model: Any, skewed: Any) -> None:
    X, y = skewed
    model = clone(model).fit(X, y)
    assert model.scaling_ == ["rank"] * 3
    assert np.isin(model.lower_, X).all()
    assert np.isin(model.upper_, X).all()


@needs_kernel
@pytest.mark.parametrize("model", MODELS, ids=name_of)
@settings(max_examples=10)
@given(samples=lattices(min_samples=4, max_samples=25, max_features=4, missing=False), seed=st.integers(0, 999))
def test_the_kernel_makes_the_nodes_of_the_reference(model: Any, samples: np.ndarray, seed: int) -> None:
    samples, y = 10.0 ** (3 * samples), np.random.RandomState(seed).randint(0, 3, size=len(samples))
    half = len(samples) // 2

    def learnt() -> Any:
        return clone(model).fit(samples[:half], y[:half]).partial_fit(2 * samples[half:] - 1, y[half:])

    compiled = learnt()
    with use_backend(sslart._reference):
        reference = learnt()
    assert fingerprint(compiled) == fingerprint(reference)


@pytest.mark.parametrize("model", [*STREAMED, MODELS[-1]], ids=name_of)
@settings(max_examples=10)
@given(samples=lattices(min_samples=6, max_samples=30, max_features=4), seed=st.integers(0, 999), data=st.data())
def test_from_the_second_call_on_the_cut_does_not_matter(
    model: Any, samples: np.ndarray, seed: int, data: st.DataObject
) -> None:
    samples[3:] = samples[3:] * 3 - 1
    y = np.random.RandomState(seed).randint(-1, 3, size=len(samples))
    cuts = sorted(data.draw(st.lists(st.integers(3, len(samples)), max_size=5)))
    whole = streamed(model, samples, y, [3])
    assert fingerprint(streamed(model, samples, y, [3, *cuts])) == fingerprint(whole)
    assert fingerprint(streamed(model, samples, y, list(range(3, len(samples))))) == fingerprint(whole)


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_what_a_stream_has_learnt_stays_covered_when_values_far_beyond_arrive(model: Any, skewed: Any) -> None:
    X, y = skewed
    model = clone(model).partial_fit(X[:60], y[:60])
    before = model.lower_, model.upper_
    model.partial_fit(X[60:] * 1000, y[60:]).partial_fit(-X[60:], y[60:])
    n = len(before[0])
    if not isinstance(model, WESSLART):
        assert (model.lower_[:n] <= before[0]).all()
        assert (model.upper_[:n] >= before[1]).all()
    assert (model.lower_.min(axis=0) == -X[60:].max(axis=0)).all()


def test_one_sample_of_the_first_call_has_no_ranks_so_that_features_are_scaled_by_range(skewed: Any) -> None:
    X, y = skewed
    by_rank, by_range = (
        streamed(SSLART(0.8, scaling=scaling), X, y, list(range(1, len(X)))) for scaling in ("rank", "range")
    )
    assert by_rank.scaling_ == ["range"] * 3
    assert fingerprint(by_rank) == fingerprint(by_range)


def test_a_feature_with_bounds_is_scaled_by_them(skewed: Any) -> None:
    X, y = skewed
    bounds = ([0, np.nan, np.nan], [1e6, np.nan, np.nan])
    assert SSLART(scaling="rank", bounds=bounds).fit(X, y).scaling_ == ["range", "rank", "rank"]
    whole = streamed(SSLART(scaling="rank", bounds=(0, 1e6)), X, y, [])
    assert fingerprint(streamed(SSLART(scaling="rank", bounds=(0, 1e6)), X, y, [7, 40])) == fingerprint(whole)


@pytest.mark.parametrize("model", [SSLART(0.8, scaling="rank", shuffle=False), EVIDENCE], ids=name_of)
def test_a_weight_of_two_is_the_sample_twice(model: Any, skewed: Any) -> None:
    X, y = skewed
    weights = np.random.RandomState(0).randint(0, 4, size=len(y))
    often = np.repeat(np.arange(len(y)), weights)
    weighted = clone(model).set_params(shuffle=False).fit(X, y, sample_weight=weights.astype(float))
    repeated = clone(model).set_params(shuffle=False).fit(X[often], y[often])
    np.testing.assert_array_equal(weighted.lower_, repeated.lower_)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))


@pytest.mark.parametrize("model", EVERY, ids=name_of)
def test_a_saved_model_is_the_same_and_learns_on_the_same(model: Any, skewed: Any, tmp_path: Path) -> None:
    X, y = skewed
    model = clone(model).fit(X, y)
    sslart.save(model, tmp_path / "model")
    again = sslart.load(tmp_path / "model")
    assert again.scaling_ == model.scaling_
    for one in (model, again):
        one.partial_fit(X * 3, y)
    assert fingerprint(again) == fingerprint(model)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_an_explanation_is_in_the_units_of_the_user(skewed: Any) -> None:
    X, y = skewed
    model = SSLART(0.8, scaling="rank", random_state=0).fit(X, y)
    for match, value in zip(model.explain(X[:1])[0].box.feature_matches, X[0], strict=True):
        assert match.value == value
        assert {match.lower, match.upper} <= {*X.ravel()}
    outside = [
        match
        for one in model.explain(np.sqrt(X * X[::-1]))
        for match in one.box.feature_matches
        if match.inside is False
    ]
    assert outside
    for match in outside:
        assert match.outside_by == max(match.lower - match.value, match.value - match.upper)


def test_changes_lead_to_other_predictions_and_lie_where_samples_do(skewed: Any) -> None:
    X, y = skewed
    for model in (SSLART(0.8, scaling="rank", random_state=0).fit(X, y), clone(EVIDENCE).fit(X, y)):
        for row in range(0, 120, 24):
            present = model.predict(X[row : row + 1])[0]
            for change in model.counterfactual(X[row], n=2):
                assert model.predict([change.sample])[0] == change.prediction != present
                assert (change.sample >= X.min(axis=0)).all()
                assert (change.sample <= X.max(axis=0)).all()


def test_levels_of_rules_are_shares_of_the_samples_and_cuts_are_where_the_user_puts_them(skewed: Any) -> None:
    X, y = skewed
    model = SSLART(0.8, scaling="rank", random_state=0).fit(X, y)
    rules = model.rules(kind="boxes", levels=3)
    scale = rules._domain.scales[0]
    np.testing.assert_allclose([(X[:, 0] <= cut).mean() for cut in scale.cuts], [0.25, 0.75], atol=0.01)
    chosen = model.rules(kind="boxes", levels={"x0": [10.0, 1000.0]})._domain.scales[0]
    assert chosen.cuts.tolist() == [10.0, 1000.0]
    np.testing.assert_allclose(chosen.edges, [(X[:, 0] <= cut).mean() for cut in chosen.cuts], atol=0.01)


@pytest.mark.parametrize(("n_features", "n_samples"), [(3, 60), (8, 100)])
def test_samples_like_the_learnt_ones_are_seldom_novel_though_tails_are_long(n_features: int, n_samples: int) -> None:
    shares = []
    for seed in range(20):
        random = np.random.RandomState(seed)
        model = FuzzyART(0.6, scaling="rank").fit(random.standard_cauchy((n_samples, n_features)))
        scores = model.score_samples(random.standard_cauchy((200, n_features)))
        shares.append(np.mean(scores < model.novelty_threshold_))
    assert np.mean(shares) < 0.05


def test_auto_scales_by_rank_the_features_that_crowd_and_no_others(tmp_path: Path) -> None:
    random = np.random.RandomState(0)
    X = pd.DataFrame({"bytes": random.lognormal(sigma=4, size=80), "age": random.rand(80), "kind": ["a", "b"] * 40})
    y = (np.log(X["bytes"]) + X["age"] > 0.5).to_numpy()
    model = AutoSSLART(random_state=0).fit(X, y)
    assert model.scaling_ == ["rank", "range", "category"]
    assert model.summary().by_rank == ("bytes",)
    assert re.search(r"scaled by rank +bytes\n", str(model.summary()))
    sslart.save(model, tmp_path / "model")
    assert sslart.load(tmp_path / "model").scaling_ == model.scaling_
    assert AutoSSLART(scaling="range", random_state=0).fit(X, y).scaling_ == ["range", "range", "category"]
    assert AutoSSLART(scaling="rank", random_state=0).fit(X, y).scaling_ == ["rank", "rank", "category"]


def test_auto_is_the_range_where_no_feature_crowds() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X, few = X[::8, :10], np.where(np.arange(len(y[::8])) % 3, -1, y[::8])
    auto, by_range = (AutoSSLART(scaling=scaling, random_state=0).fit(X, few) for scaling in ("auto", "range"))
    assert auto.scaling_ == ["range"] * 10
    assert fingerprint(auto) == fingerprint(by_range)
    np.testing.assert_array_equal(auto.predict_proba(X), by_range.predict_proba(X))
    assert "rank" not in str(auto.summary())


def test_outliers_are_named_with_what_follows_for_the_feature() -> None:
    X, y = np.random.RandomState(0).rand(60, 2), np.arange(60) % 2
    X[17, 1] = 1e12
    with pytest.warns(UserWarning, match=r'can hardly distinguish them\. .* scale features by rank: scaling="rank"\.'):
        SSLART().fit(X, y)
    with pytest.warns(UserWarning, match=r"so the feature is scaled by rank\. Correct such a value, or leave it empty"):
        AutoSSLART(random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SSLART(scaling="rank").fit(X, y)


@pytest.mark.parametrize("model", [FuzzyART(), FuzzyARTMAP(), SSLART(), WESSLART()], ids=name_of)
def test_other_scalings_are_refused(model: Any, blobs: Any) -> None:
    for wrong in ("auto", "Rank", None, 1):
        with pytest.raises(ValueError, match=r"scaling of \w+ must be one of 'range', 'rank', got"):
            clone(model).set_params(scaling=wrong).fit(*blobs)
    with pytest.raises(ValueError, match="scaling of AutoSSLART must be one of 'auto', 'range', 'rank', got 'ranks'"):
        AutoSSLART(scaling="ranks").fit(*blobs)


def test_the_command_line_takes_a_scaling_and_names_the_features(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], skewed: Any
) -> None:
    X, y = skewed
    table = tmp_path / "table.csv"
    pd.DataFrame(X, columns=["bytes", "load", "time"]).assign(kind=y).to_csv(table, index=False)
    wanted = ["fit", str(table), "--label", "kind", "--out", str(tmp_path / "model"), "--mapping", "one-to-many"]
    assert main(wanted) == 0
    assert "scaled by rank" not in capsys.readouterr().out
    assert main([*wanted, "--scaling", "rank"]) == 0
    assert any(
        line.split() == ["scaled", "by", "rank", "bytes,", "load,", "time"]
        for line in capsys.readouterr().out.splitlines()
    )
    assert sslart.load(tmp_path / "model").get_params()["scaling"] == "rank"


def test_a_stream_of_dicts_begins_with_one_sample_and_has_no_ranks() -> None:
    pytest.importorskip("river")
    from sslart.river import NoveltyDetector, StreamClassifier

    for wrapper, estimator in ((StreamClassifier, SSLART), (NoveltyDetector, FuzzyART)):
        with pytest.raises(ValueError, match="needs many samples in the first call, but a stream starts with one"):
            wrapper(estimator(scaling="rank"))
    stream = StreamClassifier(AutoSSLART(random_state=0))
    for value in range(4):
        stream.learn_one({"x": float(value)}, value > 1)
    assert stream.predict_one({"x": 3.0}) is True
