"""Evidence mapping: what each box and each feature contributes to the score of a class against another."""

from __future__ import annotations

import numpy as np

from sslart._art.geometry import centres
from sslart._data.labels import UNLABELLED
from sslart._mapping.evidence.readout import Readout
from sslart._utils.arrays import FloatArray, IntArray
from sslart.explain._contributions import BoxSnapshot, EvidenceTable
from sslart.explain._match import NO_NODE
from sslart.explain._probe import MemberProbe

MAX_LISTED = 10  # boxes that are listed: so many for, so many against
ROWS_PER_PIECE = 256


def attribute(probe: MemberProbe, predicted: IntArray, runners_up: IntArray | None) -> EvidenceTable:
    """Return the contributions within one network to the samples of a probe.

    Parameters
    ----------
    probe : MemberProbe
    predicted : array of int
        Class index that the contributions count for.
    runners_up : array of int or None
        Class index that they count against, -1 for none; None: the class of the next highest score.
    """
    member, coded = probe.member, probe.samples.coded
    readout = _readout_of(probe)
    learnt = np.sort(member.class_table.sorted_codes())  # class index of each column of the scores
    column_of = np.full(len(probe.classes) + 1, UNLABELLED)
    column_of[learnt] = np.arange(len(learnt))
    scores = readout.scores(coded, member.n_jobs)
    first = column_of[predicted]
    second = _next_best(scores, first) if runners_up is None else column_of[runners_up]
    boxes, amounts, others, n_others = _largest_boxes(readout, coded, first, second)
    nodes = np.where(boxes == NO_NODE, NO_NODE, readout.nodes[boxes])
    return EvidenceTable(
        probe.samples,
        probe.classes,
        predicted,
        np.append(learnt, UNLABELLED)[second],
        _difference(scores, first, second),
        _difference(np.tile(readout.bias, (len(coded), 1)), first, second),
        others,
        n_others,
        nodes,
        amounts,
        _by_column(readout, probe, first, second),
        BoxSnapshot.of(member, nodes, probe.classes),
    )


def predictions_at_centres(probe: MemberProbe) -> IntArray:
    """Return the class index that the network predicts in the middle of each box."""
    member, readout = probe.member, _readout_of(probe)

    def predicted() -> IntArray:
        scores = readout.scores(centres(*member.boxes), member.n_jobs)
        return np.asarray(np.sort(member.class_table.sorted_codes())[scores.argmax(axis=1)])

    return member.network.once(("predictions at centres", readout), predicted)


def _readout_of(probe: MemberProbe) -> Readout:
    readout = probe.member.readout
    assert readout is not None
    return readout


def _next_best(scores: FloatArray, first: IntArray) -> IntArray:
    """Return the column of the highest score but for one; -1 where there is no other."""
    if scores.shape[1] == 1:
        return np.full(len(scores), UNLABELLED)
    others = scores.copy()
    others[np.arange(len(scores)), first] = -np.inf
    return np.asarray(others.argmax(axis=1))


def _difference(values: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    """Return one column of each row less another, -1 for none; columns come second."""
    padded = np.concatenate([values, np.zeros_like(values[:, :1])], axis=1)
    each = np.arange(len(values))
    return np.asarray(padded[each, first] - padded[each, second])


def _by_column(readout: Readout, probe: MemberProbe, first: IntArray, second: IntArray) -> FloatArray:
    """Return the contribution of each column alone; the indicators of one categorical column are added up."""
    coded = probe.samples.coded
    columns = np.array([feature.column for feature in probe.samples.encoder.features], dtype=np.int64)
    amounts = np.zeros((len(coded), len(probe.samples.names)))
    for start in range(0, len(coded), ROWS_PER_PIECE):
        rows = slice(start, start + ROWS_PER_PIECE)
        of_coded = readout.feature_contributions(coded[rows])
        np.add.at(amounts[rows].T, columns, _difference(np.moveaxis(of_coded, 2, 1), first[rows], second[rows]).T)
    return amounts


def _largest_boxes(
    readout: Readout, coded: FloatArray, first: IntArray, second: IntArray
) -> tuple[IntArray, FloatArray, FloatArray, IntArray]:
    """Return the boxes of largest contribution for each sample, these, the sum of all others, and their number."""
    boxes = np.full((len(coded), 2 * MAX_LISTED), NO_NODE)
    amounts, others = np.zeros(boxes.shape), np.zeros(len(coded))
    n_others = np.zeros(len(coded), dtype=np.int64)
    for start in range(0, len(coded), ROWS_PER_PIECE):
        rows = slice(start, start + ROWS_PER_PIECE)
        every = readout.box_contributions(coded[rows], first[rows], second[rows])
        found = [_largest(side) for side in (every, -every)]
        own = np.hstack([positions for positions, _ in found])
        listed = np.hstack([side > 0 for _, side in found])
        own_amounts = np.where(listed, np.hstack([found[0][1], -found[1][1]]), 0.0)
        order = np.argsort(-np.abs(own_amounts), axis=1, kind="stable")
        width = slice(0, own.shape[1])
        boxes[rows, width] = np.take_along_axis(np.where(listed, own, NO_NODE), order, axis=1)
        amounts[rows, width] = np.take_along_axis(own_amounts, order, axis=1)
        each = np.arange(len(every))[:, None]
        every[np.broadcast_to(each, own.shape)[listed], own[listed]] = 0.0
        others[rows], n_others[rows] = every.sum(axis=1), (every != 0).sum(axis=1)
    return boxes, amounts, others, n_others


def _largest(values: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the positions of the largest values of each row, and these."""
    most = min(MAX_LISTED, values.shape[1])
    if not most:
        return np.zeros((len(values), 0), dtype=np.int64), np.zeros((len(values), 0))
    positions = np.argpartition(-values, most - 1, axis=1)[:, :most]
    return positions, np.take_along_axis(values, positions, axis=1)
