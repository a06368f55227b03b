"""`sslart watch`: a decision for each row as it comes, and a model that learns meanwhile."""

from __future__ import annotations

from typing import Annotated

import typer

from sslart.cli import _output as _show
from sslart.cli._stream_worker import Learning, Post
from sslart.cli.input.lines import Lines


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help="a file that sslart fit wrote")],
    data: Annotated[str, typer.Argument(help="rows as CSV or JSON lines; - for standard input")] = _show.STANDARD,
    follow: Annotated[bool, typer.Option("--follow", help="at the end of a file, wait for more rows")] = False,
    label: Annotated[
        str | None, typer.Option(help="column with the classes, blank where not known", metavar="COLUMN")
    ] = None,
    id_column: Annotated[str | None, typer.Option("--id", help="column to repeat", metavar="COLUMN")] = None,
    learn: Annotated[
        Learning, typer.Option(help="which rows the model learns: familiar ones and labelled ones, all, or none")
    ] = Learning.familiar,
    every: Annotated[int, typer.Option(min=1, help="learn and save after so many rows", metavar="N")] = 100,
    rejects: Annotated[
        str | None, typer.Option(help="where bad rows go; MODEL.rejects.jsonl unless said", metavar="FILE")
    ] = None,
    abstain_below: Annotated[
        float | None, typer.Option(min=0, max=1, help="name no class where it is less probable", metavar="P")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="do not say at the end what was done")] = False,
) -> None:
    """Read rows as they come and write a decision for each as a line of JSON; flag what is novel.

    The model learns the rows it has decided on, N at a time, and is saved each time, at the end, and when a signal
    stops it: saved_through tells up to which row. What is novel is learnt only with a label, so that a fault is
    flagged again when it comes back. A bad row is not lost: it goes to the rejects, with the reason.
    """
    post = Post(model_file, label, id_column, rejects or f"{model_file}.rejects.jsonl", learn, every)
    if abstain_below is not None:
        post.least_probability = abstain_below
    for file in (model_file, post.rejects):
        _show.check_target(file, data)
    lines = Lines(data, follow=follow)
    try:
        with lines.until_signal():
            try:
                for batch in lines.batches(most=every):
                    post.take(batch)
            finally:
                post.learn()
    finally:
        if not quiet:
            stopped = "" if lines.stopped_by is None else f"stopped by {lines.stopped_by}; "
            _show.note(stopped + post.summary())
