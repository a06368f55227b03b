"""Rules: what a classifier has learnt, as if-then rules in words, levels and the user's units."""

from sslart.rules._extract import rules_of
from sslart.rules._rule_set import RuleSet
from sslart.rules._scales import Condition, Rule

__all__ = [
    "Condition",
    "Rule",
    "RuleSet",
    "rules_of",
]
