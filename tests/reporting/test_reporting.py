"""A report shows the model as it is: its numbers are those of the metrics, its rules those of the model."""

import json
import re
import subprocess
import sys
from math import sqrt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_score, recall_score

import sslart
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP
from sslart._utils.intervals import mean_share, share
from sslart.metrics import correctness_score, coverage_score, sensitivity_score, specificity_score
from sslart.reporting._page import plain_numbers
from sslart.reporting._samples import chosen_rows
from sslart.reporting._summary import observe, summarise

HOSTILE = "</script><script>alert(1)</script>"

MODELS = {
    "FuzzyARTMAP": FuzzyARTMAP(),
    "SSLART that abstains": SSLART(vigilance=0.9, search_depth=1, random_state=0),
    "WESSLART": WESSLART(3, vigilance=0.85, random_state=0),
    "WESSLART that abstains": WESSLART(3, vigilance=0.93, search_depth=1, random_state=0),
}


def iris():
    data = load_iris(as_frame=True)
    return data.data, data.target_names[data.target].astype(object)


def few(y, step):
    return np.where(np.arange(len(y)) % step == 0, y, None)


LONG = ("SSLART that abstains", "WESSLART")  # each quality of theirs is also that of another model


@pytest.fixture(
    scope="module", params=[pytest.param(one, marks=pytest.mark.slow if one in LONG else ()) for one in MODELS]
)
def reported(request, tmp_path_factory):
    """Return a model, samples that it has not learnt, their classes, and the page on them."""
    X, y = iris()
    model = MODELS[request.param]
    labels = y[::2] if isinstance(model, FuzzyARTMAP) else few(y[::2], 5)
    model.fit(X[::2], labels)
    before = model.get_params(), model.predict(X).tolist()
    file = sslart.report(model, X[1::2], y[1::2], tmp_path_factory.mktemp("report") / "iris.html")
    assert (model.get_params(), model.predict(X).tolist()) == before, "the report has changed the model"
    return model, X[1::2], y[1::2], file.read_text(encoding="utf-8")


def numbers_of(page):
    return json.loads(re.findall(r'<script type="application/json" id="numbers">(.*?)</script>', page)[0])


def rows_of(page):
    return [
        dict(re.findall(r'data-([a-z]+)="([^"]*)"', row)) for row in re.findall(r'<tr role="row" id="rule-.*?>', page)
    ]


def make(tmp_path, model=None, X=None, y=None, **options):
    if model is None:
        X, y = [[1], [2], [8], [9]], ["low", "low", "high", "high"]
        model = FuzzyARTMAP().fit(X, y)
    return sslart.report(model, X, y, tmp_path / "report.html", **options).read_text(encoding="utf-8")


def test_quality_is_that_of_the_metrics(reported):
    model, X, y, page = reported
    quality, predicted = numbers_of(page)["quality"], model.predict(X)
    is_predicted = np.array([label is not None for label in predicted])
    assert quality["accuracy"]["value"] == pytest.approx(model.score(X, y))
    assert quality["coverage"]["value"] == pytest.approx(coverage_score(y, predicted))
    assert quality["correctness"]["value"] == pytest.approx(correctness_score(y, predicted))
    as_text = np.where(is_predicted, predicted, "none").astype(str)
    classes = model.classes_.tolist()
    assert quality["balanced_accuracy"]["value"] == pytest.approx(
        recall_score(y.astype(str), as_text, labels=classes, average="macro")
    )
    precision = precision_score(y.astype(str), as_text, labels=classes, average=None)
    for one, of_class in zip(quality["classes"], precision, strict=True):
        label = one["label"]
        assert one["sensitivity"]["value"] == pytest.approx(sensitivity_score(y, predicted, pos_label=label))
        assert one["specificity"]["value"] == pytest.approx(specificity_score(y, predicted, pos_label=label))
        assert one["precision"]["value"] == pytest.approx(of_class)
    assert np.trace(quality["confusion"]) == (y == predicted).sum()
    assert [row[-1] for row in quality["confusion"]] == [((y == one) & ~is_predicted).sum() for one in classes]
    assert f"{100 * correctness_score(y, predicted):.1f}\N{NO-BREAK SPACE}%" in page


def test_limits_are_those_of_the_model(reported):
    model, X, _, page = reported
    limits = numbers_of(page)["limits"]
    assert limits["n_novel"] == (model.score_samples(X) < model.novelty_threshold_).sum()
    assert limits["n_abstained"] == sum(label is None for label in model.predict(X))
    assert limits["n_unlabelled_nodes"] == model.n_nodes_ - model.n_labelled_nodes_
    assert limits["n_learnt"] == model.support_.sum()
    unlabelled = [label is None for label in model.node_labels_.tolist()]
    assert limits["n_learnt_unlabelled"] == model.support_[unlabelled].sum()
    for depth, n in limits["coverage"]:
        before = model.search_depth
        predicted = model.set_params(search_depth=depth).predict(X)
        model.set_params(search_depth=before)
        assert n == sum(label is not None for label in predicted)
    assert "Limits of this model" in page


