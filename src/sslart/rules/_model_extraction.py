"""Rules of a model made from trees that imitate it: samples, the best tree, rules united and shortened."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sslart._data.labels import UNLABELLED, check_has_label
from sslart._data.samples import Table
from sslart._mapping.model_view import MemberView, ModelView, view_of
from sslart._utils.arrays import BoolArray, CountArray, FloatArray, IntArray
from sslart._utils.optional import heavy
from sslart._utils.validation import check_whole
from sslart.rules._model_rules import Category, ModelCondition, ModelRule, Share
from sslart.rules._rule_sets import ModelRuleSet
from sslart.rules._tree import Column, Grid, Growth, Node, columns_of, prune, refine

MAX_FROM_BOXES = 2000
MAX_DECIMALS = 6
N_NEIGHBOURS = 5
FEW_VALUES = 10  # a column of so few distinct values gets no other ones
FILL = 0.5  # stands for a missing value where neighbours are searched


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """Labelled samples, or boxes with their label counts.

    Attributes
    ----------
    table : Table
    counts : array of shape (n_rows, n_classes)
        How many labels of each class a row stands for.
    """

    table: Table
    counts: CountArray


def categories_of(view: ModelView) -> dict[int, list[Category]]:
    """Return the categories that a model knows, by column."""
    encoder = view.members[0].encoder
    known: dict[int, list[Category]] = {column: [] for column in sorted(encoder.categorical)}
    for feature in encoder.features:
        if feature.category is not None:
            known[feature.column].append(feature.category)
    return known


def box_samples(view: ModelView, random: np.random.Generator) -> Table:
    """Return samples drawn from the boxes, as many of each as it has learnt, fewer in proportion if they are many."""
    share = max(1, MAX_FROM_BOXES // len(view.members))
    tables = []
    for member in view.members:
        total = member.support.sum()
        size = min(round(float(total)) or 1, share)
        edges = np.cumsum(member.support) / total
        boxes = np.searchsorted(edges, (np.arange(size) + 0.5) / size)
        lower, upper = member.boxes_of(boxes)
        coded = lower + (upper - lower) * random.random(lower.shape)
        tables.append(_decoded(member, view, coded, lower, upper, random))
    return joined(tables)


def label_counts(view: ModelView) -> LabelCounts:
    """Return the labels that a model keeps: its labelled samples, or else the middle of each box and its counts."""
    n_classes = len(view.classes)
    tables, counts = [], []
    for member in view.members[:1] if view.uses_evidence else view.members:
        kept = member.kept_labels
        if kept is not None:
            table, indices = kept
            tables.append(Table(table.values, table.categories))
            counts.append(np.eye(n_classes, dtype=np.int64)[indices])
        else:
            boxes = np.flatnonzero(member.labels != UNLABELLED)
            lower, upper = member.boxes_of(boxes)
            middle = np.random.default_rng(0)  # for ties between categories alone
            tables.append(_decoded(member, view, (lower + upper) / 2, lower, upper, middle))
            counts.append(member.counts[boxes])
    return LabelCounts(joined(tables), np.concatenate(counts))


def _decoded(
    member: MemberView,
    view: ModelView,
    coded: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    random: np.random.Generator,
) -> Table:
    """Return coded values as a table; one of the categories that a box allows, and nothing where it has no value."""
    encoder, size = member.encoder, len(coded)
    unreached: BoolArray = lower > upper
    units = np.where(unreached, np.nan, encoder.decode(np.where(unreached, 0.0, coded)))
    values = np.full((size, len(view.feature_names)), np.nan)
    categories = {column: np.full(size, None, dtype=object) for column in sorted(encoder.categorical)}
    positions: dict[int, list[int]] = {}
    for position, feature in enumerate(encoder.features):
        if feature.category is None:
            values[:, feature.column] = units[:, position]
        else:
            positions.setdefault(feature.column, []).append(position)
    for column, places in positions.items():
        allowed = np.where(unreached[:, places], 0.0, upper[:, places]) > 0
        chosen = (random.random(allowed.shape) * allowed).argmax(axis=1)
        names = np.array([encoder.features[place].category for place in places], dtype=object)
        rows = np.flatnonzero(allowed.any(axis=1))
        categories[column][rows] = names[chosen[rows]]
    return Table(values, categories)


def joined(tables: list[Table]) -> Table:
    """Return several tables of the same columns as one."""
    categories = {
        column: np.concatenate([table.categories[column] for table in tables]) for column in tables[0].categories
    }
    return Table(np.vstack([table.values for table in tables]), categories)


class Neighbourhood:
    """Draws new samples between samples and their neighbours, in the units and with the decimals of the samples.

    Parameters
    ----------
    table : Table
        At least one sample.
    coded : array of shape (n_samples, n_coded_features)
        The same samples in the unit cube, NaN where missing.
    """

    def __init__(self, table: Table, coded: FloatArray) -> None:
        self.table = table
        filled = np.where(np.isnan(coded), FILL, coded)
        n_neighbours = min(N_NEIGHBOURS + 1, len(table))
        search = heavy("sklearn.neighbors").NearestNeighbors(n_neighbors=n_neighbours, algorithm="kd_tree").fit(filled)
        self.neighbours: IntArray = search.kneighbors(filled, return_distance=False)[:, n_neighbours > 1 :]
        self.decimals = [_decimals(column) for column in table.values.T]
        self.is_discrete = np.array([len(np.unique(column)) <= FEW_VALUES for column in table.values.T])

    def draw(self, size: int, random: np.random.Generator) -> Table:
        """Return new samples: half of them near one sample, half of them a mixture of any two."""
        values, n = self.table.values, len(self.table)
        first = random.integers(n, size=size)
        near = self.neighbours[first, random.integers(self.neighbours.shape[1], size=size)]
        is_near = random.random(size) < 0.5
        second = np.where(is_near, near, random.integers(n, size=size))
        way = random.random((size, values.shape[1]))
        way = np.where(is_near[:, None], way, np.where(way < 0.3, 1.0, 0.0))
        taken = np.where(way > 0.5, values[second], values[first])
        between = values[first] + (values[second] - values[first]) * way
        drawn = np.where(self.is_discrete | np.isnan(between), taken, between)
        for column, decimals in enumerate(self.decimals):
            if decimals is not None:
                drawn[:, column] = np.round(drawn[:, column], decimals)
        categories = {
            column: np.where(way[:, column] > 0.5, names[second], names[first])
            for column, names in self.table.categories.items()
        }
        return Table(drawn, categories)


def _decimals(values: FloatArray) -> int | None:
    """Return with how many decimals all values are written; None where they are many."""
    known = values[~np.isnan(values)]
    with np.errstate(over="ignore"):
        for decimals in range(MAX_DECIMALS + 1):
            if (np.round(known, decimals) == known).all():
                return decimals
    return None


class Region(NamedTuple):
    """A rule before it is put into words: its outcome, and which bins of each column it allows."""

    outcome: int
    allowed: tuple[BoolArray, ...]


def regions_of(tree: Node, default: int, columns: list[Column]) -> list[Region]:
    """Return the leaves that have another outcome than the default."""
    everything = tuple(np.ones(column.n_bins, dtype=bool) for column in columns)
    return [region for region in _regions(tree, everything) if region.outcome != default]


def _regions(node: Node, allowed: tuple[BoolArray, ...]) -> Iterator[Region]:
    if node.split is None or node.children is None:
        yield Region(node.outcome, allowed)
        return
    column = node.split.column
    for child, left in zip(node.children, (node.split.left, ~node.split.left), strict=True):
        yield from _regions(child, (*allowed[:column], allowed[column] & left, *allowed[column + 1 :]))


def shortened(regions: list[Region], default: int, grid: Grid, price: float) -> list[Region]:
    """Return the rules without conditions that save fewer errors than their price, by weight.

    A rule only grows into what was left to the default rule, so that rules stay exclusive of each other.
    """
    shorter = list(regions)
    met = [_met(region, grid) for region in regions]
    smallest_first = np.argsort([grid.weights[one].sum() for one in met], kind="stable").tolist()
    for place in smallest_first:
        for column in range(len(grid.columns)):
            for wider in _wider(shorter[place].allowed[column], grid.columns[column]):
                allowed = shorter[place].allowed
                region = Region(shorter[place].outcome, (*allowed[:column], wider, *allowed[column + 1 :]))
                others = (other for other in shorter if other is not shorter[place])
                if _is_everything(region, grid) or not all(_are_exclusive(region, one, grid) for one in others):
                    continue
                now = _met(region, grid)
                gained = now & ~met[place]
                truth, weights = grid.outcomes[gained], grid.weights[gained]
                lost = float(weights[truth == default].sum() - weights[truth == region.outcome].sum())
                if lost <= price:
                    shorter[place], met[place] = region, now
                    break
    return shorter


def united(regions: list[Region], columns: Sequence[Column]) -> list[Region]:
    """Return the rules, each two of one outcome that differ in one feature made one: together they cover the same."""
    kept = list(regions)
    found = True
    while found:
        found = False
        for first, second in itertools.combinations(range(len(kept)), 2):
            both = _union(kept[first], kept[second], columns)
            if both is not None:
                kept[first] = both
                del kept[second]
                found = True
                break
    return kept


def _union(one: Region, other: Region, columns: Sequence[Column]) -> Region | None:
    """Return the union of two rules; None if outcomes differ, or if no single rule covers exactly the union."""
    if one.outcome != other.outcome:
        return None
    differing = [
        place
        for place, column in enumerate(columns)
        if (one.allowed[place] != other.allowed[place])[: None if column.has_missing else -1].any()
    ]
    if len(differing) != 1:
        return None
    (place,) = differing
    union = one.allowed[place] | other.allowed[place]
    known = np.flatnonzero(union[:-1])
    if columns[place].categories is None and len(known) and known[-1] - known[0] >= len(known):
        return None  # two ranges with a gap between them
    return Region(one.outcome, (*one.allowed[:place], union, *one.allowed[place + 1 :]))


def _met(region: Region, grid: Grid) -> BoolArray:
    met = np.ones(len(grid), dtype=bool)
    for column, allowed in enumerate(region.allowed):
        if not allowed.all():
            met &= allowed[grid.bins[:, column]]
    return met


def _wider(allowed: BoolArray, column: Column) -> Iterator[BoolArray]:
    """Yield wider replacements of a condition: none at all, or a range with one end instead of two."""
    relevant = allowed if column.has_missing else allowed[:-1]
    if relevant.all():
        return
    yield np.ones_like(allowed)
    known = np.flatnonzero(allowed[:-1])
    if column.categories is None and len(known) and not allowed[0] and not allowed[-2]:
        for ends in ((0, known[-1] + 1), (known[0], len(allowed) - 1)):
            wider = allowed.copy()
            wider[slice(*ends)] = True
            yield wider


def _is_everything(region: Region, grid: Grid) -> bool:
    """Return True if a rule has no condition left."""
    pairs = zip(grid.columns, region.allowed, strict=True)
    return all(column.condition(allowed) is None for column, allowed in pairs)


def _are_exclusive(one: Region, other: Region, grid: Grid) -> bool:
    """Return True if no sample can satisfy both rules: they are disjoint in some feature."""
    for column, first, second in zip(grid.columns, one.allowed, other.allowed, strict=True):
        both = first & second
        if not (both if column.has_missing else both[:-1]).any():
            return True
    return False


MAX_RULES, MAX_CONDITIONS = 12, 4
MAX_GIVEN = 5000
N_DRAWN = 4000  # samples drawn to grow trees by, and as many to choose between trees
N_TREES, WORK = 12, 2**25  # how many trees, fewer where samples times features are many
LEAVES_PER_RULE = 4  # how far a tree is grown before it is cut back
MIN_SAVED, MIN_SAVED_SHARE = 1.0, 0.002  # how many errors a rule must save; a condition the first
SEED = 0


def model_rules_of(model: Any, X: Any, y: Any, max_rules: Any, max_conditions: Any) -> ModelRuleSet:
    """Return few short rules that agree with a model: see `sslart.rules.rules_of`."""
    view = view_of(model, "a fitted classifier of sslart to make rules of")
    check_has_label(view.class_table)
    limits = _Limits.checked(max_rules, max_conditions)
    random = np.random.default_rng(SEED)
    table = box_samples(view, random) if X is None else _with_all_categories(view, view.read(X))
    labels = _labels_of(view, X, table, y)
    drafts = _chosen(view, table, limits, random)
    return _counted(model, view, drafts, table, view.predict(table).indices, labels, from_boxes=X is None)


def rules_for_table(
    model: Any, table: Table, predicted: IntArray, codes: IntArray, max_rules: Any = None, max_conditions: Any = None
) -> ModelRuleSet:
    """Return few short rules that agree with a model on samples that have been read and predicted.

    Parameters
    ----------
    model : classifier that has learnt a label
    table : Table
        At least one sample.
    predicted : array of length n_samples
        What the model predicts, by the index of the class; -1 where it abstains.
    codes : array of length n_samples
        The label of each sample, by the index of its class; -1 where it has none.
    max_rules, max_conditions : int, default=None
        As of `sslart.rules.rules_of`.
    """
    view = view_of(model)
    limits = _Limits.checked(max_rules, max_conditions)
    table, labelled = _with_all_categories(view, table), np.flatnonzero(codes != UNLABELLED)
    labels = LabelCounts(table[labelled], np.eye(len(view.classes), dtype=np.int64)[codes[labelled]])
    drafts = _chosen(view, table, limits, np.random.default_rng(SEED))
    return _counted(model, view, drafts, table, predicted, labels, from_boxes=False)


class _Limits(NamedTuple):
    """Largest number of rules, and of conditions in a rule."""

    n_rules: int
    n_conditions: int

    @classmethod
    def checked(cls, max_rules: Any, max_conditions: Any) -> _Limits:
        """Return the limits that the user gave, or else the usual ones."""
        n_rules = check_whole("rules", "max_rules", MAX_RULES if max_rules is None else max_rules)
        given = MAX_CONDITIONS if max_conditions is None else max_conditions
        return cls(n_rules or 1, check_whole("rules", "max_conditions", given) or 1)


def _chosen(view: ModelView, table: Table, limits: _Limits, random: np.random.Generator) -> list[_Draft]:
    """Return the rules that agree best with the model on samples and on others like them."""
    columns, trained, held_out = _grids(view, table, random)
    tree, default = _best_tree(trained, held_out, *limits)
    regions = united(regions_of(tree, default, columns), columns)
    regions = united(shortened(regions, default, trained, MIN_SAVED), columns)
    return _drafts(regions, default, columns)


def _with_all_categories(view: ModelView, table: Table) -> Table:
    """Return samples with categories in every categorical column, even where all values are missing."""
    view.members[0].encoder.check(table)
    categorical = view.members[0].encoder.categorical
    missing = np.full(len(table), None, dtype=object)
    return Table(table.values, {column: table.categories.get(column, missing) for column in sorted(categorical)})


def _labels_of(view: ModelView, X: Any, table: Table, y: Any) -> LabelCounts:
    if y is None:
        return label_counts(view)
    if X is None:
        raise ValueError("y gives the labels of samples, and there are none: give X as well, or leave y out.")
    labels = view.read_labels(y, table)
    place = {label: index for index, label in enumerate(view.classes.tolist())}
    rows = np.flatnonzero(labels.known)
    counts = np.zeros((len(rows), len(view.classes)), dtype=np.int64)
    for row, label in enumerate(labels.values[rows].tolist()):
        if label in place:
            counts[row, place[label]] = 1
    return LabelCounts(table[rows], counts)


def _grids(view: ModelView, table: Table, random: np.random.Generator) -> tuple[list[Column], Grid, Grid]:
    """Return the columns, and samples in bins: those given and as many drawn ones by weight, and others drawn.

    Of many samples some are taken: more would hardly change the rules.
    """
    if len(table) > MAX_GIVEN:
        table = table[np.sort(random.choice(len(table), MAX_GIVEN, replace=False))]
    drawing = Neighbourhood(table, view.members[0].encode(table))
    tables = [table, drawing.draw(N_DRAWN, random), drawing.draw(N_DRAWN, random)]
    columns = columns_of(joined(tables[:2]), view.feature_names, categories_of(view))
    trained, held_out = joined(tables[:2]), tables[2]
    n, n_classes = len(table), len(view.classes)
    weights = np.concatenate([np.ones(n), np.full(N_DRAWN, n / N_DRAWN)]) / 2
    grids = []
    for one, own in ((trained, weights), (held_out, np.ones(N_DRAWN))):
        predicted = view.predict(one).indices
        outcomes = np.where(predicted == UNLABELLED, n_classes, predicted)
        grids.append(Grid(columns, one, outcomes, n_classes + 1, own))
    return columns, grids[0], grids[1]


def _best_tree(trained: Grid, held_out: Grid, max_rules: int, max_conditions: int) -> tuple[Node, int]:
    """Return the tree that agrees with the model most often, on the samples it was grown by and on others."""
    random = np.random.default_rng(SEED + 1)
    n_columns = len(trained.columns)
    n_trees = int(np.clip(WORK // (len(trained) * n_columns * 8), 2, N_TREES))
    growth = Growth(LEAVES_PER_RULE * max_rules, max_conditions, 1.0)
    best: tuple[float, Node, int] | None = None
    for number in range(n_trees):
        weights, candidates = trained.weights, np.ones(n_columns, dtype=bool)
        if number:  # all but the first see other weights and some of the features
            weights = weights * random.exponential(size=len(weights))
            candidates = random.random(n_columns) < (0.7 if n_columns > 3 else 1.0)
        root = Node(np.arange(len(trained)))
        growth.grow(root, trained, weights, candidates)
        default = prune(root, trained, max_rules - 1, max(MIN_SAVED, MIN_SAVED_SHARE * trained.weights.sum()))
        refine(root, trained, default, max_conditions)
        score = root.fidelity(trained) + root.fidelity(held_out)
        if best is None or score > best[0]:
            best = score, root, default
    assert best is not None
    return best[1], best[2]


class _Draft(NamedTuple):
    """A rule before anything is counted: its outcome and its conditions."""

    outcome: int
    conditions: tuple[ModelCondition, ...]


def _drafts(regions: list[Region], default: int, columns: list[Column]) -> list[_Draft]:
    """Return the rules with their conditions; last the default rule, the only one without."""
    drafts = []
    for region in regions:
        found = [column.condition(bins) for column, bins in zip(columns, region.allowed, strict=True)]
        drafts.append(_Draft(region.outcome, tuple(one for one in found if one is not None)))
    return [*drafts, _Draft(default, ())]


def _counted(
    model: Any,
    view: ModelView,
    drafts: list[_Draft],
    table: Table,
    predicted: IntArray,
    labels: LabelCounts,
    *,
    from_boxes: bool,
) -> ModelRuleSet:
    """Return the rules with how many samples meet them and how often they are right, those of most samples first.

    A rule that agrees with the model on none of the samples is left out: the default rule is for what it covers.
    """
    classes = [*view.classes.tolist(), None]
    wanted = np.where(predicted == UNLABELLED, len(view.classes), predicted)
    every = _rule_set(model, view, drafts, len(table), from_boxes)
    applied = every.apply_table(table)
    agrees = wanted == np.array([draft.outcome for draft in drafts])[applied]
    useful = np.bincount(applied, agrees, minlength=len(drafts)) > 0
    drafts = [draft for draft, is_useful in zip(drafts, useful, strict=True) if is_useful or not draft.conditions]
    unsorted = _rule_set(model, view, drafts, len(table), from_boxes)
    outcomes = np.array([draft.outcome for draft in drafts])
    applied, applied_labels = unsorted.apply_table(table), unsorted.apply_table(labels.table)
    agrees = wanted == outcomes[applied]
    n_covered = np.bincount(applied, minlength=len(drafts))
    n_agreeing = np.bincount(applied, agrees, minlength=len(drafts)).astype(int)
    counts = np.column_stack([labels.counts, np.zeros(len(labels.counts), dtype=np.int64)])
    n_labelled = np.rint(np.bincount(applied_labels, counts.sum(axis=1), minlength=len(drafts)))
    own = counts[np.arange(len(counts)), outcomes[applied_labels]]
    n_right = np.rint(np.bincount(applied_labels, own, minlength=len(drafts)))
    order = np.lexsort((-n_covered, np.array([not draft.conditions for draft in drafts])))
    finished = [
        ModelRule(
            number,
            classes[drafts[place].outcome],
            drafts[place].conditions,
            not drafts[place].conditions,
            int(n_covered[place]),
            float(n_covered[place] / len(table)),
            int(n_agreeing[place]),
            Share(int(n_right[place]), int(n_labelled[place])),
        )
        for number, place in enumerate(order.tolist(), start=1)
    ]
    return replace(unsorted, rules=tuple(finished))


def _rule_set(model: Any, view: ModelView, drafts: list[_Draft], n_samples: int, from_boxes: bool) -> ModelRuleSet:
    """Return a rule set without counts."""
    classes = [*view.classes.tolist(), None]
    rules = tuple(
        ModelRule(0, classes[draft.outcome], draft.conditions, not draft.conditions, 0, 0.0, 0, Share(0, 0))
        for draft in drafts
    )
    return ModelRuleSet(rules, view.classes, view.feature_names, n_samples, from_boxes, model, view.reader)
