"""A report on a model with evidence mapping: left-out labels, calibration, abstention, importances, contributions."""

import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from test_reporting import few, iris, numbers_of

import sslart
from sslart import SSLART, WESSLART, AutoSSLART
from sslart._mapping.model_view import view_of
from sslart.active import learning_curve
from sslart.metrics import correctness_score, guarantees
from sslart.reporting._summary import confidence_of, observe

pytestmark = pytest.mark.usefixtures("plain_pictures")


def petals():
    """Return one feature and the classes: a page on it has few pictures."""
    X, y = iris()
    return X[["petal width (cm)"]], y


@pytest.fixture(scope="module")
def unlabelled(tmp_path_factory):
    """Return a model, samples, and a page on them that knows none of their classes."""
    X, y = iris()
    model = AutoSSLART(random_state=0).fit(X, few(y, 5))
    file = sslart.report(model, X[1::2], None, tmp_path_factory.mktemp("report") / "iris.html", max_samples=8)
    return model, X[1::2], file.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    """Return a model, samples with classes, and the page on them."""
    X, y = iris()
    random = np.random.RandomState(0)
    model = AutoSSLART(random_state=0).fit(X[::2], few(y[::2], 3))
    blurred = X[1::2] + random.normal(0, 0.5, X[1::2].shape)
    file = sslart.report(model, blurred, y[1::2], tmp_path_factory.mktemp("report") / "iris.html", max_samples=20)
    return model, blurred, y[1::2], file.read_text(encoding="utf-8")


@pytest.mark.slow
def test_without_classes_quality_is_that_of_left_out_labels(unlabelled):
    model, _, page = unlabelled
    left_out = numbers_of(page)["own_labels"]["quality"]
    assert left_out["accuracy"]["value"] == pytest.approx(model.quality_.accuracy.value)
    assert left_out["n_labels"] == 30
    confusion = np.array(left_out["confusion"])
    assert confusion.sum() == 30
    assert np.trace(confusion) == round(model.quality_.accuracy.value * 30)
    assert numbers_of(page)["quality"] is None
    assert "of left-out labels right" in page
    assert "predicted from all other labels, as if its own were not known" in page
    assert "left out together" not in page


@pytest.mark.slow
def test_the_page_names_labels_that_are_left_out_together(tmp_path):
    X, y = iris()
    X = X.iloc[:, 2:]
    model = AutoSSLART(random_state=0).fit(pd.concat([X, X]), np.tile(few(y, 5), 2))
    page = sslart.report(model, X, None, tmp_path / "a.html", max_samples=2).read_text(encoding="utf-8")
    assert "60 labels of 30 samples that come more than once" in page
    assert numbers_of(page)["own_labels"]["quality"]["accuracy"]["total"] == 30


def test_the_page_states_why_there_is_no_accuracy(tmp_path):
    X, y = petals()
    one_each = few(y, 50)
    model = AutoSSLART(random_state=0).fit(X, one_each)
    page = sslart.report(model, X, None, tmp_path / "a.html", max_samples=2).read_text(encoding="utf-8")
    assert "not measured:</b> each class has one label, which the others cannot predict." in page


def test_left_out_quality_of_an_ensemble_is_that_of_its_vote():
    X, y = iris()
    model = WESSLART(3, mapping="evidence", random_state=0).fit(X, few(y, 5))
    observed, left_out = observe(model, X, None), view_of(model).left_out
    quality, confidence = model.quality_, confidence_of(observed, left_out)
    members = [member.quality_.accuracy.value for member in model.estimators_]
    assert min(members) - 0.1 <= quality.accuracy.value <= max(members) + 0.1
    assert (quality.n_labels, quality.accuracy.total) == (30, 30)
    assert np.sum(quality.confusion) == 30
    assert confidence["of_left_out"]
    assert confidence["n_measured"] == 30


def test_a_model_that_keeps_no_labels_has_no_left_out_quality(tmp_path):
    X, y = iris()
    model = SSLART(vigilance=0.8, random_state=0).fit(X, few(y, 3))
    page = sslart.report(model, X, None, tmp_path / "a.html", max_samples=2).read_text(encoding="utf-8")
    assert numbers_of(page)["own_labels"]["quality"]["accuracy"] is None
    assert "the model keeps no labelled samples" in page
    assert not numbers_of(page)["confidence"]["bins"]
    assert "What matters to the predictions" not in page
    assert "The model in few rules" not in page  # a box decides, and the rules of the boxes are exact


