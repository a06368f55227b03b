"""`sslart fit`: learn a model from a table, of which some rows are labelled."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any

import typer

from sslart import SSLART, WESSLART, AutoSSLART, save
from sslart.cli import _evaluate as _quality
from sslart.cli import _output as _show
from sslart.cli.input import columns as _tables
from sslart.cli.input import files as _files
from sslart.cli.input import sampling as _rows
from sslart.metrics._quality import Estimate


class Mapping(StrEnum):
    """How boxes come to classes."""

    evidence = "evidence"
    one_to_many = "one-to-many"
    one_to_one = "one-to-one"


def run(
    data: Annotated[str, typer.Argument(help=_show.DATA_HELP)],
    label: Annotated[str, typer.Option(help="column with the classes, blank where not known", metavar="COLUMN")],
    out: Annotated[str, typer.Option(help="where the model goes", metavar="FILE")] = "model.sslart",
    id_column: Annotated[str | None, typer.Option("--id", help="column that names samples", metavar="COLUMN")] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(help="columns to leave out: A,B or given often", metavar="COLUMNS")
    ] = None,
    category: Annotated[
        list[str] | None, typer.Option(help="columns whose numbers are codes, not amounts", metavar="COLUMNS")
    ] = None,
    mapping: Annotated[Mapping | None, typer.Option(help="evidence, unless you know better")] = None,
    vigilance: Annotated[float, typer.Option(min=0, max=1, help="how alike the samples of a box must be")] = 0.9,
    members: Annotated[int | None, typer.Option(min=1, help="an ensemble of so many", metavar="M")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="of everything that is random")] = 0,
    most_rows: Annotated[
        int, typer.Option(min=1, help="of a longer file, learn from a fair draw: labelled rows first", metavar="N")
    ] = 1_000_000,
    as_json: Annotated[bool, typer.Option("--json", help="for programs")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="print nothing")] = False,
) -> None:
    """Learn from a table and write the model. Blanks in the label column are unlabelled samples."""
    if out == _show.STANDARD:
        raise ValueError("A model goes to a file: give its name with --out.")
    _show.check_target(out, data)
    frame, n_rows = _rows.keep(_labelled_pieces(data, label, quiet), label, most_rows, seed)
    if len(frame) < n_rows:
        _show.note(
            f"{data} has {n_rows} rows: learnt from {most_rows} of them, labelled ones first. --most-rows sets how "
            "many."
        )
    left_out = [name for name in (id_column, *_tables.split_names(ignore, frame)) if name is not None]
    categories = _tables.split_names(category, frame)
    _tables.check_columns(frame.columns, [label, *left_out, *categories], data)
    if label in left_out:
        raise ValueError(f"Column {label!r} cannot be the label and be left out: name another column.")
    features = [name for name in frame.columns if name not in (label, *left_out)]
    frame = frame[~_tables.blank_rows(frame, features, data)] if features else frame
    labels = _tables.labels_of(frame, label, data)
    if not any(one is not None for one in labels):
        raise ValueError(f"Column {label!r} of {data} is blank throughout: label at least one row of each class.")
    samples = _tables.features_of(frame.drop(columns=[label, *left_out]), data, categories)
    columns = _tables.understood(samples)
    if len({one for one in labels if one is not None}) == 1:
        _show.note(f"column {label!r} has one class, which will be the answer to everything: label a row of another.")
    model = _model(mapping, vigilance, members, seed)
    start = time.perf_counter()
    model.fit(samples, labels)
    seconds = time.perf_counter() - start
    save(model, out)
    if quiet:
        return
    counts = Counter(one for one in labels if one is not None)
    quality = _quality.measured(model, samples, labels, seed)
    told = _told(model, counts, len(labels), quality, seconds, out)
    if as_json:
        _show.print_json({**told, "columns": [column._asdict() for column in columns]})
    else:
        _print(told, columns, label, left_out)


def _labelled_pieces(data: str, label: str, quiet: bool) -> Iterator[Any]:
    for frame in _files.read_pieces(data, progress=not quiet):
        _tables.check_columns(frame.columns, [label], data)
        yield frame


def _model(mapping: Mapping | None, vigilance: float, members: int | None, seed: int) -> Any:
    if members is not None:
        return WESSLART(members, mapping=str(mapping or Mapping.evidence), vigilance=vigilance, random_state=seed)
    if mapping in (None, Mapping.evidence):
        return AutoSSLART(vigilance, random_state=seed)
    return SSLART(vigilance, mapping=str(mapping), random_state=seed)


def _told(
    model: Any, counts: Counter[str], n_samples: int, quality: _quality.Measured, seconds: float, out: str
) -> dict[str, Any]:
    return {
        "model": out,
        "estimator": type(model).__name__,
        "samples": n_samples,
        "unlabelled": n_samples - sum(counts.values()),
        "labels": dict(sorted(counts.items())),
        "settings": {name: value for name, value in model.get_params().items() if value is not None},
        "evidence": _evidence(model),
        "quality": quality.how,
        "accuracy": None if quality.accuracy is None else vars(quality.accuracy),
        "boxes": int(model.n_nodes_),
        "seconds": round(seconds, 3),
    }


def _evidence(model: Any) -> dict[str, float] | None:
    """Return how much each family of evidence counts, over all members."""
    members = _quality.members_that_speak(model)
    weights: Counter[str] = Counter()
    for member in members:
        weights.update({name: weight / len(members) for name, weight in member.family_weights_.items()})
    return {name: round(weight, 4) for name, weight in weights.most_common()} or None


def _print(told: dict[str, Any], columns: list[_tables.Column], label: str, left_out: list[str]) -> None:
    rows = [(one.name, one.kind, str(one.missing), one.detail) for one in columns]
    rows += [(name, "left out", "", "") for name in left_out]
    classes = ", ".join(f"{name}: {count}" for name, count in told["labels"].items())
    rows.append((label, "label", str(told["unlabelled"]), classes))
    _show.print_table(("column", "taken for", "missing", "values"), rows)
    accuracy = told["accuracy"]
    lines = [
        ("samples", f"{told['samples']}, of which {told['samples'] - told['unlabelled']} labelled"),
        ("settings", ", ".join(f"{name}={value}" for name, value in told["settings"].items())),
    ]
    if told["evidence"]:
        weights = [f"{name} {100 * weight:.0f} %" for name, weight in told["evidence"].items()]
        lines.append(("evidence", ", ".join(weights)))
    measured = "not measured: a class has one label only" if accuracy is None else _show.percent(Estimate(**accuracy))
    lines += [
        (told["quality"], measured),
        ("boxes", str(told["boxes"])),
        ("time", f"{told['seconds']:.2f} s"),
        ("written", told["model"]),
    ]
    print()
    _show.print_table((told["estimator"], ""), lines)
