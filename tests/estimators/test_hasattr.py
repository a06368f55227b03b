"""An attribute has a value, or `hasattr` is False: it raises nothing, whatever the model has learnt."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP

X = np.random.RandomState(0).rand(8, 2)
Y = np.arange(8) % 2
FIXED = {"families": ["linear"], "ridge": 0.01, "rank_weight": 0.5, "random_state": 0}
MAPPINGS = ("one-to-many", "one-to-one", "evidence")
MODELS = [
    FuzzyART(),
    FuzzyARTMAP(),
    *(SSLART(mapping=mapping, **FIXED) for mapping in MAPPINGS),
    AutoSSLART(random_state=0),
    *(WESSLART(2, mapping=mapping, **FIXED) for mapping in MAPPINGS),
]
CHANGES: list[dict[str, Any]] = [
    {"vigilance": 7},
    {"n_jobs": 0},
    {"choice": 0},
    {"mapping": "evidence"},
    {"mapping": "one-to-many"},
    {"mapping": None},
    {"decision_costs": "none"},
    {"decision_costs": [[1]]},
    {"max_error": 5},
    {"abstain_below": "x"},
    {"search_depth": -1},
    {"voting": "x"},
    {"quorum": 99},
    {"families": "x"},
    {"bounds": 3},
    {"random_state": "x"},
]


def names_of(model: Any) -> list[str]:
    """Return the public names of a model, without asking the model itself."""
    return sorted({name for cls in type(model).__mro__ for name in vars(cls)} | set(vars(model)))


def check(model: Any) -> set[str]:
    """Return the names that a model has."""
    assert set(dir(model)) <= {name for name in names_of(model) if hasattr(model, name)}
    return {name for name in names_of(model) if hasattr(model, name)}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{type(model).__name__} {getattr(model, 'mapping', '')}")
def test_hasattr_never_raises(model: Any) -> None:
    new, fitted = clone(model), clone(model).fit(X, Y)
    assert "lower_" not in check(new)
    assert {"lower_", "n_nodes_", "novelty_threshold_"} <= check(fitted)
    if hasattr(model, "mapping") and not isinstance(model, FuzzyARTMAP):
        check(clone(model).partial_fit(X))
        assert ("class_weights_" in check(fitted)) == isinstance(model, WESSLART)
        has_families = isinstance(model, SSLART) and model.mapping == "evidence"
        assert ("family_weights_" in check(fitted)) == has_families
        assert "quality_" in check(fitted)
    given = model.get_params()
    for change in CHANGES:
        if change.keys() <= given.keys():
            check(new.set_params(**{**given, **change}))
            check(fitted.set_params(**{**given, **change}))


def test_an_attribute_without_a_value_names_the_cure() -> None:
    model = SSLART().fit(X, Y)
    for wrong in (ValueError, AttributeError):
        with pytest.raises(wrong, match="fit it again with mapping='evidence'"):
            _ = model.family_weights_
