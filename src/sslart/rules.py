"""Rules: what a classifier has learnt, as if-then rules in words, levels and the user's units."""

from __future__ import annotations

import importlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sslart._classes import Label
from sslart._classifier import AbstainingClassifier, as_known, check_has_label
from sslart._levels import Condition, Rule, known, scales_of
from sslart._reasons import speaks
from sslart._rule_text import columns, markdown, page, row, rule_text, rule_values, scale_values
from sslart._simplify import Domain, RuleReader, simplified
from sslart._validate import BoolArray, FloatArray, IntArray, check_number, read_labels

__all__ = ["Condition", "Rule", "RuleSet", "rules_of"]

USAGE_SHARE = 0.5  # γ of Carpenter and Tan


@dataclass(frozen=True, eq=False, repr=False)
class RuleSet(Sequence[Rule]):
    """Rules in an immutable sequence, the best first, that can be read, filtered, exported and asked.

    Made by `rules_of`, not by hand. Slices and filters are rule sets again.

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
    >>> rules = rules_of(SSLART(vigilance=0.5, random_state=0).fit(data.data, y))
    >>> rules
    RuleSet of 5 rules for 3 classes over 4 features
    >>> print(rules.filter(label="setosa")[:1].to_text())
    Rule 1: If sepal length (cm) is from “Very Small” to “Medium” [4.3, 5.7], AND
       petal length (cm) is from “Very Small” to “Medium” [1, 3.3], AND
       petal width (cm) is from “Very Small” to “Medium” [0.1, 1.1]
    Then setosa with confidence estimate=0.941.
       (else versicolor 0.059; support 51, 51 of them labelled)
    >>> list(rules.to_frame()["petal length (cm)"])
    ['3', '1-3', '3-5', '4-5', '1']
    >>> rules.answer(data.data[::100])
    array(['setosa', 'virginica'], dtype='<U10')
    """

    _rules: tuple[Rule, ...]
    _domain: Domain
    dropped: tuple[str, ...] = ()

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
            return RuleSet(self._rules[place], self._domain, self.dropped)
        return self._rules[place]

    def __repr__(self) -> str:
        plural = "" if len(self) == 1 else "s"
        return (
            f"RuleSet of {len(self)} rule{plural} for {len(self.classes)} classes over "
            f"{len(self.feature_names)} features"
        )

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes of the model, sorted."""
        return tuple(self._domain.classes.classes.tolist())

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features that the conditions of each rule are about, in their order."""
        return tuple(scale.feature for scale in self._domain.scales)

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
            Only rules that name this class.
        min_confidence : float, default=0
            Only rules whose class has at least this share of their labelled samples.
        min_support : float, default=0
            Only rules with at least so many samples, labelled and unlabelled.
        feature : str, default=None
            Only rules that ask something of this feature.

        Returns
        -------
        RuleSet
        """
        confidence = check_number("filter", "min_confidence", min_confidence, 0, 1)
        support = check_number("filter", "min_support", min_support, 0)
        if label is not None and label not in self.classes:
            raise ValueError(f"The model has no class {label!r}. {known(self.classes, 'classes')}")
        if feature is not None and feature not in self.feature_names:
            raise ValueError(f"The model has no feature {feature!r}. {known(self.feature_names)}")
        place = None if feature is None else self.feature_names.index(feature)
        kept = [
            rule
            for rule in self
            if (label is None or rule.label == label)
            and rule.confidence >= confidence
            and rule.support >= support
            and (place is None or not rule.conditions[place].full_range)
        ]
        return RuleSet(tuple(kept), self._domain, self.dropped)

    def answer(self, X: Any) -> NDArray[Any]:
        """Name the class of each sample by the rules alone: that of the nearest rule.

        Nearest is the box of least L1 distance, in features scaled to [0, 1], over the features that the rule asks
        something of and the sample has; on ties the rule with the higher confidence factor, then the first. The
        model's own `predict` also weighs the size of the boxes, asks the members of an ensemble one by one, and with
        evidence mapping hears all boxes, so that it may say otherwise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features, as the model takes them.

        Returns
        -------
        array of shape (n_samples,)
        """
        if not self._rules:
            raise ValueError("There is no rule to answer with: lower min_confidence or min_support, or filter less.")
        samples = self._domain.code(self._domain.coding.matrix(self._domain.read(X)))
        labels = np.array([self.classes.index(rule.label) for rule in self])
        return np.asarray(self._domain.classes.classes[labels[self._domain.winners(self, samples)]])

    def to_text(self) -> str:
        """Return the rules in words, as the paper prints them, with ranges in the user's units in brackets.

        Features of which a rule asks nothing are left out. A rule that asks nothing at all reads "If anything"; as
        the last of several it gets the samples that lie in no other rule, and reads "Otherwise".
        """
        texts = (
            rule_text(number, rule, self._domain.scales, self._domain.n_members, is_last=number == len(self))
            for number, rule in enumerate(self, start=1)
        )
        return "\n\n".join(texts)

    def to_frame(self) -> Any:
        """Return the paper's rule table as a pandas DataFrame, numbered from 1.

        A cell holds the level of a feature ("1"), its first and last level ("2-3"), its categories ("blue|red"), or
        "any". Behind the features stand the label, the confidence of each class, support, how many of it were
        labelled, the number of members that hold the rule, and the confidence factor; with evidence mapping also what
        its box says for each class, NaN where it is silent. A feature called like one of
        these columns, such as "label", stands as "feature label"; so it does in Markdown and HTML.
        """
        try:
            pd = importlib.import_module("pandas")
        except ImportError as error:
            raise ImportError(
                "to_frame needs pandas: pip install pandas. to_dict, to_markdown and to_text do without."
            ) from error
        index = pd.RangeIndex(1, len(self) + 1, name="No.")
        return pd.DataFrame(
            [row(rule, evidence=self._domain.has_evidence) for rule in self],
            index=index,
            columns=columns(self._domain.scales, self.classes, evidence=self._domain.has_evidence),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values: classes, features with their terms and cut points, rules, `dropped`."""
        return {
            "classes": list(self.classes),
            "n_members": self._domain.n_members,
            "features": [scale_values(scale) for scale in self._domain.scales],
            "rules": [rule_values(rule) for rule in self],
            "dropped": list(self.dropped),
        }

    def to_json(self, indent: int | None = None) -> str:
        """Return `to_dict` as JSON; classes that are keys become strings there.

        Parameters
        ----------
        indent : int, default=None
            How far to indent; None: all in one line.
        """
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_markdown(self) -> str:
        """Return the table of `to_frame` in Markdown."""
        return markdown(self, self._domain.scales, self.classes, evidence=self._domain.has_evidence)

    def _repr_html_(self) -> str:
        return page(self, self._domain.scales, self.classes, repr(self), evidence=self._domain.has_evidence)


