"""Cost of a prediction against the number of nodes, for several numbers of features."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

from sslart import FuzzyART
from timing import seconds

mpl.use("Agg")
import matplotlib.pyplot as plt

NODES = (100, 300, 1000, 3000, 10000)
FEATURES = (8, 32, 128, 784)
STYLES = ("o-", "s--", "^-.", "D:")


def microseconds(n_nodes: int, n_features: int) -> float:
    """Return the cost of predicting one sample with a model of so many one-sample boxes; best of three."""
    random = np.random.RandomState(0)
    model = FuzzyART(1.0, bounds=(0, 1)).fit(random.rand(n_nodes, n_features))
    samples = random.rand(max(50, min(2000, 2_000_000 // (n_nodes * n_features) * 10)), n_features)
    return min(seconds(lambda: model.predict(samples)) for _ in range(3)) / len(samples) * 1e6


def draw(path: Path) -> None:
    figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    for n_features, style in zip(FEATURES, STYLES, strict=True):
        costs = [microseconds(n_nodes, n_features) for n_nodes in NODES]
        axes.loglog(NODES, costs, style, label=f"{n_features} features")
    axes.set(title="Cost of one prediction, one thread", xlabel="nodes", ylabel="microseconds per sample", xticks=NODES)
    axes.set_xticklabels([f"{n:,}" for n in NODES])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=130)