def test_rules_are_those_of_the_model(reported):
    model, _, _, page = reported
    rules, rows = model.rules(kind="boxes"), rows_of(page)
    assert [int(row["number"]) for row in rows] == list(rules.numbers)
    for row, rule in zip(rows, rules, strict=True):
        assert rules.classes[int(row["class"])] == rule.label
        assert float(row["confidence"]) == rule.confidence
        assert int(row["support"]) == rule.support
        columns = [column for column, condition in enumerate(rule.conditions) if not condition.full_range]
        assert sorted(map(int, row["features"].split())) == columns


def test_every_sample_has_its_prediction_and_confidence(reported):
    model, X, _, page = reported
    articles = re.findall(r'<article id="sample-(\d+)".*?</article>', page, re.DOTALL)
    assert articles == [str(row) for row in range(1, len(X) + 1)]
    texts = re.findall(r"<article.*?</article>", page, re.DOTALL)
    for text, why in zip(texts, model.explain(X), strict=True):
        assert ("<b>No prediction.</b>" in text) == why.abstained
        if not why.abstained:
            assert f"confidence {100 * why.confidence:.1f}" in text
        assert ("<b>Novel:</b>" in text) == (why.novelty is not None and why.novelty.is_novel)


def test_the_file_needs_nothing_from_outside(reported):
    page = reported[-1]
    assert not re.findall(r"https?://", page)
    assert all(link.startswith(("#", "data:")) for link in re.findall(r'(?:src|href)="(.*?)"', page))
    assert "url(" not in page
    assert all(re.search(r'alt="[^"]+"', image) for image in re.findall("<img.*?>", page))


@pytest.mark.parametrize(("count", "total"), [(0, 7), (3, 7), (7, 7), (450, 500)])
def test_intervals_are_those_of_wilson(count, total):
    z, value = 1.959963984540054, count / total
    middle = (value + z**2 / (2 * total)) / (1 + z**2 / total)
    half = z * sqrt(value * (1 - value) / total + z**2 / (4 * total**2)) / (1 + z**2 / total)
    one = share(count, total)
    assert (one.low, one.high) == pytest.approx((middle - half, middle + half), abs=1e-12)


def test_the_interval_of_a_mean_is_narrower_than_that_of_its_parts():
    one = share(8, 10)
    mean = mean_share([one, one, share(0, 0)])
    assert mean.value == pytest.approx(0.8)
    assert mean.low == pytest.approx(0.8 - (0.8 - one.low) / sqrt(2))
    assert mean.high == pytest.approx(0.8 + (one.high - 0.8) / sqrt(2))
    assert mean_share([share(0, 0)]).value is None


def test_without_labels_quality_cannot_be_measured(tmp_path):
    X, y = iris()
    model = SSLART(vigilance=0.8, random_state=0).fit(X, few(y, 3))
    page = make(tmp_path, model, X, None)
    assert numbers_of(page)["quality"] is None
    assert "Quality cannot be measured on these samples" in page
    for none in ([None] * len(X), np.full(len(X), -1), pd.Series([pd.NA] * len(X))):
        summary = summarise(observe(model, X, none))
        assert (summary["quality"], summary["n_labelled"]) == (None, 0)


@pytest.mark.parametrize(
    ("held_out", "words"), [(None, "not stated whether"), (True, "has not learnt these"), (False, "has learnt these")]
)
def test_it_states_whether_the_samples_were_held_out(tmp_path, held_out, words):
    assert words in make(tmp_path, held_out=held_out)


def test_a_class_that_the_model_has_not_learnt_counts_as_wrong_and_is_listed(tmp_path):
    X, y = iris()
    model = SSLART(vigilance=0.8, random_state=0).fit(X[:100], y[:100])
    page = make(tmp_path, model, X, y)
    numbers = numbers_of(page)
    assert numbers["quality"]["accuracy"]["value"] == pytest.approx(model.score(X, y))
    assert [one["label"] for one in numbers["limits"]["few_labels"]] == ["virginica"]
    assert "has learnt no sample of this class" in page


def mixed():
    random = np.random.RandomState(0)
    y = random.choice(["flu", "cold"], 80)
    frame = pd.DataFrame(
        {
            "temperature": 37 + 2 * (y == "flu") + random.randn(80) / 4,
            "cough": pd.Categorical(np.where(y == "flu", "dry", random.choice(["wet", "none"], 80))),
            "smoker": random.rand(80) < 0.3,
        }
    )
    frame.loc[::7, "temperature"] = np.nan
    frame.loc[3::9, "cough"] = None
    return frame, y


