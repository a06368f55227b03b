"""Rules of models: agreement, coverage, exclusiveness; text, tables, SQL and Python, also of odd names."""

from __future__ import annotations

import io
import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from by_hand import assert_by_hand, from_json, from_python, from_sql
from hypothesis import given, settings
from hypothesis import strategies as st
from ruled_models import mixed_samples
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from conftest import CLASSIFIERS, EVIDENCE, name_of
from sslart import SSLART, AutoSSLART
from sslart._utils.text import category_text
from sslart.rules import ModelRuleSet, RuleSet, Share, _model_extraction, rules_of
from sslart.rules._tree import refine


@st.composite
def tables(draw: st.DrawFn) -> tuple[pd.DataFrame, list[str | None]]:
    """Return a small table of numbers, few values, categories and gaps, and labels with gaps."""
    n = draw(st.integers(8, 30))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scale = 10.0 ** draw(st.integers(-6, 6))
    frame = pd.DataFrame(
        {
            "width": np.round(random.normal(size=n) * scale, draw(st.integers(0, 8))),
            "a b": random.integers(0, 3, n).astype(float),
            "age (years)": random.random(n) + 1e9 * draw(st.booleans()),
            "kind": random.choice(["x", "it's", 'a "b"'], n),
            "same": 1.0,
        }
    )
    for name in draw(st.sets(st.sampled_from(["width", "a b", "kind"]))):
        frame.loc[random.random(n) < 0.3, name] = None
    labels = [
        None if gap else str(one) for one, gap in zip(random.integers(0, 3, n), random.random(n) < 0.3, strict=True)
    ]
    return frame, [*labels[:-2], "0", "1"]


