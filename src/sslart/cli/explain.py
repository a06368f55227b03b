"""The commands `sslart explain`, `what-if`, `rules` and `report`."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import sslart
from sslart._data.text_parsing import is_date
from sslart._mapping.model_view import ModelView, view_of
from sslart._tables import cells
from sslart._tables.cells import plain
from sslart._tables.columns import read_samples_for, rows_with_values, sample_of_row, samples_for, split_names
from sslart._tables.files import read_table
from sslart._utils.files import STANDARD
from sslart._utils.notes import note
from sslart._utils.text import DateName, listed, plural, printable, printable_lines
from sslart.cli import _options as option
from sslart.cli._model_file import read_model
from sslart.cli._output import A_BOX, ESCAPED, check_target, print_json, show, write
from sslart.cli._remote import ServedModel, connected, model_of
from sslart.reporting._page import check_page_path

MAX_ROWS = 5000  # importances are measured on at most this many rows
Format = StrEnum("Format", ["text", "csv", "json", "md", "html", "sql", "py"])
Kind = StrEnum("Kind", ["model", "boxes"])
RANGE_CURE = "write --range COLUMN=LOW:HIGH for a number or date, or --range COLUMN=A,B for categories"


def explain(
    model_file: option.ModelOrName,
    data: Annotated[
        str | None, typer.Argument(metavar="DATA", help=f"{option.DATA_HELP}; optional with --global")
    ] = None,
    row: Annotated[int | None, option.count("number of the row; 1 is the first below the header")] = None,
    of_model: Annotated[
        bool,
        typer.Option(
            "--global",
            help="print the importance of each feature over all rows of DATA, or without DATA over all boxes",
        ),
    ] = False,
    encoding: option.Encoding = None,
    server: option.Server = None,
    token: option.Token = None,
    as_json: option.Json = False,
) -> None:
    """Explain the prediction for one row: feature contributions, similar boxes, and a change that alters it.

    With --global, print the importance of each feature instead: its mean absolute contribution to the scores of the
    classes, over the rows of DATA or, without DATA, over samples drawn from the boxes of the model.

    With --server, a service explains the row, and MODEL is the name of a model there.
    """
    if of_model and row is not None:
        raise ValueError("--global explains all rows and --row one row: give only one of the two.")
    if not of_model and (data is None or row is None):
        raise ValueError("Give a table and --row N to explain one row, or --global for the importance of each feature.")
    if server is not None and row is not None:
        with connected(server, token) as client:
            (found,) = client.explain(model_file, [ServedModel(client, model_file, str(data)).row(row, encoding)])
        _show(found, found.pop("text"), as_json)
        return
    model = model_of(model_file, server, token)
    if row is not None:
        (found,) = model.explain(sample_of_row(model, str(data), row, encoding))
    else:
        if not view_of(model).uses_evidence:
            raise ValueError(
                f"The model in {model_file} predicts from single boxes, so feature importances are not defined for it. "
                "Fit one with evidence mapping: sslart fit without --mapping or with --mapping evidence. "
                "For this one, sslart rules prints its boxes."
            )
        found = model.feature_importances(None if data is None else _spread_samples(model, data, encoding))
    _show(found.to_dict(), str(found), as_json)


def _show(values: dict[str, Any], text: str, as_json: bool) -> None:
    if as_json:
        print_json(values)
    else:
        show(text)


def _spread_samples(model: Any, data: str, encoding: str | None) -> Any:
    """Return the rows of a table as model input; an evenly spaced subset if there are more than `MAX_ROWS`."""
    frame = rows_with_values(model, read_table(data, encoding), data)
    if len(frame) > MAX_ROWS:
        note(f"{data} has {len(frame)} rows: importances are measured on {MAX_ROWS} evenly spaced ones.")
        frame = frame.iloc[np.linspace(0, len(frame) - 1, MAX_ROWS).astype(np.int64)]
    return samples_for(model, frame, data)


def what_if(
    model_file: option.ModelOrName,
    data: option.Data,
    row: Annotated[int, option.count("number of the row; 1 is the first below the header")],
    target: Annotated[str | None, typer.Option(help="target class; default: any other than the predicted one")] = None,
    fixed: Annotated[
        list[str] | None, option.column("column that must not change; repeat it, or separate columns with commas")
    ] = None,
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            help="allowed values: COLUMN=LOW:HIGH for a number or date (either side may be empty), or "
            "COLUMN=A,B for categories; may be repeated",
            metavar="LIMITS",
        ),
    ] = None,
    n: Annotated[int, typer.Option("--n", min=1, help="number of counterfactuals", metavar="CHANGES")] = 3,
    plausible: Annotated[
        bool, typer.Option("--plausible", help="only changes that lead to rows similar to the training data")
    ] = False,
    encoding: option.Encoding = None,
    server: option.Server = None,
    token: option.Token = None,
    as_json: option.Json = False,
) -> None:
    """Print counterfactuals: different small changes of a row that change its prediction, fewest columns first.

    New numbers are within the range of the training data and have no more decimals; new categories are known ones.
    Missing values stay missing. Every change is checked by predicting it. If fewer are found than asked for, the last
    line gives the reason.

    With --server, a service finds the changes, and MODEL is the name of a model there.
    """
    if server is not None:
        with connected(server, token) as client:
            features = client.features(model_file)
            changes = client.counterfactual(
                model_file,
                ServedModel(client, model_file, data).row(row, encoding),
                target,
                fixed=split_names(fixed, features),
                ranges=_ranges({name: {} if kind == "category" else None for name, kind in features.items()}, ranges),
                n=n,
                plausible=plausible,
            )
        text = changes.pop("text")
        _show({name: value for name, value in changes.items() if name not in ("model", "sequence")}, text, as_json)
        return
    model = read_model(model_file)
    view = view_of(model)
    sample = sample_of_row(model, data, row, encoding)
    wanted: Any = target
    if target is not None:
        wanted = {plain(str(one)): one for one in view.classes.tolist()}.get(plain(target), target)
    found = model.counterfactual(
        sample,
        target=wanted,
        fixed=split_names(fixed, view.feature_names),
        ranges=_ranges(_categories(view), ranges),
        n=n,
        plausible=plausible,
    )
    _show(found.to_dict(), str(found), as_json)


def _categories(view: ModelView) -> dict[str, dict[str, Any] | None]:
    """Return the categories of each column, keyed by their text; None for numeric columns."""
    encoder = view.members[0].encoder
    return {
        name: {plain(str(one)): one for one in encoder.categories_of(place)} if place in encoder.categorical else None
        for place, name in enumerate(view.feature_names)
    }


def _ranges(columns: Mapping[str, Mapping[str, Any] | None], texts: Sequence[str] | None) -> dict[str, Any]:
    """Parse --range options into the allowed values of each column."""
    ranges: dict[str, Any] = {}
    for text in texts or ():
        names = [name for name in columns if text.startswith(f"{name}=")]
        if not names:
            raise ValueError(
                f"--range {text!r} does not start with COLUMN=, a column of the model: {RANGE_CURE}. The "
                f"columns are {listed(list(columns), 12)}."
            )
        name = max(names, key=len)
        limits, known = text.removeprefix(f"{name}="), columns[name]
        if known is not None:
            parts = [limits] if limits in known else [part.strip() for part in limits.split(",")]
            ranges[name] = [known.get(part, part) for part in parts]
        else:
            ranges[name] = _dates(text, limits) if isinstance(name, DateName) else _limits(text, limits)
    return ranges


def _dates(text: str, limits: str) -> tuple[str | None, str | None]:
    """Parse LOW:HIGH as dates, either of which may be empty; times contain colons too."""
    cuts = [place for place, character in enumerate(limits) if character == ":"]
    for cut in cuts:
        low, high = limits[:cut].strip(), limits[cut + 1 :].strip()
        if all(not side or is_date(side) for side in (low, high)):
            return low or None, high or None
    raise ValueError(
        f"--range {text!r} is not two dates separated by a colon (either may be empty): write --range "
        "COLUMN=2021-03-01:2021-06-30."
    )


def _limits(text: str, limits: str) -> tuple[float | None, float | None]:
    low, colon, high = limits.partition(":")
    try:
        first, last = (float(side) if side.strip() else None for side in (low, high))
    except ValueError as error:
        raise ValueError(f"--range {text!r} has a limit that is not a number: {RANGE_CURE}.") from error
    if not colon:
        raise ValueError(f"--range {text!r} has one limit: {RANGE_CURE}; one side may be empty, as in {text}:")
    return first, last


def rules(
    model_file: option.ModelOrName,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA",
            help=f"{option.DATA_HELP}; rows that the rules are fitted to; default: samples of the boxes",
        ),
    ] = None,
    kind: Annotated[
        Kind, typer.Option(help="model: a short list that agrees with the model; boxes: one rule for each labelled box")
    ] = Kind.model,
    label: Annotated[
        str | None,
        typer.Option(help="column with the classes, blank where unknown, to measure how often rules are right"),
    ] = None,
    max_rules: Annotated[
        int | None, typer.Option(min=1, help="with --kind model: maximum number of rules (default 12)")
    ] = None,
    max_conditions: Annotated[
        int | None, typer.Option(min=1, help="with --kind model: maximum number of conditions per rule (default 4)")
    ] = None,
    min_confidence: Annotated[
        float | None, typer.Option(min=0, max=1, help="with --kind boxes: leave out rules with lower confidence")
    ] = None,
    min_support: Annotated[
        float | None, typer.Option(min=0, help="with --kind boxes: leave out rules with fewer samples")
    ] = None,
    form: Annotated[
        Format | None, typer.Option("--format", help="output format; default: by the extension of --out, else text")
    ] = None,
    out: Annotated[str, option.file("output file; - for standard output")] = STANDARD,
    encoding: option.Encoding = None,
    server: option.Server = None,
    token: option.Token = None,
    keep_formulas: option.KeepFormulas = False,
    as_json: Annotated[bool, typer.Option("--json", help="the same as --format json")] = False,
) -> None:
    """Print the rules of a model.

    With --server, a copy of the model MODEL is fetched from a service.
    """
    files = (model_file if server is None else None, data)
    check_target(out, *(one for one in files if one is not None))
    by_name = Path(out).suffix.lower().removeprefix(".")
    chosen = Format.json if as_json else form or Format.__members__.get(by_name, Format.text)
    _check_options(kind, chosen, data, label, max_rules or max_conditions, min_confidence, min_support)
    model = model_of(model_file, server, token)
    if kind is Kind.boxes:
        rules = model.rules(kind="boxes", min_confidence=min_confidence, min_support=min_support)
        if not rules:
            raise ValueError("No rule is left: lower --min-confidence or --min-support.")
    else:
        X, y = (None, None) if data is None else read_samples_for(model, data, encoding, label)[1:]
        rules = model.rules(X, y, max_rules=max_rules, max_conditions=max_conditions)
    content = _written(rules, chosen, keep_formulas=keep_formulas)
    if kind is Kind.boxes and chosen is Format.text:
        content = f"{plural(len(rules), 'rule')}, one for each box with a label; {A_BOX}.\n\n{content}"
    write(out, _visible(content, chosen) if out == STANDARD else content)


def _check_options(
    kind: Kind, form: Format, data: str | None, label: str | None, of_model: Any, *of_boxes: float | None
) -> None:
    """Raise a ValueError for incompatible options."""
    if kind is Kind.boxes and (data is not None or label is not None or of_model):
        raise ValueError("DATA, --label, --max-rules and --max-conditions belong to --kind model: leave them out.")
    if kind is Kind.model and any(one is not None for one in of_boxes):
        raise ValueError("--min-confidence and --min-support belong to --kind boxes: add it, or leave them out.")
    if kind is Kind.boxes and form in (Format.sql, Format.py):
        raise ValueError(
            "Rules of boxes overlap and cannot be written as code: leave out --kind boxes for SQL and Python."
        )
    if label is not None and data is None:
        raise ValueError("--label names a column of a file: give the file after the model.")


def _visible(content: str, form: Format) -> str:
    """Return rules for standard output; raise a ValueError if escaping control characters would change them."""
    if form is Format.csv:
        cells = [[printable(cell) for cell in row] for row in csv.reader(io.StringIO(content, newline=""))]
        shown = io.StringIO()
        csv.writer(shown, lineterminator="\n").writerows(cells)
        if shown.getvalue() != content:
            note(ESCAPED)
        return shown.getvalue()
    if form is Format.sql and printable_lines(content) != content:
        raise ValueError(
            "A name or category in these rules contains control characters, which SQL cannot escape: give a file with "
            "--out."
        )
    return content


def _written(rules: Any, form: Format, *, keep_formulas: bool) -> str:
    match form:
        case Format.csv:
            return str(rules.to_csv(keep_formulas=keep_formulas))
        case Format.json:
            return f"{rules.to_json(indent=2)}\n"
        case Format.html:
            return f"<!doctype html>\n<meta charset='utf-8'>\n<title>Rules</title>\n{rules.to_html()}\n"
        case Format.md | Format.py:
            return str(rules.to_markdown() if form is Format.md else rules.to_python())
    return f"{rules.to_sql() if form is Format.sql else rules.to_text()}\n"


def report(
    model_file: option.Model,
    data: option.Data,
    label: Annotated[str | None, typer.Option(help="column with the true classes, blank where unknown")] = None,
    out: Annotated[str, option.file("HTML file to write")] = "report.html",
    id_column: Annotated[str | None, option.column("column of row IDs", "--id")] = None,
    held_out: Annotated[
        bool | None,
        typer.Option("--held-out/--learnt", help="rows were not (or were) in the training data; default: detected"),
    ] = None,
    encoding: option.Encoding = None,
    quiet: option.Quiet = False,
) -> None:
    """Write an HTML report on a model: quality, rules, and an explanation of each prediction."""
    if out == STANDARD:
        raise ValueError("The report is a file: give its name with --out.")
    check_target(out, model_file, data)
    check_page_path(out)
    model = read_model(model_file)
    frame, samples, truth = read_samples_for(model, data, encoding, label, id_column)
    written = sslart.report(
        model,
        samples,
        truth,
        out,
        held_out=held_out,
        sample_names=None if id_column is None else [text or "" for text in cells.names(frame[id_column])],
        sample_numbers=(frame.index + 1).tolist(),  # as explain --row counts
    )
    if not quiet:
        note(f"{written} written.")
