"""What is novel: what fits the model worse than nearly all learnt samples would, had they not been learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sslart._art.calibration import NoveltyCalibration, n_lowest
from sslart._art.network import LearningParams, Network
from sslart._data.encoder import GRID
from sslart._utils.arrays import BoolArray, FloatArray

FALSE_ALARMS = 0.05
MAX_BOXES = 1000
FARTHEST = 4.0
LEAST = 1e-9  # so that what lies a whole range away is novel


@dataclass(frozen=True, eq=False)
class NoveltyTest:
    """The test by which a model flags novel samples, with a stated share of false alarms.

    The p-value of a sample is the share of samples like the learnt ones that fit the model as badly or worse.

    Attributes
    ----------
    calibration : NoveltyCalibration or None
        None in a model saved by a version without one: it has a threshold for the default share alone.
    networks : sequence of Network
        Of each member of the model.
    params : LearningParams
    """

    calibration: NoveltyCalibration | None
    networks: Sequence[Network]
    params: LearningParams

    @cached_property
    def familiarity(self) -> FloatArray:
        """How well samples like the learnt ones fit the model, ascending."""
        calibration = self._known()
        return self.networks[0].once(calibration, lambda: calibration.familiarity(self.networks))

    @property
    def min_pvalue(self) -> float:
        """The lowest p-value that a sample can have: no sample is flagged at a lower share of false alarms."""
        return 1.0 / (len(self.familiarity) + 1) if self.calibration is not None else FALSE_ALARMS

    def threshold(self, false_alarms: float = FALSE_ALARMS) -> float:
        """Return the familiarity below which samples are novel; 0 where too few samples are known to flag any."""
        if self.calibration is None and false_alarms == FALSE_ALARMS:
            choice, vigilance = self.params.choice, self.params.vigilance
            return float(np.mean([usual_familiarity(network, choice, vigilance) for network in self.networks]))
        k = n_lowest(false_alarms, len(self.familiarity))
        if k > len(self.familiarity):  # a share of 1
            return np.inf
        return float(self.familiarity[k - 1]) if k else 0.0

    def promise(self, false_alarms: float = FALSE_ALARMS) -> str:
        """Return in words how many samples are flagged by mistake, or why none can be flagged."""
        share = f"{100 * false_alarms:g} in 100"
        if self.calibration is None and false_alarms == FALSE_ALARMS:
            return f"by a rule of thumb, {share} samples like those learnt are flagged"
        if n_lowest(false_alarms, len(self.familiarity)):
            return f"of samples like those learnt, at most {share} are flagged"
        n_needed = int(np.ceil(1.0 / false_alarms - 1e-9)) - 1
        return (
            f"none can be flagged: at most {share} false alarms take {n_needed} distinct learnt samples to compare "
            f"with, and there are {len(self.familiarity)}"
        )

    def is_novel(self, familiarity: FloatArray, false_alarms: float = FALSE_ALARMS) -> BoolArray:
        """Return whether samples of some familiarity are novel."""
        return np.asarray(familiarity < self.threshold(false_alarms))

    def pvalues(self, familiarity: FloatArray) -> FloatArray:
        """Return the conformal p-value of samples of some familiarity."""
        n_as_bad = np.searchsorted(self.familiarity, familiarity, side="right")
        return np.asarray((1.0 + n_as_bad) / (len(self.familiarity) + 1))

    def _known(self) -> NoveltyCalibration:
        if self.calibration is None:
            raise ValueError(
                "This model was saved by an earlier version of sslart, which kept no fits of samples before they were "
                f"learnt: it has no p-values, and a threshold for {FALSE_ALARMS:g} false alarms alone. Fit it again."
            )
        return self.calibration


def usual_familiarity(network: Network, choice: float, vigilance: float) -> float:
    """Return the threshold of models without a calibration: how well boxes fit one another.

    The middle of each box stands for its samples. At most the vigilance: what fits so well makes no new box. At least
    what lies four times as far off as a box may be wide, however far from one another the boxes are, and never 0.
    """
    return network.once(
        ("usual familiarity", choice, vigilance), lambda: _usual_familiarity(network, choice, vigilance)
    )


def _usual_familiarity(network: Network, choice: float, vigilance: float) -> float:
    lower, upper = network.nodes.boxes()
    n_nodes = len(lower)
    if n_nodes < 2:
        return vigilance
    nodes = np.unique(np.linspace(0, n_nodes - 1, MAX_BOXES).astype(np.int64))
    middle = np.where(lower <= upper, (lower + upper) / 2, np.nan)[nodes]
    best, matches = network.rank_coded(np.rint(middle * GRID) / GRID, choice, depth=2)
    without_own = np.where(best[:, 0] == nodes, matches[:, 1], matches[:, 0])
    order = np.argsort(without_own, kind="stable")
    shares = np.cumsum(network.nodes.support_of(nodes)[order])
    usual = float(without_own[order][np.searchsorted(shares, FALSE_ALARMS * shares[-1])])
    return min(max(usual, 1.0 - FARTHEST * (1.0 - vigilance), LEAST), vigilance)
