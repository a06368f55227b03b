"""A class named by `--model` joins the contenders, or is refused with the cause and the remedy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reproduction.__main__ import main
from reproduction.framework.protocol import Task, split, task_and_exam
from reproduction.framework.settings import Settings
from reproduction.methods.variant import UnsuitableModelError, Variant
from reproduction.runner.registry import EXPERIMENTS
from reproduction.runner.run import refusal
from reproduction.tests.own_models import Watched

MODELS = "reproduction.tests.own_models"


@pytest.fixture
def task() -> Task:
    random = np.random.RandomState(0)
    target = np.repeat(["a", "b", "c"], 40)
    X = random.normal(size=(120, 3)) + 5 * np.repeat([0, 1, 2], 40)[:, None]
    X[::9, 1] = np.nan
    rows = split(target, random, test=0.2, labelled=0.3)
    return task_and_exam(X, target, rows, 0)[0]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("SVC", "takes package:Class, such as sklearn.svm:SVC, got 'SVC'"),
        ("no_such_package:Model", "the import of no_such_package fails with ModuleNotFoundError.*Install it"),
        ("sklearn.svm:SVD", "SVD is not there in sklearn.svm. Did you mean SV"),
        ("sklearn.svm:l1_min_c", "l1_min_c is no class in sklearn.svm. Its classes: "),
        (f"{MODELS}:NoPredict", r"has no method predict\. Give it fit\(X, y\) and predict\(X\)"),
        (f"{MODELS}:NeedsMore", "fails with TypeError: .*'k'. Give every parameter a default"),
    ],
)
def test_an_unsuitable_class_is_refused_with_cause_and_remedy(name: str, message: str) -> None:
    with pytest.raises(UnsuitableModelError, match=message):
        Variant.of(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Strange", "predict returned 'other', which is no class"),
        ("Flat", r"predict returned an array of shape \(24, 2\) for 24 samples"),
        ("Fails", "fit fails with RuntimeError: no more memory"),
    ],
)
def test_a_class_that_fails_at_work_is_named(name: str, message: str, task: Task) -> None:
    with pytest.raises(UnsuitableModelError, match=message):
        Variant.of(f"{MODELS}:{name}").fitted(task).predict(task.X_test)


@pytest.mark.parametrize(
    "name",
    [f"{MODELS}:High", "sslart:AutoSSLART", "sklearn.naive_bayes:GaussianNB", "sklearn.semi_supervised:LabelSpreading"],
)
def test_classifiers_of_sslart_and_of_scikit_learn_predict_names_of_classes(name: str, task: Task) -> None:
    predicted = Variant.of(name).fitted(task).predict(task.X_test)
    assert np.mean(predicted == np.repeat(["a", "b", "c"], 8)) > 0.9


def test_a_class_without_use_for_unlabelled_samples_learns_the_labelled_ones_alone(task: Task) -> None:
    Watched.seen.clear()
    Variant.of(f"{MODELS}:Watched").fitted(task)
    assert Watched.seen == [[-1, 0, 1, 2], [0, 1, 2]]


@pytest.mark.parametrize("name", [f"{MODELS}:High", "sklearn.naive_bayes:GaussianNB"])
def test_a_stream_goes_on_with_partial_fit(name: str, task: Task) -> None:
    rows = task.labelled
    first = Task(task.X, np.where(task.y == "c", None, task.y), task.X_test, 0)
    model = Variant.of(name).fitted(first, of_stream=np.array(["a", "b", "c"], dtype=object))
    model.partial_fit(task.X[rows], task.y[rows])
    assert set(model.predict(task.X_test)) == {"a", "b", "c"}


def test_vigilance_is_set_where_there_is_one(task: Task) -> None:
    high = Variant.of(f"{MODELS}:High").at(task, (0.5, 0.9))
    assert [(model.model.vigilance, same) for model, same in high] == [(0.5, (0.5,)), (0.9, (0.9,))]
    ((_, same),) = Variant.of("sklearn.naive_bayes:GaussianNB").at(task, (0.5, 0.9))
    assert same == (0.5, 0.9)


@pytest.mark.parametrize(
    ("experiment", "name", "message"),
    [
        ("incremental", "sklearn.svm:SVC", "needs a method partial_fit"),
        ("nodes", "sklearn.svm:SVC", "only a subclass of sslart.SSLART or sslart.WESSLART has"),
        ("rules", "sslart:WESSLART", "only a subclass of sslart.SSLART has"),
    ],
)
def test_an_experiment_says_what_it_needs(experiment: str, name: str, message: str) -> None:
    assert message in refusal(experiment, Settings(variants=(Variant.of(name),)))


def test_every_experiment_takes_a_variant_of_the_model_of_the_paper() -> None:
    settings = Settings(variants=(Variant.of(f"{MODELS}:High"),))
    assert [name for name in EXPERIMENTS if refusal(name, settings)] == []


def test_the_command_line_says_so_in_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["run", "nodes", "--model", "sklearn.svm:SVC", "--out", str(tmp_path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("reproduction: --model sklearn.svm:SVC: experiment 'nodes'")
