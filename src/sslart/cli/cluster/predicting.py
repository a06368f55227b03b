"""`sslart predict --dask`: one file of predictions for each of many files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sslart._tables.files import read_originals
from sslart._tables.predictions import RowPredictor
from sslart._utils.files import STANDARD
from sslart._utils.optional import heavy
from sslart.cli._output import write_pieces
from sslart.cli.cluster.connection import connected, matching_files
from sslart.cli.output.predicted import all_columns, alone, frame_predictor, with_predictions
from sslart.cli.output.tables import Style

KIND = ".parquet"


@dataclass(frozen=True, eq=False)
class FilePredictor:
    """Predicts all rows of a file and writes them to another.

    Attributes
    ----------
    model : fitted classifier
    options : dict
        Of `RowPredictor`.
    id_column : str or None
    append : bool
        Whether all columns of the file come before the predictions.
    encoding : str or None
        Of text.
    """

    model: Any
    options: dict[str, Any]
    id_column: str | None
    append: bool
    encoding: str | None

    def __call__(self, source: str, target: str) -> Counter[str]:
        """Write the predictions for a file atomically; return their number by kind."""
        total, style = Counter[str](), Style(keep_formulas=False, visible=False)
        predict = frame_predictor(self.model, RowPredictor(self.model, **self.options), source)
        pieces = with_predictions(predict, read_originals(source, self.encoding), total)
        if self.append:
            write_pieces(target, all_columns(pieces, KIND, style, self.model.classes_))
        else:
            write_pieces(target, alone(pieces, KIND, style, self.model.classes_, self.id_column, source))
        return total


def predict_on_cluster(
    predict: FilePredictor, data: str, out: str, scheduler: str | None, *, quiet: bool
) -> Counter[str]:
    """Write the predictions for each of many files into a folder; return how many there are, by kind."""
    files, folder = matching_files(data), Path(out).resolve()
    targets = {source: str(folder / f"{Path(source).stem}{KIND}") for source in files}
    if out == STANDARD:
        raise ValueError("With --dask every file is written by itself: give a folder with --out.")
    if folder.is_file():
        raise NotADirectoryError(f"{out} is a file: with --dask give a folder.")
    if len(set(targets.values())) < len(files):
        raise ValueError(f"{data} matches files of the same name but for their ending: give files of one kind.")
    if set(targets.values()) & set(files):
        raise ValueError(f"{out} is the folder of the files that are read: give another one.")
    folder.mkdir(parents=True, exist_ok=True)
    cluster = heavy("sslart.dask._cluster")
    with connected(scheduler, quiet=quiet):
        tasks = cluster.Tasks()
        written = tasks.each("predict", _written, list(targets.items()), cluster.sent(predict, "model"))
        total: Counter[str] = cluster.run(tasks.tree("predict-join", _summed, written))
    return total


def _written(names: tuple[str, str], number: int, predict: FilePredictor) -> Counter[str]:
    return predict(*names)


def _summed(totals: Sequence[Counter[str]]) -> Counter[str]:
    together = Counter[str]()
    for one in totals:
        together.update(one)
    return together
