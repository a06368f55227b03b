"""`python -m reproduction run`: run the experiments of the paper and compare measured with published results."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from reproduction.framework.own_table import OwnTable
from reproduction.framework.settings import Settings
from reproduction.methods.variant import Variant
from reproduction.runner import report
from reproduction.runner.registry import EXPERIMENTS, GROUPS
from reproduction.runner.run import refusal, write_records
from reproduction.runner.run import run as run_experiments
from sslart._utils.optional import optional
from sslart.cli._output import print_json, print_table, show


def run(
    context: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="experiments; without any, they are listed")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="all experiments; with --data or --model all that can take them")
    ] = False,
    data: Annotated[
        Path | None, typer.Option(help="a table of your own: CSV, TSV, Parquet, Arrow or Excel", metavar="FILE")
    ] = None,
    label: Annotated[str | None, typer.Option(help="its column with the classes", metavar="COLUMN")] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="a column of it to leave out", metavar="COLUMN")] = None,
    use: Annotated[
        list[str] | None,
        typer.Option(help="a column of it to learn from though it names rows or is free text", metavar="COLUMN"),
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="the positive of its two classes; the rarer one if not given", metavar="CLASS")
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="a classifier of your own that joins, such as sklearn.svm:SVC", metavar="PACKAGE:CLASS"),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="fewer repeats and smaller samples, to try it out")] = False,
    repeats: Annotated[int | None, typer.Option(min=1, help="how often each is repeated", metavar="N")] = None,
    seed: Annotated[int, typer.Option(help="of all random choices", metavar="S")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="how many processes share the work", metavar="J")] = 1,
    out: Annotated[Path, typer.Option(help="folder for the results", metavar="DIR")] = Path("results/run"),
    as_json: Annotated[bool, typer.Option("--json", help="print the outcomes as JSON")] = False,
) -> None:
    """Run the paper's experiments and write a report. An interrupted run continues where it stopped."""
    if not names and not every:
        rows = [(name, one.title, one.section) for name, one in EXPERIMENTS.items()]
        print_table(("name", "experiment", "section of the paper"), rows)
        return
    if (data is None) != (label is None) or (data is None and (ignore or use or positive)):
        raise typer.BadParameter(
            "--data and --label go together; --ignore, --use and --positive need them", ctx=context
        )
    unknown = [name for name in names or () if name not in (*EXPERIMENTS, *GROUPS)]
    if unknown:
        known = ", ".join((*EXPERIMENTS, *GROUPS))
        raise typer.BadParameter(f"no experiment {unknown[0]!r}; there are {known}", ctx=context)
    table = None if data is None or label is None else OwnTable.of(data, label, ignore or (), use or (), positive)
    settings = Settings(seed, quick, table, tuple(Variant.of(name) for name in dict.fromkeys(model or ())))
    start = time.perf_counter()
    done = run_experiments(
        _suitable(names or [], settings), out, settings, repeats=repeats, jobs=jobs, progress=_Progress()
    )
    write_records(done, out)
    report.write(done, out)
    found = report.outcomes(done)
    if as_json:
        print_json({name: _as_data(word, checks) for name, (word, checks) in found.items()})
        return
    for name, (word, checks) in found.items():
        n_hold = sum(check.holds for check in checks)
        counts = f": {n_hold} of {len(checks)} statements hold" if table is None else ""
        show(f"{name:13} {report.WORDS[word]}{counts}")
    for (name, dataset), reason in done.missing.items():
        show(f"{name}: not run on {dataset}. {reason}", to=sys.stderr)
    show(f"{out / 'report.html'} written, after {time.perf_counter() - start:.0f} s", to=sys.stderr)


def _suitable(names: list[str], settings: Settings) -> list[str]:
    """Return the experiments to run: those named, or of all, and of a group, those that can take table and models."""
    wanted: list[str] = []
    for name in names or ["all"]:
        group = GROUPS.get(name, () if names else tuple(EXPERIMENTS))
        why_not = {one: refusal(one, settings) for one in group or (name,)}
        left = [one for one, why in why_not.items() if not why]
        if not left:
            raise ValueError(next(iter(why_not.values())))
        for why in filter(None, why_not.values()):
            show(f"left out: {why}", to=sys.stderr)
        wanted += left
    return list(dict.fromkeys(wanted))


def _as_data(word: str, checks: Any) -> dict[str, Any]:
    return {"outcome": word, "statements": [vars(check) for check in checks]}


class _Progress:
    """A bar where standard error is a terminal, else a line per piece of work."""

    def __init__(self) -> None:
        self._bar: Any = None

    def __call__(self, n_done: int, n_all: int, what: str) -> None:
        if self._bar is None and sys.stderr.isatty():
            self._bar = optional("tqdm", "reproduction").tqdm(total=n_all, unit="piece", file=sys.stderr)
        if self._bar is not None:
            self._bar.n = n_done
            self._bar.set_postfix_str(what)
            if n_done == n_all:
                self._bar.close()
        elif what:
            show(f"{n_done}/{n_all} {what}", to=sys.stderr)
