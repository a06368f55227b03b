"""Queries: first samples in the middle of many others, far from any label; then those between the classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_blobs
from sklearn.model_selection import train_test_split

from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP
from sslart._mapping.model_view import view_of
from sslart.active import QueryPool, _queries, select_queries
from sslart.active._queries import DRAW_EVERY, EXPLORE_EVERY, MAX_DRAWN, MAX_UNCERTAIN, Points, is_reserved

X, Y = load_iris(return_X_y=True)
FEW = np.where(np.arange(150) % 25 == 0, Y, -1)


def fitted(model: Any) -> Any:
    return clone(model).fit(X, FEW)


@pytest.mark.parametrize(
    "model", [AutoSSLART(random_state=0), SSLART(0.8, random_state=0), WESSLART(3, vigilance=0.8, random_state=0)]
)
def test_with_few_labels_boxes_without_one_come_first_and_one_label_serves_the_box(model: Any) -> None:
    model = fitted(model)
    pool = QueryPool(model)
    pool.add(X)
    first = pool.best(400)[0]
    assert first.new
    assert getattr(model, "estimators_", [model])[0].node_labels_[first.node] == -1
    model.partial_fit(X[[first.row]], Y[[first.row]])
    assert getattr(model, "estimators_", [model])[0].node_labels_[first.node] == Y[first.row]
    assert not any(query.node == first.node and query.new for query in pool.best(400))


def test_where_every_prediction_is_certain_labels_that_serve_many_samples_come_first() -> None:
    model = fitted(SSLART(0.8, random_state=0))
    assert set(model.predict_proba(X).max(axis=1)) == {1.0}
    pool = QueryPool(model)
    pool.add(X)
    sizes = [query.n_samples for query in pool.best(400) if query.new]
    assert np.mean(sizes[:3]) > np.mean(sizes[-3:])


def test_without_a_label_the_first_queries_lie_in_different_clusters() -> None:
    clusters, cluster_of = make_blobs(200, centers=5, cluster_std=0.3, center_box=(0, 40), random_state=2)
    model = AutoSSLART(random_state=0).partial_fit(clusters)
    rows, at_random = select_queries(model, clusters, 7, return_at_random=True)
    assert sorted(cluster_of[rows[~at_random]]) == [0, 1, 2, 3, 4]


def test_every_third_row_is_drawn_at_random_and_no_other_is_from_the_reserve() -> None:
    samples = np.random.RandomState(0).normal(size=(600, 4))
    rows, at_random = select_queries(
        AutoSSLART(random_state=0).partial_fit(samples), samples, 150, return_at_random=True
    )
    assert at_random.tolist() == [number % DRAW_EVERY == 0 for number in range(1, 151)]
    assert (is_reserved(rows) == at_random).all()
    assert 0.28 < is_reserved(np.arange(10_000)).mean() < 0.38


@given(st.integers(0, 2**31 - 1))
@settings(max_examples=10, deadline=None)
def test_rows_drawn_at_random_do_not_depend_on_the_samples_or_the_labels(seed: int) -> None:
    random, drawn = np.random.RandomState(seed), []
    for _ in range(2):
        samples = random.normal(size=(90, 3))
        pool = QueryPool(AutoSSLART(random_state=0).partial_fit(samples))
        pool.add(samples)
        for _ in range(6):
            (query,) = pool.best(1)
            pool.answer(query, int(random.randint(2)))
            drawn += [query.row] if query.at_random else []
    assert len(drawn) == 4
    assert drawn[:2] == drawn[2:]


def test_quality_rests_on_labels_of_samples_drawn_at_random() -> None:
    model = AutoSSLART(random_state=0).partial_fit(X)
    pool = QueryPool(model)
    pool.add(X)
    for _ in range(30):
        (query,) = pool.best(1)
        pool.answer(query, Y[query.row])
    assert (model.quality_.n_labels, model.quality_.n_chosen) == (10, 20)
    assert model.quality_.how == "leave-one-out of 10 samples drawn at random"
    assert "drawn at random" in model.quality_.assumes


def test_a_cluster_of_which_the_model_is_wrongly_certain_is_asked_about_soon() -> None:
    centres = [[0, 0], [3, 0], [40, 40]]
    samples, cluster_of = make_blobs([180, 180, 40], centers=centres, random_state=0)
    few = np.full(len(samples), -1)
    for one in (0, 1):
        few[np.flatnonzero(cluster_of == one)[:10]] = one
    for _ in range(EXPLORE_EVERY):
        model = AutoSSLART(random_state=0).fit(samples, few)
        certain = model.predict_proba(samples[cluster_of == 2]).max(axis=1)
        rest = np.flatnonzero(few < 0)
        row = int(rest[select_queries(model, samples[rest], 1)[0]])
        few[row] = cluster_of[row]
        if cluster_of[row] == 2:
            break
    assert certain.min() > 0.8
    assert cluster_of[row] == 2


def test_a_class_of_samples_that_are_unlike_all_others_is_found() -> None:
    random = np.random.RandomState(0)
    samples = np.vstack([random.normal(0, 1, (300, 20)), random.normal(0, 4, (300, 20))])
    classes, few = np.repeat([0, 1], 300), np.full(600, -1)
    for _ in range(4 * DRAW_EVERY):
        model = AutoSSLART(random_state=0)
        model = model.fit(samples, few) if (few >= 0).any() else model.partial_fit(samples)
        rest = np.flatnonzero(few < 0)
        row = int(rest[select_queries(model, samples[rest], 1)[0]])
        few[row] = classes[row]
    assert set(few) == {-1, 0, 1}


def test_of_many_samples_some_drawn_at_random_stand_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_queries, "MAX_DRAWN", 30)
    seen = []

    def in_order(points: Points, *_: object) -> Any:
        seen.append(points)
        return np.array([0])

    monkeypatch.setattr(Points, "in_order", in_order)
    pool = QueryPool(AutoSSLART(random_state=0).partial_fit(X))
    for start in (0, 70):
        pool.add(X[start : start + 70])
    pool.best(1)
    assert len(seen[0].mass) == 30
    assert seen[0].mass.sum() == pytest.approx(140)


def test_classes_at_the_ends_of_wide_boxes_are_asked_about() -> None:
    random = np.random.default_rng(0)
    score = random.uniform(-1, 1, 600)
    others = {f"c{number}": random.integers(0, 2, 600).astype(str) for number in range(6)}
    table = pd.DataFrame({"score": score, **others})
    votes = np.where(np.abs(score) > 0.5, np.where(score > 0, "yes", "no"), "unsure")
    pool = QueryPool(AutoSSLART(random_state=0).partial_fit(table))
    pool.add(table)
    asked = [votes[query.row] for query in pool.best(12)]
    assert min(asked.count(vote) for vote in ("yes", "no", "unsure")) >= 2


def test_once_clusters_have_labels_queries_lie_between_the_classes() -> None:
    clusters, cluster_of = make_blobs(400, centers=[[0, 0], [3, 0], [40, 40]], random_state=0)
    start = [int(np.flatnonzero(cluster_of == one)[place]) for one in range(3) for place in range(6)]
    few = np.full(len(clusters), -1)
    few[start] = cluster_of[start]
    model = AutoSSLART(random_state=0).fit(clusters, few)
    rest = np.setdiff1d(np.arange(len(clusters)), start)
    numbers = len(start) + 1 + np.arange(2)
    assert (numbers % DRAW_EVERY != 0).all()
    rows = rest[select_queries(model, clusters[rest], 2)]
    assert set(cluster_of[rows]) == {0, 1}
    highest = model.predict_proba(clusters).max(axis=1)
    assert highest[rows].mean() < np.median(highest[rest])


def test_a_batch_has_no_two_copies_of_a_sample() -> None:
    model = fitted(AutoSSLART(random_state=0))
    unlike = np.unique(X, axis=0, return_inverse=True)[1].reshape(-1)
    rows, at_random = select_queries(model, np.vstack([X, X, X]), 12, return_at_random=True)
    assert len(np.unique(unlike[rows[~at_random] % 150])) == 8


def test_counts_are_of_the_samples_whose_best_box_it_is() -> None:
    model = fitted(SSLART(0.8, random_state=0))
    pool = QueryPool(model)
    pool.add(X)
    (member,) = view_of(model).members
    best = member.rank(member.encode(view_of(model).read(X)))[0][:, 0]
    queries = pool.best(400)
    assert len({query.row for query in queries}) == len(queries)
    for query in queries:
        assert best[query.row] == query.node
        assert query.n_samples == (best == query.node).sum()
    labelled = model.node_labels_ != -1
    assert pool.share_labelled() == pytest.approx(labelled[best].mean())


@given(st.lists(st.integers(1, 149), max_size=4, unique=True))
@settings(max_examples=20, deadline=None)
def test_queries_do_not_depend_on_how_the_samples_are_split(cuts: list[int]) -> None:
    model = fitted(SSLART(0.8, random_state=0))
    whole, parts = QueryPool(model), QueryPool(model)
    whole.add(X)
    for part in np.split(X, sorted(cuts)):
        parts.add(part)
    assert whole.best(400) == parts.best(400)
    for query in whole.best(400):
        assert (whole.sample(query) == parts.sample(query)).all()
        assert (whole.sample(query)[0] == X[query.row]).all()


def test_memory_is_for_boxes_not_for_samples() -> None:
    model = fitted(AutoSSLART(0.6, random_state=0))
    pool = QueryPool(model)
    for _ in range(40):
        pool.add(X)
    assert pool.n_samples == 6000
    assert len(pool.rows()) <= MAX_DRAWN + MAX_UNCERTAIN


def test_samples_with_a_label_are_never_proposed_and_those_done_not_again() -> None:
    model = fitted(AutoSSLART(random_state=0))
    pool = QueryPool(model)
    known = np.arange(150) % 2 == 0
    pool.add(X, known)
    asked = list[int]()
    while queries := pool.best(400):
        asked += [query.row for query in queries]
        for query in queries:
            pool.done(query)
    assert sorted(asked) == np.flatnonzero(~known).tolist()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_stay_frames(frame: type) -> None:
    table = frame({"size": [1.0, 1.1, 5.0, 5.1, None], "colour": ["red", "red", "blue", "blue", "blue"]})
    model = AutoSSLART(random_state=0).fit(table, ["a", None, None, None, None])
    pool = QueryPool(model)
    pool.add(table)
    query = pool.best()[0]
    sample = pool.sample(query)
    assert isinstance(sample, frame)
    assert query.row in (2, 3, 4)
    assert select_queries(model, table, 2)[0] == query.row


def test_a_model_without_any_label_has_queries() -> None:
    model = SSLART(0.8).partial_fit(X)
    rows = select_queries(model, X, 5)
    assert len(rows) == 5
    assert model.partial_fit(X[rows], Y[rows]).n_labelled_nodes_ == 5


@pytest.mark.slow
def test_labels_of_queries_help_more_than_labels_of_random_samples() -> None:
    """Mean over splits of breast cancer: 8 queries against 8 samples drawn at random."""
    data, classes = load_breast_cancer(return_X_y=True)
    chosen, drawn = [], []
    for seed in range(4):
        learn, test, truth, expected = train_test_split(data, classes, test_size=0.5, random_state=seed)
        start = [int(np.flatnonzero(truth == label)[0]) for label in (0, 1)]
        few = np.full(len(truth), None)
        few[start] = truth[start]
        models = [AutoSSLART(random_state=seed).fit(learn, few) for _ in range(2)]
        pool = QueryPool(models[0])
        pool.add(learn)
        for _ in range(8):
            query = pool.best()[0]
            pool.done(query)
            models[0].partial_fit(learn[[query.row]], truth[[query.row]])
        rows = np.random.RandomState(seed).permutation(len(learn))[:8]
        models[1].partial_fit(learn[rows], truth[rows])
        chosen.append(models[0].score(test, expected))
        drawn.append(models[1].score(test, expected))
    assert np.mean(chosen) > np.mean(drawn)
    assert np.mean(chosen) > 0.9


def test_what_is_no_fitted_classifier_is_refused() -> None:
    with pytest.raises(TypeError, match="FuzzyART"):
        QueryPool(FuzzyART().fit(X))
    with pytest.raises(ValueError, match="not fitted"):
        QueryPool(SSLART())
    with pytest.raises(ValueError, match="n of best"):
        select_queries(FuzzyARTMAP().fit(X, Y), X, 0)


def test_an_answer_for_a_whole_box_counts_as_often_as_it_has_samples_but_once_in_quality() -> None:
    model = AutoSSLART(random_state=0).partial_fit(X)
    pool = QueryPool(model)
    pool.add(X)
    queries = pool.best(6)
    several = [query for query in queries if query.tight]
    assert len(several) > 2
    assert all(query.row in pool.box_rows(query) for query in queries)
    for query in several:
        rows = pool.box_rows(query)
        assert not any(is_reserved(np.array([row])) for row in rows if row != query.row)
        assert len(rows) == query.n_samples - is_reserved(_rows_of(model, query.node)).sum() + query.at_random
    weights = [len(pool.box_rows(query)) if query.tight else 1 for query in queries]
    for query in queries:
        pool.answer(query, Y[query.row], whole_box=query.tight)
    assert view_of(model).members[0].counts.sum() == sum(weights)
    left_out = view_of(model).left_out
    assert left_out is not None
    assert left_out.n_labels == len(queries)
    answered = {query.node for query in several}
    assert not any(query.node in answered for query in pool.best(400) if not query.at_random)


def _rows_of(model: Any, box: int) -> Any:
    (member,) = view_of(model).members
    return np.flatnonzero(member.rank(member.encode(view_of(model).read(X)))[0][:, 0] == box)


def test_only_a_tight_box_can_be_answered_for_as_a_whole() -> None:
    random = np.random.RandomState(0)
    wide = AutoSSLART(0.0, random_state=0).partial_fit(random.uniform(size=(50, 3)))
    pool = QueryPool(wide)
    pool.add(random.uniform(size=(50, 3)))
    (query,) = pool.best(1)
    assert query.n_samples == 50
    assert not query.tight
    with pytest.raises(ValueError, match=r"query\.tight"):
        pool.answer(query, 1, whole_box=True)
    pool.answer(query, 1)
    assert view_of(wide).members[0].counts.sum() == 1


def test_one_answer_is_for_the_unlabelled_samples_of_a_box_and_for_no_more_than_a_hundred() -> None:
    twins = np.array([[0.5, 0.5]] * 4 + [[0.0, 0.0], [1.0, 1.0]])
    model = SSLART(0.9, shuffle=False).partial_fit(twins)
    pool = QueryPool(model)
    pool.add(twins, [True, False, False, False, False, False])
    unlabelled = [row for row in (1, 2, 3) if not is_reserved(np.array([row]))]
    (query,) = (query for query in pool.best(6) if query.n_samples == 4 and not query.at_random)
    assert pool.box_rows(query) == unlabelled
    many = QueryPool(model)
    many.add(np.repeat(twins, 40, axis=0))
    assert {query.n_samples: query.tight for query in many.best(6) if query.n_samples > 1} == {160: False, 40: True}


def test_a_box_that_is_wide_in_one_feature_is_not_tight() -> None:
    long = np.zeros((40, 12))
    long[:, 0] = np.linspace(0, 0.4, 40)
    others = np.random.RandomState(0).uniform(size=(40, 12))
    table = np.vstack([long, others])
    model = SSLART(0.9, shuffle=False).partial_fit(table)
    pool = QueryPool(model)
    pool.add(table)
    found = [query for query in pool.best(80) if query.n_samples == 40]
    assert found
    assert not any(query.tight for query in found)


def test_the_labels_of_a_tight_box_agree() -> None:
    twins = np.array([[0.5, 0.5]] * 4 + [[0.0, 0.0], [1.0, 1.0]])
    model = SSLART(0.9, shuffle=False).partial_fit(twins)
    pool = QueryPool(model)
    pool.add(twins)
    chosen = [query for query in pool.best(6) if query.n_samples == 4 and not query.at_random]
    assert [query.tight for query in chosen] == [True]
    assert pool.box_rows(chosen[0]) == [row for row in range(4) if not is_reserved(np.array([row]))]
    model.partial_fit(twins[:2], [0, 1])
    assert [query.tight for query in pool.best(6) if query.n_samples == 4] == [False] * 4


def test_the_group_of_an_answer_is_learnt() -> None:
    model = fitted(AutoSSLART(random_state=0))
    pool = QueryPool(model)
    pool.add(X)
    for query in pool.best(2):
        pool.answer(query, Y[query.row], group="one visit")
    left_out = view_of(model).left_out
    assert left_out is not None
    assert left_out.kind == "given"
    assert left_out.n_labels == (FEW != -1).sum() + 1


@pytest.mark.parametrize(
    "model", [FuzzyARTMAP(), SSLART(), WESSLART(2), AutoSSLART()], ids=lambda one: type(one).__name__
)
def test_every_classifier_takes_answers(model: Any) -> None:
    X, y = load_iris(return_X_y=True)
    pool = QueryPool(clone(model).fit(X[::10], y[::10]))
    pool.add(X)
    before = pool.model.counts_.sum()
    for query in pool.best(4):
        pool.answer(query, y[query.row], group=query.row)
    assert pool.model.counts_.sum() > before


def test_a_sample_with_a_label_is_never_selected_again() -> None:
    X, y = load_iris(return_X_y=True)
    model, labelled = AutoSSLART(random_state=0).partial_fit(X), set[tuple[float, ...]]()
    for _ in range(12):
        rows, at_random = select_queries(model, X, 4, return_at_random=True)
        new = {tuple(X[row]) for row in rows}
        assert not new & labelled
        labelled |= new
        model.partial_fit(X[rows], y[rows], at_random=at_random)
    assert model.quality_.n_labels + model.quality_.n_chosen == 48
    assert model.quality_.n_labels == 16


def test_a_model_that_stores_no_labels_draws_other_samples_at_random_each_time() -> None:
    X, y = load_iris(return_X_y=True)
    model, drawn = SSLART(random_state=0).partial_fit(X), list[int]()
    for _ in range(8):
        rows, at_random = select_queries(model, X, 3, return_at_random=True)
        drawn += rows[at_random].tolist()
        model.partial_fit(X[rows], y[rows])
    assert len(set(drawn)) == len(drawn) == 8
