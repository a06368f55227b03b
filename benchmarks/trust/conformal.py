"""Prediction sets of MAPIE with the same classifier and with a random forest, on the same splits."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold

from accuracy.contenders import Samples
from reproduction.framework.protocol import Task, rows_of
from sslart import AutoSSLART
from sslart.model_selection import WithUnlabelled
from trust.draws import Draw

N_FOLDS = 5
CROSS, SPLIT, FOREST = "MAPIE cross, AutoSSLART", "MAPIE split, AutoSSLART", "MAPIE cross, random forest"
RIVALS = (CROSS, SPLIT, FOREST)


def possible_levels(rival: str, given: Draw, levels: tuple[float, ...]) -> tuple[float, ...]:
    """Return the levels that MAPIE takes with the labels there are; with others, it refuses all of them."""
    n_measured = len(given.labelled) // 2 if rival == SPLIT else len(given.labelled)
    return tuple(level for level in levels if n_measured > 1 / (1 - level) + 1e-9)


def sets_of_mapie(rival: str, given: Draw, levels: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return classes, and which of them are in the set of each test sample at each level.

    Raises ValueError where MAPIE refuses: too few labels, or a class that is in one part of the labels only.
    """
    from mapie.classification import CrossConformalClassifier, SplitConformalClassifier

    labelled = given.labelled
    classes, codes = np.unique(given.y[labelled].astype(str), return_inverse=True)
    if rival == FOREST:
        training, test = Samples(Task(given.X, given.y, given.X_test, given.seed)).unit
        known, estimator = training[labelled], RandomForestClassifier(random_state=0)
    else:
        test, known = given.X_test, rows_of(given.X, labelled)
        others = np.setdiff1d(np.arange(len(given.y)), labelled)
        estimator = WithUnlabelled(AutoSSLART(random_state=0), unlabelled=rows_of(given.X, others))
    if rival == SPLIT:
        half = len(labelled) // 2
        model = SplitConformalClassifier(estimator, confidence_level=list(levels), prefit=False)
        _checked(lambda: model.fit(rows_of(known, np.arange(half)), codes[:half]))
        _checked(lambda: model.conformalize(rows_of(known, np.arange(half, len(labelled))), codes[half:]))
    else:
        folds = KFold(N_FOLDS, shuffle=True, random_state=0)
        model = CrossConformalClassifier(estimator, confidence_level=list(levels), cv=folds, random_state=0)
        _checked(lambda: model.fit_conformalize(known, codes))
    return classes, np.asarray(_checked(lambda: model.predict_set(test))[1])


def _checked(call: Any) -> Any:
    """Return MAPIE's result; its warning that a model of categories is not fitted, which it raises, is no error."""
    try:
        return call()
    except UserWarning as warning:
        raise ValueError(str(warning)) from warning
