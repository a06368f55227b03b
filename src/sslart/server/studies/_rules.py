"""The rules of a model, for the rows that it was given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sslart._data.labels import UNLABELLED
from sslart._utils.arrays import BoolArray, IntArray
from sslart.rules._model_extraction import rules_for_table
from sslart.server.models._hosted import HostedModel
from sslart.server.models._hub import Hub
from sslart.server.models._published import Published
from sslart.server.store._uploads import is_from_file

if TYPE_CHECKING:
    from sslart.rules import ModelRuleSet

MAX_ROWS = 50_000


def rules_of(
    hub: Hub, hosted: HostedModel, published: Published, max_rules: int | None = None, max_conditions: int | None = None
) -> ModelRuleSet:
    """Return few, short rules that agree with the predictions for the rows of a model, and count these rows.

    Of more than `MAX_ROWS` rows, so many are looked at: those with a label, and others drawn at random. Where the rows
    that a model has learnt are not here, since it came from a file, the rules are for samples drawn at random within
    its boxes.

    Parameters
    ----------
    hub : Hub
    hosted : HostedModel
    published : Published
        The same model as it was last published.
    max_rules, max_conditions : int, default=None
        How many rules, and conditions in a rule, at most; None for the usual limits.
    """
    published.check_has_label()
    loaded, reader = hub.samples(hosted), hub.store.reader()
    if not len(loaded) or is_from_file(reader, hosted.id):
        found: ModelRuleSet = published.model.rules(max_rules=max_rules, max_conditions=max_conditions)
        return found
    codes = loaded.label_indices(loaded.labels(reader, hosted.id), published.classes).astype(np.int64)
    places = _some(codes != UNLABELLED)
    return rules_for_table(
        published.model,
        loaded.samples.table[places],
        loaded.predicted(published, places),
        codes[places],
        max_rules=max_rules,
        max_conditions=max_conditions,
    )


def _some(has_label: BoolArray) -> IntArray:
    """Return the places of the samples to look at, in order, the same ones each time."""
    if len(has_label) <= MAX_ROWS:
        return np.arange(len(has_label))
    random = np.random.default_rng(0)
    labelled, others = (random.permutation(np.flatnonzero(own)) for own in (has_label, ~has_label))
    return np.sort(np.concatenate([labelled, others])[:MAX_ROWS])
