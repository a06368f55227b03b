"""`predict_set` and `max_error`: what is promised for new samples, and what is refused."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification

import sslart
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyARTMAP
from sslart._mapping.conformal import measured_guarantees
from sslart._mapping.model_view import view_of
from sslart.metrics import guarantees

MODELS = [
    AutoSSLART(random_state=0),
    SSLART(mapping="evidence", families=["box", "linear"], random_state=0),
    WESSLART(3, mapping="evidence", families=["box"], random_state=0),
]


def overlapping(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Samples of three classes that overlap: the best accuracy is about 0.9."""
    random = np.random.RandomState(seed)
    y = random.randint(3, size=n)
    centres = np.array([[0.0, 0.0], [2.5, 0.0], [1.2, 2.2]])
    return centres[y] + random.normal(size=(n, 2)), y


@pytest.fixture(scope="module", params=MODELS, ids=lambda model: type(model).__name__)
def fitted(request: Any) -> Any:
    return clone(request.param).fit(*overlapping(80, 1))


def brute_force_limit(model: Any, level: float, rows: Any = None, certainty: float | None = 0.9) -> float:
    """The lowest confidence from which on the left-out labels keep an error: on average, the new sample is wrong."""
    left_out = view_of(model).left_out
    assert left_out is not None
    rows = np.arange(len(left_out.truth)) if rows is None else rows
    confidence, right = left_out.proba.max(axis=1)[rows], (left_out.proba.argmax(axis=1) == left_out.truth)[rows]
    kept = []
    for c in sorted(set(confidence.tolist()), reverse=True):
        n, wrong = (confidence >= c).sum(), (~right[confidence >= c]).sum()
        if certainty is None and 1 + wrong <= level * (1 + n):
            kept.append(c)
        elif certainty is not None and n >= 0.4 * len(rows) and (1 - level) ** n <= 1 - certainty:
            if binom.cdf(wrong, n, level) > 1 - certainty:
                break
            kept.append(c)
    lowest = min(kept, default=np.inf)
    return 0.0 if lowest == confidence.min() else float(lowest)


def test_a_set_has_a_column_for_each_class_and_holds_the_most_probable_one(fitted: Any) -> None:
    X, _ = overlapping(50, 2)
    sets = fitted.predict_set(X, coverage=0.8)
    assert sets.dtype == bool
    assert sets.shape == (50, len(fitted.classes_))
    assert sets[np.arange(50), fitted.predict_proba(X).argmax(axis=1)].all()
    assert 1 <= sets.sum(axis=1).mean() < 2


def test_sets_follow_from_the_left_out_probabilities(fitted: Any) -> None:
    X, _ = overlapping(50, 2)
    left_out, proba = view_of(fitted).left_out, fitted.predict_proba(X)
    assert left_out is not None
    own = left_out.proba[np.arange(len(left_out.truth)), left_out.truth]
    for per_class in (False, True):
        expected = np.zeros(proba.shape, dtype=bool)
        for column in range(3):
            compared = own[left_out.truth == column] if per_class else own
            p_values = (1 + (compared <= proba[:, column, None]).sum(axis=1)) / (1 + len(compared))
            expected[:, column] = p_values > 0.1 + 1e-9
        expected[np.arange(len(X)), proba.argmax(axis=1)] = True
        np.testing.assert_array_equal(fitted.predict_set(X, 0.9, per_class), expected)


