"""Rules: what a classifier has learnt, as if-then rules in words, levels and the user's units."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sslart._data.classes import Label
from sslart._data.labels import read_labels
from sslart._data.training import as_known, check_has_label
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.params import check_number
from sslart.estimators._classifier import AbstainingClassifier
from sslart.explain._search import speaks
from sslart.rules._rule_set import RuleSet
from sslart.rules._scales import Rule, scales_of
from sslart.rules._simplify import Domain, RuleReader, simplified

USAGE_SHARE = 0.5  # γ of Carpenter and Tan


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
    every = RuleSet(tuple(_extract(model, domain)), domain)
    rules = every.filter(min_confidence=confidence, min_support=support)
    if samples is None:
        return rules
    fewer, dropped = simplified(list(rules), domain, samples)
    return RuleSet(tuple(fewer), domain, dropped)


def _domain_of(model: Any, levels: Any, terms: Any) -> Domain:
    if not isinstance(model, AbstainingClassifier):
        raise TypeError(
            f"Rules are made of a classifier of sslart, got a {type(model).__name__}. Of a pipeline or a search give "
            "the fitted classifier inside, such as pipeline[-1] or search.best_estimator_."
        )
    check_is_fitted(model)
    check_has_label(model._class_table)
    members = _members_of(model)
    encoder = members[0]._network.encoder
    reader = RuleReader.of(model)
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    names = names or [f"x{column}" for column in range(reader.n_features_in_)]
    return Domain(
        encoder, scales_of(encoder, names, levels, terms), model._class_table, len(members), reader, speaks(model)
    )


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
    labels = as_known(model._class_table, read_labels(y, table))
    if not labels.known.any():
        raise ValueError("simplify=(X, y) has no labelled sample in y: give the classes of some samples.")
    return domain.code(domain.encoder.matrix(table[labels.known]))


def _extract(model: Any, domain: Domain) -> list[Rule]:
    """Return the rules of all labelled nodes, those of an ensemble merged where they read the same."""
    members = _members_of(model)
    holders = np.repeat(np.arange(len(members)), [member.n_nodes_ for member in members])
    places = np.concatenate([member._places(np.arange(member.n_nodes_)) for member in members])
    nodes = np.flatnonzero(np.concatenate([member._labelled_nodes() for member in members]))
    boxes = [member._network.nodes.boxes() for member in members]
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
    order = np.lexsort((-support, -factors))
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
        for place, conditions in zip(order, domain.conditions(lower[order], upper[order]), strict=True)
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
        every[:, member._class_table.sorted_codes()] = full
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
