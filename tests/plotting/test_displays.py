"""All displays: readable with few or many features and classes, on any axis, with errors that name the cure."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawn import DATA, ensemble_of, make, no_figure_is_left_open, rendered, wine_model  # noqa: F401
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from sslart import WESSLART, AutoSSLART
from sslart.plotting import (
    BoxesDisplay,
    CoverageCorrectnessDisplay,
    DependenceDisplay,
    GrowthDisplay,
    ImportanceDisplay,
    ReasonDisplay,
    RuleHeatmapDisplay,
    RuleParallelDisplay,
    VotesDisplay,
)


def with_evidence(model, X, y):
    """Return a model with evidence mapping in the place of a fitted ensemble, any other model as it is."""
    return AutoSSLART(random_state=0).fit(X, y) if hasattr(model, "estimators_") else model


DRAW = {
    "boxes": lambda model, X, y, ax: BoxesDisplay.from_estimator(model, X, y, ax=ax),
    "parallel": lambda model, X, y, ax: RuleParallelDisplay.from_estimator(model, ax=ax),
    "heatmap": lambda model, X, y, ax: RuleHeatmapDisplay.from_estimator(model, ax=ax),
    "reason": lambda model, X, y, ax: ReasonDisplay.from_estimator(model, X[:1], ax=ax),
    "coverage": lambda model, X, y, ax: CoverageCorrectnessDisplay.from_estimator(model, X, y, depths=[1, None], ax=ax),
    "growth": lambda model, X, y, ax: GrowthDisplay.from_estimator(model, X, y, batch=100, ax=ax),
    "importance": lambda model, X, y, ax: ImportanceDisplay.from_estimator(with_evidence(model, X, y), ax=ax),
    "dependence": lambda model, X, y, ax: DependenceDisplay.from_estimator(with_evidence(model, X, y), X, 1, ax=ax),
    "votes": lambda model, X, y, ax: VotesDisplay.from_estimator(model, X[:1], ax=ax),
}
QUICK = {
    "boxes": ["2 features"],
    "parallel": ["60 features", "mixed"],
    "heatmap": ["60 features", "mixed"],
    "reason": ["60 features", "mixed"],
    "coverage": ["wine"],
    "growth": ["12 classes"],
    "importance": ["mixed"],
    "dependence": ["iris", "mixed"],
    "votes": ["60 features"],
}
NEED_A_FITTED_MODEL = [name for name in DRAW if name != "growth"]


def texts_of(display):
    """Return the visible texts in and around the axis with their places, without slanted ones."""
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
def test_every_display_of_every_data_set_can_be_read(name, data):
    model, X, few, y = ensemble_of(data)
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
def test_a_legend_stays_in_a_figure_that_makes_no_room_for_it(name):
    model, X, few, _ = ensemble_of("wine")
    axis = plt.figure(figsize=(9, 5)).add_subplot()
    display = rendered(DRAW[name](model, X, few, axis))
    assert display.figure_.bbox.contains(*display.ax_.get_legend().get_window_extent().max)


@pytest.mark.parametrize(
    ("name", "layout"), [*((name, None) for name in DRAW), ("heatmap", "constrained"), ("boxes", "tight")]
)
def test_a_display_draws_on_the_given_axis_and_opens_no_figure_beside_it(name, layout):
    model, X, _, y = ensemble_of("wine")
    figure, axes = plt.subplots(1, 2, figsize=(16, 6), layout=layout)
    display = rendered(DRAW[name](model, X, y, axes[1]))
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    assert not axes[0].has_data()
    assert len(plt.get_fignums()) == 1


@pytest.mark.parametrize("name", DRAW)
def test_a_display_can_be_drawn_again(name):
    model, X, _, y = ensemble_of("wine")
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


@pytest.mark.parametrize(
    "name", ["boxes", "parallel", "heatmap", "reason", "growth", "importance", "dependence", "votes"]
)
def test_a_model_of_another_package_is_refused(name):
    X, y = make(2, 3)
    with pytest.raises(TypeError, match=r"sslart|SSLART"):
        DRAW[name](LogisticRegression().fit(X, y), X, y, None)


def test_errors_name_the_cure():
    model, X, y = wine_model()
    rules, why = model.rules(kind="boxes"), model.explain(X[:1])[0]
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


def test_rules_and_explanations_of_the_wrong_kind_are_refused():
    model, X, _ = wine_model()
    with pytest.raises(TypeError, match=r"model.rules\(kind"):
        RuleHeatmapDisplay.from_rules(list(model.rules(kind="boxes")))
    with pytest.raises(TypeError, match=r"explain\(X\)\[0\]"):
        ReasonDisplay.from_explanation(model.explain(X[:1]))


def test_without_matplotlib_the_error_names_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("matplotlib.")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r'pip install "matplotlib>='):
        GrowthDisplay.from_history([1, 2], [1, 2])
