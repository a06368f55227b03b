"""Displays draw what rules, explanations and metrics say, on any axis, with few or many features and classes."""

import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from sslart import SSLART, WESSLART, FuzzyART, FuzzyARTMAP
from sslart.metrics import coverage_correctness_curve
from sslart.plotting import (
    BoxesDisplay,
    CoverageCorrectnessDisplay,
    GrowthDisplay,
    ReasonDisplay,
    RuleHeatmapDisplay,
    RuleParallelDisplay,
    VotesDisplay,
)

mpl.use("Agg")
import matplotlib.pyplot as plt

DRAW = {
    "boxes": lambda model, X, y, ax: BoxesDisplay.from_estimator(model, X, y, ax=ax),
    "parallel": lambda model, X, y, ax: RuleParallelDisplay.from_estimator(model, ax=ax),
    "heatmap": lambda model, X, y, ax: RuleHeatmapDisplay.from_estimator(model, ax=ax),
    "reason": lambda model, X, y, ax: ReasonDisplay.from_estimator(model, X[:1], ax=ax),
    "coverage": lambda model, X, y, ax: CoverageCorrectnessDisplay.from_estimator(model, X, y, depths=[1, None], ax=ax),
    "growth": lambda model, X, y, ax: GrowthDisplay.from_estimator(model, X, y, batch=100, ax=ax),
    "votes": lambda model, X, y, ax: VotesDisplay.from_estimator(model, X[:1], ax=ax),
}
NEED_A_FITTED_MODEL = [name for name in DRAW if name != "growth"]


@pytest.fixture(autouse=True)
def no_figure_is_left_open():
    plt.close("all")
    yield
    plt.close("all")


def make(n_features, n_classes, per_class=12):
    random = np.random.RandomState(0)
    centres = 10 * random.rand(n_classes, n_features)
    X = np.repeat(centres, per_class, axis=0) + 0.3 * random.randn(n_classes * per_class, n_features)
    return X, np.repeat([f"class {place}" for place in range(n_classes)], per_class)


DATA = {
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "breast cancer frame": lambda: load_breast_cancer(return_X_y=True, as_frame=True),
    "wine": lambda: load_wine(return_X_y=True),
    "wine frame": lambda: load_wine(return_X_y=True, as_frame=True),
    "digits": lambda: tuple(part[:400] for part in load_digits(return_X_y=True)),
    "2 features": lambda: make(2, 3),
    "60 features": lambda: make(60, 3),
    "12 classes": lambda: make(4, 12),
}


@pytest.fixture(scope="module")
def ensembles():
    """Return each data set with half its labels and an ensemble that has learnt it."""
    made = {}
    for name, load in DATA.items():
        X, y = load()
        few = np.asarray(y).astype(object)
        few[1::2] = None
        made[name] = WESSLART(n_members=3, vigilance=0.5, random_state=0).fit(X, few), X, few, y
    return made


@pytest.fixture(scope="module")
def wine():
    data = load_wine(as_frame=True)
    y = data.target_names[data.target]
    return SSLART(vigilance=0.5, random_state=0).fit(data.data, y), data.data, y


def rendered(display):
    """Return the display after drawing every part of it, so that what cannot be drawn fails."""
    display.figure_.canvas.draw()
    return display


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("name", DRAW)
def test_every_display_draws_every_data_set(ensembles, name, data):
    model, X, few, y = ensembles[data]
    display = rendered(DRAW[name](model, X, y if name == "coverage" else few, None))
    assert display.ax_.get_title(loc="left")
    assert display.figure_ is display.ax_.figure
    assert plt.get_fignums() == [display.figure_.number]


@pytest.mark.parametrize("name", DRAW)
def test_a_display_draws_on_the_given_axis_and_opens_no_figure_beside_it(ensembles, name):
    model, X, _, y = ensembles["wine"]
    figure, axes = plt.subplots(1, 2)
    display = rendered(DRAW[name](model, X, y, axes[1]))
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    assert not axes[0].has_data()
    assert len(plt.get_fignums()) == 1


@pytest.mark.parametrize("name", DRAW)
def test_a_display_can_be_drawn_again(ensembles, name):
    model, X, _, y = ensembles["wine"]
    display = DRAW[name](model, X, y, None)
    first = display.ax_
    assert display.plot() is display
    assert display.ax_ is not first
    assert display.ax_.get_title(loc="left") == first.get_title(loc="left")


