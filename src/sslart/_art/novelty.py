"""What is novel: how well the boxes of a network fit one another, which is what new samples are measured by."""

from __future__ import annotations

import numpy as np

from sslart._art.network import Network
from sslart._data.encoder import GRID

SHARE = 0.05
MAX_BOXES = 1000
FARTHEST = 4.0
LEAST = 1e-9  # so that what lies a whole range away is novel


def usual_familiarity(network: Network, choice: float, vigilance: float) -> float:
    """Return how well all but a twentieth of the samples would fit what was learnt, had their own box not been.

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
    shares = np.cumsum(network.nodes.support[nodes][order])
    usual = float(without_own[order][np.searchsorted(shares, SHARE * shares[-1])])
    return min(max(usual, 1.0 - FARTHEST * (1.0 - vigilance), LEAST), vigilance)
