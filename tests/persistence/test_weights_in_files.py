"""A file holds the fitted weights: what is loaded goes on with the same bits, and nothing is solved for it."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_wine

import sslart
from sslart import SSLART, WESSLART, AutoSSLART
from sslart._mapping.evidence import mapping as regression
from sslart._mapping.evidence.streams import Updates
from sslart.persistence import model_bytes

FAMILIES = ["box", "relevant", "feature", "linear", "subspace", "propagated", "trees"]


def wine() -> tuple[Any, Any]:
    X, y = load_wine(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(X))
    return X[order], y[order]


def digits() -> tuple[Any, Any]:
    X, y = load_digits(return_X_y=True)
    return X[:400], y[:400]


def mixed() -> tuple[Any, Any]:
    random = np.random.RandomState(1)
    frame = pd.DataFrame({"size": random.rand(150), "kind": random.choice(["a", "b", "c"], 150).astype(object)})
    frame.loc[::7, "size"], frame.loc[3::14, "kind"] = np.nan, None
    y = np.where(frame["size"].fillna(0) + (frame["kind"] == "a") > 0.8, "yes", "no").astype(object)
    y[::4] = None
    return frame, y


def _fitted(model: Any, samples: Callable[[], Any]) -> Any:
    X, y = samples()
    return model.fit(X[: len(y) // 2], y[: len(y) // 2]), X, y


def _streamed(model: Any, samples: Callable[[], Any]) -> Any:
    X, y = samples()
    for start, stop in ((0, 70), (70, 95), (95, 107)):
        model.partial_fit(X[start:stop], y[start:stop])
    return model, X, y


def _evidence(cls: Any, *arguments: Any, **parameters: Any) -> Any:
    return cls(*arguments, mapping="evidence", random_state=0, **parameters)


MODELS: dict[str, Callable[[], Any]] = {
    **{family: lambda family=family: _fitted(_evidence(SSLART, families=[family]), wine) for family in FAMILIES},
    "auto": lambda: _fitted(AutoSSLART(random_state=0, class_weight="balanced"), digits),
    "ranks and categories": lambda: _fitted(AutoSSLART(random_state=0), mixed),
    "a stream": lambda: _streamed(AutoSSLART(random_state=0), wine),
    "a stream of half-lives": lambda: _streamed(AutoSSLART(random_state=0, half_life="auto"), wine),
    "a stream that forgets": lambda: _streamed(_evidence(SSLART, half_life=40), wine),
    "a stream that promises": lambda: _streamed(AutoSSLART(random_state=0, max_error=0.3), wine),
    "votes": lambda: _fitted(_evidence(WESSLART, 2), wine),
    "votes of a stream": lambda: _streamed(_evidence(WESSLART, 2, max_error=0.3), wine),
}


@functools.cache
def _made(name: str) -> Any:
    return MODELS[name]()


def made(name: str) -> Any:
    """Return a model that has learnt, to be changed as one likes, with its samples and labels."""
    return copy.deepcopy(_made(name))


def refuse_to_solve(context: pytest.MonkeyPatch) -> None:
    """Let everything that solves a regression raise an error."""

    def refused(*_: Any, **__: Any) -> Any:
        raise AssertionError("something was solved")

    for name in ("learn", "choose", "choose_by_some"):
        context.setattr(regression, name, refused)
    context.setattr(Updates, "begun", refused)


def seen(model: Any, X: Any) -> list[Any]:
    """Return the output of a model on samples, and its own description."""
    return [
        model.predict_proba(X).tobytes(),
        model.predict(X).tolist(),
        model.decision_function(X).tobytes(),
        model.novelty_pvalues(X).tobytes(),
        str(model.explain(X[:3])),
        model.contributions(X[:5]).values.tobytes() if hasattr(model, "contributions") else None,
        str(model.rules(kind="boxes")),
    ]


def promised(model: Any, X: Any) -> list[Any]:
    """Return the output of a model that depends on left-out labels."""
    found = [model.predict_set(X, 0.6).tolist(), str(model.summary())]
    return found if isinstance(model, WESSLART) else [*found, model.quality_.accuracy.value, model.family_weights_]


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_goes_on_with_the_same_bits_and_solves_nothing(name: str, tmp_path: Path) -> None:
    model, X, y = made(name)
    path = tmp_path / "model.sslart"
    sslart.save(model, path)
    with pytest.MonkeyPatch.context() as context:
        refuse_to_solve(context)
        loaded: Any = sslart.load(path)
        assert seen(loaded, X) == seen(model, X)
        assert model_bytes(loaded) == path.read_bytes()
    assert promised(loaded, X) == promised(model, X)
    for one in (model, loaded):
        one.partial_fit(X[107:130], y[107:130])
    assert model_bytes(loaded) == model_bytes(model)
    assert seen(loaded, X) == seen(model, X)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_without_samples_tells_the_same_and_solves_nothing(name: str, tmp_path: Path) -> None:
    model, X, y = made(name)
    path = tmp_path / "model.sslart"
    sslart.save(model, path, samples=False)
    with pytest.MonkeyPatch.context() as context:
        refuse_to_solve(context)
        loaded: Any = sslart.load(path)
        found = seen(loaded, X), promised(loaded, X)
        assert model_bytes(loaded) == path.read_bytes()
        with pytest.raises(ValueError, match=r"saved without samples \(samples=False\).* or fit again"):
            loaded.partial_fit(X[107:130], y[107:130])
    assert found == (seen(model, X), promised(model, X))
    assert model_bytes(loaded) == path.read_bytes()


def test_settings_that_were_changed_after_the_fit_take_effect_with_the_next_label_as_if_never_saved(
    tmp_path: Path,
) -> None:
    model, X, y = made("a stream")
    model.set_params(class_weight={0: 5.0})
    sslart.save(model, tmp_path / "model.sslart")
    loaded: Any = sslart.load(tmp_path / "model.sslart")
    for one in (model, loaded):
        one.partial_fit(X[107:130], y[107:130])
    assert seen(loaded, X) == seen(model, X)
