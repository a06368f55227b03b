"""Validation of groups and sample weights given by the user."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from sslart._data.masks import without_mask
from sslart._data.samples import plain_value
from sslart._utils.arrays import BoolArray, FloatArray, IntArray

NO_GROUP = 0
MIN_WEIGHT, MAX_WEIGHT = 1e-100, 1e100  # of a sample that counts: squares of these are numbers


def group_names(groups: Any, known: BoolArray) -> list[Any]:
    """Return the name of each sample's group as a plain value; None where an unlabelled sample has none."""
    array = np.asarray(without_mask(groups), dtype=object)
    check_consistent_length(known, array)
    names = [plain_value(value) for value in column_or_1d(array, dtype=object)]
    n_missing = sum(name is None for name, labelled in zip(names, known.tolist(), strict=True) if labelled)
    if n_missing:
        raise ValueError(
            f"groups is missing (None or NaN) for {n_missing} labelled sample(s). Name their group, or give each a "
            "name of its own."
        )
    return names


def group_keys(groups: Any, known: BoolArray) -> IntArray:
    """Return a key for each sample's group, the same in every call; `NO_GROUP` where a sample has none.

    Keys are hashes, so that a model does not hold the names, which may be those of persons.
    """
    return np.array([NO_GROUP if name is None else _key(name) for name in group_names(groups, known)], dtype=np.int64)


def _key(name: Any) -> int:
    if isinstance(name, float) and name.is_integer():
        name = int(name)
    digest = blake2b(f"{type(name).__name__}:{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True) or 1


def read_sample_weight(sample_weight: Any, known: BoolArray) -> FloatArray:
    """Return the weight of each sample after checking them."""
    try:
        weights = np.asarray(without_mask(sample_weight), dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("sample_weight must be numbers, one per sample.") from None
    if weights.ndim != 1:
        raise ValueError(f"sample_weight must have one dimension, got an array of shape {weights.shape}.")
    check_consistent_length(weights, known)
    if not ((weights == 0) | ((weights >= MIN_WEIGHT) & (weights <= MAX_WEIGHT))).all():
        raise ValueError(
            f"sample_weight must be finite numbers from 0 up, and those above 0 from {MIN_WEIGHT:g} to {MAX_WEIGHT:g}."
        )
    if not weights[known].any():
        raise ValueError("sample_weight is zero for every labelled sample: give some of them a weight above zero.")
    return weights