@pytest.mark.parametrize("name", NEED_A_FITTED_MODEL)
def test_a_model_that_is_not_fitted_is_refused(name):
    X, y = make(2, 3)
    with pytest.raises(NotFittedError):
        DRAW[name](WESSLART(), X, y, None)
    assert not plt.get_fignums()


@pytest.mark.parametrize("name", ["boxes", "parallel", "heatmap", "reason", "growth", "votes"])
def test_a_model_of_another_package_is_refused(name):
    X, y = make(2, 3)
    with pytest.raises(TypeError, match=r"sslart|SSLART"):
        DRAW[name](LogisticRegression().fit(X, y), X, y, None)


def test_what_is_wrong_is_said_with_the_cure(wine):
    model, X, y = wine
    rules, why = model.rules(), model.explain(X[:1])[0]
    for call, cure in [
        (lambda: BoxesDisplay.from_estimator(model, features=["hue"]), "two names or column numbers"),
        (lambda: BoxesDisplay.from_estimator(model, features="hue"), "two names or column numbers"),
        (lambda: BoxesDisplay.from_estimator(model, features=["hue", "taste"]), "no feature 'taste'.*hue"),
        (lambda: BoxesDisplay.from_estimator(model, features=[0, 13]), "no feature 13"),
        (lambda: BoxesDisplay.from_estimator(model, features=["hue", "hue"]), "two different"),
        (lambda: BoxesDisplay.from_estimator(model, max_boxes=0), "max_boxes"),
        (lambda: BoxesDisplay.from_estimator(model, y=y), "give X"),
        (lambda: RuleParallelDisplay.from_estimator(model, max_rules=0), "max_rules"),
        (lambda: RuleHeatmapDisplay.from_rules(rules, max_features=1.5), "max_features"),
        (lambda: RuleHeatmapDisplay.from_rules(rules[:0]), "filter less"),
        (lambda: ReasonDisplay.from_estimator(model, X[:2]), "one sample, got 2"),
        (lambda: ReasonDisplay.from_explanation(why, max_features=0), "max_features"),
        (lambda: VotesDisplay.from_estimator(model, X[:1]), "WESSLART"),
        (lambda: CoverageCorrectnessDisplay.from_estimator(model, X, y, depths=[]), "depths is empty"),
        (lambda: CoverageCorrectnessDisplay.from_predictions(y, y), "map each search depth"),
        (lambda: GrowthDisplay.from_estimator(model, X, y, batch=0), "batch"),
        (lambda: GrowthDisplay.from_estimator(model, X, y[:5]), "one label"),
        (lambda: GrowthDisplay.from_history([1, 2], [1]), "equal lengths"),
        (lambda: ReasonDisplay.from_explanation(why, ax=plt.subplots(1, 2)[1]), r"axes\[0\]"),
    ]:
        with pytest.raises(ValueError, match=cure):
            call()


def test_rules_and_explanations_of_the_wrong_kind_are_refused(wine):
    model, X, _ = wine
    with pytest.raises(TypeError, match=r"model.rules\(\)"):
        RuleHeatmapDisplay.from_rules(list(model.rules()))
    with pytest.raises(TypeError, match=r"explain\(X\)\[0\]"):
        ReasonDisplay.from_explanation(model.explain(X[:1]))


