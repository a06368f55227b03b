"""Optimal pruning of a tree to a number of rules: leaves of the default outcome need no rule."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sslart._utils.arrays import FloatArray, IntArray
from sslart.rules._model.grid import Grid
from sslart.rules._model.tree import Node

MIN_DIFFERENCE = 1e-9


class _Costs(NamedTuple):
    """Minimal errors below a node by number of rules, and the number of rules to the left; -1: a leaf."""

    errors: FloatArray
    rules_left: IntArray
    children: tuple[_Costs, _Costs] | None


def prune(root: Node, grid: Grid, max_rules: int, price: float) -> int:
    """Prune a tree in place to at most `max_rules` leaves of non-default outcomes; return the default outcome.

    The part that is kept has the fewest errors of all parts of the tree with as many rules, for the best choice of the
    default. A further rule must save errors of at least its price, by weight.
    """
    totals: dict[int, FloatArray] = {}
    _add_totals(root, grid, totals)
    prices = price * np.arange(max_rules + 1)
    choices = []
    for outcome in np.flatnonzero(totals[id(root)]).tolist():
        costs = _costs(root, outcome, max_rules, totals)
        n_rules = int((costs.errors + prices).argmin())
        choices.append((costs.errors[n_rules] + prices[n_rules], outcome, n_rules, costs))
    _, default, n_rules, best = min(choices, key=lambda choice: choice[:2])
    _cut(root, best, n_rules, default, totals)
    return default


def _add_totals(node: Node, grid: Grid, totals: dict[int, FloatArray]) -> None:
    totals[id(node)] = grid.totals(node.rows)
    for child in node.children or ():
        _add_totals(child, grid, totals)


def _costs(node: Node, default: int, max_rules: int, totals: dict[int, FloatArray]) -> _Costs:
    weights = totals[id(node)]
    errors = np.full(max_rules + 1, weights.sum() - weights.max())
    errors[0] = weights.sum() - weights[default]
    rules_left = np.full(max_rules + 1, -1)
    if node.children is None:
        return _Costs(errors, rules_left, None)
    left, right = (_costs(child, default, max_rules, totals) for child in node.children)
    for n_rules in range(max_rules + 1):
        both = left.errors[: n_rules + 1] + right.errors[n_rules::-1]
        place = int(both.argmin())
        if both[place] < errors[n_rules] - MIN_DIFFERENCE:
            errors[n_rules], rules_left[n_rules] = both[place], place
    return _Costs(errors, rules_left, (left, right))


def _cut(node: Node, costs: _Costs, n_rules: int, default: int, totals: dict[int, FloatArray]) -> None:
    n_left = int(costs.rules_left[n_rules])
    if n_left < 0 or costs.children is None or node.children is None:
        weights = totals[id(node)]
        is_default = n_rules == 0 or weights[default] >= weights.max() - MIN_DIFFERENCE
        node.close(default if is_default else int(weights.argmax()))
        return
    for child, own, rules in zip(node.children, costs.children, (n_left, n_rules - n_left), strict=True):
        _cut(child, own, rules, default, totals)
