"""Contributions of features to class scores: exact Shapley values, as arrays and as a sum to a class margin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import rankdata

from sslart._art.geometry import centres
from sslart._data.encoder import ANOTHER
from sslart._data.labels import UNLABELLED, ClassTable, check_has_label
from sslart._data.ranks import GRID
from sslart._data.samples import Table
from sslart._mapping.evidence.boxes import BoxTerm
from sslart._mapping.evidence.families import TreeTerm
from sslart._mapping.evidence.readout import Readout, ScoreParts
from sslart._mapping.model_view import MemberView, ModelView, PredictionBatch, view_of
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.cache import Deferred
from sslart._utils.optional import optional
from sslart._utils.validation import check_option
from sslart.explain._boxes import Class, Value
from sslart.explain._certainty import half_width, is_settled, standard_error

MIN_BACKGROUND, MAX_BACKGROUND = 100, 500  # background samples
MAX_VISITED = 60_000_000  # leaf values visited for all background samples, a few seconds
N_REFERENCE = 50  # background samples in the averages of replicates, of which only differences matter
MIN_REFERENCE = 4  # background samples in the average, if each is very costly
MAX_COMPARED = 40_000_000  # values of boxes compared for the average,
MANY_FEATURES = 200  # if there are more features than this
MAX_GROUPED = 1000  # columns whose correlations are computed: the time is at least quadratic
PANEL_POINTS, PANEL_WEIGHTS = np.polynomial.legendre.leggauss(8)
PANEL_CHANGE = 4.0  # maximum change of an exponent within a panel of the quadrature
MAX_PANELS = 64
Divide = Callable[[MemberView, FloatArray, int], ScoreParts]


@dataclass(frozen=True, eq=False)
class ScoreContributions:
    """Additive decomposition of scores: `base + by_column.sum(axis=1) + of_graph` is `scores`."""

    base: FloatArray
    by_column: FloatArray
    of_graph: FloatArray
    scores: FloatArray


def score_contributions(
    view: ModelView, coded: Sequence[FloatArray], *, to_average: bool = True, voted: BoolArray | None = None
) -> ScoreContributions:
    """Divide the scores of samples, coded for the evidence of each member, among the columns.

    `to_average`: relative to the average over learnt samples, else relative to a sample without any value. `voted`:
    mask of the members of an ensemble that vote, (n_members, n_samples); None: all of them.
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

    average = _average(member, n_columns, divide, (coded, parts))
    return ScoreParts(
        parts.base + average.by_column.sum(axis=0) + average.of_graph,
        parts.by_column - average.by_column,
        parts.of_graph - average.of_graph,
    )


def _average(
    member: MemberView, n_columns: int, divide: Divide, divided: tuple[FloatArray, ScoreParts] | None = None
) -> ScoreParts:
    """Return the mean parts of background samples, the baseline of contributions.

    `divided`: coded samples and their parts, which are reused if they are the background samples.
    """

    def mean_of_background() -> ScoreParts:
        points = background(member, _n_reference(member))
        if divided is not None and np.array_equal(divided[0], points, equal_nan=True):  # as for feature importances
            every = divided[1]
        else:
            every = divide(member, points, n_columns)
        return ScoreParts(every.base, every.by_column.mean(axis=0), every.of_graph.mean(axis=0))

    return member.network.get_or_compute(("average parts", divide, member.readout, n_columns), mean_of_background)


def average_amounts(member: MemberView, n_columns: int) -> FloatArray:
    """Return the mean absolute contribution of each column to the score of the class that it affects most."""
    return np.asarray(np.abs(_average(member, n_columns, _parts_of_scores).by_column).max(axis=1))


