"""Displays: boxes, rules, importances, dependence, reasons, evidence, votes, guarantees, growth, and drift.

Each display holds data, made by `from_estimator` or a similar method, and is drawn by `plot`, with the axis in `ax_`
and its figure in `figure_`. matplotlib, which the extra `plot` brings, is imported only when something is drawn.
Colours are those of Okabe and Ito; no picture depends on them alone: markers, dashes, hatches or words differ too.
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
