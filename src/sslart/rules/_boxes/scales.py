"""Scales of features: levels with their cut points and terms, or categories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from sslart._data.encoder import Encoder
from sslart._data.ranks import GRID
from sslart._data.scaling import coded_parts
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.text import list_text
from sslart.rules._boxes.rule import Category, RuleCondition

MAX_NAMES = 12
DEFAULT_LEVELS = 5

TERMS = {
    2: ("Small", "Large"),
    3: ("Small", "Medium", "Large"),
    4: ("Very Small", "Small", "Large", "Very Large"),
    5: ("Very Small", "Small", "Medium", "Large", "Very Large"),
    6: ("Very Small", "Small", "Rather Small", "Rather Large", "Large", "Very Large"),
    7: ("Very Small", "Small", "Rather Small", "Medium", "Rather Large", "Large", "Very Large"),
}


@dataclass(frozen=True, eq=False)
class Scale:
    """Linguistic scale of one feature: levels between cut points, or categories.

    Attributes
    ----------
    feature : str
    positions : array of int
        Its coded features: one, or one per category.
    low, high : float
        Range that the model has learnt, in the user's units; NaN for categories, and where no value is known.
    cuts, edges : arrays of length n_levels - 1
        Where one level ends and the next begins: in the user's units, and coded.
    terms : tuple of str
        One per level or category.
    categories : tuple or None
    """

    feature: str
    positions: IntArray
    low: float
    high: float
    cuts: FloatArray
    edges: FloatArray
    terms: tuple[str, ...]
    categories: tuple[Category, ...] | None = None

    def levels(self, coded: FloatArray) -> IntArray:
        """Return the level of each coded value: one more than there are edges below it."""
        return np.searchsorted(self.edges, coded, side="left") + 1

    def spans(self, lower: FloatArray, upper: FloatArray) -> BoolArray:
        """Tell for each box, given by the coded sides of this feature, whether every value meets its condition."""
        unreached = np.asarray((lower > upper).all(axis=1))
        if self.categories is not None:
            return unreached | (upper > 0).all(axis=1)
        if not len(self.positions):
            return unreached
        low, high = lower[:, 0], upper[:, 0]
        all_levels = (self.levels(low) == 1) & (self.levels(high) == len(self.terms))
        return np.asarray(unreached | all_levels | ((low <= 0) & (high >= 1)) | (self.low == self.high))

    def conditions(self, lower: FloatArray, upper: FloatArray, encoder: Encoder) -> list[RuleCondition]:
        """Return the condition of each box, given by the coded sides of this feature."""
        if not len(self.positions):
            return [self.whole()] * len(lower)
        full = self.spans(lower, upper).tolist()
        unreached: BoolArray = np.asarray((lower > upper).all(axis=1))
        if self.categories is not None:
            allowed = unreached[:, None] | (upper > 0)
            return [self._of_categories(row, spans) for row, spans in zip(allowed.tolist(), full, strict=True)]
        nowhere = unreached[:, None]
        values = [np.where(nowhere, np.nan, encoder.decode(side, self.positions))[:, 0] for side in (lower, upper)]
        low = np.where(unreached, 1, self.levels(lower[:, 0]))
        high = np.where(unreached, len(self.terms), self.levels(upper[:, 0]))
        columns = (low.tolist(), high.tolist(), values[0].tolist(), values[1].tolist(), full)
        return [self._of_levels(*row) for row in zip(*columns, strict=True)]

    def hull(self, conditions: Sequence[RuleCondition], full_range: bool) -> RuleCondition:
        """Return the narrowest condition that holds wherever one of several does."""
        if self.categories is not None:
            union = {category for condition in conditions for category in condition.categories or ()}
            return self._of_categories([category in union for category in self.categories], full_range)
        return self._of_levels(
            min(condition.low_level or 1 for condition in conditions),
            max(condition.high_level or 1 for condition in conditions),
            float(np.fmin.reduce([condition.low_value for condition in conditions])),
            float(np.fmax.reduce([condition.high_value for condition in conditions])),
            full_range,
        )

    def whole(self) -> RuleCondition:
        """Return the condition that every value meets."""
        if self.categories is not None:
            return self._of_categories([True] * len(self.categories), True)
        return self._of_levels(1, len(self.terms), self.low, self.high, True)

    def excluded_share(self, condition: RuleCondition) -> float:
        """Return the share of the range, or of the categories, that does not meet a condition."""
        if condition.full_range:
            return 0.0
        if self.categories is not None:
            return 1 - len(condition.categories or ()) / len(self.categories)
        span = self.high - self.low
        return 1 - (condition.high_value - condition.low_value) / span if span > 0 else 0.0

    def _of_levels(self, low: int, high: int, low_value: float, high_value: float, full: bool) -> RuleCondition:
        return RuleCondition(self.feature, low, high, low_value, high_value, self.terms[low - 1 : high], full)

    def _of_categories(self, allowed: Sequence[bool], full: bool) -> RuleCondition:
        assert self.categories is not None
        kept = tuple(category for category, keep in zip(self.categories, allowed, strict=True) if keep)
        terms = tuple(term for term, keep in zip(self.terms, allowed, strict=True) if keep)
        return RuleCondition(self.feature, None, None, np.nan, np.nan, terms, full, kept)


def scales_of(encoder: Encoder, names: Sequence[str], levels: Any, terms: Any) -> tuple[Scale, ...]:
    """Return the scale of each column, with the levels and terms that the user chose.

    Parameters
    ----------
    encoder : Encoder
    names : sequence of str
        Name of each column.
    levels : int, or mapping from feature to int or to cut points
    terms : None, sequence of str, or mapping from feature to a sequence of str
    """
    numeric = [name for column, name in enumerate(names) if column not in encoder.categorical]
    for argument, value in (("levels", levels), ("terms", terms)):
        if isinstance(value, Mapping):
            _check_features(argument, value, names, numeric)
    positions: dict[int, list[int]] = {column: [] for column in range(len(names))}
    for position, feature in enumerate(encoder.features):
        positions[feature.column].append(position)
    scales = []
    for column, name in enumerate(names):
        places = np.array(positions[column], dtype=np.int64)
        if column in encoder.categorical:
            categories = tuple(encoder.categories_of(column))
            none = np.empty(0)
            scales.append(Scale(name, places, np.nan, np.nan, none, none, tuple(map(str, categories)), categories))
            continue
        low, high = encoder.range_of(column)
        if low > high:
            low = high = np.nan
        chosen = levels.get(name, DEFAULT_LEVELS) if isinstance(levels, Mapping) else levels
        cuts, edges = _cut_points(name, chosen, low, high, encoder, places)
        words = terms.get(name) if isinstance(terms, Mapping) else terms
        scales.append(Scale(name, places, low, high, cuts, edges, _read_terms(name, words, len(cuts) + 1)))
    return tuple(scales)


def _check_features(argument: str, chosen: Mapping[Any, Any], names: Sequence[str], numeric: Sequence[str]) -> None:
    for name in chosen:
        if name not in names:
            raise ValueError(
                f"{argument} names the feature {name!r}, which the model does not have. {known_names(names)}"
            )
        if name not in numeric:
            raise ValueError(
                f"{argument} names the feature {name!r}, which is categorical and has no levels. "
                f"Leave it out of {argument}."
            )


def known_names(names: Iterable[Any], what: str = "features") -> str:
    """Return a sentence that lists the names that the model has, for messages."""
    return f"Its {what} are {list_text([repr(name) for name in names], MAX_NAMES)}."


def _cut_points(
    name: str, chosen: Any, low: float, high: float, encoder: Encoder, place: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the cut points of a feature in the user's units and coded, from a number of levels or an expert's cuts."""
    if isinstance(chosen, Integral) and not isinstance(chosen, bool):
        if chosen < 2:
            raise ValueError(f"levels must be 2 or more, got {chosen} for the feature {name!r}.")
        edges = (np.arange(int(chosen) - 1) + 0.5) / (int(chosen) - 1)  # midway between V_q = (q - 1) / (Q - 1)
        return encoder.decode(edges[:, None], place)[:, 0] if low < high else np.full(len(edges), low), edges
    cuts = _read_cuts(name, chosen)
    if not low <= high:
        return cuts, np.zeros(len(cuts))
    if low == high:
        return cuts, np.where(cuts < low, -np.inf, np.inf)
    coded = coded_parts(encoder, cuts[:, None], place)[:, 0]
    return cuts, np.rint(coded * GRID) / GRID  # as a sample with this value would be coded


