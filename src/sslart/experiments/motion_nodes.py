"""Experiment 11: nodes and durations of human motion."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from sslart import SSLART
from sslart.experiments._framework.compare import measured
from sslart.experiments._framework.experiment import Check, Experiment, Results, Table
from sslart.experiments._framework.motion_task import DATASET, NOISES, noisy_task
from sslart.experiments._framework.protocol import VIGILANCES, Record
from sslart.experiments._methods import models as _models
from sslart.experiments._paper import value

TABLE = "node_real"
MILLISECONDS = "milliseconds"  # the one measure that no seed repeats
STAGES = ("stage 1", "stage 2")


def _work(dataset: str, seed: int, quick: bool) -> Iterator[Record]:
    for noise in NOISES:
        task, _ = noisy_task(seed, noise)
        labelled = task.labelled
        unlabelled = np.setdiff1d(np.arange(len(task.y)), labelled)
        bounds = (task.X.min(axis=0), task.X.max(axis=0))
        for rho in VIGILANCES:
            for mapping, name in _models.MAPPINGS.items():
                model = SSLART(rho, mapping=name, bounds=bounds, random_state=seed)
                for stage, rows in zip(STAGES, (unlabelled, labelled), strict=True):
                    start = time.perf_counter()
                    model.partial_fit(task.X[rows], task.y[rows])
                    taken = 1e3 * (time.perf_counter() - start)
                    at = f"{noise}, {stage}"
                    yield Record(dataset, mapping, "nodes", float(model.n_nodes_), rho, at)
                    yield Record(dataset, mapping, MILLISECONDS, taken, rho, at)


def _tables(results: Results) -> list[Table]:
    conditions = [f"{noise}, {stage}" for noise in NOISES for stage in STAGES]
    rows = []
    for mapping in _models.MAPPINGS:
        for measure in ("nodes", MILLISECONDS):
            quoted = [value(TABLE, DATASET, mapping, measure, at) for at in conditions]
            cells = ["–" if one is None or one.mean is None else f"{one.mean:.1f}" for one in quoted]
            rows.append([mapping, measure, "printed", *cells])
            for rho in VIGILANCES:
                found = [results.summary(DATASET, mapping, measure, rho, at) for at in conditions]
                digits = [measured(one) if measure == "nodes" or one is None else f"{one.mean:.2f}" for one in found]
                rows.append([mapping, measure, f"ρ={rho:g}", *digits])
    return [Table("Nodes and durations, “printed” rows quoted", ["mapping", "measure", "", *conditions], rows)]


def _checks(results: Results) -> list[Check]:
    checks = []
    for rho in VIGILANCES:

        def nodes(mapping: str, noise: str, stage: str, rho: float = rho) -> float:
            return results.mean(DATASET, mapping, "nodes", rho, f"{noise}, {stage}")

        final = {mapping: [nodes(mapping, noise, "stage 2") for noise in NOISES] for mapping in _models.MAPPINGS}
        taken = {
            stage: np.mean([results.mean(DATASET, "OtM", MILLISECONDS, rho, f"{noise}, {stage}") for noise in NOISES])
            for stage in STAGES
        }
        checks += [
            Check(
                f"stage 2 adds nodes, ρ={rho:g}",
                all(
                    nodes(mapping, "noise-free", "stage 2") > nodes(mapping, "noise-free", "stage 1")
                    for mapping in final
                ),
                ", ".join(
                    f"{mapping} {nodes(mapping, 'noise-free', 'stage 1'):.1f} → {values[0]:.1f}"
                    for mapping, values in final.items()
                ),
            ),
            Check(
                f"one-to-one makes more nodes than one-to-many, ρ={rho:g}",
                all(one >= many for one, many in zip(final["OtO"], final["OtM"], strict=True))
                and final["OtO"] != final["OtM"],
                f"{final['OtO']} against {final['OtM']}",
            ),
            Check(
                f"one-to-many makes about as many nodes with noise as without (within a tenth), ρ={rho:g}",
                max(final["OtM"]) <= 1.1 * min(final["OtM"]),
                ", ".join(f"{n:.1f}" for n in final["OtM"]),
            ),
            Check(
                f"stage 1 takes longer than stage 2, ρ={rho:g}",
                bool(taken["stage 1"] > taken["stage 2"]),
                f"{taken['stage 1']:.2f} ms and {taken['stage 2']:.2f} ms",
            ),
        ]
    return checks


EXPERIMENT = Experiment(
    name="motion_nodes",
    title="Human motion: nodes and durations",
    question=(
        "How many nodes does each stage make, and how long does it take? Data as in the experiment before. "
        "Durations are "
        "of this machine and this kernel; only their order can be compared."
    ),
    datasets=(DATASET,),
    work=_work,
    tables=_tables,
    checks=_checks,
    reason="Other recordings; and a stage takes less than a millisecond here, where fixed costs of a call show.",
)
