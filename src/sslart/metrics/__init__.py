"""Scores for models that may abstain: coverage and correctness, their curve, and comparisons over data sets."""

from sslart.metrics._abstention import (
    CoverageCorrectness,
    correctness_score,
    correctness_scorer,
    coverage_correctness_curve,
    coverage_score,
    coverage_scorer,
    sensitivity_score,
    specificity_score,
)
from sslart.metrics._comparison import Interval, WinTieLoss, bootstrap_interval, win_tie_loss

__all__ = [
    "CoverageCorrectness",
    "Interval",
    "WinTieLoss",
    "bootstrap_interval",
    "correctness_score",
    "correctness_scorer",
    "coverage_correctness_curve",
    "coverage_score",
    "coverage_scorer",
    "sensitivity_score",
    "specificity_score",
    "win_tie_loss",
]
