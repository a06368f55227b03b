"""Novelty detection: p-values, and flags at a stated rate of false alarms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from sslart._art.backend import row_keys
from sslart._art.jackknife import left_out_fits
from sslart._art.learning import LearningParams, LearnResult
from sslart._art.network import Network
from sslart._art.novelty import FALSE_ALARMS, LeftOut, Measured, NoveltyCalibration
from sslart._data.samples import Table
from sslart._mapping.model_view import ModelView
from sslart._utils.arrays import BoolArray, FloatArray, IntArray, KeyArray
from sslart._utils.validation import check_number
from sslart.estimators._published import available


class NoveltyMixin(ABC):
    """The methods by which an estimator flags novel samples."""

    @abstractmethod
    def __sslart_view__(self) -> ModelView:
        """Return the fitted model as everything that only reads it sees it."""

    def novelty_pvalues(self, X: Any) -> FloatArray:
        """Return the conformal p-value of each sample: low for samples that are unlike those learnt.

        It is the share of samples like the learnt ones that fit the model as badly as this one or worse. It is
        measured by the fits of samples that were left out of `fit`, or that a stream had not yet learnt.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
            From 1 / (n + 1) to 1, where n samples are compared with. Of samples like the learnt ones, at most a share
            p has a p-value of p or lower.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sslart import FuzzyART
        >>> X, _ = load_iris(return_X_y=True)
        >>> model = FuzzyART(vigilance=0.9).fit(X[::2])
        >>> model.novelty_pvalues([X[1], [5, 9, 1, 2]]).round(2)
        array([1.  , 0.01])
        """
        view = self.__sslart_view__()
        return view.novelty.pvalues(view.score_samples(view.read(X)))

    def is_novel(self, X: Any, false_alarms: float = FALSE_ALARMS) -> BoolArray:
        """Return a mask of novel samples, at a stated rate of false alarms.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        false_alarms : float, default=0.05
            Of samples like the learnt ones, at most this share is flagged, on average over samples to learn from. Where
            fewer than 1 / false_alarms - 1 samples can be compared with, none is ever flagged.

        Returns
        -------
        array of bool of shape (n_samples,)
            True where `novelty_pvalues` is at most `false_alarms`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sslart import FuzzyART
        >>> X, _ = load_iris(return_X_y=True)
        >>> model = FuzzyART(vigilance=0.9).fit(X[::2])
        >>> model.is_novel([X[1], [5, 9, 1, 2]])
        array([False,  True])
        """
        share = check_number(f"{type(self).__name__}.is_novel", "false_alarms", false_alarms, 0, 1, open_low=True)
        view = self.__sslart_view__()
        return view.novelty.is_novel(view.score_samples(view.read(X)), share)

    @property
    @available
    def novelty_threshold_(self) -> float:
        """Value of `score_samples` below which a sample is novel, at 5 % false alarms; 0 with too few samples."""
        return self.__sslart_view__().novelty_threshold


class FitMeter:
    """Measures how well the samples of one call fit before they are learnt.

    Parameters
    ----------
    table : Table
        The samples, in the order in which they are learnt.
    calibration : NoveltyCalibration or None
        Decides which samples are measured; None: none is.
    afresh : bool
        Whether nothing was learnt before and the range is that of these samples: then they are left out in turn, after
        all of them have been learnt.
    groups : array of int of length n_samples, or None
        Samples of one group are left out together; 0 for a sample without one.
    """

    def __init__(
        self,
        table: Table,
        calibration: NoveltyCalibration | None,
        *,
        afresh: bool,
        groups: IntArray | None = None,
    ) -> None:
        self._table, self._afresh, self._groups = table, afresh, groups
        self._keys: KeyArray | None = None
        self._wanted: BoolArray | None = None
        if calibration is not None and not afresh:
            self._keys = row_keys(table)
            self._wanted = calibration.wanted(self._keys)

    def wanted(self, rows: slice = slice(None)) -> BoolArray | None:
        """Return a mask of the samples to measure before they are learnt; None: none."""
        return None if self._wanted is None else self._wanted[rows]

    def measured(self, network: Network, learnt: LearnResult, params: LearningParams) -> Measured | LeftOut | None:
        """Return the measured fits, after the samples have been learnt."""
        if self._afresh:
            fits = left_out_fits(network, self._table, learnt.nodes, params, self._groups)
            return LeftOut(fits, len(self._table))
        return None if self._keys is None else Measured(self._keys, learnt.fits, learnt.into)


def calibration_after(
    before: NoveltyCalibration | None, members: Sequence[Measured | LeftOut | None]
) -> NoveltyCalibration | None:
    """Return the calibration updated with the fits each member measured in a call; None if there is none."""
    left_out = [one for one in members if isinstance(one, LeftOut)]
    if left_out:
        return NoveltyCalibration.of_left_out(left_out)
    measured = [one for one in members if isinstance(one, Measured)]
    return before.adding(measured) if before is not None and measured else None


def settled(calibration: NoveltyCalibration | None, half_life: float | None) -> NoveltyCalibration | None:
    """Return a calibration that no longer depends on the network that it was measured by, before that changes."""
    if calibration is None:
        return None
    calibration.earlier.get()
    return calibration.fading(half_life)


def calibration_of(state: dict[str, Any], networks: list[Network]) -> NoveltyCalibration:
    """Return the calibration in the state of an estimator."""
    return NoveltyCalibration.from_state(state["novelty"], networks)


def state_of(calibration: NoveltyCalibration | None, networks: list[Network], *, samples: bool) -> dict[str, Any]:
    """Return the calibration as part of the state of an estimator, with keys of its samples or without."""
    assert calibration is not None
    return {"novelty": (calibration if samples else calibration.without_samples(networks)).to_state()}
