"""Splits of a finished tree chosen anew, each for the leaves that it leads to: tree alternating optimisation.

After M. A. Carreira-Perpinan and P. Tavallali, Alternating optimization of decision trees, NeurIPS 2018.
"""

from __future__ import annotations

import numpy as np

from sslart._utils.arrays import BoolArray
from sslart.rules._model.grid import Grid
from sslart.rules._model.tree import Node, within

MAX_SWEEPS = 8
MIN_DIFFERENCE = 1e-9


def refine(root: Node, grid: Grid, default: int, max_features: int) -> None:
    """Improve splits and outcomes of a tree in place, as long as it agrees with the model more often.

    The number of leaves with an outcome other than the default does not rise, nor does the number of features on the
    path to one of them rise above `max_features`.
    """
    for _ in range(MAX_SWEEPS):
        changed = False
        for node, above in reversed(_inner_nodes(root)):
            changed |= _choose_split(node, above, grid, default, max_features)
        for leaf, _ in root.leaves():
            if leaf.outcome != default and len(leaf.rows):
                leaf.outcome = int(grid.totals(leaf.rows).argmax())
        _collapse(root, grid)
        if not changed:
            return


def _inner_nodes(node: Node, above: frozenset[int] = frozenset()) -> list[tuple[Node, frozenset[int]]]:
    """Return the inner nodes, parents first, each with the features on the path to it."""
    if node.split is None or node.children is None:
        return []
    below = above | {node.split.column}
    return [(node, above), *(one for child in node.children for one in _inner_nodes(child, below))]


def _choose_split(node: Node, above: frozenset[int], grid: Grid, default: int, max_features: int) -> bool:
    """Choose the best split of a node for its present subtrees; return True if it changed."""
    if node.split is None or node.children is None or not len(node.rows):
        return False
    truth, weights = grid.outcomes[node.rows], grid.weights[node.rows]
    right_if_left, right_if_right = (child.predict(grid, node.rows) == truth for child in node.children)
    worth = weights * (right_if_left.astype(float) - right_if_right)
    matters = np.flatnonzero(worth)
    if not len(matters):
        return False
    present = float(worth[grid.left(node.split, node.rows)].sum())
    allowed: BoolArray = np.ones(len(grid.columns), dtype=bool)
    for child in node.children:
        for leaf, features in child.leaves(above):
            if leaf.outcome != default:
                allowed &= within(features, max_features, len(grid.columns))
    gain = grid.best_assignment(node.rows[matters], worth[matters], allowed)
    if gain.split is None or gain.amount <= present + MIN_DIFFERENCE * (1 + abs(present)):
        return False
    node.split = gain.split
    node.refill(node.rows, grid)
    return True


def _collapse(node: Node, grid: Grid) -> None:
    """Remove splits that send no sample to one side, or whose leaves have the same outcome."""
    if node.children is None:
        return
    for child in node.children:
        _collapse(child, grid)
    left, right = node.children
    if not len(left.rows) or not len(right.rows):
        kept = right if len(right.rows) else left
        node.split, node.children, node.outcome = kept.split, kept.children, kept.outcome
    elif left.children is None and right.children is None and left.outcome == right.outcome:
        node.close(left.outcome)
