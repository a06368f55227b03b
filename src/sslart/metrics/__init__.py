"""Scores and guarantees of models that may abstain, and comparisons over data sets."""

from sslart._mapping.conformal import Guarantee, Guarantees
from sslart._mapping.quality import ClassQuality, JointLabels, ModelQuality
from sslart._mapping.summary import ModelSummary
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
from sslart.metrics._quality import guarantees

__all__ = [
    "ClassQuality",
    "CoverageCorrectness",
    "Guarantee",
    "Guarantees",
    "Interval",
    "JointLabels",
    "ModelQuality",
    "ModelSummary",
    "WinTieLoss",
    "bootstrap_interval",
    "correctness_score",
    "correctness_scorer",
    "coverage_correctness_curve",
    "coverage_score",
    "coverage_scorer",
    "guarantees",
    "sensitivity_score",
    "specificity_score",
    "win_tie_loss",
]
