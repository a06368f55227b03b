"""What-if: several unlike changes of one sample, each of which leads to another prediction."""

from __future__ import annotations

from typing import Any

import numpy as np

from sslart._data.labels import UNLABELLED, check_has_label
from sslart._mapping.model_view import ModelView, view_of
from sslart._utils.arrays import IntArray
from sslart._utils.text import list_text, plural, printable
from sslart._utils.validation import check_flag, check_whole
from sslart.explain._counterfactuals.changes import Counterfactual, CounterfactualTable
from sslart.explain._counterfactuals.choice import Choice, are_plausible, most_changes
from sslart.explain._counterfactuals.goal import Goal
from sslart.explain._counterfactuals.limits import Limits, present_class, read_limits, read_sample, read_target
from sslart.explain._counterfactuals.options import STAY, Options, options_of
from sslart.explain._counterfactuals.results import Counterfactuals
from sslart.explain._counterfactuals.several import SeveralChanges

MOST_ROUNDS = 10


def counterfactuals_of(
    model: Any,
    x: Any,
    target: Any = None,
    fixed: Any = (),
    ranges: Any = None,
    n: int = 3,
    *,
    plausible: bool = False,
) -> Counterfactuals:
    """Find several unlike changes of one sample, each of which leads to another prediction.

    Parameters
    ----------
    model : AutoSSLART, SSLART, FuzzyARTMAP or WESSLART
        A fitted classifier. It is not changed.
    x : one sample
        One value per feature: an array, a list, a pandas Series, a dict from feature to value, or a frame or an array
        of one row. NaN or None where a value is missing; such a feature does not change.
    target : class, default=None
        The class that is wanted; None for any other than the present prediction.
    fixed : list of str or int, default=()
        Features that never change, by name or column number.
    ranges : dict, default=None
        Limits of new values, from a feature (name or column number) to ``(low, high)``, None for a side without a
        limit, or to a list of the categories that are allowed. A value that stays as it is may lie outside.
    n : int, default=3
        How many changes are wanted.
    plausible : bool, default=False
        Whether changed samples must be plausible: not novel, and no new number among the lowest or highest hundredth
        of what was learnt; or no more so than the given sample. False: implausible ones are marked, and plausible ones
        are preferred where as few features change.

    Returns
    -------
    Counterfactuals
        Up to n of them, those of few features first. If there are fewer, its `note` gives the reason.

    Notes
    -----
    New values are values that occur: numbers within the learnt range, with no more decimals than the data, and
    categories that were learnt. Two changes are unlike if they change different features, or the same in another
    direction. Every feature alone is searched over all its values, or some hundred of them in large models; changes
    of two features, and of more, over some of theirs. Each counterfactual has been predicted by the model, and none
    has a change that it does not need. With a date, its hour, weekday and month change; these never change alone.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import AutoSSLART
    >>> from sslart.explain import counterfactuals_of
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = AutoSSLART(random_state=0).fit(X, y.where(y.index % 10 == 0, -1))
    >>> found = counterfactuals_of(model, X.iloc[70], target=2, fixed=["sepal width (cm)"], n=2)
    >>> print(found)
    Prediction: 1 (confidence 0.96). Each of these changes alone leads to 2:
      1. petal width (cm) 2.3 instead of 1.8: 2 (confidence 0.57)
      2. sepal length (cm) 6.1 instead of 5.9 and petal length (cm) 5.6 instead of 4.8: 2 (confidence 0.52)
    >>> model.predict(found.to_frame()[found.feature_names]).tolist()
    [1, 2, 2]
    """
    view = view_of(model, "a fitted AutoSSLART, SSLART, FuzzyARTMAP or WESSLART")
    wanted = check_whole("counterfactual", "n", n)
    assert wanted is not None
    plausible = check_flag("counterfactual", "plausible", plausible)
    check_has_label(view.class_table)
    sample = read_sample(view, x)
    present, confidence = present_class(view, sample)
    index = read_target(view, target, present)
    limits = read_limits(view, fixed, ranges)
    goal = Goal(view, sample, present, index, plausible=plausible)
    options = options_of(view, sample, limits, only_usual=plausible)
    found: IntArray = np.empty((0, len(options.values)), dtype=np.int64)
    if options.movable and goal.wanted.any():
        found = _search(goal, options, wanted)
    classes, names = view.classes.tolist(), view.feature_names
    return Counterfactuals(
        None if present == UNLABELLED else classes[present],
        confidence,
        None if index is None else classes[index],
        CounterfactualTable(names, classes, np.array([present]), sample, sample).sample(0),
        names,
        _note(view, goal, options, limits, index, found, wanted),
        _counterfactuals(view, goal, options, found),
    )


