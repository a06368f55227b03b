"""Attribution of scores to columns: scores of one network, or weighted probabilities of an ensemble."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sslart._data.labels import ClassTable
from sslart._data.ranks import GRID
from sslart._mapping.evidence.families import TreeTerm
from sslart._mapping.evidence.readout import Readout, ScoreParts
from sslart._mapping.model_view import MemberView, ModelView
from sslart._utils.arrays import BoolArray, FloatArray, IntArray

MIN_BACKGROUND, MAX_BACKGROUND = 100, 500  # samples
MAX_VISITED = 60_000_000  # values of leaves of trees, of all samples of the background together
PANEL_POINTS, PANEL_WEIGHTS = np.polynomial.legendre.leggauss(8)
PANEL_CHANGE = 4.0  # by how much an exponent may change within a panel of the integral
MAX_PANELS = 64
Divide = Callable[[MemberView, FloatArray, int], ScoreParts]


@dataclass(frozen=True, eq=False)
class ScoreContributions:
    """Additive decomposition of scores: `base + by_column.sum(axis=1) + of_graph` is `scores`.

    Attributes
    ----------
    base : array of shape (n_samples, n_classes)
        The scores that contributions start from; -inf for classes not learnt yet.
    by_column : array of shape (n_samples, n_columns, n_classes)
    of_graph : array of shape (n_samples, n_classes)
    scores : array of shape (n_samples, n_classes)
    """

    base: FloatArray
    by_column: FloatArray
    of_graph: FloatArray
    scores: FloatArray


def score_contributions(
    view: ModelView, coded: Sequence[FloatArray], *, to_average: bool = True, voted: BoolArray | None = None
) -> ScoreContributions:
    """Divide the scores of samples among the columns.

    Parameters
    ----------
    view : ModelView
        With evidence mapping.
    coded : sequence of arrays
        The samples as the evidence of each member codes them.
    to_average : bool
        Whether to compare with the average over what was learnt, or with a sample of which no value is known.
    voted : array of shape (n_members, n_samples), or None
        Which members of an ensemble vote; None: all of them.
    """
    n_columns = len(view.feature_names)
    members = [member.at_choice for member in view.members]
    if not view.is_ensemble:
        (member,), (own,) = members, coded
        return _of_member(member, own, n_columns, to_average=to_average)
    weights = view.vote_weights
    assert weights is not None
    shape = len(coded[0]), len(view.classes)
    base, of_graph, scores = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    by_column = np.zeros((shape[0], n_columns, shape[1]))
    for number, (member, own) in enumerate(zip(members, coded, strict=True)):
        votes = weights[number] * (np.ones(shape[0]) if voted is None else voted[number])[:, None]
        parts = _compared(member, own, n_columns, _parts_of_probabilities, to_average=to_average)
        base += votes * parts.base
        by_column += votes[:, None] * parts.by_column
        of_graph += votes * parts.of_graph
        scores += votes * member.evidence_proba(own)
    return ScoreContributions(base, by_column, of_graph, scores)


def _of_member(member: MemberView, coded: FloatArray, n_columns: int, *, to_average: bool) -> ScoreContributions:
    parts = _compared(member, coded, n_columns, _parts_of_scores, to_average=to_average)
    base = member.class_table.with_unseen(parts.base[None], fill=-np.inf)
    return ScoreContributions(
        np.repeat(base, len(coded), axis=0),
        _every_class(member.class_table, parts.by_column),
        member.class_table.with_unseen(parts.of_graph),
        member.scores(coded),
    )


def _every_class(table: ClassTable, values: FloatArray) -> FloatArray:
    return table.with_unseen(values.reshape(-1, values.shape[2])).reshape(*values.shape[:2], -1)


def _compared(member: MemberView, coded: FloatArray, n_columns: int, divide: Divide, *, to_average: bool) -> ScoreParts:
    """Divide the scores of one network among columns; with `to_average`, relative to the background mean."""
    parts = divide(member, coded, n_columns)
    if not to_average:
        return parts

    def mean_of_background() -> ScoreParts:
        points = background(member)
        is_divided = np.array_equal(coded, points, equal_nan=True)  # as for the importances of the boxes
        return _mean(parts if is_divided else divide(member, points, n_columns))

    average = member.network.get_or_compute(("average parts", divide, member.readout, n_columns), mean_of_background)
    return ScoreParts(
        parts.base + average.by_column.sum(axis=0) + average.of_graph,
        parts.by_column - average.by_column,
        parts.of_graph - average.of_graph,
    )


def _mean(parts: ScoreParts) -> ScoreParts:
    return ScoreParts(parts.base, parts.by_column.mean(axis=0), parts.of_graph.mean(axis=0))


def _parts_of_scores(member: MemberView, coded: FloatArray, n_columns: int) -> ScoreParts:
    """Divide the scores of one network, for the classes that it has learnt."""
    columns: IntArray = np.array([feature.column for feature in member.encoder.features], dtype=np.int64)
    return _readout_of(member).contributions(coded, columns, n_columns, member.n_jobs)


def _readout_of(member: MemberView) -> Readout:
    assert member.readout is not None
    return member.readout


def background(member: MemberView) -> FloatArray:
    """Return coded samples that stand for all that were learnt: points in the boxes, in proportion to their samples.

    Not their centres: in a wide box most samples are far from it. Of the categories that a box holds, a point has one.
    """
    lower, upper = member.boxes_of(background_boxes(member))
    random = np.random.default_rng(0)
    points = np.where(lower <= upper, lower + (upper - lower) * random.random(lower.shape), np.nan)
    points = np.rint(points * GRID) / GRID  # as samples are encoded
    features = member.encoder.features
    for column in member.encoder.categorical:
        places = [place for place, feature in enumerate(features) if feature.column == column]
        if not places:
            continue
        held = (lower[:, places] <= upper[:, places]) & (upper[:, places] > 0)
        chosen = (random.random(held.shape) * held).argmax(axis=1)
        one_hot = (np.arange(len(places)) == chosen[:, None]).astype(np.float64)
        points[:, places] = np.where(held.any(axis=1, keepdims=True), one_hot, np.nan)
    return points


def background_boxes(member: MemberView) -> IntArray:
    """Return boxes that stand for all samples learnt, each as often as its share of them demands."""
    support = np.cumsum(member.support, dtype=np.float64)
    n = _n_background(member)
    evenly = (np.arange(n) + 0.5) / n
    return np.asarray(np.searchsorted(support, evenly * support[-1]))


def _n_background(member: MemberView) -> int:
    """Return the number of background samples: fewer where trees with many leaves make each one costly."""
    terms = () if member.readout is None else member.readout.terms
    n_values = sum(term.forest.values.size for term in terms if isinstance(term, TreeTerm))
    return int(np.clip(MAX_VISITED // max(n_values, 1), MIN_BACKGROUND, MAX_BACKGROUND))


def _parts_of_probabilities(member: MemberView, coded: FloatArray, n_columns: int) -> ScoreParts:
    """Divide the probabilities of one network, for all classes.

    All parts of the scores grow together from nothing to what they are; each gets what it adds to the probabilities on
    the way (the value of Aumann and Shapley). These sum to the difference of the probabilities, and are proportional to
    the parts of the scores where there are two classes.
    """
    parts = _parts_of_scores(member, coded, n_columns)
    readout, table = _readout_of(member), member.class_table
    every = np.concatenate([parts.by_column, parts.of_graph[:, None]], axis=1)
    mean_share, mean_product = _along_the_way(readout, parts.base, every.sum(axis=1))
    gain = mean_share[:, None] * every - np.einsum("sck,sfk->sfc", mean_product, every)
    gain *= readout.inverse_temperature * (1.0 - readout.smoothing)
    base = table.with_unseen(readout.probabilities(parts.base[None]))[0]
    gain = _every_class(table, gain)
    return ScoreParts(base, gain[:, :-1], gain[:, -1])


def _along_the_way(readout: Readout, start: FloatArray, way: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean share of each class, and of the product of each two, from one score to another.

    `way` is the difference of the scores of each sample, shape (n_samples, n_classes).
    """
    n, n_classes = way.shape
    shares, products = np.zeros((n, n_classes)), np.zeros((n, n_classes, n_classes))
    steepest = readout.inverse_temperature * float(np.ptp(way, axis=1).max(initial=0.0))
    n_panels = min(max(int(np.ceil(steepest / PANEL_CHANGE)), 1), MAX_PANELS)
    for panel in range(n_panels):
        for point, weight in zip(PANEL_POINTS, PANEL_WEIGHTS, strict=True):
            exponents = readout.inverse_temperature * (start + (panel + (point + 1) / 2) / n_panels * way)
            own = np.exp(exponents - exponents.max(axis=1, keepdims=True))
            own /= own.sum(axis=1, keepdims=True)
            shares += weight / (2 * n_panels) * own
            products += weight / (2 * n_panels) * own[:, :, None] * own[:, None]
    return shares, products
