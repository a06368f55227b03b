"""Experiment 2: one-to-many against one-to-one, weighted against majority, with 10 to 90 % of the labels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from reproduction.framework import plots as _plots
from reproduction.framework import votes as _votes
from reproduction.framework.compare import measured
from reproduction.framework.experiment import Check, Experiment, Results, Table, of_variants
from reproduction.framework.protocol import VIGILANCES, Exam, Record, Task, records, split, task_and_exam
from reproduction.framework.settings import Settings
from reproduction.methods import models as _models
from reproduction.methods.variant import FittedVariant
from sslart import WESSLART

DATASET = "HDC"
SHARES = tuple(range(10, 100, 10))
ALL_METHODS = _votes.ensemble_names()
METHODS = ALL_METHODS[:4]  # with weights measured on learnt samples
DISAGREE = "members disagree"


def _condition(share: int) -> str:
    return f"{share}% labelled"


def _work(dataset: str, seed: int, settings: Settings) -> Iterator[Record]:
    bunch = settings.load(dataset)
    for share in SHARES[::2] if settings.quick else SHARES:
        rows = split(bunch.target, np.random.RandomState(seed), test=0.2, labelled=share / 100)
        task, exam = task_and_exam(bunch.data, bunch.target, rows, seed)
        at = _condition(share)
        for rho in VIGILANCES:
            for mapping in _models.MAPPINGS:
                for weights in _models.VALIDATIONS:
                    model = _models.ensemble(task, rho, mapping, weights=weights)
                    predictions = _models.votes(model, task.X_test)
                    for vote, predicted in predictions.items():
                        found = {**exam.scores(predicted), **_models.node_counts(model)}
                        name = f"{vote} ({mapping}){weights}"
                        yield from records(dataset, name, found, vigilance=rho, condition=at)
                    differ = {**_models.votes_differ(predictions), DISAGREE: _disagreement(model, task)}
                    name = f"WESSL-ART ({mapping}){weights}"
                    yield from records(dataset, name, differ, vigilance=rho, condition=at)
        score = partial(_score, task=task, exam=exam)
        yield from of_variants(settings, dataset, task, VIGILANCES, score, at)


def _score(model: FittedVariant, task: Task, exam: Exam) -> dict[str, float]:
    return {**exam.scores(model.predict(task.X_test)), **_models.node_counts(model.model)}


def _disagreement(model: WESSLART, task: Task) -> float:
    """Return in how many percent of the test samples two members differ, on average over all pairs of members."""
    predictions = [member.predict(task.X_test) for member in model.estimators_]
    return 100.0 * float(np.mean([np.mean(one != other) for one, other in combinations(predictions, 2)]))


def _tables(results: Results) -> list[Table]:
    tables = []
    for rho in VIGILANCES:
        for measure in ("accuracy", "nodes, stage 1", "nodes, stage 2"):
            methods = (*(ALL_METHODS if measure == "accuracy" else METHODS[:2]), *results.variants)
            header = ["labelled", *(methods if measure == "accuracy" else (*_models.MAPPINGS, *results.variants))]
            rows = [
                [
                    condition.split()[0],
                    *(measured(results.summary(results.dataset, name, measure, rho, condition)) for name in methods),
                ]
                for condition in results.distinct("condition")
            ]
            unit = "" if measure.startswith("nodes") else ", %"
            tables.append(Table(f"{measure.capitalize()}{unit}, ρ={rho:g}", header, rows))
    return [
        *tables,
        _votes.differ_table(results, [results.dataset], tuple(_models.MAPPINGS), results.distinct("condition")),
    ]


def _checks(results: Results) -> list[Check]:
    conditions = results.distinct("condition")
    found = []
    for rho in VIGILANCES:

        def curve(method: str, measure: str = "accuracy", rho: float = rho) -> list[float]:
            return [results.mean(DATASET, method, measure, rho, condition) for condition in conditions]

        def spread(method: str, rho: float = rho) -> float:
            sds = [results.summary(DATASET, method, "accuracy", rho, condition) for condition in conditions]
            return float(np.mean([one.sd for one in sds if one is not None]))

        many, one = METHODS[0], METHODS[1]
        stage2 = {name: curve(name, "nodes, stage 2") for name in (many, one)}
        stage1 = {name: curve(name, "nodes, stage 1") for name in (many, one)}
        disagree = {name: float(np.mean(curve(name, DISAGREE))) for name in (many, one)}
        at = f"at ρ={rho:g}"
        found += [
            Check(
                f"one-to-many depends less on the sequence of the samples than one-to-one: members differ less, {at}",
                disagree[many] < disagree[one],
                f"two members differ on {disagree[many]:.1f} % and {disagree[one]:.1f} % of the test samples",
                413,
            ),
            Check(
                f"accuracy rises with the share of labelled samples, {at}",
                all(curve(name)[-1] > curve(name)[0] for name in METHODS),
                "; ".join(f"{name} {curve(name)[0]:.1f} → {curve(name)[-1]:.1f}" for name in METHODS),
                632,
            ),
            Check(
                f"one-to-many gives steadier results than one-to-one, {at}",
                spread(METHODS[0]) < spread(METHODS[1]) and spread(METHODS[2]) < spread(METHODS[3]),
                ", ".join(f"{name} sd {spread(name):.1f}" for name in METHODS),
                633,
            ),
            Check(
                f"both mappings make the same number of nodes in stage 1, {at}",
                stage1[many] == stage1[one],
                f"{stage1[many][0]:.1f} and {stage1[one][0]:.1f} with the fewest labels",
                635,
            ),
            Check(
                f"fewer unlabelled samples make fewer nodes in stage 1, {at}",
                stage1[many][-1] < stage1[many][0],
                f"{stage1[many][0]:.1f} → {stage1[many][-1]:.1f}",
                636,
            ),
            Check(
                f"stage 2 makes more nodes the more samples are labelled, {at}",
                stage2[many][-1] - stage1[many][-1] > stage2[many][0] - stage1[many][0],
                f"adds {stage2[many][0] - stage1[many][0]:.1f} → {stage2[many][-1] - stage1[many][-1]:.1f}",
                637,
            ),
            Check(
                f"one-to-many ends with fewer nodes than one-to-one, {at}",
                all(a <= b for a, b in zip(stage2[many], stage2[one], strict=True)) and stage2[many] != stage2[one],
                f"{stage2[many][-1]:.1f} against {stage2[one][-1]:.1f} with the most labels",
                638,
            ),
        ]
    return found


def _figure(results: Results) -> Any:
    measures = ("accuracy", ("nodes, stage 1", "nodes, stage 2"))
    methods = (*METHODS, *results.variants)
    return _plots.curves(
        results, results.dataset, methods, measures, along="condition", label="labelled samples, %", vigilance=0.9
    )


EXPERIMENT = Experiment(
    name="mapping",
    title="One-to-many against one-to-one on Heart Cleveland",
    section="V-A.2 OtM vs. OtO, Fig. 5 (lines 628–639), and IV-B (line 413)",
    question=(
        "Which mapping is better, and how much do more labels help? Ensembles of seven; 80 % of the samples for "
        "learning, 10 to 90 % of them labelled. Nodes are the mean over the members. The plot is at ρ = 0.9. The paper "
        "prints no numbers for this figure; its statements are checked instead." + _models.ABOUT_WEIGHTS
    ),
    datasets=(DATASET,),
    work=_work,
    tables=_tables,
    checks=_checks,
    figure=_figure,
    remarks=lambda results: _votes.remarks(
        results, [results.dataset], tuple(_models.MAPPINGS), results.distinct("condition")
    ),
    reason=(
        "Differences in spread are smaller than the spread of the spread over ten repeats. Members with one-to-one "
        "mapping agree more, since match tracking keeps the classes of a node apart, whatever the sequence."
    ),
)
