"""`sslart what-if`: counterfactuals of a row, small changes with a different prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from sslart._mapping.model_view import ModelView, view_of
from sslart._tables.cells import plain
from sslart._tables.columns import split_names
from sslart._tables.files import pandas
from sslart._tables.rows import sample_of_row
from sslart._utils.text import listed
from sslart.cli._model_file import read_model
from sslart.cli._output import DATA_HELP, JSON_HELP, print_json, show
from sslart.cli.input.encoding_option import EncodingOption
from sslart.cli.service.connection import MODEL_OR_NAME_HELP, ServerOption, TokenOption, connected
from sslart.cli.service.served import ServedModel

RANGE_CURE = "write --range COLUMN=LOW:HIGH for a number, and --range COLUMN=A,B for categories"


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_OR_NAME_HELP)],
    data: Annotated[str, typer.Argument(help=DATA_HELP)],
    row: Annotated[int, typer.Option(min=1, help="which row; 1 is the first below the header", metavar="N")],
    target: Annotated[
        str | None, typer.Option(help="the class that is wanted; any other than the present one if not given")
    ] = None,
    fixed: Annotated[
        list[str] | None,
        typer.Option(help="column that never changes; may be given often, or once with commas", metavar="COLUMN"),
    ] = None,
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            help="limits of new values, COLUMN=LOW:HIGH for a number, where a side may be left out, or COLUMN=A,B "
            "for categories; may be given often",
            metavar="LIMITS",
        ),
    ] = None,
    n: Annotated[int, typer.Option("--n", min=1, help="how many changes are wanted", metavar="CHANGES")] = 3,
    plausible: Annotated[bool, typer.Option("--plausible", help="only changes to samples like those learnt")] = False,
    encoding: EncodingOption = None,
    server: ServerOption = None,
    token: TokenOption = None,
    as_json: Annotated[bool, typer.Option("--json", help=JSON_HELP)] = False,
) -> None:
    """Print several unlike changes of a row, each of which leads to another prediction: those of few columns first.

    New values are values that occur: numbers within the learnt range, with no more decimals than the data, and
    categories that were learnt. What is missing in the row stays missing. Every change has been predicted. If there
    are fewer than wanted, the last line gives the reason.

    With --server a service finds the changes, and MODEL is the name of a model there.
    """
    if server is not None:
        with connected(server, token) as client:
            features = client.features(model_file)
            changes = client.counterfactual(
                model_file,
                ServedModel(client, model_file, data).row(row, encoding),
                target,
                fixed=split_names(fixed, pandas().DataFrame(columns=list(features))),
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
    columns = pandas().DataFrame(columns=view.feature_names)
    found = model.counterfactual(
        sample,
        target=None if target is None else _class(view, target),
        fixed=split_names(fixed, columns),
        ranges=_ranges(_categories(view), ranges),
        n=n,
        plausible=plausible,
    )
    _show(found.to_dict(), str(found), as_json)


def _show(values: dict[str, Any], text: str, as_json: bool) -> None:
    if as_json:
        print_json(values)
    else:
        show(text)


def _class(view: ModelView, text: str) -> Any:
    """Return the class that a text stands for; the text where there is none."""
    return {plain(str(one)): one for one in view.classes.tolist()}.get(plain(text), text)


def _categories(view: ModelView) -> dict[str, dict[str, Any] | None]:
    """Return the categories of each column by their text; None for numbers."""
    encoder = view.members[0].encoder
    return {
        name: {plain(str(one)): one for one in encoder.categories_of(place)} if place in encoder.categorical else None
        for place, name in enumerate(view.feature_names)
    }


def _ranges(columns: Mapping[str, Mapping[str, Any] | None], texts: Sequence[str] | None) -> dict[str, Any]:
    """Return the limits of new values by column, of columns with their categories."""
    ranges: dict[str, Any] = {}
    for text in texts or ():
        names = [name for name in columns if text.startswith(f"{name}=")]
        if not names:
            raise ValueError(
                f"--range {text!r} does not begin with a column of the model and an equals sign: {RANGE_CURE}. The "
                f"columns are {listed(list(columns), 12)}."
            )
        name = max(names, key=len)
        limits, known = text.removeprefix(f"{name}="), columns[name]
        if known is not None:
            parts = [limits] if limits in known else [part.strip() for part in limits.split(",")]
            ranges[name] = [known.get(part, part) for part in parts]
        else:
            ranges[name] = _limits(text, limits)
    return ranges


def _limits(text: str, limits: str) -> tuple[float | None, float | None]:
    low, colon, high = limits.partition(":")
    try:
        first, last = (float(side) if side.strip() else None for side in (low, high))
    except ValueError as error:
        raise ValueError(f"--range {text!r} has a limit that is not a number: {RANGE_CURE}.") from error
    if not colon:
        raise ValueError(f"--range {text!r} has one limit: {RANGE_CURE}; one side may be empty, as in {text}:")
    return first, last
