"""`sslart fit` makes every model of the paper, describes it in words, and refuses options that do not go together."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import load_iris

import sslart
from sslart.cli import main
from tables import check_refused, iris

Captured = pytest.CaptureFixture[str]
FIT = ("--label", "species", "--ignore", "flower")


def learnt_by_the_library(estimator: Any) -> Any:
    data = load_iris(as_frame=True)
    y = data.target_names[data.target].astype(object)
    y[[i for i in range(150) if i % 5]] = None
    return estimator.fit(data.data, y)


MODELS = {
    "--mapping one-to-many": sslart.SSLART(random_state=0),
    "--mapping one-to-one --match-tracking 0.05 --vigilance 0.6": sslart.SSLART(
        0.6, mapping="one-to-one", match_tracking=0.05, random_state=0
    ),
    "--choice 0.5 --vigilance 0.6": sslart.SSLART(0.6, choice=0.5, random_state=0),
    "--learning-rate 0.5": sslart.SSLART(learning_rate=0.5, random_state=0),
    "--choice 0.5 --mapping evidence": sslart.SSLART(choice=0.5, mapping="evidence", random_state=0),
    "--mapping evidence": sslart.AutoSSLART(random_state=0),
    "--members 3": sslart.WESSLART(3, random_state=0),
    "--members 3 --validation labelled": sslart.WESSLART(3, random_state=0),
    "--members 3 --voting weighted --validation 0.3 --vigilance 0.7": sslart.WESSLART(
        3, validation=0.3, vigilance=0.7, random_state=0
    ),
    "--members 4 --voting majority --quorum 3 --mapping one-to-one": sslart.WESSLART(
        4, voting="majority", quorum=3, mapping="one-to-one", random_state=0
    ),
    "--mapping one-to-one --half-life 500": sslart.SSLART(mapping="one-to-one", half_life=500.0, random_state=0),
    "--half-life auto": sslart.AutoSSLART(half_life="auto", random_state=0),
    "--max-nodes 5": sslart.AutoSSLART(max_nodes=5, random_state=0),
    "--max-nodes none": sslart.AutoSSLART(max_nodes=None, random_state=0),
    "--mapping one-to-many --max-nodes 20": sslart.SSLART(max_nodes=20, random_state=0),
    "--members 3 --max-nodes 20": sslart.WESSLART(3, max_nodes=20, random_state=0),
    "--members 3 --mapping evidence --voting majority": sslart.WESSLART(
        3, voting="majority", mapping="evidence", random_state=0
    ),
}


def some_of(all_options: Iterable[str]) -> list[Any]:
    """Return options as parameters; ensembles whose members choose their settings are made by `make test-slow`."""
    long = "--members 3 --mapping evidence"
    return [pytest.param(one, marks=pytest.mark.slow if one.startswith(long) else ()) for one in all_options]


@pytest.mark.parametrize("options", some_of(MODELS))
def test_options_make_the_model_that_the_library_makes(options: str, tmp_path: Path) -> None:
    out = tmp_path / "model.sslart"
    assert main(["fit", str(iris(tmp_path)), *FIT, *options.split(), "--out", str(out), "--quiet"]) == 0
    model, expected = sslart.load(out), learnt_by_the_library(MODELS[options])
    assert type(model) is type(expected)
    assert model.get_params() == expected.get_params()
    assert (model.lower_ == expected.lower_).all()
    assert (model.counts_ == expected.counts_).all()
    X = load_iris(as_frame=True).data
    assert (model.predict_proba(X) == expected.predict_proba(X)).all()


WORDS = {
    "": ["a single SSL-ART model", "settings chosen by leave-one-out", "ridge regression on the labels"],
    "--choice 0.1": ["a single SSL-ART model", "one-to-many: a box may contain labels of several classes"],
    "--mapping one-to-one": ["a single SSL-ART model", "one-to-one: a box contains labels of one class only"],
    "--members 3": ["WESSL-ART: weighted vote of 3 SSL-ART models", "on the labelled training samples"],
    "--members 3 --validation 0.3": ["recall of its class", "30 % of the labelled samples, held out from training"],
    "--members 3 --mapping evidence": ["WESSL-ART", "by leave-one-out"],
    "--members 3 --voting majority --quorum 2": ["VESSL-ART: majority vote of 3", "at least 2 members vote"],
}


@pytest.mark.parametrize("options", some_of(WORDS))
def test_the_summary_describes_the_model(options: str, tmp_path: Path, capsys: Captured) -> None:
    arguments = ["fit", str(iris(tmp_path)), *FIT, *options.split(), "--out", str(tmp_path / "model.sslart")]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    for words in WORDS[options]:
        assert words in printed
    assert main([*arguments, "--json"]) == 0
    for topic, words in json.loads(capsys.readouterr().out)["description"].items():
        assert f"{words}\n" in "".join(f"{line.rstrip()}\n" for line in printed.splitlines() if line.startswith(topic))


REFUSED = {
    "--voting majority": ["--voting is for ensembles", "--members 7"],
    "--validation 0.3": ["--validation is for ensembles", "--members 7"],
    "--quorum 2": ["--quorum is for ensembles", "--members 7"],
    "--members 3 --quorum 4": ["would always abstain", "at most 3"],
    "--match-tracking 0.1": ["--match-tracking is for one-to-one", "add --mapping one-to-one"],
    "--match-tracking 0.1 --mapping one-to-many": ["add --mapping one-to-one"],
    "--members 3 --validation 0.3 --mapping evidence": ["leave-one-out", "--mapping one-to-many"],
    "--members 3 --validation 0.3 --voting majority": ["a majority vote does not use", "--voting weighted"],
    "--half-life auto --mapping one-to-many": ["--half-life auto is for evidence mapping", "--half-life 10000"],
    "--half-life auto --members 3": ["add --mapping evidence"],
    "--choice 0": ["must be above 0", "1e-9"],
    "--learning-rate 0": ["learning_rate", "in (0, 1]"],
}


@pytest.mark.parametrize("options", REFUSED)
def test_options_that_do_not_go_together_are_refused_with_the_cure(
    options: str, tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "model.sslart"
    arguments = ["fit", str(iris(tmp_path)), *FIT, *options.split(), "--out", str(out)]
    check_refused(arguments, REFUSED[options], capsys)
    assert not out.exists()


WRONG_VALUES = {
    "--max-nodes": ("a whole number of boxes, at least 2", ["0", "1", "2.5", "-3", "many", "²"]),
    "--half-life": ("a number of rows, at least 1", ["0", "0.5", "-3", "nan", "inf", "soon"]),
    "--validation": ("a share between 0 and 1", ["0", "1", "-0.5", "nan", "some"]),
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in WRONG_VALUES for value in WRONG_VALUES[name][1]])
def test_a_value_of_another_kind_is_wrong_usage(name: str, value: str, tmp_path: Path, capsys: Captured) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["fit", str(iris(tmp_path)), *FIT, "--members", "3", f"{name}={value}"])
    assert stop.value.code == 2
    assert WRONG_VALUES[name][0] in capsys.readouterr().err


def test_a_vigilance_that_was_lowered_is_shown(tmp_path: Path, capsys: Captured) -> None:
    assert main(["fit", str(iris(tmp_path)), *FIT, "--max-nodes", "5", "--out", str(tmp_path / "model.sslart")]) == 0
    assert "in use: lowered, and close boxes merged, to keep at most 5 boxes" in " ".join(
        capsys.readouterr().out.split()
    )


def test_accuracy_is_not_measured_where_too_few_labels_are_left_to_hold_out(tmp_path: Path, capsys: Captured) -> None:
    data, out = tmp_path / "data.csv", tmp_path / "model.sslart"
    data.write_text("size,kind\n" + "".join(f"{row},{'ab'[row // 6]}\n" for row in range(12)))
    arguments = ["fit", str(data), "--label", "kind", "--members", "2", "--out", str(out)]
    assert main([*arguments, "--validation", "0.1"]) == 0
    assert "not measured: a class has too few labels" in capsys.readouterr().out
    assert sslart.load(out).validation == 0.1
    assert main([*arguments, "--validation", "0.3"]) == 0
    assert "95 % interval" in capsys.readouterr().out
