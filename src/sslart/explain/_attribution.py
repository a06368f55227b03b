"""Attribution with evidence mapping: contribution of each column to a score margin, and classes at boxes."""

from __future__ import annotations

import numpy as np

from sslart._art.geometry import centres
from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._mapping.model_view import ModelView, PredictionBatch
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart.explain._contributions import EvidenceTable
from sslart.explain._feature_groups import feature_groups
from sslart.explain._probe import MemberProbe
from sslart.explain._score_contributions import score_contributions


def attribute(
    view: ModelView, table: Table, batch: PredictionBatch, predicted: IntArray, voted: BoolArray | None
) -> EvidenceTable:
    """Return the contributions to the scores of samples, of the predicted class against the next.

    Parameters
    ----------
    view : ModelView
        With evidence mapping.
    table : Table
    batch : PredictionBatch
        What the model predicts for the table.
    predicted : array of int
        Class index that the contributions count for.
    voted : array of shape (n_members, n_samples), or None
        Which members of an ensemble vote; None: all of them.
    """
    parts = score_contributions(view, batch.scored, voted=voted)
    second = _runners_up(view, parts.scores, predicted)
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
    )


def predictions_at_centres(view: ModelView, probe: MemberProbe) -> IntArray:
    """Return the class index that the network predicts in the middle of each box."""
    member, readout = probe.member, probe.member.readout
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
