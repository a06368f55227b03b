"""`sslart reproduce`: the experiments of the paper on the real data, measured beside printed."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any


def add_to(subparsers: Any) -> None:
    """Add the command `reproduce`."""
    parser = subparsers.add_parser(
        "reproduce",
        help="run the paper's experiments and write a report",
        description="Run the paper's experiments and write a report. An interrupted run goes on where it stopped.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="experiments; without any, they are listed")
    parser.add_argument("--all", action="store_true", help="all experiments")
    parser.add_argument("--quick", action="store_true", help="fewer repeats and smaller samples, to try it out")
    parser.add_argument("--repeats", type=_count, metavar="N", help="how often each experiment is repeated")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of everything that is random (default 0)")
    parser.add_argument("--jobs", type=_count, default=1, metavar="J", help="how many processes share the work")
    parser.add_argument("--out", type=Path, default=Path("reproduction"), metavar="DIR", help="where results go")
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    parser.set_defaults(run=run, parser=parser)


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return number


def run(arguments: argparse.Namespace) -> int:
    """Do what the command line asks for."""
    from sslart import experiments
    from sslart.experiments import _report

    if not arguments.names and not arguments.all:
        for name, experiment in experiments.EXPERIMENTS.items():
            print(f"{name:13} {experiment.title}")
        return 0
    unknown = [name for name in arguments.names if name not in experiments.EXPERIMENTS]
    if unknown:
        arguments.parser.error(f"no experiment {unknown[0]!r}; there are {', '.join(experiments.EXPERIMENTS)}")
    names = list(experiments.EXPERIMENTS) if arguments.all else arguments.names
    start = time.perf_counter()
    done = experiments.run(
        names,
        arguments.out,
        experiments.Settings(arguments.seed, arguments.quick),
        repeats=arguments.repeats,
        jobs=arguments.jobs,
        progress=_Progress(),
    )
    experiments.write_records(done, arguments.out)
    experiments.write_report(done, arguments.out)
    judged = _report.verdicts(done)
    if arguments.json:
        print(json.dumps({name: _as_data(word, checks) for name, (word, checks) in judged.items()}, indent=2))
        return 0
    for name, (word, checks) in judged.items():
        print(
            f"{name:13} {_report.WORDS[word]}: {sum(check.holds for check in checks)} of {len(checks)} statements hold"
        )
    for (name, dataset), reason in done.missing.items():
        print(f"{name}: not run on {dataset}. {reason}", file=sys.stderr)
    print(f"{arguments.out / 'report.html'} written, after {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0


def _as_data(word: str, checks: Any) -> dict[str, Any]:
    return {"verdict": word, "statements": [vars(check) for check in checks]}


class _Progress:
    """A bar on stderr where tqdm is installed and someone is looking, else a line per piece of work."""

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
            print(f"{n_done}/{n_all} {what}", file=sys.stderr, flush=True)

    @staticmethod
    def _new_bar(n_all: int) -> Any:
        if not sys.stderr.isatty():
            return False
        try:
            tqdm = importlib.import_module("tqdm")
        except ImportError:
            return False
        return tqdm.tqdm(total=n_all, unit="piece", file=sys.stderr)
