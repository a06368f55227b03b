"""Checks of a fitted model on held-out samples."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.stats import binom

from sslart import AutoSSLART
from trust.draws import Draw

Figures = dict[str, Any]
COVERAGES = (0.8, 0.9, 0.95)
SETS = {**{f"{level:g}": (level, False) for level in COVERAGES}, "0.9 per class": (0.9, True)}
MAX_ERRORS = (0.05, 0.1, 0.2)
CERTAIN, AVERAGE = "certain", "average"
SENSES = {CERTAIN: 0.9, AVERAGE: None}  # in which `max_error` holds, with the parameter `confidence`
BY_CHANCE = 0.05  # with which a limit that is just kept would show as many wrong answers on the test part
FALSE_ALARMS = (0.01, 0.05, 0.1)
FEW_OF_A_CLASS = 20  # a class with fewer test samples is not judged by itself


def fitted(given: Draw, updates: int = 0) -> AutoSSLART:
    """Return a model of the training samples, updated so many times with the same samples."""
    options = {} if given.groups is None else {"groups": given.groups}
    model = AutoSSLART(random_state=0).fit(given.X, given.y, **options)
    for _ in range(updates):
        model.partial_fit(given.X, given.y, **options)
    return model


def measured(model: AutoSSLART, given: Draw) -> Figures:
    """Return all that is promised, and all that is found."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            **claims(model, given),
            "sets": sets(model, given),
            "answers": answers(model, given),
            "alarms": alarms(model, given),
        }


def claims(model: AutoSSLART, given: Draw) -> Figures:
    """Return the stated accuracy with its interval, and the accuracy that is found on new samples."""
    printed = model.quality_.accuracy
    predicted = model.predict(given.X_test)
    found: Figures = {
        "claim": None if printed is None else printed.value,
        "low": None if printed is None else printed.low,
        "high": None if printed is None else printed.high,
        "accuracy": float(np.mean(predicted == given.truth)),
        "confidence": float(model.predict_proba(given.X_test).max(axis=1).mean()),
        "n_test": len(given.truth),
    }
    if given.noisy_truth is not None:
        found["noisy"] = float(np.mean(predicted == given.noisy_truth))
    return found


def holds(found: Figures, truth: str = "accuracy", test_error: bool = True) -> bool:
    """Return True if the printed interval holds the value found.

    What is found is measured on a part of finite size and has an error of its own. With `test_error` the interval is
    widened by it: by the root of the sum of the squares of the two distances.
    """
    share = found[truth]
    error = 1.96 * np.sqrt(share * (1 - share) / found["n_test"]) if test_error else 0.0
    low = found["claim"] - np.hypot(found["claim"] - found["low"], error)
    high = found["claim"] + np.hypot(found["high"] - found["claim"], error)
    return bool(low - 1e-9 <= share <= high + 1e-9)


def sets(model: AutoSSLART, given: Draw) -> dict[str, Figures]:
    """Return the measures of `predict_set` at each level, for all classes and for each."""
    return {
        name: of_sets(model.predict_set(given.X_test, coverage=level, per_class=per_class), model.classes_, given)
        for name, (level, per_class) in SETS.items()
    }


def of_sets(members: np.ndarray, classes: np.ndarray, given: Draw) -> Figures:
    """Return the share of sets with the true class, their size, and the errors of sets of one class as answers."""
    place = {str(label): index for index, label in enumerate(classes)}
    held = _held(members, place, given.truth)
    single = members.sum(axis=1) == 1
    by_class = [held[given.truth == label].mean() for label in place if np.sum(given.truth == label) >= FEW_OF_A_CLASS]
    found = {
        "held": float(held.mean()),
        "size": float(members.sum(axis=1).mean()),
        "empty": float(np.mean(~members.any(axis=1))),
        "answered": float(single.mean()),
        "wrong": float(np.mean(single & ~held)),
        "mean of classes": float(np.mean(by_class)) if by_class else None,
        "worst class": float(np.min(by_class)) if by_class else None,
    }
    if given.noisy_truth is not None:
        found["noisy"] = float(_held(members, place, given.noisy_truth).mean())
    return found


def _held(members: np.ndarray, place: dict[str, int], truth: np.ndarray) -> np.ndarray:
    """Return a mask of the sets that hold the true class; a class that the model does not know is in none."""
    index = np.array([place.get(str(label), -1) for label in truth])
    return np.where(index >= 0, members[np.arange(len(index)), index], False)


def answers(model: AutoSSLART, given: Draw) -> dict[str, dict[str, Figures]]:
    """Return the shares of samples answered, and answered wrongly, with `max_error` in each sense."""
    return {
        f"{level:g}": {sense: _answers(model, given, level, confidence) for sense, confidence in SENSES.items()}
        for level in MAX_ERRORS
    }


def _answers(model: AutoSSLART, given: Draw, level: float, confidence: float | None) -> Figures:
    predicted = model.set_params(max_error=level, confidence=confidence).predict(given.X_test)
    model.set_params(max_error=None, confidence=SENSES[CERTAIN])
    answered = np.array([label is not None for label in predicted])
    found = {"answered": float(answered.mean()), "wrong": float(np.mean(answered & (predicted != given.truth)))}
    if given.noisy_truth is not None:
        found["noisy"] = float(np.mean(answered & (predicted != given.noisy_truth)))
    return found


def answering(results: Iterable[Figures], level: str, sense: str) -> list[Figures]:
    return [one for one in results if one["answers"][level][sense]["answered"] > 0]


def exceeds(one: Figures, level: str, sense: str) -> bool:
    """Return True if more of the answers on the test part are wrong than the limit allows."""
    found = one["answers"][level][sense]
    return bool(found["wrong"] > float(level) * found["answered"] + 1e-9)


def exceeds_clearly(one: Figures, level: str, sense: str) -> bool:
    """Return True if that is more than the finite test part explains."""
    found = one["answers"][level][sense]
    n_answered, n_wrong = (round(found[name] * one["n_test"]) for name in ("answered", "wrong"))
    return exceeds(one, level, sense) and bool(binom.sf(n_wrong - 1, n_answered, float(level)) < BY_CHANCE)


def alarms(model: AutoSSLART, given: Draw) -> dict[str, float]:
    """Return the share of the test samples that are taken for novel, by the stated share of false alarms."""
    p_values = model.novelty_pvalues(given.X_test)
    return {f"{level:g}": float(np.mean(p_values <= level)) for level in FALSE_ALARMS}
