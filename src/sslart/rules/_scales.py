"""What rules are said in: scales with their levels, cut points and terms; conditions on them; rules made of these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np

from sslart._data.classes import Label
from sslart._data.encoder import GRID, Encoder
from sslart._utils.arrays import BoolArray, FloatArray, IntArray

Category = str | bool | int | float | None

TERMS = {
    2: ("Small", "Large"),
    3: ("Small", "Medium", "Large"),
    4: ("Very Small", "Small", "Large", "Very Large"),
    5: ("Very Small", "Small", "Medium", "Large", "Very Large"),
    6: ("Very Small", "Small", "Rather Small", "Rather Large", "Large", "Very Large"),
    7: ("Very Small", "Small", "Rather Small", "Medium", "Rather Large", "Large", "Very Large"),
}


@dataclass(frozen=True)
class RuleCondition:
    """What a rule asks of one feature.

    Attributes
    ----------
    feature : str
        Name of the feature.
    low_level, high_level : int or None
        First and last level that the box reaches, counted from 1; None for a categorical feature.
    low_value, high_value : float
        Sides of the box in the user's units; NaN for a categorical feature, and where no sample has reached the box.
    terms : tuple of str
        The term of each level from the first to the last, or the name of each category.
    full_range : bool
        Whether the condition asks nothing: the box spans all levels, categories or values, or has met no value here.
    categories : tuple or None
        The categories that the box allows; None for a numeric feature.
    """

    feature: str
    low_level: int | None
    high_level: int | None
    low_value: float
    high_value: float
    terms: tuple[str, ...]
    full_range: bool
    categories: tuple[Category, ...] | None = None


@dataclass(frozen=True)
class Rule:
    """One box with a label: if all conditions hold, then the label.

    Attributes
    ----------
    label : int, bool or str
        The class that the rule names.
    conditions : tuple of RuleCondition
        One per feature, in the order of the features.
    counts : dict from class to int
        How many labelled samples of each class resonated with the box.
    support : int
        How many samples resonated with it, labelled and unlabelled.
    confidence_factor : float
        Usage and accuracy of the rule among those of its class, from 0 to 1: see `sslart.rules.rules_of`.
    nodes : tuple of int
        The nodes that are the rule: rows of the model's `lower_`, `upper_` and `counts_`.
    members : tuple of int
        The members of the ensemble that hold it: places in `estimators_`; (0,) for a single model.
    evidence : dict from class to float, or None
        With evidence mapping, what the box says for each class of a sample inside it; in an ensemble, the mean over
        these members. None for other mappings, and for a box that is silent.
    """

    label: Label
    conditions: tuple[RuleCondition, ...]
    counts: Mapping[Label, int] = field(hash=False)
    support: int
    confidence_factor: float
    nodes: tuple[int, ...]
    members: tuple[int, ...] = (0,)
    evidence: Mapping[Label, float] | None = field(default=None, hash=False)

    @property
    def n_labelled(self) -> int:
        """How many labelled samples resonated with the box."""
        return sum(self.counts.values())

    @property
    def n_members(self) -> int:
        """How many members of an ensemble hold the rule; 1 for a single model."""
        return len(self.members)

    @property
    def confidences(self) -> dict[Label, float]:
        """The share of each class among the labelled samples of the box."""
        total = self.n_labelled
        return {label: count / total for label, count in self.counts.items()}

    @property
    def confidence(self) -> float:
        """The share of the rule's own class."""
        return self.confidences[self.label]


def joined(rules: Sequence[Rule], conditions: tuple[RuleCondition, ...]) -> Rule:
    """Return several rules of one class as one: counts and supports added, the better confidence factor."""
    return Rule(
        rules[0].label,
        conditions,
        {label: sum(rule.counts[label] for rule in rules) for label in rules[0].counts},
        sum(rule.support for rule in rules),
        max(rule.confidence_factor for rule in rules),
        tuple(sorted(node for rule in rules for node in rule.nodes)),
        tuple(sorted({member for rule in rules for member in rule.members})),
    )


