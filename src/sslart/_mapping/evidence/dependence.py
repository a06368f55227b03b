"""Test for dependence between rows: leave-one-out against leave-one-unit-out, in closed form, for candidate units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sslart._art.backend import Cholesky
from sslart._data.roles import Units, may_show
from sslart._mapping.evidence.design import LabelGroups, LabelledSet
from sslart._mapping.evidence.families import family_of
from sslart._mapping.evidence.selection import LooFits
from sslart._mapping.evidence.settings import BasisSpec, FixedSettings, Mixture
from sslart._utils.arrays import FloatArray, IntArray

MOST_LABELS = 1000  # labels in the test: the limit of exact leave-one-out predictions
N_HEAVIEST = 4  # mixtures of the model used in the test
NARROW, RIDGE = 0.1, 0.02  # a narrow bandwidth, by which rows of one unit predict each other best
MOST_OF_GAIN = 0.75  # of the largest gain: the smallest units that reach it are chosen, as larger ones contain several
N_RANDOM = 4  # random groupings that estimate the cost of leaving out as many unrelated labels
N_SHUFFLED = 60  # random groupings that estimate the correlation of errors by chance
NAMED_Z, NAMED_GAIN = 1.6, 0.02  # minimum z and rise of the squared error, for columns named as units
OTHER_Z, OTHER_GAIN = 3.2, 0.04  # for all other candidates: rows of most tables are independent
CORRELATED_Z, CORRELATED = 4.0, 1.25  # minimum z and variance inflation of the errors within units


class UnitTest:
    """Leave-one-out and leave-one-unit-out predictions by a few regressions, each solved once."""

    def __init__(self, labelled: LabelledSet, mixtures: Sequence[Mixture], fixed: FixedSettings) -> None:
        self._labelled, self._targets = labelled, labelled.targets
        narrow = (BasisSpec("box", fixed.middle_rank_weight, NARROW),)
        heaviest = sorted((one for one in mixtures if _has_functions_of_samples(one)), key=lambda one: -one.weight)
        tried = dict.fromkeys([(narrow, RIDGE), *((one.specs, one.ridge) for one in heaviest[:N_HEAVIEST])])
        trial = LooFits(labelled)
        self._systems = [trial.regression(specs).whole(ridge) for specs, ridge in tried]
        _, self._first, self._place = np.unique(labelled.groups.of_label, return_index=True, return_inverse=True)
        self._residuals = self._left_out(labelled.groups) - self._targets

    def _left_out(self, groups: LabelGroups) -> FloatArray:
        """Return the mean prediction of each label without its group."""
        found = np.zeros(self._targets.shape)
        for whole, coefficients in self._systems:
            own = self._targets - coefficients / np.diagonal(whole)[:, None]
            for rows in groups.several:
                inner = whole[rows[:, :, None], rows[:, None, :]]
                own[rows] = self._targets[rows] - Cholesky(inner).solve(coefficients[rows])
            found += own / len(self._systems)
        return found

    def _by_group(self, values: FloatArray) -> FloatArray:
        """Average values over the groups that are always left out together, such as duplicates."""
        sums = np.zeros((len(self._first), values.shape[1]))
        np.add.at(sums, self._place, values)
        return sums / np.bincount(self._place)[:, None]

    def gain(self, units: Units) -> float | None:
        """Return the rise of the squared error from leave-one-out to leave-one-unit-out; None if not significant."""
        keys = np.unique(units.keys, return_inverse=True)[1]
        joined = self._labelled.groups.joined(keys + 1)
        if not may_show(np.unique(joined.of_label, return_inverse=True)[1]):
            return None  # duplicates of one sample are in many units
        rises, own = self._rises(joined), keys[self._first]
        sums, sizes, mean = np.bincount(own, rises), np.bincount(own), float(rises.mean())
        spread = max(float(np.sqrt(((sums - sizes * mean) ** 2).sum())) / len(rises), np.finfo(float).tiny)
        least_z, least_gain = (NAMED_Z, NAMED_GAIN) if units.is_named else (OTHER_Z, OTHER_GAIN)
        if mean >= least_gain and mean >= least_z * spread:
            mean -= self._rise_by_chance(own)
        if (mean < least_gain or mean < least_z * spread) and not self._errors_correlate(units, own):
            return None
        return mean

    def _rises(self, groups: LabelGroups) -> FloatArray:
        """Return the rise of the squared error of each observation without its group."""
        residuals = self._left_out(groups) - self._targets
        return np.asarray(self._by_group(residuals**2 - self._residuals**2).sum(axis=1))

    def _rise_by_chance(self, keys: IntArray) -> float:
        """Return the rise of the squared error without as many labels drawn at random, due to less training data."""
        random = np.random.RandomState(0)
        drawn = [random.permutation(keys)[self._place] for _ in range(N_RANDOM)]
        return float(np.mean([self._rises(self._labelled.groups.joined(own + 1)).mean() for own in drawn]))

    def _errors_correlate(self, units: Units, keys: IntArray) -> bool:
        """Return True if errors within units are correlated, so that labels of a unit count less."""
        if units.column is not None and not units.is_named:
            return False  # a feature: its errors are correlated where the model underfits
        random = np.random.RandomState(0)
        by_chance = np.array([self._variance(random.permutation(keys)) for _ in range(N_SHUFFLED)])
        found, usual = self._variance(keys), float(by_chance.mean())
        return found >= CORRELATED * usual and found - usual >= CORRELATED_Z * float(by_chance.std())

    def _variance(self, keys: IntArray) -> float:
        """Return the sum of the squared errors of whole units."""
        errors = self._by_group(self._residuals)
        sums = np.zeros((int(keys.max()) + 1, errors.shape[1]))
        np.add.at(sums, keys, errors)
        return float((sums**2).sum())


def without_column(labelled: LabelledSet, column: int) -> LabelledSet:
    """Return the labelled samples with a column set to missing, in the same groups."""
    assert labelled.column_of is not None
    samples = np.where(labelled.column_of == column, np.nan, labelled.samples)
    return replace(labelled, samples=samples, given_groups=labelled.groups)


def _has_functions_of_samples(mixture: Mixture) -> bool:
    """Return True for ridge regressions whose functions do not depend on labels."""
    families = [family_of(spec) for spec in mixture.specs]
    return all(one.uses_ridge and not one.uses_labels for one in families)


def dependent_units(
    labelled: LabelledSet, mixtures: Sequence[Mixture], fixed: FixedSettings, candidates: Sequence[Units]
) -> int | None:
    """Return the index of the candidate units within which rows depend most on each other; None if none do.

    Parameters
    ----------
    labelled : LabelledSet
    mixtures : sequence of Mixture
        The settings selected by leave-one-out.
    fixed : FixedSettings
    candidates : sequence of Units
        With a key for each label of the set; columns named as units first.
    """
    rows = np.arange(len(labelled.classes))
    if len(rows) > MOST_LABELS:
        rows = np.sort(np.random.RandomState(labelled.seed).permutation(rows)[:MOST_LABELS])
        labelled = labelled.restricted(rows)
    by_order, gains = None, []
    for units in candidates:
        if units.place is not None:  # the column itself is a feature: rows must be alike in others
            gains.append(UnitTest(without_column(labelled, units.place), mixtures, fixed).gain(units.of(rows)))
            continue
        by_order = UnitTest(labelled, mixtures, fixed) if by_order is None else by_order
        gains.append(by_order.gain(units.of(rows)))
    shown = {place: gain for place, gain in enumerate(gains) if gain is not None}
    named = {place: gain for place, gain in shown.items() if candidates[place].is_named}
    shown = named or shown
    enough = [place for place, gain in shown.items() if gain >= MOST_OF_GAIN * max(shown.values())]
    return max(enough, key=lambda place: len(np.unique(candidates[place].of(rows).keys)), default=None)
