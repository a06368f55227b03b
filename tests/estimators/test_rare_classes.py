"""A class that is never predicted comes with the remedy that fits, and its effect on the left-out labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sslart
from sslart._mapping.model_view import view_of
from sslart.cli import main

Captured = pytest.CaptureFixture[str]


def rare(n_rare: int = 5, shift: float = 1.0, seed: int = 2) -> tuple[Any, Any]:
    """Return two columns and labels, of which few are "ill" and lie at the edge of the others."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(100, 2))
    X[:n_rare] += shift
    return X, np.array(["ill"] * n_rare + ["healthy"] * (100 - n_rare), dtype=object)


def test_the_effect_of_balanced_costs_is_that_which_they_have() -> None:
    X, y = rare()
    model = sslart.AutoSSLART(random_state=0).fit(X, y)
    before = model.summary()
    assert [one.label for one in before.never_predicted] == ["ill"]
    remedy = before.remedy
    assert remedy is not None
    after = model.set_params(decision_costs="balanced").summary()
    left_out = view_of(model).left_out
    assert left_out is not None
    assert before.quality.accuracy is not None
    assert after.quality.accuracy is not None
    found = int(((left_out.predicted == 1) & (left_out.truth == 1)).sum())
    assert remedy.decision_costs == "balanced"
    assert (remedy.n_found, remedy.n_left_out) == (found, 5)
    assert found > 0
    assert remedy.accuracy_before == pytest.approx(before.quality.accuracy.value)
    assert remedy.accuracy == pytest.approx(after.quality.accuracy.value)
    assert str(before.warnings()["never predicted"]) == (
        f'ill: no left-out label is predicted so; decision_costs="balanced" (--cost balanced) would find {found} of '
        f"the 5 left-out labels of it instead of 0, and accuracy would go from "
        f"{100 * before.quality.accuracy.value:.1f} % to "
        f"{100 * after.quality.accuracy.value:.1f} %"
    )
    assert after.remedy is None


def test_more_labels_are_the_remedy_where_costs_find_none() -> None:
    X, y = rare(3, 0.0, 1)
    y[1:3] = "healthy"
    one_label = sslart.AutoSSLART(random_state=0).fit(X, y).summary()
    assert one_label.remedy is not None
    assert one_label.remedy.decision_costs is None
    assert str(one_label.remedy) == ("without its only label, nothing is known of it: label more samples of this class")
    X, y = rare(2, 0.0, 1)
    X[0], X[1] = (-0.4, 0.1), (0.4, -0.1)  # apart, and among the others
    two_labels = sslart.AutoSSLART(random_state=0).fit(X, y).summary()
    assert two_labels.remedy is not None
    assert two_labels.remedy.n_found == 0
    assert "would find none of the 2 left-out labels of it either: label more samples" in str(two_labels.remedy)
    assert 'class_weight="balanced"' in str(two_labels.remedy)


def test_costs_and_weights_that_are_set_are_not_proposed_again() -> None:
    X, y = rare(4, 0.5)
    costs = sslart.AutoSSLART(random_state=0, decision_costs={("ill", "healthy"): 0.5}).fit(X, y).summary()
    assert "the costs that are set do not find it" in str(costs.remedy)
    weights = sslart.AutoSSLART(random_state=0, class_weight={"ill": 0.5, "healthy": 1}).fit(X, y).summary()
    assert "the class weights that are set do not find it" in str(weights.remedy)


def test_nothing_is_said_where_every_class_is_predicted() -> None:
    X, y = rare(40, 3.0)
    assert sslart.AutoSSLART(random_state=0).fit(X, y).summary().remedy is None


@pytest.mark.parametrize("kind", [[], ["--mapping", "one-to-many"], ["--members", "2"]], ids=str)
def test_the_command_line_names_the_remedy_for_every_model(kind: list[str], tmp_path: Path, capsys: Captured) -> None:
    X, y = rare(5, 1.0, 3)
    data, out = tmp_path / "data.csv", tmp_path / "model.sslart"
    pd.DataFrame(X, columns=["a", "b"]).assign(state=y).to_csv(data, index=False)
    assert main(["fit", str(data), "--label", "state", "--out", str(out), "--json", *kind]) == 0
    found = json.loads(capsys.readouterr().out)
    if found["never_predicted"]:
        assert found["beware"]["never predicted"].endswith(found["remedy"]["text"])
        assert "--cost" in found["remedy"]["text"]
    else:
        assert found["remedy"] is None
    if not kind:
        assert found["never_predicted"] == ["ill"]


@pytest.mark.usefixtures("plain_pictures")
def test_the_report_has_the_sentence_of_the_summary(tmp_path: Path) -> None:
    X, y = rare()
    model = sslart.AutoSSLART(random_state=0).fit(X, y)
    page = Path(sslart.report(model, X, None, tmp_path / "page.html")).read_text()
    expected = model.summary().warnings()["never predicted"]
    assert expected.replace('"', "&#34;") in page
