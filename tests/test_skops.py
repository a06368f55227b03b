"""Files of skops: a model that is loaded from one predicts and learns on as the model that was dumped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skops.io.exceptions import UntrustedTypesFoundException
from test_stream import fingerprint

from conftest import ALL, EVIDENCE, name_of
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyARTMAP

SMALL = {"families": ["box", "linear"], "bandwidth": 0.25, "ridge": 0.01, "rank_weight": 0.5}
MODELS = [
    *ALL,
    WESSLART(2, mapping="evidence", random_state=0, **SMALL),
    pytest.param(EVIDENCE[1], marks=pytest.mark.slow),
]
METHODS = ("predict", "predict_proba", "score_samples", "apply")

X, Y = load_iris(return_X_y=True)
MIXED = pd.DataFrame(X, columns=list("abcd"))
MIXED = MIXED.assign(kind=np.array(["u", "v", "w"])[(Y + np.arange(150) % 2) % 3], on=X[:, 0] > 5)
MIXED.loc[::7, "a"] = np.nan
MIXED.loc[::9, "kind"] = None


def through_skops(model: Any) -> Any:
    """Dump and load a model, with trust in sslart alone."""
    data = skops.io.dumps(model)
    types = skops.io.get_untrusted_types(data=data)
    assert all(name.startswith("sslart.") or name == "builtins.frozenset" for name in types)
    return skops.io.loads(data, trusted=types)


def labels_for(model: Any) -> np.ndarray:
    return Y if isinstance(model, FuzzyARTMAP) else np.where(np.arange(150) % 3 == 0, Y, -1)


def assert_alike(model: Any, twin: Any, samples: Any) -> None:
    assert fingerprint(twin) == fingerprint(model)
    for method in METHODS:
        if hasattr(model, method):
            np.testing.assert_array_equal(getattr(twin, method)(samples), getattr(model, method)(samples))


@pytest.mark.parametrize(("learn", "samples"), [("fit", X), ("partial_fit", MIXED)], ids=["fit", "partial_fit"])
@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_loaded_model_predicts_and_learns_on_as_before(model: Any, learn: str, samples: Any) -> None:
    y = labels_for(model)
    model = getattr(clone(model), learn)(samples[:100], y[:100])
    twin = through_skops(model)
    assert twin.get_params() == model.get_params()
    assert_alike(model, twin, samples)
    wider = samples * 1.5 if samples is X else samples.assign(kind="new")
    for start in (100, 110):
        model.partial_fit(wider[start : start + 10], y[start : start + 10])
        twin.partial_fit(wider[start : start + 10], y[start : start + 10])
    assert_alike(model, twin, samples)


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_model_that_has_learnt_nothing_comes_back_so(model: Any) -> None:
    twin = through_skops(clone(model))
    assert twin.get_params() == model.get_params()
    assert not twin.__sklearn_is_fitted__()


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_pipeline_comes_back_with_its_model(model: Any) -> None:
    frame = MIXED[list("abcd")]
    pipeline = make_pipeline(StandardScaler(), clone(model)).fit(frame, labels_for(model))
    twin = through_skops(pipeline)
    np.testing.assert_array_equal(twin.predict(frame), pipeline.predict(frame))
    assert fingerprint(twin[-1]) == fingerprint(pipeline[-1])


def test_file_keeps_explanations_and_rules(tmp_path: Any) -> None:
    model = AutoSSLART(random_state=0).fit(MIXED, labels_for(None))
    skops.io.dump(model, tmp_path / "model.skops")
    types = skops.io.get_untrusted_types(file=tmp_path / "model.skops")
    twin = skops.io.load(tmp_path / "model.skops", trusted=types)
    assert [str(one) for one in twin.explain(MIXED[:3])] == [str(one) for one in model.explain(MIXED[:3])]
    assert twin.rules(kind="boxes").to_text() == model.rules(kind="boxes").to_text()
    assert twin.family_weights_ == model.family_weights_


def test_nothing_of_sslart_is_trusted_unasked() -> None:
    data = skops.io.dumps(FuzzyARTMAP().fit(X, Y))
    with pytest.raises(UntrustedTypesFoundException, match=r"sslart\.estimators\._fuzzy_art\.FuzzyARTMAP"):
        skops.io.loads(data)
    assert skops.io.get_untrusted_types(data=data) == [
        "builtins.frozenset",
        "sslart._art.boxes.LearningParams",
        "sslart._art.boxes.NetworkBoxes",
        "sslart._art.network.Network",
        "sslart._art.novelty.FitRecords",
        "sslart._art.novelty.NoveltyCalibration",
        "sslart._data.encoder.Encoder",
        "sslart._data.encoder.Feature",
        "sslart._data.labels.ClassTable",
        "sslart._drift.features.FeatureHistory",
        "sslart._drift.monitor.DriftMonitor",
        "sslart._drift.windows.AdaptiveWindow",
        "sslart._drift.windows.Buckets",
        "sslart._drift.windows.Timeline",
        "sslart._mapping.base.CountsMapping",
        "sslart._utils.cache.Cache",
        "sslart._utils.cache.Deferred",
        "sslart.estimators._fitted.FittedMember",
        "sslart.estimators._fitted.FittedModel",
        "sslart.estimators._fuzzy_art.FuzzyARTMAP",
    ]


@pytest.mark.parametrize("mapping", ["evidence", "one-to-many"])
def test_a_model_that_was_shown_and_explained_is_dumped(mapping: str) -> None:
    model = SSLART(mapping=mapping, random_state=0).fit(X, labels_for(None))
    model._repr_html_()
    model._repr_mimebundle_()
    str(model.summary())
    str(model.explain(X[:1])[0])
    assert_alike(model, through_skops(model), X)