def test_categories_and_gaps_are_summarised(tmp_path):
    X, y = mixed()
    model = WESSLART(3, vigilance=0.5, random_state=0).fit(X[:40], y[:40])
    new = X[40:].copy()
    new.loc[41, "temperature"] = 99.0
    new["cough"] = new["cough"].astype(object)
    new.loc[42, "cough"] = "bloody"
    page = make(tmp_path, model, new, y[40:])
    temperature, cough, smoker = numbers_of(page)["features"]
    assert (temperature["n_missing"], cough["n_missing"]) == (
        new["temperature"].isna().sum(),
        new["cough"].isna().sum(),
    )
    assert temperature["median"] == pytest.approx(new["temperature"].median())
    assert temperature["learnt_high"] == X["temperature"][:40].max()
    assert temperature["n_beyond"] >= 1
    assert dict(cough["categories"]) == new["cough"].value_counts().to_dict()
    assert (cough["learnt_categories"], cough["n_beyond"]) == (["dry", "none", "wet"], 1)
    assert smoker["categorical"]
    assert "never seen" in page


@pytest.mark.slow
def test_frames_of_polars_arrays_and_lists_are_taken(tmp_path):
    X, y = iris()
    frame, array = pl.from_pandas(X), X.to_numpy()
    model = SSLART(vigilance=0.8, random_state=0).fit(X, few(y, 3))
    expected = summarise(observe(model, X, y))
    numbers = numbers_of(make(tmp_path, model, frame, y))
    assert numbers.items() >= json.loads(json.dumps(plain_numbers(expected))).items()
    nameless = SSLART(vigilance=0.8, random_state=0).fit(array, few(y, 3))
    page = make(tmp_path, nameless, array.tolist(), y.tolist(), max_samples=5)
    assert numbers_of(page)["quality"]["confusion"] == [list(row) for row in expected["quality"].confusion]


@pytest.mark.parametrize("y", [pytest.param([0, 1] * 20, marks=pytest.mark.slow), [True, False] * 20, [-1, 1] * 20])
def test_classes_may_be_integers_or_booleans(tmp_path, y):
    X = np.random.RandomState(0).rand(40, 1) + np.array(y)[:, None]
    model = FuzzyARTMAP().fit(X, y)
    numbers = numbers_of(make(tmp_path, model, X, y, max_samples=3))
    assert numbers["n_labelled"] == 40
    assert numbers["quality"]["accuracy"]["value"] == pytest.approx(model.score(X, y))


def test_names_cannot_break_out_of_the_page(tmp_path):
    X, y = mixed()
    X.columns = [HOSTILE, f'"{HOSTILE}', f"'{HOSTILE}"]
    X[X.columns[1]] = X[X.columns[1]].astype(object).replace({"dry": HOSTILE})
    labels = np.where(y == "flu", HOSTILE, y)
    model = WESSLART(3, vigilance=0.5, random_state=0).fit(X, labels)
    names = [f"{HOSTILE}{row}" for row in range(len(X))]
    page = make(tmp_path, model, X, labels, title=HOSTILE, sample_names=names)
    assert HOSTILE not in page
    assert page.count("<script") == page.count("</script>") == 3
    assert numbers_of(page)["features"][0]["name"] == HOSTILE


@pytest.mark.slow
def test_what_is_too_much_is_left_out_and_counted(tmp_path):
    X, y = iris()
    model = SSLART(vigilance=0.9, random_state=0).fit(X, few(y, 2))
    rules = model.rules(kind="boxes")
    page = make(tmp_path, model, X, y, max_rules=4, max_samples=9)
    rows = rows_of(page)
    assert sorted(int(row["support"]) for row in rows) == sorted(rule.support for rule in rules)[-4:]
    assert f"{len(rules) - 4} are left out" in page
    assert page.count("<article") == 9
    assert "141 are left out" in page


def test_wrong_predictions_come_first_then_abstention_then_novelty_then_a_spread():
    states = [("right",)] * 20
    states[3], states[11], states[17] = ("wrong",), ("abstained",), ("right", "novel")
    assert chosen_rows(states, 1) == [3]
    assert chosen_rows(states, 2) == [3, 11]
    assert chosen_rows(states, 3) == [3, 11, 17]
    assert chosen_rows(states, 5) == [0, 3, 11, 17, 19]
    assert chosen_rows(states, 50) == list(range(20))


