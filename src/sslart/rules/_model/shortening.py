"""Rules read from a tree made fewer and shorter: two that are one are united, conditions of little use left out."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sslart._utils.arrays import BoolArray
from sslart.rules._model.columns import Column
from sslart.rules._model.grid import Grid
from sslart.rules._model.tree import Node


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
