"""The fits of samples that were left out, or not yet learnt, joined from several models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from sslart._art.calibration import FitRecords, NoveltyCalibration
from sslart._art.network import Network
from sslart._art.reduction.renaming import DROPPED
from sslart._utils.arrays import IntArray
from sslart._utils.deferred import Deferred
from sslart.merging._networks import Source

FEWEST, MOST = 100, 2000  # fits that are kept of all models together


@dataclass(frozen=True, eq=False)
class Fitted:
    """The fits of one model, and where the boxes of each of its members have gone."""

    calibration: NoveltyCalibration
    sources: Sequence[Source]


def joined_calibration(models: Sequence[Fitted], members: Sequence[Network]) -> NoveltyCalibration | None:
    """Return the calibration of joined networks; None where no model has one.

    Each model has a part in proportion to the samples that it has learnt. A fit is that of the box in which it was
    measured, with all by which that box has grown since: the boxes of other models, which may fit better, have no part
    in it, so that rather too few new samples are novel than too many.

    Parameters
    ----------
    models : sequence of Fitted
        Of those that have a calibration.
    members : sequence of Network
        The joined networks.
    """
    if not models:
        return None
    n_learnt = [one.calibration.n_learnt for one in models]
    fits = [_re_expressed(one, members) for one in models]
    numbers = numbers_taken([len(one) for one in fits], n_learnt)
    taken = [one.rows(np.argsort(one.keys, kind="stable")[:n]) for one, n in zip(fits, numbers.tolist(), strict=True)]
    together = FitRecords(
        *(np.concatenate([getattr(one, field.name) for one in taken]) for field in fields(FitRecords))
    )
    order = np.lexsort((*together.boxes.T, together.familiarity, together.keys))
    together = together.rows(order)
    first = np.append(True, np.diff(together.keys) != 0) if len(order) else np.empty(0, dtype=bool)
    records = together.rows(first)
    return NoveltyCalibration.of_records(Deferred(lambda: records), sum(n_learnt))


def numbers_taken(found: Sequence[int], n_learnt: Sequence[int]) -> IntArray:
    """Return how many of the fits of each model are kept: in proportion to what it has learnt, unless few are left."""
    known, learnt = np.array(found), np.array(n_learnt, dtype=np.float64)
    shares = np.maximum(learnt, 1.0) / np.maximum(learnt, 1.0).sum()
    has = known > 0
    wanted = min((known[has] / shares[has]).min(), MOST) if has.any() else 0.0
    wanted = max(wanted, min(FEWEST, known.sum()))
    return np.asarray(np.minimum(known, np.rint(wanted * shares).astype(np.int64)))


def _re_expressed(one: Fitted, members: Sequence[Network]) -> FitRecords:
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
        before += now.extents[:, place] / n_before
        after += extents[:, place] / n_after
        stretches.append(source.stretch * n_before / n_after)
    n_members = len(members)
    away = np.maximum(0.0, 1.0 - now.familiarity - before / n_members)
    familiarity = np.clip(1.0 - after / n_members - away * np.mean(stretches), 0.0, 1.0)
    return FitRecords(now.keys, familiarity, boxes, extents, np.zeros(len(now), dtype=np.int64))
