"""Cost of `fit`, compared with the paper's O(N_a² + N_b²): `python benchmarks/cost.py` (under a minute).

Prints the tables of docs/paper.md and writes them there, with the picture docs/images/cost.png; with `--print` it
writes nothing. Times are those of the processor, so that other programs matter little.
"""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np

from data import mixture
from sslart import SSLART

mpl.use("Agg")
import matplotlib.pyplot as plt

DOCS = Path(__file__).parent.parent / "docs"
MARKS = ("<!-- made by benchmarks/cost.py -->", "<!-- until here -->")
N_SAMPLES, N_FEATURES, VIGILANCE = 20_000, 8, 0.9
VIGILANCES = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
SIZES = (2_500, 5_000, 10_000, 20_000, 40_000, 80_000)
CLASSES = (2, 10, 100, 1_000)
LABELLED = 4  # one sample in so many has a label
TURNS = 7


class Cost(NamedTuple):
    """The least time of a few fits, and the boxes that they made."""

    at: float
    nodes: int
    seconds: float
    per_sample: float  # µs


class Case(NamedTuple):
    """One fit to measure: `at` is the number that a table varies."""

    at: float
    vigilance: float = VIGILANCE
    n_samples: int = N_SAMPLES
    n_classes: int = 10


def measured(cases: list[Case]) -> list[Cost]:
    """Fit SSL-ART to mixtures of Gaussians, a quarter of them labelled; cases take turns."""
    models, times = {}, {case: [] for case in cases}
    for case in cases * TURNS:
        X, _ = mixture(case.n_samples, N_FEATURES, n_clusters=200)
        y = np.random.RandomState(0).randint(case.n_classes, size=case.n_samples)
        y[np.arange(case.n_samples) % LABELLED > 0] = -1
        models[case] = SSLART(case.vigilance, random_state=0)
        start = time.process_time()
        models[case].fit(X, y)
        times[case].append(time.process_time() - start)
    least = {case: min(taken) for case, taken in times.items()}
    return [Cost(case.at, models[case].n_nodes_, least[case], 1e6 * least[case] / case.n_samples) for case in cases]


def slope(costs: list[Cost]) -> float:
    """Return b of the line log(time per sample) = a + b log(nodes) through the measured points."""
    return float(np.polyfit(np.log([one.nodes for one in costs]), np.log([one.per_sample for one in costs]), 1)[0])


def table(name: str, costs: list[Cost], worst: str) -> str:
    """Return a table with a row per measurement; `worst` is the count whose square the paper gives."""
    square = [(one.at if worst == "N_b" else one.nodes) ** 2 for one in costs]
    lines = [
        f"| {name} | boxes N_a | fit, ms | µs per sample | this, relative | {worst}², relative |",
        "|---|---|---|---|---|---|",
    ]
    for one, worst_case in zip(costs, square, strict=True):
        relative = one.per_sample / costs[0].per_sample
        lines.append(
            f"| {one.at:,g} | {one.nodes:,} | {1e3 * one.seconds:.3g} | {one.per_sample:.2g} | {relative:.2g} | "
            f"{worst_case / square[0]:,.0f} |"
        )
    return "\n".join(lines)


def draw(by_vigilance: list[Cost], by_size: list[Cost], path: Path) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(9.2, 4.0), layout="constrained")
    panels = ((f"{N_SAMPLES:,} samples, by vigilance", by_vigilance), (f"ρ = {VIGILANCE}, by samples", by_size))
    for axis, (title, costs) in zip(axes, panels, strict=True):
        nodes = np.array([one.nodes for one in costs])
        axis.loglog(nodes, [one.per_sample for one in costs], "o-", color="#0072b2", label="measured")
        start = costs[0].per_sample
        axis.loglog(nodes, start * nodes / nodes[0], "--", color="#555555", label="∝ N_a: one scan of all boxes")
        square = start * (nodes / nodes[0]) ** 2
        axis.loglog(nodes, square, ":", color="#d55e00", label="∝ N_a²: the paper's worst case")
        axis.set(
            title=title, xlabel="boxes N_a", ylabel="µs per sample (processor time)", ylim=(start / 3, 100 * start)
        )
        axis.grid(alpha=0.3)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--print", action="store_true", dest="only_print", help="print the tables, write nothing")
    arguments = parser.parse_args()
    by_vigilance = measured([Case(rho, vigilance=rho) for rho in VIGILANCES])
    by_size = measured([Case(n_samples, n_samples=n_samples) for n_samples in SIZES])
    by_classes = measured([Case(n_classes, n_classes=n_classes) for n_classes in CLASSES])
    text = "\n\n".join(
        [
            f"By vigilance: {N_SAMPLES:,} samples of {N_FEATURES} features (a mixture of Gaussians), one in {LABELLED} "
            f"with one of ten labels, one thread, the least time of {TURNS}. Relative is to the first row. Time per "
            f"sample grows as N_a to the power of {slope(by_vigilance):.2f}.",
            table("vigilance", by_vigilance, "N_a"),
            f"By samples, at ρ = {VIGILANCE}. Time per sample grows as N_a to the power of {slope(by_size):.2f}.",
            table("samples", by_size, "N_a"),
            f"By classes, at ρ = {VIGILANCE} and with {N_SAMPLES:,} samples.",
            table("classes N_b", by_classes, "N_b"),
        ]
    )
    print(text)
    if not arguments.only_print:
        draw(by_vigilance, by_size, DOCS / "images" / "cost.png")
        page = DOCS / "paper.md"
        block = f"{MARKS[0]}\n\n{text}\n\n{MARKS[1]}"
        page.write_text(re.sub(f"{MARKS[0]}.*{MARKS[1]}", lambda _: block, page.read_text(), flags=re.DOTALL))


if __name__ == "__main__":
    main()