def _search(goal: Goal, options: Options, n: int) -> IntArray:
    """Return up to n unlike candidates that reach the goal."""
    search = SeveralChanges(goal, options)
    search.try_single_features()
    search.try_pairs()
    choice = Choice(goal, options, search.found)
    tried: set[frozenset[int]] = set()
    while len(chosen := choice.unlike(n)) < n and len(tried) < MOST_ROUNDS:
        columns = [frozenset(choice.sizes[one]) for one in chosen]
        every = frozenset[int]().union(*columns)
        each = [frozenset({column}) for column in sorted(every)]
        without = [one for one in (every, *columns, *each, frozenset[int]()) if one not in tried]
        if not without:
            break
        tried.add(without[0])
        search.try_more_features(without[0])
        choice = Choice(goal, options, search.found)
    return choice.candidates[sorted(chosen, key=lambda one: (choice.n_changes[one], choice.distances[one]))]


def _counterfactuals(view: ModelView, goal: Goal, options: Options, found: IntArray) -> tuple[Counterfactual, ...]:
    """Return candidates as data, each with what the model predicts for it."""
    if not len(found):
        return ()
    after = options.table_of(found)
    prediction = view.predict(after, want_proba=True)
    assert prediction.proba is not None
    indices, plausible, distances = prediction.indices, are_plausible(goal, options, found), options.distances(found)
    before = options.table[np.zeros(len(found), dtype=np.int64)]
    table = CounterfactualTable(view.feature_names, view.classes.tolist(), indices, before, after)
    return tuple(
        Counterfactual(
            table.classes[index],
            table,
            row,
            prediction.proba.item(row, index),
            distances.item(row),
            bool(plausible[row]),
        )
        for row, index in enumerate(indices.tolist())
    )


def _note(
    view: ModelView, goal: Goal, options: Options, limits: Limits, target: int | None, found: IntArray, n: int
) -> str:
    """Return why fewer changes were found than wanted, and what may help."""
    if len(found) >= n:
        return ""
    wanted = "another class" if target is None else printable(view.classes[target])
    if not goal.wanted.any():
        if target is None:
            return "The model has learnt one class only, so that no change leads to another."
        return f"The model has learnt no label of {wanted}, so that it never predicts this class."
    if not options.movable:
        return f"No feature can change: {_reasons(view, options)}."
    if len(found):
        most = min(most_changes(int((found != STAY).sum(axis=1).min())), len(options.movable))
        other = f"no other unlike change of up to {plural(most, 'feature')}"
        return f"Only {len(found)} of {plural(n, 'change')} wanted: {other} was found."
    cures = ["fix fewer features"] if limits.fixed else []
    cures += ["allow wider ranges"] if limits.numbers or limits.categories else []
    cures += ["allow samples that are not plausible"] if goal.plausible else []
    cure = f" Try this: {', or '.join(cures)}." if cures else ""
    which = list_text([printable(view.feature_names[column]) for column in options.movable])
    cannot = f" ({_reasons(view, options)})" if options.why_not else ""
    return f"No change of {which} to values that occur was found to lead to {wanted}{cannot}.{cure}"


def _reasons(view: ModelView, options: Options) -> str:
    texts = []
    for reason, words in (
        ("fixed", "fixed: {}"),
        ("missing", "missing in the sample: {}"),
        ("no other value", "without another value that is allowed: {}"),
    ):
        names = [printable(view.feature_names[column]) for column, why in options.why_not.items() if why == reason]
        if names:
            texts.append(words.format(list_text(names)))
    return "; ".join(texts)
