"""Experiment 12: the trade-off between coverage and correctness, on human motion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sslart.experiments._framework import plots as _plots
from sslart.experiments._framework.compare import measured
from sslart.experiments._framework.experiment import Check, Experiment, Results, Table
from sslart.experiments._framework.motion_task import DATASET, NOISES, noisy_task
from sslart.experiments._framework.protocol import VIGILANCES, Record, records
from sslart.experiments._methods import models as _models

DEPTHS = (1, 2, 3, 5, 8)
METHODS = tuple(f"{name} ({mapping})" for name in ("SSL-ART", "VESSL-ART") for mapping in _models.MAPPINGS)


def _work(dataset: str, seed: int, quick: bool) -> Iterator[Record]:
    for noise in NOISES:
        task, exam = noisy_task(seed, noise)
        for rho in VIGILANCES:
            for mapping in _models.MAPPINGS:
                single, ensemble = _models.single(task, rho, mapping), _models.ensemble(task, rho, mapping)
                for depth in DEPTHS:
                    single.search_depth = depth
                    predictions = {
                        "SSL-ART": single.predict(task.X_test),
                        "VESSL-ART": _models.votes(ensemble, task.X_test, depth)["VESSL-ART"],
                    }
                    for name, found in predictions.items():
                        scores = exam.scores_of_predicted(found)
                        scores = {measure: scores[measure] for measure in ("coverage", "correctness")}
                        at = f"{noise}, T={depth}"
                        yield from records(dataset, f"{name} ({mapping})", scores, vigilance=rho, condition=at)


def _tables(results: Results) -> list[Table]:
    tables = []
    for rho in VIGILANCES:
        for noise in NOISES:
            rows = [
                [
                    f"T={depth}",
                    *(
                        f"{measured(results.summary(DATASET, name, measure, rho, f'{noise}, T={depth}'))}"
                        for name in METHODS
                        for measure in ("coverage", "correctness")
                    ),
                ]
                for depth in DEPTHS
            ]
            header = ["depth", *(f"{name}, {measure}" for name in METHODS for measure in ("coverage", "correctness"))]
            tables.append(Table(f"{noise.capitalize()}, ρ={rho:g}, %", header, rows))
    return tables


def _checks(results: Results) -> list[Check]:
    def mean(name: str, measure: str, rho: float, depths: tuple[int, ...] = (2, 3)) -> float:
        at = [f"{noise}, T={depth}" for noise in NOISES for depth in depths]
        return float(np.mean([results.mean(DATASET, name, measure, rho, one) for one in at]))

    checks = []
    for rho in VIGILANCES:
        cover = {name: mean(name, "coverage", rho) for name in METHODS}
        right = {name: mean(name, "correctness", rho) for name in METHODS}
        text = ", ".join(f"{name} {right[name]:.1f} right of {cover[name]:.1f} predicted" for name in METHODS)
        checks += [
            Check(
                f"the majority vote predicts most samples, ρ={rho:g}",
                min(cover["VESSL-ART (OtM)"], cover["VESSL-ART (OtO)"]) > 50,
                text,
            ),
            Check(
                f"the majority vote is right more often than a single model, with either mapping, ρ={rho:g}",
                all(right[f"VESSL-ART ({mapping})"] > right[f"SSL-ART ({mapping})"] for mapping in _models.MAPPINGS),
                text,
            ),
            Check(
                f"the majority vote does better with one-to-many than with one-to-one, ρ={rho:g}",
                right["VESSL-ART (OtM)"] > right["VESSL-ART (OtO)"],
                text,
            ),
        ]
    return checks


def _figure(results: Results) -> Any:
    figure, axes = _plots.panels(len(NOISES) * len(VIGILANCES))
    cases = [(noise, rho) for noise in NOISES for rho in VIGILANCES]
    for axis, (noise, rho) in zip(axes, cases, strict=True):
        for place, name in enumerate(METHODS):
            points = [
                tuple(
                    results.mean(DATASET, name, measure, rho, f"{noise}, T={depth}")
                    for measure in ("coverage", "correctness")
                )
                for depth in DEPTHS
            ]
            axis.plot(
                *zip(*points, strict=True),
                label=name,
                color=_plots.COLOURS[place],
                marker=_plots.MARKERS[place],
                linestyle=_plots.DASHES[place],
                markersize=4,
                linewidth=1.3,
            )
        axis.set(title=f"{noise}, ρ={rho:g}", xlabel="coverage, %", ylabel="correctness, %")
    return _plots.finish(figure, axes)


EXPERIMENT = Experiment(
    name="coverage",
    title="Human motion: coverage against correctness",
    question=(
        "What does searching more nodes cost? Each curve goes through T = 1, 2, 3, 5 and 8 nodes searched, for a "
        "single model and for the majority vote of seven. Data as in the two experiments before. Checks are at T = 2 "
        "and 3, as in the paper, which prints no numbers."
    ),
    datasets=(DATASET,),
    work=_work,
    tables=_tables,
    checks=_checks,
    figure=_figure,
    reason="Other recordings; mappings differ only where a node has labels of both classes, which is rare here.",
)