def _read_cuts(name: str, chosen: Any) -> FloatArray:
    cure = (
        f"levels of the feature {name!r} must be a whole number from 2 up, or cut points in the units of the feature, "
        "such as [120, 140]"
    )
    try:
        values = list(chosen)
    except TypeError:
        raise ValueError(f"{cure}. Got {chosen!r}.") from None
    if isinstance(chosen, str) or not all(isinstance(value, Real) and not isinstance(value, bool) for value in values):
        raise ValueError(f"{cure}. Got {chosen!r}.")
    cuts = np.array(values, dtype=np.float64)
    if len(cuts) == 0 or not np.isfinite(cuts).all():
        raise ValueError(f"{cure}: at least one, and all finite. Got {chosen!r}.")
    if (np.diff(cuts) <= 0).any():
        raise ValueError(f"The cut points of the feature {name!r} must increase. Sort them, each once: got {chosen!r}.")
    return cuts


def _read_terms(name: str, words: Any, n_levels: int) -> tuple[str, ...]:
    if words is None:
        return TERMS.get(n_levels, tuple(f"level {level}" for level in range(1, n_levels + 1)))
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise ValueError(
            f"terms of the feature {name!r} must be a sequence of strings, one per level, such as ['low', 'high'], got "
            f"{words!r}."
        )
    chosen = tuple(words)
    if len(chosen) != n_levels:
        raise ValueError(
            f"terms gives {len(chosen)} words for the {n_levels} levels of the feature {name!r}. Give one word per "
            f"level, or levels={len(chosen)}; where features differ, a mapping from feature to words."
        )
    if not all(isinstance(word, str) and word for word in chosen) or len(set(chosen)) < n_levels:
        raise ValueError(f"terms of the feature {name!r} must be strings, each different, got {list(chosen)!r}.")
    return chosen
