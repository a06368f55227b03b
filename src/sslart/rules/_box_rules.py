"""Box rules as data, text and tables: levels of features, conditions, one rule per box."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import floor, isnan, log10, nan
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._art.backend import encode
from sslart._art.geometry import distances
from sslart._data.encoder import Category, Encoder, coded_parts
from sslart._data.labels import Label
from sslart._data.ranks import GRID
from sslart._data.samples import SampleReader
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.text import Cell, DateName, Day, count_text, list_text, printable

MAX_NAMES = 12  # in a message
DEFAULT_LEVELS = 5
MAX_DISTANCES = 2**22  # in memory at a time
ANY = "any"
NUMBER = "No."


@dataclass(frozen=True)
class RuleCondition:
    """Condition of a rule on one feature.

    Attributes
    ----------
    feature : str
        Name of the feature.
    low_level, high_level : int or None
        First and last level of the box, counted from 1; None for a categorical feature.
    low_value, high_value : float
        Sides of the box in the user's units; NaN for a categorical feature, and if the box has no value.
    terms : tuple of str
        The term of each level from the first to the last, or the name of each category.
    full_range : bool
        Whether the condition always holds: the box spans all levels, categories or values, or has no value yet.
    categories : tuple or None
        The allowed categories; None for a numeric feature.
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
    """If-then rule of one box: if all conditions hold, then its label.

    Attributes
    ----------
    label : int, bool or str
        The class that the rule predicts.
    conditions : tuple of RuleCondition
        One per feature, in the order of the features.
    counts : dict from class to int
        Number of labelled samples of each class that the box has learnt; floats with `half_life`.
    support : int
        Number of samples that the box has learnt, labelled and unlabelled; a float with `half_life`.
    confidence_factor : float
        Usage and accuracy of the rule among those of its class, from 0 to 1: see `sslart.rules.rules_of`.
    nodes : tuple of int
        The boxes of the rule: rows of the model's `lower_`, `upper_` and `counts_`.
    members : tuple of int
        The members of the ensemble that have the rule: indices in `estimators_`; (0,) for a single model.
    evidence : dict from class to float, or None
        With evidence mapping, the contribution of the box to the score of each class for a sample inside it; in an
        ensemble, the mean over these members. None for other mappings, and for a box without a weight.
    """

    label: Label
    conditions: tuple[RuleCondition, ...]
    counts: Mapping[Label, float] = field(hash=False)
    support: float
    confidence_factor: float
    nodes: tuple[int, ...]
    members: tuple[int, ...] = (0,)
    evidence: Mapping[Label, float] | None = field(default=None, hash=False)

    @property
    def n_labelled(self) -> float:
        """Number of labelled samples that the box has learnt."""
        return sum(self.counts.values())

    @property
    def n_members(self) -> int:
        """Number of members of an ensemble that have the rule; 1 for a single model."""
        return len(self.members)

    @property
    def confidences(self) -> dict[Label, float]:
        """The share of each class among the labelled samples of the box."""
        total = self.n_labelled
        return {label: count / total for label, count in self.counts.items()}

    @property
    def confidence(self) -> float:
        """Share of the rule's class among the samples of the box."""
        return self.confidences[self.label]


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
    """Linguistic scale of one feature: levels between cut points, or categories, with a term for each.

    `positions` are its coded features: one, or one per category. `low` and `high` are the learnt range in the user's
    units; NaN for categories, and if no value is known. Levels end at `cuts`, in coded units at `edges`.
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
        """Return the level of each coded value: one plus the number of edges below it."""
        return np.searchsorted(self.edges, coded, side="left") + 1

    def spans(self, lower: FloatArray, upper: FloatArray) -> BoolArray:
        """Return a mask of boxes, given by the coded sides of this feature, whose condition always holds."""
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
        low = np.where(unreached, 1, self.levels(lower[:, 0]))
        high = np.where(unreached, len(self.terms), self.levels(upper[:, 0]))
        values = [np.where(unreached, np.nan, encoder.decode(side, self.positions)[:, 0]) for side in (lower, upper)]
        columns = [*(column.tolist() for column in (low, high, *values)), full]
        return [self._of_levels(*row) for row in zip(*columns, strict=True)]

    def hull(self, conditions: Sequence[RuleCondition], full_range: bool) -> RuleCondition:
        """Return the narrowest condition that holds if any of several conditions holds."""
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
        """Return the condition that always holds."""
        if self.categories is not None:
            return self._of_categories([True] * len(self.categories), True)
        return self._of_levels(1, len(self.terms), self.low, self.high, True)

    def excluded_share(self, condition: RuleCondition) -> float:
        """Return the share of the range, or of the categories, that is excluded by a condition."""
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
    """Return the scale of each column, with the user's levels and terms: see `rules_of`."""
    numeric = [name for column, name in enumerate(names) if column not in encoder.categorical]
    for argument, value in (("levels", levels), ("terms", terms)):
        if isinstance(value, Mapping):
            _check_features(argument, value, names, numeric)
    column_of = np.array([feature.column for feature in encoder.features], dtype=np.int64)
    scales = []
    for column, name in enumerate(names):
        places = np.flatnonzero(column_of == column)
        if column in encoder.categorical:
            known, none = tuple(encoder.categories_of(column)), np.empty(0)
            scales.append(Scale(name, places, np.nan, np.nan, none, none, tuple(map(str, known)), known))
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
    """Return a sentence with the names known to the model, for error messages."""
    return f"Its {what} are {list_text([repr(name) for name in names], MAX_NAMES)}."