@settings(max_examples=settings().max_examples // 10)
@given(tables(), st.integers(1, 8), st.integers(1, 4), st.booleans())
def test_any_table_is_covered_as_printed(
    table: tuple[pd.DataFrame, list[str | None]], max_rules: int, max_conditions: int, given_samples: bool
) -> None:
    frame, y = table
    model = AutoSSLART(random_state=0).fit(frame, y)
    rules = model.rules(frame if given_samples else None, max_rules=max_rules, max_conditions=max_conditions)
    assert 1 <= len(rules) <= max_rules
    assert max(len(rule.conditions) for rule in rules) <= max_conditions
    assert [rule.is_default for rule in rules] == [False] * (len(rules) - 1) + [True]
    assert_by_hand(rules, frame)
    unlike = frame.assign(kind="unheard of", **{"a b": np.nan})
    assert_by_hand(rules, unlike)


@pytest.mark.parametrize(
    "load", [load_iris, *(pytest.param(load, marks=pytest.mark.slow) for load in (load_wine, load_breast_cancer))]
)
def test_all_rows_of_real_tables_are_covered_as_printed_and_counts_are_theirs(load: Any) -> None:
    data = load(as_frame=True)
    y = data.target.to_numpy()
    some = np.where(np.arange(len(y)) % 4 == 0, y, -1)
    model = AutoSSLART(random_state=0).fit(data.data, some)
    rules = model.rules(data.data, some)
    assert_by_hand(rules, data.data)
    numbers, predicted = rules.apply(data.data), model.predict(data.data)
    for rule in rules:
        own = numbers == rule.number
        assert rule.n_covered == own.sum() > 0
        assert rule.coverage == own.mean()
        assert rule.n_agreeing <= rule.n_held_out <= rule.n_covered
        assert rule.right == Share(int((some[own] == rule.label).sum()), int((some[own] != -1).sum()))
    assert rules.fidelity(data.data) == (rules.predict(data.data) == predicted).mean() > 0.93
    assert rules.n_held_out == pytest.approx(len(y) / 5, abs=1)
    assert rules.agreement > 0.85


@pytest.mark.parametrize(
    "model", [*CLASSIFIERS, EVIDENCE[0], pytest.param(AutoSSLART(random_state=0), marks=pytest.mark.slow)], ids=name_of
)
def test_every_classifier_has_rules_with_and_without_samples(model: Any) -> None:
    frame, y = mixed_samples()
    model.fit(frame, y)
    for rules in (model.rules(frame, y), model.rules()):
        assert_by_hand(rules, frame)
        assert rules.fidelity(frame) > 0.8
        assert rules.to_json() == model.rules(*([frame, y] if not rules.from_boxes else [])).to_json()
    assert "colour is red" in model.rules(frame, y).to_text()


def test_missing_values_follow_the_model_and_are_named() -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x": random.random(200), "noise": random.random(200)})
    frame.loc[:60, "x"] = np.nan
    y = np.where(frame["x"].isna() | (frame["x"] > 0.7), "yes", "no")
    rules = AutoSSLART(random_state=0).fit(frame, y).rules(frame, y, max_rules=2)
    assert_by_hand(rules, frame)
    assert "missing" in rules.to_text() or rules[-1].label == "yes"
    assert rules.fidelity(frame) > 0.95


def test_a_model_that_abstains_has_a_rule_without_a_prediction() -> None:
    X = pd.DataFrame({"height": np.linspace(0, 1, 200)})
    noisy = X["height"] + 0.1 * np.random.RandomState(0).normal(size=200)
    model = AutoSSLART(abstain_below=0.95, random_state=0).fit(X, np.where(noisy < 0.5, "low", "high"))
    silent = np.array([label is None for label in model.predict(X)])
    assert 0 < silent.sum() < 200
    rules = model.rules(X)
    assert None in [rule.label for rule in rules]
    assert "no prediction" in rules.to_text()
    assert_by_hand(rules, X)
    assert (np.array([label is None for label in rules.predict(X)]) == silent).mean() > 0.9


def test_one_class_needs_one_rule() -> None:
    rules = SSLART(random_state=0).fit([[0.0], [1.0]], ["a", "a"]).rules()
    assert [rule.label for rule in rules] == ["a"]
    assert "in every case a" in rules.to_text()
    assert rules.to_sql() == "'a'"
    assert rules.predict([[5.0]]).tolist() == ["a"]


def test_classes_may_be_numbers_or_booleans() -> None:
    frame, y = mixed_samples()
    for labels in ((y == "stop").astype(int), y == "stop"):
        rules = SSLART(random_state=0).fit(frame, labels).rules(frame)
        assert_by_hand(rules, frame)
        assert rules.predict(frame).dtype == labels.dtype


@pytest.mark.slow
def test_more_rules_agree_more_often() -> None:
    data = load_wine(as_frame=True)
    model = AutoSSLART(random_state=0).fit(data.data, data.target)
    agreements = [model.rules(data.data, max_rules=n).fidelity(data.data) for n in (1, 3, 6)]
    assert agreements == sorted(agreements)
    assert agreements[0] < 0.5 < 0.95 < agreements[2]


def test_fidelity_is_to_the_model_as_it_is_now() -> None:
    X = np.linspace(0, 1, 40)[:, None]
    model = SSLART(0.9, random_state=0).fit(X, ["low"] * 20 + ["high"] * 20)
    rules = model.rules(X)
    assert rules.fidelity(X) >= 0.95
    model.partial_fit([[-5.0]], ["far below"])  # a further class, which the rules do not know
    assert rules.fidelity(np.array([[-5.0]])) == 0.0
    assert rules.predict([[-5.0]]).tolist() == ["low"]
    model.fit(X, ["high"] * 20 + ["low"] * 20)
    assert rules.fidelity(X) <= 0.05


def test_agreement_is_measured_on_samples_that_did_not_make_the_rules() -> None:
    """Of a model that predicts by chance, rules agree with it more often on the samples that made them."""
    random = np.random.default_rng(0)
    X, y = random.random((120, 6)), random.integers(2, size=120)
    model = SSLART(0.97, random_state=0).fit(X, y)
    own, other = [], []
    for start in range(0, 120, 40):
        rules = model.rules(X[start : start + 40])
        assert rules.n_held_out == 8
        own.append(rules.fidelity(X[start : start + 40]))
        other.append(rules.agreement)
    assert np.mean(own) > np.mean(other) + 0.1
    few = model.rules(X[:12])
    assert (few.n_held_out, np.isnan(few.agreement), few.to_dict()["agreement"]) == (0, True, None)
    assert "12 samples: too few to measure" in few.summary()


def test_copies_of_a_sample_test_no_rule_that_one_of_them_made() -> None:
    random = np.random.default_rng(1)
    X, y = random.random((30, 5)), random.integers(2, size=30)
    model = SSLART(0.97, random_state=0).fit(X, y)
    five_times = np.repeat(X, 5, axis=0)
    rules = model.rules(five_times, np.repeat(y, 5))
    assert rules.n_held_out == 30
    assert sum(rule.right.total for rule in rules) == 30  # copies count one
    assert rules.agreement < 0.9 < rules.fidelity(five_times)


def test_labels_of_a_group_count_one() -> None:
    random = np.random.default_rng(0)
    group = np.repeat(np.arange(30), 4)
    X = random.normal(size=(120, 3)) + 4 * (group % 2)[:, None]
    model = AutoSSLART(random_state=0).fit(X, group % 2, groups=group)
    rules = model.rules(X)
    assert sum(rule.right.total for rule in rules) == pytest.approx(30, abs=1)
    assert rules.n_held_out == 24  # six of the thirty groups


def test_no_rule_covers_a_single_sample() -> None:
    random = np.random.default_rng(0)
    X = random.random((200, 3))
    y = np.where(np.arange(200) < 4, np.arange(200) + 1, 0)
    X[:4] += 5 * np.arange(1, 5)[:, None]
    rules = AutoSSLART(random_state=0).fit(X, y).rules(X)
    assert all(rule.n_covered > 1 for rule in rules)


def test_the_table_has_values_not_levels() -> None:
    data = load_iris(as_frame=True)
    model = AutoSSLART(random_state=0).fit(data.data, data.target)
    rules = model.rules(data.data, data.target)
    table = pd.read_csv(io.StringIO(rules.to_csv()))
    for rule, (_, row) in zip(rules, table.iterrows(), strict=True):
        assert (row["rule"], row["class"], row["n_covered"]) == (rule.number, rule.label, rule.n_covered)
        for condition in rule.conditions:
            for side, value in (("above", condition.low), ("at most", condition.high)):
                name = f"{condition.feature} {side}"
                assert value is None or row[name] == value
    boxes = pd.read_csv(io.StringIO(model.rules(kind="boxes").to_csv()), index_col="No.")
    for number, rule in zip(model.rules(kind="boxes").numbers, model.rules(kind="boxes"), strict=True):
        for condition in rule.conditions:
            if not condition.full_range:
                assert boxes.loc[number, f"{condition.feature} from"] == pytest.approx(condition.low_value)


def test_numbers_of_boxes_stay_while_the_model_learns_more() -> None:
    data = load_iris()
    model = SSLART(0.8, random_state=0, shuffle=False).fit(data.data[::2], data.target[::2])
    before = model.rules(kind="boxes")
    model.partial_fit(data.data[1::2], data.target[1::2])
    after = model.rules(kind="boxes")
    assert set(before.numbers) <= set(after.numbers)
    assert all(rule.nodes == (number,) for number, rule in zip(after.numbers, after, strict=True))


def test_one_of_one_is_not_certain() -> None:
    low, high = Share(1, 1).interval
    assert (round(low, 3), high) == (0.207, 1.0)
    assert Share(0, 0).interval == (0.0, 1.0)
    low, high = Share(9, 10).interval  # R: prop.test(9, 10, correct = FALSE)
    assert (round(low, 4), round(high, 4)) == (0.5958, 0.9821)


def test_the_kind_decides_what_is_returned_and_which_parameters_belong() -> None:
    frame, y = mixed_samples()
    model = SSLART(random_state=0).fit(frame, y)
    assert isinstance(rules_of(model), ModelRuleSet)
    assert isinstance(rules_of(model, kind="boxes"), RuleSet)
    for options, words in (
        ({"levels": 3}, "levels belongs to rules of kind='boxes'"),
        ({"terms": ["a", "b"], "simplify": (frame, y)}, "terms, simplify belong to"),
        ({"kind": "boxes", "max_rules": 3}, "max_rules belongs to rules of kind='model'"),
        ({"kind": "boxes", "X": frame}, "X belongs"),
        ({"kind": "trees"}, "one of 'model', 'boxes'"),
        ({"max_rules": 0}, "max_rules"),
        ({"max_conditions": 1.5}, "max_conditions"),
        ({"y": y}, "give X as well"),
    ):
        with pytest.raises(ValueError, match=words):
            model.rules(**options)
    with pytest.raises(ValueError, match="result"):
        model.rules().to_sql("box")
    with pytest.raises(ValueError, match="name of a function"):
        model.rules().to_python("a b")


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"code": pd.Categorical(list(map(str, range(50))) * 2), "z": np.linspace(0, 1, 100)}),
        pd.DataFrame({"huge": np.linspace(-1e300, 1e300, 100) / 4, "tiny": np.linspace(0, 1e-300, 100)}),
        pd.DataFrame({"v": [0.1, 0.2, 0.30000000000000004, 0.3] * 25, "same": 1.0}),
        pd.DataFrame({"gap": [1.0, *[np.nan] * 99], "v": np.linspace(0, 1, 100)}),
    ],
    ids=["many categories", "extreme numbers", "numbers that almost agree", "a column almost without values"],
)
def test_unusual_columns_are_covered_as_printed(frame: pd.DataFrame) -> None:
    y = np.random.default_rng(0).choice(["a", "b"], len(frame))
    model = SSLART(0.95, random_state=0).fit(frame, y)
    for X in (frame, frame[:1], None):
        assert_by_hand(model.rules(X), frame)