def rules_of(
    model: Any,
    levels: Any = 5,
    terms: Any = None,
    min_confidence: float = 0,
    min_support: float = 0,
    simplify: Any = False,
) -> RuleSet:
    """Return what a classifier has learnt as if-then rules, one per labelled box.

    Of an ensemble, rules that read the same (one class, the same levels in every feature) become one: it says which
    members hold it, has their counts and supports added, and the hull of their ranges in the user's units.

    Parameters
    ----------
    model : fitted FuzzyARTMAP, SSLART or WESSLART
    levels : int, or mapping from feature to int or to cut points, default=5
        Q: into how many levels the range of a feature is put, V_q = (q - 1) / (Q - 1), each side of a box going to the
        nearest. Or where an expert cuts: increasing values in the units of the feature make one level more than there
        are cuts, and the level of a value is one more than the number of cuts below it. Features that a mapping leaves
        out have 5 levels. Categories have none.
    terms : sequence of str, or mapping from feature to a sequence of str, default=None
        What the levels are called. None: "Very Small" to "Very Large".
    min_confidence : float, default=0
        Leave out rules whose class has less than this share of their labelled samples.
    min_support : float, default=0
        Leave out rules with fewer samples than this, labelled and unlabelled.
    simplify : False or (X, y), default=False
        Labelled samples, such as those the model has learnt. Rules are then merged with their neighbours and lose
        conditions as long as `RuleSet.answer` says the same of each of these samples; `RuleSet.dropped` tells what
        went. Only the last rule may lose all its conditions: it is then for what the others leave. Samples without
        a label do not count. The model keeps no samples, so that `True` is refused. So is a model with evidence
        mapping: there no single rule answers.

    Returns
    -------
    RuleSet
        By falling confidence factor, then falling support.

    Notes
    -----
    The confidence factor is that of Carpenter and Tan (1995), by which they prune rules:
    CF_j = γ U_j + (1 - γ) A_j with γ = 0.5. Usage U_j is how many labelled samples of its class rule j has coded,
    divided by the most that a rule for this class has. Accuracy A_j is the share of its class among the labelled
    samples of rule j, divided by the highest share that a rule for this class has. Merged rules of an ensemble count
    as one; a rule merged by `simplify` has the better factor of its parts.

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
    >>> width = {"petal width (cm)": [0.8, 1.6]}  # cut by an expert: three levels
    >>> rules = rules_of(model, levels=width, terms={"petal width (cm)": ["narrow", "middling", "broad"]})
    >>> rules[3].conditions[3].terms
    ('broad',)
    >>> short = rules_of(model, simplify=(data.data, y))
    >>> print(short[:2].to_text())
    Rule 1: If sepal length (cm) is from “Small” to “Medium” [4.9, 6], AND
       petal length (cm) is “Medium” [3.5, 4.5]
    Then versicolor with confidence estimate=0.947.
       (else virginica 0.053; support 19, 19 of them labelled)
    <BLANKLINE>
    Rule 2: If petal length (cm) is from “Very Small” to “Medium” [1, 3.3]
    Then setosa with confidence estimate=0.943.
       (else versicolor 0.057; support 53, 53 of them labelled)
    >>> short.dropped[0]
    'setosa, node 1: merged with node 4'
    """
    domain = _domain_of(model, levels, terms)
    if domain.has_evidence and simplify is not False:
        raise ValueError(
            "simplify keeps the answers of the nearest rule, but with mapping='evidence' no single rule answers: all "
            "boxes speak. Leave simplify at False, or fit with mapping='one-to-many'."
        )
    confidence = check_number("rules", "min_confidence", min_confidence, 0, 1)
    support = check_number("rules", "min_support", min_support, 0)
    samples = None if simplify is False else _read_simplify(model, domain, simplify)
    rules = _extract(model, domain, confidence, support)
    if samples is None:
        return RuleSet(tuple(rules), domain)
    fewer, dropped = simplified(rules, domain, samples)
    return RuleSet(tuple(fewer), domain, dropped)


