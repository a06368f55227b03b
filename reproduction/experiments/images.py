"""Experiment 5: images with 500 labels and 8500 unlabelled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from reproduction.framework import plots as _plots
from reproduction.framework.compare import agreement, of_evidence, others, side_by_side, spread_of
from reproduction.framework.experiment import Check, Experiment, Results, Summary, Table, refuse_tables
from reproduction.framework.protocol import VIGILANCES, Exam, Record, Split, Task, records, task_and_exam
from reproduction.framework.sets import IMAGES
from reproduction.framework.settings import Settings
from reproduction.methods import competitors as _competitors
from reproduction.methods import models as _models
from reproduction.paper import printed, value

TABLE = "sing"
OURS = (("SSL-ART (OtM)", "SSL-ART (OtM)"),)
N_LABELLED, N_UNLABELLED, N_TEST = 500, 8500, 298
COMPETITORS = {
    "LabelSpreading": _competitors.SEMI_SUPERVISED["LabelSpreading"],
    "SS-BLS": _competitors.broad(n_enhancement=1000),
    **_competitors.SUPERVISED,
}


def _work(dataset: str, seed: int, settings: Settings) -> Iterator[Record]:
    bunch = settings.load(dataset)
    drawn = np.random.RandomState(seed).permutation(len(bunch.target))[: N_LABELLED + N_UNLABELLED + N_TEST]
    rows = Split(drawn[:N_LABELLED], drawn[N_LABELLED:-N_TEST], drawn[-N_TEST:])
    task, exam = task_and_exam(bunch.data, bunch.target, rows, seed)
    for rho in VIGILANCES:
        model = _models.single(task, rho)
        found = {**exam.scores(model.predict(task.X_test)), **_models.node_counts(model)}
        yield from records(dataset, OURS[0][0], found, vigilance=rho)
    yield from scores_of_others(dataset, task, exam, COMPETITORS, settings)


def scores_of_others(
    dataset: str, task: Task, exam: Exam, competitors: Mapping[str, _competitors.Method], settings: Settings
) -> Iterator[Record]:
    """Yield the scores of evidence mapping, of competitors, and of the user's variants."""
    predicted = _models.evidence(task).predict(task.X_test)
    yield from records(dataset, _models.EVIDENCE, exam.scores(predicted), vigilance=_models.EVIDENCE_VIGILANCE)
    for name, method in competitors.items():
        yield from records(dataset, name, exam.scores(method(task)))
    for one in settings.variants:
        yield from records(dataset, one.name, exam.scores(one.fitted(task).predict(task.X_test)))


def _tables(results: Results) -> list[Table]:
    title = "Accuracy, %"
    return [
        side_by_side(results, TABLE, title, IMAGES, OURS),
        *others(results, TABLE, title, IMAGES, {their_name for _, their_name in OURS}),
    ]


def _checks(results: Results) -> list[Check]:
    here = [dataset for dataset in IMAGES if dataset in results.distinct("dataset")]
    return [*agreement(results, TABLE, here, OURS), *(_rank_check(results, dataset) for dataset in here)]


def _rank_check(results: Results, dataset: str) -> Check:
    """Check who is ahead, SSL-ART or the broad learning systems (their figures are quoted)."""
    ours = {rho: results.mean(dataset, OURS[0][0], "accuracy", rho) for rho in VIGILANCES}
    theirs = {
        str(one.method): one.mean or 0.0
        for one in printed(TABLE, dataset=dataset, measure="accuracy")
        if one.method != OURS[0][1]
    }
    if dataset == "USPS":
        statement, holds = "FLAP-BLS is more accurate than SSL-ART", max(ours.values()) < theirs["FLAP-BLS"]
    else:
        statement = "SSL-ART is more accurate than the broad learning systems"
        holds = max(ours.values()) > max(theirs.values())
    evidence = ", ".join(
        [f"SSL-ART {mean:.1f} at ρ={rho:g}" for rho, mean in ours.items()]
        + [f"{name} {mean:.1f} as printed" for name, mean in theirs.items()]
        + [f"SS-BLS {results.mean(dataset, 'SS-BLS', 'accuracy'):.1f} run here"]
    )
    return Check(f"{dataset}: {statement}", holds, evidence, 738)


def _figure(results: Results) -> Any:
    return printed_and_measured(results, TABLE, list(results.distinct("dataset")), OURS)


def printed_and_measured(results: Results, table: str, datasets: list[str], ours: tuple[tuple[str, str], ...]) -> Any:
    """Draw what the paper prints beside what was measured at both vigilances, and with evidence mapping."""
    series: dict[str, list[tuple[float, float, float] | None]] = {}
    for name, their_name in ours:
        points: list[tuple[float, float, float] | None] = []
        for dataset in datasets:
            one = value(table, dataset, their_name, "accuracy")
            if one is None or one.mean is None:
                points.append(None)
            else:
                sd = spread_of(one) or 0.0
                points.append((one.mean, one.mean - sd, one.mean + sd))
        series[f"{name}, printed"] = points
        for rho in VIGILANCES:
            series[f"{name}, ρ={rho:g}"] = _points(results.summary(data, name, "accuracy", rho) for data in datasets)
    series[_models.EVIDENCE] = _points(of_evidence(results, dataset) for dataset in datasets)
    return _plots.dots("Accuracy: printed (± sd) and measured (95 % interval)", datasets, series, "accuracy, %")


def _points(found: Iterable[Summary | None]) -> list[tuple[float, float, float] | None]:
    return [None if one is None else (one.mean, one.low, one.high) for one in found]


EXPERIMENT = Experiment(
    name="images",
    title="USPS, NORB and MNIST with 500 labels",
    section="V-A.4 SSL-ART vs. other single SSL models, Table II (lines 659–669, 735–739)",
    question=(
        "How accurate is SSL-ART on images with few labels? 9298 samples are drawn at random: 500 labelled, 8500 "
        "unlabelled, 298 for the test." + _models.ABOUT_EVIDENCE
    ),
    datasets=tuple(IMAGES),
    work=_work,
    refuses=refuse_tables(
        "it draws 500 labelled, 8,500 unlabelled and 298 test samples from large sets of images; binary and multiclass "
        "compare models on a table"
    ),
    tables=_tables,
    checks=_checks,
    figure=_figure,
    reason=(
        "The paper gives no preprocessing beyond scaling to [0, 1]. With 298 test samples the standard error of one "
        "repeat is about two points."
    ),
)
