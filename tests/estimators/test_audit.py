"""An audit: samples that are never learnt, on which the quality is measured."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import balanced_accuracy_score, log_loss

import sslart
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyARTMAP
from sslart._mapping.model_view import view_of

IRIS = load_iris()  # one of its two equal samples is not used
NAMES = IRIS.target_names[IRIS.target]
PLACE = (np.arange(len(NAMES)) + 3) % 5
X, Y = IRIS.data[PLACE < 2], NAMES[PLACE < 2]
ASIDE, TRUTH = IRIS.data[PLACE == 2], NAMES[PLACE == 2]
FURTHER, LATER = IRIS.data[PLACE == 3], NAMES[PLACE == 3]
EVIDENCE = SSLART(mapping="evidence", random_state=0)
MODELS = [EVIDENCE, SSLART(random_state=0), FuzzyARTMAP(), WESSLART(2, mapping="evidence", random_state=0)]


@pytest.mark.parametrize("model", MODELS, ids=["evidence", "counts", "FuzzyARTMAP", "WESSLART"])
def test_figures_are_those_of_scikit_learn_on_the_audit(model: Any) -> None:
    model = clone(model).fit(X, Y)
    before = model.predict_proba(ASIDE)
    quality = model.add_audit(ASIDE, TRUTH).quality_
    np.testing.assert_array_equal(model.predict_proba(ASIDE), before)
    assert quality.accuracy.value == pytest.approx(model.score(ASIDE, TRUTH))
    assert quality.balanced_accuracy.value == pytest.approx(balanced_accuracy_score(TRUTH, model.predict(ASIDE)))
    if "evidence" in str(model):
        assert quality.log_loss == pytest.approx(log_loss(TRUTH, before))
    assert quality.how == "on an audit of 30 samples, never learnt"
    assert quality.n_labels == 30
    assert "those of the audit" in quality.assumes
    assert "on an audit of 30 samples" in " ".join(str(model.summary()).split())


def test_samples_of_the_audit_are_never_learnt() -> None:
    model = clone(EVIDENCE).fit(X, Y).add_audit(ASIDE, TRUTH)
    both = clone(EVIDENCE).fit(X, Y).partial_fit(FURTHER, LATER)
    mixed, labels = np.concatenate([ASIDE[:9], FURTHER]), [*TRUTH[:9], *LATER]
    with pytest.warns(UserWarning, match="9 samples of X equal samples of the audit"):
        model.partial_fit(mixed, labels)
    np.testing.assert_array_equal(model.predict_proba(IRIS.data), both.predict_proba(IRIS.data))
    digest = pickle.dumps(model.predict_proba(IRIS.data))
    with pytest.warns(UserWarning, match="1 sample of X equal"):
        model.partial_fit(ASIDE[:1], TRUTH[:1])
    assert pickle.dumps(model.predict_proba(IRIS.data)) == digest
    assert model.quality_.accuracy.value == pytest.approx(model.score(ASIDE, TRUTH))


def test_learnt_samples_are_left_out_of_the_audit() -> None:
    model = clone(EVIDENCE).fit(X, Y)
    with pytest.raises(ValueError, match="has learnt all samples of the audit"):
        model.add_audit(X[:5], Y[:5])
    assert model.quality_.how == "leave-one-out"
    with pytest.warns(UserWarning, match="5 samples of the audit equal samples that the model has learnt"):
        model.add_audit(np.concatenate([ASIDE, X[:5]]), [*TRUTH, *Y[:5]])
    assert model.quality_.n_labels == 30
    model = clone(EVIDENCE).fit(X, Y)
    with pytest.raises(ValueError, match="no labelled sample"):
        model.add_audit(ASIDE, [None] * len(ASIDE))


def test_an_audit_grows_and_starts_anew_with_fit() -> None:
    model = clone(EVIDENCE).fit(X, Y).add_audit(ASIDE[:10], TRUTH[:10]).add_audit(ASIDE[10:], TRUTH[10:])
    assert model.quality_.n_labels == 30
    assert clone(model).fit(X, Y).quality_.how == "leave-one-out"
    assert model.fit(X, Y).quality_.how == "leave-one-out"


def test_a_group_counts_once() -> None:
    quality = clone(EVIDENCE).fit(X, Y).add_audit(ASIDE, TRUTH, groups=np.arange(30) // 3).quality_
    assert quality.n_labels == 10
    assert quality.together.n_groups == 10
    assert "of other groups" in quality.assumes


@pytest.mark.parametrize("model", MODELS[::3], ids=["one", "many"])
def test_it_is_saved_copied_and_merged(model: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.where(X[:, 0] > 6, "long", "short"))
    aside = pd.DataFrame(ASIDE, columns=list("abcd")).assign(kind=np.where(ASIDE[:, 0] > 6, "long", "short"))
    model = clone(model).fit(frame, Y).add_audit(aside, TRUTH)
    sslart.save(model, tmp_path / "model.sslart")
    loaded = sslart.load(tmp_path / "model.sslart")
    assert loaded.quality_ == model.quality_ == pickle.loads(pickle.dumps(model)).quality_
    sslart.save(model, tmp_path / "small.sslart", samples=False)
    assert sslart.load(tmp_path / "small.sslart").quality_.how.startswith("leave-one-out")
    merged = sslart.merge([model, clone(model).fit(aside[:10], TRUTH[:10])])
    assert merged.quality_.how == "on an audit of 20 samples, never learnt"
    assert merged.quality_.accuracy.value == pytest.approx(merged.score(aside[10:], TRUTH[10:]))


@pytest.mark.usefixtures("plain_pictures")
def test_a_class_that_the_model_does_not_know_counts_as_wrong(tmp_path: Path) -> None:
    model = clone(EVIDENCE).fit(X, Y).add_audit(ASIDE[:10], ["rose"] * 10)
    assert model.quality_.accuracy.value == 0
    assert [one.label for one in model.quality_.classes] == [*model.classes_, "rose"]
    page = sslart.report(model, FURTHER, LATER, tmp_path / "a.html", max_samples=1).read_text(encoding="utf-8")
    assert "<h3>Audit</h3>" in page
    assert "on an audit of 10 samples, never learnt" in page
    assert "left out one by one" not in page
    with pytest.raises(ValueError, match="Classes of several kinds"):
        model.add_audit(ASIDE[10:], [1] * 20)


def test_limits_still_rest_on_left_out_labels() -> None:
    model = AutoSSLART(random_state=0).fit(X, Y)
    before = model.quality_.limit
    assert model.add_audit(ASIDE, TRUTH).quality_.limit == before
    assert view_of(model).promises.n_labels == len(Y)


def test_explanations_follow_the_skill_on_the_audit() -> None:
    model = AutoSSLART(random_state=0).fit(X, Y)
    assert model.explain(ASIDE[:1])[0].evidence.shows_skill
    model.add_audit(ASIDE, np.random.default_rng(0).permutation(TRUTH))
    assert model.quality_.skill == "no evidence yet"
    assert not model.explain(ASIDE[:1])[0].evidence.shows_skill
    assert not model.feature_importances().shows_skill
    assert "no evidence yet" in str(model.explain(ASIDE[:1])[0])
