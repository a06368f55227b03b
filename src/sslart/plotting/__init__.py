"""Displays: boxes, rules, reasons, evidence, votes, coverage and growth as pictures.

Each display is data first: made by `from_estimator` or one of its siblings, drawn by `plot`, with the axis in `ax_` and
its figure in `figure_`. matplotlib is imported only when something is drawn: ``pip install "sslart[plot]"``. Colours
are those of Okabe and Ito, and no picture needs them: marks, dashes, hatches or words tell the same.
"""

from sslart.plotting._boxes import BoxesDisplay
from sslart.plotting._curves import CoverageCorrectnessDisplay, GrowthDisplay
from sslart.plotting._evidence import EvidenceDisplay
from sslart.plotting._reason import ReasonDisplay
from sslart.plotting._rules import RuleHeatmapDisplay, RuleParallelDisplay
from sslart.plotting._votes import VotesDisplay

__all__ = [
    "BoxesDisplay",
    "CoverageCorrectnessDisplay",
    "EvidenceDisplay",
    "GrowthDisplay",
    "ReasonDisplay",
    "RuleHeatmapDisplay",
    "RuleParallelDisplay",
    "VotesDisplay",
]
