"""Displays draw what rules, explanations and metrics say, on any axis, with few or many features and classes."""

import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP
from sslart.metrics import coverage_correctness_curve
from sslart.plotting import (
    BoxesDisplay,
    CoverageCorrectnessDisplay,
    EvidenceDisplay,
    GrowthDisplay,
    ReasonDisplay,
    RuleHeatmapDisplay,
    RuleParallelDisplay,
    VotesDisplay,
)
from sslart.plotting import _style as draw

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
QUICK = {
    "boxes": ["2 features", "60 features"],
    "parallel": ["iris", "60 features", "mixed"],
    "heatmap": ["breast cancer", "60 features", "mixed"],
    "reason": ["2 features", "60 features", "mixed"],
    "coverage": ["wine"],
    "growth": ["12 classes"],
    "votes": ["2 features", "60 features"],
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


def many():
    """Return 60 features and 12 classes whose long names differ only at the end, or in the middle."""
    X, y = make(60, 12)
    names = [f"mean concentration of protein number {place} (ng/ml)" for place in range(60)]
    return pd.DataFrame(X, columns=names), np.array([f"disease {one} of the liver, with complications" for one in y])


def mixed():
    """Return numbers and categories, with long names and missing values."""
    random = np.random.RandomState(0)
    y = np.repeat(["responder", "non-responder"], 30)
    smoker = random.choice(["never", "former smoker of many years", "current"], 60).astype(object)
    smoker[::7] = None
    age = 50 + 10.0 * (y == "responder") + random.randn(60)
    age[::5] = np.nan
    pressure = random.normal(130, 20, 60)
    return pd.DataFrame({"age (years)": age, "smoker": smoker, "blood pressure, systolic (mmHg)": pressure}), y


DATA = {
    "breast cancer": lambda: load_breast_cancer(return_X_y=True, as_frame=True),
    "iris": lambda: load_iris(return_X_y=True, as_frame=True),
    "wine": lambda: load_wine(return_X_y=True),
    "digits": lambda: tuple(part[:300] for part in load_digits(return_X_y=True)),
    "2 features": lambda: make(2, 2),
    "12 classes": lambda: make(4, 12),
    "60 features": many,
    "mixed": mixed,
}


class Learnt(dict):
    """Each data set with half its labels and an ensemble that has learnt it, made when asked for."""

    def __missing__(self, name):
        X, y = DATA[name]()
        few = np.asarray(y).astype(object)
        few[1::2] = None
        self[name] = WESSLART(n_members=3, vigilance=0.5, random_state=0).fit(X, few), X, few, y
        return self[name]


@pytest.fixture(scope="module")
def ensembles():
    return Learnt()


@pytest.fixture(scope="module")
def wine():
    data = load_wine(as_frame=True)
    y = data.target_names[data.target]
    return SSLART(vigilance=0.5, random_state=0).fit(data.data, y), data.data, y


def rendered(display):
    """Return the display after drawing every part of it, so that what cannot be drawn fails."""
    display.figure_.draw_without_rendering()
    return display


def texts_of(display):
    """Return what is written in and around the axis, and where, without what lies under a slant."""
    axis = display.ax_
    legend = axis.get_legend()
    seen = axis.bbox.padded(1)
    ticks = [label for label in axis.get_xticklabels() if seen.containsx(np.mean(label.get_window_extent().intervalx))]
    ticks += [label for label in axis.get_yticklabels() if seen.containsy(np.mean(label.get_window_extent().intervaly))]
    written = [*axis.texts, axis.xaxis.label, axis.yaxis.label, axis._left_title]
    written += [label for label in ticks if label.get_rotation() == 0]
    written += [] if legend is None else legend.get_texts()
    return [(text.get_text(), text.get_window_extent()) for text in written if text.get_text() and text.get_visible()]


def overlapping(display):
    """Return pairs of texts that lie on one another by more than a pixel."""
    texts = texts_of(display)
    corners = np.array([[box.x0, box.y0, box.x1, box.y1] for _, box in texts])
    low, high = corners[:, :2], corners[:, 2:]
    shared = np.minimum(high[:, None], high) - np.maximum(low[:, None], low) > 1.0
    pairs = np.argwhere(np.triu(shared.all(axis=2), 1))
    return [(texts[one][0], texts[other][0]) for one, other in pairs]


def slanted_apart(display):
    """Tell whether slanted names lie at least a line apart."""
    labels = [label for label in display.ax_.get_xticklabels() if label.get_rotation()]
    places = [display.ax_.transData.transform((label.get_position()[0], 0))[0] for label in labels]
    turns = np.sin(np.radians([label.get_rotation() for label in labels[1:]]))
    size = max((label.get_fontsize() for label in labels), default=0) * display.figure_.dpi / 72
    return (np.diff(places) * turns >= 0.99 * size).all()


@pytest.mark.parametrize(
    ("name", "data"),
    [pytest.param(name, data, marks=() if data in QUICK[name] else pytest.mark.slow) for name in DRAW for data in DATA],
)
def test_every_display_of_every_data_set_can_be_read(ensembles, name, data):
    model, X, few, y = ensembles[data]
    display = rendered(DRAW[name](model, X, y if name == "coverage" else few, None))
    assert display.ax_.get_title(loc="left")
    assert display.figure_ is display.ax_.figure
    assert plt.get_fignums() == [display.figure_.number]
    assert not overlapping(display)
    assert slanted_apart(display)
    inside = display.figure_.bbox.padded(1)
    drawn = display.ax_.get_tightbbox()
    assert inside.contains(*drawn.min), "beyond the figure at the left or at the bottom"
    assert inside.contains(*drawn.max), "beyond the figure at the right or at the top"
    legend = display.ax_.get_legend()
    if legend is not None:
        assert legend.get_window_extent().x1 <= display.figure_.bbox.x1


def test_what_lies_on_one_another_is_found():
    figure, axis = plt.subplots()
    axis.text(0.5, 0.5, "one")
    axis.text(0.5, 0.5, "other")
    display = GrowthDisplay.from_history([1, 2], [1, 2], ax=axis)
    figure.draw_without_rendering()
    assert ("one", "other") in overlapping(display)


@pytest.mark.parametrize("name", ["boxes", "parallel"])
def test_a_legend_stays_in_a_figure_that_makes_no_room_for_it(ensembles, name):
    model, X, few, _ = ensembles["wine"]
    axis = plt.figure(figsize=(9, 5)).add_subplot()
    display = rendered(DRAW[name](model, X, few, axis))
    assert display.figure_.bbox.contains(*display.ax_.get_legend().get_window_extent().max)


def test_names_that_are_cut_still_differ():
    X, y = many()
    for names in (
        list(X.columns),
        sorted(set(y)),
        ["ab" * 30 + "x" + "c" * 30, "ab" * 30 + "y" + "c" * 30],
        ["same", "same"],
    ):
        cut = draw.distinct(names, 26)
        assert len(set(cut)) == len(set(names))
        assert max(map(len, cut)) <= 26
    assert draw.distinct(["cost in $", "a\nb"]) == [r"cost in \$", "a b"]
    assert draw.distinct([]) == []


def test_twelve_classes_have_twelve_styles():
    styles = [draw.style(place) for place in range(12)]
    assert len({(one.colour, one.hatch) for one in styles}) == 12
    assert len({(one.colour, str(one.dash)) for one in styles}) == 12
    assert len({one.marker for one in styles}) == 12, "marks must differ without their colours"


def test_twelve_classes_are_told_apart_in_boxes_rules_and_votes(ensembles):
    model, X, _, y = ensembles["12 classes"]
    lines = BoxesDisplay.from_estimator(model, X, y).ax_.get_legend().get_lines()
    assert len({(line.get_color(), line.get_marker()) for line in lines}) == len(lines) >= 12
    display = RuleHeatmapDisplay.from_estimator(model, max_rules=100)
    assert len({rule.label for rule in display.rules}) == 12
    bars = display.ax_.collections[1::2]
    looks = {}
    for rule, bar in zip(display.rules, bars, strict=True):
        looks.setdefault(rule.label, set()).add((tuple(bar.get_facecolor()[0]), bar.get_hatch()))
    assert all(len(look) == 1 for look in looks.values())
    assert len(set.union(*looks.values())) == 12
    said = sorted(set(y))
    votes = VotesDisplay.from_predictions(said, classes=said)
    drawn = {(bar.get_edgecolor(), bar.get_facecolor(), bar.get_hatch()) for bar in votes.ax_.patches}
    assert len(drawn) == 12


@pytest.mark.parametrize(
    ("name", "layout"), [*((name, None) for name in DRAW), ("heatmap", "constrained"), ("boxes", "tight")]
)
def test_a_display_draws_on_the_given_axis_and_opens_no_figure_beside_it(ensembles, name, layout):
    model, X, _, y = ensembles["wine"]
    figure, axes = plt.subplots(1, 2, figsize=(16, 6), layout=layout)
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
        (lambda: VotesDisplay.from_predictions([]), "one of each per member"),
        (lambda: VotesDisplay.from_predictions(["a", "b"], [1.0]), "one of each per member"),
        (lambda: VotesDisplay.from_predictions(["a", "b"], classes=["a"]), r"\['b'\] got a vote.*add them"),
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
    for name in [name for name in sys.modules if name.startswith("matplotlib.")]:
        monkeypatch.setitem(sys.modules, name, None)
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
    assert f"5 of {model.n_nodes_} boxes: those with most samples" in display.ax_.get_title(loc="left")
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


def test_features_of_few_values_are_not_picked_for_boxes():
    X, y = make(4, 3)
    X[:, 1] = y == "class 0"
    X[:, 2] = y == "class 1"
    model = FuzzyARTMAP(vigilance=0.9).fit(X, y)
    assert BoxesDisplay.from_estimator(model).feature_names == ("x0", "x3")
    model = FuzzyARTMAP(vigilance=0.9).fit(X[:, 1:3], y)
    assert BoxesDisplay.from_estimator(model).feature_names == ("x0", "x1")


def test_two_features_that_say_the_same_are_not_picked_for_boxes():
    X, y = make(4, 3)
    X[:, 1] = 2 * X[:, 0]
    X[:, 2:] = X[:, 2:] / 10 + np.arange(len(X))[:, None] % 12
    model = FuzzyARTMAP(vigilance=0.9).fit(X, y)
    assert model.n_nodes_ > 10
    assert set(BoxesDisplay.from_estimator(model).feature_names) != {"x0", "x1"}
    three = FuzzyARTMAP(vigilance=0.0).fit(X, y)
    assert set(BoxesDisplay.from_estimator(three).feature_names) == {"x0", "x1"}, "few boxes say little of likeness"


def test_a_box_of_one_sample_is_drawn_as_a_mark():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]])
    axis = BoxesDisplay.from_estimator(FuzzyARTMAP(vigilance=1.0).fit(X, ["a", "b", "b"])).ax_
    assert sorted(line.get_xdata()[0] for line in axis.lines) == pytest.approx([0.0, 1.0, 5.0])


