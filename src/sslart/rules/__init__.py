"""Rules: the predictions of a classifier as few if-then rules, or one rule per labelled box."""

from typing import TYPE_CHECKING

from sslart._utils.optional import lazy_names

if TYPE_CHECKING:
    from sslart.rules._boxes.rule import Rule, RuleCondition
    from sslart.rules._boxes.rule_set import RuleSet
    from sslart.rules._model.rule import ModelCondition, ModelRule, Share
    from sslart.rules._model.rule_set import ModelRuleSet
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

__getattr__ = lazy_names(
    __name__,
    {
        "rules_of": "sslart.rules._rules_of",
        "ModelRuleSet": "sslart.rules._model.rule_set",
        "ModelRule": "sslart.rules._model.rule",
        "ModelCondition": "sslart.rules._model.rule",
        "Share": "sslart.rules._model.rule",
        "RuleSet": "sslart.rules._boxes.rule_set",
        "RuleCondition": "sslart.rules._boxes.rule",
        "Rule": "sslart.rules._boxes.rule",
    },
)
