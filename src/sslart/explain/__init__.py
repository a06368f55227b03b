"""Local explanations: why a model gives a sample its answer, and what would change it."""

from typing import TYPE_CHECKING

from sslart._utils.optional import lazy_names

if TYPE_CHECKING:
    from sslart.explain._contributions import Contribution, Evidence
    from sslart.explain._explainer import Explanation, explain
    from sslart.explain._explanation import Advice, Novelty, Vote
    from sslart.explain._flips import Change, Counterfactual
    from sslart.explain._match import Box, FeatureMatch
    from sslart.explain._search_path import SearchStep

__all__ = [
    "Advice",
    "Box",
    "Change",
    "Contribution",
    "Counterfactual",
    "Evidence",
    "Explanation",
    "FeatureMatch",
    "Novelty",
    "SearchStep",
    "Vote",
    "explain",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Evidence": "sslart.explain._contributions",
        "Contribution": "sslart.explain._contributions",
        "Explanation": "sslart.explain._explainer",
        "explain": "sslart.explain._explainer",
        "Advice": "sslart.explain._explanation",
        "Novelty": "sslart.explain._explanation",
        "Vote": "sslart.explain._explanation",
        "Change": "sslart.explain._flips",
        "Counterfactual": "sslart.explain._flips",
        "Box": "sslart.explain._match",
        "FeatureMatch": "sslart.explain._match",
        "SearchStep": "sslart.explain._search_path",
    },
)
