"""What a model predicts for rows, as a frame, and such frames as files that are written piece by piece."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sslart._art.novelty import FALSE_ALARMS
from sslart._data.labels import UNLABELLED
from sslart._mapping.decision_costs import cost_matrix
from sslart._mapping.guarantees.errors import error_levels
from sslart._mapping.model_view import view_of
from sslart._mapping.predictions import Prediction
from sslart._utils.arrays import FloatArray
from sslart._utils.params import check_number
from sslart._utils.tables import csv_text, with_texts
from sslart._utils.text import json_text, printable
from sslart.cli._costs import Costs
from sslart.cli._output import ESCAPED, STANDARD, note
from sslart.cli.input.files import arrow, pandas
from sslart.rules._boxes.lookup import NO_RULE, RuleNumbers


class RowPredictor:
    """Predicts rows by a model as it is now: what follows from its boxes is computed once.

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
        self._rule_numbers = RuleNumbers(model)
        share = check_number(view.name, "false_alarms", false_alarms, 0, 1, open_low=True)
        self._threshold, self.promise = view.novelty.threshold(share), view.novelty.promise(share)

    def __call__(self, samples: Any) -> Any:
        """Return class, probability, whether the model abstained, box, novelty, and whether a row is novel."""
        pd, view = pandas(), self._view
        table = view.read(samples)
        prediction = view.predict(table, want_proba=True)
        labels = view.labels_or_none(prediction.indices)
        familiarity = view.score_samples(table)
        rules = self._rule_numbers(samples, labels)
        return pd.DataFrame(
            {
                "class": pd.Series(labels, dtype=object),
                "probability": _probabilities(prediction).round(6),
                "abstained": [label is None for label in labels],
                "box": pd.Series(rules, dtype="Int64").mask(rules == NO_RULE),
                "novelty": (1 - familiarity).round(6),
                "novel": familiarity < self._threshold,
            }
        )


def _probabilities(prediction: Prediction) -> FloatArray:
    """Return the probability of each prediction; where the model abstains, the highest."""
    assert prediction.proba is not None
    shown = np.where(prediction.indices == UNLABELLED, prediction.proba.argmax(axis=1), prediction.indices)
    return np.asarray(prediction.proba[np.arange(len(shown)), shown])


def with_blank_rows(predictions: Any, predicted: Any) -> Any:
    """Return predictions for some rows as predictions for all: for the others the model abstains."""
    spread = predictions.set_index(np.flatnonzero(predicted)).reindex(range(len(predicted)))
    return spread.assign(
        abstained=~spread["abstained"].eq(False).to_numpy(),
        novel=spread["novel"].eq(True).to_numpy(),
        **{"class": [None if pandas().isna(one) else one for one in spread["class"]]},
    )


def records(predictions: Any) -> list[dict[str, Any]]:
    """Return predictions as plain values, None where there is none."""
    is_blank = {name: predictions[name].isna().tolist() for name in predictions}
    columns = {
        name: [None if blank else one for one, blank in zip(predictions[name].tolist(), is_blank[name], strict=True)]
        for name in predictions
    }
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


KINDS = ("", ".csv", ".txt", ".tsv", ".tab", ".parquet", ".pq", ".json", ".jsonl", ".ndjson")


def check_kind(target: str) -> None:
    """Raise a ValueError where the name of a file has an ending that cannot be written."""
    kind = Path(target).suffix.lower()
    if target != STANDARD and kind not in KINDS:
        raise ValueError(
            f"Predictions are not written as {kind}: end the name of {target} with .csv, .tsv, .parquet, .json or "
            ".jsonl."
        )


def written(
    frames: Iterable[Any], kind: str, classes: Any, *, keep_formulas: bool = False, visible: bool = False
) -> Iterator[bytes]:
    """Yield predictions as a file, of a kind given by the ending of its name: CSV, TSV, Parquet, JSON or JSON lines.

    JSON is always visible, and the same when it is read back. CSV is visible where a person may read it as it is.
    """
    if kind in (".parquet", ".pq"):
        yield from _parquet(frames, classes)
    elif kind == ".json":
        yield from _json(frames)
    elif kind in (".jsonl", ".ndjson"):
        yield from (f"{json_text(one)}\n".encode() for frame in frames for one in records(frame))
    else:
        separator = "\t" if kind in (".tsv", ".tab") else ","
        for number, frame in enumerate(frames):
            shown = with_texts(frame, _visible_cell) if visible else frame
            yield csv_text(shown, keep_formulas=keep_formulas, index=False, header=number == 0, sep=separator).encode()


def _visible_cell(text: str) -> str:
    visible = printable(text)
    if visible != text:
        note(ESCAPED)
    return visible


def _json(frames: Iterable[Any]) -> Iterator[bytes]:
    start = "[\n"
    for frame in frames:
        for one in records(frame):
            yield f"{start}  {json_text(one)}".encode()
            start = ",\n"
    yield b"\n]\n"


def _parquet(frames: Iterable[Any], classes: Any) -> Iterator[bytes]:
    pyarrow, sink, writer = arrow(""), _Buffer(), None
    of_class = {"i": pyarrow.int64(), "b": pyarrow.bool_()}.get(classes.dtype.kind, pyarrow.string())
    types = {"class": of_class, "box": pyarrow.int64(), "abstained": pyarrow.bool_(), "novel": pyarrow.bool_()}
    types |= dict.fromkeys(("probability", "novelty"), pyarrow.float64())
    for frame in frames:
        schema = pyarrow.schema([(name, types.get(name, pyarrow.string())) for name in frame.columns])
        writer = writer or arrow(".parquet").ParquetWriter(sink, schema)
        writer.write_table(pyarrow.Table.from_pandas(frame, schema, preserve_index=False))
        yield sink.taken()
    if writer is not None:
        writer.close()
    yield sink.taken()


class _Buffer(io.RawIOBase):
    """A file whose contents can be taken away while it is written."""

    def __init__(self) -> None:
        self._written, self._position = bytearray(), 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def write(self, content: Any) -> int:
        self._written += content
        self._position += len(content)
        return len(content)

    def taken(self) -> bytes:
        """Return what was written since the last time."""
        taken, self._written = bytes(self._written), bytearray()
        return taken
