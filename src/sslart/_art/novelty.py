"""The novelty test: a sample is novel if it fits the model worse than almost all learnt samples would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sslart._art.calibration import NoveltyCalibration, n_lowest
from sslart._art.network import LearningParams, Network
from sslart._utils.arrays import BoolArray, FloatArray

FALSE_ALARMS = 0.05  # share of samples like the learnt ones that is flagged by default


@dataclass(frozen=True, eq=False)
class NoveltyTest:
    """The test by which a model flags novel samples, with a stated share of false alarms.

    The p-value of a sample is the share of samples like the learnt ones that fit the model as badly or worse.

    Attributes
    ----------
    calibration : NoveltyCalibration
    networks : sequence of Network
        Of each member of the model.
    params : LearningParams
    """

    calibration: NoveltyCalibration
    networks: Sequence[Network]
    params: LearningParams

    @cached_property
    def familiarity(self) -> FloatArray:
        """Familiarities of the calibration samples, ascending."""
        return self.networks[0].once(self.calibration, lambda: self.calibration.familiarity(self.networks))

    @property
    def min_pvalue(self) -> float:
        """The lowest p-value that a sample can have: no sample is flagged at a lower share of false alarms."""
        return 1.0 / (len(self.familiarity) + 1)

    def threshold(self, false_alarms: float = FALSE_ALARMS) -> float:
        """Return the familiarity below which samples are novel; 0 where too few samples are known to flag any."""
        k = n_lowest(false_alarms, len(self.familiarity))
        if k > len(self.familiarity):  # a share of 1
            return np.inf
        return float(self.familiarity[k - 1]) if k else 0.0

    def promise(self, false_alarms: float = FALSE_ALARMS) -> str:
        """Return in words how many samples are flagged by mistake, or why none can be flagged."""
        share = f"{100 * false_alarms:g} in 100"
        if n_lowest(false_alarms, len(self.familiarity)):
            return f"of samples like those learnt, at most {share} are flagged"
        n_needed = int(np.ceil(1.0 / false_alarms - 1e-9)) - 1
        return (
            f"none can be flagged: at most {share} false alarms take {n_needed} distinct learnt samples to compare "
            f"with, and there are {len(self.familiarity)}"
        )

    def is_novel(self, familiarity: FloatArray, false_alarms: float = FALSE_ALARMS) -> BoolArray:
        """Return True for each familiarity that the test flags as novel."""
        return np.asarray(familiarity < self.threshold(false_alarms))

    def pvalues(self, familiarity: FloatArray) -> FloatArray:
        """Return the conformal p-value of samples of some familiarity."""
        n_as_bad = np.searchsorted(self.familiarity, familiarity, side="right")
        return np.asarray((1.0 + n_as_bad) / (len(self.familiarity) + 1))
