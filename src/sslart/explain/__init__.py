"""Local explanations: the reasons for the prediction of a sample, and changes that would alter it."""

from typing import TYPE_CHECKING

from sslart._utils.optional import lazy_names

if TYPE_CHECKING:
    from sslart.explain._boxes import Box, FeatureMatch, SearchStep
    from sslart.explain._contributions import Contribution, Evidence, FeatureContributions, contributions_of
    from sslart.explain._counterfactual import Change, Counterfactual, Counterfactuals, counterfactuals_of
    from sslart.explain._explanation import Advice, Explanation, Novelty, Vote, explain
    from sslart.explain._importances import FeatureImportances, importances_of

__all__ = [
    "Advice",
    "Box",
    "Change",
    "Contribution",
    "Counterfactual",
    "Counterfactuals",
    "Evidence",
    "Explanation",
    "FeatureContributions",
    "FeatureImportances",
    "FeatureMatch",
    "Novelty",
    "SearchStep",
    "Vote",
    "contributions_of",
    "counterfactuals_of",
    "explain",
    "importances_of",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(
        __name__,
        {
            "Change": "sslart.explain._counterfactual",
            "Counterfactual": "sslart.explain._counterfactual",
            "Counterfactuals": "sslart.explain._counterfactual",
            "counterfactuals_of": "sslart.explain._counterfactual",
            "Evidence": "sslart.explain._contributions",
            "Contribution": "sslart.explain._contributions",
            "explain": "sslart.explain._explanation",
            "Advice": "sslart.explain._explanation",
            "Explanation": "sslart.explain._explanation",
            "Novelty": "sslart.explain._explanation",
            "Vote": "sslart.explain._explanation",
            "FeatureContributions": "sslart.explain._contributions",
            "contributions_of": "sslart.explain._contributions",
            "FeatureImportances": "sslart.explain._importances",
            "importances_of": "sslart.explain._importances",
            "Box": "sslart.explain._boxes",
            "FeatureMatch": "sslart.explain._boxes",
            "SearchStep": "sslart.explain._boxes",
        },
    )
