"""Every example of the gallery runs without a warning, draws, prints, and shows what its prose states."""

from __future__ import annotations

import ast
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import needs_kernel

plt = pytest.importorskip("matplotlib.pyplot")

GALLERY = Path(__file__).parents[2] / "examples" / "gallery"
SCRIPTS = sorted(GALLERY.rglob("plot_*.py"))

# what the text below an example refers to
PRINTED = {
    "plot_abstention": r"abstain_below=0\.9: +[\d.]+ % predicted, [\d.]+ % of these right",
    "plot_anomaly": r"Alarms before a fault began: [\d.]+% of the samples; after: \d+%",
    "plot_calibration": r"digits, 60 labels, AutoSSLART: .* calibration error [\d.]+%",
    "plot_drift": r"half_life=\"auto\": \d+% right after the labels have changed",
    "plot_ensemble": r"weighted( +[\d.]+){4}\nmajority( +[\d.]+){4}",
    "plot_evidence": r"digits +left-out labels +[\d.]+%, test samples +[\d.]+%",
    "plot_explain_patient": r"Prediction: .*\n(.*\n)+The prediction would be ",
    "plot_few_labels": r"AutoSSLART( +[\d.]+){3}\nlabel spreading( +[\d.]+){3}",
    "plot_importance": r"color intensity +0\.\d+ ± 0\.\d+ +\d+ %  higher values: ",
    "plot_labelling": r"at random: [\d.]+ % with 4,",
    "plot_missing_values": r"AutoSSLART( +[\d.]+){3}",
    "plot_pipeline_search": r"chosen: .*\nin the search [\d.]+%, on test samples [\d.]+%",
    "plot_rules": r"simplified: \d+ rules, \d+ conditions",
    "plot_stream": r"continues learning: \d+% of the last 200 predictions are right",
    "plot_vigilance": r"ρ = 0\.00: +1\.0 boxes",
}


def name_of(script: Path) -> str:
    return script.stem


