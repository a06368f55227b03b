"""`sslart reproduce`: the experiments of the paper on the real data, measured results beside printed ones."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from sslart._utils.optional import heavy, optional
from sslart.cli._output import print_json, print_table, show


def run(
    context: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="experiments; without any, they are listed")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="all experiments")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="fewer repeats and smaller samples, to try it out")] = False,
    repeats: Annotated[int | None, typer.Option(min=1, help="how often each is repeated", metavar="N")] = None,
    seed: Annotated[int, typer.Option(help="of all random choices", metavar="S")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="how many processes share the work", metavar="J")] = 1,
    out: Annotated[Path, typer.Option(help="folder for the results", metavar="DIR")] = Path("reproduction"),
    as_json: Annotated[bool, typer.Option("--json", help="print the outcomes as JSON")] = False,
) -> None:
    """Run the paper's experiments and write a report. An interrupted run continues where it stopped."""
    experiments, report = heavy("sslart.experiments"), heavy("sslart.experiments._runner.report")
    if not names and not every:
        rows = [(name, one.title, one.section) for name, one in experiments.EXPERIMENTS.items()]
        print_table(("name", "experiment", "section of the paper"), rows)
        return
    unknown = [name for name in names or () if name not in experiments.EXPERIMENTS]
    if unknown:
        raise typer.BadParameter(
            f"no experiment {unknown[0]!r}; there are {', '.join(experiments.EXPERIMENTS)}", ctx=context
        )
    start = time.perf_counter()
    done = experiments.run(
        list(experiments.EXPERIMENTS) if every else names or [],
        out,
        experiments.Settings(seed, quick),
        repeats=repeats,
        jobs=jobs,
        progress=_Progress(),
    )
    experiments.write_records(done, out)
    experiments.write_report(done, out)
    found = report.outcomes(done)
    if as_json:
        print_json({name: _as_data(word, checks) for name, (word, checks) in found.items()})
        return
    for name, (word, checks) in found.items():
        n_hold = sum(check.holds for check in checks)
        show(f"{name:13} {report.WORDS[word]}: {n_hold} of {len(checks)} statements hold")
    for (name, dataset), reason in done.missing.items():
        show(f"{name}: not run on {dataset}. {reason}", to=sys.stderr)
    show(f"{out / 'report.html'} written, after {time.perf_counter() - start:.0f} s", to=sys.stderr)


def _as_data(word: str, checks: Any) -> dict[str, Any]:
    return {"outcome": word, "statements": [vars(check) for check in checks]}


class _Progress:
    """A bar where tqdm is installed and standard error is a terminal, else a line per piece of work."""

    def __init__(self) -> None:
        self._bar: Any = None

    def __call__(self, n_done: int, n_all: int, what: str) -> None:
        if self._bar is None:
            self._bar = self._new_bar(n_all)
        if self._bar:
            self._bar.n = n_done
            self._bar.set_postfix_str(what)
            if n_done == n_all:
                self._bar.close()
        elif what:
            show(f"{n_done}/{n_all} {what}", to=sys.stderr)

    @staticmethod
    def _new_bar(n_all: int) -> Any:
        if not sys.stderr.isatty():
            return False
        try:
            tqdm = optional("tqdm", "data")
        except ImportError:
            return False
        return tqdm.tqdm(total=n_all, unit="piece", file=sys.stderr)
