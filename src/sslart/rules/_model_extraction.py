"""Extraction of model rules from surrogate decision trees: samples, the best tree, merging and shortening of rules."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from sslart._art.backend import row_keys
from sslart._data.encoder import ANOTHER
from sslart._data.joining import joined_tables
from sslart._data.labels import UNLABELLED, check_has_label
from sslart._data.samples import Table
from sslart._mapping.model_view import MemberView, ModelView, view_of
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.optional import heavy
from sslart._utils.validation import check_whole
from sslart.rules._model_rules import ModelCondition, ModelRule, Share, first_met
from sslart.rules._rule_sets import ModelRuleSet
from sslart.rules._tree import Column, Grid, Node, columns_of, grow, prune, refine

MAX_RULES, MAX_CONDITIONS = 12, 4
MAX_GIVEN = 5000  # given samples used: more would hardly change the rules
HELD_OUT_SHARE = 0.2  # of the samples, held out to measure the agreement with the model
MIN_HELD_OUT = 5  # with fewer held-out samples, the agreement is not measured
MIN_COVERED = 2  # samples covered by a rule: one is not a pattern
MAX_FROM_BOXES = 2000  # samples drawn from boxes if none are given
N_DRAWN = 4000  # samples drawn to grow trees, and as many to select the best tree
N_NEIGHBOURS = 5  # new samples are drawn between a sample and one of its nearest neighbours
MAX_DECIMALS = 6  # of drawn values
FEW_VALUES = 10  # a column with at most so many distinct values gets no new ones
FILL = 0.5  # replaces missing values in the search of neighbours: the middle of the range
N_TREES, WORK = 12, 2**25  # number of trees, and limit of trees × samples × features
LEAVES_PER_RULE = 4  # leaves grown per rule before pruning
MIN_SAVED, MIN_SAVED_SHARE = 1.0, 0.002  # errors that a rule must save, and as a share; for a condition the first
SEED = 0


class Labelled(NamedTuple):
    """Labelled samples, or boxes, with the number of labels of each class that each stands for.

    Labels that are left out together count one.
    """

    table: Table
    counts: FloatArray


def model_rules_of(model: Any, X: Any, y: Any, max_rules: Any, max_conditions: Any) -> ModelRuleSet:
    """Return a few short rules that agree with a model: see `sslart.rules.rules_of`."""
    view = view_of(model, "a fitted classifier of sslart to make rules of")
    check_has_label(view.class_table)
    limits = _limits(max_rules, max_conditions)
    random = np.random.default_rng(SEED)
    table = _box_samples(view, random) if X is None else _with_all_categories(view, view.read(X))
    labelled = _kept_labels(view) if y is None else _given_labels(view, X, table, y)
    made, held_out = _parts(view, table, random)
    drafts = _drafts(view, table[made], *limits, random)
    return _counted(model, view, drafts, table, view.predict(table).indices, held_out, labelled, from_boxes=X is None)


def rules_for_table(
    model: Any, table: Table, predicted: IntArray, codes: IntArray, max_rules: Any = None, max_conditions: Any = None
) -> ModelRuleSet:
    """Return a few short rules that agree with a model on a table of samples, given their predictions.

    `predicted` and `codes` (the labels) are class indices; -1 if the model abstains, or unlabelled.
    """
    view = view_of(model)
    limits = _limits(max_rules, max_conditions)
    table = _with_all_categories(view, table)
    random = np.random.default_rng(SEED)
    made, held_out = _parts(view, table, random)
    drafts = _drafts(view, table[made], *limits, random)
    return _counted(model, view, drafts, table, predicted, held_out, _with_codes(view, table, codes), from_boxes=False)


def _parts(view: ModelView, table: Table, random: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return the samples to make rules from, at most `MAX_GIVEN`, and those that are held out; units stay together."""
    unit = _units(view, table)
    order = random.permutation(int(unit.max()) + 1)
    n_held_out = int(HELD_OUT_SHARE * len(order))
    is_held_out = np.zeros(len(order), dtype=bool)
    is_held_out[order[: n_held_out if n_held_out >= MIN_HELD_OUT else 0]] = True
    made = np.flatnonzero(~is_held_out[unit])
    return np.sort(random.permutation(made)[:MAX_GIVEN]), np.flatnonzero(is_held_out[unit])


