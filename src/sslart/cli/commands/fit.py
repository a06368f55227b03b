"""`sslart fit`: learn a model from a table, of which some rows are labelled."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from sslart import save
from sslart._mapping.guarantees.levels import measured_guarantees
from sslart._mapping.model_view import view_of
from sslart._utils.intervals import Estimate
from sslart.cli._costs import COST_HELP, COST_METAVAR, as_options, read_costs
from sslart.cli._evaluate import Measured, measured
from sslart.cli._model_options import Mapping, ModelOptions, Voting, in_words, validation_share
from sslart.cli._output import (
    DATA_HELP,
    JSON_HELP,
    QUIET_HELP,
    STANDARD,
    check_target,
    note,
    percent,
    print_json,
    print_table,
)
from sslart.cli.input.columns import Column, blank_rows, check_columns, features_of, labels_of, split_names, understood
from sslart.cli.input.files import read_pieces
from sslart.cli.input.sampling import sample_rows
from sslart.explain._text.importances import rows

N_IMPORTANT = 5
SHOWN_ERROR = 0.05  # of the guarantees, that in the table


def run(
    data: Annotated[str, typer.Argument(help=DATA_HELP)],
    label: Annotated[str, typer.Option(help="column with the classes, blank where not known", metavar="COLUMN")],
    out: Annotated[str, typer.Option(help="file for the model", metavar="FILE")] = "model.sslart",
    id_column: Annotated[str | None, typer.Option("--id", help="column that names samples", metavar="COLUMN")] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(help="columns to leave out: A,B or given often", metavar="COLUMNS")
    ] = None,
    category: Annotated[
        list[str] | None, typer.Option(help="columns whose numbers are codes, not amounts", metavar="COLUMNS")
    ] = None,
    vigilance: Annotated[float, typer.Option(min=0, max=1, help="ρ: how alike the samples of a box must be")] = 0.9,
    mapping: Annotated[Mapping | None, typer.Option(help="how classes follow from boxes")] = None,
    choice: Annotated[float | None, typer.Option(help="α above 0: prefers larger boxes as it grows")] = None,
    learning_rate: Annotated[
        float | None, typer.Option(min=0, max=1, help="β above 0: how far a box moves towards a sample")
    ] = None,
    match_tracking: Annotated[
        float | None, typer.Option(min=0, help="δ: how far a box of another class raises vigilance (one-to-one)")
    ] = None,
    members: Annotated[int | None, typer.Option(min=1, help="fit an ensemble of so many members", metavar="M")] = None,
    voting: Annotated[Voting | None, typer.Option(help="of an ensemble: weighted by class, or one each")] = None,
    validation: Annotated[
        Any,
        typer.Option(
            parser=validation_share,
            metavar="labelled|SHARE",
            help="where class weights are measured: on learnt labels, or on a share of them that is held out",
        ),
    ] = None,
    quorum: Annotated[
        int | None, typer.Option(min=1, help="how many members must vote; matters with predict --search-depth")
    ] = None,
    cost: Annotated[list[str] | None, typer.Option(help=COST_HELP, metavar=COST_METAVAR)] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="of all random choices")] = 0,
    most_rows: Annotated[
        int, typer.Option(min=1, help="of a longer file, learn a random sample: labelled rows first", metavar="N")
    ] = 1_000_000,
    as_json: Annotated[bool, typer.Option("--json", help=JSON_HELP)] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help=QUIET_HELP)] = False,
) -> None:
    """Learn from a table and write the model. Blanks in the label column are unlabelled samples.

    Without further options the model is AutoSSLART, with nothing to tune. An option of the paper (--mapping one-to-many
    or one-to-one, --choice, --learning-rate, --match-tracking) makes SSL-ART instead, and --members an ensemble of it:
    WESSL-ART, or VESSL-ART with --voting majority. Their mapping is one-to-many where it is not given.
    """
    options = ModelOptions(
        vigilance, seed, mapping, choice, learning_rate, match_tracking, members, voting, validation, quorum
    )
    options.check()
    if out == STANDARD:
        raise ValueError("A model goes to a file: give its name with --out.")
    check_target(out, data)
    frame, n_rows = sample_rows(_labelled_pieces(data, label, quiet), label, most_rows, seed)
    if len(frame) < n_rows:
        note(
            f"{data} has {n_rows} rows: learnt from {most_rows} of them, labelled ones first. --most-rows sets how "
            "many."
        )
    left_out = [name for name in (id_column, *split_names(ignore, frame)) if name is not None]
    categories = split_names(category, frame)
    check_columns(frame.columns, [label, *left_out, *categories], data)
    if label in left_out:
        raise ValueError(f"Column {label!r} cannot be the label and be left out: name another column.")
    features = [name for name in frame.columns if name not in (label, *left_out)]
    frame = frame[~blank_rows(frame, features, data)] if features else frame
    labels = labels_of(frame, label, data)
    if not any(one is not None for one in labels):
        raise ValueError(f"Column {label!r} of {data} is blank throughout: label at least one row of each class.")
    samples = features_of(frame.drop(columns=[label, *left_out]), data, categories)
    columns = understood(samples)
    if len({one for one in labels if one is not None}) == 1:
        note(f"column {label!r} has one class, which the model will predict for every row: label a row of another.")
    costs = read_costs(cost, sorted({one for one in labels if one is not None}))
    model = options.estimator().set_params(decision_costs=costs)
    start = time.perf_counter()
    model.fit(samples, labels)
    seconds = time.perf_counter() - start
    save(model, out)
    if quiet:
        return
    counts = Counter(one for one in labels if one is not None)
    summary = _summary(model, counts, len(labels), measured(model, samples, labels, seed), seconds, out)
    if as_json:
        print_json({**summary, "columns": [column._asdict() for column in columns]})
    else:
        _print(summary, columns, label, left_out)


def _labelled_pieces(data: str, label: str, quiet: bool) -> Iterator[Any]:
    for frame in read_pieces(data, progress=not quiet):
        check_columns(frame.columns, [label], data)
        yield frame


def _summary(
    model: Any, counts: Counter[str], n_samples: int, quality: Measured, seconds: float, out: str
) -> dict[str, Any]:
    return {
        "model": out,
        "estimator": type(model).__name__,
        "description": in_words(model),
        "samples": n_samples,
        "unlabelled": n_samples - sum(counts.values()),
        "labels": dict(sorted(counts.items())),
        "settings": {
            name: as_options(value) if name == "decision_costs" else value
            for name, value in model.get_params().items()
            if value is not None
        },
        "evidence": _evidence(model),
        "quality": quality.how,
        "accuracy": None if quality.accuracy is None else vars(quality.accuracy),
        "guarantees": _guarantees(model),
        "important_features": _most_important(model),
        "boxes": int(model.n_nodes_),
        "seconds": round(seconds, 3),
    }


def _evidence(model: Any) -> dict[str, float] | None:
    """Return how much each family of basis functions counts, over all members; None without evidence mapping."""
    members = view_of(model).members
    weights: Counter[str] = Counter()
    for member in members:
        weights.update({name: weight / len(members) for name, weight in member.mapping.family_weights.items()})
    return {name: round(weight, 4) for name, weight in weights.most_common()} or None


def _guarantees(model: Any) -> list[dict[str, Any]] | None:
    """Return what can be promised, at several levels of error; None where no labels are kept, or too few."""
    found = measured_guarantees(view_of(model))
    if found is None:
        return None
    return [{**dataclasses.asdict(one), "sentence": one.sentence("rows")} for one in found.levels]


def _most_important(model: Any) -> list[dict[str, str]] | None:
    """Return what matters most to the predictions, with its direction; None without evidence mapping."""
    if not view_of(model).uses_evidence:
        return None
    found = rows(model.feature_importances())[:N_IMPORTANT]
    return [{"feature": name, "share": share, "raises": words} for name, _, share, words in found]


def _print(summary: dict[str, Any], columns: list[Column], label: str, left_out: list[str]) -> None:
    rows = [(one.name, one.kind, str(one.missing), one.detail) for one in columns]
    rows += [(name, "left out", "", "") for name in left_out]
    classes = ", ".join(f"{name}: {count}" for name, count in summary["labels"].items())
    rows.append((label, "label", str(summary["unlabelled"]), classes))
    print_table(("column", "taken for", "missing", "values"), rows)
    accuracy = summary["accuracy"]
    lines = [
        *summary["description"].items(),
        ("samples", f"{summary['samples']}, of which {summary['samples'] - summary['unlabelled']} labelled"),
        ("settings", ", ".join(f"{name}={value}" for name, value in summary["settings"].items())),
    ]
    if summary["evidence"]:
        weights = [f"{name} {100 * weight:.0f} %" for name, weight in summary["evidence"].items()]
        lines.append(("evidence", ", ".join(weights)))
    title = "most important features"
    for one in summary["important_features"] or ():
        lines.append((title, f"{one['feature']} ({one['share']}): {one['raises']}"))
        title = ""
    value = "not measured: a class has too few labels" if accuracy is None else percent(Estimate(**accuracy))
    lines += [
        (f"accuracy ({summary['quality']})", value),
        *(("guarantee", one["sentence"]) for one in summary["guarantees"] or () if one["max_error"] == SHOWN_ERROR),
        ("boxes", str(summary["boxes"])),
        ("time", f"{summary['seconds']:.2f} s"),
        ("written", summary["model"]),
    ]
    print()
    print_table((summary["estimator"], ""), lines)