@settings(max_examples=10)
@given(seed=st.integers(0, 10_000), missing=st.booleans())
@pytest.mark.slow
def test_rules_of_one_class_that_differ_in_one_feature_are_one_rule(seed: int, missing: bool) -> None:
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": random.random(150), "b": random.random(150), "k": random.choice(["x", "y", "z"], 150)})
    if missing:
        frame.loc[random.random(150) < 0.2, "a"] = np.nan
    y = np.where((frame["a"].fillna(0.9) > 0.5) ^ (frame["k"] == "x"), "yes", "no")
    rules = SSLART(0.8, random_state=0).fit(frame, y).rules(frame)
    for first, second in itertools.combinations([rule for rule in rules if rule.conditions], 2):
        if first.label != second.label:
            continue
        conditions = [{one.feature: one for one in rule.conditions} for rule in (first, second)]
        differing = [name for name in frame if conditions[0].get(name) != conditions[1].get(name)]
        if len(differing) == 1:  # then they are two ranges with a gap between them
            ranges = [conditions[place][differing[0]] for place in (0, 1)]
            low, high = sorted(ranges, key=lambda one: -np.inf if one.low is None else one.low)
            assert low.high is not None
            assert high.low is not None
            assert low.high < high.low


def rules_of_columns(names: list[str]) -> tuple[ModelRuleSet, pd.DataFrame]:
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    frame = pd.DataFrame(random.normal(size=(200, len(names))) + 2 * y[:, None], columns=names)
    model = AutoSSLART(random_state=0).fit(frame, np.where(np.arange(200) < 40, y, -1))
    return model.rules(frame), frame


