"""The contract that every estimator keeps: scikit-learn's own checks and manners."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from test_stream import fingerprint

from conftest import ALL, CLASSIFIERS, EVIDENCE, name_of
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP

CHECKS = parametrize_with_checks(
    [
        FuzzyART(),
        FuzzyARTMAP(),
        SSLART(),
        SSLART(mapping="one-to-one"),
        SSLART(mapping="evidence", families=["box", "linear"], bandwidth=0.25, ridge=0.01, rank_weight=0.5),
        AutoSSLART(),
        WESSLART(),
        WESSLART(3, validation=0.3),
    ]
)


def with_marks(estimator: Any, check: Any) -> Any:
    """Return a check as parameters; the longest is made of models that choose nothing in every run."""
    is_long = isinstance(estimator, AutoSSLART) and check.func.__name__ == "check_classifiers_train"
    return pytest.param(estimator, check, marks=pytest.mark.slow if is_long else ())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(CHECKS.args[0], [with_marks(*one) for one in CHECKS.args[1]], ids=CHECKS.kwargs["ids"])
def test_passes_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("model", ALL, ids=name_of)
def test_copies_are_equal_and_independent(model: Any, blobs: Any) -> None:
    X, y = blobs
    model = clone(model).fit(X, y)
    before = fingerprint(model)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert fingerprint(twin) == before
        twin.partial_fit(X + 3, y)
        assert fingerprint(twin) != before
        assert fingerprint(model) == before
    assert not hasattr(clone(model), "lower_")


@pytest.mark.parametrize("model", ALL, ids=name_of)
def test_refit_forgets_everything(model: Any, blobs: Any) -> None:
    X, y = blobs
    fresh = clone(model).fit(X[:40, :2], y[:40])
    model = clone(model).fit(X * 100, y + 5).partial_fit(X * 300, y)
    assert fingerprint(model.fit(X[:40, :2], y[:40])) == fingerprint(fresh)


@pytest.mark.parametrize("model", ALL, ids=name_of)
def test_predicting_changes_nothing(model: Any, blobs: Any) -> None:
    X, y = blobs
    model = clone(model).fit(X, y)
    before = fingerprint(model)
    for method in ("predict", "predict_proba", "apply", "score_samples"):
        if hasattr(model, method):
            one, again = getattr(model, method)(X * 2), getattr(model, method)(X * 2)
            np.testing.assert_array_equal(one, again)
    assert fingerprint(model) == before


@pytest.mark.parametrize("model", ALL, ids=name_of)
@pytest.mark.parametrize("kind", ["pandas", "polars", "lists", "float32", "fortran", "nullable"])
def test_takes_samples_as_they_come(model: Any, kind: str, blobs: Any) -> None:
    X, y = blobs
    X = np.round(X, 3).astype(np.float32).astype(np.float64)
    X[3, 1] = np.nan
    given = {
        "pandas": lambda: pd.DataFrame(X, columns=list("abc")),
        "polars": lambda: pl.DataFrame({name: X[:, i] for i, name in enumerate("abc")}).fill_nan(None),
        "lists": X.tolist,
        "float32": lambda: X.astype(np.float32),
        "fortran": lambda: np.asfortranarray(X),
        "nullable": lambda: pd.DataFrame(X, columns=list("abc")).convert_dtypes(),
    }[kind]()
    plain, model = clone(model).fit(X, y), clone(model).fit(given, y)
    assert fingerprint(model) == fingerprint(plain)
    np.testing.assert_array_equal(model.predict(given), plain.predict(X))
    if kind in ("pandas", "polars", "nullable"):
        assert model.feature_names_in_.tolist() == ["a", "b", "c"]
        assert model.coded_feature_names_ == ["a", "b", "c"]


@pytest.mark.parametrize("model", ALL, ids=name_of)
def test_feature_names_are_checked_at_predict(model: Any, blobs: Any) -> None:
    X, y = blobs
    model = clone(model).fit(pd.DataFrame(X, columns=list("abc")), y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(X, columns=list("cba")))
    with pytest.raises(ValueError, match="3 features"):
        clone(model).fit(X, y).predict(X[:, :2])


@pytest.mark.parametrize("model", ALL, ids=name_of)
@pytest.mark.parametrize(
    ("X", "cause"),
    [
        ([[0.0, np.inf]], "infinity.*Put NaN"),
        (np.empty((0, 2)), "0 sample"),
        (np.empty((1, 0)), "0 feature"),
        ([[np.nan, np.nan], [np.nan, np.nan]], "row 0.*Drop"),  # of some among others, see test_texts.py
        ([1.0, 2.0], "2D array"),
        ([["a", "b"]], "convert|numeric"),
    ],
)
def test_bad_samples_are_refused(model: Any, X: Any, cause: str) -> None:
    with pytest.raises(ValueError, match=f"(?s){cause}"):
        clone(model).fit(X, [0] * max(1, len(X)))
    with pytest.raises(ValueError, match=f"(?s){cause}"):
        clone(model).partial_fit(X, [0] * max(1, len(X)))


BAD_PARAMETERS: dict[str, list[Any]] = {
    "vigilance": [10**400, -0.1, 1.1, np.nan, "high", None, True],
    "choice": [0, -1, np.inf, None],
    "learning_rate": [0, 1.5, "x"],
    "match_tracking": [-1e-9, np.nan, None],
    "mapping": ["one", None, 3],
    "families": [[], "boxes", ["box", None], 5],
    "width": [0, -1, np.nan, 1e300, "wide"],
    "ridge": [0, -1, np.nan, 1e300, "high"],
    "rank_weight": [-0.1, 1.1, np.nan, "half"],
    "max_labels": [0, 1.5, None],
    "search_depth": [10**30, 0, -1, 1.5, "deep", True],
    "bounds": [5, (0,), (1, 0), ([0, 0], [1, 2, 3]), (0, np.inf), (np.nan, 1), ("a", "b"), ([0, 5, 0], [9, 1, 9])],
    "shuffle": ["no", None, 2],
    "n_jobs": [0, 1.5, "2", True],
    "n_members": [0, 1.5, "7", None],
    "voting": ["loud", None],
    "validation": [0, 1, -0.2, "all", None, True],
}


@pytest.mark.parametrize(
    ("model", "name"),
    [(model, name) for model in ALL for name in BAD_PARAMETERS if name in model.get_params()],
    ids=lambda value: value if isinstance(value, str) else name_of(value),
)
def test_bad_parameters_are_refused(model: Any, name: str, blobs: Any) -> None:
    X, y = blobs
    for value in BAD_PARAMETERS[name]:
        changed = clone(model).set_params(**{name: value})
        for learn in (changed.fit, changed.partial_fit):
            with pytest.raises(ValueError, match=name):
                learn(X, y)
            assert not hasattr(changed, "n_features_in_")


@pytest.mark.parametrize("model", ALL, ids=name_of)
@pytest.mark.parametrize("n_jobs", [0, "2", True, [None]], ids=repr)
def test_predictions_refuse_a_number_of_threads_that_is_none(model: Any, n_jobs: Any, blobs: Any) -> None:
    X, y = blobs
    model = clone(model).fit(X, y)
    expected = model.predict(X), model.score_samples(X)
    model.set_params(n_jobs=n_jobs)
    for read in (model.predict, model.score_samples):
        with pytest.raises(ValueError, match="n_jobs"):
            read(X)
    if isinstance(model, WESSLART):  # its members learn side by side
        with pytest.raises(ValueError, match="n_jobs"):
            model.partial_fit(X, y)
    model.set_params(n_jobs=2)
    np.testing.assert_array_equal(expected, (model.predict(X), model.score_samples(X)))


@pytest.mark.parametrize("model", ALL, ids=name_of)
@pytest.mark.parametrize(
    "member", ["predict", "score_samples", "lower_", "n_nodes_", "support_", "coded_feature_names_"]
)
def test_use_before_learning_is_refused(model: Any, member: str) -> None:
    model = clone(model)

    def use() -> None:
        getattr(model, member)([[1.0]])

    with pytest.raises(NotFittedError):
        use()
    assert not hasattr(model, "lower_")


def test_values_too_far_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="rescale"):
        FuzzyART().fit([[-1e308], [1e308]])


@pytest.mark.parametrize("model", ALL, ids=name_of)
def test_works_at_the_ends_of_double_precision(model: Any) -> None:
    X = np.array([[5e-324, 1e300], [0.0, 1e300], [1e-300, -1e300]])
    model = clone(model).fit(X, [0, 1, 0])
    assert np.isfinite(model.lower_).all()
    assert len(model.predict(X)) == 3


@pytest.mark.parametrize("model", [*CLASSIFIERS, EVIDENCE[0]], ids=name_of)
def test_lives_in_pipelines_and_searches(model: Any, blobs: Any, few_labels: Any) -> None:
    X, y = blobs
    frame = pd.DataFrame(X, columns=list("abc"))
    pipeline = make_pipeline(StandardScaler(), clone(model)).set_output(transform="pandas").fit(frame, y)
    assert pipeline[-1].feature_names_in_.tolist() == ["a", "b", "c"]
    assert pipeline.score(frame, y) > 0.9
    assert cross_val_score(clone(model), X, y, cv=3).min() > 0.8
    search = GridSearchCV(clone(model), {"vigilance": [0.5, 0.8]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.8
    if not isinstance(model, FuzzyARTMAP):
        search = GridSearchCV(clone(model), {"vigilance": [0.5, 0.8]}, cv=3, error_score="raise").fit(*few_labels)
        assert search.best_estimator_.score(X, y) > 0.8


def test_repr_and_parameters_are_those_of_scikit_learn() -> None:
    assert repr(SSLART(0.8)) == "SSLART(vigilance=0.8)"
    with pytest.raises(TypeError):
        SSLART(0.8, 0.1)


def test_categories_are_one_hot_coded() -> None:
    frame = pd.DataFrame(
        {
            "t": [1.0, 2.0, 3.0, 4.0],
            "kind": pd.Categorical(["a", "b", None, "a"]),
            "name": ["x", "y", "y", "y"],
            "on": [True, False, True, True],
        }
    )
    model = FuzzyARTMAP(vigilance=1.0).fit(frame, [0, 1, 0, 1])
    assert model.coded_feature_names_ == ["t", "kind=a", "kind=b", "name=x", "name=y", "on=True", "on=False"]
    np.testing.assert_array_equal(model.lower_[0], [1, 1, 0, 1, 0, 1, 0])
    np.testing.assert_allclose(model.lower_[2], [3, np.nan, np.nan, 0, 1, 1, 0], rtol=1e-9)
    assert model.n_features_in_ == 4
    assert model.predict(frame).tolist() == [0, 1, 0, 1]
    unknown = frame.assign(kind=["c", "c", "c", "c"])
    assert len(model.predict(unknown)) == 4
    polars = pl.DataFrame(
        {**{name: frame[name].to_list() for name in ("t", "name", "on")}, "kind": ["a", "b", None, "a"]}
    )
    polars = polars.select(frame.columns.tolist())
    assert model.predict(polars).tolist() == [0, 1, 0, 1]


def test_new_category_is_what_the_old_samples_were_not() -> None:
    frame = pd.DataFrame({"t": [1.0, 2.0], "kind": ["a", None]})
    model = FuzzyART(1.0).partial_fit(frame)
    model.partial_fit(pd.DataFrame({"t": [2.0], "kind": ["b"]}))
    assert model.coded_feature_names_ == ["t", "kind=a", "kind=b"]
    np.testing.assert_array_equal(model.upper_[:, 2], [0, 1, 1][: model.n_nodes_] if model.n_nodes_ == 3 else [0, 1])
    assert model.labels_.tolist() == [1]


@pytest.mark.parametrize(
    ("frame", "cause"),
    [
        (pd.DataFrame({"odd": [{1}, {2}]}), "'odd' holds a set"),
        (pd.DataFrame({"a": ["x", "y"], "b": [0.0, np.inf]}), "infinity.*column 'b', row 1"),
        (pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, -np.inf]}), "infinity.*column 'b', row 1"),
        (pd.DataFrame({"a": ["x", None], "b": [1.0, np.nan]}), "row 1"),
    ],
)
def test_columns_of_no_use_are_refused(frame: pd.DataFrame, cause: str) -> None:
    with pytest.raises(ValueError, match=cause):
        FuzzyART().fit(frame)


def test_column_that_changes_its_kind_is_refused() -> None:
    model = FuzzyART().fit(pd.DataFrame({"a": ["x", "y"], "b": [1.0, 2.0]}))
    with pytest.raises(ValueError, match="Column 'a' was categorical"):
        model.predict(pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, 2.0]}))
    with pytest.raises(ValueError, match="Column 'b' was numeric"):
        model.partial_fit(pd.DataFrame({"a": ["x"], "b": ["1"]}))
    # a stretch of the stream without a single value in a categorical column is no change
    assert len(model.predict(pd.DataFrame({"a": [None, None], "b": [1.0, 2.0]}))) == 2


def test_features_never_seen_say_nothing() -> None:
    model = FuzzyART().fit([[1.0, np.nan], [2.0, np.nan]])
    np.testing.assert_array_equal(model.predict([[1.0, 7.0]]), model.predict([[1.0, np.nan]]))
    with pytest.raises(ValueError, match="never seen a value"):
        model.predict([[np.nan, 7.0]])


def test_frame_of_categories_alone_needs_no_bounds() -> None:
    model = SSLART(bounds=(0, 1)).partial_fit(pd.DataFrame({"b": list("abab")}), [0, 1, 0, 1])
    assert model.predict(pd.DataFrame({"b": ["b", "a"]})).tolist() == [1, 0]


def test_numbers_in_an_object_column_may_be_missing() -> None:
    frame = pd.DataFrame({"a": pd.Series([1, pd.NA, 3, 4], dtype=object), "b": [1.0, 2, 3, 4]})
    assert np.isnan(FuzzyART(1.0).fit(frame).lower_[1, 0])


def test_what_a_column_was_decides_what_it_is() -> None:
    frame = pd.DataFrame({"a": [1, "u", 2, "u"], "b": [1.0, 2, 3, 4]})
    model = SSLART(1.0, shuffle=False).fit(frame, [0, 1, 0, 1])
    assert [model.predict(frame.iloc[i : i + 1])[0] for i in range(4)] == [0, 1, 0, 1]


def test_sample_beyond_the_range_is_novel() -> None:
    X = np.column_stack([np.random.RandomState(0).rand(50), np.full(50, 7.0)])
    model = FuzzyART(0.9).fit(X)
    inside, far, off_constant = model.score_samples([X[0], [30.0, 7.0], [X[0, 0], 8.0]])
    assert far == 0.0
    assert off_constant <= 0.5 < 0.9 <= inside
    ensemble = WESSLART(2, random_state=0).fit(X, np.arange(50) % 2)
    assert ensemble.score_samples([[30.0, 7.0]]) == [0.0]


@pytest.mark.parametrize("model", [*CLASSIFIERS, EVIDENCE[0]], ids=name_of)
@pytest.mark.parametrize("weights", [[1, 2], [[1, 2, 3]], [0, 0, 0], [np.nan, 1, 1], [-1, 1, 1]])
def test_bad_sample_weights_are_refused(model: Any, weights: list[Any]) -> None:
    model = clone(model).fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    with pytest.raises(ValueError):
        model.score([[0.0], [1.0], [2.0]], [0, 1, 2], sample_weight=weights)


@pytest.mark.parametrize("model", [*CLASSIFIERS, EVIDENCE[0]], ids=name_of)
def test_labels_of_another_kind_cannot_be_scored(model: Any) -> None:
    model = clone(model).fit([[0.0], [1.0]], ["a", "b"])
    with pytest.raises(ValueError, match="several kinds"):
        model.score([[0.0], [1.0]], [0, 1])
