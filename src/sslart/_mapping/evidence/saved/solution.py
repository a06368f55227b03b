"""Conversion of a solution and its updates to plain values and arrays, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sslart._data.labels import ClassTable
from sslart._mapping.evidence.bases.base import MAX_COEFFICIENT, TermShape, saved_coefficients, saved_places
from sslart._mapping.evidence.bases.boxes import BoxGroup
from sslart._mapping.evidence.copies import LabelGroups
from sslart._mapping.evidence.families import mixture_of
from sslart._mapping.evidence.kept_labels import LabelReservoir
from sslart._mapping.evidence.rank_scaler import RankScaler
from sslart._mapping.evidence.readout import Readout
from sslart._mapping.evidence.saved.absent import AbsentLabels
from sslart._mapping.evidence.selection import Solution
from sslart._mapping.evidence.settings import EvidenceSettings, Mixture
from sslart._mapping.evidence.stream.basis import MAX_BOXES, RANK_WEIGHT, UpdateBasis
from sslart._mapping.evidence.stream.updates import Competition, Recursion, Updates
from sslart._utils.validation import MAX_COUNT, require, saved_array, saved_whole

if TYPE_CHECKING:
    from sslart._mapping.evidence.stream.recent import Recent

KINDS = ("single", "copies", "near copies", "given")


class Around(NamedTuple):
    """Context that a saved solution must fit: features, boxes, classes, labels, and chosen mixtures."""

    n_features: int
    n_nodes: int
    class_table: ClassTable
    labels: LabelReservoir
    chosen: tuple[Mixture, ...]

    @property
    def n_classes(self) -> int:
        """Number of classes learnt so far."""
        return len(self.class_table.seen)


def solution_state(solution: Solution, chosen: tuple[Mixture, ...]) -> dict[str, Any]:
    """Return a solution as plain values and arrays; its mixtures only where they are others than those chosen."""
    return {
        "readout": solution.readout.to_state(),
        "mixtures": None if solution.mixtures == chosen else [one.to_state() for one in solution.mixtures],
        "left_out": solution.left_out,
        "classes": solution.classes,
        "groups": solution.groups.numbers,
        "kind": solution.groups.kind,
        "rows": solution.rows,
        "class_factors": solution.class_factors,
    }


def solution_of(state: dict[str, Any], around: Around) -> Solution:
    """Return the solution of a saved state, after checking that it can be one."""
    n_classes = around.n_classes
    rows = saved_places(state, "rows", None, len(around.labels))
    n = len(rows)
    left_out = saved_coefficients(state, "left_out", n, n_classes)
    classes = saved_array(state, "classes", np.int64, n, low=0, high=n_classes - 1)
    if not isinstance(around.labels, AbsentLabels):
        codes = np.concatenate([chunk.codes for chunk in around.labels.chunks])
        require((around.class_table.order_of_seen()[codes[rows]] == classes).all(), "the classes of left-out labels")
    groups = LabelGroups(saved_array(state, "groups", np.int64, n, low=0, high=n - 1), state["kind"])
    require(groups.kind in KINDS and (groups.numbers == groups.of_label).all(), "the groups of labels")
    mixtures = around.chosen if state["mixtures"] is None else tuple(mixture_of(one) for one in state["mixtures"])
    require(mixtures, "the mixtures")
    factors = saved_array(state, "class_factors", np.float64, n_classes, low=0, high=MAX_COEFFICIENT)
    readout = Readout.from_state(state["readout"], around.n_features, n_classes, around.n_nodes)
    return Solution(readout, mixtures, left_out, classes, groups, rows, factors)


def check_parts(state: dict[str, Any], labels: LabelReservoir, recent: Recent, n_classes: int) -> None:
    """Raise a ValueError where the state of a mapping has less or more than its labels demand."""
    has, is_absent = {name: value is not None for name, value in state.items()}, isinstance(labels, AbsentLabels)
    has_labels, later = bool(len(labels)), recent.labels
    fits = type(state["settings_by_labels"]) is bool
    fits = fits and has_labels == bool(state["mixtures"]) == bool(n_classes) == has["solution"]
    fits = fits and has["updates"] == (has_labels and recent.is_learnt)
    if len(later):
        fits = fits and has_labels and is_absent == isinstance(later, AbsentLabels) and has["settled"] >= is_absent
    else:
        fits = fits and not has["settled"]
    if isinstance(labels, AbsentLabels) and isinstance(later, AbsentLabels):
        fits = fits and (labels.numbers is None) == (later.numbers is None)
    if not fits:
        raise ValueError("the evidence of the model does not fit its classes")


def without_terms(solution: Solution) -> Solution:
    """Return a solution reduced to its leave-one-out predictions, with a readout without terms."""
    own = solution.readout
    nothing = RankScaler((None,) * len(own.scaler.knots))
    readout = Readout(nothing, (), own.bias, own.inverse_temperature, own.smoothing, own.nodes)
    return Solution(
        readout,
        solution.mixtures,
        solution.left_out,
        solution.classes,
        solution.groups,
        solution.rows,
        solution.class_factors,
    )


def updates_state(updates: Updates) -> dict[str, Any]:
    """Return the updates since settings were last chosen as plain values and arrays."""
    return {
        "group": updates.basis.group.to_state(),
        "competition": updates.competition.to_state(),
        "recursions": [one._asdict() for one in updates.recursions],
        "turns": updates.turns,
        "time": updates.time,
    }


def updates_of(state: dict[str, Any], solution: Solution, settings: EvidenceSettings, around: Around) -> Updates:
    """Return the updates of a saved state, after checking that they can be those of a solution."""
    readout, n_classes = solution.readout, around.n_classes
    n_boxes = min(len(readout.nodes), MAX_BOXES)
    group = BoxGroup.from_state(state["group"], TermShape(around.n_features, n_classes, n_boxes))
    require(
        group.rank_weight == RANK_WEIGHT
        and len(group.features) == around.n_features
        and len(group.boxes) == n_boxes
        and (group.factors == 1).all(),
        "the functions that labels update",
    )
    basis = UpdateBasis(readout.scaler, group, n_classes)
    half_lives = settings.candidates
    competition = Competition.from_state(state["competition"], half_lives)
    recursions = []
    for one, part in zip(state["recursions"], basis.parts, strict=True):
        n = len(basis.ridges[part])
        inverses = saved_coefficients(one, "inverses", len(half_lives), n, n)
        is_symmetric = np.array_equal(inverses, inverses.swapaxes(1, 2))
        require(is_symmetric and (np.diagonal(inverses, axis1=1, axis2=2) > 0).all(), "the updates")
        recursions.append(Recursion(inverses, saved_coefficients(one, "weights", len(half_lives), n, n_classes)))
    turns, time = (saved_whole(state, name, 0, MAX_COUNT) for name in ("turns", "time"))
    return Updates(basis, competition, tuple(recursions), turns, time, np.empty(0, dtype=np.int64))