def test_a_category_between_two_that_a_rule_allows_is_left_open():
    frame = pd.DataFrame({"hue": ["a", "b", "c", "b"], "size": [1.0, 9.0, 1.0, 9.0]})
    model = FuzzyARTMAP(vigilance=0.0).fit(frame, ["x", "y", "x", "y"])
    rule, scale = model.rules()[0], model.rules()._domain.scales[0]
    assert rule.label == "x"
    assert np.array(draw.bands(rule.conditions[0], scale)) == pytest.approx(np.array([[0, 1 / 3], [2 / 3, 1]]))
    display = rendered(RuleParallelDisplay.from_estimator(model))
    assert (display.low[0, 0], display.high[0, 0]) == (0.0, 1.0)


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
    assert 0 not in reason.shown
    assert "missing, and left out of account: size" in reason.ax_.get_title(loc="left")
    whole = rendered(ReasonDisplay.from_estimator(model, frame[:1]))
    assert "missing" not in whole.ax_.get_title(loc="left")
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
    assert f"4 of {len(rules)} rules: those with most samples" in title
    assert "5 of 13 features: those in which rules differ most" in title
    assert "of 3 classes" not in title
    one = RuleParallelDisplay.from_estimator(model, max_rules=1).ax_.get_title(loc="left")
    assert f"1 of {len(rules)} rules: those with most samples; 1 of 3 classes" in one


