"""Rules: the predictions of a classifier as few if-then rules, or one rule per labelled box."""

from typing import TYPE_CHECKING

from sslart._utils.optional import lazy_names

if TYPE_CHECKING:
    from sslart.rules._box_rules import Rule, RuleCondition
    from sslart.rules._model_rules import ModelCondition, ModelRule, Share
    from sslart.rules._rule_sets import ModelRuleSet, RuleSet
    from sslart.rules._rules_of import rules_of

__all__ = [
    "ModelCondition",
    "ModelRule",
    "ModelRuleSet",
    "Rule",
    "RuleCondition",
    "RuleSet",
    "Share",
    "rules_of",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(
        __name__,
        {
            "rules_of": "sslart.rules._rules_of",
            "ModelRuleSet": "sslart.rules._rule_sets",
            "ModelRule": "sslart.rules._model_rules",
            "ModelCondition": "sslart.rules._model_rules",
            "Share": "sslart.rules._model_rules",
            "RuleSet": "sslart.rules._rule_sets",
            "RuleCondition": "sslart.rules._box_rules",
            "Rule": "sslart.rules._box_rules",
        },
    )
