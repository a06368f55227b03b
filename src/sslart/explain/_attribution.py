"""What makes up an answer where all boxes speak: who says how much for it, and who against it."""

from __future__ import annotations

import numpy as np

from sslart._data.labels import UNLABELLED
from sslart._mapping.evidence.readout import ROWS_PER_PIECE, Readout
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.parallel import ONE_THREAD
from sslart.estimators._sslart import SSLART
from sslart.explain._contributions import Heard, Speaking
from sslart.explain._match import NO_NODE
from sslart.explain._search import Witness

LOUDEST = 10  # boxes that get a term of their own: so many for, so many against


def hear(witness: Witness, winners: IntArray, runners_up: IntArray | None) -> Heard:
    """Return what a network says about the samples of a witness.

    Parameters
    ----------
    witness : Witness
    winners : array of int
        Place in `classes_` of the class to speak for.
    runners_up : array of int or None
        Place of the class to speak against; None: the next in its own scores.
    """
    model = witness.model
    assert isinstance(model, SSLART)
    readout, landmarks, coded = model._heard().readout, model._landmarks(), witness.sight.coded
    with ONE_THREAD:
        scores = readout.scores(coded, model.n_jobs)
    places = model._class_table.sorted_codes()
    codes = np.full(len(model.classes_), -1)
    codes[places] = np.arange(len(places))
    first = codes[winners]
    second = _next_best(scores, first) if runners_up is None else np.where(runners_up < 0, -1, codes[runners_up])
    said, amounts, others, n_others = _loudest_boxes(readout, coded, first, second, len(landmarks))
    nodes = np.where(said == NO_NODE, NO_NODE, landmarks[said])
    rule = witness.rule
    return Heard(
        witness.sight,
        model.classes_.tolist(),
        winners,
        np.where(second < 0, -1, places[second]),
        _difference(scores, first, second),
        _difference(np.tile(readout.bias, (len(coded), 1)), first, second),
        others,
        n_others,
        nodes,
        amounts,
        _by_column(readout, witness, first, second),
        Speaking.of(witness.nodes, nodes, witness.member, rule.choice, model._class_table.seen),
    )


def answers_at_nodes(witness: Witness) -> IntArray:
    """Return what the network answers in the middle of each node, as codes; -1 beyond the nodes."""
    model, prototypes = witness.model, witness.nodes
    assert isinstance(model, SSLART)
    lower, upper = prototypes.boxes()
    answers = np.full_like(prototypes.labels, UNLABELLED)
    with ONE_THREAD:
        scores = model._heard().readout.scores(np.where(lower <= upper, (lower + upper) / 2, np.nan), model.n_jobs)
    answers[: len(lower)] = scores.argmax(axis=1)
    return answers


def _next_best(scores: FloatArray, first: IntArray) -> IntArray:
    """Return the class of the highest score but for one; -1 where there is no other."""
    if scores.shape[1] == 1:
        return np.full(len(scores), -1)
    others = scores.copy()
    others[np.arange(len(scores)), first] = -np.inf
    return np.asarray(others.argmax(axis=1))


def _difference(values: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    """Return one column of each row less another, -1 for none; columns come second."""
    padded = np.concatenate([values, np.zeros_like(values[:, :1])], axis=1)
    each = np.arange(len(values))
    return np.asarray(padded[each, first] - padded[each, second])


def _by_column(readout: Readout, witness: Witness, first: IntArray, second: IntArray) -> FloatArray:
    """Return what each column says by itself; the indicators of one categorical column are one."""
    coded = witness.sight.coded
    columns = np.array([feature.column for feature in witness.sight.encoder.features], dtype=np.int64)
    said = np.zeros((len(coded), len(witness.sight.names)))
    for start in range(0, len(coded), ROWS_PER_PIECE):
        rows = slice(start, start + ROWS_PER_PIECE)
        of_coded = _difference(readout.by_feature(coded[rows]), first[rows], second[rows])
        np.add.at(said[rows].T, columns, of_coded.T)
    return said


def _loudest_boxes(
    readout: Readout, coded: FloatArray, first: IntArray, second: IntArray, n_boxes: int
) -> tuple[IntArray, FloatArray, FloatArray, IntArray]:
    """Return the loudest boxes of each sample and what they say, what all others say together, and how many these are.

    Rows are taken in the pieces in which they are predicted.
    """
    stop = np.zeros(1, dtype=np.uint8)
    boxes = np.full((len(coded), 2 * LOUDEST), NO_NODE)
    amounts, others = np.zeros(boxes.shape), np.zeros(len(coded))
    n_others = np.zeros(len(coded), dtype=np.int64)
    for start in range(0, len(coded), ROWS_PER_PIECE):
        rows = slice(start, start + ROWS_PER_PIECE)
        with ONE_THREAD:
            said = readout.between(coded[rows], first[rows], second[rows], n_boxes, stop)
        found = [_largest(side) for side in (said, -said)]
        own = np.hstack([places for places, _ in found])
        speaks = np.hstack([side > 0 for _, side in found])
        own_amounts = np.where(speaks, np.hstack([found[0][1], -found[1][1]]), 0.0)
        order = np.argsort(-np.abs(own_amounts), axis=1, kind="stable")
        width = slice(0, own.shape[1])
        boxes[rows, width] = np.take_along_axis(np.where(speaks, own, NO_NODE), order, axis=1)
        amounts[rows, width] = np.take_along_axis(own_amounts, order, axis=1)
        each = np.arange(len(said))[:, None]
        said[np.broadcast_to(each, own.shape)[speaks], own[speaks]] = 0.0
        others[rows], n_others[rows] = said.sum(axis=1), (said != 0).sum(axis=1)
    return boxes, amounts, others, n_others


def _largest(said: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the places of the largest values of each row, and these."""
    most = min(LOUDEST, said.shape[1])
    places = np.argpartition(-said, most - 1, axis=1)[:, :most] if most else np.zeros((len(said), 0), dtype=np.int64)
    return places, np.take_along_axis(said, places, axis=1)