def test_the_cells_of_the_heatmap_are_those_of_the_rule_table(wine):
    model, _, _ = wine
    display = RuleHeatmapDisplay.from_estimator(model, levels=4, max_rules=50, max_features=50)
    table = model.rules(levels=4).to_frame()
    for number, cells in zip(display.numbers, display.cells, strict=True):
        assert [cell.replace("–", "-") for cell in cells] == table.loc[number, list(display.feature_names)].tolist()
    assert len(display.rules) == len(table)
    assert "levels 1 (low) to 4 (high)" in display.ax_.get_title(loc="left")
    assert [[text.get_text() for text in row] for row in display.text_] == display.cells
    small = RuleHeatmapDisplay.from_estimator(model, ax=plt.figure(figsize=(2, 2)).add_subplot())
    assert small.text_ is None


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


def test_a_sample_in_both_boxes_is_told_by_their_widths():
    X = [[0.0, 0.0], [10.0, 10.0], [4.0, 4.0], [6.0, 5.0]]
    model = FuzzyARTMAP(vigilance=0.0).fit(X, ["wide", "wide", "narrow", "narrow"])
    display = rendered(ReasonDisplay.from_estimator(model, [5.0, 4.5]))
    assert display.inside_both
    assert not display.distances.any()
    title = display.ax_.get_title(loc="left")
    assert "Answer: narrow" in title
    assert "inside both boxes: the narrower one comes first" in " ".join(title.split())
    assert [bar.get_width() for bar in display.ax_.patches] == pytest.approx([0.1, 0.2, 1.0, 1.0])
    assert display.ax_.get_xlabel().startswith("width of the box")
    off = rendered(ReasonDisplay.from_estimator(model, [8.0, 4.5]))
    assert not off.inside_both
    assert "1 of 2 features: the other lies inside both boxes" in off.ax_.get_title(loc="left")


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


