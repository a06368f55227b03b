"""Many labels of a few classes: trees share with a regression as labels that were held out show, and nothing leaks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from labelled_sets import labelled_set
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from sslart import SSLART, AutoSSLART
from sslart._mapping.evidence import selection
from sslart._mapping.evidence.large_scale import learn_many_labels
from sslart._mapping.evidence.settings import BasisSpec, Mixture

BOXES = Mixture((BasisSpec("box", 0.5, 0.25),), 0.1)
RELEVANT = Mixture((BasisSpec("relevant", 0.5, 0.25),), 0.1)
TREES = Mixture((BasisSpec("tree", 0.0, 0.5),), 0.0, 0.0)


@pytest.mark.parametrize("other", [BOXES, RELEVANT], ids=["box", "relevant"])
def test_a_held_out_label_does_not_change_what_is_predicted_for_it(other: Mixture) -> None:
    labelled = labelled_set(2, n_labels=150)
    nodes = np.arange(len(labelled.boxes.lower))
    before = learn_many_labels(labelled, [other, TREES], nodes)
    for place in (0, 7):
        classes = labelled.classes.copy()
        classes[before.rows[place]] = (classes[before.rows[place]] + 1) % 3
        after = learn_many_labels(replace(labelled, classes=classes), [other, TREES], nodes)
        np.testing.assert_array_equal(after.rows, before.rows)
        np.testing.assert_array_equal(after.left_out[place], before.left_out[place])


def test_shares_sum_to_one_and_follow_what_is_found() -> None:
    labelled = labelled_set(2, n_labels=300, n_features=4)
    steps = (labelled.samples[:, 0] > 0.5).astype(np.int64) + (labelled.samples[:, 1] > 0.7)
    labelled = replace(labelled, classes=steps)
    learnt = learn_many_labels(labelled, [BOXES, TREES], np.arange(len(labelled.boxes.lower)))
    weights = {one.specs[0].kind: one.weight for one in learnt.mixtures}
    assert sum(weights.values()) == pytest.approx(1.0)
    assert weights["tree"] > 0.5


def test_trees_alone_are_learnt_where_the_user_wants_no_other_family(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "MAX_LABELS", 100)
    X, y = make_classification(400, 6, random_state=0)
    model = SSLART(mapping="evidence", families="trees", random_state=0).fit(X, y)
    assert model.family_weights_ == {"trees": 1.0}
    assert model.score(X, y) > 0.95


@pytest.mark.slow
def test_with_many_labels_the_model_is_as_accurate_as_a_random_forest() -> None:
    X, y = make_classification(12_000, 30, n_informative=15, n_clusters_per_class=4, random_state=3)
    few = np.where(np.arange(9000) < 4000, y[:9000], -1)
    ours = AutoSSLART(random_state=0).fit(X[:9000], few).score(X[9000:], y[9000:])
    forest = RandomForestClassifier(200, random_state=0).fit(X[:4000], y[:4000]).score(X[9000:], y[9000:])
    assert ours >= forest - 0.005