@pytest.mark.slow
def test_calibration_counts_right_predictions_by_confidence(labelled):
    model, X, y, page = labelled
    confidence, right = model.predict_proba(X).max(axis=1), model.predict(X) == y
    found = numbers_of(page)["confidence"]
    assert (found["of_left_out"], found["n_measured"]) == (False, len(y))
    assert sum(one["right"]["total"] for one in found["bins"]) == len(y)
    for one in found["bins"]:
        own = (confidence >= one["low"]) & ((confidence < one["high"]) | (one["high"] == 1.0))
        assert one["right"]["count"] == right[own].sum()
        assert one["mean_confidence"] == pytest.approx(confidence[own].mean())
    assert page.count('class="track"') >= len(found["bins"])


def test_abstention_is_that_of_the_parameter(labelled):
    model, X, y, page = labelled
    lines = numbers_of(page)["confidence"]["abstention"]
    assert lines[0]["abstain_below"] is None
    assert lines[0]["predicted"]["value"] == 1.0
    for line in lines[1:]:
        predicted = model.set_params(abstain_below=line["abstain_below"]).predict(X)
        model.set_params(abstain_below=None)
        assert line["predicted"]["count"] == sum(one is not None for one in predicted)
        if line["right"]["total"]:
            assert line["right"]["value"] == pytest.approx(correctness_score(y, predicted))
    assert len(lines) > 3


def test_promises_are_those_of_the_parameter(labelled):
    model, X, y, page = labelled
    found = numbers_of(page)["guarantees"]
    assert found["n_labels"] == 25
    assert [line["max_error"] for line in found["lines"]] == [0.01, 0.02, 0.05, 0.1, 0.2]
    for line in found["lines"]:
        if line["answered"] is None:
            assert line["predicted"]["count"] == 0
            continue
        predicted = model.set_params(max_error=line["max_error"]).predict(X)
        model.set_params(max_error=None)
        answered = np.array([one is not None for one in predicted])
        assert (line["predicted"]["count"], line["wrong"]["total"]) == (answered.sum(), answered.sum())
        assert line["wrong"]["count"] == (predicted != y)[answered].sum()
    assert any(line["answered"] is not None for line in found["lines"])
    assert "needs at least 114 labels" in page
    assert [line["answered_on_average"] for line in found["lines"]] == [
        one.on_average.share for one in guarantees(model).levels
    ]
    assert f"By left-out labels, {guarantees(model).worst_class}." in page
    assert "What can be promised" in page


@pytest.mark.slow
def test_the_error_of_the_model_is_stated(tmp_path):
    X, y = petals()
    X = X + np.random.RandomState(0).normal(scale=0.01, size=X.shape)  # else many are copies, which count once
    model = AutoSSLART(random_state=0, max_error=0.2).fit(X, few(y, 5))
    page = sslart.report(model, X, y, tmp_path / "a.html", max_samples=2).read_text(encoding="utf-8")
    assert "The model abstains so that at most 20 % of the predictions are wrong, with 90 % certainty." in page
    assert "the model never abstains" not in page
    model.set_params(max_error={"setosa": 0.25, "virginica": 0.3})
    page = sslart.report(model, X, y, tmp_path / "a.html", max_samples=2).read_text(encoding="utf-8")
    assert (
        "at most 25 % of the predictions of setosa, at most 30 % of the predictions of virginica are wrong, each"
        in page
    )


def test_without_classes_abstention_and_calibration_are_measured_on_left_out_labels(unlabelled):
    _, X, page = unlabelled
    found = numbers_of(page)["confidence"]
    assert found["of_left_out"]
    assert found["n_measured"] == 30
    assert {line["predicted"]["total"] for line in found["abstention"]} == {len(X)}
    assert "left-out labels" in page


def test_classes_that_are_never_predicted_are_named_and_samples_have_the_numbers_given(tmp_path):
    X, y = petals()
    model = AutoSSLART(random_state=0).fit(X, few(y, 5))
    numbers = range(2, 62)  # such as the rows of a sheet
    file = sslart.report(model, X[:60], y[:60], tmp_path / "a.html", max_samples=2, sample_numbers=numbers)
    page = file.read_text(encoding="utf-8")
    assert re.findall(r'<article id="sample-(\d+)"', page) == ["2", "61"]
    assert [one["label"] for one in numbers_of(page)["limits"]["never_predicted"]] == ["virginica"]
    assert re.search(r"never predicted here:</b>.*virginica</span> \(learnt from 10 labels; 0 samples here", page)


def test_importances_are_those_of_the_samples(labelled):
    model, X, _, page = labelled
    found = model.feature_importances(X)
    section = page[page.index('<section id="importances">') : page.index('<section id="data">')]
    names = [name for name in re.findall(r"<li><b>(.*?)</b>", section) if not name.startswith("(")]
    assert names == [found.feature_names[column] for column in found.order]
    assert found.direction_text(names[0]) in section
    assert page.count('<figure class="small">') == 3