@pytest.fixture(autouse=True)
def no_window(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(plt, "show", lambda: None)
    with plt.rc_context():
        yield
    plt.close("all")


IN_EVERY_RUN = ("plot_evidence", "plot_rules")


def with_marks(script: Path) -> Any:
    """Return a script as a parameter; most are run by `make test-slow`."""
    return pytest.param(script, id=name_of(script), marks=() if script.stem in IN_EVERY_RUN else pytest.mark.slow)


@needs_kernel  # the reference gives the same results, but some examples take it a minute
@pytest.mark.parametrize("script", [with_marks(one) for one in SCRIPTS])
def test_an_example_draws_prints_and_shows_what_it_states(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = runpy.run_path(str(script))  # warnings are errors, as in all tests
    figures = [plt.figure(number) for number in plt.get_fignums()]
    assert figures
    for figure in figures:
        figure.canvas.draw()
    assert all(axis.get_xlabel() or not axis.axison for figure in figures for axis in bottom_axes(figure))
    assert re.search(PRINTED[script.stem], capsys.readouterr().out)
    check = CLAIMS.get(script.stem)
    if check:
        check(names)


def bottom_axes(figure: Any) -> list[Any]:
    """Return the axes that have ticks below, without colour bars and rules, whose ticks are names."""
    return [
        axis
        for axis in figure.axes
        if axis.get_label() != "<colorbar>"
        and any(label.get_visible() for label in axis.get_xticklabels())
        and all(re.fullmatch(r"[-−\d.]*", label.get_text()) for label in axis.get_xticklabels())
    ]


@pytest.mark.parametrize("script", SCRIPTS, ids=name_of)
def test_an_example_is_short_and_has_a_title_and_text(script: Path) -> None:
    source = script.read_text()
    title, underline, *rest = (ast.get_docstring(ast.parse(source)) or "").splitlines()
    assert re.fullmatch("=+", underline)
    assert len(underline) == len(title)
    assert " ".join(rest).strip()
    assert "# %%" in source
    assert "What to see" in source
    assert len(source.splitlines()) <= 100


def test_the_gallery_has_a_header_and_examples_enough() -> None:
    assert (GALLERY / "GALLERY_HEADER.rst").is_file()
    assert len(SCRIPTS) >= 8
    assert {script.stem for script in SCRIPTS} == set(PRINTED)


@pytest.mark.parametrize("script", SCRIPTS, ids=name_of)
def test_an_example_needs_no_data_but_what_scikit_learn_ships(script: Path) -> None:
    source = script.read_text()
    assert "reproduction" not in source
    assert "fetch_" not in source


# What the prose states, looked up in what the script computed.


def unlabelled_samples_help_while_labels_are_few(names: dict[str, Any]) -> None:
    first = {name: values[:, 0].mean() for name, values in names["accuracy"].items()}
    worst_of_those_that_use_them = min(first[name] for name in names["semi_supervised"])
    assert worst_of_those_that_use_them > max(first[name] for name in names["supervised"])


def boxes_grow_in_number_and_accuracy_is_level_in_the_end(names: dict[str, Any]) -> None:
    boxes, accuracy = names["boxes"].mean(axis=0), names["accuracy"].mean(axis=0)
    assert (np.diff(boxes) > 0).all()
    assert np.ptp(accuracy[-4:]) < 5 < accuracy[-1] - accuracy[0]


def fewer_predictions_are_better_predictions(names: dict[str, Any]) -> None:
    assert (np.diff(names["coverage"].mean(axis=0)) < 0).all()
    assert (np.diff(names["correctness"].mean(axis=0)) > 0).all()


def old_classes_stay_and_new_ones_are_learnt(names: dict[str, Any]) -> None:
    y = names["y"][-200:]
    continues, stops = (classes[-200:] for classes in names["predicted"].values())
    assert np.mean((continues == y)[y < 8]) >= np.mean((stops == y)[y < 8]) - 0.02
    assert np.mean((continues == y)[y >= 8]) > 0.7
    assert not (stops >= 8).any()


def alarms_are_rare_before_faults_and_some_faults_are_never_detected(names: dict[str, Any]) -> None:
    assert names["false_alarms"] < 0.02
    stays, compensated, usual = names["detected"][:, -1]
    assert stays > 0.95
    assert 0.1 < compensated < 0.5
    assert usual < 0.05


def the_vote_is_more_accurate_than_a_member_and_weights_change_little(names: dict[str, Any]) -> None:
    last = {name: values.mean(axis=0)[-1] for name, values in names["accuracy"].items()}
    assert last["weighted"] > last["single member"] + 0.1
    assert abs(last["weighted"] - last["majority"]) < 0.03


def propagated_labels_have_most_of_the_weight_on_digits(names: dict[str, Any]) -> None:
    digits = names["weights"]["digits"]
    assert max(digits, key=digits.get) == "propagated"
    assert sum(digits.values()) == pytest.approx(1)


def selected_samples_help_more_than_random_ones(names: dict[str, Any]) -> None:
    shape = len(names["SEEDS"]), len(names["N_LABELS"])
    selected, chance = (np.reshape(values, shape).mean(axis=0) for values in names["accuracy"].values())
    assert (selected[1:-1] > chance[1:-1] + 0.04).all()
    assert abs(selected[-1] - chance[-1]) < 0.02


def the_change_leads_to_the_other_prediction(names: dict[str, Any]) -> None:
    why, here = names["why"], names["values"] == names["change"].after
    assert not names["others"]
    assert why.counterfactual.prediction != why.prediction
    assert ((names["risk"][here] > 0.5) == (why.counterfactual.prediction == "fast")).all()


def rules_get_shorter(names: dict[str, Any]) -> None:
    assert len(names["short"]) < len(names["rules"])


def both_changes_are_found_and_forgetting_helps(names: dict[str, Any]) -> None:
    kinds = [(event.kind, [feature.name for feature in event.features]) for event in names["model"].drift_]
    assert kinds == [("novelty", ["flow"]), ("error", [])]
    nothing, auto = (values[names["RENAMED"] // names["BATCH"] :].mean() for values in names["right"].values())
    assert auto > nothing + 0.3


CLAIMS = {
    "plot_abstention": fewer_predictions_are_better_predictions,
    "plot_anomaly": alarms_are_rare_before_faults_and_some_faults_are_never_detected,
    "plot_drift": both_changes_are_found_and_forgetting_helps,
    "plot_ensemble": the_vote_is_more_accurate_than_a_member_and_weights_change_little,
    "plot_evidence": propagated_labels_have_most_of_the_weight_on_digits,
    "plot_explain_patient": the_change_leads_to_the_other_prediction,
    "plot_few_labels": unlabelled_samples_help_while_labels_are_few,
    "plot_labelling": selected_samples_help_more_than_random_ones,
    "plot_rules": rules_get_shorter,
    "plot_stream": old_classes_stay_and_new_ones_are_learnt,
    "plot_vigilance": boxes_grow_in_number_and_accuracy_is_level_in_the_end,
}
