"""Incremental merging: a fitted model learns a further table whose partitions have been learnt separately."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from sslart._art.learning import LEAST_SUPPORT, Fits
from sslart._art.network import Network
from sslart._art.novelty import Measured, NoveltyCalibration
from sslart._mapping.ensemble_votes import VotingRecord
from sslart._mapping.evidence.mapping import EvidenceMapping
from sslart._utils.arrays import IntArray
from sslart._utils.validation import AUTO, check_half_life
from sslart.estimators._fitted import FittedMember, FittedModel
from sslart.merging._parameters import check_columns, lowest_vigilance, new_model
from sslart.merging._parts import finished, joined_parts


def check_can_fade(model: Any) -> None:
    """Raise a ValueError where samples of a further table cannot make those before count less."""
    if check_half_life(type(model).__name__, model.half_life, allow_auto=True) == AUTO:
        raise ValueError(
            "half_life='auto' is chosen by the labels of a stream, sample by sample, but a collection of dask is "
            "learnt in partitions: give a number of samples, or None, or learn with to_local().partial_fit."
        )


def with_further(model: Any, parts: FittedModel) -> Any:
    """Return a model that has also learnt a further table; the given model is unchanged.

    The boxes of the model and of the table are joined, and then learn the labelled samples of the table that are not
    learnt yet. With a `half_life`, what was learnt before counts less by then: by half for each so many samples of the
    table, which count alike.

    Parameters
    ----------
    model : estimator
        Fitted.
    parts : FittedModel
        What all partitions of the table have learnt.
    """
    check_can_fade(model)
    before = model.__sslart_parts__()
    check_columns([before, replace(parts, members=parts.members or before.members)], [0, 1])
    further = new_model([model])
    if model.half_life is not None:
        factor = math.exp2(-parts.n_samples / model.half_life)
        before = faded(before, factor, parts.n_samples, keep_one=not parts.members)
    joined = before
    if parts.members:
        vigilance = lowest_vigilance(model, [before, parts])
        joined = joined_parts([before, parts], vigilance, model.max_nodes, model.choice, model.learning_rate)
    further.__sslart_take__(finished(joined))
    if parts.labelled is not None:
        further.__sslart_learn_later__(parts.columns, parts.labelled)
    return further


def faded(parts: FittedModel, factor: float, n_samples: int, *, keep_one: bool) -> FittedModel:
    """Return a model decayed by further samples that it has not learnt yet.

    Parameters
    ----------
    parts : FittedModel
    factor : float
        What supports and counts are multiplied by. Boxes with too little support are dropped.
    n_samples : int
        How many samples have come, for labels that are kept with their age.
    keep_one : bool
        Whether the largest box of each member stays where all have too little support.
    """
    members, dropped = [], []
    is_gone = not keep_one and all(_largest(one) * factor < LEAST_SUPPORT for one in parts.members)
    for one in parts.members:
        least = 0.0 if is_gone else LEAST_SUPPORT / _largest(one)
        member, into = _faded_member(one, max(factor, least), n_samples)
        members.append(member)
        dropped.append(into)
    record = parts.record
    if record is not None:
        record = VotingRecord(record.successes * factor, record.trials * factor)
    calibration = None if is_gone else _renamed(parts.calibration, dropped)
    return replace(parts, members=tuple(members), calibration=calibration, record=record)


def _largest(member: FittedMember) -> float:
    return float(member.network.nodes.support.max())


def _faded_member(member: FittedMember, factor: float, n_samples: int) -> tuple[FittedMember, IntArray | None]:
    draft, mapping = member.network.nodes.draft(), member.mapping
    draft.start_to_fade()
    into = draft.fade(factor)
    network = Network(member.network.encoder, draft.published())
    if isinstance(mapping, EvidenceMapping):
        mapping = replace(mapping, recent=replace(mapping.recent, n_samples=mapping.recent.n_samples + n_samples))
    calibration = _renamed(member.calibration, [into]) if network.nodes.n_nodes else None
    return replace(member, network=network, mapping=mapping, calibration=calibration), into


def _renamed(calibration: NoveltyCalibration | None, into: list[IntArray | None]) -> NoveltyCalibration | None:
    """Return a calibration after boxes of the members have been dropped."""
    if calibration is None:
        return None
    no_keys = np.empty(0, dtype=np.uint64)
    return calibration.adding([Measured(no_keys, Fits.none(0), one) for one in into])
