"""Predictions for rows, as a frame."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from sslart._art.novelty import FALSE_ALARMS
from sslart._data.samples import Table
from sslart._mapping.decision_rules import Costs, cost_matrix, error_levels
from sslart._mapping.model_view import PredictionBatch, view_of
from sslart._tables.files import pandas
from sslart._utils.params import check_number
from sslart.rules._boxes.lookup import NO_RULE, RuleNumbers


class RowPredictor:
    """Predicts rows by the present state of a model, with values derived from its boxes cached.

    Parameters
    ----------
    model : fitted FuzzyARTMAP, SSLART or WESSLART
    abstain_below, search_depth, quorum, max_error : numbers or None
        Take the place of the model's parameters where they are not None.
    decision_costs : dict, "balanced" or None
        The same.
    false_alarms : float
        Of rows like the learnt ones, at most this share is flagged as novel.
    """

    def __init__(
        self,
        model: Any,
        abstain_below: float | None = None,
        search_depth: int | None = None,
        quorum: int | None = None,
        decision_costs: Costs | None = None,
        max_error: float | None = None,
        false_alarms: float = FALSE_ALARMS,
    ) -> None:
        given: dict[str, Any] = {"abstain_below": abstain_below, "search_depth": search_depth, "quorum": quorum}
        view = view_of(model)
        given["decision_costs"] = cost_matrix(
            view.name, decision_costs, view.classes, lambda: model.counts_.sum(axis=0)
        )
        given["max_error"] = error_levels(view.name, max_error, view.classes)
        self._view = dataclasses.replace(view, **{name: value for name, value in given.items() if value is not None})
        self._rule_numbers = RuleNumbers(view)
        share = check_number(view.name, "false_alarms", false_alarms, 0, 1, open_low=True)
        self._threshold, self.promise = view.novelty.threshold(share), view.novelty.promise(share)

    def __call__(self, samples: Any) -> Any:
        """Return class, probability, whether the model abstained, box, novelty, and whether a row is novel."""
        return self.of_table(self.read(samples))

    def read(self, samples: Any) -> Table:
        """Return samples as the model reads them."""
        return self._view.read(samples)

    @property
    def feature_names(self) -> list[str]:
        """The names of the columns of such a table."""
        return self._view.reader.feature_names

    def of_table(self, table: Table) -> Any:
        """Return the predictions of samples that have been read."""
        pd, batch = pandas(), PredictionBatch(self._view, table)
        found = batch.decisions(self._threshold)
        rules = self._rule_numbers(batch, found.indices)
        return pd.DataFrame(
            {
                "class": pd.Series(self._view.labels_or_none(found.indices), dtype=object),
                "probability": found.probability.round(6),
                "abstained": found.abstained,
                "box": pd.Series(rules, dtype="Int64").mask(rules == NO_RULE),
                "novelty": found.novelty.round(6),
                "novel": found.is_novel,
            }
        )


def with_blank_rows(predictions: Any, predicted: Any) -> Any:
    """Return predictions for some rows as predictions for all: for the others the model abstains."""
    spread = predictions.set_index(np.flatnonzero(predicted)).reindex(range(len(predicted)))
    return spread.assign(
        abstained=~spread["abstained"].eq(False).to_numpy(),
        novel=spread["novel"].eq(True).to_numpy(),
        **{"class": [None if pandas().isna(one) else one for one in spread["class"]]},
    )
