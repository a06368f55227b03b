"""Quality of a model by leave-one-out predictions, also in groups, and the number of labels needed for a target."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from dataclasses import asdict
from math import isfinite
from typing import Any

import numpy as np

from sslart._art.backend import row_keys
from sslart._data.samples import Table
from sslart._data.text_parsing import MISSING
from sslart._mapping.conformal import guarantees_of
from sslart._mapping.loo_predictions import VARIANCE_FACTOR, LooPredictions
from sslart._mapping.model_view import ModelView
from sslart._mapping.quality import HELD_OUT, ModelQuality
from sslart._mapping.summary import summarise
from sslart._tables.cells import plain
from sslart._utils.arrays import BoolArray, IntArray
from sslart._utils.intervals import Estimate, wilson
from sslart._utils.notes import collected_notes
from sslart._utils.text import number_text, plural, printable
from sslart.active import LearningCurve, learning_curve
from sslart.active._random_order import RandomOrder, random_order
from sslart.reporting._summary import confidence_bins, max_error_text
from sslart.server.studies._samples import spread
from sslart.server.studies._study import Study

NOT_FOUND = -1
MAX_ROWS = 200  # of a cell of the confusion
MAX_POINTS = 40
FEW_LABELS = 10  # of a group
MAX_GROUPS = 20
FEW_VALUES = 12  # numbers of more values are cut into bands
N_BANDS = 4
NO_VALUE = "no value"
UNKNOWN = "row not known"


def kept_samples(view: ModelView) -> Table:
    """Return the labelled samples that `LooPredictions.rows` refers to."""
    kept = (member.mapping.kept_labels for member in view.members if member.mapping.left_out is not None)
    return next(one[0] for one in kept if one is not None)


def keys_of(left_out: LooPredictions, view: ModelView) -> list[tuple[int, Any]]:
    """Return a key of each left-out label, equal for equal samples of one class."""
    samples = row_keys(kept_samples(view)[left_out.rows]).tolist() if len(left_out.rows) else []
    return list(zip(samples, view.classes[left_out.truth].tolist(), strict=True))


def matched(known: Sequence[Any], wanted: Sequence[Any]) -> IntArray:
    """Return where each wanted key is among known ones, each place once and in order; -1 where it is not."""
    places: dict[Any, deque[int]] = defaultdict(deque)
    for place, key in enumerate(known):
        places[key].append(place)
    return np.array([places[key].popleft() if places.get(key) else NOT_FOUND for key in wanted], dtype=np.int64)


def places_of(left_out: LooPredictions, view: ModelView, samples: Table, labels: IntArray) -> IntArray:
    """Return where the sample of each left-out label is; -1 where none of the samples has its values and its label.

    `labels` are the class indices of the samples, -1 where there is none.
    """
    labelled = np.flatnonzero(labels >= 0)
    keys = row_keys(samples[labelled]).tolist() if len(labelled) else []
    found = matched(list(zip(keys, view.classes[labels[labelled]].tolist(), strict=True)), keys_of(left_out, view))
    return np.append(labelled, NOT_FOUND)[found]  # the last one for those that are not found


def plain_share(estimate: Estimate | None) -> dict[str, Any] | None:
    """Return a share with its interval as plain values."""
    return None if estimate is None else dict(vars(estimate))


def trust(view: ModelView, places: IntArray, rows: IntArray) -> dict[str, Any]:
    """Return the quality, the confusion, the calibration and the coverage by left-out labels of a model that has some.

    `places` are where the sample of each left-out label is among the samples of the store, -1 where it is not known,
    and `rows` their numbers.
    """
    summary, left_out, stated = summarise(view), view.left_out, view.quality
    found: dict[str, Any] = {
        "quality": plain_quality(stated),
        "how": _how(stated),
        "labels": 0 if left_out is None else len(left_out.truth),
        "counted": stated.n_labels,
        "chosen": stated.n_chosen,
        "accuracy": None,
        "balanced": None,
        "why_not": stated.why_not or None,
        "classes": [
            {"class": one.label, "labels": one.n_labels, "left_out": one.n_left_out} for one in summary.classes
        ],
        "confusion": None,
        "calibration": None,
        "coverage": None,
        "warnings": summary.warnings(),
    }
    if left_out is None or stated.accuracy is None:
        return found
    return found | {
        "accuracy": plain_share(stated.accuracy),
        "balanced": plain_share(stated.balanced_accuracy),
        "classes": [
            one | {"recall": plain_share(own.sensitivity), "precision": plain_share(own.precision)}
            for one, own in zip(found["classes"], stated.classes, strict=True)
        ],
        "confusion": _confusion(view, left_out, places, rows),
        "calibration": _calibration(left_out.drawn),
        "coverage": _coverage(view, left_out.drawn),
    }


def plain_quality(stated: ModelQuality) -> dict[str, Any]:
    """Return the statement of quality without the accuracy: its lines of text, the skill, and the assumption."""
    return {"lines": stated.lines(), "skill": stated.skill, "assumes": stated.assumes}


def _how(stated: ModelQuality) -> str:
    if stated.is_audit:
        return f"Measured {stated.how}."
    together = "" if stated.together is None else f" Left out together: {stated.together}."
    if stated.how.endswith(HELD_OUT):
        some = stated.how.removesuffix(HELD_OUT)
        return f"{some} were held out, and are predicted by all other labels.{together}"
    return f"Each label is predicted by the other labels alone ({stated.how}).{together}"


def _confusion(view: ModelView, left_out: LooPredictions, places: IntArray, rows: IntArray) -> dict[str, Any]:
    """Return the confusion matrix of all left-out labels, chosen ones too, with the known rows of each cell.

    The label that is least probable where it is left out comes first: it may be a wrong one.
    """
    n = len(view.classes)
    cells: list[list[list[int]]] = [[[] for _ in range(n)] for _ in range(n)]
    probable = left_out.proba[np.arange(len(places)), left_out.truth]
    order = np.argsort(probable, kind="stable")
    counts = np.zeros((n, n), dtype=np.int64)
    np.add.at(counts, (left_out.truth, left_out.predicted), 1)
    for label in order[places[order] != NOT_FOUND].tolist():
        own = cells[left_out.truth[label]][left_out.predicted[label]]
        if len(own) < MAX_ROWS:
            own.append(int(rows[places[label]]))
    return {
        "classes": view.classes.tolist(),
        "counts": counts.tolist(),
        "rows": cells,
        "without_row": int((places == NOT_FOUND).sum()),
    }


def _calibration(left_out: LooPredictions) -> dict[str, Any]:
    confidence, bins, error = left_out.confidence, [], 0.0
    for low, high, own in confidence_bins(confidence):
        weights = left_out.weights[own]
        observed = left_out.share(left_out.right, own)
        predicted = float(np.average(confidence[own], weights=weights))
        assert observed.value is not None
        error += float(weights.sum()) * abs(predicted - observed.value)
        bins.append(
            {
                "low": low,
                "high": high,
                "n": int(own.sum()),
                "predicted": predicted,
                "observed": observed.value,
                "obs_low": observed.low,
                "obs_high": observed.high,
            }
        )
    return {"bins": bins, "error": error / float(left_out.weights.sum())}


def _coverage(view: ModelView, left_out: LooPredictions) -> dict[str, Any]:
    """Return coverage and error rate as functions of the confidence threshold, and as they are in force."""
    found, in_force = guarantees_of(view.promises, certainty=view.certainty), None
    with collected_notes():
        answered = ~view.is_unsure(left_out.predicted, left_out.proba)
    if view.limits_confidence:
        wrong = left_out.share(~left_out.right, answered)
        in_force = {
            "coverage": left_out.share(answered).value,
            "error": wrong.value,
            "low": wrong.low,
            "high": wrong.high,
        }
    options = [
        {
            "max_error": one.max_error,
            "confidence": one.certainty,
            "coverage": one.certain.share,
            "coverage_on_average": one.on_average.share,
            "possible": one.is_possible,
            "threshold": one.certain.least_confidence,
            "labels_needed": one.certain.labels_needed,
            "text": f"{one.sentence()[:1].upper()}{one.sentence()[1:]}.",
        }
        for one in found.levels
    ]
    return {
        "points": _points(view),
        "smallest_error": found.smallest_error,
        "promise": _promise(view, left_out, answered),
        "options": options,
        "in_force": in_force,
    }


def _points(view: ModelView) -> list[dict[str, Any]]:
    curve, n = view.promises.curve(view.confidence), view.promises.n_labels
    points = []
    for place in spread(len(curve.error), MAX_POINTS).tolist():
        answered, wrong = float(curve.answered[place]), float(curve.wrong[place])
        low, high = wilson(wrong / VARIANCE_FACTOR, answered / VARIANCE_FACTOR)
        points.append(
            {
                "coverage": answered / n,
                "error": wrong / answered,
                "low": low,
                "high": high,
                "threshold": float(curve.confidence[place]),
                "promised": float(curve.error[place]),
            }
        )
    return points


def _promise(view: ModelView, left_out: LooPredictions, answered: BoolArray) -> dict[str, Any] | None:
    """Return the guarantee of the `max_error` in force, or the reason why there is none; None without one."""
    levels, classes = view.max_error, view.classes.tolist()
    if levels is None:
        return None
    by_class = {str(classes[index]): level for index, level in levels.by_class}
    found: dict[str, Any] = {
        "max_error": by_class or levels.overall,
        "confidence": levels.certainty,
        "coverage": 0.0,
        "holds": False,
    }
    notes = view.promises.obstacles(levels)
    if not answered.any():
        return found | {"text": " ".join(notes) or "No left-out label gets an answer."}
    words = max_error_text(levels, classes) or ""
    words = f"{words[:1].upper()}{words[1:]}."
    return found | {"coverage": left_out.share(answered).value, "holds": True, "text": " ".join([words, *notes])}


def note_on(estimate: Estimate, others: Estimate) -> str | None:
    """Return a caveat on the accuracy of a group compared with that of all others."""
    if (estimate.total or 0) < FEW_LABELS:
        return "Few labels: the interval is wide."
    if None in (estimate.low, estimate.high, others.low, others.high):
        return None
    if (estimate.high or 0.0) < (others.low or 0.0):
        return "Worse than the others: the intervals do not overlap."
    if (estimate.low or 0.0) > (others.high or 0.0):
        return "Better than the others: the intervals do not overlap."
    return None


def group_quality(left_out: LooPredictions, column: str, cells: Sequence[Any]) -> dict[str, Any]:
    """Return the accuracy in each group of a column: bands of numbers in their order, else the most labels first.

    `cells` are the values of the left-out labels in the column; `UNKNOWN` where the row is not known.
    """
    all_names, bands = _groups(cells)
    names = np.array(all_names, dtype=object)
    sizes = Counter(names.tolist()).most_common()
    shown = [name for name, _ in sizes[: MAX_GROUPS if len(sizes) <= MAX_GROUPS else MAX_GROUPS - 1]]
    shown.sort(key=lambda name: bands.index(name) if name in bands else len(bands))
    if len(shown) < len(sizes):
        rest = f"{plural(len(sizes) - len(shown), 'other group')}"
        names = np.array([one if one in set(shown) else rest for one in names.tolist()], dtype=object)
        shown.append(rest)
    groups = []
    for name in shown:
        own = np.asarray(names == name, dtype=bool)
        accuracy = left_out.share(left_out.right, own)
        note = note_on(accuracy, left_out.share(left_out.right, ~own))
        groups.append({"group": name, "n": int(own.sum()), "accuracy": plain_share(accuracy), "note": note})
    return {"column": column, "groups": groups}


def _groups(cells: Sequence[Any]) -> tuple[list[str], list[str]]:
    """Return the group of each cell: its text, or a band of numbers where there are many; and all bands in order."""
    numbers = np.array([_number(one) for one in cells])
    is_known = np.array([one is not None and one != UNKNOWN and one not in MISSING for one in cells], dtype=bool)
    n_different = len({str(one) for one, known in zip(cells, is_known.tolist(), strict=True) if known})
    if n_different <= FEW_VALUES or np.isnan(numbers[is_known]).any():
        return [NO_VALUE if one is None or one in MISSING else printable(plain(str(one))) for one in cells], []
    cuts = np.unique(np.nanquantile(numbers, np.linspace(0, 1, N_BANDS + 1)))
    last = len(cuts) - 2
    texts = [number_text(float(cut)) for cut in cuts]
    bands = [f"{texts[at]} to {'' if at == last else 'below '}{texts[at + 1]}" for at in range(last + 1)]
    places = np.minimum(np.searchsorted(cuts, numbers, side="right") - 1, last).tolist()
    unknown = [UNKNOWN if one == UNKNOWN else NO_VALUE for one in cells]
    is_number = (~np.isnan(numbers)).tolist()
    return [bands[places[at]] if is_number[at] else unknown[at] for at in range(len(cells))], bands


def _number(cell: Any) -> float:
    try:
        value = float(cell)
    except (TypeError, ValueError):
        return np.nan
    return value if isfinite(value) else np.nan


def quality(study: Study, target: float | None) -> dict[str, Any]:
    """Return the quality of a model, and the number of labels needed for an accuracy, where one is wanted."""
    summary = summarise(study.published.view)
    stated = summary.quality
    needed, why_not = (None, "") if target is None else _needed(study, target)
    return {
        "labels": round(sum(one.n_labels for one in summary.classes)),
        "classes": [{"class": one.label, "labels": one.n_labels} for one in summary.classes],
        "quality": plain_quality(stated),
        "how": stated.how,
        "accuracy": plain_share(stated.accuracy),
        "why_not": stated.why_not,
        "warnings": summary.warnings(),
        "target": target,
        "needed": needed,
        "needed_why_not": why_not,
    }


def _needed(study: Study, target: float) -> tuple[dict[str, Any] | None, str]:
    published, n_open = study.published, int((~study.has_label).sum())
    if published.view.quality.accuracy is None:
        return None, published.view.quality.why_not
    curve: LearningCurve = learning_curve(published.model)
    if curve.why_not:
        return None, curve.why_not
    found = curve.labels_for(target)
    text, least = str(found), curve.n_furthest - curve.n_now if found.more is None else found.more
    if least > n_open:
        wanted = f"an accuracy of {100 * target:g} %"
        text = f"{wanted} needs more labels than there are samples without one ({n_open:,}), or better features"
    return {**asdict(found), "text": text}, ""


def random_order_of(study: Study) -> dict[str, Any]:
    """Return the number of labels in random order that would reach the quality of the model."""
    published = study.published
    published.check_has_label()
    summary = summarise(published.view)
    n_labels, stated = round(sum(one.n_labels for one in summary.classes)), summary.quality.accuracy
    accuracy = None if stated is None else stated.value
    if accuracy is None:
        return {"labels": n_labels, "random": None, "text": f"Not known yet: {summary.quality.why_not}."}
    samples = study.loaded.samples.raw()
    key = ("random order", published.sequence)
    found = study.loaded.cached(key, lambda: random_order(published.model, samples, n_labels, accuracy))
    ends = {"labels": found.n_labels, "low": found.low, "high": found.high, "tried": found.n_tried}
    return {"labels": n_labels, "random": ends, "text": _words(found, n_labels)}


def _words(found: RandomOrder, n_labels: int) -> str:
    reached = f"an accuracy of {100 * found.accuracy:.0f} %"
    if not found.n_tried:
        return "Not known: there are too few samples."
    if found.n_labels is None:
        return f"In a random order, {found.n_tried} labels would not have been enough for {reached} (simulated)."
    if found.n_labels <= n_labels:
        return f"In a random order, {reached} would have needed no more labels (simulated)."
    needed = f"about {found.n_labels} labels instead of {n_labels}"
    return f"In a random order, {reached} would have needed {needed} (simulated)."
