"""AutoSSLART: SSLART with evidence mapping, and nothing to tune."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine

import sslart
from sslart import SSLART, AutoSSLART


def test_it_is_sslart_with_evidence_mapping(few_labels: Any) -> None:
    X, y = few_labels
    auto = AutoSSLART(0.8, random_state=3, bounds=(-4, 14)).fit(X, y)
    plain = SSLART(0.8, mapping="evidence", random_state=3, bounds=(-4, 14)).fit(X, y)
    assert auto.predict_proba(X).tobytes() == plain.predict_proba(X).tobytes()
    assert auto.family_weights_ == plain.family_weights_


def test_what_is_chosen_for_the_user_is_no_parameter() -> None:
    names = set(AutoSSLART().get_params())
    assert names - {"class_weight"} < set(SSLART().get_params())
    assert not names & {"mapping", "families", "width", "ridge", "rank_weight", "choice", "learning_rate", "shuffle"}
    for name in ("mapping", "width"):
        with pytest.raises(ValueError, match=name):
            AutoSSLART().set_params(**{name: None})
        with pytest.raises(TypeError):
            AutoSSLART(**{name: None})


def test_parameters_have_the_defaults_of_sslart() -> None:
    defaults = SSLART().get_params()
    own = AutoSSLART().get_params()
    assert own.pop("class_weight") is None  # evidence mapping alone takes it
    assert own.pop("scaling") == "auto"  # chosen, as all settings are
    assert own.pop("max_nodes") == 10_000  # so that long tables take seconds
    assert all(defaults[name] == value for name, value in own.items())
    fixed = SSLART(mapping="evidence", scaling="auto", max_nodes=10_000).get_params()
    assert all(getattr(AutoSSLART(), name) == value for name, value in fixed.items())


def test_repr_and_clone() -> None:
    assert repr(AutoSSLART(0.8)) == "AutoSSLART(vigilance=0.8)"
    assert clone(AutoSSLART(max_labels=7)).max_labels == 7


@pytest.mark.parametrize("name", ["vigilance", "max_labels", "abstain_below", "search_depth", "n_jobs"])
def test_bad_parameters_are_refused_by_its_own_name(name: str, blobs: Any) -> None:
    with pytest.raises(ValueError, match=f"{name} of AutoSSLART must be"):
        AutoSSLART().set_params(**{name: "x"}).fit(*blobs)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_it_beats_the_mapping_of_the_paper(load: Any) -> None:
    X, y = load(return_X_y=True)
    few = np.where(np.arange(len(y)) % 10, -1, y)
    ours = AutoSSLART(random_state=0).fit(X, few).score(X, y)
    assert ours > SSLART(0.8, random_state=0).fit(X, few).score(X, y)
    assert ours > 0.85


def test_it_comes_back_from_a_file_as_itself(few_labels: Any, tmp_path: Any) -> None:
    model = AutoSSLART(random_state=0, abstain_below=0.6).fit(*few_labels)
    sslart.save(model, tmp_path / "model")
    loaded = sslart.load(tmp_path / "model")
    assert type(loaded) is AutoSSLART
    assert loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(loaded.predict(few_labels[0]), model.predict(few_labels[0]))
