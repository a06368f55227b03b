"""Intervals of contributions and importances: their coverage, and what is stated only where it is settled."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from unittest.mock import PropertyMock, patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sslart
from sslart import SSLART, WESSLART, AutoSSLART
from sslart._mapping.evidence.mapping import EvidenceMapping
from sslart._mapping.quality import NO_FINDING
from sslart.explain._certainty import WIDENING, decimals_of, half_width, standard_error
from sslart.explain._text import amount_text

NAMES = ["first", "second", "other"]


def table(n: int = 300, seed: int = 0) -> pd.DataFrame:
    return pd.DataFrame(np.random.default_rng(seed).uniform(-1, 1, (n, 3)), columns=NAMES)


def labelled(is_one: Any, n_labels: int, seed: int = 0) -> Any:
    """Return classes of which some, drawn at random, are known."""
    y = np.where(is_one, "one", "two").astype(object)
    y[np.random.default_rng(seed).permutation(len(y))[n_labels:]] = None
    return y


@pytest.fixture(scope="module")
def first_decides() -> Any:
    X = table()
    return X, AutoSSLART(random_state=0).fit(X, labelled(X["first"] > 0, 60))


@pytest.fixture(scope="module")
def no_skill() -> Any:
    X = table()
    return X, AutoSSLART(random_state=0).fit(X, labelled(np.random.default_rng(5).random(len(X)) < 0.5, 40))


def test_intervals_cover_the_mean_over_other_labels() -> None:
    X = table(600)
    noisy = X["first"] + 0.5 * X["second"] + np.random.default_rng(1).normal(0, 0.3, len(X)) > 0
    parts = [AutoSSLART(random_state=0).fit(X, labelled(noisy, 50, seed)).contributions(X[:20]) for seed in range(8)]
    values = np.array([one.values for one in parts])
    inside = np.array([one.intervals for one in parts])
    mean, reach = values.mean(axis=0), (inside[..., 1] - inside[..., 0]) / 2
    assert 0.75 <= (np.abs(values - mean) / np.sqrt(7 / 8) <= reach).mean() <= 1.0
    stated = np.sqrt(np.mean([one.standard_errors**2 for one in parts]))  # type: ignore[operator]
    assert 0.6 <= stated / np.sqrt(values.var(axis=0, ddof=1).mean()) <= 2.5


def test_an_exclusive_or_has_no_direction() -> None:
    for seed in range(12):
        X = table(200, seed)
        y = labelled((X["first"] > 0) ^ (X["second"] > 0), 60, seed)
        model = AutoSSLART(random_state=0).fit(X, y)
        found = model.feature_importances()
        assert not found.settled_direction[:2].any()
        assert {found.direction_text(name) for name in NAMES[:2]} <= {"no single direction", "no stable direction"}


def test_a_direction_and_an_order_are_stated_where_they_are_settled(first_decides: Any) -> None:
    _, model = first_decides
    found = model.feature_importances()
    assert found.direction_text("first") == "higher values: one; lower values: two"
    assert found.order[0] == 0
    assert found.order_settled
    assert found.half_widths[0] < found.importances[0]
    (why,) = model.explain(pd.DataFrame([[0.6, 0.1, 0.1]], columns=NAMES))
    assert why.evidence.order_settled
    assert why.evidence.contributions[0].features == ("first",)
    assert abs(why.evidence.contributions[0].amount) > why.evidence.half_widths[0]
    assert "Order not settled" not in str(why)


def test_an_order_that_other_labels_may_turn_is_not_settled() -> None:
    X = table()
    model = AutoSSLART(random_state=0).fit(X, labelled(X["first"] + X["second"] > 0, 40))
    (why,) = model.explain(pd.DataFrame([[0.5, 0.5, 0.0]], columns=NAMES))
    assert why.evidence.order_settled is False
    assert re.search(r"Order not settled: other labels may put (first|second) before (first|second)\.", str(why))
    assert why.to_dict()["evidence"]["order_settled"] is False


def test_lines_say_which_contributions_have_no_stable_direction(first_decides: Any) -> None:
    X, model = first_decides
    for why in model.explain(X[:20]):
        evidence, text = why.evidence, str(why)
        lines = re.findall(r"^  [+-][0-9.]+ ± [0-9.]+ +.*$", text, re.MULTILINE)
        assert len(lines) == len(evidence.shown)
        for line, one, reach in zip(lines, evidence.shown, evidence.half_widths, strict=False):
            assert ("(no stable direction)" in line) == (abs(one.amount) <= reach)
        found = why.to_dict()["evidence"]["contributions"]
        assert tuple(one["half_width"] for one in found) == evidence.half_widths


def test_intervals_are_around_the_values_and_of_the_width_that_is_printed(first_decides: Any) -> None:
    X, model = first_decides
    parts, whys = model.contributions(X[:3]), model.explain(X[:3])
    np.testing.assert_allclose(parts.intervals.mean(axis=-1), parts.values)
    assert (parts.standard_errors > 0).any()
    nothing = model.contributions(X[:3], "nothing")
    assert nothing.standard_errors.shape == nothing.values.shape
    for row, why in enumerate(whys):  # two classes: the margin is the difference of the scores
        evidence = why.evidence
        (place,) = [number for number, one in enumerate(evidence.contributions) if one.features == ("first",)]
        low, high = parts.intervals[row, 0, list(parts.classes).index(evidence.predicted)]
        assert evidence.half_widths[place] == pytest.approx(high - low, rel=0.25)


def test_contributions_and_evidence_do_not_compute_intervals(first_decides: Any) -> None:
    X, _ = first_decides
    model = AutoSSLART(random_state=0).fit(X, labelled(X["first"] > 0, 30))
    with patch.object(EvidenceMapping, "replicates", new_callable=PropertyMock, side_effect=AssertionError):
        parts = model.contributions(X[:5])
        assert parts.values.any()
        assert [one.evidence.shown for one in model.explain(X[:5])]
        with pytest.raises(AssertionError):
            _ = parts.standard_errors


def test_rows_are_explained_together_as_alone(first_decides: Any) -> None:
    X, model = first_decides
    together = model.explain(X[:70])  # more than are computed at once
    for row in (0, 63, 64, 69):
        (alone,) = model.explain(X[row : row + 1])
        assert together[row].evidence.half_widths == pytest.approx(alone.evidence.half_widths)


def test_models_without_intervals_say_nothing_of_them(tmp_path: Path, first_decides: Any) -> None:
    X, model = first_decides
    sslart.save(model, tmp_path / "model.sslart", samples=False)
    ensemble = WESSLART(2, mapping="evidence", random_state=0).fit(X, labelled(X["first"] > 0, 60))
    for one in (sslart.load(tmp_path / "model.sslart"), ensemble):
        parts, found, (why,) = one.contributions(X[:1]), one.feature_importances(), one.explain(X[:1])
        assert parts.intervals is None
        assert parts.standard_errors is None
        assert found.half_widths is None
        assert found.order_settled is None
        assert found.direction_text("first") == "higher values: one; lower values: two"
        assert why.evidence.half_widths is None
        assert "±" not in str(why) + str(found)


def test_two_groups_of_labels_have_no_intervals() -> None:
    X = table()
    y = labelled(X["first"] > 0, 60)
    model = AutoSSLART(random_state=0).fit(X, y, groups=np.arange(len(X)) % 2)
    assert model.contributions(X[:1]).intervals is None


def test_a_stream_computes_the_regressions_once_between_two_selections(first_decides: Any) -> None:
    X, _ = first_decides
    model = AutoSSLART(random_state=0).fit(X, labelled(X["first"] > 0, 60))
    before = model.contributions(X[:3]).standard_errors
    with patch.object(EvidenceMapping, "_replicated", side_effect=AssertionError):
        model.partial_fit(X[:1], ["one"])
        np.testing.assert_array_equal(model.contributions(X[:3]).standard_errors, before)


def test_without_skill_every_surface_says_so_first(tmp_path: Path, no_skill: Any) -> None:
    X, model = no_skill
    assert not model.quality_.shows_skill
    (why,) = model.explain(X[:1])
    assert str(why).splitlines()[1] == NO_FINDING
    assert NO_FINDING in why._repr_html_()
    assert why.to_dict()["evidence"]["shows_skill"] is False
    found = model.feature_importances()
    assert str(found).startswith(NO_FINDING)
    assert NO_FINDING in found._repr_html_()
    assert found.to_dict()["shows_skill"] is False
    assert model.rules().to_text().startswith(NO_FINDING)
    page = sslart.report(model, X[:30], None, tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count(NO_FINDING) >= 3


def test_with_skill_nothing_of_it_is_said(first_decides: Any) -> None:
    X, model = first_decides
    texts = [str(model.explain(X[:1])[0]), str(model.feature_importances()), model.rules().to_text()]
    assert not any(NO_FINDING in text for text in texts)


def test_categories_are_named_where_they_are_settled() -> None:
    random = np.random.default_rng(0)
    X = pd.DataFrame({"colour": random.choice(["red", "green"], 200), "noise": random.choice(["a", "b"], 200)})
    found = SSLART(0.8, mapping="evidence", random_state=0).fit(X, labelled(X["colour"] == "red", 50))
    important = found.feature_importances()
    assert important.direction_text("colour") in ("red: one; green: two", "green: two; red: one")
    assert important.direction_text("noise") in ("no stable direction", "not used")


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=30), st.floats(-10, 10), st.floats(0.1, 10))
def test_standard_errors_are_those_of_the_jackknife(values: list[float], shift: float, factor: float) -> None:
    sample = np.array(values)
    without_each = (sample.sum() - sample) / (len(sample) - 1)
    expected = WIDENING * sample.std(ddof=1) / np.sqrt(len(sample))
    assert standard_error(without_each) == pytest.approx(expected, abs=1e-9)
    assert standard_error(factor * without_each[::-1] + shift) == pytest.approx(factor * expected, abs=1e-9)
    assert half_width(without_each) >= standard_error(without_each)


@given(st.floats(-50, 50), st.one_of(st.none(), st.floats(0, 50)))
def test_decimals_follow_the_certainty(value: float, reach: float | None) -> None:
    decimals, (amount, *rest) = decimals_of(reach), amount_text(value, reach).split(" ± ")
    assert float(amount) == pytest.approx(value, abs=0.501 * 10.0**-decimals)
    assert amount[0] in "+-"
    assert not re.fullmatch(r"-0\.?0*", amount)
    assert 0 <= decimals <= 3
    assert len(rest) == (reach is not None)
    if reach is not None and 0.002 <= reach < 2:
        assert reach / 2 >= 10.0**-decimals > reach / 20  # the first significant digit of the standard error
