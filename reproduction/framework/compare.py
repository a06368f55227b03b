"""Comparison of measured and published results: rows of tables, and tests of equal means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from reproduction import paper
from reproduction.framework.experiment import Check, Results, Summary, Table
from reproduction.framework.protocol import VIGILANCES
from reproduction.methods import models as _models
from reproduction.methods.competitors import NOT_RUN
from reproduction.paper import Printed

NOT_MEASURED = "–"
N_PRINTED = 10  # repeats behind a printed mean
MAX_SPREAD = 15.0  # a larger printed standard deviation is a misprint: 77.45 ± 21 stands among 2 to 4.4
_BASES = {"NB": "naive Bayes", "C4.5": "tree", "3NN": "3NN"}
RUN_AS = {  # competitors of the paper that were run here, by their names there and here
    **{f"SEMIB ({theirs})": f"SemiBoost, {ours}" for theirs, ours in _BASES.items()},
    "MSS-KSC": "MSS-KSC",
    "LAPSVMp": "LapSVM",
    "Mean3vm-iter": "MeanS3VM-iter",
    "Means3vm-mkl": "MeanS3VM-mkl",
    "OCSVM": "OCSVM",
    "IsolationForest": "IsolationForest",
}
# in ranks, Regularized Boost (2007) takes the place of RegBoost (2011), whose equations we do not have
RANKED_AS = {**RUN_AS, **{f"REGB ({theirs})": f"Regularized Boost, {ours}" for theirs, ours in _BASES.items()}}


def spread_of(printed: Printed) -> float | None:
    """Return the printed standard deviation, None where there is none that can be true."""
    return printed.sd if printed.sd is not None and printed.sd <= MAX_SPREAD else None


def as_text(printed: Printed | None) -> str:
    """Return a printed mean and its standard deviation."""
    if printed is None or printed.mean is None:
        return NOT_MEASURED
    return f"{printed.mean:.1f}" + (f" ± {printed.sd:.1f}" if printed.sd is not None else "")


def measured(summary: Summary | None) -> str:
    """Return a measured mean, its standard deviation, and the 95 % interval of the mean."""
    if summary is None:
        return NOT_MEASURED
    if summary.n < 2:
        return f"{summary.mean:.1f}"
    return f"{summary.mean:.1f} ± {summary.sd:.1f} [{summary.low:.1f}, {summary.high:.1f}]"


def agree(printed: Printed, summary: Summary) -> bool:
    """Return True if both means are compatible: they differ by at most two standard errors of the difference.

    A printed mean without a credible standard deviation must lie in the measured 95 % interval.
    """
    assert printed.mean is not None
    sd = spread_of(printed)
    if sd is None:
        return summary.low <= printed.mean <= summary.high
    error = math.sqrt(sd**2 / N_PRINTED + summary.sd**2 / max(1, summary.n))
    return abs(printed.mean - summary.mean) <= 2 * error


def of_evidence(results: Results, dataset: str, measure: str = "accuracy") -> Summary | None:
    """Return the results of evidence mapping."""
    return results.summary(dataset, _models.EVIDENCE, measure, _models.EVIDENCE_VIGILANCE)


def side_by_side(
    results: Results,
    table: str,
    title: str,
    datasets: Iterable[str],
    ours: Sequence[tuple[str, str]],
    measure: str = "accuracy",
    vigilances: Sequence[float] = VIGILANCES,
) -> Table:
    """Return one row per data set: what the paper prints for each of its methods, what we measured, and AutoSSLART.

    Parameters
    ----------
    ours : sequence of (our name, the paper's name) of a method
    """
    header = ["data set"]
    quoted = set()
    with_printed = results.settings.table is None
    for name, _ in ours:
        if with_printed:
            quoted.add(len(header))
            header.append(f"{name}, printed")
        header += [f"{name}, ρ={rho:g}" for rho in vigilances]
    header.append(_models.EVIDENCE)
    rows = []
    for dataset in datasets:
        cells = [dataset]
        for name, their_name in ours:
            cells += [as_text(paper.value(table, dataset, their_name, measure))] if with_printed else []
            cells += [measured(results.summary(dataset, name, measure, rho)) for rho in vigilances]
        cells.append(measured(of_evidence(results, dataset, measure)))
        rows.append(cells)
    return Table(title, header, rows, frozenset(quoted))


def others(
    results: Results, table: str, title: str, datasets: Iterable[str], skip: set[str], measure: str = "accuracy"
) -> list[Table]:
    """Return the competitors: those run here, those quoted from the paper, and why some of these were not run."""
    datasets = list(datasets)
    run = [name for name in results.distinct("method") if results.summary_exists(name, None)]
    quoted = [name for name in dict.fromkeys(one.method for one in paper.printed(table)) if name and name not in skip]
    found = []
    if run:
        rows = [[data, *(measured(results.summary(data, name, measure)) for name in run)] for data in datasets]
        found.append(Table(f"{title}: run here, same splits", ["data set", *run], rows))
    if quoted and results.settings.table is None:
        rows = [[data, *(as_text(paper.value(table, data, name, measure)) for name in quoted)] for data in datasets]
        columns = frozenset(range(1, len(quoted) + 1))
        header = ["data set", *(f"{name} ({quoted_or_run(name, run)})" for name in quoted)]
        found.append(Table(f"{title}: quoted as printed", header, rows, columns))
        reasons = why_not_run(quoted)
        found += [reasons] if reasons.rows else []
    return found


def quoted_or_run(theirs: str, run: Sequence[str]) -> str:
    """Return a text: "run here as …" for a competitor of the paper that was run here, else "quoted only"."""
    return f"run here as {RUN_AS[theirs]}" if RUN_AS.get(theirs) in run else "quoted only"


def why_not_run(names: Iterable[str]) -> Table:
    """Return the reasons why competitors of the paper are quoted only, a row for those with the same reason."""
    methods: dict[str, list[str]] = {}
    for name in names:
        if name in NOT_RUN:
            methods.setdefault(NOT_RUN[name], []).append(name)
    rows = [[", ".join(same), reason] for reason, same in methods.items()]
    return Table("Competitors that are quoted only, and why", ["method", "reason"], rows)


def agreement(
    results: Results,
    table: str,
    datasets: Iterable[str],
    ours: Sequence[tuple[str, str]],
    measure: str = "accuracy",
) -> list[Check]:
    """Return one check per printed mean: whether it is what we measured at either vigilance."""
    checks = []
    for dataset in datasets:
        for name, their_name in ours:
            printed = paper.value(table, dataset, their_name, measure)
            found = {rho: results.summary(dataset, name, measure, rho) for rho in VIGILANCES}
            known = {rho: summary for rho, summary in found.items() if summary is not None}
            if printed is None or not known:
                continue
            evidence = ", ".join(f"{summary} at ρ={rho:g}" for rho, summary in known.items())
            holds = any(agree(printed, summary) for summary in known.values())
            checks.append(Check(f"{dataset}, {name}: {measure} {as_text(printed)}", holds, evidence, printed.line))
    return checks
