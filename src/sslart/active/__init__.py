"""Active learning: which samples to label next, and the accuracy that more labels would bring."""

from sslart.active._learning_curve import LabelsNeeded, LearningCurve, learning_curve
from sslart.active._queries import Query, QueryPool, select_queries

__all__ = [
    "LabelsNeeded",
    "LearningCurve",
    "Query",
    "QueryPool",
    "learning_curve",
    "select_queries",
]