def _n_reference(member: MemberView) -> int:
    """Return the number of background samples in the average: fewer for very many boxes and columns.

    With thousands of columns, a first explanation would otherwise take a minute. An average of n samples adds 1/n of
    the variance between samples.
    """
    terms = [term for term in _readout_of(member).terms if isinstance(term, BoxTerm)]
    n_features = len(member.encoder.features)
    if n_features <= MANY_FEATURES:
        return _n_background(member)
    n_cells = n_features * sum(term.weights.shape[-1] for term in terms)
    return int(np.clip(MAX_COMPARED // max(n_cells, 1), MIN_REFERENCE, _n_background(member)))


def _parts_of_scores(member: MemberView, coded: FloatArray, n_columns: int) -> ScoreParts:
    """Divide the scores of one network, for the classes that it has learnt."""
    columns: IntArray = np.array([feature.column for feature in member.encoder.features], dtype=np.int64)
    return _readout_of(member).contributions(coded, columns, n_columns, member.n_jobs)


def replicate_parts(view: ModelView, coded: Sequence[FloatArray], *, to_average: bool = True) -> FloatArray | None:
    """Divide scores by regressions without each block of labels, (n_blocks, n_samples, n_columns + 1, n_classes).

    The last part is that of the graph. None for ensembles, and where a model has no such regressions.
    """
    if view.is_ensemble:
        return None
    member, n_columns = view.members[0].at_choice, len(view.feature_names)
    replicates = member.mapping.replicates
    if replicates is None:
        return None
    columns: IntArray = np.array([feature.column for feature in member.encoder.features], dtype=np.int64)

    def parts(points: FloatArray) -> FloatArray:
        found = replicates.readout.contributions(points, columns, n_columns, member.n_jobs)
        every = np.concatenate([found.by_column, found.of_graph[:, None]], axis=1)
        return np.asarray(np.moveaxis(every.reshape(*every.shape[:2], replicates.n, -1), 2, 0))

    found = parts(coded[0])
    n_reference = min(
        N_REFERENCE, max(MANY_FEATURES * N_REFERENCE // len(columns), MIN_REFERENCE), _n_reference(member)
    )
    if to_average:
        found -= member.network.get_or_compute(
            ("average of replicates", replicates.readout, n_columns),
            lambda: parts(background(member, n_reference)).mean(axis=1, keepdims=True),
        )
    return _every_class(member.class_table, found.reshape(-1, *found.shape[2:])).reshape(*found.shape[:3], -1)


def _readout_of(member: MemberView) -> Readout:
    assert member.readout is not None
    return member.readout


def background(member: MemberView, n: int | None = None) -> FloatArray:
    """Return coded background samples: random points in the boxes, in proportion to their supports.

    `n`: their number; None: as many as can be processed in a few seconds. Centres of boxes would be misleading: in a
    wide box most samples are far from it. A point has one of the categories of its box.
    """
    lower, upper = member.boxes_of(background_boxes(member, n))
    random = np.random.default_rng(0)
    points = np.where(lower <= upper, lower + (upper - lower) * random.random(lower.shape), np.nan)
    points = np.rint(points * GRID) / GRID  # on the grid of encoded samples
    features = member.encoder.features
    for column in member.encoder.categorical:
        places = [place for place, feature in enumerate(features) if feature.column == column]
        if not places:
            continue
        reached = lower[:, places] <= upper[:, places]
        held = reached & (upper[:, places] > 0)
        chosen = (random.random(held.shape) * held).argmax(axis=1)
        one_hot = (held & (np.arange(len(places)) == chosen[:, None])).astype(np.float64)
        points[:, places] = np.where(reached.any(axis=1, keepdims=True), one_hot, np.nan)
    return points


def samples_of_boxes(view: ModelView) -> Table:
    """Return background samples in the user's units."""
    member = view.members[0].at_choice
    coded, features = background(member), member.encoder.features
    units = member.encoder.decode(coded)
    values = np.full((len(coded), len(view.feature_names)), np.nan)
    categories = {column: np.full(len(coded), None, dtype=object) for column in member.encoder.categorical}
    for place, feature in enumerate(features):
        if feature.category is None:
            values[:, feature.column] = units[:, place]
        else:
            own = categories[feature.column]
            own[coded[:, place] == 1.0] = feature.category
            is_free = np.array([one is None for one in own], dtype=bool)
            own[(coded[:, place] == 0.0) & is_free] = ANOTHER  # until one of the coded ones is found
    return Table(values, categories)


def background_boxes(member: MemberView, n: int | None = None) -> IntArray:
    """Return the box of each background sample, in proportion to supports."""
    support = np.cumsum(member.support, dtype=np.float64)
    n = _n_background(member) if n is None else n
    evenly = (np.arange(n) + 0.5) / n
    return np.asarray(np.searchsorted(support, evenly * support[-1]))


def _n_background(member: MemberView) -> int:
    """Return the number of background samples: fewer if trees with many leaves make each one costly."""
    terms = () if member.readout is None else member.readout.terms
    n_values = sum(term.forest.values.size for term in terms if isinstance(term, TreeTerm))
    return int(np.clip(MAX_VISITED // max(n_values, 1), MIN_BACKGROUND, MAX_BACKGROUND))


def _parts_of_probabilities(member: MemberView, coded: FloatArray, n_columns: int) -> ScoreParts:
    """Divide the probabilities of one network, for all classes.

    Aumann-Shapley values (integrated gradients): all parts of the scores are scaled together from 0 to 1, and each part
    gets the integral of its effect on the probabilities. They sum to the difference of the probabilities, and with two
    classes are proportional to the parts of the scores.
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
    """Return the mean softmax, and its mean outer product, along the line from `start` to `start + way`.

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


AVERAGE, NOTHING = "average", "nothing"


@dataclass(frozen=True, eq=False)
class FeatureContributions:
    """Contributions of each feature of each sample to the score of each class.

    `base + values.sum(axis=1) + graph` is `scores`, for every sample and class.

    Attributes
    ----------
    values : array of shape (n_samples, n_features, n_classes)
        The Shapley value of each feature; that of a categorical feature is one value for the whole column.
    base : array of shape (n_classes,)
        Baseline scores: those of an average sample, or of a sample without any value.
    graph : array of shape (n_samples, n_classes)
        Contribution of the graph of boxes, which is not divided among features; 0 if the model has no graph.
    scores : array of shape (n_samples, n_classes)
        The scores of the model. The class of the highest score is the prediction, unless the model abstains. For an
        ensemble, the sums of the members' probabilities times their vote weights.
    classes : array of shape (n_classes,)
    feature_names : list of str
    data : array of shape (n_samples, n_features)
        The samples, NaN or None where missing.
    """

    values: FloatArray
    base: FloatArray
    graph: FloatArray
    scores: FloatArray
    classes: NDArray[Any]
    feature_names: list[str]
    data: NDArray[Any]
    _replicates: Deferred[FloatArray | None] = field(repr=False)

    @property
    def standard_errors(self) -> FloatArray | None:
        """Standard errors of `values` over the choice of labelled samples; None where they are not known.

        They are known for single models that keep their labels: up to 1,000 labels, 12 classes and 1,000 features.
        """
        replicates = self._replicates.get()
        return None if replicates is None else standard_error(replicates[:, :, :-1])

    @property
    def intervals(self) -> FloatArray | None:
        """The ends of the 95 % interval of each of `values`, (n_samples, n_features, n_classes, 2); None if not known.

        See the notes of `contributions_of`.
        """
        replicates = self._replicates.get()
        if replicates is None:
            return None
        reach = half_width(replicates[:, :, :-1])
        return np.stack([self.values - reach, self.values + reach], axis=-1)

    def to_shap(self) -> Any:
        """Return the contributions as a `shap.Explanation`, for the plots of shap.

        The graph of boxes, if the model has one, is the last feature. Needs the extra `shap`.
        """
        shap = optional("shap", "shap")
        values, names, data = self.values, self.feature_names, self.data
        if self.graph.any():
            values = np.concatenate([values, self.graph[:, None]], axis=1)
            names = [*names, "graph of boxes"]
            data = np.concatenate([data, np.full((len(data), 1), np.nan).astype(data.dtype)], axis=1)
        base = np.tile(self.base, (len(values), 1))
        return shap.Explanation(values, base, data, feature_names=names, output_names=self.classes.tolist())


def contributions_of(model: Any, X: Any, reference: str = AVERAGE) -> FeatureContributions:
    """Divide the scores of samples among their features.

    Parameters
    ----------
    model : AutoSSLART, or SSLART or WESSLART with mapping="evidence"
        A fitted classifier. It is not changed.
    X : array-like of shape (n_samples, n_features)
        Raw features; NaN where a value is missing.
    reference : {"average", "nothing"}, default="average"
        The baseline: the average over learnt samples, or a sample without any value.

    Returns
    -------
    FeatureContributions

    Notes
    -----
    A model with evidence mapping has a score for every subset of the features: a missing value adds no distance to any
    box. The contribution of a feature is its Shapley value in that game, computed exactly. With reference="average",
    the mean contribution over samples drawn from the boxes is subtracted from it.

    The score of an ensemble is a sum of probabilities, which are not additive in the features. Within each member, the
    contributions to its scores are converted to contributions to its probabilities by Aumann-Shapley values (integrated
    gradients). With two classes, this divides the change of the probability in proportion to the contributions. All
    members vote here, regardless of `search_depth`.

    `standard_errors` and `intervals` of the result are computed when they are first used. They say how far the
    contributions would differ if other samples, as many, had been labelled: a delete-a-group jackknife over 20 groups
    of labels, in closed form, where labels of a group or an answer stay together. Settings, boxes and trees stay as
    they are, so that the standard errors are widened by a factor, which `benchmarks/explain/certainty.py` measured.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sslart import AutoSSLART
    >>> from sslart.explain import contributions_of
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AutoSSLART(random_state=0).fit(X, np.where(np.arange(150) % 10 == 0, y, -1))
    >>> parts = contributions_of(model, X[:2])
    >>> parts.values.shape
    (2, 4, 3)
    >>> bool(np.allclose(parts.base + parts.values.sum(axis=1) + parts.graph, parts.scores, atol=1e-5))
    True
    """
    view = view_of(model, "a fitted AutoSSLART, or SSLART or WESSLART with mapping='evidence'")
    check_option("contributions", "reference", reference, (AVERAGE, NOTHING))
    return contributions_in(view, view.read(X), reference)


def contributions_in(view: ModelView, table: Table, reference: str = AVERAGE) -> FeatureContributions:
    """Divide the scores of samples that have been read; see `contributions_of`."""
    check_has_label(view.class_table)
    if not view.uses_evidence:
        raise ValueError(
            f"Contributions of features need evidence mapping; this {view.name} predicts by single boxes. explain(X) "
            "names the box behind each prediction, and AutoSSLART or mapping='evidence' has contributions."
        )
    coded = [member.at_choice.encode(table) for member in view.members]
    parts = score_contributions(view, coded, to_average=reference == AVERAGE)
    return FeatureContributions(
        parts.by_column,
        parts.base[0],
        parts.of_graph,
        parts.scores,
        view.classes,
        view.feature_names,
        _data_of(table),
        Deferred(lambda: replicate_parts(view, coded, to_average=reference == AVERAGE)),
    )


def _data_of(table: Table) -> NDArray[Any]:
    if not table.categories:
        return table.values.copy()
    data = table.values.astype(object)
    for column, values in table.categories.items():
        data[:, column] = values
    return data


MIN_CORRELATION = 0.8


def feature_groups(member: MemberView, n_columns: int) -> IntArray:
    """Return the group of each column: numeric columns with pairwise high rank correlation share a group.

    Correlations are between the centres of the boxes, weighted by supports. Categorical columns are groups of their
    own; with more than `MAX_GROUPED` columns, so are those with the lowest contributions.
    """
    return member.network.get_or_compute(("feature groups", n_columns), lambda: _grouped(member, n_columns))


def _grouped(member: MemberView, n_columns: int) -> IntArray:
    numeric, places = np.asarray(member.encoder.numeric), np.arange(len(member.encoder.numeric))
    groups = np.arange(n_columns)
    if len(numeric) > MAX_GROUPED:
        amounts = average_amounts(member, n_columns)[numeric]
        places = np.sort(np.argsort(-amounts, kind="stable")[:MAX_GROUPED])
        numeric = numeric[places]
    if len(numeric) > 1:
        strength = np.abs(_rank_correlations(member, places))
        np.fill_diagonal(strength, 1.0)
        tree = linkage(squareform(np.maximum(1.0 - strength, 0.0), checks=False), "complete")
        own = fcluster(tree, 1.0 - MIN_CORRELATION, "distance")
        first = {group: numeric.item(position) for position, group in reversed(list(enumerate(own.tolist())))}
        groups[numeric] = [first[group] for group in own.tolist()]
    return groups


def _rank_correlations(member: MemberView, places: IntArray) -> FloatArray:
    middles = centres(*member.boxes_of(background_boxes(member)))[:, places]  # numeric features come first
    ranks = rankdata(middles, axis=0, nan_policy="omit")
    known = np.isfinite(ranks)
    means = np.where(known, ranks, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    away = np.where(known, ranks - means, 0.0)
    covariances = away.T @ away
    spread = np.sqrt(np.diag(covariances))
    spread[spread == 0] = np.inf  # constant columns have no correlation
    return np.asarray(covariances / spread / spread[:, None])


FEATURES, GRAPH = "features", "graph"
ROWS_AT_ONCE = 64  # samples whose intervals are computed together
USUAL_LINES = 8  # more contributions are shown only if their sum would otherwise have the wrong sign
MOST = 0.9  # of the sum of all absolute amounts: the list may end when this much is shown


class Contribution(NamedTuple):
    """Contribution of one feature, or of several correlated features, to the evidence.

    Attributes
    ----------
    kind : {"features", "graph"}
        Features; or the graph of boxes, through which unlabelled samples contribute.
    amount : float
        Positive for the predicted class, negative against it, relative to an average sample.
    features : tuple of str
        One feature, or several correlated ones, the largest contribution first; empty for the graph.
    values : tuple of number, category or None
        Value of the sample in each feature; None if missing.
    amounts : tuple of float
        The contribution of each feature; `amount` is their sum.
    """

    kind: str
    amount: float
    features: tuple[str, ...] = ()
    values: tuple[Value | None, ...] = ()
    amounts: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class Evidence:
    """Contributions to the score margin of one class over the next: `base` plus all contributions is `margin`.

    Attributes
    ----------
    predicted : class
        The prediction; if the model abstains, its most likely class.
    runner_up : class or None
        The class of the next highest score; None if there is no other.
    base : float
        Score of the predicted class minus that of the runner-up, for an average sample.
    margin : float
        The same for this sample. For an ensemble, scores are the sums of the members' weighted probabilities.
    probability : float
        Probability of the predicted class.
    runner_up_probability : float or None
    """

    predicted: Class
    runner_up: Class | None
    base: float
    margin: float
    probability: float
    runner_up_probability: float | None
    _table: EvidenceTable = field(repr=False)
    _row: int = field(repr=False)

    @cached_property
    def shown(self) -> tuple[Contribution, ...]:
        """The contributions to show: as few as have, together with the base, the sign of the margin."""
        return self._table.contributions(self._row, shown=True)

    @cached_property
    def not_shown(self) -> tuple[Contribution, ...]:
        """Contributions omitted from the display."""
        return self._table.contributions(self._row, shown=False)

    @property
    def contributions(self) -> tuple[Contribution, ...]:
        """Contributions from the base to the margin, the largest first."""
        return self.shown + self.not_shown

    @property
    def rest(self) -> float:
        """The sum of the contributions that are not shown."""
        return float(sum(one.amount for one in self.not_shown))

    @cached_property
    def half_widths(self) -> tuple[float, ...] | None:
        """Half the width of the 95 % interval of each of `contributions` over the choice of labelled samples.

        None where it is not known. An interval that includes 0 leaves the sign open.
        """
        return self._table.half_widths(self._row)

    @cached_property
    def order_settled(self) -> bool | None:
        """False if other labels may put the second contribution before the first; None if that is not known."""
        return self._table.order_settled(self._row)

    @property
    def shows_skill(self) -> bool:
        """False if the labels do not show that predictions beat class frequencies."""
        return self._table.shows_skill.get()


@dataclass(frozen=True, eq=False)
class EvidenceTable:
    """Contributions for several samples, of one class against another; class indices are -1 for none."""

    table: Table
    names: list[str]
    classes: list[Any]
    groups: IntArray  # group number of each column
    predicted: IntArray
    runners_up: IntArray
    bases: FloatArray
    margins: FloatArray
    of_graph: FloatArray
    by_column: FloatArray
    proba: FloatArray
    # for each `ROWS_AT_ONCE` samples (n_replicates, n_samples, n_columns + 1): by regressions without some labels, the
    # last one of the graph; None where not known
    replicates: list[Deferred[FloatArray | None]]
    shows_skill: Deferred[bool]

    def __getitem__(self, row: int) -> Evidence:
        predicted, runner_up = self.predicted.item(row), self.runners_up.item(row)
        return Evidence(
            self.classes[predicted],
            None if runner_up < 0 else self.classes[runner_up],
            self.bases.item(row),
            self.margins.item(row),
            self.proba.item(row, predicted),
            None if runner_up < 0 else self.proba.item(row, runner_up),
            self,
            row,
        )

    @cached_property
    def _columns_of(self) -> list[list[int]]:
        """Columns of each group; the last entry is the graph, which has no columns."""
        order = np.argsort(self.groups, kind="stable")
        ends = np.flatnonzero(np.diff(self.groups[order])) + 1
        return [*(columns.tolist() for columns in np.split(order, ends)), []]

    @cached_property
    def _lists(self) -> tuple[IntArray, FloatArray, IntArray, IntArray]:
        """Groups of each sample, the largest first, their amounts, and the numbers of nonzero and of shown ones."""
        first = [columns[0] if columns else 0 for columns in self._columns_of]
        amounts = self.by_column[:, first]
        for place, columns in enumerate(self._columns_of):
            if len(columns) != 1:
                amounts[:, place] = self.by_column[:, columns].sum(axis=1) if columns else self.of_graph
        order = np.argsort(-np.abs(amounts), axis=1, kind="stable")
        amounts = np.take_along_axis(amounts, order, axis=1)
        so_far = np.cumsum(np.abs(amounts), axis=1)
        n_all = (amounts != 0).sum(axis=1)
        usual = np.minimum((so_far < MOST * so_far[:, -1:]).sum(axis=1) + 1, USUAL_LINES)
        agrees = (self.bases[:, None] + np.cumsum(amounts, axis=1)) * self.margins[:, None] > 0
        agrees &= np.arange(1, amounts.shape[1] + 1) >= usual[:, None]
        n_shown = np.where(agrees.any(axis=1), agrees.argmax(axis=1) + 1, n_all)
        n_shown = np.where(n_shown >= n_all - 1, n_all, n_shown)  # the line "1 more" would be as long
        return order, amounts, n_all, n_shown

    def _replicates_of(self, row: int) -> FloatArray | None:
        """Return the amounts of a sample, the largest first, by each of the regressions without some labels."""
        every = self.replicates[row // ROWS_AT_ONCE].get()
        if every is None:
            return None
        order, _, n_all, _ = self._lists
        own = every[:, row % ROWS_AT_ONCE]
        groups = (self._columns_of[place] or [-1] for place in order[row, : n_all[row]].tolist())
        return np.array([own[:, columns].sum(axis=1) for columns in groups]).reshape(-1, len(own)).T

    def half_widths(self, row: int) -> tuple[float, ...] | None:
        """Return half the width of the interval of each contribution for a sample, the largest first."""
        replicates = self._replicates_of(row)
        return None if replicates is None else tuple(half_width(replicates).tolist())

    def order_settled(self, row: int) -> bool | None:
        """Return True if the interval of the difference in size of the two largest contributions excludes 0."""
        replicates = self._replicates_of(row)
        if replicates is None or replicates.shape[1] < 2:
            return None
        amounts = self._lists[1][row, :2]
        signs = np.sign(amounts)
        return bool(is_settled(np.abs(amounts) @ [1.0, -1.0], replicates[:, :2] * signs @ [1.0, -1.0]))

    def contributions(self, row: int, *, shown: bool) -> tuple[Contribution, ...]:
        """Return the shown, or the omitted, contributions for a sample, the largest first."""
        order, amounts, n_all, n_shown = self._lists
        places = slice(0, n_shown[row]) if shown else slice(n_shown[row], n_all[row])
        by_column, values = self.by_column[row].tolist(), self.table.values[row].tolist()
        names, categories = self.names, self.table.categories
        found = []
        for place, amount in zip(order[row, places].tolist(), amounts[row, places].tolist(), strict=True):
            columns = self._columns_of[place]
            if len(columns) > 1:
                columns = sorted(columns, key=lambda column: -abs(by_column[column]))
            found.append(
                Contribution(
                    FEATURES if columns else GRAPH,
                    amount,
                    tuple([names[column] for column in columns]),
                    tuple([categories[c][row] if c in categories else _or_none(values[c]) for c in columns]),
                    tuple([by_column[column] for column in columns]),
                )
            )
        return tuple(found)


def _or_none(value: float) -> float | None:
    return None if value != value else value


def attribute(
    view: ModelView, table: Table, batch: PredictionBatch, predicted: IntArray, voted: BoolArray | None
) -> EvidenceTable:
    """Return the contributions to the score margin of the predicted class (an index) over the next, for each sample.

    `voted`: mask of the members of an ensemble that vote, (n_members, n_samples); None: all of them.
    """
    scored = batch.scored
    parts = score_contributions(view, scored, voted=voted)
    second = _runners_up(view, parts.scores, predicted)

    def replicates(rows: slice) -> FloatArray | None:
        found = replicate_parts(view, [own[rows] for own in scored])
        if found is None:
            return None
        every = np.moveaxis(found, 3, 2).reshape(-1, *found.shape[:1:-1])
        pairs = (np.tile(one[rows], len(found)) for one in (predicted, second))
        return _difference(every, *pairs).reshape(found.shape[:3])

    parts_of_rows = [slice(start, start + ROWS_AT_ONCE) for start in range(0, len(table), ROWS_AT_ONCE)]
    return EvidenceTable(
        table,
        view.feature_names,
        view.classes.tolist(),
        feature_groups(view.members[0], len(view.feature_names)),
        predicted,
        second,
        _difference(parts.base, predicted, second),
        _difference(parts.scores, predicted, second),
        _difference(parts.of_graph, predicted, second),
        _difference(np.moveaxis(parts.by_column, 2, 1), predicted, second),
        batch.proba(),
        [Deferred(partial(replicates, rows)) for rows in parts_of_rows],
        Deferred(lambda: view.shows_skill),
    )


def predictions_at_centres(view: ModelView, member: MemberView) -> IntArray:
    """Return the class index predicted by a network at the centre of each box."""
    readout = member.readout
    assert readout is not None

    def predicted() -> IntArray:
        return view.class_by(member.evidence_proba(member.coded_at_choice(centres(*member.boxes))))

    costs = None if view.decision_costs is None else view.decision_costs.tobytes()
    return member.network.get_or_compute(("predictions at centres", readout, costs), predicted)


def _runners_up(view: ModelView, scores: FloatArray, predicted: IntArray) -> IntArray:
    """Return the class index of the next highest score, -1 where only one class was learnt."""
    learnt = view.class_table.sorted_codes()
    if len(learnt) == 1:
        return np.full(len(scores), UNLABELLED)
    others = np.full(scores.shape, -np.inf)
    others[:, learnt] = scores[:, learnt]
    others[np.arange(len(scores)), predicted] = -np.inf
    return np.asarray(others.argmax(axis=1))


def _difference(values: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    """Return the values of one class minus those of another (-1 for none); classes are the second axis."""
    padded = np.concatenate([values, np.zeros_like(values[:, :1])], axis=1)
    each = np.arange(len(values))
    return np.asarray(padded[each, first] - padded[each, second])
