"""Merging of the novelty calibrations of several models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from sslart._art.backend import row_keys
from sslart._art.boxes import DROPPED, NO_BOX
from sslart._art.geometry import SIZE_SHARE
from sslart._art.network import Network
from sslart._art.novelty import FitRecords, NoveltyCalibration
from sslart._data.encoder import Encoder
from sslart._data.joining import joined_tables
from sslart._data.samples import Table
from sslart._mapping.mergeable_state import MeasuredSamples
from sslart._utils.arrays import IntArray, KeyArray
from sslart._utils.cache import Deferred
from sslart.merging._networks import BoxesApart, MergedSource

FEWEST, MOST = 100, 1000  # range of the number of fits in the merged calibration
CLOSEST = 4  # nearest joined boxes that a sample is compared with


@dataclass(frozen=True, eq=False)
class ModelFits:
    """The fits of one model, and the joined boxes of each of its members."""

    calibration: NoveltyCalibration
    sources: Sequence[MergedSource]
    place: int = 0  # index of the model, as in `BoxesApart.source`
    measured: MeasuredSamples | None = None  # the samples of these fits, if available


class Merged(NamedTuple):
    """Merged networks, by member, with the boxes before, and the α and β of all models."""

    networks: Sequence[Network]
    aparts: Sequence[BoxesApart]
    choice: float
    learning_rate: float


def joined_calibration(
    models: Sequence[ModelFits], together: Merged
) -> tuple[NoveltyCalibration | None, MeasuredSamples | None]:
    """Return the calibration of joined networks, None if no model has one, and its available samples.

    Each model contributes in proportion to its samples. An available sample is compared with the boxes of the other
    models too. Otherwise the fit is that of the box in which it was measured, corrected for the growth of that box.
    Boxes of other models, which may fit better, are then ignored, so that too few new samples are novel rather than too
    many.
    """
    if not models:
        return None, None
    n_learnt = [one.calibration.n_learnt for one in models]
    fits = [_re_expressed(one, together.networks) for one in models]
    distinct, times = np.unique(np.concatenate([one.keys for one in fits]), return_counts=True)
    alone = distinct[times == 1]  # a duplicate in another model would fit perfectly
    fits = [_with_others(one, own, alone, together) for one, own in zip(models, fits, strict=True)]
    numbers = numbers_taken([len(one) for one in fits], n_learnt)
    taken = [one.rows(np.argsort(one.keys, kind="stable")[:n]) for one, n in zip(fits, numbers.tolist(), strict=True)]
    every = FitRecords(*(np.concatenate([getattr(one, field.name) for one in taken]) for field in fields(FitRecords)))
    every = every.rows(np.lexsort((*every.boxes.T, every.familiarity, every.keys)))
    records = every.rows(np.unique(every.keys, return_index=True)[1])
    calibration = NoveltyCalibration.of_records(Deferred(lambda: records), sum(n_learnt))
    return calibration, _joined_samples([one.measured for one in models], records.keys)


def _with_others(one: ModelFits, fits: FitRecords, alone: KeyArray, together: Merged) -> FitRecords:
    """Return the fits of a model with respect to the boxes of all models, for the available samples.

    Joined boxes are used without the parts of the sample's model that contain it. If none of the nearest ones has a
    higher choice than the box in which the sample was measured, the fit is unchanged.
    """
    if one.measured is None:
        return fits
    is_known = np.isin(fits.keys, one.measured.keys) & np.isin(fits.keys, alone)
    rows = np.flatnonzero(is_known & (fits.boxes != DROPPED).all(axis=1))
    table = one.measured.table[np.searchsorted(one.measured.keys, fits.keys[rows])]
    found = FitRecords(*(getattr(fits, field.name).copy() for field in fields(FitRecords)))
    n_members = len(together.networks)
    familiarity = np.zeros(len(rows))
    for member, (network, apart) in enumerate(zip(together.networks, together.aparts, strict=True)):
        coded, n_features = network.encode(table), network.nodes.n_features
        closest = network.rank_coded(coded, together.choice, depth=CLOSEST)[0]
        own = fits.boxes[rows, member]
        away = n_features * (1.0 - fits.familiarity[rows]) - SIZE_SHARE * fits.extents[rows].mean(axis=1)
        boxes = np.column_stack([own, np.where(closest == own[:, None], NO_BOX, closest)])
        at, column = np.nonzero(boxes != NO_BOX)
        candidates = boxes[at, column]
        gaps, sizes = np.full(boxes.shape, np.inf), np.zeros(boxes.shape)
        gaps[at, column] = apart.distances(coded[at], candidates, one.place, is_whole=together.learning_rate < 1)
        sizes[at, column] = network.nodes.extents(candidates)
        gaps[:, 0] = np.minimum(gaps[:, 0], away)
        best = np.argmax((n_features - sizes - gaps) / (together.choice + n_features - sizes), axis=1)
        chosen = np.arange(len(rows)), best
        found.boxes[rows, member], found.extents[rows, member] = boxes[chosen], sizes[chosen]
        familiarity += (1.0 - (SIZE_SHARE * sizes[chosen] + gaps[chosen]) / n_features) / n_members
    found.familiarity[rows] = np.clip(familiarity, 0.0, 1.0)
    return found


def measured_samples(calibration: NoveltyCalibration | None, table: Table, encoder: Encoder) -> MeasuredSamples | None:
    """Return the samples of a table that have a fit in a calibration."""
    if calibration is None:
        return None
    keys, first = np.unique(row_keys(encoder.varying(table)), return_index=True)
    return _joined_samples([MeasuredSamples(keys, table[first])], calibration.records.keys)


def _joined_samples(parts: Sequence[MeasuredSamples | None], wanted: KeyArray) -> MeasuredSamples | None:
    """Return the samples of several parts with the given keys, each once."""
    known = [one for one in parts if one is not None]
    if not known:
        return None
    keys, first = np.unique(np.concatenate([one.keys for one in known]), return_index=True)
    kept = np.isin(keys, wanted)
    return MeasuredSamples(keys[kept], joined_tables([one.table for one in known])[first[kept]])


def numbers_taken(found: Sequence[int], n_learnt: Sequence[int]) -> IntArray:
    """Return the number of fits to take from each model: in proportion to its samples, limited by those found."""
    known, learnt = np.array(found), np.array(n_learnt, dtype=np.float64)
    shares = np.maximum(learnt, 1.0) / np.maximum(learnt, 1.0).sum()
    has = known > 0
    wanted = min((known[has] / shares[has]).min(), MOST) if has.any() else 0.0
    wanted = max(wanted, min(FEWEST, known.sum()))
    return np.asarray(np.minimum(known, np.rint(wanted * shares).astype(np.int64)))


def _re_expressed(one: ModelFits, members: Sequence[Network]) -> FitRecords:
    """Return the fits of a model in the joined encoder: in a wider range, samples are closer to their boxes."""
    now = one.calibration.up_to_date([source.network for source in one.sources])
    before, after = np.zeros(len(now)), np.zeros(len(now))
    stretches = []
    extents, boxes = np.empty_like(now.extents), np.empty_like(now.boxes)
    for place, (source, member) in enumerate(zip(one.sources, members, strict=True)):
        is_dropped, own = now.boxes[:, place] == DROPPED, np.maximum(now.boxes[:, place], 0)
        n_before, n_after = source.network.nodes.n_features, member.nodes.n_features
        extents[:, place] = np.where(is_dropped, now.extents[:, place] * source.stretch, source.extents[own])
        boxes[:, place] = np.where(is_dropped, DROPPED, source.into[own])
        before += SIZE_SHARE * now.extents[:, place] / n_before
        after += SIZE_SHARE * extents[:, place] / n_after
        stretches.append(source.stretch * n_before / n_after)
    n_members = len(members)
    away = np.maximum(0.0, 1.0 - now.familiarity - before / n_members)
    familiarity = np.clip(1.0 - after / n_members - away * np.mean(stretches), 0.0, 1.0)
    return FitRecords(now.keys, familiarity, boxes, extents, np.zeros(len(now), dtype=np.int64))
