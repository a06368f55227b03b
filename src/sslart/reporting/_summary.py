"""Numbers of a report as plain data: samples, labels, quality, confidence, guarantees, rules and limits.

Dicts with the names used by the templates and by the JSON in the page; shares are `Estimate`s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sslart._data.labels import UNLABELLED, Label, Labels
from sslart._data.samples import Table
from sslart._mapping.conformal import certainty_text, measured_guarantees
from sslart._mapping.decision_rules import ErrorLevels
from sslart._mapping.loo_predictions import LooPredictions
from sslart._mapping.model_view import ModelView, view_of
from sslart._mapping.quality import ON_NEW, ModelQuality, learnt_samples, on_samples
from sslart._mapping.summary import label_counts
from sslart._utils.arrays import BoolArray, FloatArray
from sslart._utils.intervals import share
from sslart.active import LearningCurve, learning_curve
from sslart.explain import FeatureImportances, importances_of
from sslart.rules import rules_of
from sslart.rules._model_rules import condition_text

FEW_LABELS = 5
DEPTHS = (1, 2, 3, 5, 10)
EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)  # of confidence bins
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)  # of abstention
TIMES = (1, 2, 4, 10)  # multiples of the present number of labels
MAX_FEATURES = 15
MAX_EXPLAINED = 1000  # evenly spaced samples that importances are averaged over: more take minutes and change little

Numbers = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Observed:
    """A model, samples, and the predictions for them."""

    model: Any
    view: ModelView
    table: Table
    classes: list[Label]  # classes of the model, then those that only occur in the samples
    truth: list[Label | None]
    predicted: list[Label | None]  # None where the model abstains
    novel: BoolArray
    proba: FloatArray  # probability of each class of the model, whether it abstains or not
    held_out: bool | None = None  # whether the samples were not learnt by the model; None: unknown

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def importances(self) -> FeatureImportances:
        """Importances of the features of a model with evidence mapping, on at most `MAX_EXPLAINED` of the samples."""
        table = self.table
        if len(table) > MAX_EXPLAINED:
            table = table[np.linspace(0, len(table) - 1, MAX_EXPLAINED).astype(np.int64)]
        return importances_of(self.model, table)

    @cached_property
    def is_known(self) -> BoolArray:
        """Mask of samples of known class."""
        return np.array([label is not None for label in self.truth], dtype=bool)

    @cached_property
    def is_learnt(self) -> BoolArray:
        """Mask of samples of known class that the model has learnt with a label, which are excluded from quality."""
        if self.held_out is False:
            return self.is_known
        learnt = np.zeros(len(self), dtype=bool)
        learnt[self.is_known] = learnt_samples(self.view, self.table[np.flatnonzero(self.is_known)])
        return learnt

    @cached_property
    def quality(self) -> ModelQuality | None:
        """The quality on samples of known class that the model has not learnt; None if there are none."""
        rows = np.flatnonzero(self.is_known & ~self.is_learnt)
        if not len(rows):
            return None
        place: dict[Label | None, int] = {label: index for index, label in enumerate(self.classes)}
        place[None] = UNLABELLED
        truth = [label for label in (self.truth[row] for row in rows) if label is not None]
        predicted = np.array([place[self.predicted[row]] for row in rows], dtype=np.int64)
        return on_samples(self.classes, truth, predicted, self.proba[rows], np.arange(len(rows)), ON_NEW)

    @property
    def has_search_depth(self) -> bool:
        """True if the model has a parameter `search_depth`."""
        return "search_depth" in self.model.get_params()


def observe(model: Any, X: Any, y: Any, *, held_out: bool | None = None) -> Observed:
    """Predict samples with a fitted model."""
    view = view_of(model, "a fitted SSLART, FuzzyARTMAP or WESSLART")
    table = view.read(X)
    found = view.decide(table)
    labels = Labels.none(len(table))
    if y is not None:
        if hasattr(y, "__len__") and len(y) != len(table):
            raise ValueError(
                f"X has {len(table)} samples and y {len(y)}: give one label for each sample, -1 or None where not "
                "known."
            )
        labels = view.read_labels(y, table)
    classes = view.classes.tolist()
    truth = labels.plain()
    others = sorted({label for label in truth if label is not None} - set(classes))
    predicted = view.labels_or_none(found.indices)
    return Observed(model, view, table, classes + others, truth, predicted, found.is_novel, found.proba, held_out)


def summarise(observed: Observed) -> Numbers:
    """Return the numbers on samples, labels, features and classes, the quality of predictions, and limits."""
    beyond, classes = _beyond(observed), _classes(observed)
    return {
        "n_samples": len(observed),
        "n_labelled": int(observed.is_known.sum()),
        "n_learnt": int(observed.is_learnt.sum()),
        "features": _features(observed, beyond),
        "classes": classes,
        "quality": observed.quality,
        "limits": _limits(observed, classes, beyond),
    }


def _classes(observed: Observed) -> list[Numbers]:
    learnt = dict(zip(observed.view.classes.tolist(), label_counts(observed.view).tolist(), strict=True))
    given, predicted = Counter(observed.truth), Counter(observed.predicted)
    return [
        {
            "label": label,
            "n_samples": given[label],
            "n_predicted": predicted[label],
            "n_learnt": learnt.get(label, 0),
        }
        for label in observed.classes
    ]


def _beyond(observed: Observed) -> BoolArray:
    """Return a mask of values out of the learnt range or categories, shape (n_samples, n_columns)."""
    encoder, table = observed.view.members[0].encoder, observed.table
    beyond = np.zeros(table.values.shape, dtype=bool)
    for position, feature in enumerate(encoder.features):
        if feature.category is None and encoder.lower[position] <= encoder.upper[position]:
            values = table.values[:, feature.column]
            beyond[:, feature.column] = (values < encoder.lower[position]) | (values > encoder.upper[position])
    for column, given in table.categories.items():
        known = {feature.category for feature in encoder.features if feature.column == column}
        beyond[:, column] = [value is not None and value not in known for value in given]
    return beyond


def _missing(table: Table) -> BoolArray:
    missing = np.isnan(table.values)
    for column, given in table.categories.items():
        missing[:, column] = [value is None for value in given]
    return missing


def _features(observed: Observed, beyond: BoolArray) -> list[Numbers]:
    """Return the sample values and the learnt range or categories of each feature."""
    encoder, table = observed.view.members[0].encoder, observed.table
    n_missing, n_beyond = _missing(table).sum(axis=0).tolist(), beyond.sum(axis=0).tolist()
    found = []
    for column, name in enumerate(observed.view.feature_names):
        one: Numbers = {"name": name, "categorical": column in encoder.categorical, "n_missing": n_missing[column]}
        one |= dict.fromkeys(("low", "median", "high", "learnt_low", "learnt_high"))
        one |= {"categories": (), "learnt_categories": (), "n_beyond": n_beyond[column]}
        if one["categorical"]:
            counts = Counter(value for value in table.categories.get(column, ()) if value is not None)
            one["categories"] = counts.most_common()
            own = (feature.category for feature in encoder.features if feature.column == column)
            one["learnt_categories"] = sorted(own, key=str)
        else:
            known = table.values[~np.isnan(table.values[:, column]), column]
            if len(known):
                one |= {"low": float(known.min()), "median": float(np.median(known)), "high": float(known.max())}
            low, high = encoder.range_of(column)
            if low <= high:
                one |= {"learnt_low": low, "learnt_high": high}
        found.append(one)
    return found


def _limits(observed: Observed, classes: Sequence[Numbers], beyond: BoolArray) -> Numbers:
    """Return the limits of the model: weak evidence, novel samples, missing values. Counts are over all members."""
    view = observed.view
    labelled = np.concatenate([member.labels for member in view.members]) != UNLABELLED
    support = np.concatenate([member.support for member in view.members])
    return {
        "search_depth": view.search_depth or None,
        "n_nodes": len(labelled),
        "n_unlabelled_nodes": int((~labelled).sum()),
        "n_learnt": support.sum().item(),
        "n_learnt_unlabelled": support[~labelled].sum().item(),
        "n_samples": len(observed),
        "n_abstained": observed.predicted.count(None),
        "n_novel": int(observed.novel.sum()),
        "n_beyond": int(beyond.any(axis=1).sum()),
        "n_missing": int(_missing(observed.table).any(axis=1).sum()),
        "coverage": () if labelled.all() or not observed.has_search_depth else _coverage(observed),
        "few_labels": [one for one in classes if one["n_learnt"] < FEW_LABELS],
        "never_predicted": [one for one in classes if one["n_learnt"] and not one["n_predicted"]],
        "novelty_threshold": float(view.novelty_threshold),
        "novelty_promise": view.novelty.promise(),
    }


def _coverage(observed: Observed) -> list[tuple[int, int]]:
    """Return the number of samples with a prediction at each search depth, up to full coverage."""
    coverage: list[tuple[int, int]] = []
    for depth, indices in zip(DEPTHS, observed.view.predict_at_depths(observed.table, DEPTHS), strict=True):
        coverage.append((depth, int((indices != UNLABELLED).sum())))
        if coverage[-1][1] == len(observed):
            break
    return coverage


def confidence_of(observed: Observed, left_out: LooPredictions | None) -> Numbers:
    """Return calibration and abstention on the samples of known class, or else by leave-one-out."""
    highest: FloatArray = observed.proba.max(axis=1)
    known = np.flatnonzero(observed.is_known & ~observed.is_learnt)
    decided = observed.view.class_by(observed.proba)
    measured, confidence, of_left_out = highest[known], observed.proba[known, decided[known]], False
    names, truth = observed.view.classes[decided].tolist(), observed.truth
    right = np.array([names[row] == truth[row] for row in known], dtype=bool)
    if not known.size and left_out is not None:
        measured, confidence, right, of_left_out = left_out.highest, left_out.confidence, left_out.right, True
    lines: list[Numbers] = []
    for limit in (None, *THRESHOLDS):
        kept = measured >= (limit or 0.0)
        line = {
            "abstain_below": limit,
            "predicted": share(int((highest >= (limit or 0.0)).sum()), len(highest)),
            "right": share(int(right[kept].sum()), int(kept.sum())) if len(measured) else None,
        }
        if not lines or any(line[name] != lines[-1][name] for name in ("predicted", "right")):
            lines.append(line)
    bins = [
        {
            "low": low,
            "high": high,
            "mean_confidence": float(confidence[own].mean()),
            "right": share(int(right[own].sum()), int(own.sum())),
        }
        for low, high, own in confidence_bins(confidence)
    ]
    return {"of_left_out": of_left_out, "n_measured": len(measured), "bins": bins, "abstention": lines}


def confidence_bins(confidence: FloatArray) -> Iterator[tuple[float, float, BoolArray]]:
    """Yield the ends of each non-empty confidence bin, and a mask of its predictions; the last bin is closed."""
    places = np.minimum(np.searchsorted(EDGES, confidence, side="right") - 1, len(EDGES) - 2)
    for place in np.unique(places).tolist():
        yield EDGES[place], EDGES[place + 1], places == place


def guarantee_table(observed: Observed) -> Numbers | None:
    """Return the guarantees, with their effect on the samples of the report; None if they cannot be measured."""
    view, proba = observed.view, observed.proba
    found = measured_guarantees(view)
    if found is None:
        return None
    indices = view.class_by(proba)
    confidence, labels = proba[np.arange(len(proba)), indices], view.classes.tolist()
    may_answer = view.promises.may_answer(proba)
    known = observed.is_known & ~observed.is_learnt
    right = np.array([labels[index] == truth for index, truth in zip(indices, observed.truth, strict=True)], dtype=bool)
    lines = []
    for one in found.levels:
        least = one.certain.least_confidence
        kept = may_answer & (confidence >= (np.inf if least is None else least))
        wrong = share(int((kept & known & ~right).sum()), int((kept & known).sum())) if known.any() else None
        lines.append(
            {
                "max_error": one.max_error,
                "answered": one.certain.share if one.is_possible else None,
                "answered_on_average": one.on_average.share,
                "labels_needed": one.certain.labels_needed,
                "predicted": share(int(kept.sum()), len(kept)),
                "wrong": wrong,
            }
        )
    return {
        "n_labels": found.n_labels,
        "unit": found.unit,
        "certainty": certainty_text(found.certainty),
        "smallest_error": found.smallest_error,
        "worst_class": found.worst_class,
        "lines": lines,
    }


def max_error_text(levels: ErrorLevels | None, classes: list[object]) -> str | None:
    """Return the `max_error` of a model in words; None if not set."""
    if levels is None:
        return None
    sense = "on average over all labels that might have been given"
    if levels.certainty is not None:
        sense = f"with {certainty_text(levels.certainty)}"
    if levels.overall is not None:
        return f"at most {100 * levels.overall:g} % of the predictions are wrong, {sense}"
    parts = (f"at most {100 * level:g} % of the predictions of {classes[index]}" for index, level in levels.by_class)
    return f"{', '.join(parts)} are wrong, each {sense}"


def curve_of(observed: Observed) -> LearningCurve | None:
    """Return the learning curve of a model that stores labels; None for others."""
    return learning_curve(observed.model) if observed.view.left_out is not None else None


def more_labels(curve: LearningCurve | None) -> Numbers | None:
    """Return the expected accuracy with more labels; None without a curve."""
    if curve is None:
        return None
    numbers = () if curve.why_not else tuple(times * curve.n_now for times in TIMES)
    lines = [{"n_labels": n, "expected": curve.at(n)} for n in numbers]
    return {"n_labels": curve.n_now, "lines": lines, "why_not": curve.why_not}


def model_rules(observed: Observed, X: Any) -> Numbers | None:
    """Return a few rules that approximate a model; None if one box decides, so that box rules are exact."""
    if observed.view.decides_by_one_box:
        return None
    rules = rules_of(observed.model, X)
    lines = [
        {
            "number": rule.number,
            "label": rule.label,  # None where the model abstains
            "conditions": [condition_text(one) for one in rule.conditions],
            "covered": share(rule.n_covered, rules.n_samples),
            "agreeing": share(rule.n_agreeing, rule.n_held_out),
            "right": share(rule.right.count, rule.right.total),  # on the labels learnt
        }
        for rule in rules
    ]
    return {"lines": lines, "fidelity": share(sum(rule.n_agreeing for rule in rules), rules.n_held_out)}


def importance_lines(observed: Observed) -> tuple[list[Numbers], int]:
    """Return the most important features on samples of the report, and the number of other used features.

    Empty without evidence mapping.
    """
    if not observed.view.uses_evidence:
        return [], 0
    found = observed.importances
    largest = max(float(found.importances.max()), found.graph_importance) or 1.0
    amounts = sorted([*found.importances.tolist(), *([found.graph_importance] if found.graph.any() else [])])[::-1]
    lines = [
        {"name": name, "share": share, "amount": text, "words": words, "width": round(100 * amount / largest, 1)}
        for amount, (name, text, share, words) in zip(amounts, found.rows(), strict=True)
        if amount > 0
    ]
    return lines[:MAX_FEATURES], max(len(lines) - MAX_FEATURES, 0)
