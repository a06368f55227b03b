"""Requirements on sslart, with the results: the first table of docs/streams.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sslart._utils.text import markdown_table
from streams.findings import Findings, percent
from streams.rivals import ARF

RANKED_SHARES, ALL_LABELS = (0.01, 0.1), 1.0
LAG = 1.0  # points behind the best rival in the mean, with all labels
TIMES_THE_FOREST = 3.0
STEPS = 2_000  # predicted and learnt per second
GROWTH, FULL = 1.1, 1_000_000  # memory at the end as a multiple of that after so many samples, when all stores are full
Line = tuple[str, str, str, bool | None]  # what, required, found, and whether that reaches it; None: not measured


def section(
    findings: Findings,
    ours: str,
    rivals: Sequence[str],
    speed: dict[str, Any] | None,
    endless: Sequence[dict[str, Any]],
) -> str:
    lines = [*ranks(findings, ours, rivals), *all_labels(findings, ours, rivals), *forest(speed), *steps(endless)]
    verdicts = {True: "reached", False: "**not reached**", None: "not measured"}
    rows = [[what, wanted, found, verdicts[reached]] for what, wanted, found, reached in lines]
    return "## Requirements\n\n" + markdown_table(["what", "required", "ours", ""], rows)


def ranks(findings: Findings, ours: str, rivals: Sequence[str]) -> Iterator[Line]:
    for share in RANKED_SHARES:
        title = f"{percent(share)} of the labels: mean rank"
        others = findings.ranked(share, rivals)
        if not others or not findings.complete(share, [ours]):
            yield title, "the best", "", None
            continue
        found = findings.ranks(share, [ours, *others])
        best = min(others, key=found.__getitem__)
        yield title, f"at most {found[best]:.2f}: {best}", f"{found[ours]:.2f}", found[ours] <= found[best]


def all_labels(findings: Findings, ours: str, rivals: Sequence[str]) -> Iterator[Line]:
    title = "all labels: mean accuracy"
    others = findings.complete(ALL_LABELS, rivals)
    if not others or not findings.complete(ALL_LABELS, [ours]):
        yield title, f"the best rival's - {LAG:g}", "", None
        return
    found = {method: findings.mean_accuracy(ALL_LABELS, method) for method in (ours, *others)}
    best = max(others, key=found.__getitem__)
    wanted = f"{found[best] - LAG:.2f} %: {best}, {found[best]:.2f}, - {LAG:g}"
    yield title, wanted, f"{found[ours]:.2f} % ({found[ours] - found[best]:+.2f})", found[ours] >= found[best] - LAG


def forest(speed: dict[str, Any] | None) -> Iterator[Line]:
    wanted = f"{TIMES_THE_FOREST:g} times those of the {ARF}"
    if speed is None:
        yield "samples per second", wanted, "", None
        return
    for method in speed["methods"]:
        for share in sorted({row["share"] for row in speed["rows"]}):
            times = times_the_forest(speed, method, share)
            yield (
                f"samples per second, {method}, {percent(share)}",
                wanted,
                f"{times:.2f} times",
                times >= TIMES_THE_FOREST,
            )


def times_the_forest(speed: dict[str, Any], method: str, share: float) -> float:
    """Return the geometric mean over the streams of how many times faster than the forest a method is."""
    found = [row["rates"][method] / row["rates"][ARF] for row in speed["rows"] if row["share"] == share]
    return geometric_mean(found)


def geometric_mean(values: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


def steps(endless: Sequence[dict[str, Any]]) -> Iterator[Line]:
    if not endless:
        yield "AutoSSLART, one at a time, 10 % labelled", f"{STEPS:,} steps a second; memory flat", "", None
    for found in endless:
        slowest = min(row["rate"] for row in found["rows"])
        title = f"AutoSSLART, one at a time, {found['rows'][-1]['seen']:,} samples, {found['kind']}"
        yield f"{title}: steps a second", f"{STEPS:,} at any time", f"{slowest:,.0f} at the slowest", slowest >= STEPS
        growth = memory_growth(found)
        if growth is not None:
            wanted = f"at most {GROWTH:g} times that after {FULL:,}"
            yield f"{title}: memory", wanted, f"{growth:.2f} times", growth <= GROWTH


def memory_growth(found: dict[str, Any]) -> float | None:
    """Return the memory at the end as a multiple of that after a million samples; None for a shorter run."""
    sizes = [row["megabytes"] for row in found["rows"] if row["seen"] >= FULL]
    return sizes[-1] / sizes[0] if len(sizes) > 1 else None
