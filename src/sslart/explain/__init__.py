"""Local explanations: why a model gives a sample its answer, and what would change it."""

from sslart.explain._contributions import Evidence, Term
from sslart.explain._explainer import Explanation, explain
from sslart.explain._explanation import Advice, Novelty, Vote
from sslart.explain._flips import Change, Counterfactual
from sslart.explain._match import Box, Condition
from sslart.explain._search_path import AskedNode

__all__ = [
    "Advice",
    "AskedNode",
    "Box",
    "Change",
    "Condition",
    "Counterfactual",
    "Evidence",
    "Explanation",
    "Novelty",
    "Term",
    "Vote",
    "explain",
]