@pytest.mark.parametrize("max_terms", [1, 4, 100])
def test_evidence_adds_up_to_the_margin(max_terms, wine):
    _, X, y = wine
    model = AutoSSLART(random_state=0).fit(X, np.where(np.arange(len(y)) % 5 == 0, y, None))
    why = model.explain(X[:1])[0]
    display = rendered(EvidenceDisplay.from_estimator(model, X.iloc[0], max_terms=max_terms))
    *amounts, total = [amount for _, amount in display.bars]
    assert total == pytest.approx(why.evidence.margin)
    assert sum(amounts) == pytest.approx(total)
    named = [name for name, _ in display.bars if " = " in name or name.startswith("box ")]
    assert len(named) <= max_terms
    assert [bar.get_width() for bar in display.ax_.patches] == pytest.approx([*amounts, total])
    assert f"Answer: {why.answer}" in display.ax_.get_title(loc="left")
    assert str(why.evidence.runner_up) in display.ax_.get_xlabel()


def test_evidence_is_drawn_for_one_class_for_ensembles_and_for_abstention():
    X, y = make(4, 3)
    for model in (
        AutoSSLART(random_state=0).fit(X, ["one"] * len(y)),
        WESSLART(3, mapping="evidence", random_state=0).fit(X, y),
        AutoSSLART(abstain_below=1.0, random_state=0).fit(X, y),
    ):
        display = rendered(EvidenceDisplay.from_estimator(model, X[0]))
    assert "abstains" in display.ax_.get_title(loc="left")
    with pytest.raises(ValueError, match="ReasonDisplay"):
        EvidenceDisplay.from_estimator(FuzzyARTMAP().fit(X, y), X[0])


def test_votes_are_those_of_the_explanation(ensembles):
    model, X, _, _ = ensembles["12 classes"]
    why = model.explain(X[:1])[0]
    display = VotesDisplay.from_explanation(why, max_classes=4)
    assert display.shown[0] == why.answer
    assert len(display.shown) == 4
    assert "4 of 12 classes" in display.ax_.get_title(loc="left")
    drawn = sum(bar.get_width() for bar in display.ax_.patches)
    assert drawn == pytest.approx(sum(why.scores[label] for label in display.shown))


def test_votes_are_drawn_from_predictions_too(ensembles):
    display = rendered(
        VotesDisplay.from_predictions(["b", None, "a", "b"], [0.5, 1.0, 0.7, 0.4], classes=["a", "b", "c"])
    )
    assert display.answer == "b"
    assert display.scores == pytest.approx({"a": 0.7, "b": 0.9, "c": 0.0})
    assert display.shown == ("b", "a", "c")
    assert "4 members, 1 without a vote; 3 classes" in display.ax_.get_title(loc="left")
    assert VotesDisplay.from_predictions([1, -1, 0, 0]).answer == 0
    assert VotesDisplay.from_predictions([2, 1]).answer == 1, "the first class on ties"
    assert VotesDisplay.from_predictions([-1, -1]).answer is None
    model, X, _, _ = ensembles["wine"]
    why = model.explain(X[:1])[0]
    votes = VotesDisplay.from_explanation(why)
    again = VotesDisplay.from_predictions(
        [vote.vote for vote in why.votes], [vote.weight for vote in why.votes], classes=list(why.scores)
    )
    assert again.scores == pytest.approx(votes.scores)
    assert again.answer == votes.answer


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
    for one in (display, again):
        assert "correctness of 178 samples" in one.ax_.get_title(loc="left")


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
    assert f"{display.n_nodes[-1]} nodes" in display.ax_.get_title(loc="left")
    assert "after 36 samples" in display.ax_.get_title(loc="left")
    assert all(tick == round(tick) for tick in display.ax_.get_yticks())
    again = GrowthDisplay.from_history(display.n_samples, display.n_nodes)
    assert (again.ax_.lines[0].get_ydata() == display.n_nodes).all()


def test_growth_without_labels_leaves_a_fitted_model_as_it_is(wine):
    model, X, _ = wine
    before = model.n_nodes_
    display = GrowthDisplay.from_estimator(model, X)
    assert display.n_labelled_nodes.tolist() == [0] * len(display.n_samples)
    assert model.n_nodes_ == before
