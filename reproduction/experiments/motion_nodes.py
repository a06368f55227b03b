"""Experiment 11: nodes and durations of human motion."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from reproduction.framework.compare import measured
from reproduction.framework.experiment import Check, Experiment, Results, Table, refuse_tables
from reproduction.framework.motion_task import DATASET, NOISES, NOT_A_TABLE, noisy_task
from reproduction.framework.protocol import VIGILANCES, Record
from reproduction.framework.settings import Settings
from reproduction.methods import models as _models
from reproduction.methods.variant import imported
from reproduction.paper import value
from sslart import SSLART

TABLE = "node_real"
MILLISECONDS = "milliseconds"  # the one measure that no seed repeats
N_TIMES = 20  # the shortest of so many durations is recorded
STAGES = ("stage 1", "stage 2")


def _work(dataset: str, seed: int, settings: Settings) -> Iterator[Record]:
    models: dict[str, tuple[Any, dict[str, str]]] = {
        **{mapping: (SSLART, {"mapping": name}) for mapping, name in _models.MAPPINGS.items()},
        **{one.name: (imported(one.name), {}) for one in settings.variants},
    }
    for noise in NOISES:
        task, _ = noisy_task(seed, noise, settings)
        labelled = task.labelled
        unlabelled = np.setdiff1d(np.arange(len(task.y)), labelled)
        bounds = (task.X.min(axis=0), task.X.max(axis=0))
        for rho in VIGILANCES:
            for mapping, (kind, given) in models.items():
                taken: dict[str, list[float]] = {stage: [] for stage in STAGES}
                for _ in range(N_TIMES):
                    model = kind(vigilance=rho, bounds=bounds, random_state=seed, **given)
                    nodes = {}
                    for stage, rows in zip(STAGES, (unlabelled, labelled), strict=True):
                        start = time.perf_counter()
                        model.partial_fit(task.X[rows], task.y[rows])
                        taken[stage].append(1e3 * (time.perf_counter() - start))
                        nodes[stage] = float(model.n_nodes_)
                for stage in STAGES:
                    at = f"{noise}, {stage}"
                    yield Record(dataset, mapping, "nodes", nodes[stage], rho, at)
                    yield Record(dataset, mapping, MILLISECONDS, min(taken[stage]), rho, at)


def _tables(results: Results) -> list[Table]:
    conditions = [f"{noise}, {stage}" for noise in NOISES for stage in STAGES]
    rows = []
    for mapping in (*_models.MAPPINGS, *results.variants):
        for measure in ("nodes", MILLISECONDS):
            quoted = [value(TABLE, DATASET, mapping, measure, at) for at in conditions]
            cells = ["–" if one is None or one.mean is None else f"{one.mean:.1f}" for one in quoted]
            rows.append([mapping, measure, "printed", *cells])
            for rho in VIGILANCES:
                found = [results.summary(DATASET, mapping, measure, rho, at) for at in conditions]
                digits = [measured(one) if measure == "nodes" or one is None else f"{one.mean:.3f}" for one in found]
                rows.append([mapping, measure, f"ρ={rho:g}", *digits])
    return [Table("Nodes and durations, “printed” rows quoted", ["mapping", "measure", "", *conditions], rows)]


def _checks(results: Results) -> list[Check]:
    checks = []
    for rho in VIGILANCES:

        def nodes(mapping: str, noise: str, stage: str, rho: float = rho) -> float:
            return results.mean(DATASET, mapping, "nodes", rho, f"{noise}, {stage}")

        final = {mapping: [nodes(mapping, noise, "stage 2") for noise in NOISES] for mapping in _models.MAPPINGS}
        taken = {
            (mapping, stage): [
                results.mean(DATASET, mapping, MILLISECONDS, rho, f"{noise}, {stage}") for noise in NOISES
            ]
            for mapping in _models.MAPPINGS
            for stage in STAGES
        }
        slow, fast = taken["OtO", "stage 2"], taken["OtM", "stage 2"]
        first = {stage: float(np.mean(taken["OtM", stage])) for stage in STAGES}
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
                916,
            ),
            Check(
                f"one-to-one makes more nodes than one-to-many, ρ={rho:g}",
                all(one >= many for one, many in zip(final["OtO"], final["OtM"], strict=True))
                and final["OtO"] != final["OtM"],
                f"{_list(final['OtO'])} against {_list(final['OtM'])} ({', '.join(NOISES)})",
                917,
            ),
            Check(
                f"one-to-many makes about as many nodes with noise as without (within a tenth), ρ={rho:g}",
                max(final["OtM"]) <= 1.1 * min(final["OtM"]),
                _list(final["OtM"]),
                917,
            ),
            Check(
                f"one-to-one makes more nodes with either noise than without, ρ={rho:g}",
                min(final["OtO"][1:]) > final["OtO"][0],
                f"{_list(final['OtO'])} ({', '.join(NOISES)})",
                918,
            ),
            Check(
                f"match tracking takes time: stage 2 of one-to-one is slower than that of one-to-many, ρ={rho:g}",
                all(one > many for one, many in zip(slow, fast, strict=True)),
                f"{_list(slow, 3)} ms against {_list(fast, 3)} ms ({', '.join(NOISES)})",
                918,
            ),
            Check(
                f"stage 1 takes longer than stage 2, ρ={rho:g}",
                first["stage 1"] > first["stage 2"],
                f"{first['stage 1']:.3f} ms and {first['stage 2']:.3f} ms",
                919,
            ),
            Check(
                f"one-to-many is the more efficient mapping: fewer nodes, shorter, with and without noise, ρ={rho:g}",
                all(np.less(final["OtM"], final["OtO"])) and all(np.less(fast, slow)),
                f"nodes {_list(final['OtM'])} against {_list(final['OtO'])}, "
                f"{_list(fast, 3)} ms against {_list(slow, 3)} ms",
                920,
            ),
        ]
    return checks


def _list(numbers: list[float], digits: int = 1) -> str:
    return ", ".join(f"{number:.{digits}f}" for number in numbers)


EXPERIMENT = Experiment(
    name="motion_nodes",
    title="Human motion: nodes and durations",
    section="V-C.2 Execution duration and complexity, Table VIII (lines 914–940)",
    question=(
        "How many nodes does each stage make, and how long does it take? Data and noise as in the experiment before. "
        f"Durations are of this machine and this kernel, the shortest of {N_TIMES} runs; only their order can be "
        "compared."
    ),
    datasets=(DATASET,),
    work=_work,
    refuses=refuse_tables(NOT_A_TABLE),
    needs=("SSLART",),
    tables=_tables,
    checks=_checks,
    reason=(
        "Other recordings; and a stage takes less than half a millisecond here, most of it the fixed costs of a call, "
        "beside which the few nodes that match tracking adds do not show."
    ),
)