def test_rules_titles_and_names_may_be_given(tmp_path):
    X, y = iris()
    model = SSLART(vigilance=0.8, random_state=0).fit(X, few(y, 3))
    rules = model.rules(kind="boxes", levels=2, terms=["low", "high"], simplify=(X, y))
    names = [f"patient {row}" for row in range(len(X))]
    page = make(tmp_path, model, X, y, rules=rules, title="Flowers", sample_names=names)
    assert len(rows_of(page)) == len(rules) < len(model.rules(kind="boxes"))
    assert "“low”" in page
    assert "<h1>Flowers</h1>" in page
    assert "Sample 8: patient 7" in page  # the first is 1


def test_one_feature_is_enough(tmp_path):
    assert make(tmp_path).count("<figure>") == 1


def test_errors_name_the_cure(tmp_path):
    X, y = iris()
    model = SSLART(vigilance=0.8, random_state=0).fit(X, y)
    file = tmp_path / "report.html"
    file.write_text("before")
    for call, error, cure in [
        (lambda: sslart.report(SSLART(), X, y, file), NotFittedError, "fit"),
        (lambda: sslart.report(SSLART().partial_fit(X), X, y, file), NotFittedError, "label"),
        (lambda: sslart.report(LogisticRegression(), X, y, file), TypeError, "SSLART"),
        (lambda: sslart.report(FuzzyART().fit(X), X, y, file), TypeError, "SSLART"),
        (lambda: sslart.report(model, X.iloc[:, :3], y, file), ValueError, "petal width"),
        (lambda: sslart.report(model, X, y[:5], file), ValueError, "150 samples and y 5"),
        (lambda: sslart.report(model, X, np.arange(150), file), ValueError, "kind"),
        (lambda: sslart.report(model, X, y, tmp_path), IsADirectoryError, "report.html"),
        (lambda: sslart.report(model, X, y, tmp_path / "none" / "a.html"), FileNotFoundError, "make it first"),
        (lambda: sslart.report(model, X, y, file, max_rules=0), ValueError, "max_rules"),
        (lambda: sslart.report(model, X, y, file, max_samples=1.5), ValueError, "max_samples"),
        (
            lambda: sslart.report(model, X, y, file, rules=list(model.rules(kind="boxes"))),
            TypeError,
            r"model.rules\(kind",
        ),
        (lambda: sslart.report(model, X, y, file, rules=model.rules(kind="boxes")[:0]), ValueError, "filtered less"),
        (lambda: sslart.report(model, X, y, file, sample_names=["a"]), ValueError, "sample_names 1"),
        (lambda: sslart.report(model, X, y, file, sample_numbers=[1] * 150), ValueError, "150 different numbers"),
        (lambda: sslart.report(model, X, y, tmp_path / "a.pdf"), ValueError, r"ends in \.html.*print it to a file"),
    ]:
        with pytest.raises(error, match=cure):
            call()
    assert file.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize("module", ["jinja2", "matplotlib.pyplot"])
def test_without_the_extra_the_error_names_what_to_install(tmp_path, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r'pip install .*"jinja2>='):
        make(tmp_path)


def test_importing_sslart_imports_neither_jinja2_nor_matplotlib():
    heavy = "import sslart, sys; print([name for name in ('jinja2', 'matplotlib') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.stress
def test_a_confusion_matrix_too_large_for_a_page_is_left_out(tmp_path):
    X, classes = np.arange(60.0)[:, None], np.arange(60)
    page = sslart.report(FuzzyARTMAP().fit(X, classes), X, classes, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Left out: with 60 classes it is too large for a page." in page
    assert page.count("A row for each true class") == 0
    assert len(numbers_of(page)["quality"]["confusion"]) == 60


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Column 'remark' is left out:UserWarning")
def test_constant_columns_and_free_text_are_summed_up_too(tmp_path):
    random = np.random.RandomState(0)
    y = np.where(random.uniform(size=80) < 0.5, "a", "b")
    frame = pd.DataFrame(
        {
            "size": random.normal(size=80) + 2 * (y == "a"),
            "same": 7.0,
            "remark": [f"some free text of many words, number {row}" for row in range(80)],
            "kind": ["one"] * 80,
        }
    )
    model = AutoSSLART(random_state=0).fit(frame, y)
    page = sslart.report(model, frame, y, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "same" in page


def test_dates_are_dates_throughout_the_page(tmp_path):
    days = pd.date_range("2020-01-01", periods=80)
    X = pd.DataFrame({"when": days, "size": np.random.RandomState(0).rand(80)})
    model = SSLART(random_state=0).fit(X, few(np.where(days < "2020-02-10", "early", "late").astype(object), 3))
    page = sslart.report(model, X, np.where(days < "2020-02-10", "early", "late"), tmp_path / "days.html").read_text()
    assert "2020-01-01 – 2020-02-09 12:00 – 2020-03-20" in page
    assert "2020-01-01 to 2020-03-20" in page
    assert "18262" not in re.sub(r"<(script|style|svg).*?</\1>", "", page, flags=re.DOTALL)
