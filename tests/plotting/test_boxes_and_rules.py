"""Boxes and rules are drawn as the model has them."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from drawn import ensemble_of, make, many, no_figure_is_left_open, rendered, wine_model  # noqa: F401

from sslart import SSLART, FuzzyART, FuzzyARTMAP
from sslart.plotting import BoxesDisplay, ReasonDisplay, RuleHeatmapDisplay, RuleParallelDisplay, VotesDisplay
from sslart.plotting import _base as draw
from sslart.plotting._rules import bands


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


def test_twelve_classes_differ_in_boxes_rules_and_votes():
    model, X, _, y = ensemble_of("12 classes")
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
    classes = sorted(set(y))
    votes = VotesDisplay.from_predictions(classes, classes=classes)
    drawn = {(bar.get_edgecolor(), bar.get_facecolor(), bar.get_hatch()) for bar in votes.ax_.patches}
    assert len(drawn) == 12


def test_boxes_are_those_of_the_model():
    model, X, y = wine_model()
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


def test_the_two_features_in_which_classes_differ_most_are_picked():
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


def test_two_correlated_features_are_not_picked_for_boxes():
    X, y = make(4, 3)
    X[:, 1] = 2 * X[:, 0]
    X[:, 2:] = X[:, 2:] / 10 + np.arange(len(X))[:, None] % 12
    model = FuzzyARTMAP(vigilance=0.9).fit(X, y)
    assert model.n_nodes_ > 10
    assert set(BoxesDisplay.from_estimator(model).feature_names) != {"x0", "x1"}
    three = FuzzyARTMAP(vigilance=0.0).fit(X, y)
    assert set(BoxesDisplay.from_estimator(three).feature_names) == {"x0", "x1"}, "few boxes show no correlation"


def test_a_box_of_one_sample_is_drawn_as_a_mark():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]])
    axis = BoxesDisplay.from_estimator(FuzzyARTMAP(vigilance=1.0).fit(X, ["a", "b", "b"])).ax_
    assert sorted(line.get_xdata()[0] for line in axis.lines) == pytest.approx([0.0, 1.0, 5.0])


def test_a_category_between_two_that_a_rule_allows_is_left_open():
    frame = pd.DataFrame({"hue": ["a", "b", "c", "b"], "size": [1.0, 9.0, 1.0, 9.0]})
    model = FuzzyARTMAP(vigilance=0.0).fit(frame, ["x", "y", "x", "y"])
    rule, scale = model.rules(kind="boxes")[0], model.rules(kind="boxes").scales[0]
    assert rule.label == "x"
    assert np.array(bands(rule.conditions[0], scale)) == pytest.approx(np.array([[0, 1 / 3], [2 / 3, 1]]))
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
    assert "missing values, which add no distance: size" in reason.ax_.get_title(loc="left")
    whole = rendered(ReasonDisplay.from_estimator(model, frame[:1]))
    assert "missing" not in whole.ax_.get_title(loc="left")
    rendered(ReasonDisplay.from_estimator(model, pd.Series({"size": 1.0, "hue": "violet", "age": 3.0})))


def test_rules_are_those_of_the_model():
    model, X, _ = wine_model()
    rules = model.rules(kind="boxes")
    display = RuleParallelDisplay.from_estimator(model, max_rules=4, max_features=5)
    assert [rule.nodes for rule in display.rules] == [
        rules[rules.numbers.index(number)].nodes for number in display.numbers
    ]
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


def test_the_cells_of_the_heatmap_are_those_of_the_rule_table():
    model, _, _ = wine_model()
    display = RuleHeatmapDisplay.from_estimator(model, levels=4, max_rules=50, max_features=50)
    table = model.rules(kind="boxes", levels=4).to_frame()
    for number, cells in zip(display.numbers, display.cells, strict=True):
        assert cells == table.loc[number, list(display.feature_names)].tolist()
    assert len(display.rules) == len(table)
    assert "levels 1 (low) to 4 (high)" in display.ax_.get_title(loc="left")
    assert [[text.get_text() for text in row] for row in display.text_] == display.cells
    small = RuleHeatmapDisplay.from_estimator(model, ax=plt.figure(figsize=(2, 2)).add_subplot())
    assert small.text_ is None
