"""Displays: boxes, rules, importances, dependence, reasons, evidence, votes, guarantees, growth, and drift.

Each display stores the data to draw, created by `from_estimator` or a similar method. `plot` draws it; the axis is in
`ax_` and its figure in `figure_`. matplotlib, installed by the extra `plot`, is imported only when something is drawn.
Colours are those of Okabe and Ito; markers, dashes, hatches or text always distinguish classes as well.
"""

from sslart.plotting._boxes import BoxesDisplay
from sslart.plotting._curves import CoverageCorrectnessDisplay, GrowthDisplay, GuaranteeDisplay, LearningCurveDisplay
from sslart.plotting._drift import DriftDisplay
from sslart.plotting._importances import DependenceDisplay, ImportanceDisplay
from sslart.plotting._predictions import EvidenceDisplay, ReasonDisplay, VotesDisplay
from sslart.plotting._rules import RuleHeatmapDisplay, RuleParallelDisplay

__all__ = [
    "BoxesDisplay",
    "CoverageCorrectnessDisplay",
    "DependenceDisplay",
    "DriftDisplay",
    "EvidenceDisplay",
    "GrowthDisplay",
    "GuaranteeDisplay",
    "ImportanceDisplay",
    "LearningCurveDisplay",
    "ReasonDisplay",
    "RuleHeatmapDisplay",
    "RuleParallelDisplay",
    "VotesDisplay",
]
