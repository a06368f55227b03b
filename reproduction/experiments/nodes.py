"""Experiment 8: number of nodes of SSL-ART on the UCI sets."""

from __future__ import annotations

from collections.abc import Iterator

from reproduction.experiments.uci import divided
from reproduction.framework.compare import agree, measured
from reproduction.framework.experiment import Check, Experiment, Results, Summary, Table, of_variants
from reproduction.framework.protocol import VIGILANCES, Record, records
from reproduction.framework.sets import BINARY, MULTICLASS
from reproduction.framework.settings import Settings
from reproduction.methods import models as _models
from reproduction.paper import value

UNLABELLED = "unlabelled samples"


def _work(dataset: str, seed: int, settings: Settings) -> Iterator[Record]:
    is_binary = dataset in BINARY or settings.positive(None) is not None
    task, _, _ = divided(dataset, seed, 0.2 if is_binary else 0.25, settings)
    unlabelled = {UNLABELLED: float(len(task.y) - len(task.labelled))}
    for rho in VIGILANCES:
        found = {**_models.node_counts(_models.single(task, rho)), **unlabelled}
        yield from records(dataset, "SSL-ART", found, vigilance=rho)
    yield from of_variants(settings, dataset, task, VIGILANCES, lambda model: _models.node_counts(model.model))


STAGES = ("stage 1", "stage 2", "labelled")


def _tables(results: Results) -> list[Table]:
    header = ["data set"]
    for stage in STAGES:
        header += [f"{stage}, printed", *(f"{stage}, ρ={rho:g}" for rho in VIGILANCES)]
    rows = []
    for data in results.datasets((*BINARY, *MULTICLASS)):
        cells = [data]
        for stage in STAGES:
            one = value("node", data, "SSL-ART", "nodes", stage)
            cells.append("–" if one is None or one.mean is None else f"{one.mean:.1f}")
            cells += [measured(results.summary(data, "SSL-ART", f"nodes, {stage}", rho)) for rho in VIGILANCES]
        rows.append(cells)
    tables = [Table("Nodes", header, rows, frozenset({1, 4, 7})), *(_of(results, name) for name in results.variants)]
    return [*tables, *([] if results.settings.table else [_closest_table(results)])]


def _of(results: Results, name: str) -> Table:
    rows = [
        [data, *(measured(results.summary(data, name, f"nodes, {at}", rho)) for at in STAGES for rho in VIGILANCES)]
        for data in results.distinct("dataset")
    ]
    return Table(f"Nodes of {name}", ["data set", *(f"{at}, ρ={rho:g}" for at in STAGES for rho in VIGILANCES)], rows)


def _closest_table(results: Results) -> Table:
    counts = dict.fromkeys(VIGILANCES, 0)
    for data in results.distinct("dataset"):
        for stage in STAGES:
            one = value("node", data, "SSL-ART", "nodes", stage)
            if one is not None and one.mean is not None:
                counts[_closest(one.mean, _measured_at(results, data, stage))] += 1
    rows = [[f"ρ={rho:g}", str(count)] for rho, count in counts.items()]
    return Table("Which vigilance the printed counts are closer to", ["vigilance", "printed counts"], rows)


def _measured_at(results: Results, data: str, stage: str) -> dict[float, Summary]:
    found = {rho: results.summary(data, "SSL-ART", f"nodes, {stage}", rho) for rho in VIGILANCES}
    return {rho: summary for rho, summary in found.items() if summary is not None}


def _closest(one: float, found: dict[float, Summary]) -> float:
    return min(found, key=lambda rho: abs(found[rho].mean - one))


def _checks(results: Results) -> list[Check]:
    checks = []
    for data in results.distinct("dataset"):
        for stage in STAGES:
            one = value("node", data, "SSL-ART", "nodes", stage)
            known = _measured_at(results, data, stage)
            if one is None or one.mean is None or not known:
                continue
            best = _closest(one.mean, known)
            near = abs(known[best].mean - one.mean) <= 0.1 * one.mean
            evidence = ", ".join(f"{summary.mean:.1f} at ρ={rho:g}" for rho, summary in known.items())
            holds = near or agree(one, known[best])
            checks.append(Check(f"{data}, nodes, {stage}: {one.mean:.1f} (within a tenth)", holds, evidence, one.line))
    return [*checks, *(_few_rules(results, rho) for rho in VIGILANCES)]


def _few_rules(results: Results, rho: float) -> Check:
    """Check that on every data set there are at most a third as many rules as unlabelled samples."""
    counts = {
        data: [results.mean(data, "SSL-ART", measure, rho) for measure in ("nodes, labelled", UNLABELLED)]
        for data in results.distinct("dataset")
    }
    share = {data: rules / unlabelled for data, (rules, unlabelled) in counts.items()}
    most = max(share, key=lambda data: share[data])
    fits = sum(3 * rules <= unlabelled for rules, unlabelled in counts.values())
    return Check(
        f"on all data sets there are at most a third as many rules (labelled nodes) as unlabelled samples, ρ={rho:g}",
        fits == len(counts),
        f"on {fits} of {len(counts)} data sets; the highest share is that of {most}: {counts[most][0]:.1f} rules, "
        f"{counts[most][1]:.0f} unlabelled samples",
        807,
    )


EXPERIMENT = Experiment(
    name="nodes",
    title="How many nodes: stage 1, stage 2, labelled",
    section="V-A.5 WESSL-ART vs. VESSL-ART and other ensemble models, Table V (lines 782–807)",
    question=(
        "How many nodes does SSL-ART make of the fourteen UCI sets? Splits as in the two experiments before. The paper "
        "prints no spread, so a count within a tenth of the printed one is taken for the same."
    ),
    datasets=(*BINARY, *MULTICLASS),
    work=_work,
    needs=("SSLART", "WESSLART"),
    tables=_tables,
    checks=_checks,
    reason=(
        "The printed counts are closer to those of ρ = 0.8 than to those of the 0.9 that the paper names (see the last "
        "table), and not the same at either: another encoding of the features, or another order, would explain it."
    ),
)