def _units(view: ModelView, table: Table) -> IntArray:
    """Return a number for each sample, the same for copies, and for samples that the model leaves out together."""
    keys, left_out = row_keys(table), view.left_out
    if left_out is not None and (kept := view.members[0].kept_labels) is not None:
        groups = dict(zip(row_keys(kept[0])[left_out.rows].tolist(), left_out.groups.tolist(), strict=True))
        keys = np.array([groups.get(key, key) for key in keys.tolist()], dtype=np.uint64)
    return np.asarray(np.unique(keys, return_inverse=True)[1])


def _limits(max_rules: Any, max_conditions: Any) -> tuple[int, int]:
    """Return the maximum number of rules, and of conditions in a rule."""
    n_rules = check_whole("rules", "max_rules", MAX_RULES if max_rules is None else max_rules)
    n_conditions = MAX_CONDITIONS if max_conditions is None else max_conditions
    return n_rules or 1, check_whole("rules", "max_conditions", n_conditions) or 1


def _with_all_categories(view: ModelView, table: Table) -> Table:
    """Return samples with all categorical columns as such, even if all their values are missing."""
    encoder = view.members[0].encoder
    encoder.check(table)
    missing = np.full(len(table), None, dtype=object)
    return Table(table.values, {place: table.categories.get(place, missing) for place in sorted(encoder.categorical)})


