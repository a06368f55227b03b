"""Displays: boxes, rules, importances, dependence, reasons, evidence, votes, guarantees, growth, and drift.

Each display holds data, made by `from_estimator` or a similar method, and is drawn by `plot`, with the axis in `ax_`
and its figure in `figure_`. matplotlib, which the extra `plot` brings, is imported only when something is drawn.
Colours are those of Okabe and Ito; no picture depends on them alone: markers, dashes, hatches or words differ too.
"""

from sslart.plotting._boxes import BoxesDisplay
from sslart.plotting._curves import CoverageCorrectnessDisplay, GrowthDisplay
from sslart.plotting._dependence import DependenceDisplay
from sslart.plotting._evidence import EvidenceDisplay
from sslart.plotting._guarantees import GuaranteeDisplay
from sslart.plotting._importances import ImportanceDisplay
from sslart.plotting._learning import LearningCurveDisplay
from sslart.plotting._reason import ReasonDisplay
from sslart.plotting._rules import RuleHeatmapDisplay, RuleParallelDisplay
from sslart.plotting._streams.drift import DriftDisplay
from sslart.plotting._votes import VotesDisplay

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