def test_sets_are_those_of_mapie_on_the_same_probabilities(fitted: Any) -> None:
    mapie = pytest.importorskip("mapie.classification")
    from sklearn.base import BaseEstimator, ClassifierMixin

    class AsGiven(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        """A classifier whose samples are probabilities."""

        classes_ = fitted.classes_

        def fit(self, X: Any, y: Any) -> Any:
            return self

        def predict_proba(self, X: Any) -> Any:
            return X

        def predict(self, X: Any) -> Any:
            return self.classes_[X.argmax(axis=1)]

        def __sklearn_is_fitted__(self) -> bool:
            return True

    X, _ = overlapping(200, 2)
    left_out, proba = view_of(fitted).left_out, fitted.predict_proba(X)
    assert left_out is not None
    for coverage in (0.8, 0.9, 0.95):
        theirs = mapie.SplitConformalClassifier(AsGiven(), confidence_level=coverage, conformity_score="lac")
        theirs.conformalize(left_out.proba, fitted.classes_[left_out.truth])
        sets = theirs.predict_set(proba)[1][:, :, 0]
        sets[np.arange(len(X)), proba.argmax(axis=1)] = True
        np.testing.assert_array_equal(fitted.predict_set(X, coverage), sets)


@pytest.mark.parametrize("certainty", [None, 0.5, 0.9])
@pytest.mark.parametrize("level", [0.05, 0.1, 0.2])
def test_it_abstains_below_the_confidence_that_keeps_the_error(
    fitted: Any, level: float, certainty: float | None
) -> None:
    X, _ = overlapping(300, 3)
    highest, limit = fitted.predict_proba(X).max(axis=1), brute_force_limit(fitted, level, certainty=certainty)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        predicted = clone_with(fitted, max_error=level, confidence=certainty).predict(X)
    np.testing.assert_array_equal(predicted == -1, highest < limit)
    np.testing.assert_array_equal(predicted[predicted != -1], fitted.predict(X)[predicted != -1])


def clone_with(model: Any, **params: Any) -> Any:
    """The same fitted model with other parameters, so that the one that tests share stays as it is."""
    import copy

    return copy.deepcopy(model).set_params(**params)


def test_by_class_only_the_predictions_of_that_class_are_limited(fitted: Any) -> None:
    X, _ = overlapping(300, 3)
    free, highest = fitted.predict(X), fitted.predict_proba(X).max(axis=1)
    left_out = view_of(fitted).left_out
    assert left_out is not None
    limit = brute_force_limit(fitted, 0.2, np.flatnonzero(left_out.predicted == 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        predicted = clone_with(fitted, max_error={1: 0.2}).predict(X)
    np.testing.assert_array_equal(predicted == -1, (free == 1) & (highest < limit))


def test_whichever_limit_abstains() -> None:
    X, y = overlapping(150, 1)
    model = AutoSSLART(random_state=0, confidence=None).fit(X, np.where(np.arange(150) < 80, y, -1))
    new, _ = overlapping(200, 3)
    highest = model.predict_proba(new).max(axis=1)
    by_error = model.set_params(max_error=0.1).predict(new) == -1
    by_depth = model.set_params(max_error=None, search_depth=1).predict(new) == -1
    assert by_error.any()
    assert by_depth.any()
    np.testing.assert_array_equal(model.set_params(max_error=0.1).predict(new) == -1, by_error | by_depth)
    for least in (0.3, 0.6, 0.7):
        model.set_params(search_depth=None, max_error=0.1, abstain_below=least)
        left_out = view_of(model).left_out
        assert left_out is not None
        limit = brute_force_limit(model, 0.1, np.flatnonzero(left_out.confidence >= least), certainty=None)
        np.testing.assert_array_equal(model.predict(new) == -1, (highest < least) | (highest < limit))


def test_with_costs_the_error_is_that_of_the_decisions() -> None:
    X, y = overlapping(80, 1)
    costs = {(0, 1): 4.0, (2, 1): 3.0}
    model = AutoSSLART(random_state=0, decision_costs=costs, max_error=0.2, confidence=None).fit(X, y)
    new, _ = overlapping(300, 3)
    left_out = view_of(model).left_out
    assert left_out is not None
    matrix = np.array([[0, 4, 1], [1, 0, 1], [1, 3, 0.0]])
    decided, found = (left_out.proba @ matrix).argmin(axis=1), (model.predict_proba(new) @ matrix).argmin(axis=1)
    assert (decided != left_out.proba.argmax(axis=1)).any()
    confidence, wrong = left_out.proba[np.arange(80), decided], decided != left_out.truth
    kept = [c for c in confidence if 1 + wrong[confidence >= c].sum() <= 0.2 * (1 + (confidence >= c).sum())]
    own = model.predict_proba(new)[np.arange(300), found]
    limit = 0.0 if min(kept) == confidence.min() else min(kept)
    np.testing.assert_array_equal(model.predict(new), np.where(own < limit, -1, found))


def test_strings_are_none_where_it_abstains_and_every_row_is_predicted_by_itself() -> None:
    X, y = overlapping(80, 1)
    model = AutoSSLART(random_state=0, max_error=0.1, confidence=0.5).fit(X, np.array(["a", "b", "c"])[y])
    new, _ = overlapping(60, 4)
    predicted = model.predict(new)
    assert {None, "a", "b", "c"} == set(predicted)
    assert predicted.tolist() == [model.predict(row[None])[0] for row in new]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"max_error": 0.05},
            r"max_error=0\.05 cannot be kept with 90 % certainty with 14 labels, so that the model abstains from every "
            r"prediction: it needs at least 45 labels, all of them predicted correctly\. Label more samples",
        ),
        (
            {"max_error": 0.1},
            r"at least 22 labels, .*, or raise max_error, or set confidence=None: on average it is kept for 79 % of",
        ),
        (
            {"max_error": 0.05, "confidence": None},
            r"cannot be kept on average with 14 labels.* at least 19 labels, all of them .* or raise max_error\.$",
        ),
        (
            {"max_error": {2: 0.05}},
            r"for class 2, which is predicted for \d left-out labels, so that the model abstains where class 2 is the "
            r"most probable: it needs at least 45 labels that are predicted as 2",
        ),
    ],
)
def test_with_few_labels_it_abstains_and_says_how_many_it_needs(given: dict[str, Any], words: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = AutoSSLART(random_state=0).fit(X[::11], y[::11])
    free, by_class = model.predict(X), isinstance(given["max_error"], dict)
    with pytest.warns(UserWarning, match=words):
        predicted = model.set_params(**given).predict(X)
    np.testing.assert_array_equal(predicted, np.where((free == 2) | (not by_class), -1, free))
    assert model.predict_proba(X).shape == (150, 3)


def test_sets_hold_the_classes_that_have_too_few_labels_to_be_excluded() -> None:
    X, y = load_iris(return_X_y=True)
    model = AutoSSLART(random_state=0).fit(X[::11], y[::11])
    with pytest.warns(
        UserWarning, match=r"every set holds all classes: there are 14 labels, .* 95 % needs .* 19 labels"
    ):
        assert model.predict_set(X, 0.95).all()
    few = (
        r"holds the classes with so few labels \(0: 5, 1: 5, 2: 4\): a coverage of 90 % needs at least 9 labels of each"
    )
    with pytest.warns(UserWarning, match=few):
        assert model.predict_set(X, 0.9, per_class=True).all()
    with pytest.warns(UserWarning, match=r"the class with so few labels \(2: 4\)"):
        sets = model.predict_set(X, 0.83, per_class=True)
    assert sets[:, 2].all()
    assert not sets[:, :2].all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict_set(X, 0.9).shape == (150, 3)


def test_a_model_that_cannot_keep_the_error_abstains_everywhere_and_warns() -> None:
    random = np.random.RandomState(0)
    X, y = random.rand(60, 4), random.randint(2, size=60)
    model = AutoSSLART(random_state=0, max_error=0.1).fit(X, y)
    with pytest.warns(
        UserWarning, match=r"too many left-out labels are predicted wrongly; the smallest error is [\d.]+ %"
    ):
        predicted = model.predict(random.rand(40, 4))
    assert (predicted == -1).all()
    explanation = model.explain(random.rand(1, 4))[0]
    assert explanation.low_confidence is not None
    assert explanation.low_confidence[1] is None
    assert "no probability is high enough for at most 10 % wrong predictions (max_error)" in str(explanation)


def test_where_too_many_are_wrong_it_says_how_many_more_labels_would_do() -> None:
    X, y = overlapping(150, 1)
    model = AutoSSLART(random_state=0).fit(X, y)
    for level, times in ((0.16, 2), (0.15, 3)):
        with pytest.warns(
            UserWarning, match=f"{times} times as many would do, if no larger share of them is predicted"
        ):
            assert (model.set_params(max_error=level).predict(X) == -1).all()
    with pytest.warns(UserWarning, match=r"smallest error is [\d.]+ %\. Label more samples") as caught:
        model.set_params(max_error=0.05).predict(X)
    assert "times as many" not in str(caught[0].message)


@pytest.mark.parametrize("model", [SSLART(), SSLART(mapping="one-to-one"), WESSLART(3)])
def test_models_that_keep_no_labels_are_refused_with_the_cure(model: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model = clone(model).fit(X, y)
    for call in (lambda: model.predict_set(X), lambda: guarantees(model)):
        with pytest.raises(ValueError, match=r"need evidence mapping\. Fit AutoSSLART, or set mapping='evidence'"):
            call()
    for call in (lambda: clone(model).fit(X, y), lambda: clone(model).partial_fit(X, y), lambda: model.predict(X)):
        model.set_params(max_error=0.1)
        with pytest.raises(ValueError, match="need evidence mapping"):
            call()
    assert not hasattr(FuzzyARTMAP(), "predict_set")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("wrong", [0, 1.5, "x", {}, {0: 2}, {"iris": 0.1}])
def test_wrong_errors_are_refused_by_fit(model: Any, wrong: Any) -> None:
    with pytest.raises(ValueError, match="max_error"):
        clone(model).set_params(max_error=wrong).fit(*load_iris(return_X_y=True))


@pytest.mark.parametrize("wrong", [0, 1, 1.2, "x", None, True])
def test_wrong_coverages_are_refused(fitted: Any, wrong: Any) -> None:
    with pytest.raises(ValueError, match="coverage of predict_set must be"):
        fitted.predict_set([[0, 0]], wrong)


def test_the_limit_follows_what_is_learnt_and_set(tmp_path: Path) -> None:
    X, y = overlapping(160, 1)
    model = AutoSSLART(random_state=0, max_error={0: 0.4, 2: 0.5}, confidence=0.8, bounds=(-5, 8))
    first = model.fit(X[:80], y[:80]).predict(X)
    sslart.save(model, tmp_path / "model.sslart")
    loaded = sslart.load(tmp_path / "model.sslart")
    assert (loaded.max_error, loaded.confidence) == ({0: 0.4, 2: 0.5}, 0.8)
    np.testing.assert_array_equal(loaded.predict(X), first)
    n_before = guarantees(model).n_labels
    model.set_params(max_error=0.2).partial_fit(X[80:], y[80:])
    assert guarantees(model).n_labels == n_before + 80
    limit = brute_force_limit(model, 0.2, certainty=0.8)
    np.testing.assert_array_equal(model.predict(X) == -1, model.predict_proba(X).max(axis=1) < limit)
    assert limit != brute_force_limit(loaded, 0.2, certainty=0.8)
    on_average = brute_force_limit(model, 0.2, certainty=None)
    np.testing.assert_array_equal(
        model.set_params(confidence=None).predict(X) == -1, model.predict_proba(X).max(axis=1) < on_average
    )
    assert on_average < limit


def test_copies_promise_no_more_than_the_samples_they_are_copies_of() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[::15], y[::15]
    once = guarantees(AutoSSLART(random_state=0).fit(X, y))
    twice = guarantees(AutoSSLART(random_state=0).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2)))
    assert twice.n_labels == once.n_labels == len(y)
    model = AutoSSLART(random_state=0, max_error=0.015).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    with pytest.warns(UserWarning, match=r"max_error=0\.015 cannot be kept .* with 76 labels in 38 groups of copies"):
        assert (model.predict(X) == -1).all()


