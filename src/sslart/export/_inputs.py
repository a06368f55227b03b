"""The inputs of an ONNX graph: columns in the user's units, encoded to the unit cube, on every scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sslart._data.columns import PARTS, ColumnPlan
from sslart._data.encoder import Encoder
from sslart._data.ranks import GRID, RankScale
from sslart._mapping.evidence.basis import Term
from sslart._mapping.evidence.design import RankScaler
from sslart.export._dates import codes_of_parts
from sslart.export._graph import CATEGORIES_DOMAIN, DOUBLE, INT64, STRING, Graph, Value

UNKNOWN, MISSING = -1, -2  # codes of an unknown category, and of the empty string
NO_CATEGORY = ""


@dataclass(frozen=True)
class GraphInputs:
    """The inputs of the graph."""

    graph: Graph
    numeric: list[int]  # the numeric columns
    numbers: Value | None  # their values, NaN where missing, shape (n_samples, n_numeric)
    codes: Mapping[int, Value]  # by column: the number of the category of each sample, shape (n_samples, 1)
    categories: Mapping[int, list[str]]  # by column: the categories by number

    @cached_property
    def empty(self) -> Value:
        """Mask of samples without any value."""
        missing = [code.equals(np.array([MISSING])) for code in self.codes.values()]
        if self.numbers is not None:
            missing.append(self.graph.op("IsNaN", self.numbers))
        return ~_any(self.graph, ~self.graph.join(missing, axis=1))

    def matrix(self, encoder: Encoder) -> Value:
        """Return one column per coded feature, in the user's units; indicators are 0 or 1, NaN where missing."""
        if encoder.is_plain and self.numbers is not None:
            return self.numbers
        pieces = [] if self.numbers is None else [self.numbers]
        features: list[tuple[int, str | None]] = [(column, None) for column in self.numeric]
        for column, code in self.codes.items():
            known = self.categories[column]
            if known:
                is_one = code.equals(np.arange(len(known))[None]).cast(DOUBLE)
                pieces.append(self.graph.where(code.equals(np.array([MISSING])), np.nan, is_one))
                features += [(column, category) for category in known]
        wanted = [
            (feature.column, None if feature.category is None else str(feature.category))
            for feature in encoder.features
        ]
        order = np.array([features.index(one) for one in wanted])
        return self.graph.take(self.graph.join(pieces, axis=1), order, axis=1)


@dataclass(frozen=True)
class UnitSamples:
    """Samples in the unit cube, shape (n_samples, n_features)."""

    values: Value  # multiples of 2⁻³², 0 where missing
    present: Value  # 1 if there is a value, else 0, in double precision
    has_value: Value  # mask of samples with any value, shape (n_samples,)


def declare_columns(graph: Graph, names: Sequence[str], encoders: Sequence[Encoder], plan: ColumnPlan) -> GraphInputs:
    """Declare the inputs: one matrix X of numbers, or one input per column if any column is categorical.

    A date is given in days since 1970; its hour, weekday and month are derived from it. Columns that
    `fit` left out are no inputs either.
    """
    categorical, n_columns = encoders[0].categorical.difference(plan.left_out), len(names)
    numeric = [column for column in range(n_columns) if column not in categorical.union(plan.left_out)]
    if not categorical and not plan.left_out:
        return GraphInputs(graph, numeric, graph.input("X", DOUBLE, n_columns), {}, {})
    n_given = n_columns - len(plan.dates) * len(PARTS)
    inputs = {
        column: graph.input(name, STRING if column in categorical else DOUBLE, 1)
        for column, name in enumerate(names[:n_given])
        if column not in plan.left_out
    }
    categories = {column: categories_of(encoders, column, names[column]) for column in sorted(categorical)}
    codes = {
        column: _category_codes(graph, inputs[column], known)
        for column, known in categories.items()
        if column < n_given
    }
    for column, parts in plan.parts_of_dates(n_given).items():
        known = [categories[part] for part in parts]
        is_monthly = column in plan.monthly
        found = codes_of_parts(graph, inputs[column], known, UNKNOWN, MISSING, is_monthly=is_monthly)
        codes.update(zip(parts, found, strict=True))
    numbers = graph.join([inputs[column] for column in numeric], axis=1) if numeric else None
    return GraphInputs(graph, numeric, numbers, codes, categories)


def categories_of(encoders: Sequence[Encoder], column: int, name: str) -> list[str]:
    """Return the categories of a column as strings; raise a ValueError if they are not distinct."""
    known = list(
        dict.fromkeys(
            feature.category for encoder in encoders for feature in encoder.features if feature.column == column
        )
    )
    texts = [str(category) for category in known]
    if NO_CATEGORY in texts:
        raise ValueError(
            f"Column {name!r} has the empty string as a category, which means a missing value in ONNX. Give the "
            "category another name, or None where it means missing, and fit the model again."
        )
    alike = [category for category in known if texts.count(str(category)) > 1]
    if alike:
        raise ValueError(
            f"Column {name!r} has categories that are equal as strings, and ONNX has strings only: "
            f"{', '.join(map(repr, alike))}. Make them of one type and fit the model again."
        )
    return texts


