"""`rules_of`: if-then rules of a classifier, of one of two kinds."""

from __future__ import annotations

from typing import Any, Literal, overload

from sslart._utils.text import list_text
from sslart._utils.validation import check_option
from sslart.rules._box_extraction import box_rules_of
from sslart.rules._box_rules import DEFAULT_LEVELS
from sslart.rules._model_extraction import model_rules_of
from sslart.rules._rule_sets import ModelRuleSet, RuleSet

KINDS = ("model", "boxes")


@overload
def rules_of(
    model: Any,
    X: Any = ...,
    y: Any = ...,
    *,
    kind: Literal["model"] = ...,
    max_rules: int | None = ...,
    max_conditions: int | None = ...,
) -> ModelRuleSet: ...
@overload
def rules_of(
    model: Any,
    *,
    kind: Literal["boxes"],
    levels: Any = ...,
    terms: Any = ...,
    min_confidence: float | None = ...,
    min_support: float | None = ...,
    simplify: Any = ...,
) -> RuleSet: ...
def rules_of(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    kind: str = "model",
    max_rules: int | None = None,
    max_conditions: int | None = None,
    levels: Any = None,
    terms: Any = None,
    min_confidence: float | None = None,
    min_support: float | None = None,
    simplify: Any = None,
) -> ModelRuleSet | RuleSet:
    """Return if-then rules of a classifier: a few short ones that agree with it, or one per labelled box.

    Parameters
    ----------
    model : fitted FuzzyARTMAP, SSLART, AutoSSLART or WESSLART
    X : array-like of shape (n_samples, n_features), default=None
        For kind "model": samples on which the rules should agree with the model, labelled or not, such as those it has
        learnt. None: samples drawn from the boxes of the model, which stores no unlabelled samples.
    y : array-like of shape (n_samples,), default=None
        For kind "model": labels of these samples, -1, None or NaN where unlabelled, to measure the accuracy of each
        rule. None: the labels stored by the model; without evidence mapping, those of each box, at its centre.
    kind : {"model", "boxes"}, default="model"
        "model": mutually exclusive rules that agree with the model as often as possible for their number, and a default
        rule for the rest. "boxes": one rule per labelled box, as in the paper, with the counts of its labels. If one
        box decides a prediction, as with one-to-many and one-to-one mapping, these are exact; with evidence mapping the
        model may predict another class inside a box.
    max_rules : int, default=None
        For kind "model": maximum number of rules, including the default rule. None: 12.
    max_conditions : int, default=None
        For kind "model": maximum number of conditions in a rule, at most one per feature; a range with two ends is one
        condition. None: 4.
    levels : int, or mapping from feature to int or to cut points, default=None
        For kind "boxes": Q, the number of levels of a feature, V_q = (q - 1) / (Q - 1); each side of a box gets the
        nearest level. Or cut points: increasing values in the units of the feature, where the level of a value is one
        plus the number of cuts below it. Features missing in a mapping have 5 levels. Categories have none. None: 5.
    terms : sequence of str, or mapping from feature to a sequence of str, default=None
        For kind "boxes": names of the levels. None: "Very Small" to "Very Large".
    min_confidence : float, default=None
        For kind "boxes": drop rules whose class has less than this share of their labelled samples. None: 0.
    min_support : float, default=None
        For kind "boxes": drop rules with fewer samples than this, labelled and unlabelled. None: 0.
    simplify : False or (X, y), default=None
        For kind "boxes": labelled samples, such as those the model has learnt. Rules are then merged with their
        neighbours and lose conditions as long as `RuleSet.predict` returns the same class for each of these samples;
        `RuleSet.dropped` is the log. Only the last rule may lose all its conditions: it is then for the samples in no
        other rule. Unlabelled samples are ignored. `True` is invalid, since the model stores no samples, and so is a
        model with evidence mapping, because no single rule decides its predictions. None: False.

    Returns
    -------
    ModelRuleSet or RuleSet
        For kind "model": by decreasing coverage, the default rule last. For kind "boxes": by decreasing confidence
        factor, then decreasing support.

    Notes
    -----
    Rules of kind "model" are the leaves of a surrogate decision tree, trained on the given samples and on others drawn
    between them, all labelled by the model. Several trees are grown by information gain, each pruned to the subtree
    with the fewest errors for this number of rules (leaves of the default class need no rule) and improved by
    alternating optimisation of its splits; the one that agrees with the model most often is used. Conditions with
    almost no effect are then dropped. The result is deterministic.

    In an ensemble, box rules with the same text (one class, the same levels in every feature) are merged. The merged
    rule lists its members, adds up their counts and supports, and covers their ranges in the user's units.

    The confidence factor of a box is that of Carpenter and Tan (1995), used there for pruning:
    CF_j = γ U_j + (1 - γ) A_j with γ = 0.5. Usage U_j is the number of labelled samples of its class that rule j has
    learnt, divided by the highest number among the rules for this class. Accuracy A_j is the share of its class among
    the labelled samples of rule j, divided by the highest share among the rules for this class. Merged rules of an
    ensemble count as one; a rule merged by `simplify` has the highest factor of its parts.

    A range of levels contains the box: from the lower end of its first level to the upper end of its last one. Levels
    end midway between V_q and V_{q+1}.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import SSLART
    >>> from sslart.rules import rules_of
    >>> data = load_iris(as_frame=True)
    >>> y = data.target_names[data.target]
    >>> model = SSLART(vigilance=0.5, random_state=0).fit(data.data, y)
    >>> for rule in rules_of(model, data.data, y, max_rules=3):
    ...     print(rule.label, [(condition.feature, condition.low, condition.high) for condition in rule.conditions])
    setosa [('petal length (cm)', None, 3.3)]
    versicolor [('sepal length (cm)', None, 6.0), ('petal length (cm)', 3.3, 4.5)]
    virginica []
    >>> width = {"petal width (cm)": [0.8, 1.6]}  # cut points of an expert: three levels
    >>> terms = {"petal width (cm)": ["narrow", "middling", "broad"]}
    >>> boxes = rules_of(model, kind="boxes", levels=width, terms=terms)
    >>> boxes[3].conditions[3].terms
    ('broad',)
    >>> short = rules_of(model, kind="boxes", simplify=(data.data, y))
    >>> print(short[:2].to_text())
    Box 2: If sepal length (cm) is from “Small” to “Medium” [4.9, 6], AND
       petal length (cm) is “Medium” [3.5, 4.5]
    Then versicolor with confidence estimate=0.947.
       (else virginica 0.053; support 19, 19 of them labelled)
    <BLANKLINE>
    Box 1: If petal length (cm) is from “Very Small” to “Medium” [1, 3.3]
    Then setosa with confidence estimate=0.943.
       (else versicolor 0.057; support 53, 53 of them labelled)
    >>> short.dropped[0]
    'setosa, box 1: merged with box 4'
    """
    check_option("rules", "kind", kind, KINDS)
    of_model = {"X": X, "y": y, "max_rules": max_rules, "max_conditions": max_conditions}
    of_boxes = {
        "levels": levels,
        "terms": terms,
        "min_confidence": min_confidence,
        "min_support": min_support,
        "simplify": simplify,
    }
    foreign = [name for name, value in (of_boxes if kind == "model" else of_model).items() if value is not None]
    if foreign:
        other = next(one for one in KINDS if one != kind)
        raise ValueError(
            f"{list_text(foreign)} belong{'s' if len(foreign) == 1 else ''} to rules of kind={other!r}, but these are "
            f"of kind={kind!r}. Leave {'it' if len(foreign) == 1 else 'them'} out, or set kind={other!r}."
        )
    if kind == "model":
        return model_rules_of(model, X, y, max_rules, max_conditions)
    return box_rules_of(
        model,
        DEFAULT_LEVELS if levels is None else levels,
        terms,
        0 if min_confidence is None else min_confidence,
        0 if min_support is None else min_support,
        False if simplify is None else simplify,
    )
