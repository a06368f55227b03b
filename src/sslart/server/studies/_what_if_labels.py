"""Trial of other labels: a copy of the model is fitted with them, measured, and discarded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from sslart._mapping.loo_predictions import VARIANCE_FACTOR
from sslart._mapping.model_view import view_of
from sslart._mapping.summary import summarise
from sslart._utils.arrays import BoolArray, IntArray
from sslart._utils.notes import collected_notes
from sslart._utils.optional import heavy
from sslart._utils.text import plural
from sslart.server.models._published import Published
from sslart.server.models._replica import fitted_to
from sslart.server.models._stored_rows import StoredRows
from sslart.server.store._journal import last_fit
from sslart.server.studies._samples import LoadedSamples, read_rows, spread
from sslart.server.studies._study import Study
from sslart.server.studies._trust import NOT_FOUND, keys_of, matched, plain_share

MAX_SAMPLES = 20_000  # whose predictions are compared
CHANCE = 0.05


def fitted(rows: StoredRows, sequence: int, *, together: bool = False) -> Published:
    """Return a model that is fitted to rows; `together`: their changed labels are one answer about similar rows."""
    with collected_notes():
        model = fitted_to(rows.table_to_fit(together=together), rows.settings)
    return Published(model, sequence, rows.settings)


def trial(
    study: Study, changed: Mapping[int, Any], *, chosen: Collection[int] = (), together: bool = False
) -> dict[str, Any]:
    """Return the result of a fit with changed labels by row, next to that of one without the change.

    Where the published model is not as it was fitted, a copy is fitted without the change, so that nothing but the
    change makes a difference. `chosen`: rows with a new label that were not drawn at random; `together`: the changed
    labels are one answer about similar rows.
    """
    stored, published, reader = study.stored_rows(), study.published, study.reader
    is_fitted = published.sequence == study.model.accepted == last_fit(reader, study.model.id, published.sequence)
    after = fitted(stored._replace(changed=changed, chosen=frozenset(chosen)), published.sequence, together=together)
    before = published if is_fitted else fitted(stored, published.sequence)
    old, new = before.view.left_out, after.view.left_out
    both = None
    if old is not None and new is not None:  # the places of the labels that both have, in the same order
        places = matched(keys_of(old, before.view), keys_of(new, after.view))
        both = places[places != NOT_FOUND], np.flatnonzero(places != NOT_FOUND)
    moved = _moved(stored, before, after, study.loaded)
    quality = [_quality(view, None if both is None else both[place]) for place, view in enumerate((before, after))]
    compared = None if both is None else _compared(old, new, both)
    return {
        "before": quality[0],
        "after": quality[1],
        "compared": compared,
        "changed": moved,
        "text": _text(len(changed), quality, compared, moved),
    }


def _quality(model: Published, places: IntArray | None) -> dict[str, Any]:
    """Return the stated accuracy of a model, and that on labels that both models have, of rows drawn at random."""
    stated, left_out = model.view.quality, model.view.left_out
    found: dict[str, Any] = {
        "labels": round(sum(one.n_labels for one in summarise(model.view).classes)),
        "accuracy": None,
        "accuracy_of_all": plain_share(stated.accuracy),
        "why_not": stated.why_not or None,
    }
    if left_out is None or stated.accuracy is None or places is None or not len(places):
        return found
    among: BoolArray = np.zeros(len(left_out.truth), dtype=bool)
    among[places] = True
    drawn = left_out.drawn
    among = among if left_out.at_random is None else among[left_out.at_random]
    return found | {"accuracy": plain_share(drawn.share(drawn.right, among)) if among.any() else None}


def _compared(old: Any, new: Any, both: tuple[IntArray, IntArray]) -> dict[str, Any]:
    """Return on how many labels that both models have only one of the two is right, and the p-value of the sign test.

    Labels that are left out together count one there, and left-out labels count half, as in their accuracy.
    """
    was, now = old.right[both[0]], new.right[both[1]]
    better, worse = int((now & ~was).sum()), int((was & ~now).sum())
    weights = new.weights[both[1]] / VARIANCE_FACTOR
    counted = [round(float(weights[which].sum())) for which in (now & ~was, was & ~now)]
    p_value = float(heavy("scipy.stats").binomtest(counted[0], sum(counted)).pvalue) if sum(counted) else 1.0
    return {"labels": len(both[0]), "better": better, "worse": worse, "p_value": p_value}


def _moved(stored: StoredRows, before: Published, after: Published, loaded: LoadedSamples) -> dict[str, Any]:
    """Return the number of samples whose class changes, by pair of classes."""
    places = spread(len(loaded), MAX_SAMPLES)
    rows = loaded.samples.rows[places]
    old, old_rows = _predicted(stored, before, loaded, places)
    new, new_rows = _predicted(stored, after, loaded, places)
    known = dict(zip(new_rows.tolist(), new, strict=True))
    pairs = [(one, known[row]) for row, one in zip(old_rows.tolist(), old, strict=True) if row in known]
    counts = Counter(pair for pair in pairs if pair[0] != pair[1])
    by = [{"from": was, "to": now, "n": n} for (was, now), n in counts.most_common()]
    return {"n": sum(counts.values()), "of": len(pairs), "samples": len(rows), "by": by}


def _predicted(
    stored: StoredRows, model: Published, loaded: LoadedSamples, places: IntArray
) -> tuple[Sequence[Any], IntArray]:
    """Return the class that a model predicts for samples, None where it abstains, and their rows."""
    samples = loaded.samples
    if model.reader.names != samples.published.reader.names:
        samples = read_rows(stored, model)
        places = samples.places(loaded.samples.rows[places])
    rows = samples.rows[places]
    if not model.classes or not len(rows):
        return [None] * len(rows), rows
    with collected_notes():
        table = model.view.read(samples.raw(places))
        return view_of(model.model).labels_or_none(model.view.predict(table).indices), rows


def _text(
    n_changed: int, quality: Sequence[dict[str, Any]], compared: dict[str, Any] | None, moved: dict[str, Any]
) -> str:
    parts = [f"A copy was fitted with {plural(n_changed, 'label')} changed; nothing is kept of it."]
    was, now = (one["accuracy"] for one in quality)
    if compared is None or was is None or now is None:
        reason = next((one["why_not"] for one in quality if one["why_not"]), "no label is the same in both")
        parts.append(f"The accuracy cannot be compared: {reason}.")
    else:
        labels = plural(compared["labels"], "label")
        parts.append(
            f"On the {labels} that are the same in both, each predicted by the other labels alone, the accuracy is "
            f"{100 * now['value']:.1f} % instead of {100 * was['value']:.1f} %; labels that change are not counted."
        )
        better, worse = compared["better"], compared["worse"]
        if better + worse:
            chance = "this may be chance" if compared["p_value"] > CHANCE else "this is hardly chance"
            verb = "is" if better == 1 else "are"
            parts.append(f"{better} of them {verb} right only with the change, and {worse} only without it: {chance}.")
        else:
            parts.append("Each of these labels is predicted as before, rightly or wrongly.")
    parts.append(f"{moved['n']} of {plural(moved['of'], 'sample')} get another class.")
    return " ".join(parts)