def _domain_of(model: Any, levels: Any, terms: Any) -> Domain:
    if not isinstance(model, AbstainingClassifier):
        raise TypeError(
            f"Rules are made of a classifier of sslart, got a {type(model).__name__}. Of a pipeline or a search give "
            "the fitted classifier inside, such as pipeline[-1] or search.best_estimator_."
        )
    check_is_fitted(model)
    check_has_label(model._table)
    members = _members_of(model)
    coding = members[0]._network.coding
    reader = RuleReader.of(model)
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    names = names or [f"x{column}" for column in range(reader.n_features_in_)]
    return Domain(coding, scales_of(coding, names, levels, terms), model._table, len(members), reader, speaks(model))


def _members_of(model: Any) -> list[Any]:
    return getattr(model, "estimators_", [model])


def _read_simplify(model: Any, domain: Domain, simplify: Any) -> FloatArray:
    """Return the labelled samples of `simplify=(X, y)`, coded."""
    try:
        X, y = simplify
    except (TypeError, ValueError):
        raise ValueError(
            "simplify must be False or a pair of labelled samples: simplify=(X, y), such as those the model has "
            "learnt. The model does not keep them, and without them nothing could tell which answers change."
        ) from None
    table = domain.read(X)
    labels = as_known(model._table, read_labels(y, table))
    if not labels.known.any():
        raise ValueError("simplify=(X, y) has no labelled sample in y: give the classes of some samples.")
    return domain.code(domain.coding.matrix(table[labels.known]))


