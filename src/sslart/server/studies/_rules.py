"""Rules for the rows of a model, and the contribution of a feature by its value."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from sslart._art.backend import row_keys
from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._mapping.model_view import ModelView
from sslart._utils.arrays import FloatArray
from sslart._utils.text import DateName, Day
from sslart.explain._contributions import contributions_in
from sslart.plotting._importances import means_by_value
from sslart.rules._model_extraction import rules_for_table
from sslart.server.store._files import is_from_file
from sslart.server.studies._samples import spread
from sslart.server.studies._search import column_of
from sslart.server.studies._study import Study

if TYPE_CHECKING:
    from sslart.rules import ModelRuleSet


MAX_ROWS = 50_000
MAX_SAMPLES = 500
MAX_CATEGORIES = 50


def rules_of(study: Study, max_rules: int | None = None, max_conditions: int | None = None) -> ModelRuleSet:
    """Return a short list of rules that approximates a model on its rows, and the number of these rows.

    Of more than `MAX_ROWS` rows, the labelled ones and a random sample of the others are used. For a model imported
    from a file, the rules are fitted to samples drawn from its boxes.
    """
    published, loaded = study.published, study.loaded
    published.check_has_label()
    if not len(loaded) or is_from_file(study.reader, study.model.id):
        found: ModelRuleSet = published.model.rules(max_rules=max_rules, max_conditions=max_conditions)
        return found
    codes = study.label_indices.astype(np.int64)
    places = np.arange(len(codes))
    if len(codes) > MAX_ROWS:  # the same ones each time
        random, has_label = np.random.default_rng(0), codes != UNLABELLED
        labelled, others = (random.permutation(np.flatnonzero(own)) for own in (has_label, ~has_label))
        places = np.sort(np.concatenate([labelled, others])[:MAX_ROWS])
    return rules_for_table(
        published.model,
        loaded.samples.table[places],
        loaded.predicted(published, places),
        codes[places],
        max_rules=max_rules,
        max_conditions=max_conditions,
    )


def dependence(view: ModelView, table: Table, feature: str) -> dict[str, Any]:
    """Return the contribution of a feature to each class score by its value, for some samples and on average."""
    names, column = view.feature_names, column_of(view, feature)
    some = table[spread(len(table), MAX_SAMPLES)]
    added = _contributions(view, some)[:, column]
    if column in some.categories:
        kind, (x, y, curve) = "category", _of_categories(some.categories[column].tolist(), added)
    else:
        is_date = isinstance(names[column], DateName)
        kind, (x, y, curve) = "date" if is_date else "number", _of_numbers(some.values[:, column], added)
        if is_date:
            x, curve = [str(Day(one)) for one in x], [{**one, "x": str(Day(one["x"]))} for one in curve]
    return {
        "feature": feature,
        "kind": kind,
        "classes": view.classes.tolist(),
        "points": {"x": x, "y": y},
        "curve": curve,
        "n_samples": len(some),
        "n_missing": len(some) - len(x),
    }


def _contributions(view: ModelView, table: Table) -> FloatArray:
    """Return the contributions of all features, cached for requests about other features."""
    key = ("contributions", row_keys(table).tobytes(), *(member.readout for member in view.members))
    return view.members[0].network.get_or_compute(key, lambda: contributions_in(view, table).values)


def _of_numbers(values: FloatArray, added: FloatArray) -> tuple[list[Any], list[Any], list[dict[str, Any]]]:
    known = ~np.isnan(values)
    values, added = values[known], added[known]
    if not len(values):
        return [], [], []
    means = [means_by_value(values, of_class) for of_class in added.T]
    y = np.array([mean for _, mean in means]).T
    curve = [{"x": x, "y": own} for x, own in zip(means[0][0].tolist(), y.tolist(), strict=True)]
    return values.tolist(), added.tolist(), curve


def _of_categories(values: list[Any], added: FloatArray) -> tuple[list[Any], list[Any], list[dict[str, Any]]]:
    known = [place for place, one in enumerate(values) if one is not None]
    counts = Counter(values[place] for place in known)
    curve = []
    for category, _ in counts.most_common(MAX_CATEGORIES):
        own = [place for place in known if values[place] == category]
        curve.append({"x": category, "y": added[own].mean(axis=0).tolist(), "n": len(own)})
    return [values[place] for place in known], added[known].tolist(), curve
