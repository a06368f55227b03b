"""The page of the benchmark: docs/bounded.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from machine import description


@dataclass(frozen=True)
class Fit:
    """One fit of AutoSSLART: seconds of one processor, what came of it, and its accuracy in per cent."""

    name: str
    n_samples: int
    n_features: int
    limit: int | None
    seed: int
    seconds: float
    n_nodes: int
    vigilance: float
    accuracy: float


def in_words(limit: int | None) -> str:
    return "no limit" if limit is None else f"{limit:,}"


def times(fits: Sequence[Fit]) -> str:
    """Return a table with a line per long table: seconds without and with the limit, and their ratio."""
    lines = [
        "| table | samples × features | boxes | seconds | limit | boxes | `vigilance_` | seconds | times faster "
        "| accuracy |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for without, limited in zip(fits[::2], fits[1::2], strict=True):
        lines.append(
            f"| {without.name} | {without.n_samples:,} × {without.n_features} | {without.n_nodes:,} "
            f"| {without.seconds:.1f} | {in_words(limited.limit)} | {limited.n_nodes:,} | {limited.vigilance:.2f} "
            f"| {limited.seconds:.1f} | {without.seconds / limited.seconds:.1f} "
            f"| {without.accuracy:.1f}, {limited.accuracy:.1f} |"
        )
    return "\n".join(lines)


def accuracies(fits: Sequence[Fit]) -> str:
    """Return a table with a line per table: mean accuracy over the draws of labels by limit, and boxes without one."""
    limits = list(dict.fromkeys(fit.limit for fit in fits))
    lines = [
        f"| table | samples × features | boxes without limit | {' | '.join(map(in_words, limits))} |",
        "|---|---|---|" + "---|" * len(limits),
    ]
    means: dict[int | None, list[float]] = {limit: [] for limit in limits}
    for name in dict.fromkeys(fit.name for fit in fits):
        own = [fit for fit in fits if fit.name == name]
        cells = []
        for limit in limits:
            mean = fmean(fit.accuracy for fit in own if fit.limit == limit)
            seconds = fmean(fit.seconds for fit in own if fit.limit == limit)
            means[limit].append(mean)
            cells.append(f"{mean:.1f} ({seconds:.1f} s)")
        n_nodes = round(fmean(fit.n_nodes for fit in own if fit.limit is None))
        lines.append(f"| {name} | {own[0].n_samples:,} × {own[0].n_features} | {n_nodes:,} | {' | '.join(cells)} |")
    lines.append(f"| **mean** | | | {' | '.join(f'{fmean(means[limit]):.1f}' for limit in limits)} |")
    return "\n".join(lines)


def page(long: Sequence[Fit], short: Sequence[Fit], n_labels: int, command: str) -> str:
    n_seeds = len({fit.seed for fit in short})
    return f"""# What a limit on the number of boxes costs and saves

Written by `{command}` in the folder `benchmarks` (`make bounded`).

AutoSSLART learns tables of which {n_labels} samples have a label, without `max_nodes` and with it. Seconds are those of
one processor, fits take turns, and accuracy is in per cent of 5,000 samples that were not learnt. The tables *uniform*
and *clusters* are made: the first has no clusters at all, the second sixteen.

## Time of a long table

Without a limit first, then with the limit of AutoSSLART.

{times(long)}

## Accuracy

The mean over {n_seeds} draws of {n_labels} labels, by the limit, and the seconds of a fit in brackets.

{accuracies(short)}

Measured on {description()}.
"""
