"""Models that can be merged: of one class, with equal parameters, for the same columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone

from sslart._utils.text import printable
from sslart.estimators import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP
from sslart.estimators._fitted import FittedModel

ESTIMATORS = (FuzzyART, FuzzyARTMAP, SSLART, AutoSSLART, WESSLART)
MAY_DIFFER = ("n_jobs", "random_state")

Model = TypeVar("Model", bound=FuzzyART | FuzzyARTMAP | SSLART | AutoSSLART | WESSLART)


def check_models(models: Iterable[Model]) -> list[Model]:
    """Return models as a list, or raise an error that names the one that does not fit and why."""
    if isinstance(models, ESTIMATORS):
        raise TypeError(f"sslart.merge takes a sequence of models, got one {type(models).__name__}: pass [model].")
    found = list(models)
    if not found:
        raise ValueError("sslart.merge needs at least one model, got none.")
    names = ", ".join(cls.__name__ for cls in ESTIMATORS)
    first = found[0]
    for place, model in enumerate(found):
        if type(model) not in ESTIMATORS:
            cure = " of sslart.dask: pass what its to_local() returns" if hasattr(model, "to_local") else ""
            raise TypeError(f"sslart.merge takes {names}; models[{place}] is a {type(model).__name__}{cure}.")
        if type(model) is not type(first):
            raise TypeError(
                f"sslart.merge takes models of one class: models[0] is a {type(first).__name__}, models[{place}] a "
                f"{type(model).__name__}."
            )
        _check_parameters(params_of(first), params_of(model), place)
    return found


def _check_parameters(first: dict[str, Any], other: dict[str, Any], place: int) -> None:
    for name, value in first.items():
        if name not in MAY_DIFFER and not _same(value, other[name]):
            raise ValueError(
                f"Models to merge must have equal parameters: {name} is {_short(value)} in models[0] and "
                f"{_short(other[name])} in models[{place}]. Fit them with the same value."
            )


def _short(value: Any) -> str:
    text = printable(repr(value))
    return text if len(text) <= 60 else f"{text[:57]}..."


def _same(one: Any, other: Any) -> bool:
    """Return True if two values of a parameter are equal; arrays, sequences, and dicts are compared by content."""
    if isinstance(one, dict) or isinstance(other, dict):
        are_dicts = isinstance(one, dict) and isinstance(other, dict)
        return are_dicts and one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    sequences = (list, tuple, np.ndarray)
    if isinstance(one, sequences) or isinstance(other, sequences):
        are_sequences = isinstance(one, sequences) and isinstance(other, sequences)
        return are_sequences and len(one) == len(other) and all(map(_same, one, other))
    is_nan = one != one and other != other
    return bool(one is other or one == other or is_nan)


def check_columns(parts: Sequence[FittedModel], places: Sequence[int]) -> None:
    """Raise a ValueError where models have learnt samples with other columns.

    Parameters
    ----------
    parts : sequence of FittedModel
    places : sequence of int
        Where each is among the models that the user gave.
    """
    first, start = parts[0], places[0]
    for one, place in zip(parts, places, strict=True):
        if one.n_features != first.n_features:
            raise ValueError(
                f"models[{start}] has learnt {first.n_features} features and models[{place}] {one.n_features}: models "
                "to merge must have learnt the same features."
            )
        if (one.names is None) != (first.names is None):
            with_names, without = (start, place) if one.names is None else (place, start)
            raise ValueError(
                f"models[{with_names}] has learnt samples with feature names and models[{without}] samples without: "
                "give the features the same names in all data, or none."
            )
        if one.names != first.names:
            differ = next((a, b) for a, b in zip(first.names or [], one.names or [], strict=True) if a != b)
            raise ValueError(
                f"Feature names differ: {printable(differ[0])!r} in models[{start}] is {printable(differ[1])!r} in "
                f"models[{place}]. Models to merge must have learnt the same features in the same order."
            )
        if len(one.members) != len(first.members):
            raise ValueError(
                f"models[{start}] has {len(first.members)} members and models[{place}] {len(one.members)}: models to "
                "merge must have as many."
            )


def lowest_vigilance(model: Any, parts: Sequence[FittedModel]) -> float:
    """Return the lowest vigilance that a model, or any of the networks of some parts, learns with."""
    reached = [member.network.nodes.vigilance for one in parts for member in one.members]
    return min(float(model.vigilance), *reached)


def new_model(models: Sequence[Model]) -> Model:
    """Return an unfitted model with the parameters that models share, and None where they differ."""
    model: Model = clone(models[0])
    for name in MAY_DIFFER:
        values = [params_of(one).get(name) for one in models]
        if not all(_same(value, values[0]) for value in values):
            setattr(model, name, None)
    return model


def params_of(model: Any) -> dict[str, Any]:
    """Return the parameters of a model."""
    params: dict[str, Any] = model.get_params(deep=False)
    return params