def _cut_points(
    name: str, chosen: Any, low: float, high: float, encoder: Encoder, place: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the cut points of a feature in the user's units and coded, from a number of levels or given cuts."""
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
    return cuts, np.rint(coded * GRID) / GRID  # on the grid of encoded samples


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


@dataclass(frozen=True, eq=False)
class Domain:
    """Features and classes of the model of rules, without the model itself."""

    encoder: Encoder
    scales: tuple[Scale, ...]
    classes: NDArray[Any]
    n_members: int
    reader: SampleReader
    uses_evidence: bool  # whether rules have `evidence`

    @property
    def noun(self) -> str:
        """Noun for a rule: "Box", or in an ensemble "Boxes", a group of boxes with the same text."""
        return "Box" if self.n_members == 1 else "Boxes"

    def encode(self, X: Any) -> FloatArray:
        """Validate samples; return them in the unit cube, NaN where missing."""
        table = self.reader.read(X)
        self.encoder.check(table)
        return encode(self.encoder, self.encoder.matrix(table))[0]

    def conditions(self, lower: FloatArray, upper: FloatArray) -> list[tuple[RuleCondition, ...]]:
        """Return the conditions of each box."""
        by_feature = (
            scale.conditions(lower[:, scale.positions], upper[:, scale.positions], self.encoder)
            for scale in self.scales
        )
        return list(zip(*by_feature, strict=True))

    def spans(self, lower: FloatArray, upper: FloatArray) -> BoolArray:
        """Return a mask of boxes (rows) and features (columns) whose condition always holds."""
        by_feature = [scale.spans(lower[:, scale.positions], upper[:, scale.positions]) for scale in self.scales]
        return np.array(by_feature).T

    def levels(self, lower: FloatArray, upper: FloatArray) -> tuple[IntArray, IntArray]:
        """Return first and last level of each box (row) and feature (column); 1 for categories."""
        low = np.ones((len(lower), len(self.scales)), dtype=np.int64)
        high = low.copy()
        for column, scale in enumerate(self.scales):
            if scale.categories is None and len(scale.positions):
                position = scale.positions[0]
                low[:, column], high[:, column] = scale.levels(lower[:, position]), scale.levels(upper[:, position])
        return low, high

    def widen(self, lower: FloatArray, upper: FloatArray, which: BoolArray) -> None:
        """Extend boxes to the whole range of some features, in place; `which`: mask of boxes × features."""
        for column, scale in enumerate(self.scales):
            rows = np.flatnonzero(which[:, column])[:, None]
            lower[rows, scale.positions], upper[rows, scale.positions] = 0.0, 1.0

    def boxes(self, rules: Sequence[Rule]) -> tuple[FloatArray, FloatArray]:
        """Return the region allowed by the conditions of each rule, as boxes in the unit cube."""
        shape = (len(rules), len(self.encoder.features))
        units = np.full(shape, np.nan), np.full(shape, np.nan)
        narrowed = [
            (row, scale, condition)
            for row, rule in enumerate(rules)
            for scale, condition in zip(self.scales, rule.conditions, strict=True)
            if not condition.full_range
        ]
        for row, scale, condition in narrowed:
            if scale.categories is None:
                units[0][row, scale.positions], units[1][row, scale.positions] = (
                    condition.low_value,
                    condition.high_value,
                )
        lower, upper = (encode(self.encoder, side)[0] for side in units)
        lower[np.isnan(lower)], upper[np.isnan(upper)] = 0.0, 1.0
        for row, scale, condition in narrowed:
            if scale.categories is not None:
                allowed = condition.categories or ()
                inside = np.array([category in allowed for category in scale.categories], dtype=np.float64)
                upper[row, scale.positions] = inside
                lower[row, scale.positions] = inside if len(allowed) == 1 else 0.0
        return lower, upper

    def nearest(self, rules: Sequence[Rule], coded: FloatArray) -> IntArray:
        """Return for each coded sample the index of the nearest rule; on ties by `precedence`."""
        order = precedence(rules)
        lower, upper = (side[order] for side in self.boxes(rules))
        step = max(1, MAX_DISTANCES // len(rules))
        parts = [coded[start : start + step] for start in range(0, len(coded), step)]
        return np.concatenate([order[distances(part, lower, upper).argmin(axis=1)] for part in parts])


def precedence(rules: Sequence[Rule]) -> IntArray:
    """Return the indices of rules in the order of ties: by decreasing confidence factor, then the first."""
    return np.argsort([-rule.confidence_factor for rule in rules], kind="stable")


def level_text(condition: RuleCondition) -> str:
    """Return a condition as in the paper's table: "1", "2-3", categories, or "any"."""
    if condition.full_range:
        return ANY
    if condition.categories is not None:
        return "|".join(condition.terms)
    if condition.low_level == condition.high_level:
        return str(condition.low_level)
    return f"{condition.low_level}-{condition.high_level}"


def condition_text(condition: RuleCondition, scale: Scale) -> str:
    """Return a condition in words, followed by the range in the user's units."""
    name = printable(condition.feature)
    if condition.categories is not None:
        return f"{name} is {' or '.join(f'“{printable(term)}”' for term in condition.terms)}"
    first, last = printable(condition.terms[0]), printable(condition.terms[-1])
    words = f"is “{first}”" if len(condition.terms) == 1 else f"is from “{first}” to “{last}”"
    return f"{name} {words} {_range(condition, scale)}"


def _range(condition: RuleCondition, scale: Scale) -> str:
    """Return the range in the user's units, to a thousandth of the range of the feature."""
    span = scale.high - scale.low
    decimals = max(0, 3 - floor(log10(span))) if span > 0 else 12
    low, high = (round(value, decimals) + 0.0 for value in (condition.low_value, condition.high_value))
    if isinstance(condition.feature, DateName):
        return f"[{Day(low)}, {Day(high)}]"
    return f"[{low:.15g}, {high:.15g}]"


def _share(value: float) -> str:
    return str(round(value, 3))


def value_cells(rule: Rule) -> dict[str, float | None]:
    """Return the ends of the ranges of a rule, in the user's units, by column; None where it has no condition."""
    return {
        f"{condition.feature} {side}": None if condition.full_range else value
        for condition in rule.conditions
        if condition.categories is None
        for side, value in (("from", condition.low_value), ("to", condition.high_value))
    }


def rule_text(number: int, rule: Rule, domain: Domain, *, is_rest: bool) -> str:
    """Return one rule in the paper's form; a rest rule without conditions begins with "Otherwise"."""
    conditions = [
        condition_text(condition, scale)
        for condition, scale in zip(rule.conditions, domain.scales, strict=True)
        if not condition.full_range
    ]
    shares = rule.confidences.items()
    others = [f"{printable(label)} {_share(share)}" for label, share in shares if share and label != rule.label]
    remarks = [
        *([f"else {', '.join(others)}"] if others else []),
        f"support {count_text(rule.support)}, {count_text(rule.n_labelled)} of them labelled",
        *([f"in {rule.n_members} of {domain.n_members} members"] if domain.n_members > 1 else []),
        *([f"evidence {_evidence(rule.evidence)}"] if rule.evidence else []),
    ]
    antecedent = ", AND\n   ".join(conditions) or "anything"
    antecedent = "Otherwise" if is_rest and not conditions else f"If {antecedent}"
    return (
        f"{domain.noun} {number}: {antecedent}\n"
        f"Then {printable(rule.label)} with confidence estimate={_share(rule.confidence)}.\n"
        f"   ({'; '.join(remarks)})"
    )


def _evidence(contributions: Mapping[Label, float]) -> str:
    """Return a text on the score a box adds to each class, the highest first."""
    highest_first = sorted(contributions.items(), key=lambda item: -item[1])
    return ", ".join(f"{printable(label)} {amount:+.3f}" for label, amount in highest_first)


def table_head(domain: Domain) -> list[str]:
    """Return the header of the rule table; a feature named like another column is prefixed with "feature "."""
    classes = domain.classes.tolist()
    own = [
        "label",
        *(f"confidence {label}" for label in classes),
        "support",
        "n_labelled",
        "n_members",
        "confidence_factor",
        *(f"evidence {label}" for label in classes if domain.uses_evidence),
    ]
    names = [scale.feature for scale in domain.scales]
    taken = {NUMBER, *own, *names}
    for place, name in enumerate(names):
        if name in (NUMBER, *own):
            while name in taken:
                name = f"feature {name}"
            taken.add(name)
            names[place] = name
    return [*names, *own]


def table_row(rule: Rule, domain: Domain) -> list[Any]:
    """Return one row of the rule table; NaN as the evidence of a box without a weight."""
    evidence = rule.evidence or dict.fromkeys(rule.counts, nan)
    return [
        *(level_text(condition) for condition in rule.conditions),
        rule.label,
        *rule.confidences.values(),
        rule.support,
        rule.n_labelled,
        rule.n_members,
        rule.confidence_factor,
        *(evidence.values() if domain.uses_evidence else ()),
    ]


def text_row(rule: Rule, domain: Domain) -> list[str]:
    """Return one row of the rule table as text; empty where a value is NaN."""
    return [
        str(value) if not isinstance(value, float) else "" if isnan(value) else _share(value)
        for value in table_row(rule, domain)
    ]


def with_titles(row: Sequence[str], rule: Rule, domain: Domain) -> list[str | Cell]:
    """Return a row of the rule table, number first, whose cells have the condition in words as their title."""
    cells: list[str | Cell] = list(row)
    for place, (condition, scale) in enumerate(zip(rule.conditions, domain.scales, strict=True), start=1):
        cells[place] = Cell(row[place], title="" if condition.full_range else condition_text(condition, scale))
    return cells


def rule_values(rule: Rule) -> dict[str, Any]:
    """Return a rule as plain values that JSON can hold."""
    return {
        "label": rule.label,
        "conditions": [_condition_values(condition) for condition in rule.conditions],
        "confidences": rule.confidences,
        "counts": dict(rule.counts),
        "support": rule.support,
        "n_labelled": rule.n_labelled,
        "n_members": rule.n_members,
        "confidence_factor": rule.confidence_factor,
        "nodes": list(rule.nodes),
        "members": list(rule.members),
        "evidence": None if rule.evidence is None else dict(rule.evidence),
    }


def _condition_values(condition: RuleCondition) -> dict[str, Any]:
    values: dict[str, Any] = {"feature": condition.feature, "full_range": condition.full_range}
    if condition.categories is not None:
        return {**values, "categories": list(condition.categories)}
    return {
        **values,
        "low_level": condition.low_level,
        "high_level": condition.high_level,
        "low_value": _or_none(condition.low_value),
        "high_value": _or_none(condition.high_value),
        "terms": list(condition.terms),
    }


def scale_values(scale: Scale) -> dict[str, Any]:
    """Return a scale as plain values that JSON can hold."""
    if scale.categories is not None:
        return {"feature": scale.feature, "categories": list(scale.categories)}
    return {
        "feature": scale.feature,
        "low": _or_none(scale.low),
        "high": _or_none(scale.high),
        "cuts": [_or_none(cut) for cut in scale.cuts.tolist()],
        "terms": list(scale.terms),
    }


def _or_none(value: float) -> float | None:
    return None if isnan(value) else value
