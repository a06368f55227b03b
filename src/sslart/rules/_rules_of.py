"""Rules of a classifier, of one of two kinds."""

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
    """Return if-then rules of a classifier: few and short ones that agree with it, or one per labelled box.

    Parameters
    ----------
    model : fitted FuzzyARTMAP, SSLART, AutoSSLART or WESSLART
    X : array-like of shape (n_samples, n_features), default=None
        Of kind "model": samples for which the rules shall agree with the model, labelled or not, such as those it has
        learnt. The model keeps no unlabelled samples; without X, samples drawn from its boxes stand for them.
    y : array-like of shape (n_samples,), default=None
        Of kind "model": labels of these samples, with gaps, to count how often each rule is right. None: the labels
        that the model keeps; without evidence mapping, those of each box, counted at the middle of the box.
    kind : {"model", "boxes"}, default="model"
        "model": exclusive rules that give what the model predicts as often as so few can, and a default rule for the
        rest. "boxes": one rule per labelled box, as in the paper, with the counts of its labels. Where one box decides
        a prediction, as with one-to-many and one-to-one mapping, these are exact; with evidence mapping the model may
        predict another class inside a box.
    max_rules : int, default=None
        Of kind "model": how many rules at most, the default rule included. None: 12.
    max_conditions : int, default=None
        Of kind "model": how many conditions a rule may have, at most one per feature; a range with two ends is one
        condition. None: 4.
    levels : int, or mapping from feature to int or to cut points, default=None
        Of kind "boxes": Q, the number of levels of a feature, V_q = (q - 1) / (Q - 1); each side of a box gets the
        nearest level. Or the cut points of an expert: increasing values in the units of the feature give one level more
        than there are cuts, and the level of a value is one more than the number of cuts below it. Features that a
        mapping leaves out have 5 levels. Categories have none. None: 5.
    terms : sequence of str, or mapping from feature to a sequence of str, default=None
        Of kind "boxes": names of the levels. None: "Very Small" to "Very Large".
    min_confidence : float, default=None
        Of kind "boxes": leave out rules whose class has less than this share of their labelled samples. None: 0.
    min_support : float, default=None
        Of kind "boxes": leave out rules with fewer samples than this, labelled and unlabelled. None: 0.
    simplify : False or (X, y), default=None
        Of kind "boxes": labelled samples, such as those the model has learnt. Rules are then merged with their
        neighbours and lose conditions as long as `RuleSet.predict` gives the same class for each of these samples;
        `RuleSet.dropped` lists what was merged and left out. Only the last rule may lose all its conditions: it is then
        for the samples that lie in no other rule. Samples without a label do not count. The model keeps no samples, so
        that `True` is refused. A model with evidence mapping is refused too, because no single rule decides its
        predictions. None: False.

    Returns
    -------
    ModelRuleSet or RuleSet
        Of kind "model": by falling coverage, the default rule last. Of kind "boxes": by falling confidence factor, then
        falling support.

    Notes
    -----
    Rules of the model are read from a decision tree that imitates it, on the samples given and on others drawn between
    them, all labelled by the model. Several trees are grown by information gain, each cut back to the part with the
    fewest errors for this number of rules (leaves of the default class need no rule) and improved by alternating
    optimisation of its splits; the one that agrees with the model most often is kept. Conditions that almost nothing
    depends on are then left out. No random seed is needed: the
    same model and samples give the same rules.

    Of an ensemble, rules of boxes that read the same (one class, the same levels in every feature) become one. It lists
    the members that have it, adds up their counts and supports, and covers their ranges in the user's units.

    The confidence factor of a box is that of Carpenter and Tan (1995), by which they prune rules:
    CF_j = γ U_j + (1 - γ) A_j with γ = 0.5. Usage U_j is the number of labelled samples of its class that rule j has
    learnt, divided by the highest number of a rule for this class. Accuracy A_j is the share of its class among the
    labelled samples of rule j, divided by the highest share of a rule for this class. Merged rules of an ensemble count
    as one; a rule merged by `simplify` has the highest factor of its parts.

    A range of levels covers the box: from the lower end of its first level to the upper end of its last one. Levels
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
