"""Statements of the paper on human motion under noise, checked for one vigilance and quorum at a time."""

from __future__ import annotations

from itertools import product

from reproduction import paper
from reproduction.framework import votes as _votes
from reproduction.framework.compare import agree, as_text, measured
from reproduction.framework.experiment import Check, Results, Table
from reproduction.framework.motion_task import DATASET, NOISES, QUORUMS
from reproduction.framework.protocol import VIGILANCES
from reproduction.methods import models as _models

TABLE = "Real-world"
DEPTHS = (2, 3)
MEASURES = ("correctness", "sensitivity", "specificity")
CONDITIONS = tuple(f"{noise}, T={depth}" for noise in NOISES for depth in DEPTHS)
AVERAGE = "average"
METHODS = tuple(f"{vote} ({mapping})" for mapping in _models.MAPPINGS for vote in _models.VOTINGS)
BEST = "WESSL-ART (OtM)"


def at_quorum(condition: str, quorum: int) -> str:
    """Return the condition of a record: a quorum of one is the default and not named."""
    return condition if quorum == 1 else f"{condition}; {in_words(quorum)}"


def in_words(quorum: int) -> str:
    """Return a quorum in words."""
    return f"quorum {quorum} of {_models.N_MEMBERS}"


def printed_rows() -> list[tuple[str, str]]:
    """Return method and measure of each row of the paper's table; coverage is printed for the mapping alone."""
    return [*((mapping, "coverage") for mapping in _models.MAPPINGS), *product(METHODS, MEASURES)]


def measured_name(method: str) -> str:
    """Return the method whose record stands for a row of the paper's table: both votes have the same coverage."""
    return f"WESSL-ART ({method})" if method in _models.MAPPINGS else method


def coverage_table(results: Results) -> Table:
    """Return the coverage with each quorum beside what the paper prints."""
    cases = [(quorum, rho) for quorum in QUORUMS for rho in VIGILANCES]
    rows = []
    for mapping in _models.MAPPINGS:
        for at in (*CONDITIONS, AVERAGE):
            cells = [
                measured(results.summary(DATASET, f"WESSL-ART ({mapping})", "coverage", rho, at_quorum(at, quorum)))
                for quorum, rho in cases
            ]
            rows.append([mapping, at, as_text(paper.value(TABLE, DATASET, mapping, "coverage", at)), *cells])
    header = ["mapping", "", "printed", *(f"{in_words(quorum)}, ρ={rho:g}" for quorum, rho in cases)]
    return Table("Coverage: printed, with one voting member, and with a majority, %", header, rows, frozenset({2}))


