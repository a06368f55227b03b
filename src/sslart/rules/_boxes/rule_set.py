"""A set of rules: a sequence to read, filter and export, which can also predict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from sslart._data.labels import Label
from sslart._utils.optional import optional
from sslart._utils.text import csv_text, json_text, plural
from sslart._utils.validation import check_number
from sslart.rules._boxes.domain import Domain
from sslart.rules._boxes.format import (
    columns,
    row,
    rule_text,
    rule_values,
    rules_html,
    rules_markdown,
    scale_values,
    value_cells,
)
from sslart.rules._boxes.rule import Rule
from sslart.rules._boxes.scales import Scale, known_names


@dataclass(frozen=True, eq=False, repr=False)
class RuleSet(Sequence[Rule]):
    """The rules of boxes, the best first, to read, filter, export and predict with.

    Made by `rules_of` with ``kind="boxes"``, not by hand. Immutable; slices and filters are rule sets again. A rule of
    a single model has the number of its box.

    Attributes
    ----------
    dropped : tuple of str
        What simplification merged and left out, in the order in which it did so.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import SSLART
    >>> from sslart.rules import rules_of
    >>> data = load_iris(as_frame=True)
    >>> y = data.target_names[data.target]
    >>> rules = rules_of(SSLART(vigilance=0.5, random_state=0).fit(data.data, y), kind="boxes")
    >>> rules
    RuleSet of 5 rules for 3 classes over 4 features
    >>> print(rules.filter(label="setosa")[:1].to_text())
    Box 1: If sepal length (cm) is from “Very Small” to “Medium” [4.3, 5.7], AND
       petal length (cm) is from “Very Small” to “Medium” [1, 3.3], AND
       petal width (cm) is from “Very Small” to “Medium” [0.1, 1.1]
    Then setosa with confidence estimate=0.941.
       (else versicolor 0.059; support 51, 51 of them labelled)
    >>> list(rules.to_frame()["petal length (cm)"])
    ['3', '1-3', '3-5', '4-5', '1']
    >>> rules.predict(data.data[::100])
    array(['setosa', 'virginica'], dtype='<U10')
    """

    _rules: tuple[Rule, ...]
    _domain: Domain
    dropped: tuple[str, ...] = ()
    _numbers: tuple[int, ...] | None = None

    @property
    def numbers(self) -> tuple[int, ...]:
        """The number of each rule; slices and filters keep it.

        It is that of its box, the row in `lower_` and `upper_` of the model, which stays the same while the model
        learns more: boxes are only added. Of boxes that `simplify` has merged it is the lowest. The rules of an
        ensemble stand for boxes of several members and are numbered from 1 in this list, anew for every list.
        """
        if self._domain.n_members == 1:
            return tuple(rule.nodes[0] for rule in self)
        return tuple(range(1, len(self) + 1)) if self._numbers is None else self._numbers

    def __len__(self) -> int:
        return len(self._rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules)

    @overload
    def __getitem__(self, place: int) -> Rule: ...
    @overload
    def __getitem__(self, place: slice) -> RuleSet: ...
    def __getitem__(self, place: int | slice) -> Rule | RuleSet:
        if isinstance(place, slice):
            return RuleSet(self._rules[place], self._domain, self.dropped, self.numbers[place])
        return self._rules[place]

    def __repr__(self) -> str:
        return (
            f"RuleSet of {plural(len(self), 'rule')} for {len(self.classes)} classes over "
            f"{len(self.feature_names)} features"
        )

    @property
    def noun(self) -> str:
        """Noun before the number of a rule: "Box", or in an ensemble "Boxes", a group of boxes with the same text."""
        return self._domain.noun

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes of the model, sorted."""
        return tuple(self._domain.classes.tolist())

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features that the conditions of each rule are about, in their order."""
        return tuple(scale.feature for scale in self.scales)

    @property
    def scales(self) -> tuple[Scale, ...]:
        """The scale of each feature: levels with their cut points and terms, or categories."""
        return self._domain.scales

    def filter(
        self,
        label: Label | None = None,
        *,
        min_confidence: float = 0,
        min_support: float = 0,
        feature: str | None = None,
    ) -> RuleSet:
        """Return some of the rules.

        Parameters
        ----------
        label : class, default=None
            Only rules that predict this class.
        min_confidence : float, default=0
            Only rules whose class has at least this share of their labelled samples.
        min_support : float, default=0
            Only rules with at least so many samples, labelled and unlabelled.
        feature : str, default=None
            Only rules with a condition on this feature.

        Returns
        -------
        RuleSet
        """
        confidence = check_number("filter", "min_confidence", min_confidence, 0, 1)
        support = check_number("filter", "min_support", min_support, 0)
        if label is not None and label not in self.classes:
            raise ValueError(f"The model has no class {label!r}. {known_names(self.classes, 'classes')}")
        if feature is not None and feature not in self.feature_names:
            raise ValueError(f"The model has no feature {feature!r}. {known_names(self.feature_names)}")
        place = None if feature is None else self.feature_names.index(feature)
        kept = [
            (rule, number)
            for rule, number in zip(self, self.numbers, strict=True)
            if (label is None or rule.label == label)
            and rule.confidence >= confidence
            and rule.support >= support
            and (place is None or not rule.conditions[place].full_range)
        ]
        rules, numbers = zip(*kept, strict=True) if kept else ((), ())
        return RuleSet(rules, self._domain, self.dropped, numbers)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each sample by the rules alone: that of the nearest rule.

        Nearest is the rule whose box has the smallest L1 distance to the sample, in features scaled to [0, 1]; features
        without a condition and missing values add nothing. On ties the rule with the higher confidence factor counts,
        then the first. The model's own `predict` also takes the size of the boxes into account, has each member of an
        ensemble vote, and with evidence mapping adds up the contributions of all boxes, so that it may predict another
        class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features, as the model takes them.

        Returns
        -------
        array of shape (n_samples,)
        """
        if not self._rules:
            raise ValueError("There is no rule to predict with: lower min_confidence or min_support, or filter less.")
        indices = np.array([self.classes.index(rule.label) for rule in self])
        return np.asarray(self._domain.classes[indices[self._domain.nearest(self, self._domain.encode(X))]])

    def to_text(self) -> str:
        """Return the rules in words, as the paper prints them, with ranges in the user's units in brackets.

        Features without a condition are left out. A rule without any condition reads "If anything"; as the last of
        several it is for the samples that lie in no other rule, and reads "Otherwise".
        """
        texts = (
            rule_text(number, rule, self._domain, is_rest=len(self) > 1 and rule is self._rules[-1])
            for number, rule in zip(self.numbers, self, strict=True)
        )
        return "\n\n".join(texts)

    def to_frame(self) -> Any:
        """Return the paper's rule table as a pandas DataFrame, with the numbers of the rules as index.

        A cell holds the level of a feature ("1"), its first and last level ("2-3"), its categories ("blue|red"), or
        "any". After the features come the label, the confidence of each class, support, how many of these samples were
        labelled, the number of members that have the rule, and the confidence factor; with evidence mapping also the
        evidence of its box for each class, NaN for a box without a weight. A feature called like one of these columns,
        such as "label", is called "feature label"; so it is in Markdown and HTML.
        """
        pd = optional("pandas", "data")
        index = pd.Index(self.numbers, name="No.", dtype="int64")
        return pd.DataFrame([row(rule, self._domain) for rule in self], index=index, columns=columns(self._domain))

    def to_csv(self, *, keep_formulas: bool = False) -> str:
        """Return the table of `to_frame` as CSV, followed by the values behind the levels.

        These are "<feature> from" and "<feature> to" for each numeric feature, in the user's units; empty where a rule
        has no condition.

        Parameters
        ----------
        keep_formulas : bool, default=False
            Whether names and cells that a spreadsheet would compute, such as ``=1+1``, stay as they are. If not, an
            apostrophe comes before them, which makes them text.
        """
        return csv_text(self.to_frame().join(self._value_frame()), keep_formulas=keep_formulas)

    def _value_frame(self) -> Any:
        pd = optional("pandas", "data")
        index = pd.Index(self.numbers, name="No.", dtype="int64")
        return pd.DataFrame([value_cells(rule) for rule in self], index=index)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values: classes, features with their terms and cut points, rules, `dropped`."""
        return {
            "kind": "boxes",
            "classes": list(self.classes),
            "n_members": self._domain.n_members,
            "features": [scale_values(scale) for scale in self.scales],
            "rules": [{"number": number, **rule_values(rule)} for number, rule in zip(self.numbers, self, strict=True)],
            "dropped": list(self.dropped),
        }

    def to_json(self, indent: int | None = None) -> str:
        """Return `to_dict` as JSON; classes that are keys become strings there.

        Parameters
        ----------
        indent : int, default=None
            Width of an indentation; None: all in one line.
        """
        return json_text(self.to_dict(), indent)

    def to_markdown(self) -> str:
        """Return the table of `to_frame` in Markdown."""
        return rules_markdown(self, self.numbers, self._domain)

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_html(self) -> str:
        """Return the table of `to_frame` in HTML; a cell shows its terms and range under the mouse pointer."""
        return rules_html(self, self.numbers, self._domain, repr(self))
