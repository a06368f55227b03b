"""`sslart predict`: the class of each row, how sure it is, and whether the row is like anything that was learnt."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Annotated, Any

import typer

from sslart._report_summary import _answers
from sslart.cli import _models, _show, _tables


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help="a file that sslart fit wrote")],
    data: Annotated[str, typer.Argument(help="CSV, TSV or Parquet; - for standard input")],
    out: Annotated[
        str, typer.Option(help="CSV, TSV, Parquet or JSON by its name; - for standard output", metavar="FILE")
    ] = _show.STANDARD,
    id_column: Annotated[str | None, typer.Option("--id", help="column to repeat first", metavar="COLUMN")] = None,
    abstain_below: Annotated[
        float | None, typer.Option(min=0, max=1, help="leave the class blank where it is less probable", metavar="P")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="for programs")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="do not say what was written")] = False,
) -> None:
    """Answer each row: class, probability, whether the model abstained, novelty (0 to 1), and whether it is novel."""
    _show.check_target(out)
    model = _models.read_model(model_file)
    frame = _tables.read_table(data)
    _tables.check_columns(frame, [id_column], data)
    samples = _tables.samples_for(model, frame, data)
    if abstain_below is not None:
        model.set_params(abstain_below=abstain_below)
    answers = _answered(model, samples)
    if id_column is not None:
        answers.insert(0, id_column if id_column not in answers else f"id {id_column}", _tables.texts(frame[id_column]))
    _show.write(out, _written(answers, ".json" if as_json else Path(out).suffix.lower()))
    if out != _show.STANDARD and not quiet:
        _show.note(
            f"{len(answers)} rows written to {out}: {int(answers['abstained'].sum())} without an answer, "
            f"{int(answers['novel'].sum())} novel."
        )


def _answered(model: Any, samples: Any) -> Any:
    pd = _tables.pandas()
    answers = _answers(model, samples)
    familiarity = model.score_samples(samples)
    return pd.DataFrame(
        {
            "class": pd.Series(answers, dtype=object),
            "probability": model.predict_proba(samples).max(axis=1).round(6),
            "abstained": [answer is None for answer in answers],
            "novelty": (1 - familiarity).round(6),
            "novel": familiarity < model.vigilance,
        }
    )


def _written(answers: Any, kind: str) -> str | bytes:
    if kind in (".parquet", ".pq"):
        stream = io.BytesIO()
        answers.to_parquet(stream, index=False)
        return stream.getvalue()
    if kind == ".json":
        return str(answers.to_json(orient="records", indent=2, force_ascii=False, double_precision=6)) + "\n"
    return str(answers.to_csv(index=False, sep="\t" if kind in (".tsv", ".tab") else ",", lineterminator="\n"))