def _category_codes(graph: Graph, column: Value, known: list[str]) -> Value:
    return graph.op(
        "LabelEncoder",
        column,
        domain=CATEGORIES_DOMAIN,
        keys_strings=[*known, NO_CATEGORY],
        values_int64s=[*range(len(known)), MISSING],
        default_int64=UNKNOWN,
    )


def encoded(columns: GraphInputs, encoder: Encoder) -> UnitSamples:
    """Scale to [0, 1], clip, and round to the grid, with the same operations as `sslart._reference.encode`."""
    graph = columns.graph
    origin, span = encoder.origin_and_span()
    matrix = columns.matrix(encoder)
    if encoder.ranks is not None:
        matrix = on_rank_scale(graph, encoder.ranks, len(encoder.features), matrix)
    scaled = (matrix - origin) / np.where(span > 0, span, 1.0) * np.where(span == 0, 0.0, 1.0)
    present = ~graph.op("IsNaN", scaled)
    clipped = graph.op("Clip", graph.where(present, scaled, 0.0), np.array(0.0), np.array(1.0))
    values = graph.op("Round", clipped * GRID) / GRID
    return UnitSamples(values, present.cast(DOUBLE), _any(graph, present))


def _any(graph: Graph, flags: Value) -> Value:
    return flags.cast(INT64).max(axis=1) > np.array(0)


class ScaledSamples:
    """Samples on the scales of all terms; `values` and `present` as in `UnitSamples`."""

    def __init__(self, graph: Graph, scaler: RankScaler, terms: Sequence[Term], values: Value, present: Value) -> None:
        self.graph, self.present = graph, present
        self.is_present, self.n_features = present > 0.5, len(scaler.knots)
        self.rank_weights = sorted({term.rank_weight for term in terms})
        ranks = _ranks(graph, scaler, values) if any(self.rank_weights) else values
        self._scales = [_blended(graph, scaler, values, ranks, weight) for weight in self.rank_weights]

    def on(self, rank_weight: float) -> Value:
        """Return the samples on one scale."""
        return self._scales[self.rank_weights.index(rank_weight)]

    def on_all(self) -> Value:
        """Return the samples on all scales side by side, shape (n_samples, n_scales * n_features)."""
        return self.graph.join(self._scales, axis=1)


def n_knots(scaler: RankScaler) -> int:
    """Return the maximum number of knots of a feature, at least one."""
    return max((len(knots[0]) for knots in scaler.knots if knots is not None), default=1)


def _ranks(graph: Graph, scaler: RankScaler, x: Value) -> Value:
    """Return the rank of each value, interpolated as by `numpy.interp`; 0 without knots."""
    most = n_knots(scaler)
    values, shares, slopes = np.full((3, len(scaler.knots), most), 0.0)
    values[:] = np.inf
    for feature, knots in enumerate(scaler.knots):
        if knots is not None:
            n_own = len(knots[0])
            values[feature, :n_own], shares[feature, :n_own] = knots
            slopes[feature, : n_own - 1] = np.diff(knots[1]) / np.diff(knots[0])
        else:
            values[feature, 0] = 0.0
    reached = (x.reshape(-1, len(values), 1) >= values).cast(DOUBLE).sum(axis=2) - 1.0
    knot = graph.op("Max", reached, 0.0).cast(INT64) + most * np.arange(len(values))
    beyond = graph.op("Max", x - graph.take(values.reshape(-1), knot), 0.0)
    return graph.take(slopes.reshape(-1), knot) * beyond + graph.take(shares.reshape(-1), knot)


def _blended(graph: Graph, scaler: RankScaler, x: Value, ranks: Value, rank_weight: float) -> Value:
    """Return a mixture of values and their ranks: see `RankScaler.blend`."""
    has_rank: Any = np.array([knots is not None for knots in scaler.knots])
    if rank_weight == 0.0 or not has_rank.any():
        return x
    mixture: Value = x * (1.0 - rank_weight) + ranks * rank_weight
    return graph.where(has_rank, mixture, x)


def on_rank_scale(graph: Graph, ranks: RankScale, n_features: int, matrix: Value) -> Value:
    """Replace values of a matrix in the user's units by positions: see `RankScale.positions`."""
    knots, stretches, first = ranks.together(np.arange(n_features))

    def positions(values: Value) -> Sequence[Value]:
        known = graph.where(graph.op("IsNaN", values), 0.0, values)
        reached = (known.reshape(-1, n_features, 1) >= knots).cast(DOUBLE).sum(axis=2).cast(INT64) + first
        start, width, position, length, end = (graph.take(row, reached) for row in stretches)
        on_scale = graph.op("Min", (known - start) / width * length + position, end)
        return [graph.where(graph.op("IsNaN", values), np.nan, on_scale)]

    return graph.in_pieces([matrix], knots.size, positions, [(DOUBLE, n_features)])[0]
