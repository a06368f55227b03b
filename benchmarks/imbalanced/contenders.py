"""Contenders on imbalanced classes, and the measurement of one contender on one task."""

from __future__ import annotations

import importlib
import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, balanced_accuracy_score, f1_score

from accuracy.contenders import Method, Samples, samples_for
from reproduction.framework.protocol import Exam
from sslart import AutoSSLART

MEASURES = {
    "balanced": "balanced accuracy",
    "f1": "F1 of the rare class",
    "precision_recall": "area under the precision–recall curve",
}


def _balanced_forest() -> Any:
    return importlib.import_module("imblearn.ensemble").BalancedRandomForestClassifier(random_state=0)


_OURS = partial(Method, samples="raw", unlabelled=True, own_labels=True)
OURS, BY_COSTS, WITH_NOTHING = "ours", "ours by costs", "ours with nothing set"
RANKED = {
    OURS: _OURS(partial(AutoSSLART, class_weight="balanced", random_state=0)),
    "random forest": Method(partial(RandomForestClassifier, class_weight="balanced_subsample", random_state=0)),
    "extra trees": Method(partial(ExtraTreesClassifier, class_weight="balanced", random_state=0)),
    "logistic regression": Method(
        partial(LogisticRegression, class_weight="balanced", max_iter=1000, random_state=0), "standard"
    ),
    "balanced forest": Method(_balanced_forest),
}
# in place of ours: costs instead of weights, and neither; one fit is measured for both
REFERENCES = {
    BY_COSTS: _OURS(partial(AutoSSLART, decision_costs="balanced", random_state=0)),
    WITH_NOTHING: _OURS(partial(AutoSSLART, random_state=0)),
}
METHODS = RANKED | REFERENCES


def is_ours(method: str) -> bool:
    """Return True if a method is one of ours, whose results depend on the version."""
    return method.startswith(OURS)


def measure(name: str, samples: Samples, exam: Exam) -> dict[str, dict[str, float]]:
    """Return balanced accuracy, F1 of the rare class and average precision, in per cent, by method.

    A model with costs is measured without them too: they change what is predicted, and nothing of what is learnt.
    """
    method = METHODS[name]
    training, labels, test = samples_for(method, samples)
    model = method.make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(training, labels)
        found = {name: _scores(model, method, samples, test, exam)}
        if name == BY_COSTS:
            model.set_params(decision_costs=None)
            found[WITH_NOTHING] = _scores(model, method, samples, test, exam)
    return found


def _scores(model: Any, method: Method, samples: Samples, test: Any, exam: Exam) -> dict[str, float]:
    predicted, proba = model.predict(test), model.predict_proba(test)
    classes = model.classes_ if method.own_labels else samples.classes[model.classes_]
    names = predicted if method.own_labels else samples.classes[predicted]
    is_rare, predicted_rare = exam.truth == exam.positive, np.asarray(names) == exam.positive
    of_rare = proba[:, list(classes).index(exam.positive)]
    return {
        "balanced": 100 * float(balanced_accuracy_score(is_rare, predicted_rare)),
        "f1": 100 * float(f1_score(is_rare, predicted_rare, zero_division=0)),
        "precision_recall": 100 * float(average_precision_score(is_rare, of_rare)),
    }
