"""Rules: what a classifier has learnt, as if-then rules in words, levels and the user's units."""

from typing import TYPE_CHECKING

from sslart._utils.optional import lazy_names

if TYPE_CHECKING:
    from sslart.rules._boxes.extract import rules_of
    from sslart.rules._boxes.rule import Rule, RuleCondition
    from sslart.rules._boxes.rule_set import RuleSet

__all__ = [
    "Rule",
    "RuleCondition",
    "RuleSet",
    "rules_of",
]

__getattr__ = lazy_names(
    __name__,
    {
        "rules_of": "sslart.rules._boxes.extract",
        "RuleSet": "sslart.rules._boxes.rule_set",
        "RuleCondition": "sslart.rules._boxes.rule",
        "Rule": "sslart.rules._boxes.rule",
    },
)