def test_without_matplotlib_the_error_says_what_to_install(wine, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "sslart\[plot\]"'):
        GrowthDisplay.from_history([1, 2], [1, 2])


def test_boxes_are_those_of_the_model(wine):
    model, X, y = wine
    display = BoxesDisplay.from_estimator(model, X, y, features=["hue", 0], max_boxes=5)
    columns = [list(X.columns).index("hue"), 0]
    assert display.feature_names == ("hue", "alcohol")
    np.testing.assert_array_equal(display.lower, model.lower_[display.nodes][:, columns])
    np.testing.assert_array_equal(display.upper, model.upper_[display.nodes][:, columns])
    np.testing.assert_array_equal(display.samples, X.iloc[:, columns])
    assert display.labels == model.node_labels_[display.nodes].tolist()
    assert display.sample_labels == y.tolist()
    assert sorted(model.support_[display.nodes]) == sorted(model.support_)[-5:]
    assert f"5 of {model.n_nodes_} boxes" in display.ax_.get_title(loc="left")
    assert display.ax_.get_xlabel() == "hue"
    left, right = display.ax_.get_xlim()
    assert left <= display.lower[:, 0].min() <= display.upper[:, 0].max() <= right


def test_boxes_without_labels_are_drawn_too():
    X, y = make(3, 3)
    display = rendered(BoxesDisplay.from_estimator(FuzzyART(vigilance=0.7).fit(X), X))
    assert set(display.labels) == {None}
    display = rendered(BoxesDisplay.from_estimator(FuzzyART(vigilance=0.7).fit(X), X, y))
    assert set(display.sample_labels) == set(y)
    display = rendered(BoxesDisplay.from_estimator(SSLART().partial_fit(X)))
    assert set(display.labels) == {None}


def test_two_features_that_tell_classes_apart_are_picked():
    X, y = make(6, 3)
    X[:, [0, 2, 3, 5]] = np.random.RandomState(1).rand(len(X), 4)
    model = FuzzyARTMAP(vigilance=0.5).fit(X, y)
    assert BoxesDisplay.from_estimator(model).feature_names == ("x1", "x4")


def test_categories_and_missing_values_are_drawn():
    frame = pd.DataFrame(
        {"size": [1.0, 2, 8, 9, np.nan], "hue": ["red", "red", "blue", "green", "red"], "age": [1.0, 1, 5, 6, 2]}
    )
    y = ["a", "a", "b", "b", "a"]
    model = SSLART(vigilance=0.3, random_state=0).fit(frame, y)
    with pytest.raises(ValueError, match="categorical"):
        BoxesDisplay.from_estimator(model, features=["size", "hue"])
    assert BoxesDisplay.from_estimator(model, frame, y).feature_names == ("size", "age")
    display = rendered(RuleHeatmapDisplay.from_estimator(model))
    assert any("red" in cell for row in display.cells for cell in row)
    assert ((display.plot().ax_.get_ylim()) == np.array([len(display.rules) - 0.5, -0.5])).all()
    parallel = rendered(RuleParallelDisplay.from_estimator(model))
    assert ((parallel.low >= 0) & (parallel.high <= 1) & (parallel.low <= parallel.high)).all()
    reason = rendered(ReasonDisplay.from_estimator(model, frame[4:]))
    assert "missing" in " ".join(tick.get_text() for tick in reason.ax_.get_yticklabels()) or 0 not in reason.shown
    rendered(ReasonDisplay.from_estimator(model, pd.Series({"size": 1.0, "hue": "violet", "age": 3.0})))


def test_rules_are_those_of_the_model(wine):
    model, X, _ = wine
    rules = model.rules()
    display = RuleParallelDisplay.from_estimator(model, max_rules=4, max_features=5)
    assert [rule.nodes for rule in display.rules] == [rules[number - 1].nodes for number in display.numbers]
    supports = sorted((rule.support for rule in rules), reverse=True)
    assert sorted((rule.support for rule in display.rules), reverse=True) == supports[:4]
    span = X.max() - X.min()
    for row, rule in enumerate(display.rules):
        for column, name in enumerate(display.feature_names):
            condition = rule.conditions[display.features[column]]
            assert condition.feature == name
            if not condition.full_range:
                value = X[name].min() + display.low[row, column] * span[name]
                assert value == pytest.approx(condition.low_value, rel=1e-3, abs=1e-3 * span[name])
    title = display.ax_.get_title(loc="left")
    assert f"4 of {len(rules)} rules" in title
    assert "5 of 13 features" in title


def test_the_cells_of_the_heatmap_are_those_of_the_rule_table(wine):
    model, _, _ = wine
    display = RuleHeatmapDisplay.from_estimator(model, levels=4, max_rules=50, max_features=50)
    table = model.rules(levels=4).to_frame()
    for number, cells in zip(display.numbers, display.cells, strict=True):
        assert [cell.replace("–", "-") for cell in cells] == table.loc[number, list(display.feature_names)].tolist()
    assert len(display.rules) == len(table)
    assert "levels from 1 to 4" in display.ax_.get_title(loc="left")


def test_reasons_are_those_of_the_explanation(wine):
    model, X, _ = wine
    sample = X[:1] * 1.1
    why = model.explain(sample)[0]
    for x in (sample, sample.iloc[0]):
        display = ReasonDisplay.from_estimator(model, x, max_features=4)
        assert display.feature_names == tuple(X.columns)
        assert display.distances.sum() == pytest.approx(why.box.distance)
        assert display.rival_distances.sum() == pytest.approx(why.rival.distance)
        assert set(np.flatnonzero(display.distances)) == {
            place for place, condition in enumerate(why.box.conditions) if condition.inside is False
        }
        assert str(why.answer) in display.ax_.get_title(loc="left")
    bars = [bar.get_width() for bar in display.ax_.patches]
    drawn = [*display.distances[display.shown], *display.rival_distances[display.shown]]
    assert bars == pytest.approx(drawn)


def test_one_sample_may_be_a_list_or_a_row():
    X, y = make(2, 3)
    model = FuzzyARTMAP().fit(X, y)
    shown = [ReasonDisplay.from_estimator(model, x).distances for x in (X[0], X[:1], X[0].tolist(), X[:1].tolist())]
    assert all((one == shown[0]).all() for one in shown)


def test_a_reason_without_a_rival_or_without_an_answer_is_drawn():
    X, y = make(3, 1)
    display = rendered(ReasonDisplay.from_estimator(FuzzyARTMAP().fit(X, y), X[0]))
    assert display.rival_distances is None
    X, y = make(3, 3)
    few = np.where(np.arange(len(y)) % 12 == 0, y, None)
    model = SSLART(vigilance=0.97, search_depth=1, random_state=0).fit(X, few)
    silent = X[[answer is None for answer in model.predict(X)]]
    display = rendered(ReasonDisplay.from_estimator(model, silent[0]))
    assert "abstains" in display.ax_.get_title(loc="left")


def test_votes_are_those_of_the_explanation(ensembles):
    model, X, _, _ = ensembles["12 classes"]
    why = model.explain(X[:1])[0]
    display = VotesDisplay.from_explanation(why, max_classes=4)
    assert display.shown[0] == why.answer
    assert len(display.shown) == 4
    assert "4 of 12 classes" in display.ax_.get_title(loc="left")
    drawn = sum(bar.get_width() for bar in display.ax_.patches)
    assert drawn == pytest.approx(sum(why.scores[label] for label in display.shown))


def test_an_ensemble_that_abstains_is_drawn():
    X, y = make(3, 3)
    few = np.where(np.arange(len(y)) % 12 == 0, y, None)
    model = WESSLART(n_members=3, vigilance=0.97, search_depth=1, random_state=0).fit(X, few)
    silent = X[[answer is None for answer in model.predict(X)]]
    display = rendered(VotesDisplay.from_estimator(model, silent[0]))
    assert "abstain" in display.ax_.get_title(loc="left")
    assert "3 without a vote" in display.ax_.get_title(loc="left")


def test_coverage_and_correctness_are_those_of_the_metrics(wine):
    model, X, y = wine
    depths = [1, 3, None]
    curve = coverage_correctness_curve(model, X, y, depths)
    display = CoverageCorrectnessDisplay.from_estimator(model, X, y, depths=depths)
    for line, values in zip(display.ax_.lines, curve[1:], strict=True):
        np.testing.assert_allclose(line.get_ydata(), 100 * values)
    asked = {}
    for depth in depths:
        asked[depth] = model.set_params(search_depth=depth).predict(X)
    model.set_params(search_depth=None)
    again = CoverageCorrectnessDisplay.from_predictions(y, asked)
    np.testing.assert_allclose(again.curve.coverage, curve.coverage)
    np.testing.assert_allclose(again.curve.correctness, curve.correctness)


@pytest.mark.parametrize("estimator", [FuzzyART, FuzzyARTMAP, SSLART, WESSLART])
def test_growth_is_that_of_a_clone_that_learns_the_stream(estimator):
    X, y = make(3, 3)
    model = estimator(vigilance=0.7)
    display = GrowthDisplay.from_estimator(model, X, y, batch=10)
    assert not hasattr(model, "n_features_in_")
    assert display.n_samples.tolist() == [10, 20, 30, 36]
    assert (np.diff(display.n_nodes) >= 0).all()
    assert (display.n_labelled_nodes is None) == (estimator is FuzzyART)
    labels = () if estimator is FuzzyART else (y[:10],)
    if estimator is not WESSLART:  # whose members draw their sequences at random
        assert display.n_nodes[0] == estimator(vigilance=0.7).partial_fit(X[:10], *labels).n_nodes_
    again = GrowthDisplay.from_history(display.n_samples, display.n_nodes)
    assert (again.ax_.lines[0].get_ydata() == display.n_nodes).all()


def test_growth_without_labels_leaves_a_fitted_model_as_it_is(wine):
    model, X, _ = wine
    before = model.n_nodes_
    display = GrowthDisplay.from_estimator(model, X)
    assert display.n_labelled_nodes.tolist() == [0] * len(display.n_samples)
    assert model.n_nodes_ == before