def test_few_rules_are_those_that_agree_with_the_model_on_the_samples_of_the_page(labelled):
    model, X, _, page = labelled
    rules, found = model.rules(X), numbers_of(page)["few_rules"]
    assert rules.fidelity(X) >= model.rules().fidelity(X)
    assert found["fidelity"]["value"] == pytest.approx(rules.agreement)
    assert found["fidelity"]["total"] == rules.n_held_out
    assert [line["label"] for line in found["lines"]] == [rule.label for rule in rules]
    numbers = rules.apply(X)
    for line, rule in zip(found["lines"], rules, strict=True):
        assert line["covered"]["count"] == (numbers == rule.number).sum()
        assert line["agreeing"]["count"] == rule.n_agreeing
        assert len(line["conditions"]) == len(rule.conditions)
        assert all(words.replace("<", "&lt;").replace(">", "&gt;") in page for words in line["conditions"])


def test_the_bars_of_a_sample_add_up(labelled):
    model, X, _, page = labelled
    article = re.findall(r'<article id="sample-\d+".*?</article>', page, re.DOTALL)[0]
    number = int(re.findall(r"sample-(\d+)", article)[0])
    texts = re.findall(r'<td role="cell" class="number">([-+.\d]+)(?: ± [.\d]+)?</td>', article)
    amounts, within = [float(one) for one in texts], sum(0.5 * 10.0 ** -len(one.partition(".")[2]) for one in texts)
    why = model.explain(X.iloc[[number - 1]])[0]
    assert amounts[-1] == pytest.approx(why.evidence.margin, abs=1e-3)
    assert sum(amounts[:-1]) == pytest.approx(amounts[-1], abs=within + 1e-3)
    bars = [
        (kind, float(start), float(end))
        for kind, start, end in re.findall(r'<path class="(end|for|against)" d="M([\d.]+) 6H([\d.]+)"', article)
    ]
    assert len(bars) == len(amounts)
    for (_, _, end), (_, start, _) in pairwise(bars[:-1]):
        assert start == end
    assert bars[-1][2] == pytest.approx(bars[-2][2], abs=0.2)
    assert {kind for kind, *_ in bars} <= {"end", "for", "against"}


def test_a_model_with_one_class_can_be_reported(tmp_path):
    X = pd.DataFrame(load_iris().data[:50, :1], columns=["length"])
    model = AutoSSLART(random_state=0).fit(X, np.full(50, "setosa"))
    page = sslart.report(model, X, None, tmp_path / "a.html", max_samples=2).read_text(encoding="utf-8")
    assert numbers_of(page)["own_labels"]["quality"]["accuracy"] is None  # an accuracy would mean nothing


def test_the_column_of_samples_with_a_prediction_is_not_named_like_that_of_predicted_ones(labelled):
    model, X, y, page = labelled
    table = page[page.index('<table id="by-class"') :].split("</table>")[0]
    counts = [int(one) for one in re.findall(r'data-name="with a prediction">(\d+)<', table)]
    assert counts == [(y == label).sum() for label in model.classes_]
    assert counts != [(model.predict(X) == label).sum() for label in model.classes_]
    assert ">predicted<" not in table


def test_what_more_labels_would_bring_is_the_learning_curve(labelled):
    model, _, _, page = labelled
    found, curve = numbers_of(page)["more_labels"], learning_curve(model)
    assert found["n_labels"] == curve.n_now == 25
    assert [line["n_labels"] for line in found["lines"]] == [25, 50, 100, 250]
    assert found["lines"][1]["expected"]["value"] == pytest.approx(curve.at(50).value)
    assert page.count("What more labels would bring") == 2


@pytest.mark.slow
def test_few_labels_give_the_reason_in_place_of_a_curve(tmp_path):
    X, y = petals()
    page = sslart.report(AutoSSLART(random_state=0).fit(X, few(y, 15)), X, y, tmp_path / "a.html", max_samples=2)
    text = page.read_text(encoding="utf-8")
    assert "This cannot be estimated: it takes at least 10 labels, and there are" in text
    assert text.count("What more labels would bring") == 1


def test_of_many_samples_some_are_explained_and_the_report_says_so(labelled, monkeypatch, tmp_path):
    model, X, y, _ = labelled
    for module in ("_summary", "_page"):
        monkeypatch.setattr(f"sslart.reporting.{module}.MAX_EXPLAINED", 20)
    page = sslart.report(model, X, y, tmp_path / "some.html", max_samples=2).read_text(encoding="utf-8")
    section = page[page.index('<section id="importances">') : page.index('<section id="data">')]
    assert "over 20 samples, evenly spaced, of the 75 of this report" in section
    found = model.feature_importances(X.iloc[np.linspace(0, 74, 20).astype(int)])
    names = [name for name in re.findall(r"<li><b>(.*?)</b>", section) if not name.startswith("(")]
    assert names == [found.feature_names[column] for column in found.order]