def checks(results: Results, rho: float, quorum: int) -> list[Check]:
    """Return the statements of lines 862 to 867, each with what was measured."""
    which = f"{in_words(quorum)}, ρ={rho:g}"

    def at(method: str, measure: str, condition: str) -> float:
        return results.mean(DATASET, method, measure, rho, at_quorum(condition, quorum))

    def higher(measure: str, better: str, worse: str) -> tuple[int, int, int, int]:
        """Count where one noise or depth gives a higher value than another: of all cases, and of the models' means."""
        cases = [(one, one.replace(better, worse)) for one in CONDITIONS if better in one]
        values = [[(at(name, measure, one), at(name, measure, other)) for one, other in cases] for name in METHODS]
        by_case = sum(one > other for pairs in values for one, other in pairs)
        by_model = sum(sum(one for one, _ in pairs) > sum(other for _, other in pairs) for pairs in values)
        return by_case, len(METHODS) * len(cases), by_model, len(METHODS)

    average = {name: {measure: at(name, measure, AVERAGE) for measure in MEASURES} for name in METHODS}
    correct = {name: average[name]["correctness"] for name in METHODS}
    correctness = ", ".join(f"{name} {score:.1f}" for name, score in correct.items())
    noisy = {noise: higher("correctness", NOISES[0], noise) for noise in NOISES[1:]}
    deeper = [
        at(f"WESSL-ART ({mapping})", "coverage", f"{noise}, T=3")
        > at(f"WESSL-ART ({mapping})", "coverage", f"{noise}, T=2")
        for mapping in _models.MAPPINGS
        for noise in NOISES
    ]
    apart = max(
        abs(at(f"WESSL-ART ({mapping})", "coverage", one) - at(f"VESSL-ART ({mapping})", "coverage", one))
        for mapping in _models.MAPPINGS
        for one in CONDITIONS
    )
    shallower = {measure: higher(measure, "T=2", "T=3") for measure in MEASURES}
    many = [
        at(f"{vote} (OtM)", measure, one) > at(f"{vote} (OtO)", measure, one)
        for vote in _models.VOTINGS
        for measure in MEASURES
        for one in CONDITIONS
    ]
    gap = {name: _gap([[at(name, x, one) for x in MEASURES[1:]] for one in CONDITIONS]) for name in METHODS}
    printed_gap = _gap([[_printed(BEST, measure, one) for measure in MEASURES[1:]] for one in CONDITIONS])
    return [
        Check(
            f"noise lowers the correctness of every model (mean of T=2 and T=3), {which}",
            all(by_model == n_models for _, _, by_model, n_models in noisy.values()),
            "; ".join(f"{noise} lowers it for {_counts(found)}" for noise, found in noisy.items()),
            862,
        ),
        Check(
            f"T=3 predicts more samples than T=2, {which}", all(deeper), f"{sum(deeper)} of {len(deeper)} times", 863
        ),
        Check(
            f"both votes predict about as many samples (within 1 point), {which}",
            apart <= 1,
            f"coverage differs by at most {apart:.1f} points",
            864,
        ),
        Check(
            f"WESSL-ART (OtM) has the highest average correctness, {which}",
            max(correct, key=lambda name: correct[name]) == BEST,
            correctness,
            865,
        ),
        *_votes.weighted_is_better(
            results,
            [DATASET],
            865,
            mapping="OtM",
            conditions=[at_quorum(one, quorum) for one in CONDITIONS],
            measure="correctness",
            rho=rho,
            note=f", {in_words(quorum)}",
        ),
        Check(
            f"WESSL-ART (OtM) has balanced sensitivity and specificity (not further apart than printed), {which}",
            gap[BEST] <= printed_gap,
            f"{printed_gap:.1f} points apart on average as printed; measured "
            + ", ".join(f"{name} {points:.1f}" for name, points in gap.items()),
            865,
        ),
        Check(
            f"T=2 has better correctness, sensitivity and specificity than T=3 (mean over noises), {which}",
            all(by_model == n_models for _, _, by_model, n_models in shallower.values()),
            "; ".join(f"{measure} better for {_counts(found)}" for measure, found in shallower.items()),
            866,
        ),
        Check(
            f"one-to-many is better than one-to-one in most instances, {which}",
            2 * sum(many) > len(many),
            f"in {sum(many)} of {len(many)}; average correctness: {correctness}",
            867,
        ),
    ]


def agreement_check(results: Results, quorum: int) -> Check:
    """Check that the printed means, the column of averages among them, are what was measured at either vigilance."""
    cases = [(method, measure, at) for method, measure in printed_rows() for at in (*CONDITIONS, AVERAGE)]
    same = {"coverage": 0, "average": 0, "all": 0}
    for method, measure, at in cases:
        one = paper.value(TABLE, DATASET, method, measure, at)
        summaries = [
            results.summary(DATASET, measured_name(method), measure, rho, at_quorum(at, quorum)) for rho in VIGILANCES
        ]
        fits = one is not None and any(summary is not None and agree(one, summary) for summary in summaries)
        same["all"] += fits
        same["coverage"] += fits and measure == "coverage"
        same["average"] += fits and at == AVERAGE
    n_coverage = len(_models.MAPPINGS) * (len(CONDITIONS) + 1)
    return Check(
        f"the printed means are what was measured, {in_words(quorum)}",
        same["all"] >= 0.8 * len(cases),
        f"{same['all']} of {len(cases)} agree; {same['coverage']} of {n_coverage} of the coverages, "
        f"{same['average']} of {len(printed_rows())} of the column of averages",
        870,
    )


def _counts(found: tuple[int, int, int, int]) -> str:
    by_case, n_cases, by_model, n_models = found
    return f"{by_model} of {n_models} models, in {by_case} of {n_cases} single cases"


def _printed(method: str, measure: str, at: str) -> float:
    one = paper.value(TABLE, DATASET, method, measure, at)
    assert one is not None
    assert one.mean is not None
    return one.mean


def _gap(pairs: list[list[float]]) -> float:
    """Return the mean absolute difference of sensitivity and specificity."""
    return sum(abs(sensitivity - specificity) for sensitivity, specificity in pairs) / len(pairs)
