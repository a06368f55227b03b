"""The displays of importance and dependence: bars are the importances, points are the contributions."""

import numpy as np
import pandas as pd
import pytest
from drawn import DATA, no_figure_is_left_open, rendered  # noqa: F401
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from sslart import SSLART, AutoSSLART
from sslart.plotting import DependenceDisplay, ImportanceDisplay


@pytest.fixture(scope="module")
def cancer():
    data = load_breast_cancer(as_frame=True)
    y = data.target_names[data.target].astype(object)
    y[np.arange(len(y)) % 10 > 0] = None
    return AutoSSLART(random_state=0).fit(data.data, y), data.data


@pytest.fixture(scope="module")
def mixed():
    X, y = DATA["mixed"]()
    return AutoSSLART(random_state=0).fit(X, y), X


def colour_of(bar):
    return tuple(np.round(bar.get_facecolor(), 3))


def test_bars_are_the_importances_the_greatest_first(cancer):
    model, _ = cancer
    display = rendered(ImportanceDisplay.from_estimator(model, max_features=7))
    found = model.feature_importances()
    assert display.shown == [found.feature_names[column] for column in found.order[:7]]
    widths = [bar.get_width() for bar in display.ax_.patches[:7]]
    np.testing.assert_allclose(widths, np.sort(found.importances)[::-1][:7])


def test_with_two_classes_a_colour_is_a_settled_direction():
    X = pd.DataFrame(np.random.default_rng(0).uniform(size=(300, 3)), columns=["up", "down", "none"])
    y = np.where(X["up"] > X["down"], "malignant", "benign").astype(object)
    y[80:] = None
    display = rendered(ImportanceDisplay.from_estimator(AutoSSLART(random_state=0).fit(X, y), X))
    found = display.importances
    raised = [found.settled_direction[found.feature_names.index(name), 1] for name in display.shown]
    assert raised[:2] in ([1, -1], [-1, 1])
    colours = [colour_of(bar) for bar in display.ax_.patches[: len(raised)]]
    assert len(set(zip(raised, colours, strict=True))) == len(set(raised))
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "higher values raise the score of malignant" in names


def test_with_more_classes_the_parts_of_a_bar_add_up_to_the_importance():
    X, y = load_wine(return_X_y=True)
    display = rendered(ImportanceDisplay.from_estimator(AutoSSLART(random_state=0).fit(X[::2], y[::2])))
    found = display.importances
    for row, column in enumerate(found.order):
        parts = [bar.get_width() for bar in display.ax_.patches if round(bar.get_y() + bar.get_height() / 2) == row]
        assert sum(parts) == pytest.approx(found.importances[column])


def test_a_model_that_uses_only_the_graph_of_boxes_has_one_bar():
    X, y = DATA["digits"]()
    model = SSLART(mapping="evidence", families=["propagated"], random_state=0).fit(X, y)
    display = rendered(ImportanceDisplay.from_estimator(model))
    assert display.shown == []
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["similar samples without a label"]


def test_points_are_values_and_contributions(cancer):
    model, X = cancer
    display = rendered(DependenceDisplay.from_estimator(model, X, "worst area", max_samples=1000))
    assert display.shown == ["malignant"]
    points = display.ax_.collections[0].get_offsets()
    parts = model.contributions(X)
    np.testing.assert_allclose(points[:, 0], X["worst area"])
    np.testing.assert_allclose(points[:, 1], parts.values[:, X.columns.get_loc("worst area"), 1])


def test_of_many_samples_an_even_spread_is_drawn(cancer):
    model, X = cancer
    display = DependenceDisplay.from_estimator(model, X, 0, max_samples=50)
    assert len(display.contributions.data) == 50
    assert display.contributions.data[-1].tolist() == X.iloc[-1].tolist()


def test_categories_are_strips_with_their_number_of_samples(mixed):
    model, X = mixed
    display = rendered(DependenceDisplay.from_estimator(model, X, "smoker"))
    counts = X["smoker"].value_counts()
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == [f"{name} ({count})" for name, count in counts.items()]
    assert "9 left out" in " ".join(display.ax_.get_title(loc="left").split())


def test_missing_numbers_are_counted(mixed):
    model, X = mixed
    display = rendered(DependenceDisplay.from_estimator(model, X, "age (years)"))
    assert f"{X['age (years)'].isna().sum()} left out: no value" in " ".join(display.ax_.get_title(loc="left").split())


def test_chosen_classes_are_drawn():
    data = load_iris(as_frame=True)
    model = AutoSSLART(random_state=0).fit(data.data, data.target_names[data.target])
    display = rendered(DependenceDisplay.from_estimator(model, data.data, 3, classes=["virginica"]))
    assert display.shown == ["virginica"]
    assert "virginica" in display.ax_.get_ylabel()


def test_errors_name_the_cure(cancer):
    model, X = cancer
    parts = model.contributions(X[:5])
    for call, cure in [
        (lambda: ImportanceDisplay.from_estimator(model, max_features=0), "max_features"),
        (lambda: DependenceDisplay.from_estimator(model, X, "taste"), "no feature 'taste'.*mean radius"),
        (lambda: DependenceDisplay.from_estimator(model, X, 30), "no feature 30"),
        (lambda: DependenceDisplay.from_estimator(model, X, 0, max_samples=0), "max_samples"),
        (lambda: DependenceDisplay.from_contributions(parts, 0, classes=["ill"]), "'benign', 'malignant'"),
        (lambda: DependenceDisplay.from_contributions(parts, 0, classes=[]), "one or more"),
    ]:
        with pytest.raises(ValueError, match=cure):
            call()
    with pytest.raises(TypeError, match=r"model.feature_importances\(\)"):
        ImportanceDisplay.from_importances(parts)
    with pytest.raises(TypeError, match=r"model.contributions\(X\)"):
        DependenceDisplay.from_contributions(model.feature_importances(), 0)


def test_a_column_without_any_value_can_be_drawn():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = AutoSSLART(random_state=0).fit(X, y)
    unknown = pd.DataFrame(X).assign(**{"petal width (cm)": np.nan})
    display = rendered(DependenceDisplay.from_estimator(model, unknown, "petal width (cm)"))
    assert "150 left out" in display.ax_.get_title(loc="left")
