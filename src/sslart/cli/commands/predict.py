"""`sslart predict`: the class of each row, how sure it is, and whether the row is like anything that was learnt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from sslart.cli import _answer_table as _answers
from sslart.cli import _model_file as _models
from sslart.cli import _output as _show
from sslart.cli.input import cells as _cells
from sslart.cli.input import columns as _tables
from sslart.cli.input import files as _files


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help="a file that sslart fit wrote")],
    data: Annotated[str, typer.Argument(help=_show.DATA_HELP)],
    out: Annotated[
        str, typer.Option(help="CSV, TSV, Parquet, JSON or JSONL by its name; - for standard output", metavar="FILE")
    ] = _show.STANDARD,
    id_column: Annotated[str | None, typer.Option("--id", help="column to repeat first", metavar="COLUMN")] = None,
    abstain_below: Annotated[
        float | None, typer.Option(min=0, max=1, help="leave the class blank where it is less probable", metavar="P")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="for programs")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="do not say what was written")] = False,
) -> None:
    """Answer each row: class, probability, whether the model abstained, rule, novelty (0 to 1), whether it is novel.

    The rule is the number that sslart rules gives it when it lists all: the one that answered, or, where many boxes
    speak, the nearest of those that name the answer. A row is novel if it fits what was learnt worse than all but a
    twentieth of that fits the rest. The file is read piece by piece and may be larger than memory.
    """
    _show.check_target(out, model_file, data)
    _answers.check_kind(out)
    model = _models.read_model(model_file)
    if abstain_below is not None:
        model.set_params(abstain_below=abstain_below)
    total = {"rows": 0, "abstained": 0, "novel": 0}
    kind = ".json" if as_json else Path(out).suffix.lower()
    pieces = _pieces(model, data, id_column, total, progress=out != _show.STANDARD and not quiet)
    _show.write_pieces(out, _answers.written(pieces, kind, model.classes_))
    if out != _show.STANDARD and not quiet:
        _show.note(
            f"{total['rows']} rows written to {out}: {total['abstained']} without an answer, {total['novel']} novel."
        )


def _pieces(model: Any, data: str, id_column: str | None, total: dict[str, int], *, progress: bool) -> Iterator[Any]:
    """Yield the answers piece by piece, and count them."""
    answer = _answers.Answerer(model)
    for frame in _files.read_pieces(data, progress=progress):
        _tables.check_columns(frame.columns, [id_column], data)
        _tables.check_learnt_columns(model, frame.columns, data)
        blank = _tables.blank_rows(frame, _tables.learnt_columns(model) or frame.columns, data)
        answers = answer(_tables.samples_for(model, frame[~blank], data))
        if blank.any():
            answers = _answers.with_gaps(answers, ~blank)
        if id_column is not None:
            name = id_column if id_column not in answers else f"id {id_column}"
            answers.insert(0, name, _cells.names(frame[id_column]))
        total["rows"] += len(answers)
        total["abstained"] += int(answers["abstained"].sum())
        total["novel"] += int(answers["novel"].sum())
        yield answers