def _extract(model: Any, domain: Domain, min_confidence: float, min_support: float) -> list[Rule]:
    """Return the rules of all labelled nodes, those of an ensemble merged where they read the same."""
    members = _members_of(model)
    holders = np.repeat(np.arange(len(members)), [member.n_nodes_ for member in members])
    places = np.concatenate([member._places(np.arange(member.n_nodes_)) for member in members])
    nodes = np.flatnonzero(np.concatenate([member._labelled_nodes() for member in members]))
    boxes = [member._network.prototypes.boxes() for member in members]
    lower, upper = (np.concatenate(sides)[nodes] for sides in zip(*boxes, strict=True))
    counts, support, places = model.counts_[nodes], model.support_[nodes], places[nodes]
    groups = [np.array([node]) for node in range(len(nodes))]
    if hasattr(model, "estimators_"):
        groups = _groups(_readings(domain, lower, upper, places))
        first = [group[0] for group in groups]
        lower = np.array([lower[group].min(axis=0) for group in groups])  # a side not reached yet is (1, 0)
        upper = np.array([upper[group].max(axis=0) for group in groups])
        counts = np.array([counts[group].sum(axis=0) for group in groups])
        support = np.array([support[group].sum() for group in groups])
        places = places[first]
    said = _evidence_of(model, members)[nodes]
    own = counts[np.arange(len(places)), places]
    confidence = own / counts.sum(axis=1)
    factors = _confidence_factors(own, confidence, places)
    kept = np.flatnonzero((confidence >= min_confidence) & (support >= min_support))
    kept = kept[np.lexsort((-support[kept], -factors[kept]))]
    classes = domain.classes.classes.tolist()
    return [
        Rule(
            classes[places[place]],
            conditions,
            dict(zip(classes, counts[place].tolist(), strict=True)),
            int(support[place]),
            float(factors[place]),
            tuple(nodes[groups[place]].tolist()),
            tuple(np.unique(holders[nodes[groups[place]]]).tolist()),
            _evidence_together(said[groups[place]], holders[nodes[groups[place]]], classes),
        )
        for place, conditions in zip(kept, domain.conditions(lower[kept], upper[kept]), strict=True)
    ]


def _evidence_of(model: Any, members: list[Any]) -> FloatArray:
    """Return what each node of all members says for each class of a sample inside it; NaN where it is silent."""
    said = np.full((sum(member.n_nodes_ for member in members), len(model.classes_)), np.nan)
    if not speaks(model):
        return said
    start = 0
    for member in members:
        landmarks = member._landmarks()
        full = member._heard().readout.at_full_strength(len(landmarks))
        every = np.where(np.isnan(full[:, :1]), np.nan, np.zeros((len(full), said.shape[1])))
        every[:, member._table.sorted_codes()] = full
        said[start + landmarks] = every
        start += member.n_nodes_
    return said


def _evidence_together(said: FloatArray, holders: IntArray, classes: list[Any]) -> dict[Label, float] | None:
    """Return what the nodes of a rule say together, the mean over its members; None where all are silent."""
    if np.isnan(said).all():
        return None
    total = np.nansum(said, axis=0) / len(np.unique(holders))
    return dict(zip(classes, total.tolist(), strict=True))


def _confidence_factors(own: IntArray, confidence: FloatArray, places: IntArray) -> FloatArray:
    """Return the confidence factor of each rule, from the samples of its own class, their share, and its class."""
    most, best = np.zeros(places.max() + 1), np.zeros(places.max() + 1)
    np.maximum.at(most, places, own)
    np.maximum.at(best, places, confidence)
    return np.asarray(USAGE_SHARE * own / most[places] + (1 - USAGE_SHARE) * confidence / best[places])


def _readings(domain: Domain, lower: FloatArray, upper: FloatArray, places: IntArray) -> IntArray:
    """Return a row of numbers for each box, equal where boxes read the same: class, levels and categories."""
    full: BoolArray = domain.spans(lower, upper)
    low, high = domain.levels(lower, upper)
    allowed = [
        (upper[:, scale.positions] > 0) & ~full[:, [place]]
        for place, scale in enumerate(domain.scales)
        if scale.categories is not None
    ]
    return np.column_stack([places, np.where(full, 0, low), np.where(full, 0, high), *allowed])


def _groups(readings: IntArray) -> list[IntArray]:
    """Return the places of equal rows, group by group."""
    groups = defaultdict(list)
    for place, reading in enumerate(readings):
        groups[reading.tobytes()].append(place)
    return [np.array(group) for group in groups.values()]