def _box_samples(view: ModelView, random: np.random.Generator) -> Table:
    """Return samples drawn from the boxes in proportion to their supports."""
    share = max(1, MAX_FROM_BOXES // len(view.members))
    tables = []
    for member in view.members:
        total = member.support.sum()
        size = min(round(float(total)) or 1, share)
        boxes = np.searchsorted(np.cumsum(member.support) / total, (np.arange(size) + 0.5) / size)
        tables.append(_points_of(member, view, boxes, random))
    return joined_tables(tables)


def _points_of(member: MemberView, view: ModelView, boxes: IntArray, random: np.random.Generator | None) -> Table:
    """Return a random point of each box, or its centre; categories are among those of the box."""
    encoder, (lower, upper) = member.encoder, member.boxes_of(boxes)
    if random is None:
        coded, random = (lower + upper) / 2, np.random.default_rng(0)  # random only for ties between categories
    else:
        coded = lower + (upper - lower) * random.random(lower.shape)
    unreached: BoolArray = lower > upper
    units = np.where(unreached, np.nan, encoder.decode(np.where(unreached, 0.0, coded)))
    values = np.full((len(boxes), len(view.feature_names)), np.nan)
    categories = {column: np.full(len(boxes), None, dtype=object) for column in sorted(encoder.categorical)}
    positions: dict[int, list[int]] = {}
    for position, feature in enumerate(encoder.features):
        if feature.category is None:
            values[:, feature.column] = units[:, position]
        else:
            positions.setdefault(feature.column, []).append(position)
    for column, places in positions.items():
        reached: BoolArray = ~unreached[:, places]
        allowed = reached & (upper[:, places] > 0)
        chosen = (random.random(allowed.shape) * allowed).argmax(axis=1)
        names = np.array([encoder.features[place].category for place in places], dtype=object)
        categories[column][reached.any(axis=1)] = ANOTHER
        rows = np.flatnonzero(allowed.any(axis=1))
        categories[column][rows] = names[chosen[rows]]
    return Table(values, categories)


def _kept_labels(view: ModelView) -> Labelled:
    """Return the labels stored by a model: its labelled samples, or else the centres of boxes with their counts."""
    tables, counts = [], []
    for member in view.members[:1] if view.uses_evidence else view.members:
        if member.kept_labels is not None:
            table, codes = member.kept_labels
            tables.append(Table(table.values, table.categories))
            counts.append(_one_hot(view, table, codes))
        else:
            boxes = np.flatnonzero(member.labels != UNLABELLED)
            tables.append(_points_of(member, view, boxes, None))
            counts.append(member.counts[boxes].astype(np.float64))
    return Labelled(joined_tables(tables), np.concatenate(counts))


def _given_labels(view: ModelView, X: Any, table: Table, y: Any) -> Labelled:
    if X is None:
        raise ValueError("y gives the labels of samples, and there are none: give X as well, or leave y out.")
    labels = view.read_labels(y, table)
    place = {label: index for index, label in enumerate(view.classes.tolist())}
    codes = np.array([place.get(label, UNLABELLED) for label in labels.values.tolist()])
    return _with_codes(view, table, np.where(labels.known, codes, UNLABELLED))


def _with_codes(view: ModelView, table: Table, codes: IntArray) -> Labelled:
    """Return the labelled samples, given class indices."""
    rows = np.flatnonzero(codes != UNLABELLED)
    labelled = table[rows]
    return Labelled(labelled, _one_hot(view, labelled, codes[rows]))


def _one_hot(view: ModelView, table: Table, codes: IntArray) -> FloatArray:
    """Return the class of each labelled sample; those of one unit count one together."""
    unit = _units(view, table)
    return np.asarray(np.eye(len(view.classes))[codes] / np.bincount(unit)[unit, None])


class Neighbourhood:
    """Sampler of new samples between samples and their neighbours, in the same units and with as many decimals.

    `coded` are the same samples in the unit cube, NaN where missing.
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
        """Return new samples: half of them near one sample, half of them mixtures of any two."""
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
    """Return the number of decimals of values; None if there are many."""
    known = values[~np.isnan(values)]
    with np.errstate(over="ignore"):
        return next((n for n in range(MAX_DECIMALS + 1) if (np.round(known, n) == known).all()), None)


class Draft(NamedTuple):
    """A rule without counts: the index of its outcome, and its conditions."""

    outcome: int
    conditions: tuple[ModelCondition, ...]


def _drafts(
    view: ModelView, table: Table, max_rules: int, max_conditions: int, random: np.random.Generator
) -> list[Draft]:
    """Return the rules that agree best with the model on the given samples and on similar ones.

    The last one is the default rule, the only one without conditions.
    """
    trained, held_out = _grids(view, table, random)
    tree, default = _best_tree(trained, held_out, max_rules, max_conditions)
    columns = trained.columns
    everything = tuple(np.ones(column.n_bins, dtype=bool) for column in columns)
    regions = united([one for one in _regions(tree, everything) if one.outcome != default], columns)
    regions = united(shortened(regions, default, trained, MIN_SAVED), columns)
    drafts = []
    for region in regions:
        found = [column.condition(bins) for column, bins in zip(columns, region.allowed, strict=True)]
        drafts.append(Draft(region.outcome, tuple(one for one in found if one is not None)))
    return [*drafts, Draft(default, ())]


def _grids(view: ModelView, table: Table, random: np.random.Generator) -> tuple[Grid, Grid]:
    """Return binned samples for training (given and drawn ones of equal weight) and for selection (drawn ones)."""
    encoder, n, n_classes = view.members[0].encoder, len(table), len(view.classes)
    drawing = Neighbourhood(table, view.members[0].encode(table))
    trained = joined_tables([table, drawing.draw(N_DRAWN, random)])
    held_out = drawing.draw(N_DRAWN, random)
    known = {column: encoder.categories_of(column) for column in sorted(encoder.categorical)}
    columns = columns_of(trained, view.feature_names, known)
    weights = np.concatenate([np.ones(n), np.full(N_DRAWN, n / N_DRAWN)]) / 2
    grids = []
    for one, own in ((trained, weights), (held_out, np.ones(N_DRAWN))):
        predicted = view.predict(one).indices
        outcomes = np.where(predicted == UNLABELLED, n_classes, predicted)
        grids.append(Grid(columns, one, outcomes, n_classes + 1, own))
    return grids[0], grids[1]


def _best_tree(trained: Grid, held_out: Grid, max_rules: int, max_conditions: int) -> tuple[Node, int]:
    """Return the tree that agrees with the model most often, on its training samples and on held-out ones.

    Also returns the outcome of its default rule.
    """
    random = np.random.default_rng(SEED + 1)
    n_columns = len(trained.columns)
    n_trees = int(np.clip(WORK // (len(trained) * n_columns * 8), 2, N_TREES))
    found = []
    for number in range(n_trees):
        weights, candidates = trained.weights, np.ones(n_columns, dtype=bool)
        if number:  # all but the first tree use random weights and some of the features
            weights = weights * random.exponential(size=len(weights))
            candidates = random.random(n_columns) < (0.7 if n_columns > 3 else 1.0)
        root = Node(np.arange(len(trained)))
        grow(root, trained, weights, candidates, LEAVES_PER_RULE * max_rules, max_conditions)
        default = prune(root, trained, max_rules - 1, max(MIN_SAVED, MIN_SAVED_SHARE * trained.weights.sum()))
        refine(root, trained, default, max_conditions)
        found.append((root.fidelity(trained) + root.fidelity(held_out), root, default))
    _, best, default = max(found, key=lambda one: one[0])
    return best, default


class Region(NamedTuple):
    """A rule on bins: its outcome, and a mask of allowed bins for each column."""

    outcome: int
    allowed: tuple[BoolArray, ...]

    def with_bins(self, column: int, bins: BoolArray) -> Region:
        """Return the rule with other bins of one column."""
        return Region(self.outcome, (*self.allowed[:column], bins, *self.allowed[column + 1 :]))

    def met(self, grid: Grid) -> BoolArray:
        """Return a mask of the samples that meet the rule."""
        met = np.ones(len(grid), dtype=bool)
        for column, allowed in enumerate(self.allowed):
            if not allowed.all():
                met &= allowed[grid.bins[:, column]]
        return met

    def has_conditions(self, columns: Sequence[Column]) -> bool:
        """Return True if an occurring bin is excluded."""
        pairs = zip(columns, self.allowed, strict=True)
        return not all(column.occurring(allowed).all() for column, allowed in pairs)

    def excludes(self, other: Region, columns: Sequence[Column]) -> bool:
        """Return True if no sample can meet both rules: they are disjoint in some feature."""
        triples = zip(columns, self.allowed, other.allowed, strict=True)
        return not all(column.occurring(one & two).any() for column, one, two in triples)


def _regions(node: Node, allowed: tuple[BoolArray, ...]) -> Iterator[Region]:
    """Yield the leaves of a tree as rules."""
    if node.split is None:
        yield Region(node.outcome, allowed)
        return
    column = node.split.column
    for child, left in zip(node.children, (node.split.left, ~node.split.left), strict=True):
        yield from _regions(child, (*allowed[:column], allowed[column] & left, *allowed[column + 1 :]))


def shortened(regions: list[Region], default: int, grid: Grid, price: float) -> list[Region]:
    """Drop conditions that save fewer errors than their price, by weight.

    A rule is only extended to samples of the default rule, so that rules remain mutually exclusive.
    """
    shorter = list(regions)
    met = [region.met(grid) for region in regions]
    smallest_first = np.argsort([grid.weights[one].sum() for one in met], kind="stable").tolist()
    for place, column in itertools.product(smallest_first, range(len(grid.columns))):
        others = [other for other in shorter if other is not shorter[place]]
        for wider in _wider(shorter[place].allowed[column], grid.columns[column]):
            region = shorter[place].with_bins(column, wider)
            if not region.has_conditions(grid.columns) or not all(region.excludes(one, grid.columns) for one in others):
                continue
            now = region.met(grid)
            gained = now & ~met[place]
            truth, weights = grid.outcomes[gained], grid.weights[gained]
            lost = float(weights[truth == default].sum() - weights[truth == region.outcome].sum())
            if lost <= price:
                shorter[place], met[place] = region, now
                break
    return shorter


def _wider(allowed: BoolArray, column: Column) -> Iterator[BoolArray]:
    """Yield wider replacements of a condition: no condition, or a range with one end instead of two."""
    if column.occurring(allowed).all():
        return
    yield np.ones_like(allowed)
    known = np.flatnonzero(allowed[:-1])
    if column.categories is None and len(known) and not allowed[0] and not allowed[-2]:
        for ends in ((0, known[-1] + 1), (known[0], len(allowed) - 1)):
            wider = allowed.copy()
            wider[slice(*ends)] = True
            yield wider


def united(regions: list[Region], columns: Sequence[Column]) -> list[Region]:
    """Merge pairs of rules with the same outcome that differ in one feature; together they cover the same samples."""
    kept = list(regions)
    pairs = itertools.combinations(range(len(kept)), 2)
    while (pair := next(pairs, None)) is not None:
        first, second = pair
        both = _union(kept[first], kept[second], columns)
        if both is not None:
            kept[first] = both
            del kept[second]
            pairs = itertools.combinations(range(len(kept)), 2)
    return kept


def _union(one: Region, other: Region, columns: Sequence[Column]) -> Region | None:
    """Return the union of two rules; None if outcomes differ, or if no single rule covers exactly the union."""
    if one.outcome != other.outcome:
        return None
    triples = enumerate(zip(columns, one.allowed, other.allowed, strict=True))
    differing = [place for place, (column, first, second) in triples if column.occurring(first != second).any()]
    if len(differing) != 1:
        return None
    (place,) = differing
    union = one.allowed[place] | other.allowed[place]
    known = np.flatnonzero(union[:-1])
    if columns[place].categories is None and len(known) and known[-1] - known[0] >= len(known):
        return None  # two ranges with a gap between them
    return one.with_bins(place, union)


def _counted(
    model: Any,
    view: ModelView,
    drafts: list[Draft],
    table: Table,
    predicted: IntArray,
    held_out: IntArray,
    labelled: Labelled,
    *,
    from_boxes: bool,
) -> ModelRuleSet:
    """Return the rules with how many samples meet them and how often they are right, those of most samples first.

    `held_out`: samples that the rules were made without. A rule that covers fewer than `MIN_COVERED` samples, or agrees
    with the model on none, is left out: the default rule is for what it covers.
    """

    def place_of(table: Table) -> IntArray:
        return first_met([draft.conditions for draft in drafts], view.feature_names, table)

    wanted = np.where(predicted == UNLABELLED, len(view.classes), predicted)
    met = place_of(table)
    agreeing = met[wanted == np.array([draft.outcome for draft in drafts])[met]]
    kept = set(agreeing.tolist()) & set(np.flatnonzero(np.bincount(met) >= MIN_COVERED).tolist())
    drafts = [draft for place, draft in enumerate(drafts) if place in kept or not draft.conditions]
    outcomes, n = np.array([draft.outcome for draft in drafts]), len(drafts)
    met, met_by_labels = place_of(table), place_of(labelled.table)
    n_covered = np.bincount(met, minlength=n)
    agrees = wanted[held_out] == outcomes[met[held_out]]
    n_held_out, n_agreeing = (np.bincount(met[held_out][own], minlength=n) for own in (agrees | True, agrees))
    counts = np.column_stack([labelled.counts, np.zeros(len(labelled.counts))])
    n_labelled = np.rint(np.bincount(met_by_labels, counts.sum(axis=1), minlength=n))
    own = counts[np.arange(len(counts)), outcomes[met_by_labels]]
    n_right = np.rint(np.bincount(met_by_labels, own, minlength=n))
    classes = [*view.classes.tolist(), None]
    rules = tuple(
        ModelRule(
            number,
            classes[drafts[place].outcome],
            drafts[place].conditions,
            not drafts[place].conditions,
            int(n_covered[place]),
            float(n_covered[place] / len(table)),
            int(n_held_out[place]),
            int(n_agreeing[place]),
            Share(int(n_right[place]), int(n_labelled[place])),
        )
        for number, place in enumerate(np.lexsort((-n_covered, np.arange(n) == n - 1)).tolist(), start=1)
    )
    return ModelRuleSet(rules, view.classes, view.feature_names, len(table), from_boxes, model, view.reader)