@pytest.mark.parametrize(
    "names",
    [["area m²", "CO₂", "t"], ["µ", "μ", "fi", "ﬁ"], ["class", "x0_class", "x1_class"], ["௰", "½", "sample"]],
    ids=str,
)
def test_python_takes_every_column_name(names):
    rules, frame = rules_of_columns(names)
    assert len({condition.feature for rule in rules for condition in rule.conditions}) > 1
    assert from_python(rules, frame, "rule") == rules.apply(frame).tolist() == from_sql(rules, frame, "rule")


@pytest.mark.parametrize("name", ["class", "a b", "", "1st"])
def test_a_function_needs_a_name_that_python_takes(name):
    rules, _ = rules_of_columns(["a", "b"])
    with pytest.raises(ValueError, match="must be the name of a function"):
        rules.to_python(name)


def test_categories_that_read_like_words_of_a_condition_are_in_quotes():
    names = ["x", "y", "x or y", "brown, grey", "missing", "known", "not x", " x", "O'Brien", "naïve"]
    texts = [category_text(name) for name in names]
    assert texts == [
        *("x", "y", "'x or y'", "'brown, grey'", "'missing'", "'known'", "'not x'", "' x'", "O'Brien", "naïve")
    ]


def test_a_category_with_or_in_it_is_not_read_as_two():
    kinds = np.array(["x", "y", "x or y", "missing"], dtype=object)[np.arange(120) % 4]
    frame = pd.DataFrame({"kind": kinds, "size": np.arange(120) // 4 % 7})
    y = np.where(np.isin(kinds, ["x or y", "missing"]), "odd", "plain").astype(object)
    y[40:] = None
    rules = AutoSSLART(random_state=0).fit(frame, y).rules(frame)
    assert from_json(rules, frame) == rules.apply(frame).tolist()
    texts = [one["text"] for rule in rules.to_dict()["rules"] for one in rule["conditions"]]
    assert set(texts) & {"kind is 'x or y' or 'missing'", "kind is x or y"}


def test_refined_trees_agree_with_the_model_more_often(monkeypatch: pytest.MonkeyPatch) -> None:
    agreement = []

    def recorded(root: Any, grid: Any, default: int, max_features: int) -> None:
        before = root.fidelity(grid)
        refine(root, grid, default, max_features)
        agreement.append((before, root.fidelity(grid)))

    monkeypatch.setattr(_model_extraction, "refine", recorded)
    X, y = load_wine(return_X_y=True)
    AutoSSLART(random_state=0).fit(X, y).rules(X)
    before, after = np.transpose(agreement)
    assert (after >= before).all()
    assert after.mean() > before.mean() + 0.005
