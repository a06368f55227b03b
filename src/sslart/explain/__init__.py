"""Local explanations: the reasons for the prediction of a sample, and changes that would alter it."""

from typing import TYPE_CHECKING

from sslart._utils.optional import lazy_names

if TYPE_CHECKING:
    from sslart.explain._contributions import Contribution, Evidence
    from sslart.explain._counterfactuals.changes import Change, Counterfactual
    from sslart.explain._counterfactuals.results import Counterfactuals
    from sslart.explain._counterfactuals.what_if import counterfactuals_of
    from sslart.explain._explainer import explain
    from sslart.explain._explanation import Advice, Explanation, Novelty, Vote
    from sslart.explain._feature_contributions import FeatureContributions, contributions_of
    from sslart.explain._importances import FeatureImportances, importances_of
    from sslart.explain._match import Box, FeatureMatch
    from sslart.explain._search_path import SearchStep

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

__getattr__ = lazy_names(
    __name__,
    {
        "Change": "sslart.explain._counterfactuals.changes",
        "Counterfactual": "sslart.explain._counterfactuals.changes",
        "Counterfactuals": "sslart.explain._counterfactuals.results",
        "counterfactuals_of": "sslart.explain._counterfactuals.what_if",
        "Evidence": "sslart.explain._contributions",
        "Contribution": "sslart.explain._contributions",
        "explain": "sslart.explain._explainer",
        "Advice": "sslart.explain._explanation",
        "Explanation": "sslart.explain._explanation",
        "Novelty": "sslart.explain._explanation",
        "Vote": "sslart.explain._explanation",
        "FeatureContributions": "sslart.explain._feature_contributions",
        "contributions_of": "sslart.explain._feature_contributions",
        "FeatureImportances": "sslart.explain._importances",
        "importances_of": "sslart.explain._importances",
        "Box": "sslart.explain._match",
        "FeatureMatch": "sslart.explain._match",
        "SearchStep": "sslart.explain._search_path",
    },
)
