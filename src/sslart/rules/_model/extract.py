"""Few short rules that agree with the model: trees that imitate it, the best of several, read as exclusive rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from sslart._data.labels import UNLABELLED, check_has_label
from sslart._data.samples import Table
from sslart._mapping.model_view import ModelView, view_of
from sslart._utils.arrays import IntArray
from sslart._utils.validation import check_whole
from sslart.rules._model.columns import Column, columns_of
from sslart.rules._model.grid import Grid
from sslart.rules._model.pruning import prune
from sslart.rules._model.refinement import refine
from sslart.rules._model.rule import ModelCondition, ModelRule, Share
from sslart.rules._model.rule_set import ModelRuleSet
from sslart.rules._model.samples import (
    LabelCounts,
    Neighbourhood,
    box_samples,
    categories_of,
    joined,
    label_counts,
)
from sslart.rules._model.shortening import Region, regions_of, shortened, united
from sslart.rules._model.tree import Growth, Node

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
