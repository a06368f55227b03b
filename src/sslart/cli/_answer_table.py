"""What a model says of rows, as a frame, and frames of answers as files that are written piece by piece."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sslart._utils.arrays import FloatArray
from sslart.cli._evaluate import members_that_speak
from sslart.cli._output import STANDARD
from sslart.cli.input.files import arrow, pandas
from sslart.reporting._summary import _answers
from sslart.rules._lookup import NO_RULE, RuleNumbers


class Answerer:
    """A model, ready to answer rows as it is now: what follows from its boxes is worked out once.

    Parameters
    ----------
    model : fitted FuzzyARTMAP, SSLART or WESSLART
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self._numbers = RuleNumbers(model)
        self._novelty_threshold = model.novelty_threshold_

    def __call__(self, samples: Any) -> Any:
        """Return class, probability, whether the model abstained, rule, novelty, and whether a row is novel."""
        pd, model = pandas(), self.model
        shares = model.predict_proba(samples)
        answers = _named(model, samples, shares)
        familiarity = model.score_samples(samples)
        rules = self._numbers(samples, answers)
        return pd.DataFrame(
            {
                "class": pd.Series(answers, dtype=object),
                "probability": shares.max(axis=1).round(6),
                "abstained": [answer is None for answer in answers],
                "rule": pd.Series(rules, dtype="Int64").mask(rules == NO_RULE),
                "novelty": (1 - familiarity).round(6),
                "novel": familiarity < self._novelty_threshold,
            }
        )


def with_gaps(answers: Any, answered: Any) -> Any:
    """Return answers to some rows as answers to all: to the others the model says nothing."""
    spread = answers.set_index(np.flatnonzero(answered)).reindex(range(len(answered)))
    return spread.assign(
        abstained=~spread["abstained"].eq(False).to_numpy(),
        novel=spread["novel"].eq(True).to_numpy(),
        **{"class": [None if pandas().isna(one) else one for one in spread["class"]]},
    )


def _named(model: Any, samples: Any, shares: FloatArray) -> list[Any]:
    """Return the class of each row, None where the model abstains."""
    if not members_that_speak(model) or hasattr(model, "estimators_") or model.search_depth is not None:
        return _answers(model, samples)
    sure = shares.max(axis=1) >= (model.abstain_below or 0.0)  # as predict does, without asking all boxes twice
    names = model.classes_[shares.argmax(axis=1)].tolist()
    return [name if is_sure else None for name, is_sure in zip(names, sure, strict=True)]


def records(answers: Any) -> list[dict[str, Any]]:
    """Return answers as plain values, None where there is none."""
    columns = {name: [None if pandas().isna(one) else one for one in answers[name].tolist()] for name in answers}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


KINDS = ("", ".csv", ".txt", ".tsv", ".tab", ".parquet", ".pq", ".json", ".jsonl", ".ndjson")


def check_kind(target: str) -> None:
    """Raise a ValueError where the name of a file tells that it should be of another kind than can be written."""
    kind = Path(target).suffix.lower()
    if target != STANDARD and kind not in KINDS:
        raise ValueError(
            f"Answers are not written as {kind}: end the name of {target} with .csv, .tsv, .parquet, .json or .jsonl."
        )


def written(frames: Iterable[Any], kind: str, classes: Any) -> Iterator[bytes]:
    """Yield answers as a file of the kind that the end of a name tells: CSV, TSV, Parquet, JSON or JSON lines."""
    if kind in (".parquet", ".pq"):
        yield from _parquet(frames, classes)
    elif kind == ".json":
        yield from _json(frames)
    elif kind in (".jsonl", ".ndjson"):
        yield from (f"{json.dumps(one, ensure_ascii=False)}\n".encode() for frame in frames for one in records(frame))
    else:
        separator = "\t" if kind in (".tsv", ".tab") else ","
        for place, frame in enumerate(frames):
            yield frame.to_csv(index=False, header=place == 0, sep=separator, lineterminator="\n").encode()


def _json(frames: Iterable[Any]) -> Iterator[bytes]:
    start = "[\n"
    for frame in frames:
        for one in records(frame):
            yield f"{start}  {json.dumps(one, ensure_ascii=False)}".encode()
            start = ",\n"
    yield b"\n]\n"


def _parquet(frames: Iterable[Any], classes: Any) -> Iterator[bytes]:
    pyarrow, sink, writer = arrow(""), _Drain(), None
    of_class = {"i": pyarrow.int64(), "b": pyarrow.bool_()}.get(classes.dtype.kind, pyarrow.string())
    types = {"class": of_class, "rule": pyarrow.int64(), "abstained": pyarrow.bool_(), "novel": pyarrow.bool_()}
    types |= dict.fromkeys(("probability", "novelty"), pyarrow.float64())
    for frame in frames:
        schema = pyarrow.schema([(name, types.get(name, pyarrow.string())) for name in frame.columns])
        writer = writer or arrow(".parquet").ParquetWriter(sink, schema)
        writer.write_table(pyarrow.Table.from_pandas(frame, schema, preserve_index=False))
        yield sink.taken()
    if writer is not None:
        writer.close()
    yield sink.taken()


class _Drain(io.RawIOBase):
    """A file from which what was written can be taken away."""

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