@dataclass(frozen=True, eq=False)
class Scale:
    """How one feature is put into words: levels between cut points, or categories.

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
        """Tell for each box, given by the coded sides of this feature, whether it asks nothing of the feature."""
        unreached = np.asarray((lower > upper).all(axis=1))
        if self.categories is not None:
            return unreached | (upper > 0).all(axis=1)
        low, high = lower[:, 0], upper[:, 0]
        all_levels = (self.levels(low) == 1) & (self.levels(high) == len(self.terms))
        return np.asarray(unreached | all_levels | ((low <= 0) & (high >= 1)) | (self.low == self.high))

    def conditions(self, lower: FloatArray, upper: FloatArray, encoder: Encoder) -> list[RuleCondition]:
        """Return the condition of each box, given by the coded sides of this feature."""
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
        """Return the condition that asks nothing."""
        if self.categories is not None:
            return self._of_categories([True] * len(self.categories), True)
        return self._of_levels(1, len(self.terms), self.low, self.high, True)

    def _of_levels(self, low: int, high: int, low_value: float, high_value: float, full: bool) -> RuleCondition:
        return RuleCondition(self.feature, low, high, low_value, high_value, self.terms[low - 1 : high], full)

    def _of_categories(self, allowed: Sequence[bool], full: bool) -> RuleCondition:
        assert self.categories is not None
        kept = tuple(category for category, keep in zip(self.categories, allowed, strict=True) if keep)
        terms = tuple(term for term, keep in zip(self.terms, allowed, strict=True) if keep)
        return RuleCondition(self.feature, None, None, np.nan, np.nan, terms, full, kept)


def scales_of(encoder: Encoder, names: Sequence[str], levels: Any, terms: Any) -> tuple[Scale, ...]:
    """Return the scale of each column, as the user wants levels and terms.

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
            categories = tuple(encoder.features[place].category for place in positions[column])
            none = np.empty(0)
            scales.append(Scale(name, places, np.nan, np.nan, none, none, tuple(map(str, categories)), categories))
            continue
        low, high = float(encoder.lower[places[0]]), float(encoder.upper[places[0]])
        if low > high:
            low = high = np.nan
        wish = levels.get(name, 5) if isinstance(levels, Mapping) else levels
        cuts, edges = _cut_points(name, wish, low, high)
        words = terms.get(name) if isinstance(terms, Mapping) else terms
        scales.append(Scale(name, places, low, high, cuts, edges, _read_terms(name, words, len(cuts) + 1)))
    return tuple(scales)


def _check_features(argument: str, wishes: Mapping[Any, Any], names: Sequence[str], numeric: Sequence[str]) -> None:
    for name in wishes:
        if name not in names:
            raise ValueError(f"{argument} names the feature {name!r}, which the model does not have. {known(names)}")
        if name not in numeric:
            raise ValueError(
                f"{argument} names the feature {name!r}, which is categorical: its categories stand for themselves. "
                f"Leave it out of {argument}."
            )


def known(names: Iterable[Any], what: str = "features") -> str:
    """Return a sentence that says which names there are."""
    shown = [repr(name) for name in names]
    return f"Its {what} are {', '.join(shown[:12])}{', ...' if len(shown) > 12 else ''}."


def _cut_points(name: str, wish: Any, low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """Return the cut points of a feature in the user's units and coded, from a number of levels or an expert's cuts."""
    if isinstance(wish, Integral) and not isinstance(wish, bool):
        if wish < 2:
            raise ValueError(f"levels must be 2 or more, got {wish} for the feature {name!r}: one level says nothing.")
        edges = (np.arange(int(wish) - 1) + 0.5) / (int(wish) - 1)  # midway between V_q = (q - 1) / (Q - 1)
        return low + edges * (high - low), edges
    cuts = _read_cuts(name, wish)
    if not low <= high:
        return cuts, np.zeros(len(cuts))
    if low == high:
        return cuts, np.where(cuts < low, -np.inf, np.inf)
    return cuts, np.rint((cuts - low) / (high - low) * GRID) / GRID  # as a sample with this value would be coded


def _read_cuts(name: str, wish: Any) -> FloatArray:
    cure = (
        f"levels of the feature {name!r} must be a whole number from 2 up, or cut points in the units of the feature, "
        "such as [120, 140]"
    )
    try:
        values = list(wish)
    except TypeError:
        raise ValueError(f"{cure}. Got {wish!r}.") from None
    if isinstance(wish, str) or not all(isinstance(value, Real) and not isinstance(value, bool) for value in values):
        raise ValueError(f"{cure}. Got {wish!r}.")
    cuts = np.array(values, dtype=np.float64)
    if len(cuts) == 0 or not np.isfinite(cuts).all():
        raise ValueError(f"{cure}: at least one, and all finite. Got {wish!r}.")
    if (np.diff(cuts) <= 0).any():
        raise ValueError(f"The cut points of the feature {name!r} must increase. Sort them, each once: got {wish!r}.")
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
