"""Experiment 12: the trade-off between coverage and correctness, on human motion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reproduction.framework import plots as _plots
from reproduction.framework.compare import as_text, measured
from reproduction.framework.experiment import Check, Experiment, Results, Table, only_numbers
from reproduction.framework.motion_statements import TABLE, at_quorum, in_words
from reproduction.framework.motion_task import DATASET, NOISES, QUORUMS, noisy_task
from reproduction.framework.protocol import VIGILANCES, Exam, Labels, Record, records
from reproduction.framework.settings import Settings
from reproduction.methods import models as _models
from reproduction.paper import value

DEPTHS = (1, 2, 3, 5, 8)
CASES = tuple((noise, depth) for noise in NOISES for depth in (2, 3))
SINGLES = tuple(f"SSL-ART ({mapping})" for mapping in _models.MAPPINGS)
ENSEMBLES = tuple(f"VESSL-ART ({mapping})" for mapping in _models.MAPPINGS)
MEASURES = ("coverage", "correctness")


def _work(dataset: str, seed: int, settings: Settings) -> Iterator[Record]:
    for noise in NOISES:
        task, exam = noisy_task(seed, noise, settings)
        for rho in VIGILANCES:
            for mapping in _models.MAPPINGS:
                single, ensemble = _models.single(task, rho, mapping), _models.ensemble(task, rho, mapping)
                for depth in DEPTHS:
                    at = f"{noise}, T={depth}"
                    single.search_depth = depth
                    found = _shares(exam, single.predict(task.X_test))
                    yield from records(dataset, f"SSL-ART ({mapping})", found, vigilance=rho, condition=at)
                    for quorum in QUORUMS:
                        predicted = _models.votes(ensemble, task.X_test, depth, quorum)["VESSL-ART"]
                        name, condition = f"VESSL-ART ({mapping})", at_quorum(at, quorum)
                        found = _shares(exam, predicted)
                        yield from records(dataset, name, found, vigilance=rho, condition=condition)
        for one in settings.variants:
            for model, same in one.at(task, VIGILANCES):
                for depth in DEPTHS:
                    found = _shares(exam, model.predict(task.X_test, depth))
                    for rho in same:
                        yield from records(dataset, one.name, found, vigilance=rho, condition=f"{noise}, T={depth}")


def _shares(exam: Exam, predicted: Labels) -> dict[str, float]:
    scores = exam.scores_of_predicted(predicted)
    return {measure: scores[measure] for measure in MEASURES}


def _curves(results: Results) -> list[tuple[str, int]]:
    """Return all methods, the ensembles with each quorum."""
    singles = (*SINGLES, *results.variants)
    return [*((name, 1) for name in singles), *((name, quorum) for name in ENSEMBLES for quorum in QUORUMS)]


def _name(method: str, quorum: int) -> str:
    return f"{method}, {in_words(quorum)}" if method in ENSEMBLES else method


def _tables(results: Results) -> list[Table]:
    tables = []
    for rho in VIGILANCES:
        for noise in NOISES:
            header = [
                "depth",
                *(f"{mapping}, coverage as printed" for mapping in _models.MAPPINGS),
                *(f"{_name(*curve)}, {measure}" for curve in _curves(results) for measure in MEASURES),
            ]
            rows = []
            for depth in DEPTHS:
                at = f"{noise}, T={depth}"
                rows.append(
                    [
                        f"T={depth}",
                        *(
                            as_text(value(TABLE, results.dataset, mapping, "coverage", at))
                            for mapping in _models.MAPPINGS
                        ),
                        *(
                            measured(results.summary(results.dataset, name, measure, rho, at_quorum(at, quorum)))
                            for name, quorum in _curves(results)
                            for measure in MEASURES
                        ),
                    ]
                )
            tables.append(Table(f"{noise.capitalize()}, ρ={rho:g}, %", header, rows, frozenset({1, 2})))
    return tables


def _checks(results: Results) -> list[Check]:
    checks = []
    for rho in VIGILANCES:
        for quorum in QUORUMS:

            def at(name: str, measure: str, case: tuple[str, int], rho: float = rho, quorum: int = quorum) -> float:
                condition = f"{case[0]}, T={case[1]}"
                quorum = quorum if name in ENSEMBLES else 1
                return results.mean(DATASET, name, measure, rho, at_quorum(condition, quorum))

            which = f"{in_words(quorum)}, ρ={rho:g}"
            cover = {name: [at(name, "coverage", case) for case in CASES] for name in ENSEMBLES}
            ahead = {
                ensemble: [at(ensemble, "correctness", case) - at(single, "correctness", case) for case in CASES]
                for single, ensemble in zip(SINGLES, ENSEMBLES, strict=True)
            }
            checks += [
                Check(
                    f"the majority vote predicts most samples in all six cases, {which}",
                    min(map(min, cover.values())) > 50,
                    "; ".join(f"{name} {_in_cases(found, '.1f')} %" for name, found in cover.items()),
                    944,
                ),
                Check(
                    f"the majority vote is right more often than a single model in all six cases, {which}",
                    min(map(min, ahead.values())) > 0,
                    "; ".join(f"{name} by {_in_cases(found, '+.1f')} points" for name, found in ahead.items()),
                    944,
                ),
            ]
            for case in CASES:
                many, one = (at(name, "correctness", case) for name in ENSEMBLES)
                excepted = case == ("noise-free", 3)
                better = "is not better" if excepted else "is better"
                checks.append(
                    Check(
                        f"{case[0]}, T={case[1]}: the majority vote {better} with one-to-many than with one-to-one, "
                        f"{which}",
                        many <= one if excepted else many > one,
                        f"{many:.2f} against {one:.2f}",
                        945,
                    )
                )
    return checks


def _in_cases(numbers: list[float], how: str) -> str:
    """Return one number for each of the six cases."""
    return ", ".join(f"{number:{how}}" for number in numbers)


def _figure(results: Results) -> Any:
    figure, axes = _plots.panels(len(NOISES) * len(VIGILANCES))
    cases = [(noise, rho) for noise in NOISES for rho in VIGILANCES]
    for axis, (noise, rho) in zip(axes, cases, strict=True):
        for place, (name, quorum) in enumerate(_curves(results)):
            points = [
                tuple(
                    results.mean(results.dataset, name, measure, rho, at_quorum(f"{noise}, T={depth}", quorum))
                    for measure in MEASURES
                )
                for depth in DEPTHS
            ]
            axis.plot(
                *zip(*points, strict=True),
                label=_name(name, quorum),
                color=_plots.COLOURS[place % 8],
                marker=_plots.MARKERS[place % 8],
                linestyle=_plots.DASHES[place % 8],
                markersize=4,
                linewidth=1.3,
            )
        axis.set(title=f"{noise}, ρ={rho:g}", xlabel="coverage, %", ylabel="correctness, %")
    return _plots.finish(figure, axes)


EXPERIMENT = Experiment(
    name="coverage",
    title="Human motion: coverage against correctness",
    section="V-C.3 Coverage vs. correctness, Fig. 8 (lines 942–988)",
    question=(
        "What does searching more nodes cost? Each curve goes through T = 1, 2, 3, 5 and 8 nodes searched, for a "
        "single model and for the majority vote of seven, with a quorum of one member and of four. Data and noise "
        "as in the two experiments before. Checks are at T = 2 and 3 for each noise, the six cases of the paper, "
        "which prints no numbers here; the printed coverages are those of Table VII. Where six numbers stand in a "
        "row they are for: " + "; ".join(f"{noise}, T={depth}" for noise, depth in CASES) + "."
    ),
    datasets=(DATASET,),
    work=_work,
    refuses=only_numbers("it adds noise to numbers"),
    tables=_tables,
    checks=_checks,
    figure=_figure,
    reason="Other recordings; mappings differ only where a node has labels of both classes, which is rare here.",
)
