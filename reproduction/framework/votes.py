"""Weighted against majority votes: how often they differ, and which is right more often."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from reproduction.framework.compare import measured
from reproduction.framework.experiment import Check, Results, Table
from reproduction.framework.protocol import VIGILANCES
from reproduction.methods import models as _models

WEIGHED_ON = {"": "weights measured on learnt samples", _models.HELD_OUT: "weights measured on held-out samples"}


def ensemble_names(mappings: Sequence[str] = tuple(_models.MAPPINGS)) -> tuple[str, ...]:
    """Return the names of all ensembles, such as “WESSL-ART (OtM), 30 % held out”; those without that come first."""
    return tuple(
        f"{vote}{_in_brackets(mapping)}{weights}"
        for weights in _models.VALIDATIONS
        for vote in _models.VOTINGS
        for mapping in mappings
    )


def differ_table(
    results: Results, datasets: Iterable[str], mappings: Sequence[str] = ("",), conditions: Sequence[str] = ("",)
) -> Table:
    """Return in how many percent of the predictions the two votes of the same members differ."""
    columns = [(mapping, weights, rho) for mapping in mappings for weights in WEIGHED_ON for rho in VIGILANCES]
    rows = []
    for data in datasets:
        found = [
            _differ(results, [data], f"{_in_brackets(mapping)}{weights}", rho, conditions)
            for mapping, weights, rho in columns
        ]
        rows.append([data, *("–" if np.isnan(share) else f"{share:.2f}" for share in found)])
    header = [
        ", ".join(part for part in (mapping, WEIGHED_ON[weights], f"ρ={rho:g}") if part)
        for mapping, weights, rho in columns
    ]
    return Table("Predictions on which weighted and majority votes differ, %", ["data set", *header], rows)


def remarks(
    results: Results,
    datasets: Iterable[str],
    mappings: Sequence[str] = ("",),
    conditions: Sequence[str] = ("",),
    measure: str = "accuracy",
) -> list[str]:
    """Return over all data sets, as sentences, how often votes differ and the mean of a measure for each vote."""
    datasets = list(datasets)
    shares = []
    for weights, how in WEIGHED_ON.items():
        found = [
            f"{_differ(results, datasets, f'{_in_brackets(mapping)}{weights}', rho, conditions):.2f} % at ρ={rho:g}"
            + _in_brackets(mapping)
            for mapping in mappings
            for rho in VIGILANCES
        ]
        shares.append(f"{', '.join(found)} with {how}")
    means = []
    for name in ensemble_names(mappings):
        found = [f"{results.average(datasets, name, measure, rho, conditions):.2f} at ρ={rho:g}" for rho in VIGILANCES]
        means.append(f"{name} {' and '.join(found)}")
    return [
        f"Predictions on which weighted and majority votes of the same members differ: {'; '.join(shares)}.",
        f"Mean {measure} in %: {'; '.join(means)}.",
    ]


def ensemble_table(results: Results, datasets: Iterable[str]) -> Table:
    """Return the accuracy of both votes with both weights on each data set, and its mean over them."""
    datasets = list(datasets)
    names = ensemble_names(("",))
    header = [f"{name}, ρ={rho:g}" for rho in VIGILANCES for name in names]
    rows = [
        [data, *(measured(results.summary(data, name, "accuracy", rho)) for rho in VIGILANCES for name in names)]
        for data in datasets
    ]
    means = [results.average(datasets, name, "accuracy", rho, [""]) for rho in VIGILANCES for name in names]
    rows.append(["mean", *(f"{mean:.2f}" for mean in means)])
    return Table("Accuracy by how class weights are measured, %", ["data set", *header], rows)


def weighted_is_better(
    results: Results,
    datasets: Iterable[str],
    line: int,
    *,
    mapping: str = "",
    conditions: Sequence[str] = ("",),
    measure: str = "accuracy",
    rho: float,
    note: str = "",
) -> list[Check]:
    """Check that weighted votes have a higher mean than majority votes of the same members, for both weights."""
    datasets = list(datasets)
    found = []
    for weights, how in WEIGHED_ON.items():
        suffix = f"{_in_brackets(mapping)}{weights}"
        ours, theirs = (
            results.average(datasets, f"{vote}{suffix}", measure, rho, conditions) for vote in _models.VOTINGS
        )
        share = _differ(results, datasets, suffix, rho, conditions)
        names = " and ".join(f"{vote}{_in_brackets(mapping)}" for vote in _models.VOTINGS)
        found.append(
            Check(
                f"weighted votes have a higher {measure} than majority votes, {how}{note}, ρ={rho:g}",
                ours > theirs,
                f"{names}: {ours:.2f} and {theirs:.2f}; they differ on {share:.2f} % of the predictions",
                line,
            )
        )
    return found


def _differ(results: Results, datasets: list[str], suffix: str, rho: float, conditions: Sequence[str]) -> float:
    return results.average(datasets, f"WESSL-ART{suffix}", _models.VOTES_DIFFER, rho, conditions)


def _in_brackets(mapping: str) -> str:
    return f" ({mapping})" if mapping else ""
