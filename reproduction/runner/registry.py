"""All experiments, in the order of the paper."""

from __future__ import annotations

from reproduction.experiments import (
    anomaly,
    coverage,
    images,
    incremental,
    mapping,
    motion,
    motion_nodes,
    nodes,
    rules,
    uci,
    vigilance,
)
from reproduction.framework.experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        vigilance.EXPERIMENT,
        mapping.EXPERIMENT,
        incremental.SINGLE,
        incremental.ENSEMBLE,
        images.EXPERIMENT,
        uci.BINARY_SETS,
        uci.MULTICLASS_SETS,
        nodes.EXPERIMENT,
        anomaly.EXPERIMENT,
        motion.EXPERIMENT,
        motion_nodes.EXPERIMENT,
        coverage.EXPERIMENT,
        rules.EXPERIMENT,
    )
}

# names for several experiments; a table of one's own goes to the one that fits its number of classes
GROUPS = {"uci": ("binary", "multiclass")}