def test_groups_count_one_and_the_promise_is_for_new_groups() -> None:
    random = np.random.RandomState(0)

    def patients(n: int, readings: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        y, patient = random.randint(2, size=n), np.repeat(np.arange(n), readings)
        means = random.normal(size=(n, 6)) + np.outer(y, [1, 1, 0, 0, 0, 0])
        return means[patient] + random.normal(scale=0.25, size=(len(patient), 6)), y[patient], patient

    X, y, patient = patients(40, 3)
    new, truth, _ = patients(1000, 1)
    model = SSLART(mapping="evidence", families="box", random_state=0)
    covered = []
    for groups in (np.arange(len(y)), patient):
        sets = model.fit(X, y, groups=groups).predict_set(new, coverage=0.9)
        covered.append(sets[np.arange(len(truth)), truth].mean())
    assert covered[0] < 0.8 < 0.85 < covered[1]
    assert guarantees(model).n_labels == 40
    with pytest.warns(UserWarning, match=r"with 120 labels in 40 groups, so .* needs at least 45 groups, all"):
        model.set_params(max_error=0.05).predict(new)
    assert [len(view_of(model).promises.curve(one).answered) <= 40 for one in (0.9, None)] == [True, False]
    assert guarantees(model).unit == "group"
    assert "needs at least 45 groups, and there are 40" in guarantees(model, [0.05]).levels[0].sentence()
    n_units = view_of(model).promises.curve(0.9).n_answered
    assert n_units == 40


def test_explanations_name_the_error_where_it_abstains() -> None:
    X, y = overlapping(80, 1)
    model = AutoSSLART(random_state=0, max_error=0.1, confidence=None).fit(X, y)
    new, _ = overlapping(60, 4)
    explanations, limit = model.explain(new), brute_force_limit(model, 0.1, certainty=None)
    assert [one.abstained for one in explanations] == (model.predict(new) == -1).tolist()
    for one, proba in zip(explanations, model.predict_proba(new), strict=True):
        if one.abstained:
            assert one.low_confidence == (proba.max(), limit)
            assert one.max_error == one.to_dict()["max_error"] == 0.1
            assert "from which on at most 10 % of the predictions are wrong (max_error)" in str(one)
        else:
            assert one.low_confidence is one.max_error is None
    both = clone_with(model, abstain_below=0.8).explain(new)
    assert {one.max_error for one in both if one.abstained} <= {None, 0.1}
    assert all(one.low_confidence[1] == 0.8 for one in both if one.abstained and one.max_error is None)  # type: ignore[index]


def test_guarantees_are_what_max_error_gives() -> None:
    X, y = overlapping(150, 1)
    model = AutoSSLART(random_state=0).fit(X, y)
    found = guarantees(model, [0.001, 0.17, 0.2])
    left_out = view_of(model).left_out
    assert left_out is not None
    assert found.n_labels == 150
    few, some, more = found.levels
    assert (few.certain.least_confidence, few.certain.share, few.is_possible) == (None, 0, False)
    assert (few.certain.labels_needed, few.on_average.labels_needed) == (4093, 999)
    for one in (some, more):
        for kept, certainty in ((one.certain, 0.9), (one.on_average, None)):
            assert kept.least_confidence == brute_force_limit(model, one.max_error, certainty=certainty)
            assert kept.share == pytest.approx((left_out.confidence >= kept.least_confidence).mean())
    assert some.certain.share < more.certain.share
    assert some.certain.share < some.on_average.share
    certain, on_average = (100 * kept.share for kept in (some.certain, some.on_average))
    assert few.sentence("rows") == (
        "at most 0.1 % wrong with 90 % certainty: needs at least 4093 labels, and there are 150; "
        "on average: needs at least 999 labels, and there are 150"
    )
    assert some.sentence("rows") == (
        f"at most 17 % wrong with 90 % certainty: answers {certain:.0f} % of the rows; on average: {on_average:.0f} %"
    )
    first, *others, last = str(found).splitlines()
    assert first.startswith("150 labels: the smallest error that can be promised is ")
    assert others == [f"A{one.sentence()[1:]}." for one in found.levels]
    assert last == f"S{str(found.worst_class)[1:]}."
    assert f"{some.certain.share:.0%}</td><td>{some.on_average.share:.0%}" in found._repr_html_()
    assert "nothing" in found._repr_html_()
    assert guarantees(model, [0.17], confidence=0.5).levels[0].certain.share > some.certain.share
    assert model.quality_.limit == guarantees(model, [0.1]).levels[0]
    assert clone_with(model, max_error=0.2).quality_.limit == more


def test_the_class_that_sets_cover_least_is_named() -> None:
    X, y = overlapping(150, 1)
    model = AutoSSLART(random_state=0).fit(X, y)
    left_out = view_of(model).left_out
    assert left_out is not None
    own = left_out.proba[np.arange(150), left_out.truth]
    kept = [(1 + (np.delete(own, row) <= own[row]).sum()) / 150 > 0.1 for row in range(150)] | left_out.right
    shares = [kept[left_out.truth == index].mean() for index in range(3)]
    found = guarantees(model).worst_class
    assert found is not None
    assert (found.label, found.share) == (int(np.argmin(shares)), pytest.approx(min(shares)))
    assert f"for {100 * min(shares):.0f} % of the {found.n_labels} labels of {found.label}, the worst class" in str(
        found
    )


def test_promises_hold_over_many_training_sets() -> None:
    """By simulation with fixed seeds: means over training sets, within three standard errors."""
    covered: dict[float, list[float]] = {}
    wrong: dict[float, list[float]] = {}
    for seed in range(40):
        X, y = overlapping(40, 1000 + seed)
        new, truth = overlapping(400, 2000 + seed)
        model = SSLART(mapping="evidence", families=["linear"], random_state=0).fit(X, y)
        rows = np.arange(len(truth))
        for coverage in (0.7, 0.9):
            hit = model.predict_set(new, coverage)[rows, truth]
            covered.setdefault(coverage, []).append(hit.mean())
        for error in (0.1, 0.2):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                predicted = model.set_params(max_error=error, confidence=None).predict(new)
            model.set_params(max_error=None)
            answered = predicted != -1
            wrong.setdefault(error, []).append((predicted != truth)[answered].sum() / max(answered.sum(), 1))
    for coverage, shares in covered.items():
        assert np.mean(shares) > coverage - 3 * np.std(shares) / np.sqrt(len(shares))
    assert np.mean(covered[0.9]) < 0.96  # and sets are not all classes
    for error, shares in wrong.items():
        assert np.mean(shares) < error + 3 * np.std(shares) / np.sqrt(len(shares))


def test_per_class_the_coverage_holds_for_a_rare_class_too() -> None:
    per_class, marginal = [], []
    for seed in range(12):
        X, y = make_classification(
            700, 4, n_informative=3, n_redundant=0, weights=[0.85], class_sep=0.8, flip_y=0, random_state=seed
        )
        model = SSLART(mapping="evidence", families=["linear"], random_state=0).fit(X[:200], y[:200])
        rare = y[200:] == 1
        for apart, shares in ((True, per_class), (False, marginal)):
            shares.append(model.predict_set(X[200:], 0.9, apart)[rare, 1].mean())
    assert np.mean(marginal) < 0.85
    assert np.mean(per_class) > 0.9 - 3 * np.std(per_class) / np.sqrt(len(per_class))


def test_models_that_keep_no_labels_have_no_guarantees_to_show() -> None:
    X, y = load_iris(return_X_y=True)
    assert measured_guarantees(view_of(SSLART(random_state=0).fit(X, y))) is None
    found = measured_guarantees(view_of(AutoSSLART(random_state=0).fit(X[::5], y[::5])))
    assert found is not None
    assert found.n_labels == 30
