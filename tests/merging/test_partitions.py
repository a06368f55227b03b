"""Partitions of a table: what a first pass finds of all of them, in any order, and what they then learn with."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from tables_in_parts import are_covered, parts_of

from conftest import EVIDENCE
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP
from sslart._mapping.model_view import view_of
from sslart.merging import _summary as summaries
from sslart.merging import partitions
from sslart.merging.partitions import Summary, finish, fit_part, join_parts, start_of, summary_of, wanted_of


def summarised(model: Any, parts: list[tuple[Any, Any]]) -> list[Summary]:
    wanted = wanted_of(model)
    return [summary_of(model, X, y, number=number, wanted=wanted) for number, (X, y) in enumerate(parts)]


def started(model: Any, parts: list[tuple[Any, Any]]) -> partitions.Start:
    return start_of(model, Summary.joined(summarised(model, parts)))


def learnt(model: Any, parts: list[tuple[Any, Any]]) -> Any:
    """Return a model that has learnt all parts, each by itself."""
    start = pickle.loads(pickle.dumps(started(model, parts)))
    made = [fit_part(model, X, y, start, number=number) for number, (X, y) in enumerate(parts)]
    joined = join_parts(model, pickle.loads(pickle.dumps(made)))
    assert joined is not None
    return finish(model, joined)


def content(summary: Summary) -> list[Any]:
    rows = summary.rows
    assert rows is not None
    numbers = [summary.n_rows, summary.n_labelled, summary.n_minus_one, summary.columns]
    found = [dict(summary.limits), dict(summary.categories), dict(summary.is_category), summary.classes]
    return [*numbers, *found, rows.numbers.tolist(), rows.labels.tolist(), pickle.dumps(rows.samples.to_numpy())]


@settings(max_examples=8)
@given(st.permutations(range(5)), st.integers(1, 4))
def test_summaries_put_together_in_any_order_are_the_same(order: list[int], cut: int) -> None:
    found = summarised(SSLART(random_state=0), parts_of(0, [12, 7, 30, 1, 9]))
    shuffled = [found[place] for place in order]
    in_two_steps = Summary.joined([Summary.joined(shuffled[:cut]), Summary.joined(shuffled[cut:])])
    assert content(in_two_steps) == content(Summary.joined(found))


@pytest.mark.parametrize("scaling", ["auto", "rank"])
def test_partitions_learn_in_the_range_scale_and_categories_of_the_whole_table(scaling: str) -> None:
    parts = parts_of(1, [30, 40, 20])
    model = AutoSSLART(scaling=scaling, random_state=0)
    encoder = started(model, parts).shared.encoder
    whole = clone(model).fit(pd.concat([X for X, _ in parts]), np.concatenate([y for _, y in parts]))
    of_whole = view_of(whole).members[0].encoder
    assert set(encoder.features) == set(of_whole.features)
    assert [encoder.range_of(column) for column in (0, 1, 2, 4)] == [of_whole.range_of(one) for one in (0, 1, 2, 4)]
    values = np.linspace(-4, 8, 50)[:, None] * np.ones(len(encoder.features))
    own, others = (one.on_scale(values)[:, : len(one.numeric)] for one in (encoder, of_whole))
    assert np.array_equal(own, others)


def test_of_many_rows_a_fair_sample_and_the_limits_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaries, "MAX_SAMPLED", 200)
    monkeypatch.setattr(summaries, "MIN_SAMPLED", 1)
    random = np.random.default_rng(0)
    X, y = random.lognormal(size=(5000, 3)), np.where(np.arange(5000) % 10 == 0, np.arange(5000) % 3, -1)
    parts = list(zip(np.split(X, 10), np.split(y, 10), strict=True))
    model = AutoSSLART(scaling="rank", random_state=0)
    found = Summary.joined(summarised(model, parts))
    assert found.rows is not None
    assert found.sampled().sum() == 200
    assert found.kept_labels().sum() == 200
    assert found.n_labelled == 500
    encoder = start_of(model, found).shared.encoder
    assert np.array_equal([encoder.lower, encoder.upper], [X.min(axis=0), X.max(axis=0)])
    middle = encoder.on_scale(np.median(X, axis=0)[None])
    assert abs(middle - 0.5).max() < 0.1  # 200 rows: by rank, not by range, of which the median has a tenth


def test_of_many_columns_limits_are_kept_without_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = parts_of(3, [60, 50])
    model = AutoSSLART(scaling="range", random_state=0)
    with_rows = started(model, parts).shared.encoder
    monkeypatch.setattr(summaries, "MOST_WITH_LIMITS", 2)
    monkeypatch.setattr(summaries, "MAX_SAMPLED", 10)
    monkeypatch.setattr(summaries, "MIN_SAMPLED", 1)
    found = Summary.joined(summarised(model, parts))
    assert found.rows is not None
    assert len(found.rows) < 25
    encoder = start_of(model, found).shared.encoder
    assert encoder.features == with_rows.features
    assert np.array_equal([encoder.lower, encoder.upper], [with_rows.lower, with_rows.upper])


def test_outliers_are_named_with_their_partition() -> None:
    X = np.arange(40.0)[:, None] % 13
    X[27] = 1e9
    parts = [(X[:20], np.arange(20) % 2), (X[20:], np.arange(20) % 2)]
    with pytest.warns(UserWarning, match="1e.09, in row 7 of partition 1, counted from 0"):
        started(SSLART(random_state=0), parts)


@pytest.mark.parametrize(
    "model",
    [FuzzyART(), FuzzyARTMAP(), SSLART(mapping="one-to-one"), EVIDENCE[0], WESSLART(2), WESSLART(2, validation=0.3)],
    ids=repr,
)
def test_every_sample_is_learnt_and_lies_in_a_box(model: Any) -> None:
    model = clone(model).set_params(random_state=0)
    parts = parts_of(2, [40, 25, 30])
    parts.insert(1, (parts[0][0][:0], parts[0][1][:0]))
    if isinstance(model, FuzzyARTMAP):
        parts = [(X[[one is not None for one in y]], y[[one is not None for one in y]]) for X, y in parts]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = learnt(model, parts)
    n_networks = len(getattr(found, "estimators_", [found]))
    whole = pd.concat([X for X, _ in parts])
    n_held_out = len(whole) * n_networks - found.support_.sum()
    assert n_held_out == 0 or getattr(model, "validation", "labelled") != "labelled"
    if not n_held_out and not isinstance(model, FuzzyART):
        assert are_covered(found, whole).all()


def test_rows_of_weight_zero_are_not_learnt_and_groups_are_kept() -> None:
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) // 2 % 2
    model, wanted = AutoSSLART(random_state=0), wanted_of(AutoSSLART(random_state=0))
    weights, groups = np.array([0.0, 1.0] * 10), [f"g{one // 4}" for one in range(20)]
    beside = [{"groups": groups[rows], "sample_weight": weights[rows]} for rows in (slice(0, 8), slice(8, 20))]
    pieces = [(X[:8], y[:8]), (X[8:], y[8:])]
    found = [summary_of(model, *one, number=n, wanted=wanted, **beside[n]) for n, one in enumerate(pieces)]
    start = start_of(model, Summary.joined(found))
    made = [fit_part(model, *one, start, number=n, **beside[n]) for n, one in enumerate(pieces)]
    whole = finish(model, join_parts(model, made))
    assert whole.support_.sum() == 10
    left_out = view_of(whole).left_out
    assert left_out is not None
    assert (left_out.kind, len(np.unique(left_out.groups))) == ("given", 5)


def test_minus_one_is_a_class_where_one_is_the_only_other_label() -> None:
    model = SSLART(random_state=0)
    parts = [(np.arange(10.0)[:, None], np.full(10, -1)), (np.arange(10.0, 20)[:, None], np.ones(10, dtype=int))]
    found = Summary.joined(summarised(model, parts))
    wanted = partitions.second_look(found)
    assert wanted is not None
    again = Summary.joined([summary_of(model, X, y, number=n, wanted=wanted) for n, (X, y) in enumerate(parts)])
    assert partitions.second_look(again) is None
    with pytest.warns(UserWarning, match="y holds -1 and 1 only"):
        start = start_of(model, again)
    assert start.shared.class_table.seen == (-1, 1)
    assert (again.n_labelled, found.n_labelled) == (20, 10)


def test_a_column_without_a_type_is_what_all_its_values_show() -> None:
    numbers, texts = (pd.DataFrame({"a": [1.0, 2.0], "b": pd.Series(b, dtype=object)}) for b in ([1, 2], ["x", None]))
    labels = np.array([0, 1])
    start = started(SSLART(random_state=0), [(numbers, labels), (texts, labels)])
    assert start.shared.encoder.categories_of(1) == [1, 2, "x"]
    start = started(SSLART(random_state=0), [(numbers, labels), (numbers, labels)])
    assert start.shared.encoder.range_of(1) == (1.0, 2.0)


def test_dates_and_texts_are_understood_as_in_one_table() -> None:
    n = 90
    frame = pd.DataFrame(
        {
            "when": pd.date_range("2024-01-01", periods=n, freq="31h"),
            "name": [f"sample {one}" for one in range(n)],
            "kind": pd.Series(np.repeat(["a", "b", "c"], n // 3), dtype="category"),
            "size": np.arange(n) % 7.0,
        }
    )
    y = np.where(np.arange(n) % 2 == 0, np.arange(n) % 3, -1)
    parts = [(frame[rows], y[rows]) for rows in (slice(0, 30), slice(30, 60), slice(60, 90))]
    with pytest.warns(UserWarning, match="'name' is left out"):
        in_parts = learnt(SSLART(random_state=0), parts)
    with pytest.warns(UserWarning, match="'name' is left out"):
        whole = SSLART(random_state=0).fit(frame, y)
    assert set(in_parts.coded_feature_names_) == set(whole.coded_feature_names_)
    assert view_of(in_parts).reader.plan == view_of(whole).reader.plan


def test_the_first_partition_that_cannot_be_read_is_named() -> None:
    good, bad = np.ones((3, 1)), np.array([[1.0], [np.inf], [2.0]])
    labels = np.array([0, 1, 0])
    for parts in ([(good, labels), (bad, labels), (bad, labels)], [(good, labels), (bad, labels), (good, labels[:2])]):
        with pytest.raises(ValueError, match="Partition 1, counted from 0: Input X contains infinity"):
            started(SSLART(random_state=0), parts)
    with pytest.raises(ValueError, match=r"Partition 1, .*its columns \(b\) are not those of partition 0 \(a\)"):
        started(SSLART(), [(pd.DataFrame({name: [1.0, 2.0, 3.0]}), labels) for name in "ab"])
    with pytest.raises(ValueError, match="every partition is empty"):
        started(SSLART(), [(good[:0], labels[:0])])


def test_a_machine_with_another_version_is_named() -> None:
    model = SSLART(random_state=0)
    other = wanted_of(model)._replace(version="9.9")
    found = [summary_of(model, np.ones((2, 1)), [0, 1], number=number, wanted=other) for number in (1, 0)]
    with pytest.raises(ValueError, match=r"Partition 0, .* with sslart .*: install sslart 9\.9 there too"):
        start_of(model, Summary.joined(found))


def test_a_column_of_too_many_categories_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaries, "MAX_CATEGORIES", 3)
    frame = pd.DataFrame({"code": pd.Series(list("abcdef"), dtype="category"), "size": np.arange(6.0)})
    with pytest.raises(ValueError, match="Column code has more than"):
        started(SSLART(), [(frame[:3], np.array([0, 1, 0])), (frame[3:], np.array([0, 1, 0]))])


def test_parameters_are_checked_before_anything_is_read() -> None:
    for model in (FuzzyART(vigilance=2), SSLART(abstain_below=3), WESSLART(0), AutoSSLART(max_labels=0)):
        with pytest.raises(ValueError, match=f"of {type(model).__name__} must be"):
            wanted_of(model)


def test_fuzzy_artmap_needs_a_label_for_every_sample() -> None:
    with pytest.raises(ValueError, match="y has 2 unlabelled"):
        started(FuzzyARTMAP(), [(np.ones((3, 1)), np.array([0, 1, -1])), (np.ones((3, 1)), np.array([0, 1, -1]))])
